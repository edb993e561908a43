import { randomUUID } from 'node:crypto'
import type { ErrorCode } from '../domain/errors.ts'
import { createRepeats } from '../domain/repeats.ts'
import type { Keyring } from '../domain/signing.ts'
import { asRepeat } from '../messages/reports.ts'
import { guardStore, type Redis } from '../redis/connect.ts'
import type { Keys } from '../redis/key-names.ts'
import { claim, createScripts } from '../redis/scripts.ts'
import { notice } from '../slack/blocks.ts'
import { code as inCode, joinMrkdwn, type Mrkdwn, mrkdwn } from '../slack/text.ts'
import type { Message, Messenger } from '../slack/web-api.ts'

/** The same problem is notified once in this time, over all replicas and requests. */
export const quietMs = 3_600_000

/**
 * Creates the marks of problems that the operators were notified of. Before, the token of the process that notifies them is in the place of the
 * mark.
 */
export function createNoticeMarks(keyring: Keyring) {
  function markOf(key: string, at = Date.now()): string {
    return `${at} ${keyring.sign({ signed: 'notice', key, at })}`
  }

  function isMark(key: string, text: string): boolean {
    const [at = '', signature] = text.split(' ')
    // A mark from the future is as old as one from the past: the clock of the process that made it may be wrong.
    return Math.abs(Date.now() - Number(at)) < quietMs && keyring.verify({ signed: 'notice', key, at: Number(at) }, signature) === 'genuine'
  }

  return { markOf, isMark }
}

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

/** From this try on, a notice is posted although Slack doesn't answer the search for it: a repeated alarm is better than a missing one. */
const triesOfSearch = 5

/** A search begins this long before a notice was owed, in case this clock is fast. */
const beforeMs = 60_000

/** The result of one try. `isOver`: the operators are notified. `isUnsure`: Slack may have the notice. */
export interface Tried {
  isOver: boolean
  isUnsure?: boolean
  problem?: string
  retryInMs?: number
}

interface NoticeToPost {
  key: string
  channelId: string
  notice: OwedNotice
  /** An earlier try may have posted it. */
  isUnsure: boolean
  tries: number
}

/** Creates the function that posts a notice, unless an earlier try has posted it. Without a search, the notice says that it may be a repeat. */
export function createPostNotice({ post, find }: Pick<Messenger, 'post' | 'find'>) {
  return async function postNotice({ key, channelId, notice: { message, at }, isUnsure, tries }: NoticeToPost): Promise<Tried> {
    const place = { channelId, key: `notice/${key}` }
    const found = isUnsure ? await find({ ...place, oldestMs: at - beforeMs }) : undefined
    if (found?.is === 'found') return { isOver: true }
    const isSearched = found === undefined || found.is === 'absent' || found.is === 'cannot-search' || tries >= triesOfSearch
    if (!isSearched) return { isOver: false, problem: JSON.stringify(found), ...retryOf(found) }
    const isMarked = found !== undefined && found.is !== 'absent'
    const posted = await post(place, isMarked ? (asRepeat(message) as Message) : message)
    if (posted.is === 'sent') return { isOver: true }
    return { isOver: false, isUnsure: posted.is === 'unknown', problem: JSON.stringify(posted), ...retryOf(posted) }
  }
}

function retryOf(failure: { is: string; retryInMs?: number }): { retryInMs?: number } {
  return failure.retryInMs === undefined ? {} : { retryInMs: failure.retryInMs }
}

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
    log[level]({ code, requestId, ...(count > 0 ? { repeats: count } : {}) }, text)
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
  return { code, level, requestId, message, at: Date.now() }
}
