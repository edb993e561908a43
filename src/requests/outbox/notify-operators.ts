import { randomUUID } from 'node:crypto'
import type { ErrorCode } from '../../domain/errors/error-code.ts'
import { createRepeats } from '../../domain/repeats.ts'
import type { Keyring } from '../../domain/signing/keyring.ts'
import { claim } from '../../redis/claims.ts'
import type { Redis } from '../../redis/connect.ts'
import type { Keys } from '../../redis/key-names.ts'
import { createScripts } from '../../redis/scripts.ts'
import { notice } from '../../slack/blocks/notice.ts'
import { code as inCode, joinMrkdwn, type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'
import type { Messenger } from '../../slack/web-api/messenger.ts'
import { createNoticeMarks, quietMs } from './notice-marks.ts'
import { createOwedNotices, type NoticeDraft, type NoticeLevel, type OwedNotice } from './owed-notices.ts'
import { createPostNotice, type Tried } from './post-notice.ts'

/** Longer than a search and a post in Slack can take. So if a claim has expired, its process has died. */
const claimMs = 15_000

/** A notice that is owed for this long was left by a process that died, or whose tries have ended. It may read the account first. */
const usualLeftAfterMs = 20_000

/** The waits between the tries. After about an hour only the log has the problem. */
const usualWaitsMs = [5_000, 30_000, ...Array<number>(59).fill(60_000)]

/** From this try on, what holds the mark is no process: its claim would have run out. */
const triesOfClaim = 2

interface NoticeOptions {
  requestId?: string
  /** What the problem is about: a second notice with the same code and subject is a repeat. By default the request. */
  about?: string
  /** The level of the log line. */
  level?: NoticeLevel
}

interface NotifyOperatorsParts {
  redis: Redis
  keys: Keys
  messenger: Pick<Messenger, 'post' | 'find'>
  channelId: string | undefined
  /** Signs the marks of problems that the operators were notified of. Somebody who can write to Redis would set them, to hide what they change. */
  keyring: Keyring
  log: Record<NoticeLevel, (fields: { code: ErrorCode; requestId?: string; repeats?: number }, text: string) => void>
  /** Receives the failure of the first try, and that of the last. The other tries would flood the log. */
  onError: (error: unknown) => void
  /** In ms; shorter in tests. */
  waitsMs?: number[]
  leftAfterMs?: number
}

/** A notice on its way. `isUnsure`: an earlier try may have posted it. */
interface Sending {
  key: string
  channelId: string
  notice: OwedNotice
  isUnsure: boolean
}

/**
 * Creates the notices to the channel of operators. Each is logged, kept in Redis, and posted again and again until Slack has it. A process
 * that finds another one at work tries again later, too, because the other one may die before Slack has the notice.
 */
export function createNotifyOperators({
  redis,
  keys,
  messenger,
  channelId,
  keyring,
  log,
  onError,
  waitsMs = usualWaitsMs,
  leftAfterMs = usualLeftAfterMs,
}: NotifyOperatorsParts) {
  const run = createScripts(redis)
  const owed = createOwedNotices({ redis, keys, keyring })
  const postNotice = createPostNotice(messenger)
  const repeats = createRepeats()
  const { markOf, isMark } = createNoticeMarks(keyring)
  /** The notices that this process is sending, by key, each with the timer of its next try. */
  const sending = new Map<string, NodeJS.Timeout | undefined>()
  /** The notices that are posted, but still owed: Redis refused to record it. */
  const posted = new Set<string>()
  let stopped = false

  /**
   * Logs a notice, keeps it in Redis, and begins to post it. Resolves once Redis has it, or does not answer. Never throws. Call it before a
   * step after which nobody would find the problem again: if this process dies, another one posts the notice.
   */
  async function owe(code: ErrorCode, words: Mrkdwn, options: NoticeOptions = {}): Promise<void> {
    await begin(code, words, options)
  }

  /** Does the same, and resolves after the first try. The notice names its code, by which people find out what to do. */
  async function notify(code: ErrorCode, words: Mrkdwn, options: NoticeOptions = {}): Promise<void> {
    await (await begin(code, words, options)).firstTry
  }

  async function begin(code: ErrorCode, words: Mrkdwn, options: NoticeOptions): Promise<{ firstTry?: Promise<void> }> {
    const key = keyOf(code, options)
    const notice = noticeOf(code, words, options)
    repeats.note(key, { report: (count) => write(notice, textOf(words), count) })
    if (!channelId || sending.has(key)) return {}
    sending.set(key, undefined)
    posted.delete(key)
    // While Redis is away, the notice is only in this process.
    await owed.keep(key, notice).catch(() => undefined)
    return { firstTry: tryFrom(0, { key, channelId, notice, isUnsure: false }) }
  }

  function write({ code, level, requestId }: OwedNotice, text: string, count: number): void {
    log[level]({ code, ...(requestId === undefined ? {} : { requestId }), ...(count > 0 ? { repeats: count } : {}) }, text)
  }

  /** Keeps a notice in Redis without posting it, for a caller that still reads what belongs to it. Throws StoreUnavailableError. */
  async function keep(code: ErrorCode, words: Mrkdwn, options: NoticeOptions): Promise<void> {
    if (channelId) await owed.keep(keyOf(code, options), noticeOf(code, words, options))
  }

  /** Makes what `keep` stores, for a script that records the problem in the same step. */
  function draft(code: ErrorCode, words: Mrkdwn, options: NoticeOptions): NoticeDraft {
    return channelId ? owed.draftOf(keyOf(code, options), noticeOf(code, words, options)) : ['', '']
  }

  /** Posts the notices that processes have left which died. Resolves after the first try of each. Throws StoreUnavailableError. */
  async function resume(): Promise<void> {
    const left = [...(await owed.list())].filter(([, { at }]) => Math.abs(Date.now() - at) >= leftAfterMs)
    await Promise.all(left.map(([key, notice]) => takeOver(key, notice)))
  }

  /** Posts a notice that another process may have left, however new it is. Returns whether it is still owed. Throws StoreUnavailableError. */
  async function isOwed(code: ErrorCode, about: string): Promise<boolean> {
    const key = keyOf(code, { about })
    const notice = (await owed.list()).get(key)
    if (!channelId || !notice) return false
    await takeOver(key, notice)
    return !posted.has(key) && (await owed.list()).has(key)
  }

  async function takeOver(key: string, notice: OwedNotice): Promise<void> {
    if (!channelId || sending.has(key)) return
    if (posted.has(key)) return settle(key)
    sending.set(key, undefined)
    write(notice, notice.message.text, 0)
    await tryFrom(0, { key, channelId, notice, isUnsure: true })
  }

  async function tryFrom(tries: number, one: Sending): Promise<void> {
    const { key } = one
    const tried = await notifyOnce(one, tries)
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
  async function notifyOnce(one: Sending, tries: number): Promise<Tried> {
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
    const tried = await postNotice({ ...one, tries })
    if (tried.isOver) await settle(key)
    else await run('release', [mark], [token]).catch(() => undefined)
    return tried
  }

  /** Records that a notice is posted. While Redis refuses that, only this process knows it, and must not post the notice again. */
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
    repeats.flush()
  }

  return { notify, owe, keep, draft, resume, isOwed, stop }
}
export type NotifyOperators = ReturnType<typeof createNotifyOperators>

function keyOf(code: ErrorCode, { requestId, about = requestId }: NoticeOptions): string {
  return about === undefined ? code : `${code}:${about}`
}

function textOf(words: Mrkdwn): string {
  return notice(words).text
}

function noticeOf(code: ErrorCode, words: Mrkdwn, { requestId, level = 'error' }: NoticeOptions): OwedNotice {
  const message = notice(joinMrkdwn([words, mrkdwn`More: ${inCode(code)} in docs/alerts-and-errors.md.`], ' '))
  return { code, level, ...(requestId === undefined ? {} : { requestId }), message, at: Date.now() }
}
