import pLimit from 'p-limit'
import type { Underway } from '../../../domain/request/request.ts'
import type { Tracing } from '../../../domain/tracing.ts'
import type { Surveyed } from '../../catalog.ts'
import type { Store } from '../../store/store.ts'
import type { ObserveItem } from '../items/observe-item.ts'
import type { Observe, Observed } from './observe.ts'

const parallelReads = 64

/** How long the single reads of one tick may take, so that a tick ends even if the account API hangs. */
const readsMs = 10_000

/** The part of a request, or of one of its items, that every tick compares. It is computed once, because there may be thousands. */
export interface Tracked extends Underway {
  /** The id of the item, for a request with several. */
  item?: string
  surveyed?: Surveyed | undefined
  /** Whether its message says that the account API does not answer. */
  isUnanswered?: boolean
}

interface ObserveEachParts {
  store: Pick<Store, 'findMany'>
  observe: Observe
  observeItem: ObserveItem
  tracing: Tracing
}

/** Creates the function that observes several requests and items, each with separate reads. */
export function createObserveEach({ store, observe, observeItem, tracing }: ObserveEachParts) {
  const limit = pLimit(parallelReads)

  /** Observes requests at the time `now`, in ms since 1970. Returns the result for each, in their order. */
  return async function observeEach(requests: Tracked[], now: number): Promise<Observed[]> {
    const records = await store.findMany([...new Set(requests.map(({ id }) => id))])
    const recordOf = new Map(records.map((request) => [request.id, request]))
    const signal = AbortSignal.timeout(readsMs)
    // A request that is skipped because the time is over stays due, and is among the first at the next tick.
    async function observeInTime({ id, item }: Tracked): Promise<Observed> {
      const request = recordOf.get(id)
      if (!request) return 'skipped'
      if (signal.aborted) return 'unread'
      return tracing.follow(request, 'observe', () =>
        item === undefined ? observe(request, now, signal) : observeItem(request, item, now, signal),
      )
    }
    return Promise.all(requests.map((request) => limit(observeInTime, request)))
  }
}
export type ObserveEach = ReturnType<typeof createObserveEach>
