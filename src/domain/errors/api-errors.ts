import type { KeyVariable } from '../account/api-key.ts'
import type { CallKind } from '../account/lane.ts'
import { UserError } from './errors.ts'

interface ApiErrorDetails {
  /** Lockkeeper's own name for the operation: `elasticIps.move`. */
  operation: string
  status: number
  /** `errors[].code` in the given order. Empty if the answer had none. */
  codes: string[]
  /** The `detail`, `message` or `title` of the answer, cut to 200 characters. The text comes from outside: escape it before it is shown. */
  detail?: string
  retryAfterMs?: number
  /** The key that was used. */
  key?: KeyVariable
}

/** The account API rejected the request. */
export class ApiError extends Error {
  override name = 'ApiError'
  readonly operation: string
  readonly status: number
  readonly codes: string[]
  readonly detail: string | undefined
  readonly retryAfterMs: number | undefined
  readonly key: KeyVariable

  constructor(details: ApiErrorDetails) {
    super(`${details.operation}: ${details.status}${details.codes.length > 0 ? ` ${details.codes.join(', ')}` : ''}`)
    this.operation = details.operation
    this.status = details.status
    this.codes = details.codes
    this.detail = details.detail
    this.retryAfterMs = details.retryAfterMs
    this.key = details.key ?? 'INFRA_API_KEY'
  }
}

/**
 * Whether the team lacks the feature flag that an operation needs (`elastic_ips`, `baselines_api`). The account API answers 403 with the
 * code `FEATURE_NOT_ENABLED`. The key itself is valid.
 */
export function isFeatureMissing(error: unknown): boolean {
  return error instanceof ApiError && error.status === 403 && error.codes.some((code) => code.toUpperCase() === 'FEATURE_NOT_ENABLED')
}

/** Whether the account API rejects the key (401), or does not allow the key this operation (403). */
export function isKeyRefused(error: ApiError): boolean {
  return error.status === 401 || (error.status === 403 && !isFeatureMissing(error))
}

/** The account API's answer does not fit the schema: HTML, incomplete, too large or a redirect. Never contains the body's text. */
export class ApiContractError extends Error {
  override name = 'ApiContractError'
  readonly operation: string
  readonly status: number

  constructor(details: { operation: string; status: number; problem: string }) {
    super(`${details.operation}: ${details.status} ${details.problem}`)
    this.operation = details.operation
    this.status = details.status
  }
}

/** No answer came. `requestSent` says whether the account API may have carried out the request. */
export class ApiUnreachableError extends Error {
  override name = 'ApiUnreachableError'
  readonly operation: string
  /** `no`: there was no connection, so nothing happened. `unknown`: read the account before reporting a result. */
  readonly requestSent: 'no' | 'unknown'
  /** What ended the wait: the code of a transport error (`ECONNREFUSED`), or Lockkeeper's own words. */
  readonly problem: string

  constructor(details: { operation: string; requestSent: 'no' | 'unknown'; problem: string }) {
    super(`${details.operation}: no answer (${details.problem})`)
    this.problem = details.problem
    this.operation = details.operation
    this.requestSent = details.requestSent
  }
}

/** The code of a 429 that proves that the request was not carried out (vendor's API reference, "Rate limits"). */
export const rateLimitCode = 'RATE_LIMIT_EXCEEDED'

/** Whether the account API refused a request because of its limit. Such a request was certainly not carried out, also if it is a write. */
export function isRateLimited(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status === 429 && error.codes.includes(rateLimitCode)
}

/**
 * The request was not carried out, because the account allows only so many a minute. `waitMs`: the time until one may be sent. `share`: what one
 * person may have, if only that was spent. `answered`: the account API has refused it; otherwise it was not sent.
 */
export class AccountLimitError extends ApiUnreachableError {
  override name = 'AccountLimitError'
  readonly kind: CallKind
  readonly waitMs: number
  readonly perMinute: number | undefined
  readonly share: number | undefined
  readonly answered: boolean

  constructor(details: {
    operation: string
    kind: CallKind
    waitMs: number
    perMinute: number | undefined
    share?: number | undefined
    answered: boolean
  }) {
    super({ operation: details.operation, requestSent: 'no', problem: `limit of ${details.kind}s a minute` })
    this.kind = details.kind
    this.waitMs = details.waitMs
    this.perMinute = details.perMinute
    this.share = details.share
    this.answered = details.answered
  }
}

/** Whether a read got no result, because the account API is unreachable, has an error (5xx), or limits the rate (429). */
export function isUnanswered(error: unknown): boolean {
  return error instanceof ApiUnreachableError || (error instanceof ApiError && (error.status >= 500 || error.status === 429))
}

/**
 * Whether an error is a refusal that results from the request itself. Every other error, such as a rejected key, is a fault for the
 * operators.
 */
export function isRefusal(error: unknown): boolean {
  if (error instanceof UserError || isFeatureMissing(error)) return true
  return error instanceof ApiError && error.status < 500 && ![401, 403, 408, 429].includes(error.status)
}

/**
 * Whether a write that threw certainly changed nothing. The result of every other write is unknown, and a read resolves it. 5xx, 408 and
 * 429 may come from a proxy that stopped waiting for a request that was still carried out.
 */
export function certainlyNotApplied(error: unknown): error is UnappliedError {
  if (error instanceof ApiUnreachableError) return error.requestSent === 'no'
  if (error instanceof ApiError) return error.status >= 400 && error.status < 500 && error.status !== 408 && error.status !== 429
  return false
}
type UnappliedError = ApiError | ApiUnreachableError
