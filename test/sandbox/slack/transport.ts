import { createHmac, randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { addressOf, postToBot } from './http.ts'
import { isObject, type Json, objectOf, parseJson } from './json.ts'
import type { Delivery, DeliveryKind, DeliveryRequest, RawRequest } from './slack.ts'
import type { Parts } from './start-slack.ts'

/** Returns `X-Slack-Signature` of a body (docs.slack.dev/authentication/verifying-requests-from-slack). `timestamp` is in seconds. */
export function signatureOf(secret: string, timestamp: number, body: string): string {
  return `v0=${createHmac('sha256', secret).update(`v0:${timestamp}:${body}`).digest('hex')}`
}

export type Acknowledged = { outcome: 'answered'; payload: unknown } | { outcome: 'timeout' } | { outcome: 'unreachable' }

/**
 * The server side of Socket Mode: `hello`, envelopes with their acknowledgements, `disconnect`
 * (docs.slack.dev/apis/events-api/using-socket-mode).
 */
export function createSocketMode({ app, state, directory }: Pick<Parts, 'app' | 'state' | 'directory'>) {
  const { appId } = directory.bot
  const server = new WebSocketServer({ noServer: true })
  const tickets = new Set<string>()
  const open = new Set<WebSocket>()
  const waiting = new Map<string, (payload: unknown) => void>()
  let turn = 0

  function received(data: string): void {
    const message = parseJson(data)
    if (!isObject(message) || typeof message.envelope_id !== 'string') return
    waiting.get(message.envelope_id)?.(message.payload)
  }

  function welcome(socket: WebSocket): void {
    open.add(socket)
    socket.on('message', (data) => received(data.toString()))
    socket.on('close', () => {
      open.delete(socket)
      state.changed({ visible: false })
    })
    socket.on('error', () => socket.terminate())
    socket.send(
      JSON.stringify({
        type: 'hello',
        num_connections: open.size,
        connection_info: { app_id: appId },
      }),
    )
    state.changed({ visible: false })
  }

  return {
    issueUrl(): string {
      const ticket = randomUUID()
      tickets.add(ticket)
      return `${app.baseUrl().replace(/^http/, 'ws')}/link/?ticket=${ticket}&app_id=${appId}`
    },

    upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
      const url = addressOf(request)
      if (url.pathname !== '/link/' || !tickets.delete(url.searchParams.get('ticket') ?? '')) {
        socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
        return
      }
      server.handleUpgrade(request, socket, head, welcome)
    },

    count: (): number => open.size,

    /** Sends an envelope over the connections in turn, and waits for its acknowledgement. */
    send(envelopeId: string, envelope: string, deadlineMs: number): Promise<Acknowledged> {
      const socket = [...open][turn++ % Math.max(open.size, 1)]
      if (socket === undefined) return Promise.resolve({ outcome: 'unreachable' })
      return new Promise((resolve) => {
        const end = (result: Acknowledged) => {
          clearTimeout(deadline)
          waiting.delete(envelopeId)
          socket.off('close', gone)
          resolve(result)
        }
        const gone = () => end({ outcome: 'unreachable' })
        const deadline = setTimeout(() => end({ outcome: 'timeout' }), deadlineMs)
        waiting.set(envelopeId, (payload) => end({ outcome: 'answered', payload }))
        socket.on('close', gone)
        socket.send(envelope)
      })
    },

    disconnect(reason: string): void {
      const message: Json = { type: 'disconnect', reason, debug_info: { host: 'applink-1' } }
      for (const socket of open) socket.send(JSON.stringify(message))
    },

    close(): void {
      for (const socket of open) socket.terminate()
      server.close()
    },
  }
}
export type SocketMode = ReturnType<typeof createSocketMode>

// Slack sends this type without a charset, and Bolt accepts nothing else.
const form = 'application/x-www-form-urlencoded'

export type Sent = Pick<Delivery, 'outcome' | 'status' | 'ms' | 'body' | 'request'>

function bodyOf(text: string): unknown {
  return text === '' ? undefined : (parseJson(text) ?? text)
}

/** Delivers to the bot: over a Socket Mode connection if there is one, otherwise signed over HTTP. */
export function createTransport({ state, app, botUrl }: Pick<Parts, 'state' | 'app' | 'botUrl'>, socketMode: SocketMode) {
  const deadlineMs = app.ackDeadlineMs

  function signedHeaders(body: string, timestamp = Math.floor(state.now() / 1000), secret = app.signingSecret): Record<string, string> {
    return {
      'content-type': form,
      'user-agent': 'Slackbot 1.0 (+https://api.slack.com/robots)',
      accept: 'application/json,*/*',
      'x-slack-request-timestamp': String(timestamp),
      'x-slack-signature': signatureOf(secret, timestamp, body),
    }
  }

  /** Events are JSON and expect no answer. */
  function requestFor(kind: DeliveryKind, payload: Json): DeliveryRequest {
    if (socketMode.count() > 0) {
      const type = kind === 'command' ? 'slash_commands' : kind === 'event' ? 'events_api' : 'interactive'
      const tries = kind === 'event' ? { retry_attempt: 0, retry_reason: '' } : {}
      const envelope = { envelope_id: randomUUID(), payload, type, accepts_response_payload: kind !== 'event', ...tries }
      return { transport: 'socket', headers: {}, body: JSON.stringify(envelope) }
    }
    if (kind === 'event') {
      const body = JSON.stringify(payload)
      return { transport: 'http', headers: { ...signedHeaders(body), 'content-type': 'application/json' }, body }
    }
    const fields = kind === 'command' ? (payload as Record<string, string>) : { payload: JSON.stringify(payload) }
    const body = new URLSearchParams(fields).toString()
    return { transport: 'http', headers: signedHeaders(body), body }
  }

  async function overSocket(request: DeliveryRequest): Promise<Omit<Sent, 'ms' | 'request'>> {
    const id = String(objectOf(parseJson(request.body)).envelope_id)
    const result = await socketMode.send(id, request.body, deadlineMs)
    if (result.outcome !== 'answered') return { outcome: result.outcome }
    const isEmpty = result.payload === undefined || Object.keys(objectOf(result.payload)).length === 0
    return { outcome: 'acknowledged', body: isEmpty ? undefined : result.payload }
  }

  async function overHttp(request: DeliveryRequest): Promise<Omit<Sent, 'ms' | 'request'>> {
    const url = botUrl()
    if (url === undefined) return { outcome: 'unreachable' }
    const result = await postToBot(url, request.headers, request.body, deadlineMs)
    if (result.outcome !== 'answered') return { outcome: result.outcome }
    const outcome = result.status >= 200 && result.status < 300 ? 'acknowledged' : 'refused'
    return { outcome, status: result.status, body: bodyOf(result.body) }
  }

  /** Sends a request as it is. */
  async function send(request: DeliveryRequest): Promise<Sent> {
    const began = performance.now()
    const result = await (request.transport === 'socket' ? overSocket(request) : overHttp(request))
    return { ...result, ms: Math.round(performance.now() - began), request }
  }

  return {
    requestFor,
    send,

    async sendRaw(raw: RawRequest): Promise<{ status: number; body: string }> {
      const url = botUrl()
      if (url === undefined) throw new Error('No bot is connected over HTTP: there is no address to send to.')
      const headers = { ...signedHeaders(raw.body, raw.timestamp, raw.signingSecret), ...raw.headers }
      if (raw.contentType) headers['content-type'] = raw.contentType
      if (raw.signature) headers['x-slack-signature'] = raw.signature
      const result = await postToBot(url, headers, raw.body, 30_000)
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
