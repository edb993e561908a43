import { z } from 'zod'
import type { App } from '../app.ts'
import type { ErrorCode } from '../domain/errors.ts'
import { createRepeats } from '../domain/repeats.ts'
import { unpostedAlerts } from '../messages/operator-notices.ts'
import { guardStore } from '../redis/connect.ts'
import { notice } from '../slack/blocks.ts'
import { code as inCode, joinMrkdwn, type Mrkdwn, mrkdwn } from '../slack/text.ts'
import type { Message } from '../slack/web-api.ts'
import {
  type Delivered,
  isPassing,
  type Lease,
  later,
  laterAfter,
  lease,
  memberOf,
  type Owed,
  owedMs,
  passingMs,
  postOnce,
  refused,
  type SendResult,
  sent,
  settle,
  type TextName,
} from './once.ts'

/** A message of the outbox that is about no request. */
interface OwedText extends Owed {
  name: TextName
}

/**
 * What Redis has of it: its final words, because what it is about may be gone when it is sent, and any release can send it.
 * `forget`: keys of what led to it, which can lead to it again if the channel refuses it.
 */
const Facts = z.object({
  channelId: z.string(),
  message: z.object({ text: z.string(), blocks: z.array(z.looseObject({ type: z.string() })) }),
  forget: z.array(z.string()).optional(),
})
type Facts = Omit<z.infer<typeof Facts>, 'message'> & { message: Message }

/** The wait after a failure, unless Slack asks for a longer one. The process that owes a notice tries sooner. */
const retryMs = 30_000

/** Sends a message about no request. Throws StoreUnavailableError if Redis does not answer. */
export async function deliverText(app: App, owed: OwedText): Promise<Delivered> {
  return sendLeased(app, owed, await lease(app, owed))
}

async function sendLeased(app: App, owed: OwedText, leased: Awaited<ReturnType<typeof lease>>): Promise<Delivered> {
  if (leased.is !== 'leased') return { is: leased.is === 'held' ? 'later' : 'sent' }
  const { facts = '', at } = leased.fields
  const { delivered, settlement } = await sendText(app, owed, leased.lease, { facts, sinceMs: Number(at) })
  await settle(app, owed, leased.lease, settlement)
  return delivered
}

/** `facts`: as Redis has them. `sinceMs`: when it was first owed, in ms since 1970. */
async function sendText(
  app: App,
  owed: OwedText,
  held: Lease,
  { facts, sinceMs }: { facts: string; sinceMs: number },
): Promise<SendResult> {
  const parsed = parseFacts(facts)
  if (!parsed) return { delivered: { is: 'sent' }, settlement: { status: 'dropped' } }
  const { channelId, message, forget = [] } = parsed
  const posted = await postOnce(app, { message, place: { channelId, key: `${owed.name}/${owed.id}` }, sinceMs }, held)
  if (posted.is === 'sent' || posted.is === 'found') return sent()
  if (owed.name === 'notice')
    app.errors.of('operators')(new Error(`could not notify the operators' channel yet: ${JSON.stringify(posted)}`))
  if (posted.is !== 'refused') return laterAfter(posted, retryMs)
  if (owed.name === 'notice' || isPassing(posted.error)) return later(passingMs)
  await notifyOperators(app, 'alerts-unposted', unpostedAlerts(channelId, posted.error), { about: channelId })
  if (forget.length > 0) await guardStore(() => app.redis.del(...forget))
  return refused(posted.error, { status: 'dropped' })
}

/** Returns undefined for what Lockkeeper did not write. */
function parseFacts(facts: string): Facts | undefined {
  try {
    return Facts.parse(JSON.parse(facts)) as Facts
  } catch {
    return undefined
  }
}

/** What a script needs to owe a message in the same step as what it is about, with the function `owe` of the prologue. */
export interface Draft {
  /** The message and the outbox. */
  keys: [message: string, outbox: string]
  /** `facts` is '' if nobody gets the message. */
  values: [member: string, facts: string, keepMs: string]
}

export function draftOf(app: App, owed: OwedText, facts: Facts): Draft {
  return { keys: [app.keys.message(owed.id), app.keys.outbox], values: [memberOf(owed), JSON.stringify(facts), String(owedMs)] }
}

/** `info`: a problem has ended. */
type NoticeLevel = 'info' | 'warn' | 'error'

export interface NoticeOptions {
  requestId?: string
  /** What the problem is about: a second notice with the same code and subject within an hour is a repeat. By default the request. */
  about?: string
  /** The level of the log line. */
  level?: NoticeLevel
}

/** The waits between the tries of the process that owes a notice. After that only workers try. */
const waitsMs = [5_000, ...Array<number>(60).fill(retryMs)]

/** Creates the state of the notices that this process sends: each with the timer of its next try. `waitsMs`: shorter in tests. */
export function createNotices({ waitsMs: waits = waitsMs }: { waitsMs?: number[] } = {}) {
  const sending = new Map<string, NodeJS.Timeout | undefined>()
  const repeats = createRepeats()

  return {
    waitsMs: waits,
    sending,
    repeats,
    isStopped: false,
    /** Ends all tries. Workers send what is still owed. */
    stop() {
      this.isStopped = true
      for (const timer of sending.values()) clearTimeout(timer)
      sending.clear()
      repeats.flush()
    },
  }
}
export type Notices = ReturnType<typeof createNotices>

/**
 * Logs a notice and, if there is a channel of the operators, owes it and begins to post it there. Resolves once Redis has it, or does not answer:
 * call it before a step after which nobody would find the problem again. While Redis is away, or refuses writes, this process posts it
 * without a lease. Never throws. The notice names its code, by which people find out what to do.
 */
export async function notifyOperators(app: App, code: ErrorCode, words: Mrkdwn, options: NoticeOptions = {}): Promise<void> {
  const { requestId, level = 'error' } = options
  const owed = noticeFor(code, options)
  app.notices.repeats.note(owed.id, {
    report: (count) => app.log[level]({ code, requestId, ...(count > 0 ? { repeats: count } : {}) }, notice(words).text),
  })
  const facts = factsOf(app, code, words)
  if (!facts || app.notices.sending.has(owed.id)) return
  app.notices.sending.set(owed.id, undefined)
  const prompt = promptly(app)
  const own = { ...owed, facts: JSON.stringify(facts), sinceMs: Date.now(), isUnsure: false }
  const leased = await leaseOwn(prompt, own)
  void tryUntilSent(prompt, own, leased, 0)
}

/** Owes a notice that its process will send with `notifyOperators`, once it has read what belongs to it. Throws StoreUnavailableError. */
export async function keepNotice(app: App, code: ErrorCode, words: Mrkdwn, options: NoticeOptions): Promise<void> {
  const facts = factsOf(app, code, words)
  if (!facts) return
  const owed = noticeFor(code, options)
  const at = await app.store.now()
  const message = app.keys.message(owed.id)
  const write = app.redis
    .multi()
    .hset(message, 'facts', JSON.stringify(facts))
    .hsetnx(message, 'at', String(at))
    .pexpire(message, owedMs)
    .zadd(app.keys.outbox, at + leftAfterMs, memberOf(owed))
  await guardStore(() => write.exec())
}

/** A notice that is owed for this long was left by a process that died. It may read the account first. */
const leftAfterMs = 20_000

/** Makes what a script needs that records the problem and owes its notice in one step. */
export function draftNotice(app: App, code: ErrorCode, words: Mrkdwn, options: NoticeOptions): Draft {
  const draft = draftOf(app, noticeFor(code, options), factsOf(app, code, words) ?? ({} as Facts))
  return app.config.opsChannel === undefined ? { ...draft, values: ['', '', '0'] } : draft
}

/** Sends a notice that another process may have left. Returns whether it is still owed. Throws StoreUnavailableError if Redis cannot be read. */
export async function isNoticeOwed(app: App, code: ErrorCode, about: string): Promise<boolean> {
  const owed = noticeFor(code, { about })
  if ((await guardStore(() => app.redis.zscore(app.keys.outbox, memberOf(owed)))) === null) return false
  // A Redis that refuses writes grants no lease. What is to be said of it must not wait for that.
  const delivered = await deliverText(app, owed).catch(() => undefined)
  return delivered?.is === 'later'
}

function noticeFor(code: ErrorCode, { requestId, about = requestId }: NoticeOptions): OwedText {
  return { id: about === undefined ? code : `${code}:${about}`, name: 'notice' }
}

/** Undefined without a channel of the operators. */
function factsOf({ config }: App, code: ErrorCode, words: Mrkdwn): Facts | undefined {
  if (config.opsChannel === undefined) return undefined
  const message = notice(joinMrkdwn([words, mrkdwn`More: ${inCode(code)} in docs/alerts-and-errors.md.`], ' '))
  return { channelId: config.opsChannel, message }
}

/** A notice does not wait for a Redis that is away: it may be about Redis. */
function promptly(app: App): App {
  return { ...app, redis: app.connections.prompt }
}

/** A notice of this process. */
interface OwnNotice extends OwedText {
  facts: string
  sinceMs: number
  /** A try without a lease may have posted it. */
  isUnsure: boolean
}

/** Undefined if Redis does not answer, or does not take it. */
async function leaseOwn(app: App, { facts, ...owed }: OwnNotice) {
  return lease(app, owed, { facts }).catch(() => undefined)
}

/** Tries to send a notice, and then again until Slack has it. Never throws. */
async function tryUntilSent(app: App, own: OwnNotice, leased: Awaited<ReturnType<typeof leaseOwn>>, tries: number): Promise<void> {
  const { notices } = app
  const delivered = await tryToSend(app, own, leased)
  const waitMs = notices.waitsMs[tries]
  if (delivered.is !== 'later' || waitMs === undefined || notices.isStopped) return void notices.sending.delete(own.id)
  const again = async () => tryUntilSent(app, own, await leaseOwn(app, own), tries + 1)
  notices.sending.set(own.id, setTimeout(() => void again(), waitMs).unref())
}

async function tryToSend(app: App, own: OwnNotice, leased: Awaited<ReturnType<typeof leaseOwn>>): Promise<Delivered> {
  try {
    if (leased?.is === 'leased' && own.isUnsure) leased.lease.mode = 'unsure'
    if (leased) return await sendLeased(app, own, leased)
    // If Redis has it all the same, it says that it may have been sent, and the next lease searches for it.
    const { delivered, settlement } = await sendText(app, own, leaseWithoutRedis(own), own)
    own.isUnsure ||= settlement.status === 'unsure'
    return delivered
  } catch {
    // The result is not stored, so the next lease searches for it.
    return { is: 'later' }
  }
}

function leaseWithoutRedis({ isUnsure, sinceMs }: OwnNotice): Lease {
  return {
    token: '',
    mode: isUnsure ? 'unsure' : 'fresh',
    searchedForMs: Date.now() - sinceMs,
    triedCardless: false,
    sendBefore: Number.POSITIVE_INFINITY,
  }
}
