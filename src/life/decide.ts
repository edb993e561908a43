import type { App } from '../app.ts'
import { isMachine, type Origin } from '../domain/approval.ts'
import type { Change } from '../domain/change.ts'
import { type Approval, type Confirmed, type Decision, holdOf, type Request } from '../domain/request.ts'
import { heldFrom, mayStartUntil } from '../domain/starts.ts'
import { type CardButtonId, cardButtons } from '../messages/button-ids.ts'
import { heldBriefly } from '../messages/request-words.ts'
import { approvedByYou, changedRecord, endNotAllowed, takenOver, tooLate, unknownRequest } from '../messages/why-not.ts'
import { onDistrusted } from '../outbox/operators.ts'
import { show } from '../outbox/outbox.ts'
import type { StepName } from '../record/steps.ts'
import { firstReminderAt, lastReminderAt, type StepData } from '../record/store.ts'
import { authorize } from '../rights/authorize.ts'
import { actOf, confirmationProblem, requireConfirmed } from '../rights/confirmation.ts'
import { ruleOf, tally } from '../rights/judge.ts'
import { holdsIfApproved, timesOf } from '../rights/times.ts'
import { Refusal } from '../slack/errors.ts'
import { mrkdwn } from '../slack/text.ts'
import { checkRecord, isEndAllowed } from './authority.ts'

/** Is called once a decision is taken. What follows only shows it. */
type OnTaken = () => void

/** Other people can decide at the same moment. Each time another step was first, the approval is counted again. */
const mostTries = 20

interface ApproveOptions {
  /** Why windows and freezes must not hold it. It is signed, and posted in the channel. */
  emergency?: string | undefined
  /** What the rule asks for besides a click. */
  confirmed?: Confirmed | undefined
  /** Is called before Redis may store the approval. */
  onSend?: () => void
  onTaken?: OnTaken
}

/** Checks the rights before the state, so that only people who may decide learn it. Earlier approvals count only while they may, too. */
export async function approve(
  app: App,
  read: Request,
  origin: Origin,
  { emergency, confirmed: given, onSend, onTaken }: ApproveOptions = {},
): Promise<{ missing: number; needed: number }> {
  const { signatures, store } = app
  refuseRequesterOfDecided(read, origin)
  const to = emergency === undefined ? 'decide' : 'emergency'
  const grant = await authorize(app, origin, { to, request: read, button: cardButtons.approve })
  requireAllowedEnd(app, read)
  const by = origin.userId
  const urgent = emergency === undefined ? {} : { reason: emergency, passed: (await holdsIfApproved(app, read)).passed }
  const reports = emergency === undefined ? [] : (['break-glass'] as const)
  // What is frozen now prolongs the time to have a secret issued.
  if (app.catalog.open(read).change.handover) await app.freezes.read()
  let request = read
  for (let attempt = 0; attempt < mostTries; attempt += 1) {
    refuseUnlessWaiting(request, by)
    // The record is read again when another step was first. Somebody may have changed it in between, to get it under another rule.
    const changed = attempt > 0 ? checkRecord(app, request) : undefined
    if (changed) {
      await onDistrusted(app, request, changed)
      throw new Refusal('record-changed', changedRecord)
    }
    const earlier = await believedApprovals(app, request)
    const own = earlier.find((each) => each.by === by)
    const before = own && (await tally(app, request, peopleOf(earlier)))
    // The rule may ask for fewer by now, or somebody joined a group. Then a second press takes the place of the first, but passes nothing that an emergency approval passes.
    if (before && (!before.enough || own.emergency)) throw new Refusal('approved-before', approvedByYou(before.missing))
    const isUrgent = emergency === undefined ? undefined : (true as const)
    const confirmed = await requireConfirmed(app, request, actOf({ by, emergency: isUrgent, ...urgent }), given)
    const unsigned = { by, ...grant, ...urgent, emergency: isUrgent, confirmed, at: await store.now() }
    const approval = signatures.signApproval(request, unsigned)
    const approvals = [...earlier.filter((each) => each.by !== by), approval]
    const { enough, missing, needed, allOf, counted } = await tally(app, request, peopleOf(approvals))
    const signed = signatures.signApproved({ ...request, approvals }, { by, ...grant, at: approval.at, allOf, counted })
    const { set, ...last } = approvalData(app, app.catalog.open(request).change, { ...request, approvals }, signed)
    const data: StepData = enough
      ? {
          ...last,
          set: { ...set, approvals },
          audit: { ...last.audit, ...urgent, confirmed },
          reports: [...(last.reports ?? []), ...reports],
        }
      : { set: { approvals, missing }, audit: { by, ...grant, ...urgent, confirmed, missing, needed }, reports }
    onSend?.()
    const newer = await tryStep(app, request, by, enough ? 'approve' : 'count-approval', data, onTaken)
    if (!newer) return { missing, needed }
    request = newer
  }
  throw new Error(`request ${read.id} kept changing while it was approved`)
}

/**
 * Without approvals that somebody who can write to Redis has added, and, where the rule asks for a confirmation, without those that have none: it may
 * have begun to, or what confirmed one may be gone. That person can approve again.
 */
export async function believedApprovals(app: App, request: Request): Promise<Approval[]> {
  const rule = ruleOf(app, request)
  const approvals = request.approvals.filter((each) => app.signatures.verifyApproval(request, each) === 'genuine')
  if (!rule) return approvals
  const problems = await Promise.all(approvals.map((each) => confirmationProblem(app, rule, request, actOf(each), each.confirmed)))
  return approvals.filter((_, index) => problems[index] === undefined)
}

/** Whether a person has given an approval that still counts, so that they cannot give another one. Once all together are enough, they can. */
export async function hasApproved(app: App, request: Request, userId: string): Promise<boolean> {
  const isTheirs = ({ by }: Approval) => by === userId
  const own = request.approvals.find(isTheirs)
  if (!own || (request.missing === 0 && !own.emergency)) return false
  return (await believedApprovals(app, request)).some(isTheirs)
}

function peopleOf(approvals: Approval[]): string[] {
  return approvals.map(({ by }) => by)
}

/** A worker sends a change at once. One that is handed over waits for its requester as long as it could wait for approval. */
export function approvalData(app: App, { handover }: Change, request: Request, decision: Decision): StepData {
  const { ttlMs } = request
  const { by, rule, via, reason, passed, confirmed } = decision
  const audit = { by, rule, via, reason, passed, confirmed }
  if (!handover) return { set: { decision }, audit, dueInMs: 0 }
  const now = decision.at ?? Date.now()
  const { times } = timesOf(app, { ...request, decision }, app.freezes.lastRead()?.freezes ?? [])
  // Its requester has the same time once its window opens, or a freeze ends.
  const extendMs = mayStartUntil({ approvedAt: now }, times, ttlMs) - now
  // Less than the whole time may be left, and the approval calls its requester by itself.
  const remindInMs = [firstReminderAt, lastReminderAt].map((at) => Math.floor(extendMs - ttlMs * (1 - at)))
  const reminded = remindInMs.filter((ms) => ms <= 0).length
  const dueInMs = Math.max(0, remindInMs[reminded] ?? extendMs)
  return { set: { decision, reminded }, audit, dueInMs, extendMs, reports: ['approved'] }
}

/**
 * Checked before the form that asks for the reason, by what is known: what is sent is judged again, and Slack forgets a press after 3 s. The audit names
 * the button: an emergency approval begins with *Approve*.
 */
export async function mayDecide(
  app: App,
  request: Request,
  origin: Origin,
  to: 'decide' | 'break-glass',
  button: CardButtonId = to === 'decide' ? cardButtons.reject : cardButtons.approve,
): Promise<void> {
  refuseRequesterOfDecided(request, origin, button)
  await authorize(app, origin, { to, request, button }, false)
  refuseUnlessWaiting(request, origin.userId, button)
}

/** Approves the request of the same person, in an emergency. The channel gets a report with the reason. */
export async function breakGlass(app: App, request: Request, origin: Origin, reason: string, given?: Confirmed): Promise<void> {
  const grant = await authorize(app, origin, { to: 'break-glass', request })
  requireAllowedEnd(app, request)
  refuseUnlessWaiting(request, origin.userId)
  const { passed } = await holdsIfApproved(app, request)
  const confirmed = await requireConfirmed(app, request, { to: 'break-glass', by: origin.userId, reason, passed }, given)
  const unsigned = { by: origin.userId, ...grant, reason, breakGlass: true, passed, confirmed, at: await app.store.now() }
  const decision = app.signatures.signBreakGlass(request, unsigned)
  const data = approvalData(app, app.catalog.open(request).change, request, decision)
  await takeStep(app, request, origin.userId, 'break-glass', data)
}

export async function reject(app: App, request: Request, origin: Origin, reason: string): Promise<void> {
  const grant = await authorize(app, origin, { to: 'decide', request, button: cardButtons.reject })
  const decision = { by: origin.userId, ...grant, reason }
  await takeStep(app, request, origin.userId, 'reject', { set: { decision }, audit: decision })
}

export async function withdraw(app: App, request: Request, origin: Origin, onTaken?: OnTaken): Promise<void> {
  const { userId } = origin
  const grant = await authorize(app, origin, { to: 'withdraw', request })
  const isByAnother = !isMachine(request.origin) && userId !== request.origin.userId
  // The update of the message notifies nobody, so the thread calls the requester.
  const reports = isByAnother ? (['ended'] as const) : []
  const data = { set: { withdrawnBy: userId }, audit: { by: userId, ...grant }, reports }
  await takeStep(app, request, userId, 'withdraw', data, onTaken)
}

/** An approver lets an approved request start before its own start. If a window or a freeze would hold it, its start stays as it was. */
export async function startNow(app: App, request: Request, origin: Origin, onTaken?: OnTaken, given?: Confirmed): Promise<void> {
  const { userId } = origin
  const grant = await authorize(app, origin, { to: 'decide', request, button: cardButtons.startNow })
  if (!holdOf(request) || request.start === undefined || request.startNow) throw tooLate(request, userId)
  const { freezes, text: freeze } = await app.freezes.read()
  const now = await app.store.now()
  const { signed, times } = timesOf(app, request, freezes)
  const held = heldFrom(now, { ...signed, startNow: { at: now } }, times)
  if (held) throw new Refusal('on-hold', mrkdwn`Nothing was changed. It can't start now: ${heldBriefly(held.waits)}.`)
  const confirmed = await requireConfirmed(app, request, { to: 'start-now', by: userId }, given)
  const approval = app.signatures.signStartNow(request, { by: userId, ...grant, at: now, confirmed })
  const data: StepData = { set: { startNow: approval }, audit: { by: userId, ...grant, confirmed }, dueInMs: 0, freeze }
  const changed = await tryStep(app, request, userId, 'start-now', data, onTaken)
  // The worker has looked at its start, or somebody has frozen, at the same moment.
  if (changed) return startNow(app, changed, origin, onTaken, given)
}

/** A change that the account API accepted cannot be canceled, so only its tracking can be stopped: by the requester, and by approvers. */
export async function stopTracking(app: App, request: Request, origin: Origin, onTaken?: OnTaken): Promise<void> {
  const { userId } = origin
  const grant = await authorize(app, origin, { to: 'track', request })
  const data = { set: { stoppedBy: userId }, audit: { by: userId, ...grant } }
  await takeStep(app, request, userId, 'stop-tracking', data, onTaken)
}

/** Only one request tracks a resource. If another one has changed it since, the tracking ends by that. A secret may be in use by now, and looking for it deletes it: no secret is tracked again. */
export async function trackAgain(app: App, request: Request, origin: Origin, onTaken?: OnTaken): Promise<void> {
  const { store, catalog, slack } = app
  const { userId } = origin
  const grant = await authorize(app, origin, { to: 'track', request })
  if (request.state !== 'untracked' || catalog.open(request).change.handover) throw tooLate(request, userId)
  // A child locks what it changes while its write is under way.
  const other = (await store.othersFor(request)).find(({ parent }) => parent?.id !== request.id)
  if (other) throw new Refusal('taken-over', takenOver({ id: other.parent?.id ?? other.id, link: slack.identity.linkTo(other) }))
  const { untrackedMs = 0, endedAt: stoppedAt = 0 } = request
  const set = { untrackedMs: untrackedMs + (await store.now()) - stoppedAt }
  // Another request can have been made since the reads above.
  const data: StepData = { set, dueInMs: 0, unlessLocked: true, audit: { by: userId, ...grant } }
  await takeStep(app, request, userId, 'track-again', data, onTaken)
}

/** Takes a step that does not depend on the content of the record, and shows it. Throws a Refusal if it comes too late. */
async function takeStep(app: App, request: Request, userId: string, name: StepName, data: StepData, onTaken?: OnTaken): Promise<void> {
  if (await tryStep(app, request, userId, name, data, onTaken))
    throw new Error(`request ${request.id} moved under a step that does not depend on it`)
}

/**
 * Takes a step, wakes up what follows, and shows it: the worker does not wait until Slack shows it. The first of several people wins. Returns the
 * record if it, or the freeze, has changed since it was read. Throws a Refusal if the step comes too late.
 */
async function tryStep(
  app: App,
  request: Request,
  userId: string,
  name: StepName,
  data: StepData,
  onTaken?: OnTaken,
): Promise<Request | undefined> {
  const { outcome } = await app.store.take(request, name, data)
  if (outcome === 'missing') throw new Refusal('unknown-request', unknownRequest(request.origin.command))
  if (outcome === 'expired') {
    await app.store.take(request, 'expire')
    await showTaken(app, request)
    throw tooLate({ ...request, state: 'expired' }, userId)
  }
  if (outcome === 'lost') throw tooLate(await requireCurrent(app, request), userId, name === 'reject')
  if (outcome === 'changed' || outcome === 'frozen') return requireCurrent(app, request)
  onTaken?.()
  await Promise.all([data.dueInMs !== undefined && app.queues.wake(request, data.dueInMs), showTaken(app, request)])
  return undefined
}

/** Shows a step at once. It stays taken if that fails: the outbox shows it later. */
export async function showTaken(app: App, { id }: Request): Promise<void> {
  await show(app, id).catch(app.errors.of('people'))
}

async function requireCurrent({ store }: App, { id, origin }: Request): Promise<Request> {
  const request = await store.find(id)
  if (!request) throw new Refusal('unknown-request', unknownRequest(origin.command))
  return request
}

/** The policy may have changed since the request. */
function requireAllowedEnd(app: App, request: Request): void {
  const rule = ruleOf(app, request)
  if (rule && request.state === 'waiting' && !isEndAllowed(app, request, rule))
    throw new Refusal('end-not-allowed', endNotAllowed(rule.name))
}

function refuseUnlessWaiting(request: Request, userId: string, button?: CardButtonId): void {
  if (request.state !== 'waiting') throw tooLate(request, userId, button === cardButtons.reject)
}

/** If the requester clicks on a decided request, the answer is the outcome, and not that they may not decide it. */
function refuseRequesterOfDecided(request: Request, { userId }: Origin, button?: CardButtonId): void {
  if (userId === request.origin.userId) refuseUnlessWaiting(request, userId, button)
}
