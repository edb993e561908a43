import type { Request } from '../../domain/request.ts'
import { unreachableChannelErrors } from '../../slack/web-api/failure.ts'
import type { SearchResult } from '../../slack/web-api/find-message.ts'
import type { Message, Messenger, Posted, Where } from '../../slack/web-api/messenger.ts'
import type { OutboxName } from '../store/store.ts'
import type { Lease, Outbox, Settlement } from './outbox.ts'

/** What became of a message: Slack has it, Slack will not take it, or it is tried again later. */
export type Delivered = { is: 'sent' } | { is: 'refused'; error: string } | { is: 'later' }

export interface Renderer {
  /** False where another version of Lockkeeper wrote the request, and this one cannot tell all that its messages say. */
  knows(request: Request): boolean
  card(request: Request): Message
  /** Undefined when there is nothing to say any more (late, and ended meanwhile). */
  report(request: Request, name: Exclude<OutboxName, 'card'>): Message | undefined
  /** The same message, saying that it may be a repeat. */
  asRepeat(message: Message): Message
  /** A report that goes to the requester directly, because its channel does not take it. */
  asDirect(message: Message, request: Request, error: string): Message
}

interface DeliverParts {
  outbox: Outbox
  messenger: Messenger
  render: Renderer
  /** Hears of a message that nobody will get. */
  onUndeliverable: (request: Request, error: string) => void
}

/** After an answer that was lost, and when Slack has trouble. */
const retryInMs = 3_000

/** While Slack has trouble, what may have been sent is looked for so long before it is repeated. */
const lookForMs = 10 * 60_000

/**
 * Around the time in which something may have been sent: how much later Slack may have stamped it (Redis' clock is slow, a process stood
 * still before it sent, Redis lost what it knew of the last try), and how much earlier (its clock is fast).
 */
const margins = { afterMs: 10 * 60_000, beforeMs: 60_000 }

/** A message of a request that only another version knows stays due for that version. */
const unknownRetryMs = 60_000

/** More transitions than this while one card is sent are left to the next round of the outbox. */
const rounds = 5

/**
 * Sends one message of the outbox. Safe to call at any time by any process: a lease lets one of them send, a message whose fate
 * is unknown is looked for before it is sent again, and a card is sent anew until Slack shows the record's latest revision.
 */
export function createDeliver({ outbox, messenger, render, onUndeliverable }: DeliverParts) {
  async function deliver(id: string, name: OutboxName): Promise<Delivered> {
    let early = false
    for (let round = 0; round < rounds; round += 1) {
      const taken = await outbox.lease(id, name, { early })
      if (taken === 'held') return { is: 'later' }
      if (taken === 'settled' || taken === 'missing') return { is: 'sent' }
      if (taken === 'cardless') {
        // A report goes below its card, or elsewhere where the card is refused; and not while the card's fate is unknown.
        if ((await deliver(id, 'card')).is === 'later') return { is: 'later' }
        early = true
        continue
      }
      const { lease, request } = taken
      if (!render.knows(request)) {
        await outbox.settle(id, name, lease, { status: 'queued', retryInMs: unknownRetryMs })
        return { is: 'later' }
      }
      const { delivered, settlement } = name === 'card' ? await sendCard(request, lease) : await sendReport(request, name, lease)
      const settled = await outbox.settle(id, name, lease, settlement)
      if (settled !== 'again') return delivered
    }
    return { is: 'later' }
  }

  async function sendCard(request: Request, lease: Lease): Promise<Sending> {
    const message = render.card(request)
    const key = `${request.id}/card`
    const shown = { status: 'settled', shownRevision: request.revision } as const
    const place = { channelId: request.origin.channelId, key }
    const there = request.cardTs ? { is: 'found' as const, ts: request.cardTs } : await look(place, lease, request)
    if (there.is === 'found') {
      // What it shows may be older by now than what another process has shown.
      if (isOver(lease)) return later(unsent(leaseOver))
      const updated = await messenger.update({ ...place, ts: there.ts }, message)
      const settlement = { ...shown, cardTs: there.ts }
      if (updated.is === 'sent') return { delivered: { is: 'sent' }, settlement }
      // A card that was deleted, or a channel that is closed, cannot be mended; the reports find another way.
      if (updated.is === 'refused' && !isPassing(updated.error)) return { delivered: updated, settlement }
      // What may have been done can be done again.
      return later({ status: 'queued', retryInMs: updated.is === 'rate-limited' ? updated.retryInMs : retryInMs })
    }
    const posted = await postUnlessThere(there, place, message, lease)
    if (posted.is === 'sent') return { delivered: { is: 'sent' }, settlement: { ...shown, cardTs: posted.ts } }
    if (posted.is === 'refused') return { delivered: posted, settlement: { status: 'queued', retryInMs: 60_000 } }
    return later(unsent(posted))
  }

  async function sendReport(request: Request, name: Exclude<OutboxName, 'card'>, lease: Lease): Promise<Sending> {
    const message = render.report(request, name)
    if (!message) return { delivered: { is: 'sent' }, settlement: { status: 'settled' } }
    const key = lease.owedBy === undefined ? `${request.id}/${name}` : `${request.id}/${name}/${lease.owedBy}`
    const where = { channelId: request.origin.channelId, key }
    const thread = request.cardTs ? { threadTs: request.cardTs, broadcast: name === 'break-glass' } : {}
    const place = { ...where, ...thread }
    const below = await look(place, lease, request)
    const found = below.is === 'absent' && lease.triedCardless && request.cardTs ? await look(where, lease, request) : below
    const inThread = await postUnlessThere(found, place, message, lease)
    if (inThread.is === 'sent') return { delivered: { is: 'sent' }, settlement: { status: 'settled' } }
    if (inThread.is !== 'refused') return later(unsent(inThread))
    if (isPassing(inThread.error)) return later({ status: 'queued', retryInMs: passingMs })
    if (!unreachableChannelErrors.has(inThread.error) && inThread.error !== 'thread_not_found') return giveUp(request, inThread.error)

    if (isOver(lease)) return later(unsent(leaseOver))
    const direct = await messenger.post(
      { channelId: request.origin.userId, key: where.key },
      // Direct messages cannot be searched with the scopes that the bot has.
      render.asDirect(lease.mode === 'unsure' ? render.asRepeat(message) : message, request, inThread.error),
    )
    if (direct.is === 'sent') return { delivered: { is: 'sent' }, settlement: { status: 'settled' } }
    if (direct.is === 'refused' && !isPassing(direct.error)) return giveUp(request, direct.error)
    if (direct.is === 'refused') return later({ status: 'queued', retryInMs: passingMs })
    return later(unsent(direct))
  }

  /** Looks for what an earlier try of unknown fate may have left. */
  async function look(where: Where & { key: string }, lease: Lease, request: Request): Promise<SearchResult> {
    if (lease.mode === 'fresh') return { is: 'absent' }
    const latest = lease.triedUntilMs === undefined ? {} : { latestMs: lease.triedUntilMs + margins.afterMs }
    const found = await messenger.find({ ...where, oldestMs: request.createdAt - margins.beforeMs, ...latest })
    const isTrouble = found.is === 'unknown' || found.is === 'rate-limited'
    // Slack's trouble passes, and then it can be looked for; but nobody waits for ever.
    return isTrouble && lease.lookedForMs > lookForMs ? { is: 'cannot-search' } : found
  }

  function giveUp(request: Request, error: string): Sending {
    onUndeliverable(request, error)
    return { delivered: { is: 'refused', error }, settlement: { status: 'settled' } }
  }

  /** Not where it may be another process' turn by now. */
  async function postUnlessThere(
    found: SearchResult,
    where: Where & { key: string },
    message: Message,
    lease: Lease,
  ): Promise<Posted | Unsent> {
    if (found.is === 'found') return { is: 'sent', ts: found.ts, channelId: where.channelId }
    // Only the look is in doubt: nothing was sent.
    if (found.is === 'unknown') return { is: 'unsent', retryInMs }
    if (found.is === 'rate-limited') return found
    if (isOver(lease)) return leaseOver
    return messenger.post(where, found.is === 'cannot-search' ? render.asRepeat(message) : message)
  }

  return deliver
}
export type Deliver = (id: string, name: OutboxName) => Promise<Delivered>

/** Refusals that say nothing about the message: the token is being exchanged, or the app installed again. */
const passing = new Set([
  'invalid_auth',
  'not_authed',
  'account_inactive',
  'token_revoked',
  'token_expired',
  'missing_scope',
  'accesslimited',
  'org_login_required',
])

/** How long such a refusal is waited out between two tries. */
const passingMs = 30_000

function isPassing(error: string): boolean {
  return passing.has(error)
}

/** Certainly not sent, and to be tried again. */
interface Unsent {
  is: 'unsent'
  retryInMs: number
}

/** The lease ran out: another process may have taken it over. */
const leaseOver: Unsent = { is: 'unsent', retryInMs: 0 }

/** A process that stood still, or waited long for Slack, must not send under a lease that may be another's by now. */
function isOver({ sendBefore }: Lease): boolean {
  return performance.now() > sendBefore
}

interface Sending {
  delivered: Delivered
  settlement: Settlement
}

function later(settlement: Settlement): Sending {
  return { delivered: { is: 'later' }, settlement }
}

function unsent(failure: { is: 'rate-limited' | 'unsent'; retryInMs: number } | { is: 'unknown' }): Settlement {
  return failure.is === 'unknown' ? { status: 'unsure', retryInMs } : { status: 'queued', retryInMs: failure.retryInMs }
}
