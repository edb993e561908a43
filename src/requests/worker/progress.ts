import type { Queues } from '../../redis/queues.ts'
import type { Catalog } from '../catalog.ts'
import type { Store } from '../store/store.ts'
import type { Counts } from './counts.ts'

/** A worker says every few seconds that it is at work. */
const workerSilenceMs = 30_000

interface ProgressParts {
  store: Pick<Store, 'isBusy' | 'sinceLastTickMs' | 'workersSeen'>
  queues: Pick<Queues, 'depth' | 'pollIntervalMs'>
  counts: Counts
  catalog: Pick<Catalog, 'changeIfKnown'>
}

/** How the work of all replicas gets on, by what is in Redis: not by whether somebody says that they run, which a wedged worker does, too. */
export function createProgress({ store, queues, counts, catalog }: ProgressParts) {
  /** Throws an Error, in words, when nobody works, or nothing is done although something is due. */
  async function check(): Promise<void> {
    const overdueMs = Math.max(workerSilenceMs, queues.pollIntervalMs * 6)
    // Long due, and not due just now: the first tick after a rest takes a moment to come.
    const [isOverdue, silentMs, workers] = await Promise.all([
      store.isBusy(-overdueMs),
      store.sinceLastTickMs(),
      store.workersSeen(workerSilenceMs),
    ])
    if (workers === 0) throw new Error(`No worker has been at work for ${workerSilenceMs / 1_000} s`)
    if (!isOverdue || silentMs <= overdueMs) return
    const lastTick = Number.isFinite(silentMs) ? `the last tick was ${Math.round(silentMs / 1_000)} s ago` : 'there has been no tick yet'
    throw new Error(`Something is due, and ${lastTick}`)
  }

  async function snapshot() {
    const [{ open, unsent }, jobs, lastTickAgeMs] = await Promise.all([counts(), queues.depth(), store.sinceLastTickMs()])
    const takesTime = (kind: string) => catalog.changeIfKnown(kind)?.takesTime ?? false
    const inFlight = open.filter(({ kind, state }) => takesTime(kind) && (state === 'starting' || state === 'tracking'))
    const movesInFlight = inFlight.reduce((sum, { count }) => sum + count, 0)
    return { open, movesInFlight, unsent, jobs, lastTickAgeMs: Number.isFinite(lastTickAgeMs) ? lastTickAgeMs : undefined }
  }

  return { check, snapshot }
}
export type Progress = ReturnType<typeof createProgress>
