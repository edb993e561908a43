import type { Finding, Words } from './change.ts'
import type { RefusalCode } from './codes.ts'
import type { CallKind } from './lane.ts'
import type { Phrase } from './text.ts'

/** An error that the person can fix. The message is a whole sentence and is shown to them as it is. */
export class UserError extends Error {
  override name = 'UserError'
  /** The code of a refusal, or of a finding. */
  readonly code: string

  constructor(code: RefusalCode | Finding['code'], message: string) {
    super(message)
    this.code = code
  }
}

/** A preflight check that prevents a change. The message is `finding` in words. `next` is a sentence that says what to do. */
export class CheckFailed extends UserError {
  override name = 'CheckFailed'
  readonly finding: Finding

  readonly next: string | undefined

  /** Times, people and links. The message has them as plain text. */
  readonly marks: Phrase

  constructor(finding: Finding, { why, next, phrase = [] }: Words) {
    super(finding.code, why)
    this.finding = finding
    this.next = next
    this.marks = phrase.filter((part) => typeof part === 'object' && !('name' in part || 'owner' in part))
  }
}

/** Nothing on the account has the id or the name that a person typed. `what` was looked for: `server`. */
export class UnknownName extends UserError {
  override name = 'UnknownName'
  readonly what: string
  readonly typed: string

  constructor(what: string, typed: string) {
    super('unknown-name', `No ${what} ${typed}.`)
    this.what = what
    this.typed = typed
  }
}

/** Redis did not carry out a command. Nothing that needs the records is possible until it does. */
export class StoreUnavailableError extends Error {
  override name = 'StoreUnavailableError'
  /** The code of Redis' refusal, such as `NOPERM` or `OOM`. Undefined if no answer came. */
  readonly code: string | undefined
  /** What people read if no answer came, where more is known than that: `Not approved: Redis isn't responding. …` */
  readonly sentence: string | undefined

  constructor(message: string, code?: string, sentence?: string) {
    super(message)
    this.code = code
    this.sentence = sentence
  }
}

export class StartError extends Error {
  override name = 'StartError'
}

/** A service that Lockkeeper needs to start does not answer now. Waiting may help. The message is a sentence for operators. */
export class AwayError extends Error {
  override name = 'AwayError'
  /** The wait in ms that the service requested. Undefined if it requested none. */
  readonly retryInMs: number | undefined

  constructor(message: string, { retryInMs }: { retryInMs?: number } = {}) {
    super(message)
    this.retryInMs = retryInMs
  }
}

export class ApiError extends Error {
  override name = 'ApiError'
  /** Lockkeeper's own name for the operation: `elasticIps.move`. */
  declare readonly operation: string
  declare readonly status: number
  /** `errors[].code` in the given order. Empty if the answer had none. */
  declare readonly codes: string[]
  /** The `detail`, `message` or `title` of the answer, cut to 200 characters. The text comes from outside: escape it before it is shown. */
  declare readonly detail: string | undefined
  declare readonly retryAfterMs: number | undefined

  constructor(details: Pick<ApiError, 'operation' | 'status' | 'codes'> & Partial<Pick<ApiError, 'detail' | 'retryAfterMs'>>) {
    super([`${details.operation}: ${details.status}`, details.codes.join(', ')].filter(Boolean).join(' '))
    Object.assign(this, details)
  }
}

/** Whether the team lacks the feature flag that an operation needs (403). The key itself is valid. */
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
  declare readonly operation: string
  declare readonly status: number

  constructor({ problem, ...details }: { operation: string; status: number; problem: string }) {
    super(`${details.operation}: ${details.status} ${problem}`)
    Object.assign(this, details)
  }
}

export class AnswerTooLongError extends ApiContractError {
  override name = 'AnswerTooLongError'
}

/** What a list exceeded: a limit of items, bytes or pages, or the time. */
export type ListLimit = 'size' | 'time'

/** A list was not read to its end, so that others than those that were read may exist. */
export class ListCutError extends ApiContractError {
  override name = 'ListCutError'
  declare readonly limit: ListLimit

  constructor(limit: ListLimit) {
    super({ operation: 'list', status: 200, problem: `a list that exceeds its limit of ${limit}` })
    Object.assign(this, { limit })
  }
}

/** No answer came. `requestSent` says whether the account API may have carried out the request. */
export class ApiUnreachableError extends Error {
  override name = 'ApiUnreachableError'
  declare readonly operation: string
  /** `no`: there was no connection, so nothing happened. `unknown`: read the account before reporting a result. */
  declare readonly requestSent: 'no' | 'unknown'
  /** What ended the wait: the code of a transport error (`ECONNREFUSED`), or Lockkeeper's own words. */
  declare readonly problem: string

  constructor(details: { operation: string; requestSent: 'no' | 'unknown'; problem: string }) {
    super(`${details.operation}: no answer (${details.problem})`)
    Object.assign(this, details)
  }
}

/** The code of a 429 that proves that the request was not carried out (vendor's API reference, "Rate limits"). */
export const rateLimitCode = 'RATE_LIMIT_EXCEEDED'

/** Whether the account API refused a request because of its limit. Such a request was certainly not carried out, also if it is a write. */
export function isRateLimited(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status === 429 && error.codes.includes(rateLimitCode)
}

/** Not carried out, because of the limit a minute. `share`: of one person, if only that was spent. `answered`: the account API refused it. */
export class AccountLimitError extends ApiUnreachableError {
  override name = 'AccountLimitError'
  declare readonly kind: CallKind
  declare readonly waitMs: number
  declare readonly perMinute: number | undefined
  declare readonly share: number | undefined
  declare readonly answered: boolean
  /** How many pages of a list were read before. */
  pages?: number

  constructor({
    operation,
    ...details
  }: { operation: string } & Pick<AccountLimitError, 'kind' | 'waitMs' | 'perMinute' | 'answered'> & { share?: number }) {
    super({ operation, requestSent: 'no', problem: `limit of ${details.kind}s a minute` })
    Object.assign(this, details)
  }
}

export function isUnanswered(error: unknown): boolean {
  return error instanceof ApiUnreachableError || (error instanceof ApiError && (error.status >= 500 || error.status === 429))
}

/** Whether an error results from the request itself. Every other error, such as a rejected key, is a fault for the operators. */
export function isRefusal(error: unknown): boolean {
  if (error instanceof UserError || isFeatureMissing(error)) return true
  return error instanceof ApiError && error.status < 500 && ![401, 403, 408, 429].includes(error.status)
}

/** Whether a write that threw certainly changed nothing. 5xx, 408 and 429 may come from a proxy while the request was still carried out. */
export function certainlyNotApplied(error: unknown): error is ApiError | ApiUnreachableError {
  if (error instanceof ApiUnreachableError) return error.requestSent === 'no'
  if (error instanceof ApiError) return error.status >= 400 && error.status < 500 && error.status !== 408 && error.status !== 429
  return false
}

export function isCertificateError(code: string): boolean {
  return /^(CERT_|ERR_TLS_CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/.test(code)
}

export type ConnectionProblem = 'name' | 'refused' | 'certificate' | 'late' | 'broken'

const patterns: [ConnectionProblem, RegExp][] = [
  ['name', /^(ENOTFOUND|EAI_)/],
  ['refused', /^ECONNREFUSED$/],
  ['certificate', /^(CERT_|ERR_TLS_|ERR_SSL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|EPROTO$)/],
  ['late', /TIMEOUT$|^ETIMEDOUT$|^cancelled|^not finished|^no time left/],
]

export function connectionProblemOf(problem: string): ConnectionProblem {
  return patterns.find(([, pattern]) => pattern.test(problem))?.[0] ?? 'broken'
}

// These tables follow the reference of the account API, not the commands, so they stay complete when a command is deleted.

const byCode: Record<string, Words> = {
  ELASTIC_IP_NOT_ACTIVE: { why: "The Elastic IP isn't active, so it can't be moved now." },
  SERVER_NOT_IN_PROJECT: { why: "The server isn't in the same project as the Elastic IP.", next: 'Choose another server.' },
  SITE_NOT_SUPPORTED: { why: "The site doesn't support Elastic IPs.", next: "Ask the provider's support which sites do." },
  SERVER_NETWORK_INCOMPATIBLE: { why: "The target's network configuration is outdated.", next: "Contact the provider's support." },
  BGP_ELASTIC_IP_NOT_UPDATABLE: {
    why: "BGP address: several servers can announce it, so it isn't moved.",
    next: 'Close or open its BGP sessions in the dashboard.',
  },
  SITE_MISMATCH: { why: "The server isn't in the same site as the Elastic IP.", next: 'Choose another server.' },
}

/** The resources whose operations need a feature flag of the team. An operation's name begins with its resource. */
const flagOf: Record<string, [what: string, flag: string]> = {
  elasticIps: ['Elastic IPs', 'elastic_ips'],
  baselines: ['Baselines', 'baselines_api'],
}

export function documentedRefusal(error: ApiError): Words | undefined {
  const codes = error.codes.map((code) => code.toUpperCase())
  if (!isFeatureMissing(error)) return byCode[codes.find((code) => Object.hasOwn(byCode, code)) ?? '']
  const [what, flag] = flagOf[error.operation.split('.')[0] ?? ''] ?? []
  if (what === undefined) return undefined
  return { why: `${what} aren't enabled for this team (feature flag ${flag}).`, next: "Ask the provider's support to enable them." }
}

/** A right that the user of Redis lacks. Both are sentences for operators. */
export interface MissingRight {
  why: string
  fix: string
}

export function isMissingRight(error: unknown): error is StoreUnavailableError & { code: 'NOPERM' } {
  return error instanceof StoreUnavailableError && error.code === 'NOPERM'
}

/** Says which right an answer with NOPERM is about. Only the name of a command is taken from it: the rest may quote what was sent. */
export function missingRightIn(answer: string, prefix: string): MissingRight {
  const command = /run the '([\w|]+)' command/.exec(answer)?.[1]
  const right = command ? `run the command ${command}` : `use the keys {${prefix}}:*, or what a script needs`
  return { why: `The user in REDIS_URL has no right to ${right} (NOPERM).`, fix: 'Give it all rights in deploy/redis/users.acl.' }
}

/** Why Redis refuses to store anything although it answers. `why` is a clause, `fix` a sentence for operators. */
export interface WriteRefusal {
  code: 'OOM' | 'MISCONF' | 'NOREPLICAS'
  why: string
  fix: string
}

const writeRefusals: WriteRefusal[] = [
  { code: 'OOM', why: 'its memory is full', fix: 'Raise maxmemory, or remove data that other programs store there.' },
  { code: 'MISCONF', why: "it can't write to its disk", fix: 'Free space on its disk, and read its log.' },
  { code: 'NOREPLICAS', why: 'too few of its replicas are connected', fix: 'Bring the replicas back.' },
]

export function writeRefusalOf(code: string | undefined): WriteRefusal | undefined {
  return writeRefusals.find((each) => each.code === code)
}

export function refusesWrites({ code, why }: WriteRefusal): string {
  return `Redis refuses writes, because ${why} (${code}).`
}
