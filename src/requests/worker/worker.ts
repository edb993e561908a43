import { type ConnectionOptions, Worker } from 'bullmq'
import type { Audit } from '../../audit/intake.ts'
import { settleWithin } from '../../domain/within.ts'
import type { Redis } from '../../redis/connect.ts'
import type { Keys } from '../../redis/key-names.ts'
import { horizonMs, type Queues, WakeUp } from '../../redis/queues.ts'
import type { Deliver } from '../outbox/deliver.ts'
import type { NotifyOperators } from '../outbox/notices/notify-operators.ts'
import type { Outbox } from '../outbox/outbox.ts'
import type { Reconcile } from '../reconcile/reconcile.ts'
import type { Track } from '../reconcile/track/track.ts'
import type { Store } from '../store/store.ts'
import type { DataLossMark } from './data-loss-mark.ts'
import type { RedisWatch } from './redis-watch.ts'
import { createOutboxSweep } from './sweep-outbox.ts'
import { createRequestSweep } from './sweep-requests.ts'
import { createWatchdog } from './watchdog.ts'

/** A tick takes up to 25 s while the account API hangs. After this time, a tick no longer counts as work. */
const usualLongestTickMs = 40_000

const usualWatchdogMs = 5_000

/** How long a stop waits for Redis to take the worker from the list of running workers. */
const leaveMs = 500

interface WorkerParts {
  redis: Redis
  keys: Keys
  queues: Queues
  audit: Pick<Audit, 'tidy'>
  dataLossMark: DataLossMark
  redisWatch: RedisWatch
  operators: Pick<NotifyOperators, 'resume'>
  store: Store
  outbox: Outbox
  reconcile: Reconcile
  tracking: Track
  deliver: Deliver
  onError: (error: unknown, requestId?: string) => void
  /** Called after every tick with its duration. */
  onTick?: (ms: number) => void
  watchdogMs?: number
  longestTickMs?: number
}

/**
 * Creates the worker: it reconciles the requests that are woken up, and runs ticks. All replicas together run one tick at a time, which
 * handles every request and every message that is due.
 */
export function createWorker({
  redis,
  keys,
  queues,
  audit,
  dataLossMark,
  redisWatch,
  operators,
  store,
  outbox,
  reconcile,
  tracking,
  deliver,
  onError,
  onTick = () => {},
  watchdogMs = usualWatchdogMs,
  longestTickMs = usualLongestTickMs,
}: WorkerParts) {
  const requestSweep = createRequestSweep({ store, reconcile, tracking, onError })
  const outboxSweep = createOutboxSweep({ outbox, deliver, onRefusedCard: requestSweep.reconcileInBackground, onError })
  const watchdog = createWatchdog({ queues, audit, dataLossMark, redisWatch, operators, store, onError, intervalMs: watchdogMs })
  const workers: Worker[] = []
  let whileSweeping: NodeJS.Timeout | undefined

  async function tick(): Promise<void> {
    const startedAt = performance.now()
    // While the account API hangs, messages are still sent, and the tick still counts as work.
    whileSweeping = setInterval(() => {
      outboxSweep.sweepInBackground()
      if (performance.now() - startedAt < longestTickMs) store.noteTick().catch(onError)
    }, queues.pollIntervalMs)
    await requestSweep.sweep().finally(() => clearInterval(whileSweeping))
    onTick(performance.now() - startedAt)
    outboxSweep.sweepInBackground()
    await store.noteTick()
    if (await store.isBusy(horizonMs)) return
    await queues.stopTicking()
    // A request may have become due between the check and the stop.
    if (await store.isBusy(horizonMs)) await queues.startTicking()
  }

  /** Starts the worker. Resolves when other processes can see it. */
  async function start(): Promise<void> {
    const connection = redis as ConnectionOptions
    const shared = {
      connection,
      prefix: keys.queuePrefix,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
      maxStalledCount: 1_000_000,
    }
    workers.push(
      new Worker('ticks', tick, {
        ...shared,
        concurrency: 1,
        lockDuration: 6_000,
        stalledInterval: 3_000,
      }),
      new Worker('wake-ups', async (job) => reconcile(WakeUp.parse(job.data).id), {
        ...shared,
        concurrency: 50,
      }),
    )
    for (const worker of workers) worker.on('error', onError).on('failed', (job, error) => onError(error, job?.data.id))
    await watchdog.start()
  }

  /** Stops the worker. Resolves when everything that its last tick has started is finished, and other processes no longer see this worker. */
  async function stop(): Promise<void> {
    watchdog.stop()
    clearInterval(whileSweeping)
    await Promise.allSettled(workers.map((worker) => worker.close()))
    await Promise.allSettled([outboxSweep.settle(), requestSweep.settle()])
    if (redis.status === 'ready') await settleWithin(leaveMs, [watchdog.leave()])
  }

  return { start, stop }
}
