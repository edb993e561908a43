import { randomUUID } from 'node:crypto'
import type { Keyring } from '../../../domain/signing/keyring.ts'
import { claim } from '../../../redis/claims.ts'
import type { Redis } from '../../../redis/connect.ts'
import type { Keys } from '../../../redis/key-names.ts'
import { createScripts } from '../../../redis/scripts.ts'
import type { Messenger } from '../../../slack/web-api/messenger.ts'
import { createNoticeMarks, quietMs } from './notice-marks.ts'
import type { OwedNotice, OwedNotices } from './owed-notices.ts'
import { createPostNotice, type Tried } from './post-notice.ts'

/** Longer than a search and a post in Slack can take. So if a claim has expired, its process has died. */
const claimMs = 15_000

/** The waits between the tries. After about an hour only the log has the problem. */
const usualWaitsMs = [5_000, 30_000, ...Array<number>(59).fill(60_000)]

/** From this try on, what holds the mark is no process: its claim would have run out. */
const triesOfClaim = 2

export interface NoticeTriesParts {
  redis: Redis
  keys: Keys
  messenger: Pick<Messenger, 'post' | 'find'>
  channelId: string
  /** Signs the marks of problems that the operators were notified of. Somebody who can write to Redis would set them, to hide what they change. */
  keyring: Keyring
  owed: Pick<OwedNotices, 'keep' | 'drop' | 'settle'>
  /** Receives the failure of the first try, and that of the last. The other tries would flood the log. */
  onError: (error: unknown) => void
  /** In ms; shorter in tests. */
  waitsMs?: number[]
}

/** A notice on its way. `isUnsure`: an earlier try may have posted it. */
interface Sending {
  key: string
  notice: OwedNotice
  isUnsure: boolean
}

/**
 * Creates the tries of posting notices. Each notice is posted again and again until Slack has it. A process that finds another one at work
 * tries again later, too, because the other one may die before Slack has the notice.
 */
export function createNoticeTries({ redis, keys, messenger, channelId, keyring, owed, onError, waitsMs = usualWaitsMs }: NoticeTriesParts) {
  const run = createScripts(redis)
  const postNotice = createPostNotice(messenger)
  const { markOf, isMark } = createNoticeMarks(keyring)
  /** The notices that this process is sending, by key, each with the timer of its next try. */
  const sending = new Map<string, NodeJS.Timeout | undefined>()
  /** The notices that are posted, but still owed: Redis refused to record it. */
  const posted = new Set<string>()
  let stopped = false

  function isSending(key: string): boolean {
    return sending.has(key)
  }

  /** Whether this process has posted a notice that is still owed, because Redis refused to record it. */
  function isPosted(key: string): boolean {
    return posted.has(key)
  }

  /** Keeps a new notice in Redis, and begins to post it. Resolves once Redis has it, or does not answer. Never throws. */
  async function begin(key: string, notice: OwedNotice): Promise<{ firstTry: Promise<void> }> {
    sending.set(key, undefined)
    posted.delete(key)
    // While Redis is away, the notice is only in this process.
    await owed.keep(key, notice).catch(() => undefined)
    return { firstTry: tryFrom(0, { key, notice, isUnsure: false }) }
  }

  /** Begins to post a notice that another process has left. Resolves after the first try. Never throws. */
  async function takeOver(key: string, notice: OwedNotice): Promise<void> {
    sending.set(key, undefined)
    await tryFrom(0, { key, notice, isUnsure: true })
  }

  async function tryFrom(tries: number, one: Sending): Promise<void> {
    const { key } = one
    const tried = await tryOnce(one, tries)
    const waitMs = waitsMs[tries]
    if (tried.problem && waitMs === undefined)
      onError(new Error(`could not notify the operators' channel, and stopped trying: ${tried.problem}`))
    else if (tried.problem && tries === 0) onError(new Error(`could not notify the operators' channel yet: ${tried.problem}`))
    if (!tried.isOver && waitMs === undefined) await owed.drop(key).catch(() => undefined)
    if (tried.isOver || waitMs === undefined || stopped) return void sending.delete(key)
    const again = { ...one, isUnsure: one.isUnsure || tried.isUnsure === true }
    const next = setTimeout(() => void tryFrom(tries + 1, again), Math.min(Math.max(waitMs, tried.retryInMs ?? 0), quietMs))
    sending.set(key, next.unref())
  }

  /** Without a `problem`, another process is notifying the operators, or they are notified. */
  async function tryOnce(one: Sending, tries: number): Promise<Tried> {
    const { key } = one
    const mark = keys.notice(key)
    const token = randomUUID()
    // While Redis is away, every process notifies.
    const holder = await claim(redis, mark, { token, lastsMs: claimMs }).catch(() => undefined)
    if (holder !== undefined && isMark(key, holder)) {
      await owed.drop(key).catch(() => undefined)
      return { isOver: true }
    }
    if (holder !== undefined && tries < triesOfClaim) return { isOver: false }
    const tried = await postNotice({ ...one, channelId, tries })
    if (tried.isOver) await settle(key)
    else await run('release', [mark], [token]).catch(() => undefined)
    return tried
  }

  /** Records that a notice is posted. While Redis refuses that, only this process knows it, and must not post the notice again. Never throws. */
  async function settle(key: string): Promise<void> {
    posted.add(key)
    await owed.settle(key, markOf(key), quietMs).then(
      () => posted.delete(key),
      () => undefined,
    )
  }

  /** Ends all tries. The next process posts what is still owed. */
  function stop(): void {
    stopped = true
    for (const timer of sending.values()) clearTimeout(timer)
    sending.clear()
  }

  return { isSending, isPosted, begin, takeOver, settle, stop }
}
