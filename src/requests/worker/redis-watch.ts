import { randomUUID } from 'node:crypto'
import type { ErrorCode } from '../../domain/errors/error-code.ts'
import type { Keyring } from '../../domain/signing/keyring.ts'
import type { RedisFault } from '../../redis/check.ts'
import { guardStore, type Redis } from '../../redis/connect.ts'
import type { Keys } from '../../redis/key-names.ts'
import { createScripts, readScripts } from '../../redis/scripts.ts'
import { notice } from '../../slack/blocks/notice.ts'
import { safeRedis, unsafeRedis } from '../messages/operator-notices.ts'
import type { NotifyOperators } from '../outbox/notify-operators.ts'

const scripts = readScripts(import.meta.url, ['replace-faults'])

interface RedisWatchParts {
  redis: Redis
  keys: Keys
  /** Returns the settings with which Redis could lose requests. */
  findFaults: () => Promise<RedisFault[]>
  /** Signs what the operators were notified of. Somebody who can write to Redis would set it, to hide that keys are evicted. */
  keyring: Keyring
  operators: Pick<NotifyOperators, 'notify' | 'draft' | 'isOwed'>
  log: { warn: (fields: { code: ErrorCode }, text: string) => void }
  /** Called after each check with the number of faults. */
  onFaults: (count: number) => void
}

/**
 * Creates the watch over the settings of Redis, which can change while Lockkeeper runs: by a person, or when a replica with other settings
 * takes over. The operators get one notice from all processes when a fault begins, and one when the last fault is corrected.
 */
export function createRedisWatch({ redis, keys, findFaults, keyring, operators, log, onFaults }: RedisWatchParts) {
  const run = createScripts(redis, scripts)
  let known: string | undefined

  /** Checks the settings. Throws StoreUnavailableError if Redis does not answer. */
  async function check(): Promise<void> {
    const faults = await findFaults()
    onFaults(faults.length)
    const codes = faults.map(({ code }) => code).join()
    if (codes === known) return
    const record = (await guardStore(() => redis.get(keys.redisFaults))) ?? ''
    const recorded = codesIn(record) ?? known ?? ''
    if (recorded !== codes) return recordAndNotify(record, codes, faults)
    known = codes
    // Another process notifies the channel. The log has it in any case.
    if (codes !== '') log.warn({ code: 'redis-unsafe' }, notice(unsafeRedis(wordsOf(faults))).text)
  }

  /** Records the faults and keeps their notice in one step. If another process was faster, the next check compares again. */
  async function recordAndNotify(record: string, codes: string, faults: RedisFault[]): Promise<void> {
    // Nobody should read that Redis is safe again, and after that the notice of the fault that is over. The next check compares again.
    const [, before = ''] = record.split(' ')
    if (await operators.isOwed('redis-unsafe', before)) return
    const token = randomUUID()
    const next = [codes, token, keyring.sign({ signed: 'redis-faults', codes, token })].join(' ')
    const words = codes === '' ? safeRedis : unsafeRedis(wordsOf(faults))
    // A new subject for each change, because the same notice is posted only once an hour.
    const options = { about: token, level: codes === '' ? 'info' : 'error' } as const
    const draft = operators.draft('redis-unsafe', words, options)
    const [outcome] = await run('replace-faults', [keys.redisFaults, keys.owedNotices], [record, next, ...draft])
    if (outcome !== 'replaced') return
    known = codes
    await operators.notify('redis-unsafe', words, options)
  }

  /** Returns the faults that the operators were notified of. Returns undefined if Lockkeeper did not write the record. */
  function codesIn(record: string): string | undefined {
    const [codes = '', token = '', signature] = record.split(' ')
    return keyring.verify({ signed: 'redis-faults', codes, token }, signature) === 'genuine' ? codes : undefined
  }

  return { check }
}
export type RedisWatch = ReturnType<typeof createRedisWatch>

function wordsOf(faults: RedisFault[]): string[] {
  return faults.map(({ words }) => words)
}
