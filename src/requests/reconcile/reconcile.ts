import { isOpen, type Request } from '../../domain/request/request.ts'
import { isItemUnderway } from '../../domain/request/request-item.ts'
import { noTracing, type Tracing } from '../../domain/tracing.ts'
import type { Wake } from '../../redis/queues.ts'
import { unreachableChannelErrors } from '../../slack/web-api/failure.ts'
import type { CheckRecord } from '../access/check-record.ts'
import type { Catalog } from '../catalog.ts'
import { approvalData } from '../lifecycle/decide/approval-step.ts'
import type { CommonFinding } from '../messages/refusals/causes.ts'
import type { Deliver } from '../outbox/deliver.ts'
import type { Show } from '../outbox/show.ts'
import type { Store } from '../store/store.ts'
import type { DiscardUnposted } from './discard-unposted.ts'
import type { Distrust } from './distrust.ts'
import type { Execute } from './execute/execute.ts'
import type { SendItems } from './items/send-items.ts'
import { remindersOf } from './reminders.ts'
import type { Track } from './track/track.ts'

/** When a request is reconciled again if this attempt takes longer or fails. Two attempts at the same time do no harm. */
const holdMs = 15_000

/** The wait before a card that Slack has not taken, or has refused, is posted again. A refusal can be temporary, too. */
const cardRetryMs = 2_000
const refusedCardRetryMs = 60_000

/** The wait before a request that changed at the same moment is reconciled again. */
const changedRetryMs = 500

/** How often items that were reported as not started or failed are observed. */
const trackedItemsMs = 15_000

/** The wait before a request that only another version of Lockkeeper can handle is read again. */
const unknownRetryMs = 10 * 60_000

interface ReconcileParts {
  store: Store
  catalog: Catalog
  checkRecord: CheckRecord
  distrust: Distrust
  deliver: Deliver
  show: Show
  execute: Execute
  track: Track['track']
  toTracked: Track['toTracked']
  sendItems: SendItems
  discardUnposted: DiscardUnposted
  wake: Wake
  /** Receives the id of a request that is due and whose record is gone. */
  onLostRecord?: (id: string) => Promise<void> | void
  tracing?: Tracing
}

/**
 * Creates the function that reads one request and does what it needs now. It may be called for any request, at any time, by several
 * processes at once.
 */
export function createReconcile({
  store,
  catalog,
  checkRecord,
  distrust,
  deliver,
  show,
  execute,
  track,
  toTracked,
  sendItems,
  discardUnposted,
  wake,
  onLostRecord = () => {},
  tracing = noTracing,
}: ReconcileParts) {
  async function reconcile(id: string): Promise<void> {
    const request = await store.find(id)
    return request ? tracing.follow(request, 'reconcile', () => reconcileRequest(request)) : noteLost(id)
  }

  async function reconcileRequest(request: Request): Promise<void> {
    const { id } = request
    if (!catalog.openIfFit(request)) return reconcileUnfit(request)
    await store.postponeIfUnchanged(request, holdMs)
    if (request.state === 'waiting') return reconcileWaiting(request)
    if (request.state === 'approved') {
      // A change with a handover is carried out by its requester. Here it can only expire.
      if (catalog.open(request).change.handover) return reconcileHandover(request)
      await execute(request)
      // While the writes of items are sent, their own steps update the card.
      return (await store.find(id))?.items ? undefined : show(id)
    }
    if (request.items) return reconcileItems(request)
    if (request.state === 'starting' || request.state === 'tracking' || request.trackedUntil !== undefined) {
      await track(toTracked(request))
      return show(id)
    }
    return store.clearDueIfUnchanged(id, request.revision)
  }

  /** Leaves a genuine record that does not fit to the version of Lockkeeper that wrote it. Any other was changed in Redis. */
  function reconcileUnfit(request: Request): Promise<void> {
    const problem = checkRecord(request)
    if (!problem) return store.postponeIfUnchanged(request, unknownRetryMs)
    const isTracked = isOpen(request.state) || request.trackedUntil !== undefined
    return isTracked ? distrust(request, problem) : store.clearDueIfUnchanged(request.id, request.revision)
  }

  async function noteLost(id: string): Promise<void> {
    if (!(await store.isDue(id))) return
    await onLostRecord(id)
    await store.clearDueWithoutRecord(id)
  }

  /** Sends the remaining items of a request that has begun. Its card is updated later, because many items change at once. */
  async function reconcileItems(request: Request): Promise<void> {
    if (request.state === 'tracking') {
      await sendItems(request.id)
      const sent = await store.find(request.id)
      // Items under way are observed at the next tick, even if other items have to wait longer.
      return sent?.items?.some(isItemUnderway) ? store.postpone([request.id], 0) : undefined
    }
    if (request.trackedUntil === undefined || request.trackedUntil < (await store.now())) {
      return store.clearDueIfUnchanged(request.id, request.revision)
    }
    await track(toTracked(request))
    await store.postpone([request.id], trackedItemsMs)
  }

  async function reconcileWaiting(request: Request): Promise<void> {
    const now = await store.now()
    if (now >= request.expiresAt) {
      await store.take(request, 'expire')
      return show(request.id)
    }
    if (request.cardTs === undefined) {
      const shown = await deliver(request.id, 'card')
      if (shown.is === 'refused' && unreachableChannelErrors.has(shown.error)) return discardUnposted(request, shown.error)
      // Execute nothing before its card is posted, even if it needs no approval.
      if (shown.is !== 'sent') return store.postponeIfUnchanged(request, shown.is === 'refused' ? refusedCardRetryMs : cardRetryMs)
    }
    if (!request.needsApproval) {
      const { change } = catalog.open(request)
      const approved = await store.take(request, 'exempt', approvalData(change, request, { rule: request.rule, via: 'no-approval' }))
      if (approved.outcome === 'won') return reconcile(request.id)
      return
    }
    await remind(request, now)
  }

  async function reconcileHandover(request: Request): Promise<void> {
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
    if (reminded.outcome === 'changed') return store.postpone([request.id], changedRetryMs)
    await wake(request, inMs)
    await show(request.id)
  }

  return reconcile
}
export type Reconcile = ReturnType<typeof createReconcile>
