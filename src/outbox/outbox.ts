import { randomUUID } from 'node:crypto'
import { isMachine } from '../domain/approval.ts'
import type { Request } from '../domain/request.ts'
import { withinOr } from '../domain/within.ts'
import { actorsIn } from '../messages/reports.ts'
import { guardStore, type Redis } from '../redis/connect.ts'
import type { Keys } from '../redis/key-names.ts'
import { createScripts, readScripts } from '../redis/scripts.ts'
import { withChildren } from '../requests/children.ts'
import { dueAtOnce } from '../requests/due.ts'
import { type ReportName, reportNames } from '../requests/steps.ts'
import { decodeRecord } from '../requests/store.ts'
import { type Answerable, sendWithTable } from '../slack/interactions.ts'
import {
  longestCallMs,
  type Messenger,
  type Posted,
  rejectedTokenErrors,
  type SearchResult,
  unreachableChannelErrors,
  type Where,
} from '../slack/web-api.ts'
import type { Renderer } from './render.ts'

const scripts = readScripts(import.meta.url, ['lease', 'settle'])

/** How long a lease lasts, in ms. A search takes several requests to Slack, so it gets more time. */
const leaseMs = { fresh: 10_000, unsure: 20_000 }

/** A message that a request can owe. */
export type OutboxName = 'card' | ReportName

/** The right of one process to send a message for a while. */
export interface Lease {
  token: string
  /** `fresh`: send it. `unsure`: an earlier try may have sent it, so search first. */
  mode: 'fresh' | 'unsure'
  /** How long the message has been searched for, in ms by Redis' clock. */
  searchedForMs: number
  /** The latest time at which an earlier try may have sent it, in ms since 1970 by Redis' clock. Absent if fresh. */
  triedUntilMs?: number
  /** An earlier try may have sent this report before its card was posted, so into the channel and not into the thread. */
  triedCardless: boolean
  /** Whether the thread is told, or will be, that the card is out of date. */
  isOutdatedTold: boolean
  /** The revision of the record that owes this report. A later revision may owe it again. The card has none. */
  owedBy?: number
  /** The latest time to send, in ms of `performance.now()`. Later requests may arrive when another process holds the lease. */
  sendBefore: number
}

/** A message to send now, and the record at the moment of the lease. */
interface Leased {
  lease: Lease
  request: Request
  /** Returns the present time in ms since 1970, by Redis' clock at the lease and this process' clock since then. */
  now: () => number
}

/** `held`: another process sends it. `settled`: it was sent. `missing`: no such request. `cardless`: send the card first. */
type NotLeased = 'held' | 'settled' | 'missing' | 'cardless'

/** The result of a try. */
export type Settlement =
  /**
   * Slack has it, or refuses it for good. `shownRevision`: for a card, the revision of the record that Slack shows now, or refused. `owes`: a
   * report that the thread then gets, unless it ever got it.
   */
  | { status: 'settled'; cardTs?: string; shownRevision?: number; owes?: ReportName | undefined }
  /** This try certainly sent nothing. If an earlier one may have sent it, the next lease is `unsure` again. */
  | { status: 'queued'; retryInMs: number }
  /** This try may have sent it. */
  | { status: 'unsure'; retryInMs: number }

/**
 * Creates the outbox: the messages that requests owe. The step that changes the record adds them, and they leave once Slack has them. One
 * process at a time sends a message, under a lease. The functions throw StoreUnavailableError if Redis does not answer.
 */
export function createOutbox({ redis, keys }: { redis: Redis; keys: Keys }) {
  const run = createScripts(redis, scripts)

  /** `early`: lease a report also before its card is posted, because the card cannot be posted. */
  async function lease(id: string, name: OutboxName, { early = false } = {}): Promise<Leased | NotLeased> {
    const token = randomUUID()
    const startedAt = performance.now()
    const values = [id, name, token, String(leaseMs.fresh), String(leaseMs.unsure), early ? '1' : '0']
    const [mode, searchedForMs, triedUntilMs, triedCardless, owedBy, leasedAt, ...flat] = await run(
      'lease',
      [keys.record(id), keys.outbox],
      values,
    )
    if (mode !== 'fresh' && mode !== 'unsure') return mode as NotLeased
    const fields = pairsOf(flat)
    const held: Lease = {
      token,
      mode,
      searchedForMs: Number(searchedForMs),
      triedCardless: triedCardless === '1',
      isOutdatedTold: fields['outbox:outdated'] !== undefined,
      sendBefore: startedAt + leaseMs[mode] - longestCallMs,
      ...(triedUntilMs ? { triedUntilMs: Number(triedUntilMs) } : {}),
      ...(owedBy ? { owedBy: Number(owedBy) } : {}),
    }
    const [request = decodeRecord(id, fields)] = await withChildren({ redis, keys }, [decodeRecord(id, fields)])
    return { lease: held, request, now: () => Number(leasedAt) + performance.now() - startedAt }
  }

  /** Stores the result of a try. `again`: the record changed, so send the card again. `lost`: another process holds the lease now. */
  async function settle(
    id: string,
    name: OutboxName,
    held: Pick<Lease, 'token'>,
    result: Settlement,
  ): Promise<'settled' | 'again' | 'later' | 'lost'> {
    const retryInMs = result.status === 'settled' ? 0 : result.retryInMs
    const cardTs = result.status === 'settled' ? (result.cardTs ?? '') : ''
    const shown = result.status === 'settled' ? (result.shownRevision ?? 0) : 0
    const owes = result.status === 'settled' ? (result.owes ?? '') : ''
    const values = [id, name, held.token, result.status, String(retryInMs), cardTs, String(shown), owes]
    const [outcome] = await run('settle', [keys.record(id), keys.outbox], values)
    return outcome as 'settled' | 'again' | 'later' | 'lost'
  }

  /** Returns the messages that are due now, the oldest due time first. */
  async function due(limit = dueAtOnce): Promise<{ id: string; name: OutboxName }[]> {
    const members = await run('due', [keys.outbox], ['0', String(limit)])
    return members.map((member) => {
      const slash = member.indexOf('/')
      return { id: member.slice(0, slash), name: member.slice(slash + 1) as OutboxName }
    })
  }

  /** Returns the reports that a request still owes, in the order of the thread. */
  async function owed(id: string): Promise<ReportName[]> {
    const scores = await guardStore(() => redis.zmscore(keys.outbox, ...reportNames.map((name) => `${id}/${name}`)))
    return reportNames.filter((_, index) => scores[index] !== null)
  }

  return { lease, settle, due, owed }
}
export type Outbox = ReturnType<typeof createOutbox>

function pairsOf(flat: string[]): Record<string, string> {
  return Object.fromEntries(Array.from({ length: flat.length / 2 }, (_, index) => [flat[index * 2], flat[index * 2 + 1]]))
}

/** `sent`: Slack has the message. `refused`: Slack does not take it. `later`: it stays in the outbox. */
export type Delivered = { is: 'sent' } | { is: 'refused'; error: string } | { is: 'later' }

/** The result of one try: what `deliver` returns, and what the outbox stores. */
export interface SendResult {
  delivered: Delivered
  settlement: Settlement
}

/** A place in Slack, and the key that a search finds the message by. */
type Place = Where & { key: string }

/** This attempt has certainly sent nothing. */
interface Unsent {
  is: 'unsent'
  retryInMs: number
}

/** The wait after a lost answer, and after a failure of Slack. */
export const retryInMs = 3_000

/** How long a failing search is repeated before the message is sent again. */
const longestSearchMs = 10 * 60_000

/**
 * A search begins `beforeMs` before the request was created, in case Redis' clock is fast. It ends `afterMs` after the latest try, in case
 * Redis' clock is slow, the process was suspended before it sent, or Redis lost the latest try.
 */
const margins = { afterMs: 10 * 60_000, beforeMs: 60_000 }

interface SendOnceParts {
  messenger: Messenger
  render: Pick<Renderer, 'asRepeat'>
}

/** Creates the functions that send a message only if no earlier try has sent it. */
export function createSendOnce({ messenger, render }: SendOnceParts) {
  /** Searches for a message that an earlier try may have sent. */
  async function search(place: Place, lease: Lease, request: Request): Promise<SearchResult> {
    if (lease.mode === 'fresh') return { is: 'absent' }
    const latest = lease.triedUntilMs === undefined ? {} : { latestMs: lease.triedUntilMs + margins.afterMs }
    const found = await messenger.find({ ...place, oldestMs: request.createdAt - margins.beforeMs, ...latest })
    const hasFailed = found.is === 'unknown' || found.is === 'rate-limited'
    return hasFailed && lease.searchedForMs > longestSearchMs ? { is: 'cannot-search' } : found
  }

  /**
   * Posts a message that the search did not find, while the lease holds. If Slack allows no search, the message says that it may be a
   * repeat.
   */
  async function postUnlessFound(found: SearchResult, place: Place, message: Answerable, lease: Lease): Promise<Posted | Unsent> {
    if (found.is === 'found') return { is: 'sent', ts: found.ts, channelId: place.channelId }
    // Only the search failed: nothing was sent.
    if (found.is === 'unknown') return { is: 'unsent', retryInMs }
    if (found.is === 'rate-limited') return found
    const marked = found.is === 'cannot-search' ? render.asRepeat(message) : message
    return sendWithTable(marked, async (one) => (isOver(lease) ? leaseOver : messenger.post(place, one)))
  }

  return { search, postUnlessFound }
}

/** The lease expired, so another process may have taken it over. */
export const leaseOver: Unsent = { is: 'unsent', retryInMs: 0 }

/** Whether a suspended process, or a slow Slack, has used up the lease. Another process may hold it now. */
export function isOver({ sendBefore }: Lease): boolean {
  return performance.now() > sendBefore
}

export function sent(settlement: Settlement): SendResult {
  return { delivered: { is: 'sent' }, settlement }
}

export function later(settlement: Settlement): SendResult {
  return { delivered: { is: 'later' }, settlement }
}

export function laterAfter(failure: { is: 'rate-limited' | 'unsent'; retryInMs: number } | { is: 'unknown' }): SendResult {
  return later(failure.is === 'unknown' ? { status: 'unsure', retryInMs } : { status: 'queued', retryInMs: failure.retryInMs })
}

/** Slack's refusals that no message causes: the token is being exchanged, or the app is being installed again. */
const passing = new Set([...rejectedTokenErrors, 'missing_scope', 'accesslimited', 'org_login_required'])

/** The wait after a refusal that passes. */
export const passingMs = 30_000

export function isPassing(error: string): boolean {
  return passing.has(error)
}

export interface SendReportParts {
  messenger: Messenger
  render: Renderer
  /** Returns the names of people by their ids. Those that cannot be read are left out. */
  namesOf: (userIds: string[]) => Promise<ReadonlyMap<string, string>>
  /**
   * Receives a message that neither the channel nor the requester gets, with Slack's error code; an emergency approval that the channel does not
   * get, because the requester, who gave it, must not be the only one who knows; and a card that Slack refuses to update, as `outdated`.
   */
  onUndeliverable: (request: Request, error: string, report?: ReportName) => Promise<void> | void
}

/** A Slack that is slow to name people must not use up the lease. Their ids are shown then. */
const longestNamingMs = 1_000
const noNames: ReadonlyMap<string, string> = new Map()

/** Creates the function that posts a report to the thread, or to the requester directly if the channel does not take it. */
export function createSendReport({ messenger, render, namesOf, onUndeliverable }: SendReportParts) {
  const { search, postUnlessFound } = createSendOnce({ messenger, render })

  return async function sendReport(request: Request, name: ReportName, lease: Lease): Promise<SendResult> {
    const names = await withinOr(longestNamingMs, namesOf(actorsIn(request, name)), noNames)
    const message = render.report(request, name, names)
    if (!message) return sent({ status: 'settled' })
    const channel = { channelId: request.origin.channelId, key: keyOf(request, name, lease) }
    const thread = request.cardTs ? { threadTs: request.cardTs, broadcast: name === 'break-glass' } : {}
    const place = { ...channel, ...thread }
    const inThread = await search(place, lease, request)
    // A try from before the card was posted is in the channel, not in the thread.
    const mayBeInChannel = inThread.is === 'absent' && lease.triedCardless && request.cardTs !== undefined
    const found = mayBeInChannel ? await search(channel, lease, request) : inThread
    const posted = await postUnlessFound(found, place, message, lease)
    if (posted.is === 'sent') return sent({ status: 'settled' })
    if (posted.is !== 'refused') return laterAfter(posted)
    if (isPassing(posted.error)) return later({ status: 'queued', retryInMs: passingMs })
    if (name === 'break-glass') await onUndeliverable(request, posted.error, name)
    if (unreachableChannelErrors.has(posted.error) || posted.error === 'thread_not_found')
      return sendDirectly(request, message, { key: channel.key, error: posted.error }, lease)
    return giveUp(request, posted.error)
  }

  async function sendDirectly(
    request: Request,
    message: Answerable,
    failed: { key: string; error: string },
    lease: Lease,
  ): Promise<SendResult> {
    if (isOver(lease)) return laterAfter(leaseOver)
    // A machine has no direct messages.
    if (isMachine(request.origin)) return giveUp(request, failed.error)
    // The bot has no scope to search direct messages, so a message that may have been sent is marked as a repeat.
    const marked = lease.mode === 'unsure' ? render.asRepeat(message) : message
    const place = { channelId: request.origin.userId, key: failed.key }
    const posted = await sendWithTable(render.asDirect(marked, request, failed.error), (one) => messenger.post(place, one))
    if (posted.is === 'sent') return sent({ status: 'settled' })
    if (posted.is === 'refused' && !isPassing(posted.error)) return giveUp(request, posted.error)
    if (posted.is === 'refused') return later({ status: 'queued', retryInMs: passingMs })
    return laterAfter(posted)
  }

  async function giveUp(request: Request, error: string): Promise<SendResult> {
    await onUndeliverable(request, error)
    return { delivered: { is: 'refused', error }, settlement: { status: 'settled' } }
  }
}

/** The key of a report. A report that a later step owes again has another key, because it is another message. */
function keyOf({ id }: Request, name: ReportName, { owedBy }: Lease): string {
  return owedBy === undefined ? `${id}/${name}` : `${id}/${name}/${owedBy}`
}

/** The wait after Slack has refused to post a card. */
const refusedRetryMs = 60_000

/** Slack's codes for a card that is gone, or whose channel is. `is_inactive`: the channel is frozen, archived or deleted (docs.slack.dev, "chat.update"). */
const goneErrors = new Set(['message_not_found', 'channel_not_found', 'is_archived', 'is_inactive'])

interface SendCardParts {
  messenger: Messenger
  render: Renderer
  onUndeliverable: SendReportParts['onUndeliverable']
}

/** Creates the function that posts the card of a request, or updates it if Slack has it. */
export function createSendCard({ messenger, render, onUndeliverable }: SendCardParts) {
  const { search, postUnlessFound } = createSendOnce({ messenger, render })

  return async function sendCard(request: Request, lease: Lease): Promise<SendResult> {
    const place = { channelId: request.origin.channelId, key: `${request.id}/card` }
    const found = request.cardTs ? { is: 'found' as const, ts: request.cardTs } : await search(place, lease, request)
    if (found.is === 'found') return updateCard(request, lease, { ...place, ts: found.ts })
    const posted = await postUnlessFound(found, place, render.card(request), lease)
    if (posted.is === 'sent') return sent({ status: 'settled', cardTs: posted.ts, shownRevision: request.revision })
    if (posted.is === 'refused') return { delivered: posted, settlement: { status: 'queued', retryInMs: refusedRetryMs } }
    return laterAfter(posted)
  }

  async function updateCard(request: Request, lease: Lease, place: { channelId: string; key: string; ts: string }): Promise<SendResult> {
    // Another process may have shown a newer revision since.
    if (isOver(lease)) return laterAfter(leaseOver)
    const updated = await messenger.update(place, render.card(request))
    const settlement = { status: 'settled', cardTs: place.ts, shownRevision: request.revision } as const
    if (updated.is === 'sent') return sent(settlement)
    if (updated.is === 'refused' && !isPassing(updated.error)) {
      // The card was posted, so the request counts. A deleted card or a closed channel cannot be repaired: reports then go to the requester directly.
      if (goneErrors.has(updated.error)) return sent(settlement)
      if (!lease.isOutdatedTold) await onUndeliverable(request, updated.error, 'outdated')
      return sent({ ...settlement, owes: 'outdated' })
    }
    // An update is safe to repeat, also after a lost answer.
    return later({ status: 'queued', retryInMs: updated.is === 'rate-limited' ? updated.retryInMs : retryInMs })
  }
}

interface DeliverParts {
  outbox: Outbox
  messenger: Messenger
  render: Renderer
  namesOf?: SendReportParts['namesOf']
  onUndeliverable: SendReportParts['onUndeliverable']
  /** Receives each end of a change that was sent, once Slack has its report. `sinceEndMs`: from the end to the report, by Redis' clock. */
  onReported?: (request: Request, sinceEndMs: number) => void
}

/** The wait for a request of another version of Lockkeeper. Its messages stay due for that version. */
const otherVersionRetryMs = 60_000

/** One call sends a card at most five times. If the record changes more often meanwhile, the card stays in the outbox. */
const mostRounds = 5

/**
 * Creates the function that sends one message of the outbox. Any process may call it at any time: a lease lets one of them send. A message
 * that may have been sent is searched for first. A card is sent again until Slack shows the latest revision of the record.
 */
export function createDeliver({
  outbox,
  messenger,
  render,
  namesOf = async () => new Map(),
  onUndeliverable,
  onReported = () => {},
}: DeliverParts) {
  const sendCard = createSendCard({ messenger, render, onUndeliverable })
  const sendReport = createSendReport({ messenger, render, namesOf, onUndeliverable })

  return async function deliver(id: string, name: OutboxName): Promise<Delivered> {
    let early = false
    for (let round = 0; round < mostRounds; round += 1) {
      const leased = await outbox.lease(id, name, { early })
      if (leased === 'held') return { is: 'later' }
      if (leased === 'settled' || leased === 'missing') return { is: 'sent' }
      if (leased === 'cardless') {
        // A report waits until its card is posted or refused.
        if ((await deliver(id, 'card')).is === 'later') return { is: 'later' }
        early = true
        continue
      }
      const { lease, request, now } = leased
      if (!render.canRender(request)) {
        await outbox.settle(id, name, lease, { status: 'queued', retryInMs: otherVersionRetryMs })
        return { is: 'later' }
      }
      const { delivered, settlement } = await (name === 'card' ? sendCard(request, lease) : sendReport(request, name, lease))
      const settled = await outbox.settle(id, name, lease, settlement)
      const endedAt = name === 'ended' ? endOf(request) : undefined
      if (endedAt !== undefined && delivered.is === 'sent' && settled === 'settled') onReported(request, now() - endedAt)
      if (settled !== 'again') return delivered
    }
    return { is: 'later' }
  }
}
export type Deliver = (id: string, name: OutboxName) => Promise<Delivered>

/** Returns when a change that was sent has ended, in ms since 1970. A change of several items ends with its last one. */
function endOf({ sentAt, endedAt, items = [] }: Request): number | undefined {
  if (sentAt === undefined || endedAt === undefined) return undefined
  return items.length === 0 ? endedAt : Math.max(...items.map((item) => item.endedAt ?? 0))
}

/** Creates the function that shows a request's new state without waiting for the next tick: its card, then every report that it owes. */
export function createShow({ outbox, deliver }: { outbox: Outbox; deliver: Deliver }) {
  return async function show(id: string): Promise<void> {
    await deliver(id, 'card')
    for (const name of await outbox.owed(id)) await deliver(id, name)
  }
}
export type Show = ReturnType<typeof createShow>
