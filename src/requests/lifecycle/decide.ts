import type { Origin } from '../../domain/origin.ts'
import type { Approval, Decision, Request } from '../../domain/request.ts'
import type { Wake } from '../../redis/queues.ts'
import { Refusal } from '../../slack/errors.ts'
import type { Access } from '../access/access.ts'
import type { Catalog } from '../catalog.ts'
import { approvedByYou, takenOver, tooLate, unknownRequest } from '../messages/refusals.ts'
import type { Show } from '../outbox/show.ts'
import type { StepName } from '../steps.ts'
import type { StepData, Store } from '../store/store.ts'
import { approvalData } from './approval-step.ts'

/** Others may decide at the same moment; each time somebody else was first, it is worked out anew. */
const mostTries = 20

interface DecideParts {
  store: Store
  access: Access
  catalog: Catalog
  /** Shows the new state at once; the outbox does where that fails. */
  show: Show
  wake: Wake
}

/**
 * Decisions. Each is checked at the click and then one compare-and-set, so that the first one wins over all replicas. Throws
 * Refusal, in words for the person who clicked.
 */
export function createDecide({ store, access, catalog, show, wake }: DecideParts) {
  async function stillThere(id: string): Promise<Request> {
    const request = await store.find(id)
    if (!request) throw new Refusal(unknownRequest)
    return request
  }

  /**
   * One person's approval; `missing` tells how many more it takes. Who may decide is looked at first: what a request has become is
   * for those who may see to it. Those who approved before are counted by what they may now.
   */
  async function approve(asked: Request, origin: Origin): Promise<{ missing: number; needed: number }> {
    tellRequesterWhatBecame(asked, origin)
    const grant = await access.authorize(origin, { to: 'decide', request: asked })
    const decision: Decision = { by: origin.userId, ...grant }
    let request = asked
    for (let attempt = 0; attempt < mostTries; attempt += 1) {
      refuseUnlessWaiting(request, origin.userId)
      if (request.approvals.some(({ by }) => by === origin.userId)) throw new Refusal(approvedByYou((await tallyOf(request)).missing))
      const approvals: Approval[] = [...request.approvals, { by: origin.userId, ...grant, at: await store.now() }]
      const { enough, missing, needed } = await tallyOf({ ...request, approvals })
      const moved = enough
        ? await step(request, origin.userId, 'approve', completing(request, decision, approvals))
        : await step(request, origin.userId, 'count-approval', counting(decision, approvals, { missing, needed }))
      if (moved === undefined) {
        if (enough) await wakeUp(request)
        return { missing, needed }
      }
      request = moved
    }
    throw new Error(`request ${asked.id} kept changing while it was approved`)
  }

  function completing(request: Request, decision: Decision, approvals: Approval[]): StepData {
    const data = approvalData(catalog.open(request).change, request, decision)
    return { ...data, set: { ...data.set, approvals } }
  }

  /** Not enough yet: it goes on waiting, with one approval more. */
  function counting(decision: Decision, approvals: Approval[], { missing, needed }: { missing: number; needed: number }): StepData {
    return { set: { approvals, missing }, audit: { ...decision, missing, needed } }
  }

  function tallyOf(request: Request) {
    const by = request.approvals.map((approval) => approval.by)
    return access.tally(request, by)
  }

  /** In an emergency: the requester's own approval, alone, with a reason that the channel is told. */
  async function breakGlass(request: Request, origin: Origin, reason: string): Promise<void> {
    const grant = await access.authorize(origin, { to: 'break-glass', request })
    refuseUnlessWaiting(request, origin.userId)
    const decision = { by: origin.userId, ...grant, reason, breakGlass: true }
    await decide(request, origin.userId, 'break-glass', approvalData(catalog.open(request).change, request, decision))
    await wakeUp(request)
  }

  /** Whether the person may break the glass, before they are asked for the reason. */
  async function mayBreakGlass(request: Request, origin: Origin): Promise<void> {
    tellRequesterWhatBecame(request, origin)
    await access.authorize(origin, { to: 'break-glass', request })
    refuseUnlessWaiting(request, origin.userId)
  }

  async function wakeUp(request: Request): Promise<void> {
    await wake(request, catalog.open(request).change.handover ? request.ttlMs : 0)
  }

  /** Whether the person may reject it, before they are asked for the reason. */
  async function mayReject(request: Request, origin: Origin): Promise<void> {
    tellRequesterWhatBecame(request, origin)
    await access.authorize(origin, { to: 'decide', request })
    refuseUnlessWaiting(request, origin.userId)
  }

  async function reject(request: Request, origin: Origin, reason: string): Promise<void> {
    const grant = await access.authorize(origin, { to: 'decide', request })
    const decision = { by: origin.userId, ...grant, reason }
    await decide(request, origin.userId, 'reject', { set: { decision }, audit: decision })
  }

  async function withdraw(request: Request, origin: Origin): Promise<void> {
    const grant = await access.authorize(origin, { to: 'own', request, wants: 'withdraw' })
    const name = catalog.open(request).change.handover ? 'withdraw-key' : 'withdraw'
    await decide(request, origin.userId, name, { audit: { by: origin.userId, ...grant } })
  }

  /** What was accepted cannot be cancelled, only no longer be followed: by who asked for it, or who could decide it. */
  async function stopTracking(request: Request, origin: Origin): Promise<void> {
    const grant = await access.authorize(origin, { to: 'track', request })
    await decide(request, origin.userId, 'stop-tracking', { set: { stoppedBy: origin.userId }, audit: { by: origin.userId, ...grant } })
  }

  async function trackAgain(request: Request, origin: Origin): Promise<void> {
    const grant = await access.authorize(origin, { to: 'track', request })
    if (request.state !== 'untracked') throw new Refusal(tooLate(request, origin.userId))
    const holder = await store.holderOf(request.resource)
    if (!(await store.isLatest(request)) || (holder !== undefined && holder !== request.id)) throw new Refusal(takenOver)
    await decide(request, origin.userId, 'track-again', { dueInMs: 0, audit: { by: origin.userId, ...grant } })
    await wake(request)
  }

  /** That they cannot decide their own request is beside the point once it is decided. */
  function tellRequesterWhatBecame(request: Request, { userId }: Origin): void {
    if (userId === request.origin.userId) refuseUnlessWaiting(request, userId)
  }

  function refuseUnlessWaiting(request: Request, userId: string): void {
    if (request.state !== 'waiting') throw new Refusal(tooLate(request, userId))
  }

  async function decide(request: Request, userId: string, name: StepName, data: StepData): Promise<void> {
    const moved = await step(request, userId, name, data)
    if (moved) throw new Error(`request ${request.id} moved under a step that does not depend on it`)
  }

  /** The record as it is now, where the step was worked out from an older one; undefined when the step was made. */
  async function step(request: Request, userId: string, name: StepName, data: StepData): Promise<Request | undefined> {
    const result = await store.take(request, name, data)
    if (result.outcome === 'missing') throw new Refusal(unknownRequest)
    if (result.outcome === 'expired') {
      await store.take(request, 'expire')
      await show(request.id)
      throw new Refusal(tooLate({ ...request, state: 'expired' }, userId))
    }
    if (result.outcome === 'lost') throw new Refusal(tooLate(await stillThere(request.id), userId))
    if (result.outcome === 'changed') return stillThere(request.id)
    await show(request.id)
    return undefined
  }

  return { find: store.find, approve, breakGlass, mayBreakGlass, mayReject, reject, withdraw, stopTracking, trackAgain }
}
export type Decide = ReturnType<typeof createDecide>
