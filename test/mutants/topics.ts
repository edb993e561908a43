/** What is mutated: the files of a topic, and the tests that are run for each of its mutants beside the tests near the file. */
export interface Topic {
  files: string[]
  tests: string[]
  /** How many mutants are tried. */
  sample: number
}

/** All paths are patterns. Each must match a file, so that none is forgotten when files move. */
export const topics: Record<string, Topic> = {
  rulings: {
    files: [
      'src/domain/approval/*.ts',
      'src/domain/policy/{deciding-rule,find-rules,policy,reason,strictness}.ts',
      'src/requests/access/{admit,check-authority,judge,refuse,rights,standings}.ts',
    ],
    tests: [
      'test/attacks/{chosen-rule,easier-evacuation,left-channel,quiet-emergency,refused-clicks,tampered-forms}.test.ts',
      'test/journeys/{approvals,break-glass,clicks,gate,policy,reasons,several-bots}.test.ts',
    ],
    sample: 40,
  },
  steps: {
    files: [
      'src/requests/steps/{deciding,sending,step,tracking}.ts',
      'src/requests/store/take-step.ts',
      'src/requests/store/lua/{take-step,create}.lua',
    ],
    tests: [
      'test/attacks/many-requests.test.ts',
      'test/faults/ablations.test.ts',
      'test/journeys/{after-the-end,approvals,break-glass,clicks,move,requests-sent,several-bots,stop-tracking}.test.ts',
    ],
    sample: 30,
  },
  outbox: {
    files: ['src/requests/outbox/*.ts', 'src/requests/outbox/lua/*.lua', 'src/requests/outbox/notices/*.ts'],
    tests: [
      'test/attacks/two-replicas.test.ts',
      'test/faults/ablations.test.ts',
      'test/journeys/{after-the-end,approvals,clicks,move,requests-sent,several-bots}.test.ts',
    ],
    sample: 30,
  },
  signatures: {
    files: [
      'src/domain/request/{payload,request-signature,verify-once}.ts',
      'src/domain/signing/*.ts',
      'src/requests/access/check-record.ts',
      'src/requests/reconcile/distrust.ts',
    ],
    tests: [
      'test/attacks/{chosen-rule,redis-write,signature-tricks,state-key,torn-audit}.test.ts',
      'test/faults/signed-requests.test.ts',
      'test/journeys/{approvals,move}.test.ts',
    ],
    sample: 30,
  },
  'next step': {
    files: ['src/requests/reconcile/track/*.ts', 'src/domain/elastic-ip-move/progress.ts'],
    tests: [
      'test/attacks/redis-write.test.ts',
      'test/journeys/{after-the-end,clicks,keys,move,stop-tracking}.test.ts',
      'test/model/clicking.test.ts',
    ],
    sample: 30,
  },
  budget: {
    files: ['src/account-api/budget.ts', 'src/account-api/lua/take-turn.lua'],
    tests: ['test/faults/account-api.test.ts', 'test/journeys/limits.test.ts'],
    sample: 30,
  },
}
