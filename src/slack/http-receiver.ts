import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http'
import { BlockList, isIPv6, type Socket } from 'node:net'
import {
  type BufferedIncomingMessage,
  HTTPReceiver,
  HTTPModuleFunctions as http,
  isValidSlackRequest,
  type Logger,
  type SocketModeReceiver,
} from '@slack/bolt'
import type { ErrorCode } from '../domain/errors.ts'
import { createRepeats } from '../domain/repeats.ts'

/**
 * Slack waits 3 s for an answer, so nobody reads the answer to a request that takes longer than 5 s to arrive. Until then a slow sender
 * holds one of the connections. Alertmanager sends its payloads just as fast.
 */
export const serverLimits = { headersTimeout: 5_000, requestTimeout: 5_000, connectionsCheckingInterval: 1_000 } satisfies ServerOptions

/** Slack waits this long for an answer. A connection that is still open then must not delay the end of the process. */
const stopWithinMs = 3_000

/** An address in `trustedProxies` may send this many unsigned requests in a second over kept connections: probes, and what scanners send. */
const unsignedPerSecond = 20

export interface ConnectionLimits {
  /** IP addresses, or ranges such as 10.0.0.0/8, whose connections carry the requests of many. */
  trustedProxies: readonly string[]
  maxConnections?: number
  /** How long a connection may send nothing signed while there are many. */
  quietMs?: number
}

interface Connection {
  /** When it last sent something signed, or else began. */
  since: number
  inFlight: number
  isTrusted: boolean
}

/**
 * Limits the server of a receiver: how long a request may take to arrive, how many connections there may be, who may keep theirs, and how long
 * it takes to stop.
 */
export function limitServer(receiver: HTTPReceiver, { trustedProxies, maxConnections = 1_000, quietMs = 5_000 }: ConnectionLimits) {
  const start = receiver.start.bind(receiver)
  const stop = receiver.stop.bind(receiver)
  const trusted = blockListOf(trustedProxies)
  /** The one that has been quiet for longest comes first. */
  const connections = new Map<Socket, Connection>()
  /** How many unsigned requests each trusted address has sent within this second. */
  const unsigned = new Map<string | undefined, number>()
  let server: Server | undefined

  function limit(started: Server): void {
    started.maxConnections = maxConnections
    started.on('connection', (socket: Socket) => {
      const { remoteAddress } = socket
      const isTrusted = remoteAddress !== undefined && trusted.check(remoteAddress, isIPv6(remoteAddress) ? 'ipv6' : 'ipv4')
      connections.set(socket, { since: performance.now(), inFlight: 0, isTrusted })
      socket.once('close', () => connections.delete(socket))
    })
    started.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
      const connection = connections.get(socket)
      if (!connection) return
      connection.inFlight += 1
      response.once('close', () => {
        connection.inFlight -= 1
      })
    })
    const timer = setInterval(() => {
      unsigned.clear()
      makeRoom()
    }, 1_000).unref()
    started.once('close', () => clearInterval(timer))
  }

  /** Keeps a fifth of the connections free, for those who sign their requests. */
  function makeRoom(): void {
    let tooMany = connections.size - 0.8 * maxConnections
    for (const [socket, { since, inFlight, isTrusted }] of connections) {
      if (tooMany <= 0 || performance.now() - since < quietMs) return
      if (inFlight > 0 || isTrusted) continue
      socket.destroy()
      tooMany -= 1
    }
  }

  function noteSigned({ socket }: IncomingMessage): void {
    const connection = connections.get(socket)
    if (!connection) return
    connection.since = performance.now()
    connections.delete(socket)
    connections.set(socket, connection)
  }

  /**
   * Returns what becomes of the connection of an unsigned request. Otherwise somebody could hold all connections with them, and keep Slack out.
   * `limited`: a trusted proxy sends too many.
   */
  function noteUnsigned({ socket }: IncomingMessage): 'kept' | 'ended' | 'limited' {
    if (!connections.get(socket)?.isTrusted) return 'ended'
    const count = (unsigned.get(socket.remoteAddress) ?? 0) + 1
    unsigned.set(socket.remoteAddress, count)
    return count > unsignedPerSecond ? 'limited' : 'kept'
  }

  const limited = Object.assign(receiver, {
    async start(listenOn?: Parameters<typeof start>[0], options: ServerOptions = {}): Promise<Server> {
      server = (await start(listenOn as number, { ...serverLimits, ...options })) as Server
      limit(server)
      return server
    },
    async stop(): Promise<void> {
      const timer = setTimeout(() => server?.closeAllConnections(), stopWithinMs)
      await stop().finally(() => clearTimeout(timer))
    },
  })
  return { receiver: limited, noteSigned, noteUnsigned }
}

/** `BlockList` also finds an IPv4 address that is written as an IPv6 one, as on a server that listens on `::`. */
function blockListOf(proxies: readonly string[]): BlockList {
  const list = new BlockList()
  for (const proxy of proxies) {
    const [address = '', prefix] = proxy.split('/')
    const family = isIPv6(address) ? 'ipv6' : 'ipv4'
    list.addSubnet(address, Number(prefix ?? (family === 'ipv6' ? 128 : 32)), family)
  }
  return list
}

interface RefusalLogOptions {
  /** Names the port in the line. */
  port?: string
  /** Tells the log which of its lines this is. */
  code?: ErrorCode
  everyMs?: number
}

/**
 * Logs refused requests: the first one at once, those that follow in one line a minute, with their numbers. Anybody can send requests to a
 * port, and one line for each would fill the log. `flush` logs what has not been logged yet.
 */
export function createRefusalLog<Reason extends string>(
  logger: { warn(line: string, which: { code: ErrorCode }): void },
  { port = 'the public port', code = 'public-port-refused', ...often }: RefusalLogOptions = {},
) {
  const counts = new Map<Reason, number>()
  const repeats = createRepeats(often)

  function note(reason: Reason): void {
    counts.set(reason, (counts.get(reason) ?? 0) + 1)
    repeats.note(code, { report: write })
  }

  function write(): void {
    const parts = [...counts].map(([reason, count]) => `${reason} (${count})`)
    const all = [...counts.values()].reduce((sum, count) => sum + count, 0)
    counts.clear()
    logger.warn(`Refused ${all} ${all === 1 ? 'request' : 'requests'} to ${port}: ${parts.join(', ')}.`, { code })
  }

  return { note, flush: repeats.flush }
}

/** The most bytes that all unfinished bodies together may hold. */
const maxOpenBytes = 32 * 1_048_576

type BodyReading = { is: 'read'; body: Buffer } | { is: 'too-large' } | { is: 'not-sent' }

/** Bodies are kept in blocks of this size. Most of Slack's requests fit into one. */
const blockBytes = 16_384

interface OpenBody {
  /** All blocks but the last one are full. */
  blocks: Buffer[]
  end: (reading: BodyReading) => void
}

/**
 * Creates the function that reads bodies. Bolt's own reader keeps each chunk as it arrived. A body in chunks of one byte then takes a hundred
 * times its size, and the bytes that it holds say little. Here all chunks are copied into blocks.
 */
export function createBodyReader({ maxBytes, maxOpen = maxOpenBytes }: { maxBytes: number; maxOpen?: number }) {
  /** In the order in which they began. */
  const open = new Map<IncomingMessage, OpenBody>()
  let held = 0

  /** Appends a chunk to a body that has `length` bytes. */
  function append({ blocks }: OpenBody, length: number, chunk: Buffer): void {
    for (let copied = 0; copied < chunk.length; ) {
      const at = (length + copied) % blockBytes
      if (at === 0) {
        blocks.push(Buffer.allocUnsafeSlow(blockBytes))
        held += blockBytes
      }
      copied += chunk.copy(blocks[blocks.length - 1] as Buffer, at, copied)
    }
  }

  /** Drops the oldest bodies until the rest fits. Slack sends a request at once, so the oldest is hardly ever one of Slack's. */
  function dropOldest(): void {
    for (const [request, body] of open) {
      if (held <= maxOpen) return
      body.end({ is: 'not-sent' })
      request.destroy()
    }
  }

  /** Reads a whole body. `too-large`: it has more than `maxBytes`. `not-sent`: it was cut off, or dropped because others needed the room. */
  return function readBody(request: IncomingMessage): Promise<BodyReading> {
    return new Promise((resolve) => {
      let length = 0
      const body: OpenBody = { blocks: [], end }
      open.set(request, body)

      function end(reading: BodyReading): void {
        if (!open.delete(request)) return
        held -= body.blocks.length * blockBytes
        body.blocks = []
        resolve(reading)
      }

      request.on('data', (chunk: Buffer) => {
        // The rest of a body that is too large is discarded, so that the sender can read the answer.
        if (!open.has(request)) return
        if (length + chunk.length > maxBytes) return end({ is: 'too-large' })
        // Most bodies come in one chunk, which is not copied.
        if (chunk.length === Number(request.headers['content-length'])) return end({ is: 'read', body: chunk })
        append(body, length, chunk)
        length += chunk.length
        dropOldest()
      })
      request.on('end', () => end({ is: 'read', body: Buffer.concat(body.blocks, length) }))
      request.on('error', () => end({ is: 'not-sent' }))
      request.on('close', () => end({ is: 'not-sent' }))
    })
  }
}

export const endpoint = '/slack/events'

/** The most bytes of one body. A click carries the whole message, so bodies of some 100 kB are usual. */
export const maxBodyBytes = 1_048_576

/** The media type of commands and interactions. Slack sends it without parameters, and Bolt accepts no others. */
const formType = 'application/x-www-form-urlencoded'

/** How far the time stamp of a request may be off, in either direction (docs.slack.dev, "Verifying requests from Slack"). */
const maxOffSeconds = 300

/** The longest body of Slack's certificate check: `ssl_check=1&token=…`. It is the one request that Slack does not sign. */
const maxCertificateCheckBytes = 200

export type RefusalReason = 'no signature' | 'time stamp off' | 'wrong signature' | 'too large' | 'wrong content' | 'not sent in time'

interface UnreadRefusal {
  status: 401 | 404 | 413 | 415
  /** Undefined for another path or method. Probes and scanners send these requests, which need no action. */
  reason: RefusalReason | undefined
}

/** Node discards a body of this size after the answer. That takes memory for a moment, so the connection of a longer one is ended instead. */
const maxDiscardedBytes = 65_536

/**
 * Refuses by the request line and the headers what Bolt would refuse after it has read the body. An unsigned request then costs no memory.
 * Bolt's check of signatures accepts time stamps of the future, so a replay could be kept for later; this refuses them.
 */
export function refusalOf(request: Pick<IncomingMessage, 'method' | 'url' | 'headers'>, nowMs: number): UnreadRefusal | undefined {
  const { method, url = '', headers } = request
  if (method !== 'POST' || !isForEndpoint(url)) return { status: 404, reason: undefined }
  if (Number(headers['content-length'] ?? 0) > maxBodyBytes) return { status: 413, reason: 'too large' }
  if (!isForm(headers) && !/^application\/json *(;|$)/i.test(headers['content-type'] ?? '')) return { status: 415, reason: 'wrong content' }
  if (mayBeCertificateCheck(headers)) return undefined
  const { 'x-slack-signature': signature, 'x-slack-request-timestamp': timestamp } = headers
  if (!signature || !timestamp) return { status: 401, reason: 'no signature' }
  return isRecent(String(timestamp), nowMs) ? undefined : { status: 401, reason: 'time stamp off' }
}

function isForEndpoint(url: string): boolean {
  return url === endpoint || URL.parse(url, 'http://localhost')?.pathname === endpoint
}

/** Whether the connection of a refused request has to be ended, because its body is long. */
export function mustEnd({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  const length = headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : Number.POSITIVE_INFINITY
  return length > maxDiscardedBytes
}

export function isForm(headers: IncomingMessage['headers']): boolean {
  return headers['content-type'] === formType
}

/** Whether an unsigned request may be a certificate check. Its body is short, so it is read. */
export function mayBeCertificateCheck(headers: IncomingMessage['headers']): boolean {
  const { 'content-length': length, 'x-slack-signature': signature } = headers
  return !signature && isForm(headers) && length !== undefined && Number(length) <= maxCertificateCheckBytes
}

/** Whether a body is that of a certificate check. Slack expects 200 and no more (docs.slack.dev, "Implementing slash commands"). */
export function isCertificateCheck(body: string): boolean {
  return new URLSearchParams(body).get('ssl_check') === '1'
}

/** `timestamp` is in seconds since 1970. */
function isRecent(timestamp: string, nowMs: number): boolean {
  return /^\d{1,12}$/.test(timestamp) && Math.abs(Math.floor(nowMs / 1_000) - Number(timestamp)) <= maxOffSeconds
}

interface HttpSettings extends ConnectionLimits {
  signingSecret: string
  port: number
  logger: Logger
  /** Called for every signed request whose content is `null`. */
  onNull: () => void
}

/**
 * Receives Slack's requests over HTTP. Bolt gets only those whose signature its own function has found valid, so that the connections of others can be
 * told from those of Slack. Bolt checks the signature once more.
 */
export function httpReceiver({ signingSecret, port, logger, onNull, ...limits }: HttpSettings): HTTPReceiver {
  const refusals = createRefusalLog<RefusalReason>(logger)
  // Bolt has one warning for each request that it refuses. `refusals` has one line for many.
  const quietLogger: Logger = { ...logger, warn: () => {} }
  const { receiver, noteSigned, noteUnsigned } = limitServer(
    new HTTPReceiver({
      signingSecret,
      port,
      endpoints: endpoint,
      bodyLimit: maxBodyBytes,
      logger: quietLogger,
    }),
    limits,
  )
  const { requestListener: listen, stop } = receiver
  const readBody = createBodyReader({ maxBytes: maxBodyBytes })

  function refuse(response: ServerResponse, status: number, reason: RefusalReason | undefined): void {
    if (reason) refusals.note(reason)
    response.writeHead(status).end()
  }

  /** Answers a request without a valid signature at once, and ends its connection when its body has arrived, so that the sender can read why. */
  function answerUnsigned(response: ServerResponse, status: number, reason?: RefusalReason): void {
    if (reason) refusals.note(reason)
    const { req: request } = response
    const connection = noteUnsigned(request)
    if (connection !== 'kept' || mustEnd(request)) response.setHeader('connection', 'close')
    response.writeHead(connection === 'limited' ? 429 : status, { 'content-length': 0 })
    if (request.complete || mustEnd(request)) return void response.end()
    response.flushHeaders()
    request.resume().once('close', () => response.end())
  }

  /** Answers the requests that Bolt must not or cannot answer, and passes the others on with their bodies. */
  async function handleRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const refusal = refusalOf(request, Date.now())
    // The body of one that is too large is discarded, so that its sender can read why.
    if (refusal?.status === 413) return refuse(response, 413, 'too large')
    if (refusal) return answerUnsigned(response, refusal.status, refusal.reason)
    const reading = await readBody(request)
    if (reading.is === 'too-large') return refuse(response, 413, 'too large')
    if (reading.is === 'not-sent') return refusals.note('not sent in time')
    const text = reading.body.toString()
    if (mayBeCertificateCheck(request.headers)) {
      return isCertificateCheck(text) ? answerUnsigned(response, 200) : answerUnsigned(response, 401, 'no signature')
    }
    if (!isSigned(request.headers, text)) return answerUnsigned(response, 401, 'wrong signature')
    noteSigned(request)
    if (isForm(request.headers) && looksLikeJson.test(text)) return refuse(response, 400, 'wrong content')
    const buffered: BufferedIncomingMessage = Object.assign(request, { rawBody: reading.body })
    // Bolt reads `null` as an object.
    if (mayBeNull.test(text) && isNull(buffered)) return acknowledgeNull(response)
    response.once('finish', () => {
      if (response.statusCode === 400) refusals.note('wrong content')
    })
    listen(buffered, response)
  }

  function acknowledgeNull(response: ServerResponse): void {
    onNull()
    response.writeHead(200).end()
  }

  /** Checks the signature with Bolt's function. */
  function isSigned(headers: IncomingMessage['headers'], body: string): boolean {
    const signature = String(headers['x-slack-signature'])
    const timestamp = Number(headers['x-slack-request-timestamp'])
    const signed = { 'x-slack-signature': signature, 'x-slack-request-timestamp': timestamp }
    return isValidSlackRequest({ signingSecret, body, headers: signed })
  }

  return Object.assign(receiver, {
    requestListener: (request: IncomingMessage, response: ServerResponse) => void handleRequest(request, response),
    stop(): Promise<void> {
      refusals.flush()
      return stop()
    },
  })
}

/**
 * Matches JSON, which Slack never sends as a form. The signature covers the body but not its type. So a recorded event whose text has
 * `&payload=` in it could be sent again as the click of another person.
 */
const looksLikeJson = /^\s*["[{]/

/**
 * Matches bodies that may hold `null`. Nearly all requests do not match, and are not parsed twice. Bolt 5.1 expects an object in every signed
 * request. If the content is `null`, its unhandled rejection ends the process.
 */
const mayBeNull = /(?:^|&)payload=(?!\{|%7b)|^\s*n/i

function isNull(buffered: BufferedIncomingMessage): boolean {
  try {
    return http.parseHTTPRequestBody(buffered) === null
  } catch {
    // Bolt refuses content that is not JSON.
    return false
  }
}

type Client = SocketModeReceiver['client']

/**
 * Makes a Socket Mode client accept every envelope. The client of @slack/socket-mode 3.1 expects an event in each envelope of the Events
 * API. It throws if there is none, as in `app_rate_limited`, and the unhandled rejection ends the process. Such an envelope is handed to
 * the client again under another type: it then accepts and acknowledges it.
 */
export function readEveryEnvelope(client: Client): void {
  const [accept] = client.listeners('ws_message') as ((data: string | ArrayBuffer, isBinary: boolean) => Promise<void>)[]
  if (!accept) throw new Error('the Socket Mode client has no listener for its messages')
  client.removeAllListeners('ws_message')
  client.on('ws_message', (data: string | ArrayBuffer, isBinary: boolean) => {
    accept(data, isBinary).catch(() => {
      const envelope = readEnvelope(data)
      return envelope && accept(JSON.stringify({ ...envelope, type: 'without_event' }), false)
    })
  })
}

/** Parses an envelope. Undefined for anything else, because only envelopes need an acknowledgement. */
function readEnvelope(data: string | ArrayBuffer): object | undefined {
  const envelope: unknown = JSON.parse(typeof data === 'string' ? data : new TextDecoder().decode(data))
  return typeof envelope === 'object' && envelope !== null && 'envelope_id' in envelope ? envelope : undefined
}
