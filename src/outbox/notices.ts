import { z } from 'zod'
import type { App } from '../app.ts'
import { type ErrorCode, pageOf } from '../domain/codes.ts'
import { deadlineIn } from '../domain/deadline.ts'
import { sendAlerts } from '../features/alerts/messages.ts'
import { AlertList } from '../features/alerts/words.ts'
import { sendKeyEnd } from '../features/keys/end-messages.ts'
import { outsideMessage } from '../features/outside/words.ts'
import { freezeMessage } from '../messages/freezes.ts'
import { unpostedAlerts } from '../messages/operator-notices.ts'
import { freezeMessageId, freezeOnAt } from '../record/freeze.ts'
import { guardStore } from '../redis/connect.ts'
import type { OwedFacts } from '../redis/sealed.ts'
import { notice } from '../slack/blocks.ts'
import { readJson } from '../slack/payloads.ts'
import { joinMrkdwn, link, type Mrkdwn, mrkdwn, ownWords } from '../slack/text.ts'
import { lookLate } from './late-look.ts'
import {
  type Delivered,
  deliveredOf,
  isPassing,
  type Lease,
  later,
  laterAfter,
  lease,
  memberOf,
  type Owed,
  owedMs,
  oweFacts,
  passingMs,
  postOnce,
  type Settlement,
  searchesAfterMs,
  settle,
  type TextName,
} from './once.ts'

interface OwedText extends Owed {
  name: TextName
}

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
export async function deliverText(app: App, owed: OwedText): Promise<Delivered> {
  return sendLeased(app, owed, await lease(app, owed))
}

async function sendLeased(app: App, owed: OwedText, leased: Awaited<ReturnType<typeof lease>>): Promise<Delivered> {
  if (leased.is !== 'leased') return { is: leased.is === 'held' ? 'later' : 'sent' }
  const { facts = '', at } = leased.fields
  const result = await sendText(app, owed, leased.lease, facts, Number(at))
  await settle(app, owed, leased.lease, result)
  return deliveredOf(result)
}

/** `facts`: as Redis has them. `sinceMs`: when it was first owed, in ms since 1970. */
async function sendText(app: App, owed: OwedText, held: Lease, facts: string, sinceMs: number): Promise<Settlement> {
  if (owed.name === 'freeze') return sendFreeze(app, owed, held, facts, sinceMs)
  if (owed.name === 'key-end') {
    const { undelivered, ...result } = await sendKeyEnd(app, owed, held, facts, sinceMs)
    if (undelivered) await notifyOperators(app, 'report-undeliverable', undelivered, { about: owed.id })
    return result
  }
  if (owed.name === 'late-look') return lookLate(app, facts)
  if (owed.name === 'outside') return sendOutside(app, owed, held, facts, sinceMs)
  if (owed.name === 'alerts') {
    const result = await sendAlerts(app, owed, held, facts, sinceMs)
    const { channelId } = readJson(AlertList, facts) ?? {}
    if (result.refused !== undefined && channelId !== undefined)
      await notifyOperators(app, 'alerts-unposted', unpostedAlerts(channelId, result.refused), { about: channelId })
    return result
  }
  const data = readJson(Facts, facts)
  const channelId = app.config.opsChannel
  // Lockkeeper did not write it, or nobody gets it.
  if (!data || channelId === undefined) return { status: 'dropped' }
  const place = { channelId, key: `${owed.name}/${owed.id}` }
  const posted = await postOnce(app, { message: notice(ownWords(data.words)), place, sinceMs }, held)
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

/**
 * Tells of a freeze what its signed record says, where that was set or to the operators. Redis has the same record in its message, so nobody who
 * can write there chooses the words or the channel.
 */
async function sendFreeze(app: App, { id, name }: Owed, held: Lease, facts: string, sinceMs: number): Promise<Settlement> {
  const record = app.freezes.genuine(facts)
  const [, freezeId, when, where] = /^freeze-([\da-f-]+)-(set|over)-(here|ops)$/.exec(id) ?? []
  const channelId = where === 'ops' ? app.config.opsChannel : record?.channelId
  const [freeze, now] = await Promise.all([app.freezes.read(), app.store.now()])
  const isCurrent = freeze.record?.id === record?.id
  const isOver = when === 'over'
  // Its content is signed, but not in which message it belongs.
  if (!record || record.id !== freezeId || channelId === undefined || (isOver && !isCurrent)) return { status: 'dropped' }
  const hasButton = where === 'here' && isCurrent && freezeOnAt(freeze, now) !== undefined
  const message = freezeMessage(record, { isOver, hasButton })
  const posted = await postOnce(app, { message, place: { channelId, key: `${name}/${id}` }, sinceMs }, held)
  if (posted.is === 'sent' || posted.is === 'found') {
    await showEnded(app, isOver ? record.id : record.ends)
    return { status: 'settled', cardTs: posted.ts, rememberMs: rememberFreezeMs }
  }
  if (posted.is !== 'refused') return laterAfter(posted)
  return where === 'ops' || isPassing(posted.error) ? later(passingMs) : { status: 'dropped' }
}

/** As long as a freeze with an end can last, and longer: where its message is must be known until then. */
const rememberFreezeMs = 30 * 24 * 3_600_000

/** Otherwise the message looks as if the freeze were on. A press of a button that stays, because Slack is away now, is answered that it is over. */
async function showEnded({ redis, keys, freezes, slack }: App, ended: string | undefined): Promise<void> {
  if (ended === undefined) return
  const id = freezeMessageId(ended, 'set', 'here')
  const [facts, ts] = await guardStore(() => redis.hmget(keys.message(id), 'facts', 'cardTs'))
  const record = freezes.genuine(facts ?? '')
  if (record?.channelId === undefined || !ts) return
  const place = { channelId: record.channelId, ts: String(JSON.parse(ts)), key: `freeze/${id}` }
  await slack.messenger.update(place, freezeMessage(record, { hasEnded: true }))
}

/** Tells the operators what happened on the account outside Lockkeeper, or which keys need attention. Nobody gets what Lockkeeper did not sign. */
async function sendOutside(app: App, { id, name }: Owed, held: Lease, facts: string, sinceMs: number): Promise<Settlement> {
  const owed = app.outside.genuine(id, facts)
  const channelId = app.config.opsChannel
  if (!owed || channelId === undefined) return { status: 'dropped' }
  const posted = await postOnce(app, { message: outsideMessage(owed), place: { channelId, key: `${name}/${id}` }, sinceMs }, held)
  if (posted.is === 'sent' || posted.is === 'found') return { status: 'settled' }
  return posted.is === 'refused' ? later(passingMs) : laterAfter(posted)
}

/** Owes a message, to be sent at once. Nothing happens if it was owed before. Throws StoreUnavailableError. */
export function oweText(app: App, owed: OwedText, facts: Facts): Promise<void> {
  return oweFacts(app, owed, JSON.stringify(facts), owedMs)
}

interface NoticeOptions {
  requestId?: string
  /** What the problem is about: a second notice with the same code and subject within an hour is a repeat. By default the request. */
  about?: string
  /** `info`: a problem has ended. */
  level?: 'info' | 'warn' | 'error'
}

/** Anybody can cause some problems without end. Within this time, a process takes a problem for a repeat, and says and does nothing. */
const quietMs = 60_000

/** Resolves once Redis has it or does not answer: call it before a step after which nobody would find the problem again. Never throws. */
export async function notifyOperators(app: App, code: ErrorCode, words: Mrkdwn, options: NoticeOptions = {}): Promise<void> {
  const { requestId, level = 'error' } = options
  const owed = noticeFor(code, options)
  if (Date.now() - (app.notices.get(owed.id) ?? 0) < quietMs) return
  if (app.notices.size > 1_000) app.notices.clear()
  app.notices.set(owed.id, Date.now())
  app.log[level]({ code, requestId }, notice(words).text)
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
async function postWithoutRedis(app: App, owed: OwedText, facts: string): Promise<void> {
  const sinceMs = Date.now()
  const always = { sendBefore: deadlineIn(Number.POSITIVE_INFINITY), untilMs: Number.POSITIVE_INFINITY }
  const held: Lease = { of: owed, token: '', mode: 'fresh', searchedForMs: 0, ...always }
  while (held.searchedForMs < withoutRedisMs) {
    const { status, retryInMs, isSlow } = await sendText(app, owed, held, facts, sinceMs)
    if (retryInMs === undefined) return
    const waitMs = isSlow ? Math.max(...searchesAfterMs) : retryInMs
    if (status === 'unsure') held.mode = 'unsure'
    await new Promise((resolve) => setTimeout(resolve, waitMs).unref())
    held.searchedForMs = Date.now() - sinceMs
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

function noticeFor(code: ErrorCode, { requestId, about = requestId }: NoticeOptions): OwedText {
  return { id: about === undefined ? code : `${code}:${about}`, name: 'notice' }
}

function factsOf({ config }: App, code: ErrorCode, words: Mrkdwn): Facts | undefined {
  if (config.opsChannel === undefined) return undefined
  return { words: joinMrkdwn([words, mrkdwn`More: ${link(pageOf(code), code)}.`], ' ').text }
}
