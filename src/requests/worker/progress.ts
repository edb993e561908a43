import type { Request } from '../../domain/request/request.ts'
import { isItemUnderway } from '../../domain/request/request-item.ts'
import type { Queues } from '../../redis/queues.ts'
import type { Catalog } from '../catalog.ts'
import type { Store } from '../store/store.ts'

/** A worker that has not reported for this long counts as stopped. Workers report every few seconds. */
const workerSilenceMs = 30_000

interface ProgressParts {
  store: Pick<Store, 'isBusy' | 'sinceLastTickMs' | 'workersSeen' | 'findOpen' | 'countUnsent'>
  queues: Pick<Queues, 'depth' | 'pollIntervalMs'>
  catalog: Pick<Catalog, 'changeIfKnown'>
}

/**
 * Creates the report of the work of all replicas. It uses the due times in Redis, because a worker that hangs may still report that it is
 * running.
 */
export function createProgress({ store, queues, catalog }: ProgressParts) {
  /** Throws an Error with a sentence for operators if no worker is running, or if requests are due and no ticks run. */
  async function check(): Promise<void> {
    const overdueMs = Math.max(workerSilenceMs, queues.pollIntervalMs * 6)
    // Only requests that are long overdue count, because the first tick after a pause takes a moment.
    const [isOverdue, silentMs, workers] = await Promise.all([
      store.isBusy(-overdueMs),
      store.sinceLastTickMs(),
      store.workersSeen(workerSilenceMs),
    ])
    if (workers === 0) throw new Error(`No worker has run for ${workerSilenceMs / 1_000} s`)
    if (!isOverdue || silentMs <= overdueMs) return
    const lastTick = Number.isFinite(silentMs) ? `the last tick was ${Math.round(silentMs / 1_000)} s ago` : 'there has been no tick yet'
    throw new Error(`Something is due, and ${lastTick}`)
  }

  /** Returns the figures for the metrics page. Throws StoreUnavailableError if Redis does not answer. */
  async function snapshot() {
    const [{ requests }, unsent, jobs, lastTickAgeMs] = await Promise.all([
      store.findOpen(),
      store.countUnsent(),
      queues.depth(),
      store.sinceLastTickMs(),
    ])
    const byKindAndState = Map.groupBy(requests, ({ kind, state }) => `${kind} ${state}`)
    const open = [...byKindAndState.values()].flatMap(([first, ...others]) =>
      first ? [{ kind: first.kind, state: first.state, count: 1 + others.length }] : [],
    )
    const movesInFlight = requests.reduce((sum, request) => sum + countUnderway(request), 0)
    return { open, movesInFlight, unsent, jobs, lastTickAgeMs: Number.isFinite(lastTickAgeMs) ? lastTickAgeMs : undefined }
  }

  /** Counts the changes of a request that are under way, of the kinds that take time. A request of several counts as its items do. */
  function countUnderway({ kind, state, items = [] }: Request): number {
    const change = catalog.changeIfKnown(kind)
    if (!change?.takesTime || (state !== 'starting' && state !== 'tracking')) return 0
    return change.items ? items.filter(isItemUnderway).length : 1
  }

  return { check, snapshot }
}
export type Progress = ReturnType<typeof createProgress>
