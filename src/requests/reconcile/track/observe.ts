import { inLane } from '../../../domain/account/lane.ts'
import type { Observation, ObserveOptions } from '../../../domain/change/observation.ts'
import { AccountLimitError } from '../../../domain/errors/api-errors.ts'
import { isOpen, type Request } from '../../../domain/request/request.ts'
import type { RequestItem } from '../../../domain/request/request-item.ts'
import type { Timings } from '../../../domain/timings.ts'
import type { CheckRecord } from '../../access/check-record.ts'
import type { CheckRetraction } from '../../access/check-retraction.ts'
import type { Catalog, Opened } from '../../catalog.ts'
import type { Store } from '../../store/store.ts'
import type { Distrust } from '../distrust.ts'
import { momentOf } from './moment.ts'
import { nextStep } from './next-step.ts'

/** The wait before a request whose record does not fit this version of Lockkeeper is observed again. */
const unfitMs = 10 * 60_000

/** While a change is younger than this, it is observed at every tick: most end within this time. */
const youngMs = 60_000
const middleAgedMs = 5 * 60_000

/** `unread`: the account API did not answer. `skipped`: the request is not, or not now, to be observed, or its turn for a read has not come. */
export type Observed = 'read' | 'unread' | 'skipped'

/** A request, or one of its items, that is observed. */
export interface Tracked {
  request: Request
  item?: RequestItem
}

export interface ObserveParts {
  store: Store
  catalog: Catalog
  /** The shortest time between two looks. */
  pollIntervalMs: number
  /** How long after its write a request is reported as late. */
  lateAfterMs: number
  timings: Timings
  onApiError: (error: unknown) => void
  checkRecord: CheckRecord
  /** Checks that an observation that may retract a secret is allowed. */
  checkRetraction: CheckRetraction
  distrust: Distrust
}

/** Creates the function that reads the outcome of one request from the account, and takes the step that follows from it. */
export function createObserve(parts: ObserveParts) {
  const { store, catalog, pollIntervalMs, lateAfterMs, timings, onApiError, checkRecord, checkRetraction, distrust } = parts

  return async function observe(request: Request, now: number, options: ObserveOptions): Promise<Observed> {
    // Observing a handover deletes the secret that it finds. After the end, that secret may be in use.
    if (!isOpen(request.state) && !(await isTrackedAfterEnd(request))) return skip(store.clearDueIfUnchanged(request.id, request.revision))
    const opened = catalog.openIfFit(request)
    if (!opened) return skip(leaveUnfit(request))
    const mayRetract = opened.change.handover !== undefined
    // Another step may have been taken since it was read, after which its secret is in use.
    if (mayRetract && (await store.find(request.id))?.revision !== request.revision) return skip(store.postpone(request.id, 0))
    const problem = mayRetract ? await checkRetraction(request, now) : undefined
    // What was put back to an earlier state must not lead to a retraction once somebody tracks it again.
    if (problem) return skip(distrust(request, problem, { keepOpen: true }))
    const claim = mayRetract ? await store.claimRetraction(request.id) : undefined
    if (mayRetract && claim === undefined) return skip(store.postpone(request.id, paceMs(request, now, pollIntervalMs)))
    try {
      await apply(request, await readOutcome(request, opened, now, options), now)
      return 'read'
    } catch (error) {
      const isLimit = error instanceof AccountLimitError
      if (!isLimit) onApiError(error)
      await apply(request, { is: 'unclear' }, now)
      return isLimit ? 'skipped' : 'unread'
    } finally {
      if (claim !== undefined) await store.endRetraction(request.id, claim)
    }
  }

  /** Leaves a genuine record that does not fit to the version of Lockkeeper that wrote it. Any other was changed in Redis. */
  function leaveUnfit(request: Request): Promise<void> {
    const problem = checkRecord(request)
    return problem ? distrust(request, problem) : store.postpone(request.id, unfitMs)
  }

  async function readOutcome(
    request: Request,
    { change, input, latest }: Opened,
    now: number,
    options: ObserveOptions,
  ): Promise<Observation> {
    const moment = momentOf(request, now, timings)
    // The process that issued the secret may still be showing it.
    if (change.handover && moment.phase === 'sent' && moment.sinceSentMs < timings.handoverMs) return { is: 'unclear' }
    // The observation of a secret that nobody saw deletes it.
    return change.handover
      ? inLane('retract', () => change.observe(input, latest, moment, options))
      : change.observe(input, latest, moment, options)
  }

  async function apply(request: Request, observation: Observation, now: number): Promise<void> {
    if (!isOpen(request.state) && !(await isCorrectable(request, now))) return store.clearDueIfUnchanged(request.id, request.revision)
    const step = nextStep(request, observation, now, lateAfterMs)
    if (!step) return store.postpone(request.id, paceMs(request, now, pollIntervalMs))
    const problem = checkRecord(request)
    if (problem) return distrust(request, problem)
    const { name, set, isDueAgain } = step
    await store.take(request, name, { ...(set ? { set } : {}), ...(isDueAgain ? { dueInMs: paceMs(request, now, pollIntervalMs) } : {}) })
  }

  /** Whether a request that was reported as ended is still tracked. A later request for the same resource ends the tracking. */
  async function isTrackedAfterEnd(request: Request): Promise<boolean> {
    return request.trackedUntil !== undefined && (await store.isLatest(request))
  }

  /**
   * Whether the report of the end may still be corrected. A request is observed once more after that time, so that a secret that appeared
   * late is deleted. That observation reports nothing.
   */
  async function isCorrectable(request: Request, now: number): Promise<boolean> {
    return now <= (request.trackedUntil ?? 0) && (await isTrackedAfterEnd(request))
  }
}

export type Observe = ReturnType<typeof createObserve>

/** Returns the time until the next observation of a request or an item, in ms. 0: at the next tick. */
export function paceMs(
  { state, sentAt, createdAt, lateAt }: Pick<Request, 'state' | 'sentAt' | 'createdAt' | 'lateAt'>,
  now: number,
  pollIntervalMs: number,
): number {
  const ageMs = now - (sentAt ?? createdAt)
  if (state === 'starting') return Math.min(pollIntervalMs * 3, 10_000)
  if (!isOpen(state)) return pollIntervalMs * 10
  if (lateAt !== undefined) return pollIntervalMs * 6
  return ageMs < youngMs ? 0 : pollIntervalMs * (ageMs < middleAgedMs ? 2 : 5)
}

async function skip(instead: Promise<void>): Promise<'skipped'> {
  await instead
  return 'skipped'
}
