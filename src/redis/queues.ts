import { type ConnectionOptions, Queue } from 'bullmq'
import type { Redis } from 'ioredis'
import { z } from 'zod'
import type { Request } from '../domain/request.ts'
import type { Keys } from './key-names.ts'

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
   * Never throws: a tick finds the request. A request has one wake-up that is to come, and the last call decides when: each look at a request that
   * waits asks for the next one, and a look that somebody else caused would begin another series of them.
   */
  async function wake({ id, kind, resource }: Parameters<Wake>[0], delayMs = 0): Promise<void> {
    try {
      const data = { version: 1, id, kind, resource } satisfies z.infer<typeof WakeUp>
      await wakeUps.add(kind, data, { delay: delayMs, deduplication: { id, replace: true } })
    } catch (error) {
      onError(error)
    }
  }

  /**
   * Leaves ticks as they are, and adds the next one if it or its scheduler is gone. `areSilent`: none has run for long, so they begin anew. A process
   * whose clock was ahead may have left a next one that is far away, and BullMQ never brings one nearer.
   */
  async function keepTicking(areSilent = false): Promise<void> {
    if (areSilent) await ticks.removeJobScheduler(schedulerId)
    await ticks.setGlobalConcurrency(1)
    await ticks.upsertJobScheduler(schedulerId, { every: pollIntervalMs })
  }

  async function close(): Promise<void> {
    await Promise.allSettled([wakeUps.close(), ticks.close()])
  }

  return { pollIntervalMs, wakeUps, ticks, wake, keepTicking, close }
}
export type Queues = ReturnType<typeof createQueues>
