import type { RequestState } from '../domain/request.ts'
import type { ItemState } from '../domain/request-item.ts'

/**
 * Who takes a step. `worker`: the process that finds the step due. `alert`: the process that an alert was
 * sent to. Only docs/request-states.md and tests read it: `access/` checks the rights of
 * people, at the click.
 */
export type Taker = 'requester' | 'approver' | 'worker' | 'alert'

/** Fields of a record that a step sets to the current time, by Redis' clock. */
export type Stamp = 'decidedAt' | 'unreadAt' | 'sentAt' | 'acceptedAt' | 'lateAt' | 'endedAt'

/** Messages that a thread can be owed, in the order of the thread. */
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

/** The ends of a request that was approved. Its thread still says that the alert behind it has resolved, because people may go on by hand. */
const afterApproval = ['done', 'failed', 'not-started', 'superseded', 'untracked', 'voided'] as const satisfies readonly RequestState[]

/**
 * Lists every step of a request once. Nothing else changes a state or raises the revision of an existing record: `store.take` finds a step
 * here, and the Lua script `take-step` takes it as one compare-and-set. The outbox writes its own fields beside it.
 * docs/request-states.md is generated from this table.
 */
export const steps = {
  approve: {
    what: 'The last approval that was missing',
    from: ['waiting'],
    to: 'approved',
    takers: ['approver'],
    stamps: ['decidedAt'],
    mayReport: ['approved'],
    beforeDeadline: true,
    ifUnchanged: true,
  },
  'count-approval': {
    what: 'An approval, and more are missing',
    from: ['waiting'],
    to: 'same',
    takers: ['approver'],
    beforeDeadline: true,
    ifUnchanged: true,
    keepsDue: true,
  },
  exempt: {
    what: 'The rule needs no approval',
    from: ['waiting'],
    to: 'approved',
    takers: ['worker'],
    stamps: ['decidedAt'],
  },
  'break-glass': {
    what: 'The requester approves alone, in an emergency',
    from: ['waiting'],
    to: 'approved',
    takers: ['requester'],
    stamps: ['decidedAt'],
    reports: ['break-glass'],
    beforeDeadline: true,
  },
  reject: {
    what: 'An approver rejects it',
    from: ['waiting'],
    to: 'rejected',
    takers: ['approver'],
    stamps: ['decidedAt', 'endedAt'],
    reports: ['ended'],
    beforeDeadline: true,
  },
  withdraw: {
    what: 'The requester withdraws it',
    from: ['waiting'],
    to: 'withdrawn',
    takers: ['requester'],
    stamps: ['endedAt'],
  },
  'withdraw-handover': {
    what: 'The requester withdraws it before the secret is issued',
    from: ['waiting', 'approved'],
    to: 'withdrawn',
    takers: ['requester'],
    stamps: ['endedAt'],
  },
  'withdraw-resolved': {
    what: 'The alert that requested it has resolved',
    from: ['waiting'],
    to: 'withdrawn',
    takers: ['alert'],
    stamps: ['endedAt'],
  },
  'note-resolved': {
    what: 'The alert that requested it has resolved; the change goes on, or stays as it ended',
    from: ['approved', 'starting', 'tracking', ...afterApproval],
    to: 'same',
    takers: ['alert'],
    reports: ['resolved'],
    ifUnchanged: true,
    keepsDue: true,
  },
  'remind-half': {
    what: 'Half of the time to approve is over',
    from: ['waiting'],
    to: 'same',
    takers: ['worker'],
    reports: ['reminder-half'],
    beforeDeadline: true,
    ifUnchanged: true,
  },
  'remind-last': {
    what: 'Nine tenths of the time to approve are over',
    from: ['waiting'],
    to: 'same',
    takers: ['worker'],
    reports: ['reminder-last'],
    beforeDeadline: true,
    ifUnchanged: true,
  },
  'remind-handover-half': {
    what: 'Half of the time to have the secret issued is over',
    from: ['approved'],
    to: 'same',
    takers: ['worker'],
    reports: ['handover-half'],
    beforeDeadline: true,
    ifUnchanged: true,
  },
  'remind-handover-last': {
    what: 'Nine tenths of the time to have the secret issued are over',
    from: ['approved'],
    to: 'same',
    takers: ['worker'],
    reports: ['handover-last'],
    beforeDeadline: true,
    ifUnchanged: true,
  },
  expire: {
    what: 'The deadline passed without a decision',
    from: ['waiting'],
    to: 'expired',
    takers: ['requester', 'approver', 'worker'],
    stamps: ['endedAt'],
    reports: ['ended'],
  },
  'expire-approved': {
    what: 'The requester did not have the secret issued before the deadline',
    from: ['approved'],
    to: 'expired',
    takers: ['requester', 'worker'],
    stamps: ['endedAt'],
    reports: ['ended'],
  },
  void: {
    what: 'The account changed since the request',
    from: ['approved'],
    to: 'voided',
    takers: ['requester', 'worker'],
    stamps: ['endedAt'],
    reports: ['ended'],
  },
  drop: {
    what: 'It was not sent: too late, certain to be refused, or nobody allowed what the record says now',
    from: ['approved'],
    to: 'not-started',
    takers: ['requester', 'worker'],
    stamps: ['endedAt'],
    reports: ['ended'],
  },
  'wait-for-account': {
    what: 'The account could not be read right before the write',
    from: ['approved'],
    to: 'same',
    takers: ['worker'],
    stamps: ['unreadAt'],
    ifUnchanged: true,
  },
  send: {
    what: 'The one write is sent',
    from: ['approved'],
    to: 'starting',
    takers: ['worker'],
    stamps: ['sentAt'],
    mayReport: ['remark'],
  },
  issue: {
    what: 'The requester presses the button, and the one write is sent',
    from: ['approved'],
    to: 'starting',
    takers: ['requester'],
    stamps: ['sentAt'],
    beforeDeadline: true,
  },
  begin: {
    what: 'The writes of the items are sent, a few at a time',
    from: ['approved'],
    to: 'tracking',
    takers: ['worker'],
    stamps: ['sentAt', 'acceptedAt'],
    mayReport: ['remark'],
  },
  accept: {
    what: 'The account API confirmed the write, or shows it under way',
    from: ['starting'],
    to: 'tracking',
    takers: ['worker'],
    stamps: ['acceptedAt'],
  },
  late: {
    what: 'It takes longer than expected',
    from: ['starting', 'tracking'],
    to: 'same',
    takers: ['worker'],
    stamps: ['lateAt'],
    reports: ['late'],
    ifUnchanged: true,
  },
  finish: {
    what: 'The account shows it as done',
    from: ['starting', 'tracking'],
    to: 'done',
    takers: ['requester', 'worker'],
    stamps: ['endedAt'],
    reports: ['ended'],
  },
  fail: {
    what: 'The account API refused it, or it failed',
    from: ['starting', 'tracking'],
    to: 'failed',
    takers: ['requester', 'worker'],
    stamps: ['endedAt'],
    reports: ['ended'],
  },
  'fail-begun': {
    what: 'It failed before the write was confirmed, and left something behind',
    from: ['starting'],
    to: 'failed',
    takers: ['worker'],
    stamps: ['acceptedAt', 'endedAt'],
    reports: ['ended'],
  },
  supersede: {
    what: 'Another change overtook it',
    from: ['starting', 'tracking'],
    to: 'superseded',
    takers: ['worker'],
    stamps: ['endedAt'],
    reports: ['ended'],
  },
  'not-start': {
    what: 'The write had no effect',
    from: ['starting', 'tracking'],
    to: 'not-started',
    takers: ['worker'],
    stamps: ['endedAt'],
    reports: ['ended'],
  },
  'correct-to-tracking': {
    what: 'It starts after it was reported as not started or failed',
    from: ['not-started', 'failed'],
    to: 'tracking',
    takers: ['worker'],
    stamps: ['acceptedAt'],
    reports: ['restarted'],
  },
  'correct-to-done': {
    what: 'It is done after it was reported as not started or failed',
    from: ['tracking', 'not-started', 'failed'],
    to: 'done',
    takers: ['worker'],
    stamps: ['endedAt'],
    reports: ['corrected'],
  },
  'correct-to-failed': {
    what: 'It failed after it was reported otherwise',
    from: ['tracking', 'not-started', 'failed'],
    to: 'failed',
    takers: ['worker'],
    stamps: ['endedAt'],
    reports: ['corrected'],
  },
  'correct-to-superseded': {
    what: 'Another change overtook it after it had started after all',
    from: ['tracking'],
    to: 'superseded',
    takers: ['worker'],
    stamps: ['endedAt'],
    reports: ['corrected'],
  },
  'correct-to-not-started': {
    what: 'It had no effect after all',
    from: ['tracking'],
    to: 'not-started',
    takers: ['worker'],
    stamps: ['endedAt'],
    reports: ['corrected'],
  },
  'stop-tracking': {
    what: 'Somebody stops the tracking; the change may still take effect',
    from: ['tracking'],
    to: 'untracked',
    takers: ['requester', 'approver'],
    stamps: ['endedAt'],
    reports: ['stopped'],
  },
  'track-again': {
    what: 'Somebody starts the tracking again',
    from: ['untracked'],
    to: 'tracking',
    takers: ['requester', 'approver'],
  },
} as const satisfies Record<string, Step>
export type StepName = keyof typeof steps

/**
 * Lists every step of an item of a request with several. The request stays `tracking` until all its items have ended; then `finish` or `fail`
 * ends it. Each step of an item is one compare-and-set of the whole record.
 */
export const itemSteps = {
  'send-item': {
    what: 'The one write of the item is sent',
    from: ['waiting'],
    to: 'sending',
    takers: ['worker'],
    stamps: ['sentAt'],
  },
  'skip-item': {
    what: 'The write is not sent: the account changed, or it is certain to be refused',
    from: ['waiting'],
    to: 'not-started',
    takers: ['worker'],
    stamps: ['endedAt'],
  },
  'accept-item': {
    what: 'The account API confirmed the write, or shows it under way',
    from: ['sending'],
    to: 'moving',
    takers: ['worker'],
    stamps: ['acceptedAt'],
  },
  'late-item': {
    what: 'It takes longer than expected',
    from: ['sending', 'moving'],
    to: 'same',
    takers: ['worker'],
    stamps: ['lateAt'],
    mayReport: ['late'],
  },
  'finish-item': {
    what: 'The account shows it as done',
    from: ['sending', 'moving'],
    to: 'done',
    takers: ['worker'],
    stamps: ['endedAt'],
  },
  'fail-item': {
    what: 'The account API refused it, or it failed',
    from: ['sending', 'moving'],
    to: 'failed',
    takers: ['worker'],
    stamps: ['endedAt'],
  },
  'supersede-item': {
    what: 'Another change overtook it',
    from: ['sending', 'moving'],
    to: 'superseded',
    takers: ['worker'],
    stamps: ['endedAt'],
  },
  'not-start-item': {
    what: 'The write had no effect',
    from: ['sending', 'moving'],
    to: 'not-started',
    takers: ['worker'],
    stamps: ['endedAt'],
  },
  'restart-item': {
    what: 'It starts after it was reported as not started or failed',
    from: ['not-started', 'failed'],
    to: 'moving',
    takers: ['worker'],
    stamps: ['acceptedAt'],
  },
} as const satisfies Record<string, Step<ItemState>>
export type ItemStepName = keyof typeof itemSteps

export function itemStepOf(name: ItemStepName): Step<ItemState> {
  return itemSteps[name]
}

export function stepOf(name: StepName): Step {
  return steps[name]
}

/** Returns the state after a step. */
export function stateAfter(name: StepName, before: RequestState): RequestState {
  const { to } = stepOf(name)
  return to === 'same' ? before : to
}

/** Returns the state after an act of the audit. Returns undefined if the act is no step, or one that keeps the state. */
export function stateOfAct(act: string): RequestState | undefined {
  if (!Object.hasOwn(steps, act)) return undefined
  const { to } = stepOf(act as StepName)
  return to === 'same' ? undefined : to
}

/** Returns the state of the item after an act of the audit. Returns undefined if the act is no step of an item, or one that keeps the state. */
export function stateOfItemAct(act: string): ItemState | undefined {
  if (!Object.hasOwn(itemSteps, act)) return undefined
  const { to } = itemStepOf(act as ItemStepName)
  return to === 'same' ? undefined : to
}

/** Whether an act of the audit is a step with which a write is sent. */
export function isSend(act: string): boolean {
  return act === 'send' || act === 'issue' || act === 'begin' || act === 'send-item'
}

/** Whether an act of the audit is a step after which a request, or the item that it is about, may no longer be sent. */
export function sendsOrEnds(act: string): boolean {
  if (Object.hasOwn(itemSteps, act)) return true
  const to = stateOfAct(act)
  return isSend(act) || (to !== undefined && to !== 'waiting' && to !== 'approved')
}
