import pLimit from 'p-limit'
import type { Change, Rows } from '../domain/change.ts'
import { AccountLimitError } from '../domain/errors.ts'
import { inLane } from '../domain/lane.ts'
import { isItemUnderway, type Request, type RequestItem } from '../domain/request.ts'
import type { Timings } from '../domain/timings.ts'
import type { Catalog } from './catalog.ts'
import { createObserveItem, type ItemSteps } from './items.ts'
import { createObserve, createSight, type Observed, type ObserveParts, paceMs, type Tracked } from './observe.ts'
import type { Store } from './store.ts'

const parallelReads = 10

/** How long the reads of one tick may take, so that a tick ends even if the account API hangs. */
const readsMs = 10_000

/** A write is answered, or has run into its time limit, this long after it was sent. */
const writeOverMs = 22_000

/** Most writes are answered sooner. */
const overdueMs = 5_000

interface TrackParts extends Pick<ObserveParts, 'checkRecord' | 'checkRetraction' | 'distrust'> {
  store: Store
  catalog: Catalog
  /** The shortest time between two looks. */
  pollIntervalMs: number
  /** How long after its write a request is reported as late. */
  lateAfterMs: number
  timings: Timings
  itemSteps: ItemSteps
  onApiError: (error: unknown) => void
}

/**
 * Creates the tracking of writes that were sent. It ends a request only by what the account shows. A failed read ends nothing, and neither
 * does the absence from a list.
 */
export function createTrack(parts: TrackParts) {
  const { store, catalog, pollIntervalMs, onApiError } = parts
  const observe = createObserve(parts)
  const observeItem = createObserveItem(parts)
  const noteSight = createSight(parts)
  const limit = pLimit(parallelReads)

  /**
   * Observes requests that were read before. One list shows most of them, whatever their number up to a page; those that it does not show are
   * read alone.
   */
  async function track(requests: Request[]): Promise<void> {
    const now = await store.now()
    const due = requests.flatMap((request) => toTracked(request, now))
    if (due.length === 0) return
    const signal = AbortSignal.timeout(readsMs)
    const rowsOf = await readRows(
      due.filter((tracked) => isAnswered(tracked, now)),
      signal,
    )
    const results = await Promise.all(due.map((tracked) => limit(() => observeOne(tracked, rowsOf(tracked), now, signal))))
    await noteSight(due, results, now)
    for (const request of requests) if (request.items) await postponeItems(request, now)
  }

  /** Lets items be observed at the pace of single changes, once all are sent and answered. */
  async function postponeItems({ id, createdAt, items = [] }: Request, now: number): Promise<void> {
    const isEarly = items.some(({ state, sentAt = 0 }) => state === 'waiting' || (state === 'starting' && now - sentAt < writeOverMs))
    const underway = items.filter(isItemUnderway)
    if (isEarly || underway.length === 0) return
    await store.postpone(id, Math.min(...underway.map((item) => paceMs({ createdAt, ...item }, now, pollIntervalMs))))
  }

  function observeOne({ request, item }: Tracked, rows: Rows | undefined, now: number, signal: AbortSignal): Promise<Observed> {
    // What is left when the time is over stays due, and is among the first at the next tick.
    if (signal.aborted) return Promise.resolve('unread')
    // The reads that settle a lost answer go before all others.
    const lane = (item ?? request).state === 'starting' ? 'execute' : 'track'
    return inLane(lane, () => (item ? observeItem(request, item, now, { signal, rows }) : observe(request, now, { signal, rows })), {
      requestId: request.id,
    })
  }

  /** Reads the lists that show several changes. Returns the function that finds the list for one of them. */
  async function readRows(due: Tracked[], signal: AbortSignal): Promise<(tracked: Tracked) => Rows | undefined> {
    const lookOf = ({ request, item }: Tracked): Change['look'] => {
      const change = catalog.changeIfKnown(request.kind)
      const one = item ? change?.items?.change : change
      // Its items are looked at together with single changes of their kind.
      return one && (catalog.changeIfKnown(one.kind) ?? one).look
    }
    const groups = [...Map.groupBy(due, lookOf)].filter(([look, group]) => look && group.length > 1)
    const read = await Promise.all(groups.map(([look, group]) => readOne(look, group, signal)))
    const rows = new Map(groups.map(([look], index) => [look, read[index]]))
    const isCovered = new Set(due)
    return (tracked) => (isCovered.has(tracked) ? rows.get(lookOf(tracked)) : undefined)
  }

  /** Without the list each change is read alone, as far as the budget allows. */
  async function readOne(look: Change['look'], group: Tracked[], signal: AbortSignal): Promise<Rows | undefined> {
    try {
      return await inLane('track', () => look?.(group.map(resourceId), { signal }))
    } catch (error) {
      if (!(error instanceof AccountLimitError)) onApiError(error)
      return undefined
    }
  }

  return { track }
}
export type Track = ReturnType<typeof createTrack>

/** Returns the account's id of the resource that is changed: `eip_1` of `elastic_ip:eip_1`. */
function resourceId({ request: { resource }, item }: Tracked): string {
  return item?.id ?? resource.slice(resource.indexOf(':') + 1)
}

/** Returns what is tracked of a request: the request itself, or each of its items that is under way or may still start. */
function toTracked(request: Request, now: number): Tracked[] {
  if (!request.items) return [{ request }]
  return request.items
    .filter((item) => (isItemUnderway(item) ? isAnswered({ request, item }, now) || isOverdue(item, now) : item.trackedUntil !== undefined))
    .map((item) => ({ request, item }))
}

/**
 * Whether the answer to the write of an item is due to be read on the account once, alone: it may have come while nobody tracked the item, which keeps
 * others from being sent.
 */
function isOverdue({ sentAt = 0 }: RequestItem, now: number): boolean {
  return now - sentAt >= overdueMs && now - sentAt < overdueMs + 3_000
}

/** Whether a list that begins now shows what the write has led to: it was answered, or its time limit is over. */
function isAnswered({ request, item }: Tracked, now: number): boolean {
  const { state, sentAt = 0 } = item ?? request
  return state !== 'starting' || now - sentAt >= writeOverMs
}
