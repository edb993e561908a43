import type { ErrorCode } from '../../domain/error-code.ts'

/** How often a line about refused requests is logged at most, in milliseconds. */
const quietMs = 60_000

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
  { port = 'the public port', code = 'public-port-refused', everyMs = quietMs }: RefusalLogOptions = {},
) {
  const counts = new Map<Reason, number>()
  let timer: NodeJS.Timeout | undefined

  function note(reason: Reason): void {
    counts.set(reason, (counts.get(reason) ?? 0) + 1)
    if (timer) return
    write()
    timer = setInterval(writeOrRest, everyMs).unref()
  }

  function writeOrRest(): void {
    if (counts.size === 0) rest()
    else write()
  }

  function write(): void {
    const parts = [...counts].map(([reason, count]) => `${reason} (${count})`)
    const all = [...counts.values()].reduce((sum, count) => sum + count, 0)
    counts.clear()
    logger.warn(`Refused ${all} ${all === 1 ? 'request' : 'requests'} to ${port}: ${parts.join(', ')}.`, { code })
  }

  function rest(): void {
    clearInterval(timer)
    timer = undefined
  }

  function flush(): void {
    if (counts.size > 0) write()
    rest()
  }

  return { note, flush }
}
