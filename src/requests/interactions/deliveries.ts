import { randomUUID } from 'node:crypto'
import { claim } from '../../redis/claims.ts'
import type { Redis } from '../../redis/connect.ts'
import type { Keys } from '../../redis/key-names.ts'

/** Slack's triggers and signatures have expired by then. */
const rememberMs = 15 * 60_000

/** Remembers for all replicas what was delivered. */
export function createDeliveries({ redis, keys }: { redis: Redis; keys: Keys }) {
  /** While Redis is away every delivery counts as the first: what it changes is guarded by the records themselves. */
  return async function isFirstDelivery(key: string): Promise<boolean> {
    try {
      return (await claim(redis, keys.delivery(key), { token: randomUUID(), lastsMs: rememberMs })) === undefined
    } catch {
      return true
    }
  }
}
