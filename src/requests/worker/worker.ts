import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { type ConnectionOptions, Worker } from 'bullmq'
import pLimit from 'p-limit'
import type { Audit } from '../../audit/intake.ts'
import { StoreUnavailableError } from '../../domain/errors.ts'
import type { Redis } from '../../redis/connect.ts'
import type { Keys } from '../../redis/key-names.ts'
import { horizonMs, type Queues, WakeUp } from '../../redis/queues.ts'
import type { Deliver } from '../outbox/deliver.ts'
import type { Outbox, OutboxName } from '../outbox/outbox.ts'
import type { Reconcile } from '../reconcile/reconcile.ts'
import type { Track, Tracked } from '../reconcile/track.ts'
import type { Store } from '../store/store.ts'
import type { DataLossMark } from './data-loss-mark.ts'

/** One tick takes this many; the next one takes the rest. */
const tickSize = 20_000

/** With an account API that hangs a tick takes 25 s. One that takes longer than this has no end. */
const usualLongestTickMs = 40_000

/** Whatever became of jobs and schedulers: each worker looks this often whether ticks are needed and running. */
const usualWatchdogMs = 5_000

/** What could not be reconciled is not tried at every tick. */
const unfitMs = 10 * 60_000

interface WorkerParts {
  redis: Redis
  keys: Keys
  queues: Queues
  audit: Pick<Audit, 'tidy'>
  dataLossMark: DataLossMark
  store: Store
  outbox: Outbox
  reconcile: Reconcile
  track: Track['track']
  tracked: Track['tracked']
  deliver: Deliver
  onError: (error: unknown) => void
  /** Hears of every tick, and how long it took. */
  onTick?: (ms: number) => void
  watchdogMs?: number
  longestTickMs?: number
}

/**
 * The workers. One tick for all replicas (global concurrency 1) sweeps what is due: requests that take effect together, because
 * one list tells of many; every other request, and every unsent message, by itself.
 */
export function createWorker({
  redis,
  keys,
  queues,
  audit,
  dataLossMark,
  store,
  outbox,
  reconcile,
  track,
  tracked,
  deliver,
  onError,
  onTick = () => {},
  watchdogMs = usualWatchdogMs,
  longestTickMs = usualLongestTickMs,
}: WorkerParts) {
  const workerName = `${hostname()}:${process.pid}:${randomUUID().slice(0, 8)}`
  const sending = pLimit(16)
  // Apart from the messages: those may all wait for a Slack that hangs.
  const looking = pLimit(16)
  const reconciling = new Map<string, Promise<void>>()
  /** Requests that were under way at their last look: nothing but the list is read for them until that tells something new. */
  const quiet = new Map<string, Tracked>()
  let watchdog: NodeJS.Timeout | undefined
  let meanwhile: NodeJS.Timeout | undefined
  let wasBusy = false
  let sendingOutbox: Promise<void> | undefined
  let isGuarding = false
  const workers: Worker[] = []

  async function tick(): Promise<void> {
    const startedAt = performance.now()
    // The account API may hang: Slack is owed what it is owed all the same, and a tick that waits is at work.
    meanwhile = setInterval(() => {
      sendAside()
      if (performance.now() - startedAt < longestTickMs) store.noteTick().catch(onError)
    }, queues.pollIntervalMs)
    await sweepRequests().finally(() => clearInterval(meanwhile))
    onTick(performance.now() - startedAt)
    sendAside()
    await store.noteTick()
    if (await store.isBusy(horizonMs)) return
    await queues.stopTicking()
    // Something may have come between the look and the stop.
    if (await store.isBusy(horizonMs)) await queues.startTicking()
  }

  async function sweepRequests(): Promise<void> {
    const ids = await store.due(tickSize)
    const underway = ids.flatMap((id) => quiet.get(id) ?? [])
    for await (const request of store.findEach(ids.filter((id) => !quiet.has(id))))
      if (request.state === 'tracking') underway.push(tracked(request))
    const together = new Set(underway.map(({ id }) => id))
    for (const id of ids) if (!together.has(id)) reconcileAside(id)
    const stillQuiet = await track(underway)
    for (const { id } of underway) quiet.delete(id)
    if (quiet.size + stillQuiet.length > tickSize) quiet.clear()
    for (const request of stillQuiet) quiet.set(request.id, request)
  }

  /** Not waited for, because it may have to talk to Slack, and a slow Slack must not hold up the following. */
  function reconcileAside(id: string): void {
    if (reconciling.has(id)) return
    const work = looking(() => reconcileSafely(id))
      .catch(onError)
      .finally(() => reconciling.delete(id))
    reconciling.set(id, work)
  }

  /**
   * One that cannot be reconciled (its record does not fit this version) is put off, and does not stop the others. Where it was Redis that
   * failed, it stays due as it is: nothing is wrong with it.
   */
  async function reconcileSafely(id: string): Promise<void> {
    try {
      await reconcile(id)
    } catch (error) {
      onError(error)
      if (!(error instanceof StoreUnavailableError)) await store.postpone([id], unfitMs)
    }
  }

  /** Not waited for: a slow Slack must not hold up the following. */
  function sendAside(): void {
    sendingOutbox ??= sweepOutbox()
      .catch(onError)
      .finally(() => {
        sendingOutbox = undefined
      })
  }

  async function sweepOutbox(): Promise<void> {
    const unsent = await outbox.due(tickSize)
    // What somebody waits for first: a report brings its card along where that is not there yet.
    unsent.sort((a, b) => Number(a.name === 'card') - Number(b.name === 'card'))
    await Promise.all(unsent.map(({ id, name }) => sending(() => send(id, name).catch(onError))))
  }

  async function send(id: string, name: OutboxName): Promise<void> {
    const sent = await deliver(id, name)
    // A request without a card is nothing that anybody could answer: what becomes of it is decided where requests are looked at.
    if (name === 'card' && sent.is === 'refused') reconcileAside(id)
  }

  /** Sees to it that ticks run when they are needed, whatever became of the scheduler. */
  async function guard(): Promise<void> {
    // While Redis is away one waits for it, and not one more every few seconds.
    if (isGuarding) return
    isGuarding = true
    try {
      await dataLossMark.check()
      await store.noteWorker(workerName)
      await audit.tidy()
      if (!(await store.isBusy(horizonMs))) {
        wasBusy = false
        return
      }
      await queues.startTicking()
      const silentMs = await store.sinceLastTickMs()
      if (wasBusy && silentMs > Math.max(watchdogMs * 2, queues.pollIntervalMs * 4)) await queues.restartTicking()
      wasBusy = true
    } catch (error) {
      onError(error)
    } finally {
      isGuarding = false
    }
  }

  /** Resolves once others can know that this worker is at work. */
  async function start(): Promise<void> {
    const connection = redis as ConnectionOptions
    const shared = { connection, prefix: keys.queuePrefix, removeOnComplete: { count: 0 }, removeOnFail: { count: 0 } }
    workers.push(
      new Worker('ticks', tick, { ...shared, concurrency: 1, lockDuration: 6_000, stalledInterval: 3_000, maxStalledCount: 1_000_000 }),
      new Worker('wake-ups', async (job) => reconcile(WakeUp.parse(job.data).id), {
        ...shared,
        concurrency: 50,
        maxStalledCount: 1_000_000,
      }),
    )
    for (const worker of workers) worker.on('error', onError).on('failed', (_, error) => onError(error))
    // Before the first look, which can take long: whoever stops meanwhile ends it.
    watchdog = setInterval(() => void guard(), watchdogMs)
    await guard()
  }

  async function stop(): Promise<void> {
    clearInterval(watchdog)
    clearInterval(meanwhile)
    await Promise.allSettled(workers.map((worker) => worker.close()))
    // The last tick may have begun something.
    await Promise.allSettled([sendingOutbox, ...reconciling.values()])
  }

  return { start, stop }
}
