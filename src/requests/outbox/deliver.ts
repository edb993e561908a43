import type { Messenger } from '../../slack/web-api/messenger.ts'
import type { Outbox, OutboxName } from './outbox.ts'
import type { Renderer } from './render.ts'
import { createSendCard } from './send-card.ts'
import type { Delivered } from './send-once.ts'
import { createSendReport, type SendReportParts } from './send-report.ts'

interface DeliverParts {
  outbox: Outbox
  messenger: Messenger
  render: Renderer
  onUndeliverable: SendReportParts['onUndeliverable']
}

/** The wait for a request of another version of Lockkeeper. Its messages stay due for that version. */
const otherVersionRetryMs = 60_000

/** One call sends a card at most five times. If the record changes more often meanwhile, the card stays in the outbox. */
const mostRounds = 5

/**
 * Creates the function that sends one message of the outbox. Any process may call it at any time: a lease lets one of them send. A message
 * that may have been sent is searched for first. A card is sent again until Slack shows the latest revision of the record.
 */
export function createDeliver({ outbox, messenger, render, onUndeliverable }: DeliverParts) {
  const sendCard = createSendCard({ messenger, render })
  const sendReport = createSendReport({ messenger, render, onUndeliverable })

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
      const { lease, request } = leased
      if (!render.canRender(request)) {
        await outbox.settle(id, name, lease, { status: 'queued', retryInMs: otherVersionRetryMs })
        return { is: 'later' }
      }
      const { delivered, settlement } = name === 'card' ? await sendCard(request, lease) : await sendReport(request, name, lease)
      const settled = await outbox.settle(id, name, lease, settlement)
      if (settled !== 'again') return delivered
    }
    return { is: 'later' }
  }
}
export type Deliver = (id: string, name: OutboxName) => Promise<Delivered>
