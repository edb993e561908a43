import { randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'
import type { Keys } from './keys.ts'
import { guardStore } from './redis.ts'

/** Slack's triggers and signatures are long dead by then. */
const rememberMs = 15 * 60_000

/** Remembers which acts of people were delivered, for all replicas. */
export function createDeliveries({ redis, keys }: { redis: Redis; keys: Keys }) {
  /**
   * `SET NX GET` and not `SET NX`: the command may be sent twice when its connection breaks, and then finds its own token.
   * While Redis is away every delivery counts as the first: what it changes is guarded by the records themselves.
   */
  return async function isFirstDelivery(key: string): Promise<boolean> {
    const token = randomUUID()
    try {
      const holder = await guardStore(() => redis.set(keys.delivery(key), token, 'PX', rememberMs, 'NX', 'GET'))
      return holder === null || holder === token
    } catch {
      return true
    }
  }
}
