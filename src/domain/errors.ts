import type { Finding, Words } from './finding.ts'

/** Something the person can put right themselves: the message is a whole sentence, shown to them as it is. */
export class UserError extends Error {
  override name = 'UserError'
}

/** A preflight check that stands against a change: `finding` says what, and the message is the same in words. */
export class CheckFailed extends UserError {
  override name = 'CheckFailed'
  readonly finding: Finding

  constructor(finding: Finding, { why }: Words) {
    super(why)
    this.finding = finding
  }
}

export interface ApiErrorDetails {
  /** What was being done, as a name of ours: `elasticIps.move`. */
  operation: string
  status: number
  /** `errors[].code` in the order given; empty when the answer had none. */
  codes: string[]
  /** The account API's own words (`detail`, `message` or `title`), cut to 200 characters. Outside text: escape before showing. */
  detail?: string
  retryAfterMs?: number
}

/** The account API answered, and the answer is no. */
export class ApiError extends Error {
  override name = 'ApiError'
  readonly operation: string
  readonly status: number
  readonly codes: string[]
  readonly detail: string | undefined
  readonly retryAfterMs: number | undefined

  constructor(details: ApiErrorDetails) {
    super(`${details.operation}: ${details.status}${details.codes.length > 0 ? ` ${details.codes.join(', ')}` : ''}`)
    this.operation = details.operation
    this.status = details.status
    this.codes = details.codes
    this.detail = details.detail
    this.retryAfterMs = details.retryAfterMs
  }
}

/**
 * Whether the team lacks the feature flag that an operation needs (`elastic_ips`, `baselines_api`): 403 with the code
 * `FEATURE_NOT_ENABLED`. The key itself is fine.
 */
export function isFeatureMissing(error: unknown): boolean {
  return error instanceof ApiError && error.status === 403 && error.codes.some((code) => code.toUpperCase() === 'FEATURE_NOT_ENABLED')
}

/** Whether the account API rejects the key (401), or does not let it do this (403). */
export function isKeyRefused(error: ApiError): boolean {
  return error.status === 401 || (error.status === 403 && !isFeatureMissing(error))
}

/** The account API answered with something that does not fit our schema (HTML, cut short, too large, a redirect). Never carries the body's text. */
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

/** An answer has more bytes than Lockkeeper reads. */
export class AnswerTooLongError extends ApiContractError {
  override name = 'AnswerTooLongError'

  constructor({ operation, status, most }: { operation: string; status: number; most: number }) {
    super({ operation, status, problem: `more than ${most} bytes` })
  }
}

/** What kept a list from being read to its end: too many items or bytes in all or in one page, too many pages, or too much time. */
export type ListLimit = 'items' | 'items of a page' | 'pages' | 'bytes' | 'bytes of a page' | 'time'

/**
 * A list was not read to its end, because it exceeds a limit. Carries what was read, for those who only show it. Whoever concludes something
 * from what a list does not hold must not use it.
 */
export class ListCutError extends ApiContractError {
  override name = 'ListCutError'
  readonly items: unknown[]
  readonly limit: ListLimit

  constructor({ operation, limit, items }: { operation: string; limit: ListLimit; items: unknown[] }) {
    super({ operation, status: 200, problem: `a list that exceeds its limit of ${limit}` })
    this.items = items
    this.limit = limit
  }
}

/** No answer came. `requestSent` tells whether the account API may have acted on it all the same. */
export class ApiUnreachableError extends Error {
  override name = 'ApiUnreachableError'
  readonly operation: string
  /** `no`: the connection was never made, so nothing happened. `unknown`: look before telling. */
  readonly requestSent: 'no' | 'unknown'
  /** What ended the wait: a code of the transport (`ECONNREFUSED`), or words of ours. */
  readonly problem: string

  constructor(details: { operation: string; requestSent: 'no' | 'unknown'; problem: string }) {
    super(`${details.operation}: no answer (${details.problem})`)
    this.problem = details.problem
    this.operation = details.operation
    this.requestSent = details.requestSent
  }
}

/** Redis did not carry out a command. Whatever needs the records cannot be done until it does. */
export class StoreUnavailableError extends Error {
  override name = 'StoreUnavailableError'
  /** The word with which Redis refused (`NOPERM`, `OOM`); undefined where no answer came. */
  readonly code: string | undefined

  constructor(message: string, code?: string) {
    super(message)
    this.code = code
  }
}

/** Why the bot cannot start: a sentence for whoever runs it. */
export class StartError extends Error {
  override name = 'StartError'
}

/** Something that the bot needs to start is away: waiting may help. The message is a sentence for operators. */
export class AwayError extends Error {
  override name = 'AwayError'
  /** When it wants to be asked again. Undefined where it does not say. */
  readonly retryInMs: number | undefined

  constructor(message: string, { retryInMs }: { retryInMs?: number } = {}) {
    super(message)
    this.retryInMs = retryInMs
  }
}

export function portTaken(variable: string, port: number): StartError {
  return new StartError(`${variable} ${port} is used by another program. Choose another port, or stop that program.`)
}

/** Whether the account API gave no answer to the question: it is away, has a problem of its own, or wants to be asked later. */
export function isUnanswered(error: unknown): boolean {
  return error instanceof ApiUnreachableError || (error instanceof ApiError && (error.status >= 500 || error.status === 429))
}

/** Whether somebody is told no, with a reason that lies in what they asked for. All other errors are trouble: a rejected key, too. */
export function isRefusal(error: unknown): boolean {
  if (error instanceof UserError || isFeatureMissing(error)) return true
  return error instanceof ApiError && error.status < 500 && ![401, 403, 408, 429].includes(error.status)
}

/**
 * Whether a write that threw certainly changed nothing. Everything else is *unknown* and is resolved by reading:
 * 5xx, 408 and 429 may come from something in front that gave up on a request which still went through.
 */
export function certainlyNotApplied(error: unknown): error is UnappliedError {
  if (error instanceof ApiUnreachableError) return error.requestSent === 'no'
  if (error instanceof ApiError) return error.status >= 400 && error.status < 500 && error.status !== 408 && error.status !== 429
  return false
}
export type UnappliedError = ApiError | ApiUnreachableError
