import { isMachine, type Origin } from '../domain/approval.ts'
import type { Change } from '../domain/change.ts'
import { type Approval, type Decision, type Request, resourcesOf } from '../domain/request.ts'
import type { RequestSignatures } from '../domain/request-signature.ts'
import { approvedByYou, changedRecord, takenOver, tooLate, unknownRequest } from '../messages/refusals.ts'
import { type CardButtonId, cardButtons } from '../messages/words.ts'
import type { Show } from '../outbox/outbox.ts'
import type { Wake } from '../redis/queues.ts'
import { Refusal } from '../slack/errors.ts'
import type { Access } from './access.ts'
import type { Catalog } from './catalog.ts'
import type { StepName } from './steps.ts'
import { firstReminderAt, type StepData, type Store } from './store.ts'

/**
 * Builds the data of a step that approves a request. A change that a worker executes is due at once. A change that is handed over waits for
 * its requester, for as long as the rule gives for an approval. The thread calls the requester, because an update of the card notifies nobody.
 */
export function approvalData(change: Change, request: Request, decision: Decision): StepData {
  const { breakGlass: _, at: __, signature: ___, allOf: ____, ...audit } = decision
  const data: StepData = { set: { decision }, audit, dueInMs: wakeInMs(change, request) }
  if (!change.handover) return data
  return { ...data, set: { decision, reminded: 0 }, extendMs: request.ttlMs, reports: ['approved'] }
}

/** Returns when a worker has to reconcile an approved request, in ms from now. A requester who has to act is reminded first. */
export function wakeInMs({ handover }: Change, { ttlMs }: Request): number {
  return handover ? Math.floor(ttlMs * firstReminderAt) : 0
}

/** A step that a person takes, and who it is. */
interface PersonalStep {
  request: Request
  userId: string
  name: StepName
  data: StepData
  /** Wakes the worker up once the step is taken. The worker does not wait until Slack shows the step. */
  wakeUp?: () => Promise<void>
  /** Called once the step is taken, before Slack shows it. */
  onTaken?: OnTaken | undefined
}

/** Is called once a decision is taken. What follows only shows it. */
export type OnTaken = () => void

export interface DecisionStepParts {
  store: Store
  /** Shows the new state at once. If it fails, the outbox shows the state later. */
  show: Show
}

/** Creates the steps that people take. Each is one compare-and-set, so the first of several wins over all replicas. */
export function createDecisionStep({ store, show }: DecisionStepParts) {
  /** Takes a step, and shows the request. Returns the current record if the record changed. Throws a Refusal if the step comes too late. */
  async function tryStep({ request, userId, name, data, wakeUp, onTaken }: PersonalStep): Promise<Request | undefined> {
    const result = await store.take(request, name, data)
    if (result.outcome === 'missing') throw new Refusal(unknownRequest(request.origin.command))
    if (result.outcome === 'expired') {
      await store.take(request, 'expire')
      await show(request.id)
      throw new Refusal(tooLate({ ...request, state: 'expired' }, userId))
    }
    if (result.outcome === 'lost') throw new Refusal(tooLate(await readAgain(request), userId))
    if (result.outcome === 'changed') return readAgain(request)
    onTaken?.()
    await Promise.all([wakeUp?.(), show(request.id)])
    return undefined
  }

  /** Takes a step that does not depend on the content of the record. Throws a Refusal if it comes too late. */
  async function takeStep(step: PersonalStep): Promise<void> {
    const changed = await tryStep(step)
    if (changed) throw new Error(`request ${step.request.id} moved under a step that does not depend on it`)
  }

  async function readAgain({ id, origin }: Request): Promise<Request> {
    const request = await store.find(id)
    if (!request) throw new Refusal(unknownRequest(origin.command))
    return request
  }

  return { tryStep, takeStep }
}
export type DecisionStep = ReturnType<typeof createDecisionStep>

/** The right that a decision needs, and the button that was pressed for it. */
interface DecisionRight {
  to: 'decide' | 'break-glass'
  button: CardButtonId
}

/**
 * Throws a Refusal if the person may not take a decision. Checked before the form that asks for its reason. If the requester clicks on a decided
 * request, the answer is the outcome, and not that they may not decide it.
 */
export async function refuseDecision(access: Pick<Access, 'authorize'>, request: Request, origin: Origin, right: DecisionRight) {
  refuseRequesterOfDecided(request, origin)
  await access.authorize(origin, { ...right, request })
  refuseUnlessWaiting(request, origin.userId)
}

export function refuseUnlessWaiting(request: Request, userId: string): void {
  if (request.state !== 'waiting') throw new Refusal(tooLate(request, userId))
}

/** Throws a Refusal if the requester clicks on a decided request: the answer is the outcome, and not that they may not decide it. */
export function refuseRequesterOfDecided(request: Request, { userId }: Origin): void {
  if (userId === request.origin.userId) refuseUnlessWaiting(request, userId)
}

/** Other people can decide at the same moment. Each time another step was first, the approval is counted again. */
const mostTries = 20

export interface ApproveParts {
  signatures: RequestSignatures
  store: Store
  access: Access
  catalog: Catalog
  steps: DecisionStep
  wake: Wake
}

/** Creates the approval by an approver. It throws a Refusal for the person who clicked. */
export function createApprove({ signatures, store, access, catalog, steps, wake }: ApproveParts) {
  /**
   * Adds a person's approval, and returns how many are missing. Checks the rights before the state, so that only people who may decide the
   * request learn its state. Earlier approvals count only if those people may still approve.
   */
  async function approve(read: Request, origin: Origin, onTaken?: OnTaken): Promise<{ missing: number; needed: number }> {
    refuseRequesterOfDecided(read, origin)
    const grant = await access.authorize(origin, { to: 'decide', request: read, button: cardButtons.approve })
    const decision: Decision = { by: origin.userId, ...grant }
    let request = read
    for (let attempt = 0; attempt < mostTries; attempt += 1) {
      refuseUnlessWaiting(request, origin.userId)
      // The record is read again when another step was first. Somebody may have changed it in between, to get it under another rule.
      if (attempt > 0 && signatures.verifyRecord(request) !== 'genuine') throw new Refusal(changedRecord)
      const earlier = genuineApprovals(request)
      if (earlier.some(({ by }) => by === origin.userId)) throw new Refusal(approvedByYou((await tallyOf(request, earlier)).missing))
      const approval = signatures.signApproval(request, { by: origin.userId, ...grant, at: await store.now() })
      const approvals = [...earlier, approval]
      const { enough, missing, needed, allOf } = await tallyOf(request, approvals)
      const signed = signatures.signApproved({ ...request, approvals }, { ...decision, at: approval.at, allOf })
      const step = enough
        ? lastApproval(request, signed, approvals)
        : ({ name: 'count-approval', data: oneApproval(decision, approvals, { missing, needed }) } as const)
      const changed = await steps.tryStep({ request, userId: origin.userId, onTaken, ...step })
      if (changed === undefined) return { missing, needed }
      request = changed
    }
    throw new Error(`request ${read.id} kept changing while it was approved`)
  }

  function lastApproval(request: Request, decision: Decision, approvals: Approval[]) {
    const { change } = catalog.open(request)
    const data = approvalData(change, request, decision)
    return {
      name: 'approve',
      data: { ...data, set: { ...data.set, approvals } },
      wakeUp: () => wake(request, wakeInMs(change, request)),
    } as const
  }

  function oneApproval(decision: Decision, approvals: Approval[], { missing, needed }: { missing: number; needed: number }): StepData {
    return { set: { approvals, missing }, audit: { ...decision, missing, needed } }
  }

  /** Drops approvals that somebody who can write to Redis has added. They do not count, and are not stored again. */
  function genuineApprovals(request: Request): Approval[] {
    return request.approvals.filter((approval) => signatures.verifyApproval(request, approval) === 'genuine')
  }

  function tallyOf(request: Request, approvals: Approval[]) {
    const by = approvals.map((approval) => approval.by)
    return access.tally(request, by)
  }

  return approve
}

/** Creates the approval by the requester alone, in an emergency. It throws a Refusal for the person who clicked. */
export function createBreakGlass({ signatures, store, access, catalog, steps, wake }: ApproveParts) {
  /**
   * Throws a Refusal if the person may not approve alone. Checked before the form that asks for the reason. The person has only pressed
   * *Approve*, so the audit does not call it an emergency approval.
   */
  function mayBreakGlass(request: Request, origin: Origin): Promise<void> {
    return refuseDecision(access, request, origin, { to: 'break-glass', button: cardButtons.approve })
  }

  /** Approves the request. The channel gets a report with the reason. */
  async function breakGlass(request: Request, origin: Origin, reason: string): Promise<void> {
    const grant = await access.authorize(origin, { to: 'break-glass', request })
    refuseUnlessWaiting(request, origin.userId)
    const unsigned = { by: origin.userId, ...grant, reason, breakGlass: true, at: await store.now() }
    const decision = signatures.signBreakGlass(request, unsigned)
    const { change } = catalog.open(request)
    await steps.takeStep({
      request,
      userId: origin.userId,
      name: 'break-glass',
      data: approvalData(change, request, decision),
      wakeUp: () => wake(request, wakeInMs(change, request)),
    })
  }

  return { mayBreakGlass, breakGlass }
}

/** The most pauses that a record keeps. The audit has them all. */
const mostPauses = 20

interface StopTrackingParts {
  store: Store
  access: Access
  steps: DecisionStep
  wake: Wake
}

/**
 * Creates the steps that stop the tracking and start it again, for the requester and for approvers. A change that the account API accepted
 * cannot be canceled, so only its tracking can be stopped.
 */
export function createStopTracking({ store, access, steps, wake }: StopTrackingParts) {
  async function stopTracking(request: Request, origin: Origin, onTaken?: OnTaken): Promise<void> {
    const grant = await access.authorize(origin, { to: 'track', request })
    const audit = { by: origin.userId, ...grant }
    const data = { set: { stoppedBy: origin.userId }, audit }
    await steps.takeStep({ request, userId: origin.userId, name: 'stop-tracking', data, onTaken })
  }

  /** Refuses if a newer request for the same resource was made: only one request may track a resource. */
  async function trackAgain(request: Request, origin: Origin, onTaken?: OnTaken): Promise<void> {
    const grant = await access.authorize(origin, { to: 'track', request })
    if (request.state !== 'untracked') throw new Refusal(tooLate(request, origin.userId))
    if ((await Promise.all(resourcesOf(request).map((resource) => isTakenOver(request, resource)))).includes(true))
      throw new Refusal(takenOver)
    const { untrackedMs = 0, endedAt: stoppedAt = 0, stoppedBy, pauses } = request
    const resumedAt = await store.now()
    const pause = { ...(stoppedBy ? { stoppedBy } : {}), stoppedAt, resumedBy: origin.userId, resumedAt }
    const set = { untrackedMs: untrackedMs + resumedAt - stoppedAt, pauses: [...pauses, pause].slice(-mostPauses) }
    // Another request can have been made since the reads above.
    const data = { set, dueInMs: 0, unlessHeld: true as const, audit: { by: origin.userId, ...grant } }
    await steps.takeStep({ request, userId: origin.userId, name: 'track-again', data, wakeUp: () => wake(request), onTaken })
  }

  /** Whether a newer request for this resource was made, or holds it. */
  async function isTakenOver(request: Request, resource: string): Promise<boolean> {
    const holder = await store.holderOf(resource)
    return !(await store.isLatest({ ...request, resource })) || (holder !== undefined && holder !== request.id)
  }

  return { stopTracking, trackAgain }
}

interface DecideParts extends DecisionStepParts {
  signatures: RequestSignatures
  access: Access
  catalog: Catalog
  wake: Wake
}

/** Creates the decisions of people on a request. Rights are checked at the click. Each throws a Refusal for the person who clicked. */
export function createDecide({ signatures, store, access, catalog, show, wake }: DecideParts) {
  const steps = createDecisionStep({ store, show })

  /** Throws a Refusal if the person may not reject. Checked before the form that asks for the reason. */
  function mayReject(request: Request, origin: Origin): Promise<void> {
    return refuseDecision(access, request, origin, { to: 'decide', button: cardButtons.reject })
  }

  async function reject(request: Request, origin: Origin, reason: string): Promise<void> {
    const grant = await access.authorize(origin, { to: 'decide', request, button: cardButtons.reject })
    const decision = { by: origin.userId, ...grant, reason }
    await steps.takeStep({ request, userId: origin.userId, name: 'reject', data: { set: { decision }, audit: decision } })
  }

  async function withdraw(request: Request, origin: Origin, onTaken?: OnTaken): Promise<void> {
    const grant = await access.authorize(origin, { to: 'withdraw', request })
    const isByAnother = !isMachine(request.origin) && origin.userId !== request.origin.userId
    // The update of the message notifies nobody, so the thread calls the requester.
    const reports = isByAnother ? (['ended'] as const) : []
    const data = { set: { withdrawnBy: origin.userId }, audit: { by: origin.userId, ...grant }, reports }
    await steps.takeStep({ request, userId: origin.userId, name: 'withdraw', data, onTaken })
  }

  return {
    find: store.find,
    mayReject,
    reject,
    withdraw,
    approve: createApprove({ signatures, store, access, catalog, steps, wake }),
    ...createBreakGlass({ signatures, store, access, catalog, steps, wake }),
    ...createStopTracking({ store, access, steps, wake }),
  }
}
export type Decide = ReturnType<typeof createDecide>
