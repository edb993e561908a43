import { hash } from 'node:crypto'
import type { App } from '../app.ts'
import { isMachine, machineNameOf } from '../domain/approval.ts'
import { type ApproveTerms, escalationOf } from '../domain/policy.ts'
import type { AuthorityProblem, Request } from '../domain/request.ts'
import { canonicalJson } from '../domain/signing.ts'
import { heldFrom, mayStartUntil } from '../domain/starts.ts'
import { refusedCard } from '../messages/request-words.ts'
import type { CommonFinding } from '../messages/why-not.ts'
import { onUndeliverable } from '../outbox/operators.ts'
import { deliver, show, showAgain } from '../outbox/outbox.ts'
import { waitsForPress } from '../outbox/render.ts'
import type { ReportName } from '../record/steps.ts'
import { alertReminderAfter, encodeFields, firstReminderAt, lastReminderAt } from '../record/store.ts'
import { guardStore } from '../redis/connect.ts'
import { ruleOf, tally } from '../rights/judge.ts'
import { timesOf } from '../rights/times.ts'
import { notice } from '../slack/blocks.ts'
import { isChannelUnreachable } from '../slack/web-api.ts'
import { checkApproval } from './authority.ts'
import { approvalData, believedApprovals } from './decide.ts'
import { refuseWithoutAuthority, wakeHeld } from './send.ts'

/** The wait before a card that Slack has not taken, or has refused, is posted again. A refusal can be temporary, too. */
const cardRetryMs = 2_000
const refusedCardRetryMs = 60_000

/** Posts the card, and sends reminders and escalations, until the deadline. `exempt`: it was approved because its rule needs no approval. */
export async function waitForApproval(app: App, request: Request): Promise<'exempt' | undefined> {
  const { store } = app
  const now = await store.now()
  const isGone = isOfGoneMachine(app, request)
  if (isGone || now >= request.expiresAt) {
    await store.take(request, 'expire', isGone ? { set: { causes: [{ code: 'machine-gone' } satisfies CommonFinding] } } : {})
    await show(app, request.id)
    return undefined
  }
  if (request.cardTs === undefined) {
    const shown = await deliver(app, request.id, 'card')
    // Send nothing before its card is posted, even if it needs no approval.
    if (shown.is === 'refused' && isChannelUnreachable(shown.error)) return void (await discardUnposted(app, request, shown.error))
    if (shown.is !== 'sent')
      return void (await store.postponeIfUnchanged(request, shown.is === 'refused' ? refusedCardRetryMs : cardRetryMs))
  }
  if (request.needsApproval) return void (await remind(app, request, now))
  const { change } = app.catalog.open(request)
  const approved = await store.take(request, 'exempt', approvalData(app, change, request, { rule: request.rule, via: 'no-approval' }))
  return approved.outcome === 'won' ? 'exempt' : undefined
}

/** Whether a machine requested it that the policy no longer lets request it. */
function isOfGoneMachine(app: App, request: Request): boolean {
  return machineNameOf(request.origin) !== undefined && ruleOf(app, request) === undefined
}

/**
 * For a start with another policy, or another host of the pages: what it no longer lets machines request, and what was not sent yet, ends at once, and not
 * only when it is due.
 */
export async function applyPolicy(app: App): Promise<void> {
  const { store, redis, keys, config } = app
  const { requests } = await store.findOpen()
  const gone = requests.filter((request) => ['waiting', 'approved'].includes(request.state) && isOfGoneMachine(app, request))
  await Promise.all(gone.map((request) => app.queues.wake(request, 0)))
  const { rules, freezes } = config.policy
  const policy = hash('sha256', canonicalJson({ rules, freezes, publicUrl: config.publicUrl?.href }))
  if ((await guardStore(() => redis.get(keys.policyShown))) === policy) return
  const waiting = await judgeAgain(app)
  await guardStore(() => redis.set(keys.policyShown, policy))
  // By this process: one that an update is about to end still has the policy of before.
  for (const { id } of waiting) await show(app, id)
}

/** What approvals rest on has changed: what is approved is judged again at once, and the messages of what waits for a press say what it needs now. */
export async function judgeAgain(app: App): Promise<Request[]> {
  await wakeHeld(app)
  const { requests } = await app.store.findOpen()
  const waiting = requests.filter((request) => waitsForPress(app, request))
  await Promise.all(
    waiting.filter(({ state, approvals }) => state === 'waiting' && approvals.length > 0).map((request) => recount(app, request)),
  )
  await showAgain(app, waiting)
  return waiting
}

/** Counts each approval again. Only messages show it, so it is not signed. A request with approvals is kept for weeks, so this never makes a record. */
async function recount(app: App, request: Request): Promise<void> {
  const approvals = await believedApprovals(app, request)
  const { missing } = await tally(
    app,
    request,
    approvals.map(({ by }) => by),
    'refusal',
  )
  await guardStore(() => app.redis.hset(app.keys.record(request.id), encodeFields({ missing })))
  // An approval of the meantime counted itself, and this has just written over it.
  const [now] = await app.store.findMany([request.id])
  if (now?.state === 'waiting' && now.revision !== request.revision) await recount(app, now)
}

/** Discards it once the requester, or the operators for a machine, got the news as far as Slack takes it. `error`: Slack's code. */
async function discardUnposted(app: App, request: Request, error: string): Promise<void> {
  if (isMachine(request.origin)) await onUndeliverable(app, request, error)
  else {
    const posted = await app.slack.messenger.post({ channelId: request.origin.userId }, notice(refusedCard(error)))
    // If the outcome of the message is unknown, keep the request, so that it is reconciled again.
    if (posted.is !== 'sent' && posted.is !== 'refused') return
  }
  await app.store.discard(request, { code: 'not-posted', error } satisfies CommonFinding)
}

/** How another policy, or a confirmation that no longer counts, can take back an approval. */
const takesBack: AuthorityProblem['code'][] = [
  'rule-gone',
  'end-not-allowed',
  'approval-needed-now',
  'confirmation-needed-now',
  'confirmation-lost',
]

/** A deadline that differs less from the one that its message says is not shown again. */
const sameDeadlineMs = 10_000

/** Sends the reminders of an approved request whose requester has to start the change, until its deadline, and while it is allowed. What holds it moves that. */
export async function waitForHandover(app: App, request: Request): Promise<void> {
  const now = await app.store.now()
  const { freezes } = await app.freezes.read()
  const { signed, times } = timesOf(app, request, freezes)
  const until = mayStartUntil(signed, times, request.ttlMs)
  const isMoved = now < until && Math.abs(until - request.expiresAt) > sameDeadlineMs
  // No process may have run when a freeze was lifted.
  if (!isMoved && now >= Math.min(request.expiresAt, until + sameDeadlineMs)) {
    await app.store.take(request, 'expire-approved', { set: { causes: [{ code: 'not-used' } satisfies CommonFinding] } })
    return show(app, request.id)
  }
  const problem = await checkApproval(app, request, now, { freezes })
  if (problem && takesBack.includes(problem.code)) {
    await refuseWithoutAuthority(app, request, problem)
    return show(app, request.id)
  }
  if (!isMoved) return remind(app, request, now)
  // The update of its message notifies nobody that a freeze was lifted.
  const isCall = until < request.expiresAt && heldFrom(now, signed, times) === undefined
  // Not at once: two processes with different policies would move it back and forth.
  const { due, nextAt } = callsOf({ ...request, expiresAt: until, reminded: 0 }, now)
  const [inMs, reminded] = [nextAt - now, due?.set.reminded ?? 0]
  const data = { set: { reminded }, extendMs: until - now, dueInMs: inMs, reports: isCall ? (['handover-half'] as const) : [] }
  const { outcome } = await app.store.take(request, 'prolong', data)
  if (outcome === 'changed') return app.store.postpone(request.id, changedRetryMs)
  await app.queues.wake(request, inMs)
  return show(app, request.id)
}

/** The shares of the time to act after which people are reminded: approvers of a waiting request, requesters of an approved one. */
const reminders = [
  { waiting: 'reminder-half', approved: 'handover-half', at: firstReminderAt },
  { waiting: 'reminder-last', approved: 'handover-last', at: lastReminderAt },
] as const

/** After 5 and 15 minutes, and then every 30. */
function alertReminderTimes({ createdAt, expiresAt, ttlMs }: Pick<Request, 'createdAt' | 'expiresAt' | 'ttlMs'>): number[] {
  const [firstMs, secondMs, everyMs] = [alertReminderAfter(ttlMs), 15 * 60_000, 30 * 60_000]
  const count = Math.max(0, Math.ceil((expiresAt - createdAt - secondMs) / everyMs))
  const times = [firstMs, ...Array.from({ length: count }, (_, index) => secondMs + index * everyMs)].map((ms) => createdAt + ms)
  return times.filter((at) => at < expiresAt)
}

interface Call {
  step: 'remind' | 'escalate'
  report: ReportName
  set: Partial<Pick<Request, 'reminded' | 'escalated'>>
}

/** What is due, and when the next call is. If several are due because no worker was running, the escalation is sent, or the last reminder. */
export function callsOf(request: Request, now: number, approve?: ApproveTerms): { due: Call | undefined; nextAt: number } {
  const { state, expiresAt, ttlMs, createdAt, reminded, escalated, alert } = request
  const isFor = state === 'approved' ? 'approved' : 'waiting'
  // The approval gives the requester of a secret the whole time again.
  const from = state === 'approved' ? expiresAt - ttlMs : createdAt
  const isOfAlert = alert !== undefined && isFor === 'waiting'
  const reminderTimes = isOfAlert ? alertReminderTimes(request) : reminders.map(({ at }) => from + ttlMs * at)
  const escalation = state === 'waiting' && approve && !escalated ? escalationOf(approve) : undefined
  const escalateAt = escalation ? createdAt + escalation.afterMs : expiresAt
  const remindedNow = Math.max(reminded, reminderTimes.filter((at) => at <= now).length)
  const nextReminderAt = reminderTimes[remindedNow] ?? expiresAt
  if (escalateAt <= now && escalateAt < expiresAt)
    return { due: { step: 'escalate', report: 'escalation', set: { reminded: remindedNow, escalated: true } }, nextAt: nextReminderAt }
  const nextAt = Math.min(escalateAt, nextReminderAt, expiresAt)
  const reminder = isOfAlert ? reminders[0] : reminders[remindedNow - 1]
  const report = remindedNow > reminded ? reminder?.[isFor] : undefined
  return { due: report && { step: 'remind', report, set: { reminded: remindedNow } }, nextAt }
}

const changedRetryMs = 500

/** Sends the reminder or the escalation that is due, and makes the request due again at the next one or its deadline. */
async function remind(app: App, request: Request, now: number): Promise<void> {
  const { due, nextAt } = callsOf(request, now, ruleOf(app, request)?.approve)
  const inMs = nextAt - now + 50
  if (due) {
    const { outcome } = await app.store.take(request, due.step, { set: due.set, reports: [due.report], dueInMs: inMs })
    // Another process sent it, or a person acted, at the same moment.
    if (outcome === 'changed') return app.store.postpone(request.id, changedRetryMs)
  } else await app.store.postponeIfUnchanged(request, inMs)
  await app.queues.wake(request, inMs)
  if (due) await show(app, request.id)
}
