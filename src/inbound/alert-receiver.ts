import { createHash, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { whyNotListening } from '../domain/listening.ts'
import type { Secret } from '../domain/signing.ts'
import { settleWithin } from '../domain/within.ts'
import { createBodyReader, maxBodyBytes, mustEnd, serverLimits } from '../slack/http-receiver.ts'
import { type Alert, readPayload } from './alert-payload.ts'
import type { RefusalReason } from './alert-words.ts'
import { TryLater } from './alerts.ts'

const alertsPath = '/alerts/alertmanager'

/** Alertmanager has one connection for each group that it sends. Those without a valid token have the same room, apart from these. */
const maxConnections = 100

/** All unfinished bodies together may hold this much. */
const maxOpenBytes = 8 * 1_048_576

/** How many seconds a sender should wait after 503. Alertmanager ignores it and uses its own pauses. */
const retryAfterSeconds = 5

/** How long a stop waits for running deliveries. A delivery that is cut off got no 200, so its sender repeats it. */
const stopWithinMs = 5_000

interface AlertReceiverParts {
  host: string
  /** 0 selects any free port. */
  port: number
  tokens: readonly Secret[]
  /** Handles the alerts of a delivery. `later`: the sender has to repeat it. */
  takeDelivery: (alerts: Alert[], signal: AbortSignal) => Promise<'accepted' | 'later'>
  /** Receives why a delivery, or a part of it, was not taken. `count`: how many of its alerts that concerns, if it is known. */
  onRefused: (reason: RefusalReason, count?: number) => void
  /** Receives how many alerts the sender left out of a delivery. */
  onTruncated: (count: number) => void
}

/** An answer, and why a delivery was refused. */
interface Answer {
  status: 200 | 400 | 401 | 404 | 413 | 503
  reason?: RefusalReason
}

/**
 * Creates the server that takes alerts. The token is checked before the body is read. 200 means that every alert is recorded. The sender
 * soon repeats a delivery that got 503. After a 4xx it sends the group again only after its group interval.
 */
export function createAlertReceiver({ host, port, tokens, takeDelivery, onRefused, onTruncated }: AlertReceiverParts) {
  const isAuthorized = createCheckBearer(tokens)
  const readBody = createBodyReader({ maxBytes: maxBodyBytes, maxOpen: maxOpenBytes })
  const rate = createRate()
  const stopping = new AbortController()
  const running = new Set<Promise<unknown>>()
  const server = createServer(serverLimits, (request, response) => {
    const work = handle(request, response).finally(() => running.delete(work))
    running.add(work)
  })
  server.maxConnections = 2 * maxConnections
  const trust = limitStrangers(server, maxConnections)

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const refusal = refusalOf(request)
    if (refusal && refusal.status !== 413 && mustEnd(request)) response.setHeader('connection', 'close')
    const answer = refusal ?? (await take(request))
    if (!answer) return
    if (answer.reason) onRefused(answer.reason)
    if (answer.status === 401) response.setHeader('www-authenticate', 'Bearer')
    if (answer.status === 503) response.setHeader('retry-after', retryAfterSeconds)
    response.writeHead(answer.status).end()
  }

  /** Refuses by the request line and the headers. */
  function refusalOf({ method, url = '', headers, socket }: IncomingMessage): (Answer & { status: 401 | 404 | 413 }) | undefined {
    if (method !== 'POST' || URL.parse(url, 'http://localhost')?.pathname !== alertsPath) return { status: 404 }
    if (!isAuthorized(headers.authorization)) return { status: 401, reason: 'wrong-token' }
    trust(socket)
    return Number(headers['content-length'] ?? 0) > maxBodyBytes ? { status: 413, reason: 'too-large' } : undefined
  }

  /** Returns undefined if the sender closed the connection. */
  async function take(request: IncomingMessage): Promise<Answer | undefined> {
    const leave = rate.enter()
    if (!leave || stopping.signal.aborted) {
      leave?.()
      request.resume()
      return { status: 503, reason: 'too-many' }
    }
    try {
      const reading = await readBody(request)
      if (reading.is === 'not-sent') return undefined
      return reading.is === 'too-large' ? { status: 413, reason: 'too-large' } : await takeBody(reading.body.toString())
    } finally {
      leave()
    }
  }

  async function takeBody(body: string): Promise<Answer> {
    const read = readPayload(body)
    if (read.is === 'too-many') return { status: 413, reason: 'too-large' }
    if (read.is === 'unreadable') return { status: 400, reason: 'unreadable' }
    if (read.unreadable > 0) onRefused('unreadable', read.unreadable)
    if (read.truncated > 0) onTruncated(read.truncated)
    // The code that failed has already reported its error.
    const taken = await takeDelivery(read.alerts, stopping.signal).catch(() => 'later' as const)
    return { status: taken === 'accepted' ? 200 : 503 }
  }

  /** Returns the port. Throws StartError if Lockkeeper cannot listen there. */
  async function start(): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      const onError = (error: Error) =>
        reject(whyNotListening(error, { hostVariable: 'ALERTS_HOST', host, portVariable: 'ALERTS_PORT', port }))
      server.once('error', onError)
      server.listen(port, host, resolve)
    })
    return (server.address() as { port: number }).port
  }

  /** Stops taking deliveries: new ones get 503. Waits for the running ones. */
  async function stop(): Promise<void> {
    stopping.abort(new TryLater('Lockkeeper stops'))
    const closed = new Promise((resolve) => server.close(resolve))
    server.closeIdleConnections()
    await settleWithin(stopWithinMs, [...running])
    server.closeAllConnections()
    await closed
  }

  return { start, stop }
}

/**
 * Creates the check of an `Authorization` header. It compares hashes of one length with all tokens, so its time says nothing about them. Several
 * tokens are valid at once, so that a token can be replaced without losing an alert.
 */
function createCheckBearer(tokens: readonly Secret[]) {
  const valid = tokens.map((token) => digest(token.reveal()))

  return function isAuthorized(header: string | undefined): boolean {
    const [, token = ''] = /^Bearer +([\x21-\x7e]{1,1000}) *$/i.exec(header ?? '') ?? []
    const sent = digest(token)
    return valid.map((each) => timingSafeEqual(each, sent)).includes(true)
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/**
 * Ends the oldest connection without a valid token while there are more than `most`. Otherwise somebody without a token could hold all connections
 * that a port takes, and keep every alert out. A sender with the token sends it at once, and its connection then counts no more. Returns the function
 * that says so.
 */
function limitStrangers(server: Server, most: number): (known: Socket) => void {
  /** In the order in which they came. */
  const strangers = new Set<Socket>()

  server.on('connection', (socket: Socket) => {
    const [oldest] = strangers
    if (strangers.size >= most) oldest?.destroy()
    strangers.add(socket)
    socket.once('close', () => strangers.delete(socket))
  })

  return (known) => void strangers.delete(known)
}

/** Each new alert takes some reads of the account, so only a few deliveries run at a time. */
const mostAtOnce = 8

/** Alertmanager sends a group every few minutes. This allows for hundreds of groups. */
const mostInWindow = 300
const windowMs = 60_000

/**
 * Creates the limit of deliveries in this process. `enter` returns undefined if there are too many, and otherwise the function to call at
 * the end.
 */
export function createRate({ now = Date.now }: { now?: () => number } = {}) {
  let inside = 0
  let window = { at: 0, count: 0 }

  function enter(): (() => void) | undefined {
    if (now() - window.at >= windowMs) window = { at: now(), count: 0 }
    if (inside >= mostAtOnce || window.count >= mostInWindow) return undefined
    inside += 1
    window.count += 1
    return () => {
      inside -= 1
    }
  }

  return { enter }
}
