import { isMachine } from '../../domain/approval/origin.ts'
import type { Request } from '../../domain/request/request.ts'
import { withinOr } from '../../domain/within.ts'
import { type Answerable, sendWithTable } from '../../slack/lists/answerable.ts'
import { unreachableChannelErrors } from '../../slack/web-api/failure.ts'
import type { Messenger } from '../../slack/web-api/messenger.ts'
import { actorsIn } from '../messages/reports/reports.ts'
import type { ReportName } from '../steps/step.ts'
import type { Lease } from './outbox.ts'
import type { Renderer } from './render.ts'
import { createSendOnce, isOver, isPassing, later, laterAfter, leaseOver, passingMs, type SendResult, sent } from './send-once.ts'

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
