import pLimit from 'p-limit'
import { StoreUnavailableError } from '../../domain/errors/errors.ts'
import type { Request } from '../../domain/request/request.ts'
import { isItemOpen } from '../../domain/request/request-item.ts'
import type { Reconcile } from '../reconcile/reconcile.ts'
import type { Track } from '../reconcile/track/track.ts'
import type { Store } from '../store/store.ts'

const parallelReconciles = 16

/** The wait before a request that could not be reconciled is tried again, for example because its record does not fit this version. */
const unfitMs = 10 * 60_000

/** The wait before a request is tried again during which Redis failed, as it does while one of two connections is not back yet. */
const afterRedisMs = 1_000

interface RequestSweepParts {
  store: Pick<Store, 'due' | 'findMany' | 'postpone'>
  reconcile: Reconcile
  tracking: Track
  onError: (error: unknown, requestId?: string) => void
}

/** Creates the part of a tick that handles the requests that are due. */
export function createRequestSweep({ store, reconcile, tracking, onError }: RequestSweepParts) {
  // This limit is not shared with the messages, which may all wait for a Slack that hangs.
  const limit = pLimit(parallelReconciles)
  const running = new Map<string, Promise<void>>()

  /** Tracks the requests under way together, because one list shows many of them. Reconciles every other request by itself. */
  async function sweep(): Promise<void> {
    const ids = await store.due()
    const underway = (await store.findMany(ids)).filter(({ state }) => state === 'tracking')
    const isOnlyTracked = new Set(underway.flatMap((request) => (needsItems(request) ? [] : request.id)))
    for (const id of ids) if (!isOnlyTracked.has(id)) reconcileInBackground(id)
    await tracking.track(underway)
  }

  /** Reconciles without waiting: it may call Slack, and a slow Slack must not delay the tracking. */
  function reconcileInBackground(id: string): void {
    if (running.has(id)) return
    const work = limit(() => reconcileOrPostpone(id))
      .catch((error: unknown) => onError(error, id))
      .finally(() => running.delete(id))
    running.set(id, work)
  }

  /** Postpones a request that cannot be reconciled. After an error of Redis it is due again soon, because the request is not the problem. */
  async function reconcileOrPostpone(id: string): Promise<void> {
    try {
      await reconcile(id)
    } catch (error) {
      onError(error, id)
      await store.postpone(id, error instanceof StoreUnavailableError ? afterRedisMs : unfitMs)
    }
  }

  /** Resolves when the requests in the background are reconciled. */
  async function settle(): Promise<void> {
    await Promise.allSettled(running.values())
  }

  return { sweep, reconcileInBackground, settle }
}

/** Whether items still have to be sent, or the last one has ended. */
function needsItems({ items }: Request): boolean {
  return items !== undefined && (items.some(({ state }) => state === 'waiting') || !items.some(isItemOpen))
}
