import type { Origin } from '../domain/origin.ts'
import type { Approval, Request, RequestState } from '../domain/request.ts'
import { Refusal } from '../slack/errors.ts'
import type { Access } from './access.ts'
import { approvedByYou, notYoursToWithdraw, takenOver, tooLate, unknownRequest } from './answers.ts'
import { approvalStep } from './approval-step.ts'
import type { Attend } from './attend.ts'
import type { Catalog } from './catalog.ts'
import type { Wake } from './queues.ts'
import type { Store, Transition } from './store.ts'

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
      const moved = await step(request, origin.userId, enough ? completing(request, approvals) : counting(approvals, missing, needed))
      if (moved === undefined) {
        if (enough) await wakeUp(request)
        return { missing, needed }
      }
      request = moved
    }
    throw new Error(`request ${asked.id} kept changing while it was approved`)
  }

  function completing(request: Request, approvals: Approval[]): Transition {
    const last = approvals.at(-1)
    const decision = { ...(last ? { by: last.by, rule: last.rule } : {}) }
    const whole = approvalStep(catalog.open(request).change, request, decision)
    return { ...whole, set: { ...whole.set, approvals }, unexpired: true, unmoved: true }
  }

  /** Not enough yet: it goes on waiting, with one approval more. */
  function counting(approvals: Approval[], missing: number, needed: number): Transition {
    const last = approvals.at(-1)
    return {
      name: 'approve',
      from: ['waiting'],
      to: 'waiting',
      set: { approvals, missing },
      unexpired: true,
      unmoved: true,
      keepDue: true,
      audit: { ...(last ? { by: last.by, rule: last.rule } : {}), result: `${missing} more of ${needed} needed` },
    }
  }

  function tallyOf(request: Request) {
    const by = request.approvals.map((approval) => approval.by)
    return access.tally(request, by)
  }

  /** In an emergency: the requester's own approval, alone, with a reason that the channel is told. */
  async function breakGlass(request: Request, origin: Origin, reason: string): Promise<void> {
    const rule = await access.authorize(origin, { to: 'break-glass', request })
    refuseUnlessWaiting(request, origin.userId)
    const whole = approvalStep(catalog.open(request).change, request, { by: origin.userId, rule, reason, breakGlass: true })
    await decide(request, origin.userId, { ...whole, name: 'break-glass', unexpired: true, reports: ['break-glass'] })
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
    await decide(request, origin.userId, {
      name: 'reject',
      from: ['waiting'],
      to: 'rejected',
      set: { decision: { by: origin.userId, rule, reason } },
      stamp: ['decidedAt', 'endedAt'],
      unexpired: true,
      reports: ['ended'],
      audit: { by: origin.userId, rule, reason },
    })
  }

  async function withdraw(request: Request, origin: Origin): Promise<void> {
    const rule = await access.authorize(origin, { to: 'own', request, otherwise: notYoursToWithdraw(request).text })
    // What is handed over can be given up as long as it has not been taken.
    const from: RequestState[] = catalog.open(request).change.handover ? ['waiting', 'approved'] : ['waiting']
    await decide(request, origin.userId, {
      name: 'withdraw',
      from,
      to: 'withdrawn',
      stamp: ['endedAt'],
      audit: { by: origin.userId, rule },
    })
  }

  /** What was accepted cannot be cancelled, only no longer be followed: by who asked for it, or who could decide it. */
  async function stopWatching(request: Request, origin: Origin): Promise<void> {
    const rule = await authorizeOwnerOrApprover(request, origin)
    await decide(request, origin.userId, {
      name: 'stop-watching',
      from: ['following'],
      to: 'unwatched',
      set: { stoppedBy: origin.userId },
      stamp: ['endedAt'],
      reports: ['stopped'],
      audit: { by: origin.userId, rule },
    })
  }

  async function watchAgain(request: Request, origin: Origin): Promise<void> {
    const rule = await authorizeOwnerOrApprover(request, origin)
    if (request.state !== 'unwatched') throw new Refusal(tooLate(request, origin.userId))
    const holder = await store.holderOf(request.resource)
    if (!(await store.isLatest(request)) || (holder !== undefined && holder !== request.id)) throw new Refusal(takenOver)
    const audit = { by: origin.userId, rule }
    await decide(request, origin.userId, { name: 'watch-again', from: ['unwatched'], to: 'following', dueInMs: 0, audit })
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

  async function decide(request: Request, userId: string, transition: Transition): Promise<void> {
    const moved = await step(request, userId, transition)
    if (moved) throw new Error(`request ${request.id} moved under a step that does not depend on it`)
  }

  /** The record as it is now, where the step was worked out from an older one; undefined when the step was made. */
  async function step(request: Request, userId: string, transition: Transition): Promise<Request | undefined> {
    const result = await store.transition(request, transition)
    if (result.outcome === 'missing') throw new Refusal(unknownRequest)
    if (result.outcome === 'expired') {
      await store.transition(request, { name: 'expire', from: ['waiting'], to: 'expired', stamp: ['endedAt'], reports: ['ended'] })
      await show(request.id)
      throw new Refusal(tooLate({ ...request, state: 'expired' }, userId))
    }
    if (result.outcome === 'lost') throw new Refusal(tooLate(await stillThere(request.id), userId))
    if (result.outcome === 'moved') return stillThere(request.id)
    await show(request.id)
    return undefined
  }

  return { find: store.find, approve, breakGlass, mayBreakGlass, mayReject, reject, withdraw, stopWatching, watchAgain }
}
export type Decide = ReturnType<typeof createDecide>
