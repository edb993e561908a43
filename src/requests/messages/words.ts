import type { ApiError } from '../../domain/errors/api-errors.ts'
import type { Request, StoredState } from '../../domain/request/request.ts'
import { unansweredSince } from '../../domain/request/unanswered.ts'
import { formatDuration } from '../../domain/text/duration.ts'
import { code, type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'

/** The words for each state. Most kinds of change replace *in progress* with their own word (`moving`). */
const names: Record<StoredState, string> = {
  waiting: 'waiting for approval',
  approved: 'approved',
  starting: 'starting',
  tracking: 'in progress',
  done: 'done',
  failed: 'failed',
  'not-started': 'not started',
  superseded: 'superseded',
  untracked: 'no longer tracked',
  voided: 'canceled',
  rejected: 'rejected',
  withdrawn: 'withdrawn',
  expired: 'expired',
  unknown: "in a state that this version of Lockkeeper doesn't know",
}

export function stateWords(request: Pick<Request, 'state'>, underway?: string): string {
  return request.state === 'tracking' && underway ? underway : names[request.state]
}

/** Says how long a change took, from the write to its end or to `now`: `43 s`, `less than a second`. Times in ms since 1970. */
export function timeTaken(request: Request, now: number = request.endedAt ?? Date.now()): string {
  return span(now - (request.sentAt ?? request.createdAt))
}

/** Says how long ago a request was approved. `now`: ms since 1970. */
export function timeApproved(request: Request, now: number): string {
  return span(now - (request.decidedAt ?? request.createdAt))
}

/** Formats a duration for a sentence: `43 s`, `less than a second`. */
export function span(ms: number): string {
  return ms < 1_000 ? 'less than a second' : formatDuration(ms)
}

/**
 * Says how long an ended change took: `took 18 s`, or `finished within 50 s (tracking was off for 47 s)`, because it may have ended while
 * it was not tracked, or while the account API did not answer. Undefined for one that was never sent, or took less than a second.
 */
export function timeTakenWords(request: Request): string | undefined {
  const { sentAt, endedAt, untrackedMs = 0 } = request
  if (sentAt === undefined || endedAt === undefined) return undefined
  const tookMs = endedAt - sentAt
  if (untrackedMs > 0) return `finished within ${span(Math.max(1_000, tookMs))} (tracking was off for ${span(untrackedMs)})`
  const since = unansweredSince(request)
  if (since !== undefined)
    return `finished within ${span(Math.max(1_000, tookMs))} (the account API didn't answer for ${span(endedAt - since)})`
  return tookMs < 1_000 ? undefined : `took ${span(tookMs)}`
}

/** Whether only the latest possible end is known: it was not tracked, or the account API did not answer, when the change ended. */
export function mayHaveEndedBefore(request: Request): boolean {
  return request.untrackedMs !== undefined || unansweredSince(request) !== undefined
}

/** Shortens the id of a request, so that people can read it out. Buttons and the log have the whole id. */
export function shortId(request: Pick<Request, 'id'>): string {
  return request.id.slice(0, 8)
}

/** Says that Lockkeeper cannot post in the channel. The form's gate says the same before a form is filled in. */
export const notInChannel = mrkdwn`I'm not in this channel. Run ${code('/invite @Lockkeeper')} in it, then try again.`

/** Says to the requester why the request message could not be posted. `error`: Slack's code. */
export function refusedCard(error: string): Mrkdwn {
  if (error === 'not_in_channel' || error === 'channel_not_found') {
    return notInChannel
  }
  if (error === 'is_archived') return mrkdwn`This channel is archived. Nothing was requested. Use another channel.`
  if (error === 'restricted_action') {
    return mrkdwn`This workspace doesn't let Lockkeeper post in this channel. Nothing was requested. Use another channel, or have an admin allow it.`
  }
  return mrkdwn`Slack refused the request message (${error}). Nothing was requested. Tell the people who run Lockkeeper.`
}

/** Says to the operators that the account API rejects the key (401), or does not let it do this (403). */
export function refusedKey({ status, operation, key }: ApiError): Mrkdwn {
  if (key === 'INFRA_READ_KEY')
    return mrkdwn`:warning: The account API rejects ${code(key)} (${status}, ${operation}). Lists and forms fail, and nothing is tracked, until it is valid again. Approved changes are still sent.`
  if (status === 403)
    return mrkdwn`:warning: The account API doesn't let Lockkeeper's API key do this (${status}, ${operation}). The key may be read-only, or limited to other addresses. Requests that need it fail until ${code('INFRA_API_KEY')} has the right. Everything else works.`
  return mrkdwn`:warning: The account API rejects Lockkeeper's API key (${status}, ${operation}). Nothing can be sent or tracked until ${code('INFRA_API_KEY')} is valid again. Lockkeeper then resumes tracking accepted moves. Requests that are approved but not sent within 30 minutes must be requested again.`
}
