import {
  type AckFn,
  App as Bolt,
  type Logger,
  type Receiver,
  type ReceiverEvent,
  SocketModeReceiver,
  type ViewResponseAction,
} from '@slack/bolt'
import type { WebClientOptions } from '@slack/web-api'
import type { App } from '../app.ts'
import { StartError } from '../domain/errors.ts'
import type { Secret } from '../domain/signing.ts'
import type { LoggedPayload } from '../ops/log.ts'
import { modal, notice, wholeSection } from '../slack/blocks.ts'
import { httpReceiver, type Page, unreadReasons } from '../slack/http-receiver.ts'
import { membersOf, readMetadata, readPayload } from '../slack/payloads.ts'
import { type Mrkdwn, mrkdwn, toPlainText } from '../slack/text.ts'
import { type Identity, longestCallMs, measuredFetch, type OnSlackCall } from '../slack/web-api.ts'

/** One attempt: a retry would post a message twice if an answer is lost, and one 429 would hold up all other calls. */
export function webClientOptions(apiUrl: URL, logger: Logger, onCall: OnSlackCall = () => {}): WebClientOptions {
  return {
    slackApiUrl: apiUrl.href.endsWith('/') ? apiUrl.href : `${apiUrl.href}/`,
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    allowAbsoluteUrls: false,
    timeout: longestCallMs,
    // A call that waited in the client's own queue would be sent after its time was checked.
    maxRequestConcurrency: Number.POSITIVE_INFINITY,
    fetch: measuredFetch(onCall),
    logger,
  }
}

/** Creates Bolt's app for either transport, without listeners, and the function that starts it. `identity` was read from Slack before. */
export function createBolt(app: App, { botId, botUserId, teamId }: Identity, pages: Page[] = []) {
  const { botToken, signingSecrets = [], appToken, apiUrl, host, port } = app.config.slack
  const { logger, onCall } = app.slack
  const refused = Promise.withResolvers<never>()
  // Slack may refuse a connection after the start, when nothing awaits this promise. An unhandled rejection would end the process.
  refused.promise.catch(() => {})
  const clientOptions = webClientOptions(apiUrl, logger, (call) => {
    onCall(call)
    if (call.method !== 'apps.connections.open' || call.error === undefined) return
    const checks = 'Check SLACK_APP_TOKEN, its scope connections:write, and that Socket Mode is turned on.'
    refused.reject(new StartError(`Slack does not open Socket Mode (${call.error}). ${checks}`))
  })
  const receiver = appToken
    ? socketReceiver(appToken, clientOptions, logger)
    : httpReceiver({
        signingSecrets: signingSecrets.map((secret) => secret.reveal()),
        logger,
        teamId,
        pages,
        onRefused(reason) {
          app.metrics.slackRefused(reason)
          const fields = { code: 'public-port-refused', problem: reason } as const
          app.lines.write({ fields, text: 'Refused a request to the public port', about: reason })
          if (reason === 'wrong signature for this workspace') app.slack.signature.isWrong = true
        },
      })
  for (const reason of unreadReasons) app.metrics.slackRefused(reason, 0)
  const bolt = new Bolt({
    receiver: guarded(receiver, app),
    token: botToken.reveal(),
    botId,
    botUserId,
    // Otherwise Bolt reads its identity from Slack once more.
    tokenVerificationEnabled: false,
    clientOptions,
    logger,
    convoStore: false,
    deferInitialization: true,
  })

  /** Returns the port in HTTP mode. Throws a StartError if it is taken or Slack refuses Socket Mode: its client would keep trying. */
  async function start(): Promise<number | undefined> {
    await bolt.init()
    const started: unknown = await Promise.race([bolt.start({ host, port }), refused.promise])
    return typeof started === 'number' ? started : undefined
  }

  return { bolt, start }
}

function socketReceiver(appToken: Secret, clientOptions: WebClientOptions, logger: Logger): SocketModeReceiver {
  const receiver = new SocketModeReceiver({
    appToken: appToken.reveal(),
    logger,
    // Retry the connection for weeks. If the client gave up, Lockkeeper would keep running without receiving anything.
    installerOptions: { clientOptions: { ...clientOptions, retryConfig: { retries: 50_000, factor: 1.5, maxTimeout: 30_000 } } },
  })
  readEveryEnvelope(receiver)
  return receiver
}

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
 * Bolt 5.1 reads members of members before any listener does: a null there makes it answer 500, and without a listener it answers 404 after
 * 3 s. So it gets only what a listener can read, as `context.received`, and what is not acknowledged in the end is acknowledged here.
 */
export function guarded(receiver: Receiver, app: App): Receiver {
  async function receive(bolt: Bolt, event: ReceiverEvent): Promise<void> {
    const startedAt = performance.now()
    app.slack.signature.isWrong = false
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

/** docs.slack.dev, "Handling user interaction": a form stays open, a picker is empty, a command gets a sentence. Others show no content. */
function acknowledgementFor(unhandled: LoggedPayload, body: unknown): unknown {
  if (unhandled.kind === 'view_submission') return keepForm(membersOf(body).view, problemWith('form', unhandled))
  if (unhandled.kind === 'command') return { response_type: 'ephemeral', text: problemWith('command', unhandled).text }
  return unhandled.kind === 'block_suggestion' ? { options: [] } : undefined
}

/** In a modal, it is that of the command or click that opened it. */
function responseUrlIn(body: unknown): string | undefined {
  const { response_url: given, view } = membersOf(body)
  if (typeof given === 'string') return given
  return readMetadata(String(membersOf(view).private_metadata))?.responseUrl
}

function problemWith(what: 'form' | 'command' | 'click', { why }: LoggedPayload): Mrkdwn {
  if (why === 'no-listener') return mrkdwn`Lockkeeper doesn't handle this. Nothing was changed. Use its command instead.`
  return why === 'listener-failed'
    ? mrkdwn`Something went wrong with this ${what}. Tell Lockkeeper's operators. The log has the details.`
    : mrkdwn`Couldn't read this ${what}. Nothing was changed. Try again. If it lasts, tell Lockkeeper's operators.`
}

/**
 * Keeps the form open with what was entered. Slack accepts errors for inputs only. If none can be read, the error is a view on top: closing it
 * brings the form back, because a view stack keeps the state of its views (docs.slack.dev, "Modals").
 */
export function keepForm(view: unknown, words: Mrkdwn): ViewResponseAction {
  const { blocks } = membersOf(view)
  const inputs = (Array.isArray(blocks) ? blocks : []).map(membersOf).filter(({ type }) => type === 'input')
  const blockId = inputs.find(({ block_id: id }) => typeof id === 'string' && id !== '')?.block_id
  if (blockId !== undefined) return { response_action: 'errors', errors: { [String(blockId)]: toPlainText(words) } }
  return { response_action: 'push', view: modal({ title: 'Lockkeeper', close: 'Back', blocks: wholeSection(words) }) }
}

/**
 * The client of @slack/socket-mode 3.1 throws at an envelope of the Events API without an event, as in `app_rate_limited`, and the unhandled
 * rejection ends the process. Given again under another type, it is accepted and acknowledged.
 */
function readEveryEnvelope({ client }: SocketModeReceiver): void {
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
