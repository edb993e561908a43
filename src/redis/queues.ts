import { type ConnectionOptions, Queue } from 'bullmq'
import type { Redis } from 'ioredis'
import { z } from 'zod'
import type { Request } from '../domain/request.ts'
import type { Keys } from './key-names.ts'

/** Ticks run while any request or message is due within this time. A request that is due later gets a separate delayed job. */
export const horizonMs = 60_000

/** A lost wake-up does no harm, because a tick finds the request. Kind and resource are for people who read a BullMQ dashboard. */
export type Wake = (request: Pick<Request, 'id' | 'kind' | 'resource'>, delayMs?: number) => Promise<void>

export const WakeUp = z.object({ version: z.number().int(), id: z.string(), kind: z.string(), resource: z.string() })

interface QueuesParts {
  redis: Redis
  keys: Keys
  pollIntervalMs: number
  onError: (error: unknown) => void
}

const schedulerId = 'tick'

/** The scheduler is considered dead when its next tick is overdue by three intervals and this time. */
const overdueMs = 2_000

/** Processes that answer people wake requests up, and workers run jobs. The caller closes `redis`. */
export function createQueues({ redis, keys, pollIntervalMs, onError }: QueuesParts) {
  const options = {
    connection: redis as ConnectionOptions,
    prefix: keys.queuePrefix,
    // Jobs only wake requests up. The records say what happened, so no job is kept.
    defaultJobOptions: { removeOnComplete: true, removeOnFail: true, attempts: 1 },
  }
  const wakeUps = new Queue('wake-ups', options)
  const ticks = new Queue('ticks', options)
  for (const queue of [wakeUps, ticks]) queue.on('error', onError)

  /**
   * Never throws. The watchdog of the worker restarts ticks that stopped. A request has one wake-up that is to come, and the last call decides when:
   * each look at a request that waits asks for the next one, and a look that somebody else caused would begin another series of them.
   */
  async function wake({ id, kind, resource }: Parameters<Wake>[0], delayMs = 0): Promise<void> {
    try {
      const data = { version: 1, id, kind, resource } satisfies z.infer<typeof WakeUp>
      await wakeUps.add(kind, data, { delay: delayMs, deduplication: { id, replace: true } })
      if (delayMs < horizonMs) await startTicking()
    } catch (error) {
      onError(error)
    }
  }

  async function startTicking(): Promise<void> {
    const scheduler = await ticks.getJobScheduler(schedulerId)
    // A scheduler can lose its next tick, for example when it is removed and created again at the same moment. Then replace it.
    if (scheduler?.next !== undefined && scheduler.next > Date.now() - pollIntervalMs * 3 - overdueMs) return
    if (scheduler) await stopTicking()
    await ticks.setGlobalConcurrency(1)
    await ticks.upsertJobScheduler(schedulerId, { every: pollIntervalMs }, { name: 'tick' })
  }

  async function restartTicking(): Promise<void> {
    await stopTicking()
    await startTicking()
  }

  async function stopTicking(): Promise<void> {
    await ticks.removeJobScheduler(schedulerId)
  }

  async function close(): Promise<void> {
    await Promise.allSettled([wakeUps.close(), ticks.close()])
  }

  return { pollIntervalMs, wakeUps, ticks, wake, startTicking, restartTicking, stopTicking, close }
}
export type Queues = ReturnType<typeof createQueues>
