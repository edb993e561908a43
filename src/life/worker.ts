import { randomUUID } from 'node:crypto'
import { type ConnectionOptions, type Job, Worker } from 'bullmq'
import pLimit from 'p-limit'
import type { App } from '../app.ts'
import { StoreUnavailableError } from '../domain/errors.ts'
import { inLane, noteRequest } from '../domain/lane.ts'
import { heldBy, holdOf, isItemUnderway, type Request } from '../domain/request.ts'
import { unreadableRecord } from '../messages/operator-notices.ts'
import { notifyOperators } from '../outbox/notices.ts'
import { onLostRecord } from '../outbox/operators.ts'
import { show, sweepOutbox } from '../outbox/outbox.ts'
import { UnreadableRecordError } from '../record/store.ts'
import { WakeUp } from '../redis/queues.ts'
import { claim } from '../redis/scripts.ts'
import { leaveUnfit } from './authority.ts'
import { type CarryOn, createBundles } from './bundle.ts'
import { createWatchdog, type Watch, workerSeenMs } from './self-checks.ts'
import { send } from './send.ts'
import { ofTrackedParents, track } from './track.ts'
import { waitForApproval, waitForHandover } from './waiting.ts'

/** Work that all workers together do once in its time, in the lane `background`. */
export interface Work {
  name: string
  everyMs: number
  /** `app`: the one over the connection that waits until Redis is back, and not the one of the people whom the feature answers. */
  run(app: App, signal: AbortSignal): Promise<void>
}

interface WorkerOptions {
  dataLossMark: Watch
  redisWatch: Watch
  works?: Work[] | undefined
  /** What a tick and a wake-up do with requests and messages. */
  does?: { reconcile: typeof reconcile; track: typeof track; sweepOutbox: typeof sweepOutbox }
  watchdogMs?: number
  /** How often a worker looks whether a work is to be repeated. The first time is after this, so that it does not slow the start. */
  repeatMs?: number | undefined
  /** A tick takes up to 25 s while the account API hangs. After this time, a tick no longer counts as work. */
  longestTickMs?: number
}

const parallelReconciles = 16

/** The wait before a request that could not be reconciled is tried again, and after an error of Redis, because the request is not the problem then. */
const againMs = { unfit: 10 * 60_000, afterRedis: 1_000 }

/** Reconciles requests that are woken up, and runs ticks: one at a time in all replicas, for everything that is due or to be repeated. */
export function createWorker(
  app: App,
  { dataLossMark, redisWatch, works = [], does = { reconcile, track, sweepOutbox }, ...times }: WorkerOptions,
) {
  const { watchdogMs = 5_000, repeatMs = 15_000, longestTickMs = 40_000 } = times
  const { redis, keys, queues, store } = app
  const onError = app.errors.of('jobs')
  const watchdog = createWatchdog(app, { dataLossMark, redisWatch, beginTicks, intervalMs: watchdogMs })
  const carryOn = createBundles(app)
  const shared = {
    connection: redis as ConnectionOptions,
    prefix: keys.queuePrefix,
    removeOnComplete: { count: 0 },
    removeOnFail: { count: 0 },
    maxStalledCount: 1_000_000,
  }
  const workers: Partial<Record<'ticks' | 'wakeUps', Worker>> = {}
  let whileSweeping: NodeJS.Timeout | undefined
  // This limit is not shared with the messages, which may all wait for a Slack that hangs.
  const limit = pLimit(parallelReconciles)
  const running = new Map<string, Promise<void>>()
  const stopping = new AbortController()
  let looksAt = Number.POSITIVE_INFINITY

  /** Tracks the requests under way together, because one list shows many of them. Reconciles every other request by itself. */
  async function tick(): Promise<void> {
    const startedAt = performance.now()
    if (startedAt > looksAt) repeatInBackground()
    // While the account API hangs, messages are still sent, and the tick still counts as work.
    whileSweeping = setInterval(() => {
      sendInBackground()
      if (performance.now() - startedAt < longestTickMs) store.noteTick().catch(onError)
    }, queues.pollIntervalMs)
    try {
      const ids = await store.due()
      const underway = (await store.findMany(ids)).filter(({ state, items }) => state === 'tracking' && !items)
      const isOnlyTracked = new Set(underway.map(({ id }) => id))
      for (const id of ids) if (!isOnlyTracked.has(id)) reconcileInBackground(id)
      await does.track(app, underway)
    } finally {
      clearInterval(whileSweeping)
    }
    app.metrics.tick(performance.now() - startedAt)
    sendInBackground()
    await store.noteTick()
  }

  /** Does not wait for work that may be slow, because that must not delay the tracking. Never twice at once. */
  function inBackground(name: string, work: () => Promise<void>): void {
    if (running.has(name)) return
    const ended = work().finally(() => running.delete(name))
    running.set(name, ended)
  }

  /** It may call Slack. */
  function reconcileInBackground(id: string): void {
    inBackground(id, () =>
      limit(() => inLane('send', () => does.reconcile(app, carryOn, id)))
        .catch((error: unknown) => {
          onError(error, id)
          return store.postpone(id, error instanceof StoreUnavailableError ? againMs.afterRedis : againMs.unfit)
        })
        .catch((error: unknown) => onError(error, id)),
    )
  }

  function sendInBackground(): void {
    inBackground('outbox', () => does.sweepOutbox(app, reconcileInBackground).catch(onError))
  }

  function repeatInBackground(): void {
    looksAt += repeatMs
    for (const work of works) inBackground(work.name, () => repeatIfDue(work))
  }

  async function repeatIfDue({ name, everyMs, run }: Work): Promise<void> {
    const { signal } = stopping
    try {
      const holder = await claim(redis, keys.repeated(name), { token: randomUUID(), lastsMs: everyMs })
      if (holder === undefined && !signal.aborted)
        await inLane('background', () => run(app, AbortSignal.any([signal, AbortSignal.timeout(60_000)])))
    } catch (error) {
      if (!signal.aborted) onError(error)
    }
  }

  /** From now on, another wake-up is another look: what this one reads may change right after. */
  async function wakeUp(job: Job): Promise<void> {
    await job.removeDeduplicationKey()
    const { id } = WakeUp.parse(job.data)
    await inLane('send', () => does.reconcile(app, carryOn, id))
  }

  function watched(worker: Worker): Worker {
    return worker.on('error', onError).on('failed', (job, error) => onError(error, job?.data.id))
  }

  /** Again, if they are silent: BullMQ's loop stands still for good if a connection that it opens during a failover never says that it is ready. */
  function beginTicks(): void {
    workers.ticks?.close(true).catch(onError)
    workers.ticks = watched(new Worker('ticks', tick, { ...shared, concurrency: 1, lockDuration: 6_000, stalledInterval: 3_000 }))
  }

  /** Starts the worker. Resolves when other processes can see it. */
  async function start(): Promise<void> {
    beginTicks()
    workers.wakeUps = watched(new Worker('wake-ups', wakeUp, { ...shared, concurrency: 50 }))
    looksAt = performance.now() + repeatMs
    await watchdog.start()
  }

  /** Resolves when everything that its last tick has started is finished. Interrupts what is repeated, because nothing depends on its end. */
  async function stop(): Promise<void> {
    watchdog.stop()
    stopping.abort()
    clearInterval(whileSweeping)
    await Promise.allSettled(Object.values(workers).map((worker) => worker.close()))
    await Promise.allSettled(running.values())
  }

  return { start, stop }
}

/** When a request is reconciled again if this attempt takes longer or fails. Two attempts at the same time do no harm. */
const holdMs = 15_000

/** Reads one request and does what it needs now, in the lane `send`. May be called for any request, at any time, by several processes at once. */
export async function reconcile(app: App, carryOn: CarryOn, id: string): Promise<void> {
  const request = await app.store.find(id).catch((error: unknown) => reportUnreadable(app, id, error))
  if (request === 'unreadable') return
  if (!request) return noteLost(app, id)
  const { store } = app
  const { state, parent } = request
  noteRequest(parent?.id ?? id)
  const opened = app.catalog.openIfFit(request)
  if (!opened) return leaveUnfit(app, request)
  await store.postponeIfUnchanged(request, holdMs)
  if (state === 'waiting') return (await waitForApproval(app, request)) === 'exempt' ? reconcile(app, carryOn, id) : undefined
  if (state === 'approved' && parent) {
    const [tracked] = await ofTrackedParents(app, [request])
    return tracked ? carryOn(parent.id) : store.clearDueIfUnchanged(request)
  }
  // A change with a handover is carried out by its requester. Here it can only expire.
  if (state === 'approved' && opened.change.handover) return waitForHandover(app, request)
  if (state === 'approved') {
    const now = await store.now()
    return (await send(app, request)) === 'begun' ? carryOn(id, now) : show(app, id)
  }
  if (state === 'tracking' && opened.change.items) return carryOn(id)
  if (state !== 'starting' && state !== 'tracking') return store.clearDueIfUnchanged(request)
  await track(app, [request])
  if (!parent) await show(app, id)
}

/** Tells the operators once. Only a person can decide that its change is over, and free its lock by deleting the record. */
async function reportUnreadable(app: App, requestId: string, error: unknown): Promise<'unreadable'> {
  if (!(error instanceof UnreadableRecordError) || error.isOfLaterVersion) throw error
  await notifyOperators(app, 'record-unreadable', unreadableRecord(requestId, app.keys.record(requestId)), { requestId })
  await app.store.clearDue(requestId)
  return 'unreadable'
}

async function noteLost(app: App, id: string): Promise<void> {
  const { store } = app
  if (!(await store.isDue(id))) return
  await onLostRecord(app, id)
  await store.forgetLost(id)
}

export async function progressFigures(app: App) {
  const { store } = app
  const [{ requests }, unsent, lastTickAgeMs, workers] = await Promise.all([
    store.findOpen(),
    store.countUnsent(),
    store.sinceLastTickMs(),
    store.workersSeen(workerSeenMs),
  ])
  const byKindAndState = Map.groupBy(requests, ({ kind, state }) => `${kind} ${state}`)
  const open = [...byKindAndState.values()].flatMap(([first, ...others]) =>
    first ? [{ kind: first.kind, state: first.state, count: 1 + others.length }] : [],
  )
  const scheduled = heldBy.map((by) => ({ by, count: requests.filter((request) => holdOf(request)?.for === by).length }))
  const movesInFlight = requests.reduce((sum, request) => sum + countUnderway(app, request), 0)
  return {
    open,
    scheduled,
    movesInFlight,
    unsent,
    workers,
    lastTickAgeMs: Number.isFinite(lastTickAgeMs) ? lastTickAgeMs : undefined,
  }
}

/** Counts the changes of a request that are under way, of the kinds that take time. A request of several counts as its items do. */
function countUnderway({ catalog }: App, { kind, state, items = [] }: Request): number {
  const change = catalog.changeIfKnown(kind)
  if (!change?.takesTime || (state !== 'starting' && state !== 'tracking')) return 0
  return change.items ? items.filter(isItemUnderway).length : 1
}
