import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { FaultBox } from './faults.ts'
import { type Json, objectOf, parseJson } from './json.ts'
import { postToBot } from './post-to-bot.ts'
import { signatureOf } from './signature.ts'
import type { Delivery, DeliveryKind, DeliveryRequest, RawRequest } from './slack.ts'
import type { SocketMode } from './socket-mode.ts'
import type { State } from './state.ts'

// Slack sends this type without a charset, and Bolt accepts nothing else.
const form = 'application/x-www-form-urlencoded'

export interface TransportOptions {
  state: State
  faults: FaultBox
  socketMode: SocketMode
  signingSecret: string
  botUrl: () => string | undefined
  deadlineMs: number
}

export type Sent = Pick<Delivery, 'outcome' | 'status' | 'ms' | 'body' | 'request'>

function bodyOf(text: string): unknown {
  return text === '' ? undefined : (parseJson(text) ?? text)
}

/** Delivers to the bot: over a Socket Mode connection if there is one, otherwise signed over HTTP. */
export function createTransport(options: TransportOptions) {
  const { state, faults, socketMode, deadlineMs } = options

  function signedHeaders(body: string, timestamp = Math.floor(state.now() / 1000), secret = options.signingSecret): Record<string, string> {
    return {
      'content-type': form,
      'user-agent': 'Slackbot 1.0 (+https://api.slack.com/robots)',
      accept: 'application/json,*/*',
      'x-slack-request-timestamp': String(timestamp),
      'x-slack-signature': signatureOf(secret, timestamp, body),
    }
  }

  /** Events are JSON and expect no answer. */
  function eventRequest(payload: Json): DeliveryRequest {
    if (socketMode.count() > 0) {
      const tries = { retry_attempt: 0, retry_reason: '' }
      const envelope = { envelope_id: randomUUID(), payload, type: 'events_api', accepts_response_payload: false, ...tries }
      return { transport: 'socket', headers: {}, body: JSON.stringify(envelope) }
    }
    const body = JSON.stringify(payload)
    return { transport: 'http', headers: { ...signedHeaders(body), 'content-type': 'application/json' }, body }
  }

  function requestFor(kind: Exclude<DeliveryKind, 'event'>, payload: Json): DeliveryRequest {
    if (socketMode.count() > 0) {
      const type = kind === 'command' ? 'slash_commands' : 'interactive'
      const envelope = { envelope_id: randomUUID(), payload, type, accepts_response_payload: true }
      return { transport: 'socket', headers: {}, body: JSON.stringify(envelope) }
    }
    const fields = kind === 'command' ? (payload as Record<string, string>) : { payload: JSON.stringify(payload) }
    const body = new URLSearchParams(fields).toString()
    return { transport: 'http', headers: signedHeaders(body), body }
  }

  async function overSocket(request: DeliveryRequest, withinMs: number): Promise<Omit<Sent, 'ms' | 'request'>> {
    const id = String(objectOf(parseJson(request.body)).envelope_id)
    const result = await socketMode.send(id, request.body, withinMs)
    if (result.outcome !== 'answered') return { outcome: result.outcome }
    const isEmpty = result.payload === undefined || Object.keys(objectOf(result.payload)).length === 0
    return { outcome: 'acknowledged', body: isEmpty ? undefined : result.payload }
  }

  async function overHttp(request: DeliveryRequest, withinMs: number): Promise<Omit<Sent, 'ms' | 'request'>> {
    const url = options.botUrl()
    if (url === undefined) return { outcome: 'unreachable' }
    const result = await postToBot(url, request.headers, request.body, withinMs)
    if (result.outcome !== 'answered') return { outcome: result.outcome }
    const outcome = result.status >= 200 && result.status < 300 ? 'acknowledged' : 'refused'
    return { outcome, status: result.status, body: bodyOf(result.body) }
  }

  /** Sends a request as it is. Delays and losses happen here, in place of the network. */
  async function send(kind: DeliveryKind, request: DeliveryRequest, payload: Json): Promise<Sent> {
    const began = performance.now()
    const fault = faults.take([`delivery.${kind}`, 'delivery'], payload)
    const delayMs = fault?.kind === 'delay' ? (fault.delayMs ?? 1000) : 0
    if (delayMs > 0) await wait(delayMs)
    const over = request.transport === 'socket' ? overSocket : overHttp
    const result =
      fault?.kind === 'drop-before' ? { outcome: 'unreachable' as const } : await over(request, Math.max(1, deadlineMs - delayMs))
    const ms = Math.round(performance.now() - began)
    return { ...(fault?.kind === 'drop-after' ? { outcome: 'unreachable' as const } : result), ms, request }
  }

  return {
    requestFor,
    eventRequest,
    send,

    async sendRaw(raw: RawRequest): Promise<{ status: number; body: string }> {
      const url = options.botUrl()
      if (url === undefined) throw new Error('No bot is connected over HTTP: there is no address to send to.')
      const headers = { ...signedHeaders(raw.body, raw.timestamp, raw.signingSecret), ...raw.headers }
      if (raw.contentType) headers['content-type'] = raw.contentType
      if (raw.signature) headers['x-slack-signature'] = raw.signature
      const result = await postToBot(url, headers, raw.body, 10_000)
      if (result.outcome !== 'answered') throw new Error(`The bot did not answer: ${result.outcome}.`)
      return { status: result.status, body: result.body }
    },

    async sendEnvelope(type: string, payload: unknown): Promise<unknown> {
      const envelope = { envelope_id: randomUUID(), payload, type, accepts_response_payload: type !== 'events_api' }
      const result = await socketMode.send(envelope.envelope_id, JSON.stringify(envelope), deadlineMs)
      if (result.outcome !== 'answered') throw new Error(`The bot did not acknowledge: ${result.outcome}.`)
      return result.payload
    },
  }
}
export type Transport = ReturnType<typeof createTransport>
