import type { AckFn, App, Receiver, ReceiverEvent } from '@slack/bolt'
import { acknowledgementOf, answerTo } from './answer-untaken.ts'
import { notice } from './notice.ts'
import { readPayload, type Untaken } from './read-payload.ts'
import type { Respond } from './response-url.ts'

export interface Screening {
  respond: Respond
  /** Hears of everything that was acknowledged without a listener having taken it. */
  onUntaken: (untaken: Untaken) => void
}

/**
 * Stands between a receiver, which has checked where a payload comes from, and Bolt's app. Bolt 5.1 reads payloads before any listener
 * does: it throws where a member is null, which is answered with 500, and leaves what has no listener without an answer until it sends 404
 * after 3 s. So the app gets only what a listener can read. Everything else is acknowledged here, at once.
 */
export function screen(receiver: Receiver, { respond, onUntaken }: Screening): Receiver {
  async function leave(untaken: Untaken, { body, ack }: ReceiverEvent): Promise<void> {
    await ack(acknowledgementOf(untaken, body))
    onUntaken(untaken)
    const answer = answerTo(untaken, body)
    if (answer) await respond(answer.responseUrl, notice(answer.words))
  }

  async function pass(app: App, event: ReceiverEvent): Promise<void> {
    const reading = readPayload(event.body)
    if (reading.is === 'untaken') return leave(reading.untaken, event)
    let acknowledged = false
    const ack: AckFn<unknown> = async (answer) => {
      acknowledged = true
      await event.ack(answer)
    }
    try {
      await app.processEvent({ ...event, body: reading.payload, ack })
    } finally {
      if (!acknowledged) await leave({ kind: reading.kind, why: 'unanswered' }, event)
    }
  }

  return {
    // Of the app, receivers use `processEvent` alone.
    init: (app) => receiver.init({ processEvent: (event) => pass(app, event) } as App),
    start: (...args) => receiver.start(...args),
    stop: (...args) => receiver.stop(...args),
  }
}
