import type { Request } from '../../domain/request/request.ts'
import type { Wake } from '../../redis/queues.ts'
import { unreachableChannelErrors } from '../../slack/web-api/failure.ts'
import type { Catalog } from '../catalog.ts'
import { approvalData } from '../lifecycle/decide/approval-step.ts'
import type { CommonFinding } from '../messages/refusals/causes.ts'
import type { Deliver } from '../outbox/deliver.ts'
import type { Delivered } from '../outbox/send-once.ts'
import type { Show } from '../outbox/show.ts'
import type { Store } from '../store/store.ts'
import type { DiscardUnposted } from './discard-unposted.ts'
import { remindersOf } from './reminders.ts'

/** The wait before a card that Slack has not taken, or has refused, is posted again. A refusal can be temporary, too. */
const cardRetryMs = 2_000
const refusedCardRetryMs = 60_000

/** The wait before a request that changed at the same moment is reconciled again. */
const changedRetryMs = 500

export interface WaitingParts {
  store: Store
  catalog: Catalog
  deliver: Deliver
  show: Show
  discardUnposted: DiscardUnposted
  wake: Wake
}

/** Creates what requests need while they wait for a person: a card, reminders, and an end at the deadline. */
export function createWaiting({ store, catalog, deliver, show, discardUnposted, wake }: WaitingParts) {
  /**
   * Posts the card of a request that waits for approval, and sends its reminders, until its deadline. Returns `exempt` if it was approved
   * because its rule needs no approval.
   */
  async function forApproval(request: Request): Promise<'exempt' | undefined> {
    const now = await store.now()
    if (now >= request.expiresAt) {
      await store.take(request, 'expire')
      await show(request.id)
      return undefined
    }
    if (request.cardTs === undefined) {
      const shown = await deliver(request.id, 'card')
      // Execute nothing before its card is posted, even if it needs no approval.
      if (shown.is !== 'sent') return void (await retryOrDiscard(request, shown))
    }
    if (!request.needsApproval) {
      const { change } = catalog.open(request)
      const approved = await store.take(request, 'exempt', approvalData(change, request, { rule: request.rule, via: 'no-approval' }))
      return approved.outcome === 'won' ? 'exempt' : undefined
    }
    await remind(request, now)
    return undefined
  }

  async function retryOrDiscard(request: Request, shown: Exclude<Delivered, { is: 'sent' }>): Promise<void> {
    if (shown.is === 'refused' && unreachableChannelErrors.has(shown.error)) return discardUnposted(request, shown.error)
    await store.postponeIfUnchanged(request, shown.is === 'refused' ? refusedCardRetryMs : cardRetryMs)
  }

  /** Sends the reminders of an approved request whose requester has to start the change, until its deadline. */
  async function forHandover(request: Request): Promise<void> {
    const now = await store.now()
    if (now < request.expiresAt) return remind(request, now)
    await store.take(request, 'expire-approved', { set: { causes: [{ code: 'not-used' } satisfies CommonFinding] } })
    await show(request.id)
  }

  /** Takes the step of a reminder that is due, and makes the request due again at its next reminder or its deadline. */
  async function remind(request: Request, now: number): Promise<void> {
    const { due, passed, nextAt } = remindersOf(request, now)
    const inMs = nextAt - now + 50
    if (!due) {
      await store.postponeIfUnchanged(request, inMs)
      return wake(request, inMs)
    }
    const reminded = await store.take(request, due, { set: { reminded: passed }, dueInMs: inMs })
    // Another process sent the reminder, or a person acted, at the same moment.
    if (reminded.outcome === 'changed') return store.postpone(request.id, changedRetryMs)
    await wake(request, inMs)
    await show(request.id)
  }

  return { forApproval, forHandover }
}
