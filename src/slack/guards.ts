import type { AckFn, App as Bolt, Receiver, ReceiverEvent, SocketModeReceiver, ViewResponseAction } from '@slack/bolt'
import { z } from 'zod'
import type { App } from '../app.ts'
import type { LoggedPayload } from '../ops/log.ts'
import { modal, notice, wholeSection } from './blocks.ts'
import { membersOf, readMetadata, readPayload } from './payloads.ts'
import { type Mrkdwn, mrkdwn, toPlainText } from './text.ts'

/** What the metrics call each kind of payload. Kinds come from outside, so every other one is `other`. */
const payloadNames = new Map<string, Parameters<App['metrics']['acknowledged']>[0]>([
  ['command', 'command'],
  ['block_actions', 'click'],
  ['view_submission', 'form'],
  ['shortcut', 'shortcut'],
  ['message_action', 'shortcut'],
  ['block_suggestion', 'options'],
  ['app_home_opened', 'home'],
])

/**
 * Stands between a receiver, which has checked where a payload comes from, and Bolt. Bolt 5.1 reads members of members before any listener
 * does: if one of them is null, it throws and answers 500. If nothing listens, it answers nothing for 3 s and then 404. So Bolt gets only what a
 * listener can read, without all other members, and whatever is not acknowledged in the end is acknowledged here. Listeners find the payload
 * as `context.received`.
 */
export function guarded(receiver: Receiver, app: App): Receiver {
  async function receive(bolt: Bolt, event: ReceiverEvent): Promise<void> {
    const startedAt = performance.now()
    const reading = readPayload(event.body)
    const { kind } = 'received' in reading ? reading.received : reading.unhandled
    let isAcknowledged = false
    const ack: AckFn<unknown> = async (answer) => {
      isAcknowledged = true
      await event.ack(answer)
      app.metrics.acknowledged(payloadNames.get(kind) ?? 'other', performance.now() - startedAt)
    }
    if ('unhandled' in reading) return acknowledgeUnhandled(app, reading.unhandled, { ...event, ack })
    const { received } = reading
    try {
      await bolt.processEvent({ ...event, body: received.payload, ack, customProperties: { received } })
    } finally {
      if (!isAcknowledged) await acknowledgeUnhandled(app, { kind, why: 'listener-failed' }, { ...event, ack })
    }
  }

  return {
    // Receivers use only the app's `processEvent`.
    init: (bolt) => receiver.init({ processEvent: (event) => receive(bolt, event) } as Bolt),
    start: (...args) => receiver.start(...args),
    stop: (...args) => receiver.stop(...args),
  }
}

async function acknowledgeUnhandled(app: App, unhandled: LoggedPayload, { body, ack }: ReceiverEvent): Promise<void> {
  const answer = acknowledgementFor(unhandled, body)
  await ack(answer)
  app.errors.unhandled(unhandled)
  const responseUrl = answer === undefined ? responseUrlIn(body) : undefined
  if (responseUrl !== undefined) await app.slack.respond(responseUrl, notice(problemWith('click', unhandled)))
}

/**
 * Makes the acknowledgement of a payload that no listener handled (docs.slack.dev, "Handling user interaction"). A form stays open with an
 * error, a picker gets an empty list, and a command gets a sentence. Slack shows no content of any other acknowledgement.
 */
function acknowledgementFor(unhandled: LoggedPayload, body: unknown): unknown {
  if (unhandled.kind === 'view_submission') return keepForm(membersOf(body).view, problemWith('form', unhandled))
  if (unhandled.kind === 'command') return { response_type: 'ephemeral', text: problemWith('command', unhandled).text }
  return unhandled.kind === 'block_suggestion' ? { options: [] } : undefined
}

/** Finds the response URL of a click or a shortcut. In a modal, it is that of the command or click that opened it. */
function responseUrlIn(body: unknown): string | undefined {
  const { response_url: given, view } = membersOf(body)
  if (typeof given === 'string') return given
  const { private_metadata: metadata } = membersOf(view)
  return typeof metadata === 'string' ? readMetadata(metadata)?.responseUrl : undefined
}

function problemWith(what: 'form' | 'command' | 'click', { why }: LoggedPayload): Mrkdwn {
  if (why === 'no-listener') return mrkdwn`Lockkeeper doesn't handle this. Nothing was changed. Use its command instead.`
  return why === 'listener-failed'
    ? mrkdwn`Something went wrong with this ${what}. Tell the people who run Lockkeeper. The log has the details.`
    : mrkdwn`Couldn't read this ${what}. Nothing was changed. Try again. If it lasts, tell the people who run Lockkeeper.`
}

const Form = z.object({ blocks: z.array(z.unknown()) })
const InputBlock = z.object({ type: z.literal('input'), block_id: z.string().min(1) })

/**
 * Answers a submission with an error and keeps the form open with everything that was entered. The error is shown at the first input: Slack
 * accepts errors for input blocks only. If the form's blocks cannot be read, the error is pushed as a view on top: closing it brings the form
 * back, because a view stack keeps the state of its views (docs.slack.dev, "Modals").
 */
export function keepForm(view: unknown, words: Mrkdwn): ViewResponseAction {
  const form = Form.safeParse(view)
  const inputs = form.success ? form.data.blocks.map((block) => InputBlock.safeParse(block)) : []
  const blockId = inputs.find((input) => input.success)?.data?.block_id
  if (blockId !== undefined) return { response_action: 'errors', errors: { [blockId]: toPlainText(words) } }
  return { response_action: 'push', view: modal({ title: 'Lockkeeper', close: 'Back', blocks: wholeSection(words) }) }
}

/**
 * Makes a Socket Mode client accept every envelope. The client of @slack/socket-mode 3.1 expects an event in each envelope of the Events
 * API. It throws if there is none, as in `app_rate_limited`, and the unhandled rejection ends the process. Such an envelope is handed to
 * the client again under another type: it then accepts and acknowledges it.
 */
export function readEveryEnvelope({ client }: SocketModeReceiver): void {
  const [accept] = client.listeners('ws_message') as ((data: string | ArrayBuffer, isBinary: boolean) => Promise<void>)[]
  if (!accept) throw new Error('the Socket Mode client has no listener for its messages')
  client.removeAllListeners('ws_message')
  client.on('ws_message', (data: string | ArrayBuffer, isBinary: boolean) => {
    accept(data, isBinary).catch(() => {
      const envelope: unknown = JSON.parse(typeof data === 'string' ? data : new TextDecoder().decode(data))
      // Only envelopes need an acknowledgement.
      if (Object.hasOwn(membersOf(envelope), 'envelope_id')) {
        return accept(JSON.stringify({ ...membersOf(envelope), type: 'without_event' }), false)
      }
    })
  })
}
