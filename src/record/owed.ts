import type { Deadline } from '../domain/deadline.ts'
import type { Answerable } from '../slack/interactions.ts'
import type { Where } from '../slack/web-api.ts'
import type { ReportName } from './steps.ts'

/** A message of the outbox. `id`: of the request or, for a message that is about no request, of the message itself. `name`: `card`, that of a report, or of its sender. */
export interface Owed {
  id: string
  name: string
}

export interface Lease {
  of: Owed
  token: string
  /** `fresh`: send it. `unsure`: an earlier try may have sent it, so search first. */
  mode: 'fresh' | 'unsure'
  /** How long the message has been searched for, in ms by Redis' clock. */
  searchedForMs: number
  /** The latest time at which an earlier try may have sent it, in ms since 1970 by Redis' clock. Undefined if fresh. */
  triedUntilMs?: number
  /** The revision of the record that owes this report. A later revision may owe it again. */
  owedBy?: number
  /** Slack did not answer the last try in time, and may still carry it out. So it is searched for once more, so much later, before it is sent. */
  searchAgainInMs?: number | undefined
  /** Later requests may arrive when another process holds the lease. */
  sendBefore: Deadline
  /** When the lease ends, in ms since 1970 by Redis' clock. */
  untilMs: number
  /** What was sent under it. */
  posted?: Outgoing
}

/** A message, where it goes, and since when an earlier try may have posted it. */
export interface Outgoing {
  message: Answerable
  place: Where & { key: string }
  /** In ms since 1970 by Redis' clock. */
  sinceMs: number
}

/** The result of one try to send a message, as the outbox stores it. */
export interface Settlement {
  /**
   * `settled`: Slack has it, or refuses it for good. `queued`: this try certainly sent nothing; if an earlier one may have sent it, the next lease
   * is `unsure` again. `dropped`: a message about no request that is forgotten, so that it can be owed again.
   */
  status: 'settled' | 'queued' | 'unsure' | 'dropped'
  retryInMs?: number
  /** Slack did not answer in time. Queued is then the update of a card, which it may still carry out after a later one. */
  isSlow?: boolean
  /** Slack's code for refusing it. */
  refused?: string
  /** For a card: where it is, and the revision of the record that Slack shows now, or refused. */
  cardTs?: string
  shownRevision?: number
  /** A report that the thread then gets, unless it ever got it. */
  owes?: ReportName
  /** How long a message that is about no request is remembered, in ms. */
  rememberMs?: number
}
