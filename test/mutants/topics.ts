import { globSync } from 'node:fs'

/** What is mutated: the files of a topic, and the tests that are run for each of its mutants beside the tests near the file. */
export interface Topic {
  files: string[]
  tests: string[]
}

/** All paths are patterns. Each, and each choice in braces, must match a file, so that none is forgotten when files move. */
export const topics: Record<string, Topic> = {
  rulings: {
    files: ['src/domain/{approval,hours,policy,reason}.ts', 'src/rights/*.ts', 'src/life/authority.ts'],
    tests: [
      'test/attacks/{easier-evacuation,left-channel,refused-clicks}.test.ts',
      'test/attacks/{quiet-emergency,tampered-forms}.long.test.ts',
      'test/life/submit.test.ts',
      'test/journeys/{approvals,clicks,clicks.long,gate,policy,reasons,several-bots}.test.ts',
    ],
  },
  steps: {
    files: ['src/record/{steps,store}.ts', 'src/record/lua/{take-step,create}.lua'],
    tests: [
      'test/attacks/many-requests.long.test.ts',
      'test/faults/ablations.test.ts',
      'test/journeys/{after-the-end,approvals,clicks,move,requests-sent,several-bots,stop-tracking}.test.ts',
    ],
  },
  starts: {
    files: [
      'src/domain/starts.ts',
      'src/record/freeze.ts',
      'src/life/{may-write-now,send}.ts',
      'src/redis/sealed.ts',
      'src/redis/lua/replace.lua',
    ],
    tests: ['test/record/freeze.test.ts', 'test/life/{bundle,may-write-now,send}.test.ts', 'test/journeys/{freeze,start-later}.test.ts'],
  },
  outbox: {
    files: ['src/outbox/*.ts', 'src/outbox/lua/*.lua'],
    tests: [
      'test/attacks/two-replicas.long.test.ts',
      'test/faults/ablations.test.ts',
      'test/journeys/{after-the-end,approvals,clicks,move,requests-sent,several-bots}.test.ts',
    ],
  },
  signatures: {
    files: ['src/domain/{request-signature,signing}.ts', 'src/life/authority.ts'],
    tests: [
      'test/attacks/{redis-write,state-key}.long.test.ts',
      'test/faults/signed-requests.test.ts',
      'test/journeys/{approvals,move}.test.ts',
    ],
  },
  'next step': {
    files: ['src/life/track.ts', 'src/features/moves/move-checks.ts'],
    tests: [
      'test/attacks/redis-write.long.test.ts',
      'test/journeys/{after-the-end,clicks,keys,move,stop-tracking}.test.ts',
      'test/model/clicking.test.ts',
    ],
  },
  budget: {
    files: ['src/account/budget.ts', 'src/account/lua/take-turn.lua'],
    tests: ['test/faults/account-api.test.ts', 'test/journeys/{limits,limits.long}.test.ts'],
  },
}

/** Returns the files of a repository that a pattern matches. Throws if one of its choices matches none. */
export function matching(pattern: string, cwd: string): string[] {
  const [, before, choices, after] = /^(.*?)\{(.*?)\}(.*)$/.exec(pattern) ?? []
  if (choices !== undefined) return choices.split(',').flatMap((choice) => matching(`${before}${choice}${after}`, cwd))
  const files = globSync(pattern, { cwd }).toSorted()
  if (files.length === 0) throw new Error(`test/mutants/topics.ts: no file matches ${pattern}`)
  return files
}
