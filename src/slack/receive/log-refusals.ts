import type { ErrorCode } from '../../domain/errors/error-code.ts'
import { createRepeats } from '../../domain/repeats.ts'

interface RefusalLogOptions {
  /** Names the port in the line. */
  port?: string
  /** Tells the log which of its lines this is. */
  code?: ErrorCode
  everyMs?: number
}

/**
 * Logs refused requests: the first one at once, those that follow in one line a minute, with their numbers. Anybody can send requests to a
 * port, and one line for each would fill the log. `flush` logs what has not been logged yet.
 */
export function createRefusalLog<Reason extends string>(
  logger: { warn(line: string, which: { code: ErrorCode }): void },
  { port = 'the public port', code = 'public-port-refused', ...often }: RefusalLogOptions = {},
) {
  const counts = new Map<Reason, number>()
  const repeats = createRepeats(often)

  function note(reason: Reason): void {
    counts.set(reason, (counts.get(reason) ?? 0) + 1)
    repeats.note(code, { report: write })
  }

  function write(): void {
    const parts = [...counts].map(([reason, count]) => `${reason} (${count})`)
    const all = [...counts.values()].reduce((sum, count) => sum + count, 0)
    counts.clear()
    logger.warn(`Refused ${all} ${all === 1 ? 'request' : 'requests'} to ${port}: ${parts.join(', ')}.`, { code })
  }

  return { note, flush: repeats.flush }
}
