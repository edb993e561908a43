import type { Request } from '../../domain/request/request.ts'
import { type Answerable, sendWithTable } from '../../slack/lists/answerable.ts'
import { rejectedTokenErrors } from '../../slack/web-api/failure.ts'
import type { SearchResult } from '../../slack/web-api/find-message.ts'
import type { Messenger, Posted, Where } from '../../slack/web-api/messenger.ts'
import type { Lease, Settlement } from './outbox.ts'
import type { Renderer } from './render.ts'

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
