import type { Moment, Observation, ObserveOptions } from '../domain/change.ts'
import { AccountLimitError } from '../domain/errors.ts'
import { inLane } from '../domain/lane.ts'
import { isOpen, type Request, type RequestItem, type Underway, unansweredSince } from '../domain/request.ts'
import type { Timings } from '../domain/timings.ts'
import type { CheckRecord, CheckRetraction, Distrust } from './authority.ts'
import type { Catalog, Opened } from './catalog.ts'
import { nextStep } from './next-step.ts'
import type { Store } from './store.ts'

/** Returns the phase in which a change is observed, and the time since its write. `now` is in ms since 1970. */
export function momentOf({ state, sentAt, createdAt }: Underway, now: number, { graceMs }: Timings): Moment {
  const phase = state === 'tracking' ? 'accepted' : state === 'starting' ? 'sent' : 'ended'
  const sinceSentMs = now - (sentAt ?? createdAt)
  return { phase, sinceSentMs, early: sinceSentMs < graceMs }
}

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
    if (problem) return skip(distrust(request, problem))
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

/** How long the account API may leave every read unanswered before request messages say so. */
export const lostAfterMs = 30_000

/** While more requests than this are under way, their messages stay as they are: so many updates would delay the reports of their ends. */
const mostShown = 100

interface SightParts {
  store: Pick<Store, 'findMany' | 'take'>
  checkRecord: CheckRecord
}

/**
 * Creates the steps that note on requests under way since when the account API has not answered, and when it answers again. Otherwise their
 * messages would say that a change is still under way though nobody can see it.
 */
export function createSight({ store, checkRecord }: SightParts) {
  let since: number | undefined

  /** Receives the results of one tick in the order of what it observed. `now`: when the tick began, in ms since 1970. */
  return async function noteSight(observed: Tracked[], results: Observed[], now: number): Promise<void> {
    if (results.includes('read')) since = undefined
    else if (results.includes('unread')) since ??= now
    const isAnswered = observed.filter(({ request }, index) => unansweredSince(request) !== undefined && results[index] === 'read')
    await regain(isAnswered, now)
    if (since !== undefined && now - since >= lostAfterMs) await lose(observed, since)
  }

  async function lose(observed: Tracked[], since: number): Promise<void> {
    const ids = idsOf(observed.filter(({ request }) => unansweredSince(request) === undefined))
    if (ids.length > mostShown) return
    for (const request of await underway(ids)) if (unansweredSince(request) === undefined) await note(request, 'lose-sight', { since })
  }

  async function regain(observed: Tracked[], until: number): Promise<void> {
    for (const request of await underway(idsOf(observed))) {
      const lostAt = unansweredSince(request)
      if (lostAt !== undefined) await note(request, 'regain-sight', { since: lostAt, until })
    }
  }

  async function underway(ids: string[]): Promise<Request[]> {
    const found = ids.length === 0 ? [] : await store.findMany(ids)
    return found.filter((request) => request.sentAt !== undefined && isOpen(request.state) && !checkRecord(request))
  }

  // A step that is lost to another one is taken at a later tick. The outbox updates the message.
  async function note(
    request: Request,
    name: 'lose-sight' | 'regain-sight',
    unanswered: NonNullable<Request['unanswered']>,
  ): Promise<void> {
    await store.take(request, name, { set: { unanswered } })
  }
}

function idsOf(observed: Tracked[]): string[] {
  return [...new Set(observed.map(({ request }) => request.id))]
}
