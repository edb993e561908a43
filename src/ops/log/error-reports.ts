import { isRefusal } from '../../domain/api-errors.ts'
import type { ErrorCode } from '../../domain/error-code.ts'
import { UserError } from '../../domain/errors.ts'
import type { Place } from '../pages/metrics.ts'
import { type Log, throttled } from './log.ts'

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

/** Creates the functions that count and log errors. An error is counted even if the log already has a line for its kind. */
export function createErrorReports({ log, count }: { log: Pick<Log, 'info' | 'warn' | 'error'>; count: (place: Place) => void }) {
  function countThen(place: Place, write: (error: unknown) => void) {
    return (error: unknown): void => {
      count(place)
      write(error)
    }
  }

  const writeLine = (place: Place) => (error: unknown) => log.error({ code: codes[place], error }, place)
  const loggedKinds = new Set<string>()

  return {
    /** Returns a function that logs every error. */
    each: (place: Place) => countThen(place, writeLine(place)),
    /** Returns a function that logs one error every few seconds, for a fault that recurs at every attempt. */
    throttled: (place: Place) => countThen(place, throttled(writeLine(place))),
    /** Logs a payload that was acknowledged but not handled, once for each kind. A kind without a listener is not counted as an error. */
    unhandled({ kind, why, members }: LoggedPayload): void {
      if (why !== 'no-listener') count('slack')
      const key = [kind, why, ...(members ?? [])].join()
      if (loggedKinds.has(key) || loggedKinds.size >= maxLoggedKinds) return
      loggedKinds.add(key)
      log.warn({ code: unhandledCodes[why], kind, ...(members ? { members } : {}) }, unhandledWords[why])
    },
    /** Logs an error that was shown to a person. A refusal is not counted as an error. */
    shownToPerson(error: unknown, context: { reference?: string; at: string }): void {
      if (!isRefusal(error)) count('people')
      if (error instanceof UserError) log.info({ ...context, error }, 'refused')
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
