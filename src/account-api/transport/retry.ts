import { ApiError, ApiUnreachableError } from '../../domain/errors/api-errors.ts'

/**
 * Rate limits and temporary faults of proxies. 500 is included, although it may be a defect that recurs: a read changes nothing, and two
 * more reads are cheaper than an error that a person sees because one process of the account API died.
 */
const transientStatuses = new Set([429, 500, 502, 503, 504])

/** Returns the milliseconds to wait before a read is sent again, or undefined if another attempt would get the same answer. */
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
  // Full jitter, so that replicas that failed together do not retry together.
  return Math.random() * Math.min(timings.retryBaseMs * 2 ** (failedTries - 1), timings.retryMaxMs)
}

/**
 * Parses a `Retry-After` header, which holds seconds or a date, to milliseconds. A date is compared with the `Date` header of the same
 * answer, so that a wrong local clock does no harm. Returns undefined for anything else.
 */
export function parseRetryAfter(value: unknown, date: unknown): number | undefined {
  if (typeof value !== 'string') return undefined
  const trimmed = value.trim()
  if (/^\d{1,9}$/.test(trimmed)) return Number(trimmed) * 1000
  const until = Date.parse(trimmed)
  // Date.parse accepts some numbers, such as -5, as dates. A date in this header always contains letters.
  if (Number.isNaN(until) || !/[a-z]/i.test(trimmed)) return undefined
  const serverNow = typeof date === 'string' ? Date.parse(date) : Number.NaN
  return Math.max(0, until - (Number.isNaN(serverNow) ? Date.now() : serverNow))
}
