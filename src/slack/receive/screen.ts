import type { AckFn, App, Receiver, ReceiverEvent } from '@slack/bolt'
import { notice } from '../blocks/notice.ts'
import type { Respond } from '../web-api/response-url.ts'
import { acknowledgementFor, followUpFor } from './answer-unhandled.ts'
import { readPayload, type UnhandledPayload } from './read-payload.ts'

export interface Screening {
  respond: Respond
  /** Called for every payload that no listener handled, after its acknowledgement. */
  onUnhandled: (unhandled: UnhandledPayload) => void
  /** Called for every payload after its acknowledgement. `ms`: the time since it arrived. `kind`: Slack's name for it. */
  onAcknowledged?: (kind: string, ms: number) => void
}

/**
 * Filters the payloads between a receiver, which has checked where they come from, and Bolt's app. Bolt 5.1 reads a payload before any
 * listener does. If a member is null, it throws and answers 500. If there is no listener, it answers nothing for 3 s and then 404. So the
 * app gets only payloads that a listener can read. All others are acknowledged here, at once.
 */
export function screen(receiver: Receiver, { respond, onUnhandled, onAcknowledged = () => {} }: Screening): Receiver {
  async function acknowledge(unhandled: UnhandledPayload, { body, ack }: ReceiverEvent): Promise<void> {
    await ack(acknowledgementFor(unhandled, body))
    onUnhandled(unhandled)
    const followUp = followUpFor(unhandled, body)
    if (followUp) await respond(followUp.responseUrl, notice(followUp.words))
  }

  async function forward(app: App, received: ReceiverEvent): Promise<void> {
    const startedAt = performance.now()
    const reading = readPayload(received.body)
    const kind = reading.is === 'read' ? reading.kind : reading.unhandled.kind
    const event: ReceiverEvent = {
      ...received,
      async ack(answer) {
        await received.ack(answer)
        onAcknowledged(kind, performance.now() - startedAt)
      },
    }
    if (reading.is === 'unhandled') return acknowledge(reading.unhandled, event)
    let acknowledged = false
    const ack: AckFn<unknown> = async (answer) => {
      acknowledged = true
      await event.ack(answer)
    }
    try {
      await app.processEvent({ ...event, body: reading.payload, ack })
    } finally {
      if (!acknowledged) await acknowledge({ kind: reading.kind, why: 'listener-failed' }, event)
    }
  }

  return {
    // Receivers only use the app's `processEvent`.
    init: (app) => receiver.init({ processEvent: (event) => forward(app, event) } as App),
    start: (...args) => receiver.start(...args),
    stop: (...args) => receiver.stop(...args),
  }
}
