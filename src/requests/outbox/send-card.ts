import type { Request } from '../../domain/request/request.ts'
import type { Messenger } from '../../slack/web-api/messenger.ts'
import type { Lease } from './outbox.ts'
import type { Renderer } from './render.ts'
import { createSendOnce, isOver, isPassing, later, laterAfter, leaseOver, retryInMs, type SendResult, sent } from './send-once.ts'
import type { SendReportParts } from './send-report.ts'

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
