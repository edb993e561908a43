import { randomUUID } from 'node:crypto'
import type { RedisFault } from '../../redis/check.ts'
import { guardStore, type Redis } from '../../redis/connect.ts'
import type { Keys } from '../../redis/key-names.ts'
import { safeRedis, unsafeRedis } from '../messages/operator-notices.ts'
import type { NotifyOperators } from '../outbox/notify-operators.ts'

interface RedisWatchParts {
  redis: Redis
  keys: Keys
  /** Returns the settings with which Redis could lose requests. */
  findFaults: () => Promise<RedisFault[]>
  notifyOperators: NotifyOperators
  /** Called after each check with the number of faults. */
  onFaults: (count: number) => void
}

/**
 * Creates the watch over the settings of Redis, which can change while Lockkeeper runs: by a person, or when a replica with other settings
 * takes over. All processes together notify the operators once when a fault begins, and once when the last one is mended.
 */
export function createRedisWatch({ redis, keys, findFaults, notifyOperators, onFaults }: RedisWatchParts) {
  let known: string | undefined

  /** Checks the settings. Throws StoreUnavailableError if Redis does not answer. */
  async function check(): Promise<void> {
    const faults = await findFaults()
    onFaults(faults.length)
    const codes = faults.map(({ code }) => code).join()
    if (codes === known) return
    const before = (await takeNotice(codes)) ?? known ?? ''
    known = codes
    if (before === codes) return
    // Each change has a notice of its own, even within an hour.
    const about = randomUUID()
    if (codes === '') await notifyOperators('redis-unsafe', safeRedis, { about, level: 'info' })
    else await notifyOperators('redis-unsafe', unsafeRedis(faults.map(({ words }) => words)), { about })
  }

  /**
   * Records in Redis that this process notifies the operators. Returns of what they were notified before. The client sends a command again
   * when its connection breaks: a command that finds its own token was sent twice.
   */
  async function takeNotice(codes: string): Promise<string | undefined> {
    const token = randomUUID()
    const [before, tokenBefore] = (await guardStore(() => redis.set(keys.redisFaults, `${codes} ${token}`, 'GET')))?.split(' ') ?? []
    return tokenBefore === token ? undefined : before
  }

  return { check }
}
export type RedisWatch = ReturnType<typeof createRedisWatch>
