import type { Request, RequestState } from '../domain/request.ts'
import { Refusal } from '../slack/errors.ts'
import { type Access, refusalOf } from './access.ts'
import { notYoursToWithdraw, tooLate, unknownRequest } from './answers.ts'
import { approvalStep } from './approval-step.ts'
import type { Attend } from './attend.ts'
import type { Catalog } from './catalog.ts'
import type { Store, Transition } from './store.ts'
import type { Wake } from './watch.ts'

interface DecideParts {
  store: Store
  access: Access
  catalog: Catalog
  /** Shows the new state at once; the outbox does where that fails. */
  show: Attend['showEverything']
  wake: Wake
  approvalTtlMs: number
}

/**
 * Decisions. Each is checked at the click and then one compare-and-set, so that the first one wins over all replicas. Throws
 * Refusal, in words for the person who clicked.
 */
export function createDecide({ store, access, catalog, show, wake, approvalTtlMs }: DecideParts) {
  async function find(id: string): Promise<Request> {
    const request = await store.find(id)
    if (!request) throw new Refusal(unknownRequest)
    return request
  }

  /** Who may decide is looked at first: what a request has become is for those who may see to it. */
  async function authorise(request: Request, userId: string): Promise<string> {
    const ruling = await access.toDecide(userId, request)
    if (!ruling.allowed) throw refusalOf(ruling)
    return ruling.rule
  }

  async function approve(request: Request, userId: string): Promise<void> {
    const rule = await authorise(request, userId)
    const { change } = catalog.open(request)
    await decide(request, userId, { ...approvalStep(change, { by: userId, rule }, approvalTtlMs), unexpired: true })
    await wake(request.id, change.handover ? approvalTtlMs : 0)
  }

  /** Whether the person may reject it, before they are asked for the reason. */
  async function mayReject(request: Request, userId: string): Promise<void> {
    await authorise(request, userId)
    if (request.state !== 'waiting') throw new Refusal(tooLate(request, userId))
  }

  async function reject(request: Request, userId: string, reason: string): Promise<void> {
    const rule = await authorise(request, userId)
    await decide(request, userId, {
      name: 'reject',
      from: ['waiting'],
      to: 'rejected',
      set: { decision: { by: userId, rule, reason } },
      stamp: ['decidedAt', 'endedAt'],
      unexpired: true,
      reports: ['ended'],
    })
  }

  async function withdraw(request: Request, userId: string): Promise<void> {
    if (userId !== request.origin.userId) throw new Refusal(notYoursToWithdraw(request))
    // What is handed over can be given up as long as it has not been taken.
    const from: RequestState[] = catalog.open(request).change.handover ? ['waiting', 'approved'] : ['waiting']
    await decide(request, userId, { name: 'withdraw', from, to: 'withdrawn', stamp: ['endedAt'] })
  }

  async function decide(request: Request, userId: string, step: Transition): Promise<void> {
    const result = await store.transition(request, step)
    if (result.outcome === 'missing') throw new Refusal(unknownRequest)
    if (result.outcome === 'expired') {
      await store.transition(request, { name: 'expire', from: ['waiting'], to: 'expired', stamp: ['endedAt'], reports: ['ended'] })
      await show(request.id)
      throw new Refusal(tooLate({ ...request, state: 'expired' }, userId))
    }
    if (result.outcome === 'lost') throw new Refusal(tooLate(await find(request.id), userId))
    await show(request.id)
  }

  return { find, approve, mayReject, reject, withdraw }
}
export type Decide = ReturnType<typeof createDecide>
