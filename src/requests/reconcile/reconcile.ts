import { inLane } from '../../domain/account/lane.ts'
import { isOpen, type Request } from '../../domain/request/request.ts'
import { isItemUnderway } from '../../domain/request/request-item.ts'
import type { CheckRecord } from '../access/check-record.ts'
import type { Distrust } from './distrust.ts'
import type { Execute } from './execute/execute.ts'
import type { SendItems } from './items/send-items.ts'
import type { Track } from './track/track.ts'
import { createWaiting, type WaitingParts } from './waiting.ts'

/** When a request is reconciled again if this attempt takes longer or fails. Two attempts at the same time do no harm. */
const holdMs = 15_000

/** How often items that were reported as not started or failed are observed. */
const trackedItemsMs = 60_000

/** The wait before a request that only another version of Lockkeeper can handle is read again. */
const unknownRetryMs = 10 * 60_000

interface ReconcileParts extends WaitingParts {
  checkRecord: CheckRecord
  distrust: Distrust
  execute: Execute
  track: Track['track']
  sendItems: SendItems
  /** Receives the id of a request that is due and whose record is gone. */
  onLostRecord?: (id: string) => Promise<void> | void
}

/**
 * Creates the function that reads one request and does what it needs now. It may be called for any request, at any time, by several
 * processes at once.
 */
export function createReconcile({ checkRecord, distrust, execute, track, sendItems, ...parts }: ReconcileParts) {
  const { store, catalog, show, onLostRecord = () => {} } = parts
  const waiting = createWaiting(parts)

  async function reconcile(id: string): Promise<void> {
    const request = await store.find(id)
    return request ? inLane('execute', () => reconcileRequest(request), { requestId: id }) : noteLost(id)
  }

  async function reconcileRequest(request: Request): Promise<void> {
    const { id } = request
    if (!catalog.openIfFit(request)) return reconcileUnfit(request)
    await store.postponeIfUnchanged(request, holdMs)
    if (request.state === 'waiting') return (await waiting.forApproval(request)) === 'exempt' ? reconcile(id) : undefined
    if (request.state === 'approved') {
      // A change with a handover is carried out by its requester. Here it can only expire.
      if (catalog.open(request).change.handover) return waiting.forHandover(request)
      await execute(request)
      // While the writes of items are sent, their own steps update the card.
      return (await store.find(id))?.items ? undefined : show(id)
    }
    if (request.items) return reconcileItems(request)
    if (request.state === 'starting' || request.state === 'tracking' || request.trackedUntil !== undefined) {
      await track([request])
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
      return sent?.items?.some(isItemUnderway) ? store.postpone(request.id, 0) : undefined
    }
    if (request.trackedUntil === undefined || request.trackedUntil < (await store.now())) {
      return store.clearDueIfUnchanged(request.id, request.revision)
    }
    await track([request])
    await store.postpone(request.id, trackedItemsMs)
  }

  return reconcile
}
export type Reconcile = ReturnType<typeof createReconcile>
