import pLimit from 'p-limit'
import type { App } from '../app.ts'
import type { Change, Moment, Observation, ObserveOptions, Rows } from '../domain/change.ts'
import { AccountLimitError } from '../domain/errors.ts'
import { inLane } from '../domain/lane.ts'
import { idOfResource, isOpen, type Request, type Underway } from '../domain/request.ts'
import type { Timings } from '../domain/timings.ts'
import type { CommonFinding } from '../messages/why-not.ts'
import { onApiError } from '../outbox/operators.ts'
import { showAgain } from '../outbox/outbox.ts'
import type { Opened } from '../record/catalog.ts'
import { type StepName, stepOf } from '../record/steps.ts'
import type { StepData } from '../record/store.ts'
import { guardStore } from '../redis/connect.ts'
import { checkRecord, checkRetraction, distrust, leaveUnfit } from './authority.ts'
import { endIfOver } from './bundle.ts'

const parallelReads = 10

/** How long the reads of one tick may take, so that a tick ends even if the account API hangs. */
const readsMs = 10_000

/** Ends a request only by what the account shows: a failed read ends nothing, and neither does the absence from a list. */
export async function track(app: App, requests: Request[]): Promise<void> {
  const now = await app.store.now()
  const due = await ofTrackedParents(app, requests)
  const isTracked = new Set(due)
  for (const request of requests) if (!isTracked.has(request)) await app.store.clearDueIfUnchanged(request)
  if (due.length === 0) return
  const signal = AbortSignal.timeout(readsMs)
  const { rowsOf, unread } = await readRows(
    app,
    due.filter((request) => isAnswered(request, now)),
    signal,
  )
  const limit = pLimit(parallelReads)
  const observed = await Promise.all(due.map((request) => limit(() => observe(app, request, now, { signal, rows: rowsOf(request) }))))
  const hasAnswer = observed.includes('read')
  if (!hasAnswer) await noteSilence(app, [...unread, ...observed], now)
  for (const parentId of new Set(due.flatMap(({ parent }) => parent?.id ?? []))) await endIfOver(app, parentId)
  // Only now: what has ended in the silence says so.
  if (hasAnswer) await endSilence(app)
}

/**
 * Returns the requests with the children whose parents are tracked. When the tracking of a parent is stopped, that of its children is, too, once the
 * outcome of their writes is known: until then they hold what they change.
 */
export async function ofTrackedParents({ redis, keys }: App, requests: Request[]): Promise<Request[]> {
  const parents = [...new Set(requests.flatMap(({ parent }) => parent?.id ?? []))]
  const states = await guardStore(() => Promise.all(parents.map((id) => redis.hget(keys.record(id), 'state'))))
  const tracked = new Set(parents.filter((_, index) => states[index] === JSON.stringify('tracking')))
  return requests.filter(({ parent, state }) => parent === undefined || state === 'starting' || tracked.has(parent.id))
}

/** A write is answered, or has run into its time limit, this long after it was sent. */
const writeOverMs = 22_000

/** Whether a list that begins now shows what the write has led to: it was answered, or its time limit is over. */
function isAnswered({ state, sentAt = 0 }: Request, now: number): boolean {
  return state !== 'starting' || now - sentAt >= writeOverMs
}

/** Reads the lists that show several changes. `rowsOf` finds the list for one of them. `unread`: one for each list that the account API did not answer. */
async function readRows(app: App, due: Request[], signal: AbortSignal) {
  const lookOf = ({ kind }: Request): Change['look'] => app.catalog.changeIfKnown(kind)?.look
  const groups = [...Map.groupBy(due, lookOf)].filter(([look, group]) => look && group.length > 1)
  const read = await Promise.all(groups.map(([look, group]) => readList(app, look, group, signal)))
  const rows = new Map(groups.map(([look], index) => [look, read[index]]))
  const isCovered = new Set(due)
  const rowsOf = (request: Request): Rows | undefined => {
    const found = isCovered.has(request) ? rows.get(lookOf(request)) : undefined
    return found === 'unread' ? undefined : found
  }
  return { rowsOf, unread: read.filter((each) => each === 'unread') }
}

/** Without the list each change is read alone, as far as the budget allows. */
async function readList(app: App, look: Change['look'], group: Request[], signal: AbortSignal): Promise<Rows | 'unread' | undefined> {
  try {
    const ids = group.map(({ resource }) => idOfResource(resource))
    return await inLane('track', () => look?.(ids, { signal }))
  } catch (error) {
    onApiError(app, error)
    return error instanceof AccountLimitError ? undefined : 'unread'
  }
}

/** `unread`: the account API did not answer. `limited`: its turn for a read has not come. `skipped`: the request is not, or not now, to be observed. */
type Observed = 'read' | 'unread' | 'limited' | 'skipped'

async function observe(app: App, request: Request, now: number, options: ObserveOptions): Promise<Observed> {
  const { store, config, redis, keys } = app
  // What is left when the time is over stays due, and is among the first at the next tick.
  if (options.signal.aborted) return 'unread'
  const pace = paceMs(request, now, config.movePollIntervalMs)
  // Observing a handover deletes the secret that it finds. After the end, that secret may be in use.
  if (!isOpen(request.state)) return skip(store.clearDueIfUnchanged(request))
  const opened = app.catalog.openIfFit(request)
  if (!opened) return skip(leaveUnfit(app, request))
  const mayRetract = opened.change.handover !== undefined
  // Another step may have been taken since it was read, after which its secret is in use.
  if (mayRetract && (await store.find(request.id))?.revision !== request.revision) return skip(store.postpone(request.id, 0))
  const problem = mayRetract ? await checkRetraction(app, request) : undefined
  if (problem) return skip(distrust(app, request, problem))
  const claim = mayRetract ? await store.claimRetraction(request.id) : undefined
  if (mayRetract && claim === undefined) return skip(store.postpone(request.id, pace))
  try {
    const { observation: seen, observed } = await readOutcome(app, request, opened, now, options)
    const observation = (await isOvertaken(app, request, seen)) ? overtaken : seen
    const revertedSince = await noteReverted(app, request, observation, now)
    const found = nextStep({ ...request, revertedSince }, observation, now, config.moveTimeoutMs, app.timings.graceMs / 3)
    // It may have ended before it was slow.
    const step = found?.name === 'slow' && observed !== 'read' ? undefined : found
    const changed = step && checkRecord(app, request)
    if (changed) await distrust(app, request, changed)
    else if (step) {
      const isEnd = stepOf(step.name).stamps?.includes('endedAt')
      const set = { ...step.set, ...(isEnd ? await whatHidesEnd(app, request, step.name, now, pace) : {}) }
      await store.take(request, step.name, { set, dueInMs: step.isDueAgain ? pace : undefined })
    } else await store.postpone(request.id, pace)
    if (observed === 'read') await guardStore(() => redis.set(keys.observed(request.id), String(now), 'PX', revertedMs))
    return observed
  } finally {
    if (claim !== undefined) await store.endRetraction(request.id, claim)
  }
}

/** What says that it may have ended before this look: nobody looked for a while, or the account API did not answer. */
async function whatHidesEnd({ redis, keys }: App, request: Request, step: StepName, now: number, paceMs: number) {
  const { unansweredSince, untrackedMs, acceptedAt, sentAt } = request
  const last = Number((await guardStore(() => redis.get(keys.observed(request.id)))) ?? acceptedAt ?? sentAt)
  const isLong = step === 'finish' && now - last > Math.max(lostAfterMs, 3 * paceMs)
  return { unansweredSince, untrackedMs: isLong ? (untrackedMs ?? 0) : untrackedMs }
}

const overtaken: Observation = { is: 'superseded', cause: { code: 'changed-by-another' } satisfies CommonFinding }

/** Whether the account shows no effect because another request changed the same while this one was not tracked. */
async function isOvertaken(
  { store, signatures }: App,
  { id, parent, resource, sentAt = 0 }: Request,
  { is }: Observation,
): Promise<boolean> {
  if (is !== 'reverted' && is !== 'failed' && is !== 'not-started') return false
  const last = (await store.lastChangesOf([resource])).get(resource)
  if (!last || last.id === id || last.id === parent?.id) return false
  return (last.endedAt ?? 0) > sentAt && signatures.verifyRecord(last) === 'genuine'
}

/** A step to take. `isDueAgain`: observe the request again, at its usual pace. */
interface NextStep {
  name: StepName
  set?: StepData['set']
  isDueAgain?: true
}

/** Reads of the account may be behind its writes, and two this far apart are not both. */
const betweenLooksMs = 20_000

/** `revertedSince`: the first of the looks without an effect since the account last showed that the change takes effect, in ms since 1970. */
type Reverting = Underway & { revertedSince?: number | undefined }

/**
 * Returns the step that follows from an observation of the account, or undefined if none does. `now` is in ms since 1970. `apartMs`: how far
 * apart two looks without an effect must be that end what the account accepted.
 */
export function nextStep(
  request: Reverting,
  observation: Observation,
  now: number,
  lateAfterMs: number,
  apartMs = betweenLooksMs,
): NextStep | undefined {
  if (request.state !== 'starting' && request.state !== 'tracking') return undefined
  switch (observation.is) {
    case 'done':
      return observation.notes?.length ? { name: 'finish', set: { causes: observation.notes } } : { name: 'finish' }
    case 'superseded':
      return { name: 'supersede', set: { causes: [observation.cause] } }
    case 'failed':
      // What failed before it was confirmed has left something on the account, unless the observation has removed that.
      return {
        name: request.state === 'starting' && !observation.corrects ? 'fail-begun' : 'fail',
        set: { causes: [observation.cause] },
      }
    case 'not-started':
      return { name: 'not-start', set: { causes: [observation.cause] } }
    case 'reverted':
      if (now - (request.revertedSince ?? now) >= apartMs) return { name: 'fail', set: { causes: [observation.cause] } }
      break
    case 'underway':
      if (request.state === 'starting') return { name: 'accept', isDueAgain: true }
  }
  if (request.lateAt !== undefined) return undefined
  const [ageMs, { slowAfterMs = lateAfterMs }] = [now - (request.sentAt ?? request.createdAt), request]
  // A parent says it of its children.
  const isSlow = request.state === 'tracking' && !request.parent && request.slowAt === undefined && ageMs >= slowAfterMs
  if (ageMs < lateAfterMs) return isSlow ? { name: 'slow', isDueAgain: true } : undefined
  return { name: 'late', ...(observation.seen ? { set: { lastSeen: observation.seen } } : {}), isDueAgain: true }
}

/** Longer than any two looks at a change under way are apart. */
const revertedMs = 60 * 60_000

/** Remembers since when the account shows what was before the change. Forgets it once a read shows that the change takes effect. */
async function noteReverted({ redis, keys, store }: App, { id }: Request, { is }: Observation, now: number): Promise<number | undefined> {
  const key = keys.reverted(id)
  // After the read, so that two reads are certainly as far apart as their times.
  if (is === 'reverted') {
    const at = await store.now()
    const first = await guardStore(() => redis.set(key, String(at), 'PX', revertedMs, 'NX', 'GET'))
    return first === null ? undefined : Math.min(Number(first), now)
  }
  if (is === 'underway') await guardStore(() => redis.del(key))
  return undefined
}

/** Asks the change what the account shows. What cannot be read is unclear. */
async function readOutcome(app: App, request: Request, { change, input, latest }: Opened, now: number, options: ObserveOptions) {
  const moment = momentOf(request, now, app.timings)
  const isHandover = change.handover !== undefined
  // The process that issued the secret may still be showing it.
  if (isHandover && moment.phase === 'sent' && moment.sinceSentMs < app.timings.handoverMs) return unclear('read')
  // The observation of a secret that nobody saw deletes it. The reads that settle a lost answer go before all others.
  const lane = isHandover ? 'retract' : request.state === 'starting' ? 'send' : 'track'
  const look = () => change.observe(input, latest, moment, options)
  try {
    return { observation: await inLane(lane, look, { requestId: request.parent?.id ?? request.id }), observed: 'read' as const }
  } catch (error) {
    if (error instanceof AccountLimitError) return unclear('limited')
    onApiError(app, error)
    return unclear('unread')
  }
}

function unclear(observed: Observed): { observation: Observation; observed: Observed } {
  return { observation: { is: 'unclear' }, observed }
}

function momentOf({ state, sentAt, createdAt }: Underway, now: number, { graceMs, unsettledMs }: Timings): Moment {
  const sinceSentMs = now - (sentAt ?? createdAt)
  return {
    phase: state === 'tracking' ? 'accepted' : 'sent',
    sinceSentMs,
    early: sinceSentMs < graceMs,
    isUnsettled: sinceSentMs < unsettledMs,
  }
}

/** While a change is younger than this, it is observed at every tick: most end within this time. */
const youngMs = 60_000
const middleAgedMs = 5 * 60_000

/** Returns the time until the next observation of a request, in ms. 0: at the next tick. */
function paceMs({ state, sentAt, createdAt, lateAt }: Underway, now: number, pollIntervalMs: number): number {
  const ageMs = now - (sentAt ?? createdAt)
  if (state === 'starting') return Math.min(pollIntervalMs * 3, 10_000)
  if (lateAt !== undefined) return pollIntervalMs * 6
  return ageMs < youngMs ? 0 : pollIntervalMs * (ageMs < middleAgedMs ? 2 : 5)
}

async function skip(instead: Promise<void>): Promise<'skipped'> {
  await instead
  return 'skipped'
}

/** How long the account API may leave every look unanswered before messages say so, and how long one look is remembered. */
const lostAfterMs = 30_000
const rememberedMs = 120_000

/** While more requests than this are under way, their messages stay as they are: so many updates would delay the reports of their ends. */
const mostShown = 100

/** Notes since when no look was answered. Messages say so then: otherwise a change would seem under way though nobody can see it. */
async function noteSilence(app: App, results: Observed[], now: number): Promise<void> {
  const { redis, keys } = app
  const unread = results.filter((each) => each === 'unread').length
  if (unread === 0 && !results.includes('limited')) return
  const first = await guardStore(() =>
    unread > 0 ? redis.set(keys.silence, String(now), 'PX', rememberedMs, 'NX', 'GET') : redis.get(keys.silence),
  )
  // Looks without an answer use up the limit, so one that waits for its turn goes on with a silence, but not with a single failure.
  if (unread > (first === null ? 1 : 0)) await guardStore(() => redis.set(keys.silenceAgain, '1', 'PX', rememberedMs))
  else if (unread === 0 && (first === null || (await guardStore(() => redis.pexpire(keys.silenceAgain, rememberedMs))) === 0)) return
  const since = Number(first ?? now)
  await guardStore(() => redis.pexpire(keys.silence, rememberedMs))
  if (now - since < lostAfterMs) return
  const known = await guardStore(() => redis.set(keys.unanswered, String(since), 'PX', rememberedMs, 'GET'))
  if (known === null) await showUnderway(app)
}

async function endSilence(app: App): Promise<void> {
  const { redis, keys } = app
  const removed = await guardStore(async () => [await redis.del(keys.unanswered), await redis.del(keys.silence, keys.silenceAgain)])
  if (removed[0] === 1) await showUnderway(app)
}

async function showUnderway(app: App): Promise<void> {
  const { requests } = await app.store.findOpen()
  const underway = requests.filter(({ sentAt }) => sentAt !== undefined)
  if (underway.length <= mostShown) await showAgain(app, underway)
}
