import type { ErrorCode } from '../../../domain/errors/error-code.ts'
import { createRepeats } from '../../../domain/repeats.ts'
import { notice } from '../../../slack/blocks/notice.ts'
import { code as inCode, joinMrkdwn, type Mrkdwn, mrkdwn } from '../../../slack/text/text.ts'
import { createNoticeTries, type NoticeTriesParts } from './notice-tries.ts'
import { createOwedNotices, type NoticeDraft, type NoticeLevel, type OwedNotice } from './owed-notices.ts'

/** A notice that is owed for this long was left by a process that died, or whose tries have ended. It may read the account first. */
const usualLeftAfterMs = 20_000

interface NoticeOptions {
  requestId?: string
  /** What the problem is about: a second notice with the same code and subject is a repeat. By default the request. */
  about?: string
  /** The level of the log line. */
  level?: NoticeLevel
}

interface NotifyOperatorsParts extends Omit<NoticeTriesParts, 'channelId' | 'owed'> {
  /** Without a channel, notices are only logged. */
  channelId: string | undefined
  log: Record<NoticeLevel, (fields: { code: ErrorCode; requestId?: string; repeats?: number }, text: string) => void>
  /** In ms; shorter in tests. */
  leftAfterMs?: number
}

/** Creates the notices to the channel of operators. Each is logged, kept in Redis, and posted until Slack has it. */
export function createNotifyOperators({ channelId, log, leftAfterMs = usualLeftAfterMs, ...parts }: NotifyOperatorsParts) {
  const owed = createOwedNotices(parts)
  const tries = channelId ? createNoticeTries({ ...parts, channelId, owed }) : undefined
  const repeats = createRepeats()

  /**
   * Logs a notice, keeps it in Redis, and begins to post it. Resolves once Redis has it, or does not answer. Never throws. Call it before a
   * step after which nobody would find the problem again: if this process dies, another one posts the notice.
   */
  async function owe(code: ErrorCode, words: Mrkdwn, options: NoticeOptions = {}): Promise<void> {
    await begin(code, words, options)
  }

  /** Does the same, and resolves after the first try. The notice names its code, by which people find out what to do. */
  async function notify(code: ErrorCode, words: Mrkdwn, options: NoticeOptions = {}): Promise<void> {
    await (await begin(code, words, options))?.firstTry
  }

  async function begin(code: ErrorCode, words: Mrkdwn, options: NoticeOptions): Promise<{ firstTry: Promise<void> } | undefined> {
    const key = keyOf(code, options)
    const notice = noticeOf(code, words, options)
    repeats.note(key, { report: (count) => write(notice, textOf(words), count) })
    return tries?.isSending(key) ? undefined : tries?.begin(key, notice)
  }

  function write({ code, level, requestId }: OwedNotice, text: string, count: number): void {
    log[level]({ code, ...(requestId === undefined ? {} : { requestId }), ...(count > 0 ? { repeats: count } : {}) }, text)
  }

  /** Keeps a notice in Redis without posting it, for a caller that still reads what belongs to it. Throws StoreUnavailableError. */
  async function keep(code: ErrorCode, words: Mrkdwn, options: NoticeOptions): Promise<void> {
    if (tries) await owed.keep(keyOf(code, options), noticeOf(code, words, options))
  }

  /** Makes what `keep` stores, for a script that records the problem in the same step. */
  function draft(code: ErrorCode, words: Mrkdwn, options: NoticeOptions): NoticeDraft {
    return tries ? owed.draftOf(keyOf(code, options), noticeOf(code, words, options)) : ['', '']
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
    if (!tries || !notice) return false
    await takeOver(key, notice)
    return !tries.isPosted(key) && (await owed.list()).has(key)
  }

  async function takeOver(key: string, notice: OwedNotice): Promise<void> {
    if (!tries || tries.isSending(key)) return
    if (tries.isPosted(key)) return tries.settle(key)
    write(notice, notice.message.text, 0)
    await tries.takeOver(key, notice)
  }

  /** Ends all tries. The next process posts what is still owed. */
  function stop(): void {
    tries?.stop()
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
