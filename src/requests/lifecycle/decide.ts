import type { Origin } from '../../domain/origin.ts'
import type { Approval, Request } from '../../domain/request.ts'
import type { Wake } from '../../redis/queues.ts'
import { Refusal } from '../../slack/errors.ts'
import type { Catalog } from '../catalog.ts'
import { approvedByYou, notYoursToWithdraw, takenOver, tooLate, unknownRequest } from '../messages/refusals.ts'
import type { StepName } from '../steps.ts'
import type { StepData, Store } from '../store/store.ts'
import type { Access } from './access.ts'
import { approvalData } from './approval-step.ts'
import type { Attend } from './reconcile.ts'

/** Others may decide at the same moment; each time somebody else was first, it is worked out anew. */
const mostTries = 20

interface DecideParts {
  store: Store
  access: Access
  catalog: Catalog
  /** Shows the new state at once; the outbox does where that fails. */
  show: Attend['showEverything']
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
    const rule = await access.authorize(origin, { to: 'decide', request: asked })
    let request = asked
    for (let attempt = 0; attempt < mostTries; attempt += 1) {
      refuseUnlessWaiting(request, origin.userId)
      if (request.approvals.some(({ by }) => by === origin.userId)) throw new Refusal(approvedByYou((await tallyOf(request)).missing))
      const approvals: Approval[] = [...request.approvals, { by: origin.userId, rule, at: await store.now() }]
      const { enough, missing, needed } = await tallyOf({ ...request, approvals })
      const moved = enough
        ? await step(request, origin.userId, 'approve', completing(request, approvals))
        : await step(request, origin.userId, 'count-approval', counting(approvals, missing, needed))
      if (moved === undefined) {
        if (enough) await wakeUp(request)
        return { missing, needed }
      }
      request = moved
    }
    throw new Error(`request ${asked.id} kept changing while it was approved`)
  }

  function completing(request: Request, approvals: Approval[]): StepData {
    const last = approvals.at(-1)
    const data = approvalData(catalog.open(request).change, request, { ...(last ? { by: last.by, rule: last.rule } : {}) })
    return { ...data, set: { ...data.set, approvals } }
  }

  /** Not enough yet: it goes on waiting, with one approval more. */
  function counting(approvals: Approval[], missing: number, needed: number): StepData {
    const last = approvals.at(-1)
    const audit = { ...(last ? { by: last.by, rule: last.rule } : {}), missing, needed }
    return { set: { approvals, missing }, audit }
  }

  function tallyOf(request: Request) {
    const by = request.approvals.map((approval) => approval.by)
    return access.tally(request, by)
  }

  /** In an emergency: the requester's own approval, alone, with a reason that the channel is told. */
  async function breakGlass(request: Request, origin: Origin, reason: string): Promise<void> {
    const rule = await access.authorize(origin, { to: 'break-glass', request })
    refuseUnlessWaiting(request, origin.userId)
    const decision = { by: origin.userId, rule, reason, breakGlass: true }
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
    const rule = await access.authorize(origin, { to: 'decide', request })
    await decide(request, origin.userId, 'reject', {
      set: { decision: { by: origin.userId, rule, reason } },
      audit: { by: origin.userId, rule, reason },
    })
  }

  async function withdraw(request: Request, origin: Origin): Promise<void> {
    const rule = await access.authorize(origin, { to: 'own', request, otherwise: notYoursToWithdraw(request).text })
    const name = catalog.open(request).change.handover ? 'withdraw-key' : 'withdraw'
    await decide(request, origin.userId, name, { audit: { by: origin.userId, rule } })
  }

  /** What was accepted cannot be cancelled, only no longer be followed: by who asked for it, or who could decide it. */
  async function stopTracking(request: Request, origin: Origin): Promise<void> {
    const rule = await authorizeOwnerOrApprover(request, origin)
    await decide(request, origin.userId, 'stop-tracking', { set: { stoppedBy: origin.userId }, audit: { by: origin.userId, rule } })
  }

  async function trackAgain(request: Request, origin: Origin): Promise<void> {
    const rule = await authorizeOwnerOrApprover(request, origin)
    if (request.state !== 'untracked') throw new Refusal(tooLate(request, origin.userId))
    const holder = await store.holderOf(request.resource)
    if (!(await store.isLatest(request)) || (holder !== undefined && holder !== request.id)) throw new Refusal(takenOver)
    await decide(request, origin.userId, 'track-again', { dueInMs: 0, audit: { by: origin.userId, rule } })
    await wake(request)
  }

  function authorizeOwnerOrApprover(request: Request, origin: Origin): Promise<string> {
    const isOwner = request.origin.userId === origin.userId
    return access.authorize(origin, isOwner ? { to: 'own', request, otherwise: '' } : { to: 'decide', request })
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
