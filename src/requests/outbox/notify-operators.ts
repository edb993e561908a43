import { randomUUID } from 'node:crypto'
import type { ErrorCode } from '../../domain/errors/error-code.ts'
import { createRepeats } from '../../domain/repeats.ts'
import type { Keyring } from '../../domain/signing/keyring.ts'
import { claim } from '../../redis/claims.ts'
import type { Redis } from '../../redis/connect.ts'
import { guardStore } from '../../redis/connect.ts'
import type { Keys } from '../../redis/key-names.ts'
import { createScripts } from '../../redis/scripts.ts'
import { notice } from '../../slack/blocks/notice.ts'
import { code as inCode, joinMrkdwn, type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'
import type { Message, Messenger } from '../../slack/web-api/messenger.ts'

/** The same problem is notified once in this time, over all replicas and requests. */
const quietMs = 3_600_000

/** Twice as long as a request to Slack can take. So if a claim has expired, its process has died. */
const claimMs = 10_000

/** The waits between the tries. After about an hour only the log has the problem. */
const usualWaitsMs = [5_000, 30_000, ...Array<number>(59).fill(60_000)]

/** From this try on, what holds the mark is no process: its claim would have run out. */
const triesOfClaim = 2

/** `info`: a problem has ended. */
type NoticeLevel = 'info' | 'warn' | 'error'

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
  messenger: Pick<Messenger, 'post'>
  channelId: string | undefined
  /** Signs the marks of problems that the operators were notified of. Somebody who can write to Redis would set them, to hide what they change. */
  keyring: Keyring
  log: Record<NoticeLevel, (fields: { code: ErrorCode; requestId?: string; repeats?: number }, text: string) => void>
  /** Receives the failure of the first try, and that of the last. The other tries would flood the log. */
  onError: (error: unknown) => void
  /** In ms; shorter in tests. */
  waitsMs?: number[]
}

/**
 * Creates the notices to the channel of operators. Each is logged, and posted again and again until Slack has it. A process that finds
 * another one at work tries again later, too, because the other one may die before Slack has the notice.
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
}: NotifyOperatorsParts) {
  const run = createScripts(redis)
  const repeats = createRepeats()
  const { markOf, isMark } = createMarks(keyring)
  /** The notices that this process is sending, by key, each with the timer of its next try. */
  const sending = new Map<string, NodeJS.Timeout | undefined>()
  let stopped = false

  /** Resolves after the first try. Never throws. The notice names its code, by which people find out what to do. */
  async function notify(code: ErrorCode, words: Mrkdwn, { requestId, about = requestId, level = 'error' }: NoticeOptions = {}) {
    const key = about === undefined ? code : `${code}:${about}`
    const fields = { code, ...(requestId === undefined ? {} : { requestId }) }
    repeats.note(key, { report: (count) => log[level]({ ...fields, ...(count > 0 ? { repeats: count } : {}) }, notice(words).text) })
    if (!channelId || sending.has(key)) return
    sending.set(key, undefined)
    const message = notice(joinMrkdwn([words, mrkdwn`More: ${inCode(code)} in docs/alerts-and-errors.md.`], ' '))
    await tryFrom(0, key, channelId, message)
  }

  async function tryFrom(tries: number, key: string, channel: string, message: Message): Promise<void> {
    const failed = await notifyOnce(key, channel, message, tries)
    const waitMs = waitsMs[tries]
    if (failed?.problem && waitMs === undefined)
      onError(new Error(`could not notify the operators' channel, and stopped trying: ${failed.problem}`))
    else if (failed?.problem && tries === 0) onError(new Error(`could not notify the operators' channel yet: ${failed.problem}`))
    if (!failed || waitMs === undefined || stopped) return void sending.delete(key)
    const next = setTimeout(() => void tryFrom(tries + 1, key, channel, message), Math.min(Math.max(waitMs, failed.retryInMs), quietMs))
    sending.set(key, next.unref())
  }

  /** Returns undefined once the operators are notified. Without a `problem`, another process is notifying them. */
  async function notifyOnce(
    key: string,
    channel: string,
    message: Message,
    tries: number,
  ): Promise<{ problem?: string; retryInMs: number } | undefined> {
    const mark = keys.notice(key)
    const token = randomUUID()
    // While Redis is away, every process notifies.
    const holder = await claim(redis, mark, { token, lastsMs: claimMs }).catch(() => undefined)
    if (holder !== undefined && isMark(key, holder)) return undefined
    if (holder !== undefined && tries < triesOfClaim) return { retryInMs: 0 }
    const posted = await messenger.post({ channelId: channel }, message)
    if (posted.is === 'sent') {
      await guardStore(() => redis.set(mark, markOf(key), 'PX', quietMs)).catch(() => undefined)
      return undefined
    }
    await run('release', [mark], [token]).catch(() => undefined)
    // Try again also after a lost answer: a repeated alarm is better than a missing one.
    return { problem: JSON.stringify(posted), retryInMs: posted.is === 'rate-limited' ? posted.retryInMs : 0 }
  }

  /** Ends all tries. */
  function stop(): void {
    stopped = true
    for (const timer of sending.values()) clearTimeout(timer)
    sending.clear()
    repeats.flush()
  }

  return { notify, stop }
}

/**
 * Creates the marks of problems that the operators were notified of. Before, the token of the process that notifies them is in the place of the
 * mark.
 */
function createMarks(keyring: Keyring) {
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
export type NotifyOperators = ReturnType<typeof createNotifyOperators>['notify']
