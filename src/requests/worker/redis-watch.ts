import { randomUUID } from 'node:crypto'
import type { ErrorCode } from '../../domain/errors/error-code.ts'
import { StoreUnavailableError } from '../../domain/errors/errors.ts'
import { writeRefusalOf } from '../../domain/errors/write-refusal.ts'
import type { Keyring } from '../../domain/signing/keyring.ts'
import type { RedisFault } from '../../redis/check.ts'
import { guardStore, type Redis } from '../../redis/connect.ts'
import type { Keys } from '../../redis/key-names.ts'
import { createScripts, readScripts } from '../../redis/scripts.ts'
import { notice } from '../../slack/blocks/notice.ts'
import type { Mrkdwn } from '../../slack/text/text.ts'
import { refusingRedis, safeRedis, unsafeRedis } from '../messages/operator-notices.ts'
import type { NotifyOperators } from '../outbox/notices/notify-operators.ts'

const scripts = readScripts(import.meta.url, ['replace-faults'])

/**
 * Redis must take writes for this long before that is reported. At its memory limit it takes some and refuses others, and each change would
 * be reported.
 */
const usualCalmMs = 60_000

interface RedisWatchParts {
  redis: Redis
  keys: Keys
  /** Returns what is wrong with Redis. */
  findFaults: () => Promise<RedisFault[]>
  /** Signs what the operators were notified of. Somebody who can write to Redis would set it, to hide that keys are evicted. */
  keyring: Keyring
  operators: Pick<NotifyOperators, 'notify' | 'draft' | 'isOwed'>
  log: { warn: (fields: { code: ErrorCode }, text: string) => void }
  /** Called after each check with what is wrong. */
  onFaults: (faults: Pick<RedisFault, 'code'>[]) => void
  /** In ms; shorter in tests. */
  calmMs?: number
}

/**
 * Creates the watch over Redis: over its settings, which a person can change or a replica with other ones that takes over, and whether it
 * takes writes. The operators get one notice from all processes when a fault begins, and one when the last fault is corrected. While Redis
 * refuses writes, no process can record its notice, so each one posts it.
 */
export function createRedisWatch({ redis, keys, findFaults, keyring, operators, log, onFaults, calmMs = usualCalmMs }: RedisWatchParts) {
  const run = createScripts(redis, scripts)
  let known: string | undefined
  /** The record that Redis had when it refused to replace it. As long as it has this one, no process has recorded what is known. */
  let unreplaced: string | undefined
  let lastRefusedAt = Number.NEGATIVE_INFINITY

  /** Checks Redis. Throws StoreUnavailableError if it does not answer. */
  async function check(): Promise<void> {
    const faults = await findFaults()
    onFaults(faults)
    if (faults.some(refusesWrites)) lastRefusedAt = performance.now()
    else if (performance.now() - lastRefusedAt < calmMs) return
    const codes = faults.map(({ code }) => code).join()
    if (codes === known) return
    const record = (await guardStore(() => redis.get(keys.redisFaults))) ?? ''
    const recorded = (record === unreplaced ? undefined : codesIn(record)) ?? known ?? ''
    if (recorded !== codes) return recordAndNotify(record, codes, faults)
    unreplaced = undefined
    known = codes
    // Another process notifies the channel. The log has it in any case.
    if (codes !== '') log.warn({ code: 'redis-unsafe' }, notice(wordsOf(faults)).text)
  }

  /** Records the faults and keeps their notice in one step. If another process was faster, the next check compares again. */
  async function recordAndNotify(record: string, codes: string, faults: RedisFault[]): Promise<void> {
    // Nobody should read that Redis is safe again, and after that the notice of the fault that is over. The next check compares again.
    const [, before = ''] = record.split(' ')
    if (await operators.isOwed('redis-unsafe', before)) return
    const token = randomUUID()
    const next = [codes, token, keyring.sign({ signed: 'redis-faults', codes, token })].join(' ')
    const words = codes === '' ? safeRedis : wordsOf(faults)
    // A new subject for each change, because the same notice is posted only once an hour.
    const options = { about: token, level: codes === '' ? 'info' : 'error' } as const
    const draft = operators.draft('redis-unsafe', words, options)
    const outcome = await replace([record, next, ...draft])
    if (outcome === 'changed') return
    known = codes
    unreplaced = outcome === 'refused' ? record : undefined
    await operators.notify('redis-unsafe', words, options)
  }

  async function replace(values: string[]): Promise<'replaced' | 'changed' | 'refused'> {
    try {
      const [outcome] = await run('replace-faults', [keys.redisFaults, keys.owedNotices], values)
      return outcome === 'replaced' ? 'replaced' : 'changed'
    } catch (error) {
      if (error instanceof StoreUnavailableError && writeRefusalOf(error.code)) return 'refused'
      throw error
    }
  }

  /** Returns the faults that the operators were notified of. Returns undefined if Lockkeeper did not write the record. */
  function codesIn(record: string): string | undefined {
    const [codes = '', token = '', signature] = record.split(' ')
    return keyring.verify({ signed: 'redis-faults', codes, token }, signature) === 'genuine' ? codes : undefined
  }

  return { check }
}
export type RedisWatch = ReturnType<typeof createRedisWatch>

function wordsOf(faults: RedisFault[]): Mrkdwn {
  const sentences = faults.map(({ words }) => words)
  return faults.some(refusesWrites) ? refusingRedis(sentences) : unsafeRedis(sentences)
}

function refusesWrites({ code }: RedisFault): boolean {
  return code === 'refuses-writes'
}
