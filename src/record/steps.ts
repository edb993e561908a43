import type { RequestState } from '../domain/request.ts'

/** `web`: a process that answers people. Only tests read it: `authorize` checks the rights of people. */
export type Taker = 'requester' | 'approver' | 'worker' | 'web' | 'alert'

/** What the metrics count a step as, if people or the policy decide by it. */
type StepDecision = 'approve' | 'reject' | 'withdraw' | 'expire' | 'break-glass'

/** Fields of a record that a step sets to the current time, by Redis' clock. */
export type Stamp = 'decidedAt' | 'sentAt' | 'acceptedAt' | 'slowAt' | 'lateAt' | 'endedAt'

/** Messages that a thread can be owed, in the order of the thread. Steps owe all but `outdated`: Slack's refusal to update the card does. */
export const reportNames = [
  'reminder-half',
  'reminder-last',
  'escalation',
  'break-glass',
  'approved',
  'handover-half',
  'handover-last',
  'remark',
  'late',
  'resolved',
  'target-alerted',
  'outdated',
  'stopped',
  'ended',
] as const
export type ReportName = (typeof reportNames)[number]

export interface Step {
  from: readonly RequestState[]
  /** `same`: the state does not change. */
  to: RequestState | 'same'
  takers: readonly Taker[]
  decision?: StepDecision
  /** `sentAt`: the step with which a write is sent. `endedAt`: the step that ends a request. The audit is searched by both. */
  stamps?: readonly Stamp[]
  clears?: readonly (Stamp | 'waits')[]
  /** The write was certainly not carried out, so another one may be sent. */
  unsends?: true
  reports?: readonly ReportName[]
  mayReport?: readonly ReportName[]
  /** Possible only until the deadline of the request, by Redis' clock. */
  beforeDeadline?: true
  /** Possible only while the record has the revision that was read, because the step depends on its content. */
  ifUnchanged?: true
  keepsDue?: true
}

/** Ends a request, and says so in its thread. */
const ends = { stamps: ['endedAt'], reports: ['ended'] } as const

/** By the record as it was read, and before its deadline. */
const inTime = { beforeDeadline: true, ifUnchanged: true } as const

/**
 * The state machine: every step of a request, in the order of its life. Nothing else changes a state or raises the revision of an existing
 * record: `store.take` finds a step here, and the Lua script `take-step` takes it as one compare-and-set. The outbox writes its own fields
 * beside it. docs/reference.md lists them.
 */
export const steps = {
  // Until it is approved, or ends before its write: decisions, reminders and deadlines.
  approve: {
    // The last approval that was missing.
    from: ['waiting'],
    to: 'approved',
    takers: ['approver'],
    decision: 'approve',
    stamps: ['decidedAt'],
    mayReport: ['approved', 'break-glass'],
    ...inTime,
  },
  'count-approval': {
    // An approval, and more are missing.
    from: ['waiting'],
    to: 'same',
    takers: ['approver'],
    decision: 'approve',
    mayReport: ['break-glass'],
    keepsDue: true,
    ...inTime,
  },
  exempt: {
    // No approval is needed.
    from: ['waiting'],
    to: 'approved',
    takers: ['worker'],
    decision: 'approve',
    stamps: ['decidedAt'],
  },
  'break-glass': {
    // The requester approves alone, in an emergency.
    from: ['waiting'],
    to: 'approved',
    takers: ['requester'],
    decision: 'break-glass',
    stamps: ['decidedAt'],
    reports: ['break-glass'],
    beforeDeadline: true,
  },
  reject: {
    // An approver rejects it.
    from: ['waiting'],
    to: 'rejected',
    takers: ['approver'],
    decision: 'reject',
    stamps: ['decidedAt', 'endedAt'],
    reports: ['ended'],
    beforeDeadline: true,
  },
  withdraw: {
    // The requester, or an approver, withdraws it before anything is sent.
    from: ['waiting', 'approved'],
    to: 'withdrawn',
    takers: ['requester', 'approver'],
    decision: 'withdraw',
    stamps: ['endedAt'],
    mayReport: ['ended'],
  },
  'withdraw-resolved': {
    // The alert that requested it has resolved.
    from: ['waiting'],
    to: 'withdrawn',
    takers: ['alert'],
    decision: 'withdraw',
    stamps: ['endedAt'],
  },
  warn: {
    // An alert begins to fire about its target.
    from: ['waiting', 'approved', 'starting', 'tracking'],
    to: 'same',
    takers: ['alert'],
    mayReport: ['target-alerted'],
    ifUnchanged: true,
    keepsDue: true,
  },
  'warn-resolved': {
    // No alert about its target fires anymore.
    from: ['waiting', 'approved', 'starting', 'tracking'],
    to: 'same',
    takers: ['alert'],
    mayReport: ['target-alerted'],
    ifUnchanged: true,
    keepsDue: true,
  },
  remind: {
    // Half, or nine tenths, of its time is over.
    from: ['waiting', 'approved'],
    to: 'same',
    takers: ['worker'],
    mayReport: ['reminder-half', 'reminder-last', 'handover-half', 'handover-last'],
    ...inTime,
  },
  prolong: {
    // A window or a freeze holds the button of an approved one, or does so no longer.
    from: ['approved'],
    to: 'same',
    takers: ['worker'],
    mayReport: ['handover-half'],
    ifUnchanged: true,
  },
  escalate: {
    // The time of `escalate` has come.
    from: ['waiting'],
    to: 'same',
    takers: ['worker'],
    mayReport: ['escalation'],
    ...inTime,
  },
  expire: {
    // The deadline passed without a decision.
    from: ['waiting'],
    to: 'expired',
    takers: ['requester', 'approver', 'worker'],
    decision: 'expire',
    ...ends,
  },
  'expire-approved': {
    // The requester did not have the secret issued before the deadline.
    from: ['approved'],
    to: 'expired',
    takers: ['requester', 'worker'],
    decision: 'expire',
    ...ends,
  },

  // Until the account API has accepted its write.
  // The account changed since the request.
  void: { from: ['approved'], to: 'voided', takers: ['requester', 'worker'], ...ends },
  drop: {
    // It was not sent: too late, certain to be refused, or no longer allowed.
    from: ['approved'],
    to: 'not-started',
    takers: ['requester', 'worker'],
    ...ends,
  },
  'wait-for-start': {
    // It may not start yet: because of its start, a window or a freeze.
    from: ['approved'],
    to: 'same',
    takers: ['worker'],
    ifUnchanged: true,
  },
  'start-now': {
    // An approver lets it start before its start.
    from: ['approved'],
    to: 'same',
    takers: ['approver'],
    clears: ['waits'],
    ifUnchanged: true,
  },
  'wait-for-account': {
    // The account could not be read before the write.
    from: ['approved'],
    to: 'same',
    takers: ['worker'],
    ifUnchanged: true,
  },
  'wait-for-turn': {
    // The account allows no more calls this minute.
    from: ['approved'],
    to: 'same',
    takers: ['worker'],
    ifUnchanged: true,
  },
  // No worker is running.
  'wait-for-worker': { from: ['approved'], to: 'same', takers: ['web'], ifUnchanged: true, keepsDue: true },
  // The write is sent.
  send: { from: ['approved'], to: 'starting', takers: ['worker'], stamps: ['sentAt'] },
  issue: {
    // The requester presses the button, and the write is sent.
    from: ['approved'],
    to: 'starting',
    takers: ['requester'],
    stamps: ['sentAt'],
    beforeDeadline: true,
  },
  limit: {
    // The account API refused the write because of its limit.
    from: ['starting'],
    to: 'approved',
    takers: ['requester', 'worker'],
    clears: ['sentAt'],
    unsends: true,
  },
  begin: {
    // Its children are created, and sent a few at a time.
    from: ['approved'],
    to: 'tracking',
    takers: ['worker'],
    stamps: ['sentAt', 'acceptedAt'],
    mayReport: ['remark'],
  },
  accept: {
    // The account API confirmed it, or shows it.
    from: ['starting'],
    to: 'tracking',
    takers: ['worker'],
    stamps: ['acceptedAt'],
  },

  // How it ends once its write may have been sent.
  // It takes longer than usual.
  slow: { from: ['tracking'], to: 'same', takers: ['worker'], stamps: ['slowAt'], ifUnchanged: true },
  late: {
    // It takes longer than expected.
    from: ['starting', 'tracking'],
    to: 'same',
    takers: ['worker'],
    stamps: ['slowAt', 'lateAt'],
    reports: ['late'],
    ifUnchanged: true,
  },
  'note-resolved': {
    // The alert that requested it has resolved; the change goes on.
    // People may go on by hand after the end, so the thread still says it.
    from: ['approved', 'starting', 'tracking', 'done', 'failed', 'not-started', 'superseded', 'untracked', 'voided'],
    to: 'same',
    takers: ['alert'],
    mayReport: ['resolved'],
    ifUnchanged: true,
    keepsDue: true,
  },
  'note-firing': {
    // After that, an alert that requested it fires again.
    from: ['approved', 'starting', 'tracking'],
    to: 'same',
    takers: ['alert'],
    mayReport: ['resolved'],
    ifUnchanged: true,
    keepsDue: true,
  },
  // The account shows it as done.
  finish: { from: ['starting', 'tracking'], to: 'done', takers: ['requester', 'worker'], ...ends },
  // It was refused, or it failed.
  fail: { from: ['starting', 'tracking'], to: 'failed', takers: ['requester', 'worker'], ...ends },
  'fail-begun': {
    // It failed before the write was confirmed.
    from: ['starting'],
    to: 'failed',
    takers: ['worker'],
    stamps: ['acceptedAt', 'endedAt'],
    reports: ['ended'],
  },
  // Another change overtook it.
  supersede: { from: ['starting', 'tracking'], to: 'superseded', takers: ['worker'], ...ends },
  'not-start': {
    // It had no effect for some minutes.
    from: ['starting', 'tracking'],
    to: 'not-started',
    takers: ['worker'],
    ...ends,
  },
  'stop-tracking': {
    // Somebody stops the tracking.
    from: ['tracking'],
    to: 'untracked',
    takers: ['requester', 'approver'],
    stamps: ['endedAt'],
    reports: ['stopped'],
  },
  distrust: {
    // Its record can no longer be verified, so the tracking ends.
    from: ['starting', 'tracking'],
    to: 'untracked',
    takers: ['worker'],
    stamps: ['endedAt'],
    reports: ['stopped'],
    ifUnchanged: true,
  },
  // Somebody starts the tracking again.
  'track-again': { from: ['untracked'], to: 'tracking', takers: ['requester', 'approver'] },
} as const satisfies Record<string, Step>
export type StepName = keyof typeof steps

export function stepOf(name: StepName): Step {
  return steps[name]
}

/** Undefined for a step that decides nothing, and for an act that is no step. */
export function decisionOf(name: string): StepDecision | undefined {
  return stepOfAct(name)?.decision
}

export function stateAfter(name: StepName, before: RequestState): RequestState {
  const { to } = stepOf(name)
  return to === 'same' ? before : to
}

/** Undefined if the act is no step, or one that keeps the state. */
export function stateOfAct(act: string): RequestState | undefined {
  const to = stepOfAct(act)?.to
  return to === 'same' ? undefined : to
}

/** Whether a write is sent with an act of the audit. */
export function isSend(act: string): boolean {
  return stepOfAct(act)?.stamps?.includes('sentAt') ?? false
}

/** Whether an act of the audit says that a write was certainly not carried out, so that another one may be sent. */
export function isUnsend(act: string): boolean {
  return stepOfAct(act)?.unsends === true
}

/** Whether an act of the audit decides whether a request may still be sent. */
export function sendsOrEnds(act: string): boolean {
  const to = stateOfAct(act)
  return isSend(act) || isUnsend(act) || (to !== undefined && to !== 'waiting' && to !== 'approved')
}

function stepOfAct(act: string): Step | undefined {
  return Object.hasOwn(steps, act) ? stepOf(act as StepName) : undefined
}
