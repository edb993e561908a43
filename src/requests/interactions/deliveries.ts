import { randomUUID } from 'node:crypto'
import { claim } from '../../redis/claims.ts'
import type { Redis } from '../../redis/connect.ts'
import type { Keys } from '../../redis/key-names.ts'

/** How long a delivery is remembered. Slack's triggers and signatures expire sooner, so a later repeat is refused anyway. */
const keepMs = 15 * 60_000

/** Creates the check for repeated deliveries, for all replicas. */
export function createDeliveries({ redis, keys }: { redis: Redis; keys: Keys }) {
  /** While Redis does not answer, every delivery counts as the first one. Then only the record prevents a change from being made twice. */
  return async function isFirstDelivery(key: string): Promise<boolean> {
    try {
      return (await claim(redis, keys.delivery(key), { token: randomUUID(), lastsMs: keepMs })) === undefined
    } catch {
      return true
    }
  }
}
