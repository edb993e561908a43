import type { Request } from '../../../domain/request/request.ts'
import { isItemUnderway, type RequestItem } from '../../../domain/request/request-item.ts'
import { unansweredSince } from '../../../domain/request/unanswered.ts'
import type { Timings } from '../../../domain/timings.ts'
import { noTracing, type Tracing } from '../../../domain/tracing.ts'
import { type Catalog, surveyedOf } from '../../catalog.ts'
import type { Store } from '../../store/store.ts'
import type { ItemSteps } from '../items/item-steps.ts'
import { asUnderway, createObserveItem } from '../items/observe-item.ts'
import { createLook } from './look.ts'
import { nextStep } from './next-step.ts'
import { createObserve, type ObserveParts } from './observe.ts'
import { createObserveEach, type Tracked } from './observe-each.ts'
import { createPace } from './pace.ts'
import type { PollBudget } from './poll-budget.ts'
import { createSight } from './sight.ts'
import { createSurveys } from './surveys.ts'

/** From this many requests on, one survey replaces most of the single reads. */
const minSurveyed = 20

/** Compare in chunks of this size, so that clicks are served in between, here and in Redis. */
const chunkSize = 500

interface TrackParts extends Pick<ObserveParts, 'checkRecord' | 'checkRetraction' | 'distrust'> {
  store: Store
  catalog: Catalog
  /** How often a change under way is observed. */
  pollIntervalMs: number
  /** How long after its write a request is reported as late. */
  lateAfterMs: number
  timings: Timings
  itemSteps: ItemSteps
  /** How many calls to the account API may be spent on looks between ticks. */
  budget: PollBudget
  onApiError: (error: unknown) => void
  tracing?: Tracing
}

/**
 * Creates the tracking of writes that were sent. It ends a request only by what the account shows. A failed read ends nothing, and neither
 * does the absence from a list.
 */
export function createTrack(parts: TrackParts) {
  const { store, catalog, pollIntervalMs, lateAfterMs, timings, budget, itemSteps, onApiError, tracing = noTracing } = parts
  const pace = createPace({ store, pollIntervalMs })
  const observeItem = createObserveItem({ store, catalog, itemSteps, lateAfterMs, timings, onApiError })
  const observeEach = createObserveEach({ store, observe: createObserve({ ...parts, pace }), observeItem, tracing })
  const noteSight = createSight(parts)
  const looks = createLook({ now: store.now, budget, pace, observeEach, pollIntervalMs, lateAfterMs, onApiError })

  /**
   * Observes requests: many of them first with a survey, and the rest one by one. Returns the requests that have not changed. Their records
   * may be older than this tick, because they are only postponed.
   */
  async function track(requests: Tracked[]): Promise<Tracked[]> {
    if (requests.length === 0) return []
    const now = await store.now()
    const unchanged = requests.length < minSurveyed ? [] : await compareWithSurveys(requests, now)
    const isUnchanged = new Set(unchanged)
    const others = requests.filter((request) => !isUnchanged.has(request))
    const results = await observeEach(others, now)
    await noteSight([...unchanged, ...others], [...unchanged.map(() => 'read' as const), ...results], now)
    return unchanged
  }

  /** Postpones the requests that a survey shows under way and that need no step. Returns them. */
  async function compareWithSurveys(requests: Tracked[], now: number): Promise<Tracked[]> {
    const survey = createSurveys(onApiError)
    const unchanged: Tracked[] = []
    for (let at = 0; at < requests.length; at += chunkSize) {
      const found: Tracked[] = []
      for (const request of requests.slice(at, at + chunkSize)) {
        if (request.state !== 'tracking' || request.isUnanswered) continue
        if ((await survey(request.surveyed)) !== 'shown') continue
        if (nextStep(request, { is: 'underway' }, now, lateAfterMs) === undefined) found.push(request)
      }
      await pace.postpone(found)
      unchanged.push(...found)
    }
    return unchanged
  }

  /** Returns what is tracked of a request: the request itself, or each of its items that is under way or may still start. */
  function toTracked(request: Request): Tracked[] {
    if (request.items) return itemsToTrack(request, request.items)
    const { id, kind, state, createdAt, sentAt, lateAt, trackedUntil } = request
    const underway = { id, kind, state, createdAt, sentAt, lateAt, trackedUntil }
    return [{ ...underway, surveyed: catalog.surveyed(request), isUnanswered: unansweredSince(request) !== undefined }]
  }

  function itemsToTrack(request: Request, items: RequestItem[]): Tracked[] {
    const whole = catalog.openIfFit(request)
    const opened = new Map(whole ? catalog.itemsOf(whole).map((item) => [item.id, item]) : [])
    return items.flatMap((item) => {
      const one = opened.get(item.id)
      if (!one || (!isItemUnderway(item) && item.trackedUntil === undefined)) return []
      return [
        {
          ...asUnderway(request, item, one),
          item: item.id,
          surveyed: surveyedOf(one),
          isUnanswered: unansweredSince(request) !== undefined,
        },
      ]
    })
  }

  return { track, toTracked, ...looks }
}
export type Track = ReturnType<typeof createTrack>
