import { type ConnectionOptions, Queue } from 'bullmq'
import type { Redis } from 'ioredis'
import type { Request } from '../domain/request.ts'
import type { Keys } from './keys.ts'

const schedulerId = 'tick'

/** Ticks run while anything is due within this time. Expiries that are further away have a delayed job of their own. */
export const horizonMs = 60_000

/** A tick that is so much late, beyond a few intervals, does not come any more. */
const overdueMs = 2_000

/**
 * Wakes a request up: now, or when it is due. A lost wake-up does no harm, because ticks also find what is due. The worker needs only
 * the id; kind and resource are for people who read a dashboard of BullMQ.
 */
export type Wake = (request: Pick<Request, 'id' | 'kind' | 'resource'>, delayMs?: number) => Promise<void>

/** What both sides need: those that ask (to wake) and those that work. `redis` stays the caller's, who closes it. */
export function createQueues({
  redis,
  keys,
  pollIntervalMs,
  onError,
}: {
  redis: Redis
  keys: Keys
  pollIntervalMs: number
  onError: (error: unknown) => void
}) {
  const options = {
    connection: redis as ConnectionOptions,
    prefix: keys.queuePrefix,
    // Jobs are wake-ups: the records tell what happened, so nothing of a job is kept.
    defaultJobOptions: { removeOnComplete: true, removeOnFail: true, attempts: 1 },
  }
  const wakeUps = new Queue('wake-ups', options)
  const ticks = new Queue('ticks', options)
  for (const queue of [wakeUps, ticks]) queue.on('error', onError)

  /** Never throws: the due set and the watchdog see to what a lost wake-up should have done. */
  async function wake({ id, kind, resource }: Parameters<Wake>[0], delayMs = 0): Promise<void> {
    try {
      await wakeUps.add(kind, { id, kind, resource }, { delay: delayMs })
      if (delayMs < horizonMs) await startTicking()
    } catch (error) {
      onError(error)
    }
  }

  async function startTicking(): Promise<void> {
    const known = await ticks.getJobScheduler(schedulerId)
    // One whose next tick is long overdue has lost it, as can happen when it was removed and made anew in the same moment.
    if (known?.next !== undefined && known.next > Date.now() - pollIntervalMs * 3 - overdueMs) return
    if (known) await ticks.removeJobScheduler(schedulerId)
    await ticks.setGlobalConcurrency(1)
    await ticks.upsertJobScheduler(schedulerId, { every: pollIntervalMs }, { name: 'tick' })
  }

  /** For a scheduler that is there and silent. */
  async function restartTicking(): Promise<void> {
    await ticks.removeJobScheduler(schedulerId)
    await startTicking()
  }

  async function stopTicking(): Promise<void> {
    await ticks.removeJobScheduler(schedulerId)
  }

  /** How many jobs there are, by queue and state. */
  async function depth(): Promise<{ queue: string; state: string; count: number }[]> {
    const counts = await Promise.all(
      [wakeUps, ticks].map(async (queue) => [queue.name, await queue.getJobCounts('wait', 'active', 'delayed')] as const),
    )
    return counts.flatMap(([queue, states]) => Object.entries(states).map(([state, count]) => ({ queue, state, count })))
  }

  async function close(): Promise<void> {
    await Promise.allSettled([wakeUps.close(), ticks.close()])
  }

  return { pollIntervalMs, wakeUps, ticks, wake, startTicking, restartTicking, stopTicking, depth, close }
}
export type Queues = ReturnType<typeof createQueues>
