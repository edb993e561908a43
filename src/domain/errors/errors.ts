import type { Finding, Words } from '../change/finding.ts'

/** An error that the person can fix. The message is a whole sentence and is shown to them as it is. */
export class UserError extends Error {
  override name = 'UserError'
}

/** A preflight check that prevents a change. The message is `finding` in words. `next` is a sentence that says what to do. */
export class CheckFailed extends UserError {
  override name = 'CheckFailed'
  readonly finding: Finding

  readonly next: string | undefined

  constructor(finding: Finding, { why, next }: Words) {
    super(why)
    this.finding = finding
    this.next = next
  }
}

/** Nothing on the account has the id or the name that a person typed. */
export class UnknownName extends UserError {
  override name = 'UnknownName'
  /** What was looked for: `server`. */
  readonly what: string
  readonly typed: string
  /** Why nothing can have this name: `isn't an IP address: 999 is more than 255.` */
  readonly problem: string | undefined

  constructor(what: string, typed: string, problem?: string) {
    super(problem === undefined ? `No ${what} ${typed}.` : `${typed} ${problem}`)
    this.what = what
    this.typed = typed
    this.problem = problem
  }
}

/** Redis did not carry out a command. Nothing that needs the records is possible until it does. */
export class StoreUnavailableError extends Error {
  override name = 'StoreUnavailableError'
  /** The code of Redis' refusal, such as `NOPERM` or `OOM`. Undefined if no answer came. */
  readonly code: string | undefined

  constructor(message: string, code?: string) {
    super(message)
    this.code = code
  }
}

/** A reason why Lockkeeper cannot start. The message is a sentence for operators. */
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
