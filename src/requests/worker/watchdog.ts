import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { Audit } from '../../audit/intake.ts'
import { horizonMs, type Queues } from '../../redis/queues.ts'
import type { NotifyOperators } from '../outbox/notices/notify-operators.ts'
import type { Store } from '../store/store.ts'
import type { DataLossMark } from './data-loss-mark.ts'
import type { RedisWatch } from './redis-watch.ts'

interface WatchdogParts {
  queues: Pick<Queues, 'startTicking' | 'restartTicking' | 'pollIntervalMs'>
  audit: Pick<Audit, 'tidy'>
  dataLossMark: DataLossMark
  redisWatch: RedisWatch
  operators: Pick<NotifyOperators, 'resume'>
  store: Pick<Store, 'isBusy' | 'noteWorker' | 'noteWorkerEnd' | 'sinceLastTickMs'>
  onError: (error: unknown) => void
  intervalMs: number
}

/**
 * Creates the watchdog of a worker. It restarts ticks that are needed and do not run, even if jobs and schedulers were lost. It also records
 * that the worker is running, checks the data set, the audit and the settings of Redis, and posts notices that a dead process has left.
 */
export function createWatchdog({ queues, audit, dataLossMark, redisWatch, operators, store, onError, intervalMs }: WatchdogParts) {
  const workerName = `${hostname()}:${process.pid}:${randomUUID().slice(0, 8)}`
  let timer: NodeJS.Timeout | undefined
  let isChecking = false
  let wasBusy = false
  let isStopped = false
  let noted: Promise<void> | undefined

  /** Starts the watchdog. Resolves after its first check, when other processes can see this worker. */
  async function start(): Promise<void> {
    // Set the timer before the first check, which can take long. `stop` clears it even during that check.
    timer = setInterval(() => void check(), intervalMs)
    await check()
  }

  function stop(): void {
    isStopped = true
    clearInterval(timer)
  }

  /** Takes this worker from the list of running workers. Call it after the work has ended. */
  async function leave(): Promise<void> {
    // A note that is still on its way would put this worker back.
    await noted?.catch(() => {})
    if (noted) await store.noteWorkerEnd(workerName)
  }

  async function check(): Promise<void> {
    // While Redis is away, one check waits for it. Further checks would only pile up behind it.
    if (isChecking) return
    isChecking = true
    await checkWork().catch(onError)
    // Even if the other checks have failed, because they fail while Redis refuses writes.
    await redisWatch.check().catch(onError)
    // Does not wait: a slow Slack must not delay the next check.
    void operators.resume().catch(onError)
    isChecking = false
  }

  async function checkWork(): Promise<void> {
    await dataLossMark.check()
    await noteWorker()
    await audit.tidy()
    await checkTicks()
  }

  async function noteWorker(): Promise<void> {
    if (isStopped) return
    noted = store.noteWorker(workerName)
    await noted
  }

  async function checkTicks(): Promise<void> {
    if (!(await store.isBusy(horizonMs))) {
      wasBusy = false
      return
    }
    await queues.startTicking()
    const silentMs = await store.sinceLastTickMs()
    if (wasBusy && silentMs > Math.max(intervalMs * 2, queues.pollIntervalMs * 4)) await queues.restartTicking()
    wasBusy = true
  }

  return { start, stop, leave }
}
