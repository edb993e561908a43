import type { RepeatedLines } from '../ops/log/repeated-lines.ts'
import { retryWhileAway } from '../ops/process/retry-while-away.ts'
import type { Shutdown } from '../ops/process/shutdown.ts'

/** A service that the bot needs, and waits for while it is away. */
export interface Dependency<T> {
  name: 'Slack' | 'Redis'
  /** Throws AwayError while the service does not answer, and StartError if waiting does not help. */
  reach: () => Promise<T>
  longestPauseMs: number
  /** Called after each attempt: with the problem as a sentence, or with undefined once the service is reached. */
  note: (problem: string | undefined) => void
}

interface ReachParts {
  dependencies: Pick<Dependency<unknown>, 'name'>[]
  shutdown: Pick<Shutdown, 'signal' | 'unlessStopping'>
  lines: Pick<RepeatedLines, 'write' | 'end'>
}

/** Creates the function that tries to reach a dependency until it answers or the process stops. `missing` holds those not reached yet. */
export function createReach({ dependencies, shutdown, lines }: ReachParts) {
  const missing = new Set<string>(dependencies.map(({ name }) => name))

  async function reach<T>({ name, reach: attempt, longestPauseMs, note }: Dependency<T>): Promise<T> {
    const code = 'dependency-away'
    const problems = new Set<string>()
    const onAway = ({ message }: Error, nextTryInMs: number) => {
      note(message)
      problems.add(message)
      lines.write({ fields: { code, nextTryInMs }, text: message, about: message, over: `${name} responds` })
    }
    const reached = await shutdown.unlessStopping(retryWhileAway(attempt, { signal: shutdown.signal, longestPauseMs, onAway }))
    for (const message of problems) lines.end(code, message)
    missing.delete(name)
    note(undefined)
    return reached
  }

  return { reach, missing }
}
