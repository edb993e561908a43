import { currentRequest } from '../../domain/account/lane.ts'
import { AccountLimitError, isRefusal } from '../../domain/errors/api-errors.ts'
import type { ErrorCode } from '../../domain/errors/error-code.ts'
import { UserError } from '../../domain/errors/errors.ts'
import type { Place } from '../pages/metrics.ts'
import { likenessOf } from './likeness.ts'
import type { Log } from './log.ts'
import type { RepeatedLines } from './repeated-lines.ts'

/**
 * A Slack payload that no listener handled. `kind` has the form of Slack's types and `members` are names from Lockkeeper's own schemas, so
 * both may be logged. `no-listener`: no listener exists for this kind. `unreadable`: required members are missing. `listener-failed`: the
 * listener failed before it acknowledged the payload.
 */
interface LoggedPayload {
  kind: string
  why: 'no-listener' | 'unreadable' | 'listener-failed'
  members?: string[]
}

/** At most this many kinds of payload are logged. Kinds come from outside, so the set of logged kinds must not grow without limit. */
const maxLoggedKinds = 200

interface ErrorReportsParts {
  log: Pick<Log, 'info' | 'warn'>
  lines: Pick<RepeatedLines, 'write'>
  count: (place: Place) => void
}

/** Creates the functions that count and log errors. Each error is counted, even if the log has one line for many. */
export function createErrorReports({ log, lines, count }: ErrorReportsParts) {
  const loggedKinds = new Set<string>()

  return {
    /** Returns the function that reports the errors of one place. */
    of:
      (place: Place) =>
      (error: unknown, requestId = currentRequest()): void => {
        count(place)
        lines.write({ level: 'error', fields: { code: codes[place], error, requestId }, text: words[place], about: likenessOf(error) })
      },
    /** Logs a payload that was acknowledged but not handled, once for each kind. A kind without a listener is not counted as an error. */
    unhandled({ kind, why, members }: LoggedPayload): void {
      if (why !== 'no-listener') count('slack')
      const key = [kind, why, ...(members ?? [])].join()
      if (loggedKinds.has(key) || loggedKinds.size >= maxLoggedKinds) return
      loggedKinds.add(key)
      log.warn({ code: unhandledCodes[why], kind, ...(members ? { members } : {}) }, unhandledWords[why])
    },
    /** Logs an error that was shown to a person. A refusal is not counted as an error. */
    shownToPerson(error: unknown, shown: { reference?: string; at: string }): void {
      const context = { ...shown, requestId: currentRequest() }
      if (!isRefusal(error)) count('people')
      // The account's limit is no fault, and metrics count it.
      if (error instanceof UserError || error instanceof AccountLimitError) log.info({ ...context, error }, 'refused')
      else log.warn({ code: 'error-shown', ...context, error }, 'An error was shown to a person')
    },
  }
}

const codes: Record<Place, ErrorCode> = {
  jobs: 'job-failed',
  queue: 'queue-failed',
  audit: 'audit-failed',
  people: 'answer-failed',
  slack: 'slack-listener-failed',
  operators: 'operators-not-notified',
  'account-api': 'account-api-error',
  alerts: 'alerts-failed',
}

const words: Record<Place, string> = {
  jobs: 'Work in the background failed. It is tried again',
  queue: 'The queue of jobs failed. A tick does the work instead',
  audit: 'A note of the audit could not be written yet. It is tried again',
  people: 'Something for a person failed after they had an answer',
  slack: 'A command, click or form failed before its listener answered',
  operators: "The operators' channel could not be notified",
  'account-api': 'A call to the account API failed',
  alerts: 'An alert could not be handled. Its sender gets 503 and sends it again',
}

const unhandledCodes: Record<LoggedPayload['why'], ErrorCode> = {
  'no-listener': 'payload-not-handled',
  unreadable: 'payload-unreadable',
  'listener-failed': 'slack-listener-failed',
}

const unhandledWords = {
  'no-listener': 'Acknowledged a Slack payload that Lockkeeper does not handle. More of this kind are not logged.',
  unreadable: 'Acknowledged a Slack payload that could not be read. The person gets an answer where possible. More like it are not logged.',
  'listener-failed': 'A listener failed before it acknowledged a Slack payload. More of this kind are not logged.',
} as const
