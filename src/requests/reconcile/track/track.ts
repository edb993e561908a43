import pLimit from 'p-limit'
import type { Request, Underway } from '../../../domain/request.ts'
import type { Timings } from '../../../domain/timings.ts'
import type { Catalog, Surveyed } from '../../catalog.ts'
import type { Store } from '../../store/store.ts'
import { nextStep } from './next-step.ts'
import { createObserve } from './observe.ts'
import { createPace } from './pace.ts'
import { createSurveys } from './surveys.ts'

/** From this many requests on, one survey replaces most of the single reads. */
const minSurveyed = 20

const parallelReads = 64

/** Compare in chunks of this size, so that clicks are served in between, here and in Redis. */
const chunkSize = 500

/** How long the single reads of one tick may take, so that a tick ends even if the account API hangs. */
const readsMs = 10_000

/** The part of a request that every tick compares. It is computed once, because there may be thousands. */
export interface Tracked extends Underway {
  surveyed?: Surveyed | undefined
}

export interface TrackParts {
  store: Store
  catalog: Catalog
  /** How often a change under way is observed. */
  pollIntervalMs: number
  /** How long after its write a request is reported as late. */
  lateAfterMs: number
  timings: Timings
  onApiError: (error: unknown) => void
}

/**
 * Creates the tracking of writes that were sent. It ends a request only by what the account shows. A failed read ends nothing, and neither
 * does the absence from a list.
 */
export function createTrack({ store, catalog, pollIntervalMs, lateAfterMs, timings, onApiError }: TrackParts) {
  const limit = pLimit(parallelReads)
  const pace = createPace({ store, pollIntervalMs })
  const observe = createObserve({ store, catalog, pace, lateAfterMs, timings, onApiError })

  /**
   * Observes requests: many of them first with a survey, and the rest one by one. Returns the requests that have not changed. Their records
   * may be older than this tick, because they are only postponed.
   */
  async function track(requests: Tracked[]): Promise<Tracked[]> {
    if (requests.length === 0) return []
    const now = await store.now()
    const unchanged = requests.length < minSurveyed ? [] : await compareWithSurveys(requests, now)
    const isUnchanged = new Set(unchanged)
    await observeEach(
      requests.filter((request) => !isUnchanged.has(request)),
      now,
    )
    return unchanged
  }

  /** Postpones the requests that a survey shows under way and that need no step. Returns them. */
  async function compareWithSurveys(requests: Tracked[], now: number): Promise<Tracked[]> {
    const isShownUnderway = createSurveys(onApiError)
    const unchanged: Tracked[] = []
    for (let at = 0; at < requests.length; at += chunkSize) {
      const found: Tracked[] = []
      for (const request of requests.slice(at, at + chunkSize)) {
        if (request.state !== 'tracking' || !request.surveyed) continue
        if (!(await isShownUnderway(request.surveyed))) continue
        if (nextStep(request, { is: 'underway' }, now, lateAfterMs) === undefined) found.push(request)
      }
      await pace.postpone(found)
      unchanged.push(...found)
    }
    return unchanged
  }

  async function observeEach(requests: Tracked[], now: number): Promise<void> {
    const records = await store.findMany(requests.map(({ id }) => id))
    const signal = AbortSignal.timeout(readsMs)
    // A request that is skipped because the time is over stays due, and is among the first at the next tick.
    const observeInTime = (request: Request) => (signal.aborted ? undefined : observe(request, now, signal))
    await Promise.all(records.map((request) => limit(observeInTime, request)))
  }

  function toTracked(request: Request): Tracked {
    const { id, kind, state, createdAt, sentAt, lateAt, trackedUntil } = request
    return { id, kind, state, createdAt, sentAt, lateAt, trackedUntil, surveyed: catalog.surveyed(request) }
  }

  return { track, toTracked }
}
export type Track = ReturnType<typeof createTrack>
