import pLimit from 'p-limit'
import type { Request, Underway } from '../../../domain/request.ts'
import type { Surveyed } from '../../catalog.ts'
import type { Store } from '../../store/store.ts'
import type { Observe } from './observe.ts'

const parallelReads = 64

/** How long the single reads of one tick may take, so that a tick ends even if the account API hangs. */
const readsMs = 10_000

/** The part of a request that every tick compares. It is computed once, because there may be thousands. */
export interface Tracked extends Underway {
  surveyed?: Surveyed | undefined
}

/** Creates the function that observes several requests, each with reads of its own. */
export function createObserveEach({ store, observe }: { store: Pick<Store, 'findMany'>; observe: Observe }) {
  const limit = pLimit(parallelReads)

  /** Observes requests at the time `now`, in ms since 1970. Returns false if the account API did not answer for one of them. */
  return async function observeEach(requests: Tracked[], now: number): Promise<boolean> {
    const records = await store.findMany(requests.map(({ id }) => id))
    const signal = AbortSignal.timeout(readsMs)
    // A request that is skipped because the time is over stays due, and is among the first at the next tick.
    const observeInTime = async (request: Request) => (signal.aborted ? 'unread' : observe(request, now, signal))
    const results = await Promise.all(records.map((request) => limit(observeInTime, request)))
    return !results.includes('unread')
  }
}
export type ObserveEach = ReturnType<typeof createObserveEach>
