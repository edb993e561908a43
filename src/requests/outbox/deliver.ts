import type { Request } from '../../domain/request/request.ts'
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
