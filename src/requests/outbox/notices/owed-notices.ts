import type { ErrorCode } from '../../../domain/errors/error-code.ts'
import type { Keyring } from '../../../domain/signing/keyring.ts'
import { guardStore, type Redis } from '../../../redis/connect.ts'
import type { Keys } from '../../../redis/key-names.ts'
import type { Message } from '../../../slack/web-api/messenger.ts'

/** How long a notice is owed, in ms. Operators don't need an older one, and nobody can put it back later. */
const owedMs = 24 * 3_600_000

/** `info`: a problem has ended. */
export type NoticeLevel = 'info' | 'warn' | 'error'

/** A notice in its final words, because what it is about may be gone when it is sent, and any release can send it. */
export interface OwedNotice {
  code: ErrorCode
  level: NoticeLevel
  requestId?: string
  message: Message
  /** When it was first owed, in ms since 1970. */
  at: number
}

/** The field of a notice and its value, for a script that also records what the notice is about. Both are '' if nobody gets notices. */
export type NoticeDraft = [field: string, value: string]

interface OwedNoticesParts {
  redis: Redis
  keys: Keys
  /** Signs the notices. Somebody who can write to Redis would make Lockkeeper post their words. */
  keyring: Keyring
}

/** Creates the notices in Redis that the channel of the operators has not got yet. Another process posts them if this one dies. */
export function createOwedNotices({ redis, keys, keyring }: OwedNoticesParts) {
  function draftOf(key: string, notice: OwedNotice): NoticeDraft {
    return [key, `${keyring.sign({ signed: 'owed-notice', key, notice })} ${JSON.stringify(notice)}`]
  }

  async function keep(key: string, notice: OwedNotice): Promise<void> {
    await guardStore(() => redis.hset(keys.owedNotices, ...draftOf(key, notice)))
  }

  async function drop(key: string): Promise<void> {
    await guardStore(() => redis.hdel(keys.owedNotices, key))
  }

  /** Drops a notice and sets its mark in one step. A process that dies in between would leave a notice that is posted again. */
  async function settle(key: string, mark: string, lastsMs: number): Promise<void> {
    await guardStore(() => redis.multi().set(keys.notice(key), mark, 'PX', lastsMs).hdel(keys.owedNotices, key).exec())
  }

  /** Returns the notices that are owed. Drops those that are too old, and those that Lockkeeper did not write. */
  async function list(): Promise<Map<string, OwedNotice>> {
    const found = new Map<string, OwedNotice>()
    for (const [key, value] of Object.entries(await guardStore(() => redis.hgetall(keys.owedNotices)))) {
      const notice = read(key, value)
      if (notice === 'unknown-key') continue
      if (notice && Math.abs(Date.now() - notice.at) < owedMs) found.set(key, notice)
      else await drop(key)
    }
    return found
  }

  /** A deployment may bring an unknown key. */
  function read(key: string, value: string): OwedNotice | 'unknown-key' | undefined {
    const end = value.indexOf(' ')
    try {
      const notice = JSON.parse(value.slice(end + 1)) as OwedNotice
      const verdict = keyring.verify({ signed: 'owed-notice', key, notice }, value.slice(0, end))
      if (verdict === 'unknown-key') return verdict
      return verdict === 'genuine' ? notice : undefined
    } catch {
      return undefined
    }
  }

  return { draftOf, keep, drop, settle, list }
}
export type OwedNotices = ReturnType<typeof createOwedNotices>
