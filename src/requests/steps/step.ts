import type { RequestState } from '../../domain/request/request.ts'

/**
 * Who takes a step. `worker`: the process that finds the step due. `web`: a process that answers people. `alert`: the process that an alert was
 * sent to. Only docs/request-states.md and tests read it: `access/` checks the rights of
 * people, at the click.
 */
export type Taker = 'requester' | 'approver' | 'worker' | 'web' | 'alert'

/** Fields of a record that a step sets to the current time, by Redis' clock. */
export type Stamp = 'decidedAt' | 'sentAt' | 'acceptedAt' | 'lateAt' | 'endedAt'

/** Messages that a thread can be owed, in the order of the thread. Steps owe all but `outdated`: Slack's refusal to update the card does. */
export const reportNames = [
  'reminder-half',
  'reminder-last',
  'break-glass',
  'approved',
  'handover-half',
  'handover-last',
  'remark',
  'late',
  'resolved',
  'outdated',
  'stopped',
  'ended',
  'restarted',
  'corrected',
] as const
export type ReportName = (typeof reportNames)[number]

/** One step of a machine with these states. A machine for the items of a request has the same shape. */
export interface Step<State extends string = RequestState> {
  /** What happens, for docs/request-states.md. */
  what: string
  from: readonly State[]
  /** `same`: the state does not change. */
  to: State | 'same'
  takers: readonly Taker[]
  stamps?: readonly Stamp[]
  /** Fields that it removes. */
  clears?: readonly Stamp[]
  /** The write was certainly not carried out, so another one may be sent. */
  unsends?: true
  /** Messages that the thread is owed after the step. */
  reports?: readonly ReportName[]
  /** Messages that the thread is owed if the taker asks for them. */
  mayReport?: readonly ReportName[]
  /** Possible only until the deadline of the request, by Redis' clock. */
  beforeDeadline?: true
  /** Possible only while the record has the revision that was read, because the step depends on its content. */
  ifUnchanged?: true
  /** Keeps the time at which the request is due. */
  keepsDue?: true
}
