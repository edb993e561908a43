import pLimit from 'p-limit'
import type { Moment } from '../../domain/change.ts'
import type { Observation } from '../../domain/observation.ts'
import { isOpen, type Request, type Underway } from '../../domain/request.ts'
import type { Timings } from '../../domain/timings.ts'
import type { Catalog, Opened, Surveyed } from '../catalog.ts'
import type { Store } from '../store/store.ts'
import { nextStep } from './next-step.ts'

/** Few are read one by one; from here on one look at the list spares most of the reads. */
const surveyFrom = 20

const parallelReads = 64

/** So many at a time are held against the list and put off. In between others have their turn, here and in Redis: people wait for their click. */
const partSize = 500

/** So long a look at the list may take, and so long what is read one by one after it: a tick ends, also while the account API hangs. */
const surveyMs = 15_000
const readsMs = 10_000

const unfitMs = 10 * 60_000

/** A request that is followed, and how a survey of its kind shows it: worked out once, because it is compared at every tick. */
export interface Tracked extends Underway {
  surveyed?: Surveyed | undefined
}

export interface TrackParts {
  store: Store
  catalog: Catalog
  /** How often what takes effect is looked at, and when it is told as late. */
  pollIntervalMs: number
  lateAfterMs: number
  timings: Timings
  onApiError: (error: unknown) => void
}

/**
 * Looks what became of writes, and settles the requests whose end can be seen. Only what was seen settles anything: a failed look,
 * or not being on a list, never does.
 */
export function createTrack({ store, catalog, pollIntervalMs, lateAfterMs, timings, onApiError }: TrackParts) {
  const limit = pLimit(parallelReads)

  /**
   * Looks at all of these, reading a list first when they are many. Answers those of which nothing is new: what is known of them need
   * not be of just now, because all that is done with them is to look again later.
   */
  async function track(requests: Tracked[]): Promise<Tracked[]> {
    if (requests.length === 0) return []
    const now = await store.now()
    const sees = requests.length >= surveyFrom ? createSurveyor() : undefined
    const seenUnderway = new Set<string>()
    const quiet: Tracked[] = []
    for (let at = 0; at < requests.length; at += partSize) {
      const part = requests.slice(at, at + partSize)
      for (const request of part) if (await sees?.(request)) seenUnderway.add(request.id)
      const unchanged = part.filter(
        (request) => seenUnderway.has(request.id) && nextStep(request, { is: 'underway' }, now, lateAfterMs) === undefined,
      )
      await postponeAll(unchanged)
      quiet.push(...unchanged)
    }
    const settled = new Set(quiet)
    const rest = requests.filter((request) => !settled.has(request))
    const fresh = await store.findMany(rest.map(({ id }) => id))
    const signal = AbortSignal.timeout(readsMs)
    // Where the time is over it stays due, and is among the first ones at the next tick.
    const look = (request: Request) => (signal.aborted ? undefined : lookAt(request, now, signal))
    await Promise.all(fresh.map((request) => limit(look, request)))
    return quiet
  }

  /** Tells whether one survey, made once for all, shows a request under way. A list that cannot be read says nothing about anything. */
  function createSurveyor() {
    const surveys = new Map<unknown, Promise<Set<string> | undefined>>()
    return async function sees({ state, surveyed }: Tracked): Promise<boolean> {
      if (state !== 'tracking' || !surveyed) return false
      const { survey, surveyKeys } = surveyed
      const look = surveys.get(survey) ?? survey({ signal: AbortSignal.timeout(surveyMs) }).catch(ignoreFailedSurvey)
      surveys.set(survey, look)
      const seen = await look
      return seen !== undefined && surveyKeys.some((sighting) => seen.has(sighting))
    }
  }

  function ignoreFailedSurvey(error: unknown): undefined {
    onApiError(error)
    return undefined
  }

  async function lookAt(request: Request, now: number, signal: AbortSignal): Promise<void> {
    // A look may take back what it finds, and that may be in use.
    if (!isOpen(request.state) && !(await isWatched(request))) return store.clearDueIfUnchanged(request.id, request.revision)
    const opened = catalog.openIfFit(request)
    // A record of another version of ours: a later version may know it again.
    if (!opened) return store.postpone([request.id], unfitMs)
    const searches = opened.change.handover !== undefined
    const search = searches ? await store.claimSearch(request.id) : undefined
    if (searches && search === undefined) return store.postpone([request.id], paceMs(request))
    try {
      await apply(request, await observe(request, opened, now, signal), now)
    } catch (error) {
      onApiError(error)
      await apply(request, { is: 'unclear' }, now)
    } finally {
      if (search !== undefined) await store.endSearch(request.id, search)
    }
  }

  async function observe(request: Request, { change, input, latest }: Opened, now: number, signal: AbortSignal): Promise<Observation> {
    const moment = momentOf(request, now, timings)
    // Whoever issued a secret may still be showing it.
    if (change.handover && moment.phase === 'sent' && moment.sinceSentMs < timings.handoverMs) return { is: 'unclear' }
    return change.observe(input, latest, moment, { signal })
  }

  async function apply(request: Request, observation: Observation, now: number): Promise<void> {
    if (!isOpen(request.state) && !(await isWorthWatching(request, now))) return store.clearDueIfUnchanged(request.id, request.revision)
    const step = nextStep(request, observation, now, lateAfterMs)
    if (step) {
      const { name, set, isDueAgain } = step
      await store.take(request, name, { ...(set ? { set } : {}), ...(isDueAgain ? { dueInMs: paceMs(request) } : {}) })
    } else await store.postpone([request.id], paceMs(request))
  }

  /** Told as ended, and may start late; not once somebody has asked for something else with the same thing. */
  async function isWatched(request: Request): Promise<boolean> {
    return request.trackedUntil !== undefined && (await store.isLatest(request))
  }

  /** Not any more when its time is over: what its last look has found is not told. */
  async function isWorthWatching(request: Request, now: number): Promise<boolean> {
    return now <= (request.trackedUntil ?? 0) && (await isWatched(request))
  }

  async function postponeAll(requests: Underway[]): Promise<void> {
    const late = requests.filter((request) => request.lateAt !== undefined)
    const usual = requests.filter((request) => request.lateAt === undefined)
    const [someLate, someUsual] = [late[0], usual[0]]
    if (someLate)
      await store.postpone(
        late.map((request) => request.id),
        paceMs(someLate),
      )
    if (someUsual)
      await store.postpone(
        usual.map((request) => request.id),
        paceMs(someUsual),
      )
  }

  /** At every tick while it is expected to end soon; more seldom once it is late, or has been told as not started. */
  function paceMs(request: Underway): number {
    if (request.state === 'starting') return Math.min(pollIntervalMs, 5_000)
    if (!isOpen(request.state)) return pollIntervalMs * 3
    return request.lateAt === undefined ? Math.floor(pollIntervalMs / 2) : pollIntervalMs * 6
  }

  function tracked(request: Request): Tracked {
    const { id, kind, state, createdAt, sentAt, lateAt, trackedUntil } = request
    return { id, kind, state, createdAt, sentAt, lateAt, trackedUntil, surveyed: catalog.surveyed(request) }
  }

  return { track, tracked }
}
export type Track = ReturnType<typeof createTrack>

function momentOf(request: Request, now: number, { graceMs }: Timings): Moment {
  const phase = request.state === 'tracking' ? 'accepted' : request.state === 'starting' ? 'sent' : 'ended'
  const sinceSentMs = now - (request.sentAt ?? request.createdAt)
  return { phase, sinceSentMs, early: sinceSentMs < graceMs }
}
