import type { Redis } from '../../redis/connect.ts'
import { guardStore } from '../../redis/connect.ts'
import type { Keys } from '../../redis/key-names.ts'

/** How long a worker that does nothing is kept in the list of workers. */
const keepWorkersMs = 24 * 3_600_000

/** Stands for the workers that have stopped, until the next worker is noted. Otherwise no worker would be seen during a restart. */
const ended = 'ended'

interface HeartbeatsParts {
  redis: Redis
  keys: Keys
  /** Redis' clock, in ms since 1970. */
  now: () => Promise<number>
}

/** Creates the marks of running ticks and workers, for all replicas. They throw StoreUnavailableError if Redis does not answer. */
export function createHeartbeats({ redis, keys, now }: HeartbeatsParts) {
  async function noteTick(): Promise<void> {
    const at = await now()
    await guardStore(() => redis.set(keys.lastTick, String(at)))
  }

  /** Returns the age of the last tick of any replica in ms, or Infinity if there was none. */
  async function sinceLastTickMs(): Promise<number> {
    const at = await guardStore(() => redis.get(keys.lastTick))
    return at === null ? Number.POSITIVE_INFINITY : (await now()) - Number(at)
  }

  async function noteWorker(name: string): Promise<void> {
    const at = await now()
    await guardStore(() => redis.zadd(keys.workers, String(at), name))
    await guardStore(() => redis.zrem(keys.workers, ended))
    await guardStore(() => redis.zremrangebyscore(keys.workers, '-inf', String(at - keepWorkersMs)))
  }

  /** Takes a worker that has stopped from the list. */
  async function noteWorkerEnd(name: string): Promise<void> {
    const at = await now()
    await guardStore(() => redis.multi().zadd(keys.workers, String(at), ended).zrem(keys.workers, name).exec())
  }

  /** Counts the workers that were noted within the last `withinMs`. */
  async function workersSeen(withinMs: number): Promise<number> {
    return guardStore(async () => redis.zcount(keys.workers, String((await now()) - withinMs), '+inf'))
  }

  /** Returns when a worker was noted last, in ms since 1970 by Redis' clock. 0: never. */
  async function lastWorkerAt(): Promise<number> {
    const [, at = '0'] = await guardStore(() => redis.zrange(keys.workers, '-1', '-1', 'WITHSCORES'))
    return Number(at)
  }

  return { noteTick, sinceLastTickMs, noteWorker, noteWorkerEnd, workersSeen, lastWorkerAt }
}
