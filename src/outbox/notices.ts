import { z } from 'zod'
import type { App, SendText } from '../app.ts'
import { type ErrorCode, pageOf } from '../domain/codes.ts'
import { deadlineIn } from '../domain/deadline.ts'
import type { Lease, Owed, Settlement } from '../record/owed.ts'
import { guardStore } from '../redis/connect.ts'
import type { OwedFacts } from '../redis/sealed.ts'
import { notice } from '../slack/blocks.ts'
import { readJson } from '../slack/payloads.ts'
import { joinMrkdwn, link, type Mrkdwn, mrkdwn, ownWords } from '../slack/text.ts'
import {
  type Delivered,
  deliveredOf,
  later,
  laterAfter,
  lease,
  lookLate,
  memberOf,
  otherVersionRetryMs,
  owedMs,
  oweFacts,
  passingMs,
  postOnce,
  searchesAfterMs,
  settle,
} from './once.ts'

/**
 * What Redis has of a notice: its words, because what it is about may be gone when it is sent, and any release can send it. Somebody who can write to
 * Redis could change them, so they become text, and never buttons, and go only to the channel of the operators.
 */
const Facts = z.object({
  words: z.string(),
  /** How long it is remembered, in ms, if that is not the usual time. */
  rememberMs: z.number().optional(),
})
type Facts = z.infer<typeof Facts>

/** Sends a message about no request. Throws StoreUnavailableError if Redis does not answer. */
export async function deliverText(app: App, owed: Owed): Promise<Delivered> {
  return sendLeased(app, owed, await lease(app, owed))
}

async function sendLeased(app: App, owed: Owed, leased: Awaited<ReturnType<typeof lease>>): Promise<Delivered> {
  if (leased.is !== 'leased') return { is: leased.is === 'leased-elsewhere' ? 'later' : 'sent' }
  const { facts = '', at } = leased.fields
  const result = await sendText(app, owed, leased.lease, facts, Number(at))
  await settle(app, owed, leased.lease, result)
  return deliveredOf(result)
}

/** A message without a sender is of an ability that this version lacks. It stays due, for a version that has it. */
async function sendText(app: App, owed: Owed, leased: Lease, facts: string, sinceMs: number): Promise<Settlement> {
  const send = own[owed.name] ?? app.senders[owed.name]
  if (send) return send(app, owed, leased, facts, sinceMs)
  app.lines.write({
    fields: { code: 'sender-missing', message: owed.name },
    text: 'Nothing here can send a message that is owed',
    about: owed.name,
  })
  return later(otherVersionRetryMs)
}

const own: Record<string, SendText> = { notice: sendNotice, 'late-look': (app, _, __, facts) => lookLate(app, facts) }

async function sendNotice(app: App, owed: Owed, leased: Lease, facts: string, sinceMs: number): Promise<Settlement> {
  const data = readJson(Facts, facts)
  const channelId = app.config.opsChannel
  // Lockkeeper did not write it, or nobody gets it.
  if (!data || channelId === undefined) return { status: 'dropped' }
  const place = { channelId, key: `${owed.name}/${owed.id}` }
  const posted = await postOnce(app, { message: notice(ownWords(data.words)), place, sinceMs }, leased)
  if (posted.is === 'sent' || posted.is === 'found') return { status: 'settled', rememberMs: data.rememberMs }
  if (posted.is !== 'refused') return laterAfter(posted)
  onRefusedNotice(app, posted.error)
  // The operators may invite Lockkeeper to their channel later.
  return later(passingMs)
}

/** A Slack that is away has its own alert, so only refusals count. */
function onRefusedNotice(app: App, problem: string): void {
  app.metrics.error('operators')
  const text = `Slack refused a notice in OPS_CHANNEL (${problem}). It is tried again`
  app.lines.write({ level: 'error', fields: { code: 'operators-not-notified', problem }, text, about: problem })
}

/** Owes a message, to be sent at once. Nothing happens if it was owed before. Throws StoreUnavailableError. */
export function oweText(app: App, owed: Owed, facts: Facts): Promise<void> {
  return oweFacts(app, owed, JSON.stringify(facts), owedMs)
}

interface NoticeOptions {
  requestId?: string
  /** What the problem is about: a second notice with the same code and subject within an hour is a repeat. By default the request. */
  about?: string
  /** `info`: a problem has ended. */
  level?: 'info' | 'warn' | 'error'
}

/** Anybody can cause some problems without end, so what the log leaves out as a repeat is not reported. Resolves once Redis has it or does not answer: call it before a step after which nobody would find the problem again. Never throws. */
export async function notifyOperators(app: App, code: ErrorCode, words: Mrkdwn, options: NoticeOptions = {}): Promise<void> {
  const { requestId, about = requestId, level = 'error' } = options
  if (!app.lines.write({ level, fields: { code, requestId }, text: notice(words).text, about })) return
  const owed = noticeFor(code, options)
  const facts = factsOf(app, code, words)
  if (!facts) return
  // A notice does not wait for a Redis that is away: it may be about Redis.
  const prompt = { ...app, redis: app.connections.prompt }
  const text = JSON.stringify(facts)
  const leased = await lease(prompt, owed, { facts: text }).catch(() => undefined)
  // If its result is not stored, the next lease searches for it.
  void (leased ? sendLeased(prompt, owed, leased) : postWithoutRedis(prompt, owed, text)).catch(() => {})
}

/** How long a notice that Redis does not have is tried. After that only the log has the problem. */
const withoutRedisMs = 3_600_000

/** If Redis has it all the same, because only its answer was lost, it is leased there, and the next lease searches for it. */
async function postWithoutRedis(app: App, owed: Owed, facts: string): Promise<void> {
  const sinceMs = Date.now()
  const always = { sendBefore: deadlineIn(Number.POSITIVE_INFINITY), untilMs: Number.POSITIVE_INFINITY }
  const leased: Lease = { of: owed, token: '', mode: 'fresh', searchedForMs: 0, ...always }
  while (leased.searchedForMs < withoutRedisMs) {
    const { status, retryInMs, isSlow } = await sendText(app, owed, leased, facts, sinceMs)
    if (retryInMs === undefined) return
    const waitMs = isSlow ? Math.max(...searchesAfterMs) : retryInMs
    if (status === 'unsure') leased.mode = 'unsure'
    await new Promise((resolve) => setTimeout(resolve, waitMs).unref())
    leased.searchedForMs = Date.now() - sinceMs
  }
}

/** A notice that is owed for this long was left by a process that died. It may read the account first. */
const leftAfterMs = 20_000

/** Owes a notice that its process will send with `notifyOperators`, once it has read what belongs to it. Throws StoreUnavailableError. */
export async function keepNotice(app: App, code: ErrorCode, words: Mrkdwn, options: NoticeOptions): Promise<void> {
  const facts = factsOf(app, code, words)
  if (facts) await oweFacts(app, noticeFor(code, options), JSON.stringify(facts), owedMs, leftAfterMs)
}

/** The same, for a script that owes it in one step with what it is about. Empty if nobody gets notices. */
export function draftNotice(app: App, code: ErrorCode, words: Mrkdwn, options: NoticeOptions): OwedFacts[] {
  const [owed, facts] = [noticeFor(code, options), factsOf(app, code, words)]
  return facts ? [{ id: owed.id, member: memberOf(owed), facts: JSON.stringify(facts), keepMs: owedMs, inMs: leftAfterMs }] : []
}

/** Sends a notice that another process may have left. Returns whether it is still owed. Throws StoreUnavailableError if Redis cannot be read. */
export async function isNoticeOwed(app: App, code: ErrorCode, about: string): Promise<boolean> {
  const owed = noticeFor(code, { about })
  if ((await guardStore(() => app.redis.zscore(app.keys.outbox, memberOf(owed)))) === null) return false
  // A Redis that refuses writes grants no lease. What is to be said of it must not wait for that.
  const delivered = await deliverText(app, owed).catch(() => undefined)
  return delivered?.is === 'later'
}

function noticeFor(code: ErrorCode, { requestId, about = requestId }: NoticeOptions): Owed {
  return { id: about === undefined ? code : `${code}:${about}`, name: 'notice' }
}

function factsOf({ config }: App, code: ErrorCode, words: Mrkdwn): Facts | undefined {
  if (config.opsChannel === undefined) return undefined
  return { words: joinMrkdwn([words, mrkdwn`More: ${link(pageOf(code, config.docsUrl), code)}.`], ' ').text }
}
