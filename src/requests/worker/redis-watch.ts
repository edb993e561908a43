import { randomUUID } from 'node:crypto'
import type { ErrorCode } from '../../domain/errors/error-code.ts'
import type { Keyring } from '../../domain/signing/keyring.ts'
import type { RedisFault } from '../../redis/check.ts'
import { guardStore, type Redis } from '../../redis/connect.ts'
import type { Keys } from '../../redis/key-names.ts'
import { notice } from '../../slack/blocks/notice.ts'
import { safeRedis, unsafeRedis } from '../messages/operator-notices.ts'
import type { NotifyOperators } from '../outbox/notify-operators.ts'

interface RedisWatchParts {
  redis: Redis
  keys: Keys
  /** Returns the settings with which Redis could lose requests. */
  findFaults: () => Promise<RedisFault[]>
  /** Signs what the operators were notified of. Somebody who can write to Redis would set it, to hide that keys are evicted. */
  keyring: Keyring
  notifyOperators: NotifyOperators
  log: { warn: (fields: { code: ErrorCode }, text: string) => void }
  /** Called after each check with the number of faults. */
  onFaults: (count: number) => void
}

/**
 * Creates the watch over the settings of Redis, which can change while Lockkeeper runs: by a person, or when a replica with other settings
 * takes over. The operators get one notice from all processes when a fault begins, and one when the last fault is corrected.
 */
export function createRedisWatch({ redis, keys, findFaults, keyring, notifyOperators, log, onFaults }: RedisWatchParts) {
  let known: string | undefined

  /** Checks the settings. Throws StoreUnavailableError if Redis does not answer. */
  async function check(): Promise<void> {
    const faults = await findFaults()
    onFaults(faults.length)
    const codes = faults.map(({ code }) => code).join()
    if (codes === known) return
    const before = (await takeNotice(codes)) ?? known ?? ''
    known = codes
    const words = unsafeRedis(faults.map((fault) => fault.words))
    if (before === codes) {
      // Another process notifies the channel. The log has it in any case.
      if (codes !== '') log.warn({ code: 'redis-unsafe' }, notice(words).text)
      return
    }
    // A new subject for each change, because the same notice is posted only once an hour.
    const about = randomUUID()
    if (codes === '') await notifyOperators('redis-unsafe', safeRedis, { about, level: 'info' })
    else await notifyOperators('redis-unsafe', words, { about })
  }

  /**
   * Records in Redis that this process notifies the operators. Returns of what they were notified before. The client sends a command again
   * when its connection breaks: a command that finds its own token was sent twice.
   */
  async function takeNotice(codes: string): Promise<string | undefined> {
    const token = randomUUID()
    const signature = keyring.sign({ signed: 'redis-faults', codes, token })
    const value = await guardStore(() => redis.set(keys.redisFaults, [codes, token, signature].join(' '), 'GET'))
    const [before = '', tokenBefore = '', signatureBefore] = value?.split(' ') ?? []
    const isGenuine = keyring.verify({ signed: 'redis-faults', codes: before, token: tokenBefore }, signatureBefore) === 'genuine'
    return isGenuine && tokenBefore !== token ? before : undefined
  }

  return { check }
}
export type RedisWatch = ReturnType<typeof createRedisWatch>
