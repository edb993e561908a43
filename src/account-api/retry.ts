import { ApiError, ApiUnreachableError } from '../domain/errors.ts'

/**
 * Rate limits and the hiccups of what stands in front. 500 is among them although it may as well be a defect that repeats: a read
 * changes nothing, and two more of them are cheaper than telling somebody no for a worker that died once.
 */
const transientStatuses = new Set([429, 500, 502, 503, 504])

/** How long to wait before a read is tried again, or undefined when another try would get the same answer. */
export function retryDelayMs(
  error: unknown,
  failedTries: number,
  timings: { retryBaseMs: number; retryMaxMs: number },
): number | undefined {
  if (error instanceof ApiError) {
    if (!transientStatuses.has(error.status)) return undefined
    if (error.retryAfterMs !== undefined) return error.retryAfterMs
  } else if (!(error instanceof ApiUnreachableError)) {
    return undefined
  }
  // Full jitter: replicas that failed together do not come back together.
  return Math.random() * Math.min(timings.retryBaseMs * 2 ** (failedTries - 1), timings.retryMaxMs)
}

/** `Retry-After` in milliseconds: seconds, or a date, which is read against the answer's own `Date` so that our clock may be wrong. */
export function parseRetryAfter(value: unknown, date: unknown): number | undefined {
  if (typeof value !== 'string') return undefined
  const trimmed = value.trim()
  if (/^\d{1,9}$/.test(trimmed)) return Number(trimmed) * 1000
  const until = Date.parse(trimmed)
  // A number that is no whole count of seconds is no date either, whatever Date.parse makes of it.
  if (Number.isNaN(until) || !/[a-z]/i.test(trimmed)) return undefined
  const serverNow = typeof date === 'string' ? Date.parse(date) : Number.NaN
  return Math.max(0, until - (Number.isNaN(serverNow) ? Date.now() : serverNow))
}
