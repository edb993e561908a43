import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { App as Bolt, Logger, Receiver } from '@slack/bolt'
import { createLimitedServer, type LimitedRequest } from '../ops/server.ts'

/** Slack waits this long for an answer. A connection that is still open then must not delay the end of the process. */
const stopWithinMs = 3_000

/** A page for browsers, with all paths below its own. It answers strangers: it trusts nothing, and costs little until a link is genuine. */
export interface Page {
  /** `/passkeys` */
  path: string
  /** `body`: '' of a GET. Never throws. */
  answer: (request: Pick<IncomingMessage, 'method' | 'headers'>, path: string, body: string) => Promise<PageAnswer>
}

export interface PageAnswer {
  status: number
  headers?: Record<string, string>
  body?: string
}

/** An answer of a browser to a ceremony has about 2 kB. */
const maxPageBodyBytes = 16_384

interface HttpSettings {
  pages?: Page[]
  /** While one is replaced, Slack signs with the old or with the new one. */
  signingSecrets: string[]
  logger: Logger
  /** The id of the workspace. Undefined for an app of a whole organisation. */
  teamId?: string
  onRefused: (reason: UnreadReason) => void
}

/** Bolt's own receiver reads whole bodies of anybody, ends the process on a signed `null`, and has no limits for connections. */
export function httpReceiver({ signingSecrets, logger, teamId = '', onRefused, pages = [] }: HttpSettings): Receiver {
  if (signingSecrets.length === 0 || signingSecrets.includes(''))
    throw new Error('no signing secret: everybody could sign with an empty one')
  const readBody = createBodyReader({ maxBytes: maxBodyBytes })
  const takePage = createPages(pages)
  const server = createLimitedServer({
    named: { host: 'HOST', port: 'PORT' },
    mostConnections: 1_000,
    stopWithinMs,
    handle: (limited) => void take(limited).catch((error: Error) => logger.error(error)),
  })
  let bolt: Bolt | undefined

  async function take({ request, response, trust }: LimitedRequest): Promise<void> {
    const page = takePage(request, response)
    if (page) return page
    const refusal = refusalOf(request, Date.now())
    if (refusal?.status === 413) return refuseTooLarge(response)
    if (refusal) return answerUnsigned(response, refusal.status, refusal.reason)
    const reading = await readBody(request)
    if (reading.is === 'too-large') return refuseTooLarge(response)
    if (reading.is === 'not-sent') return onRefused('not sent in time')
    const text = reading.body.toString()
    if (mayBeCertificateCheck(request.headers)) {
      // Slack expects 200 and no more (docs.slack.dev, "Implementing slash commands").
      const isCheck = new URLSearchParams(text).get('ssl_check') === '1'
      return isCheck ? answerUnsigned(response, 200) : answerUnsigned(response, 401, 'no signature')
    }
    if (!isSigned(request.headers, text))
      return answerUnsigned(response, 401, text.includes(teamId) ? 'wrong signature for this workspace' : 'wrong signature')
    if (!trust()) return void response.writeHead(503).end()
    const content = readContent(request.headers, text)
    if (!content) {
      onRefused('wrong content')
      return void response.writeHead(400).end()
    }
    const { body } = content
    if (body?.type === 'url_verification') return acknowledge(response, { challenge: body.challenge })
    await bolt?.processEvent({ body, ack: async (answer) => acknowledge(response, answer) })
  }

  /** docs.slack.dev, "Verifying requests from Slack". Bolt's check takes four times as long, and ignores what follows. */
  function isSigned(headers: IncomingHttpHeaders, body: string): boolean {
    const { 'x-slack-signature': signature, 'x-slack-request-timestamp': timestamp } = headers
    const sent = Buffer.from(String(signature))
    return signingSecrets.some((secret) => {
      const valid = Buffer.from(`v0=${createHmac('sha256', secret).update(`v0:${timestamp}:${body}`).digest('hex')}`)
      return sent.length === valid.length && timingSafeEqual(sent, valid)
    })
  }

  function refuseTooLarge(response: ServerResponse): void {
    onRefused('too large')
    response.writeHead(413, { 'content-length': 0 })
    endAfterBody(response)
  }

  function answerUnsigned(response: ServerResponse, status: number, reason?: UnreadReason): void {
    if (reason) onRefused(reason)
    response.writeHead(status, { 'content-length': 0 })
    if (mustEnd(response.req)) response.end()
    else endAfterBody(response)
  }

  return {
    init(app) {
      bolt = app
    },
    start: server.start,
    stop: server.stop,
  }
}

/**
 * Answers what is for a page. Undefined: it is for none, which is known at once, so that the next request of a packet does not come first. Bodies of
 * pages have a limit of their own, so that they never push out one of Slack's.
 */
function createPages(pages: Page[]): (request: IncomingMessage, response: ServerResponse) => Promise<void> | undefined {
  const readBody = createBodyReader({ maxBytes: maxPageBodyBytes, maxOpen: 64 * maxPageBodyBytes })

  async function answerPage(page: Page, path: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    const reading = isRead ? undefined : await readBody(request)
    if (reading?.is === 'not-sent') return
    const { status, headers, body } =
      reading?.is === 'too-large'
        ? { status: 413 }
        : await page.answer(request, path.slice(page.path.length), reading?.body.toString() ?? '')
    response.writeHead(status, { ...safe, 'content-length': Buffer.byteLength(body ?? ''), ...headers })
    if (mustEnd(request) || request.method === 'HEAD') response.end()
    else response.end(body)
  }

  return (request, response) => {
    const path = (request.url ?? '').split(/[?#]/)[0] ?? ''
    const page = pages.find((each) => path === each.path || path.startsWith(`${each.path}/`))
    return page && answerPage(page, path, request, response)
  }
}

/** Nothing keeps a page, nothing else shows it, and no other page learns its address, which may be a link for one person. */
const safe = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

/** The port of the pages alone, where Slack does not use it: in Socket Mode. */
export function pagesServer(pages: Page[]) {
  const takePage = createPages(pages)
  return createLimitedServer({
    named: { host: 'HOST', port: 'PORT' },
    mostConnections: 200,
    stopWithinMs,
    handle: ({ request, response }) => void (takePage(request, response) ?? response.writeHead(404).end()),
  })
}

/** Sends the head of the answer at once, and discards the body before the end of the connection, so that the sender can read why. */
function endAfterBody(response: ServerResponse): void {
  if (response.req.complete) return void response.end()
  response.flushHeaders()
  response.req.resume().once('close', () => response.end())
}

function acknowledge(response: ServerResponse, answer: unknown): void {
  if (answer === undefined) response.writeHead(200).end()
  else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
}

export const endpoint = '/slack/events'

function isEndpoint({ url = '' }: Pick<IncomingMessage, 'url'>): boolean {
  return url === endpoint || URL.parse(url, 'http://localhost')?.pathname === endpoint
}

/** The most bytes of one body. A click carries the whole message, so bodies of some 100 kB are usual. */
export const maxBodyBytes = 1_048_576

const formType = 'application/x-www-form-urlencoded'

/** Slack's own advice against recorded requests that are sent again (docs.slack.dev, "Verifying requests from Slack"). */
export const maxOffSeconds = 300

/** The longest body of Slack's certificate check: `ssl_check=1&token=…`. It is the one request that Slack does not sign. */
const maxCertificateCheckBytes = 200

/** Strangers do not know the id of the workspace. A wrong signature under it comes from Slack, unless somebody who knows it forged it. */
export const unreadReasons = [
  'no signature',
  'time stamp off',
  'wrong signature',
  'wrong signature for this workspace',
  'too large',
  'wrong content',
  'not sent in time',
] as const
type UnreadReason = (typeof unreadReasons)[number]

/** `reason`: undefined for another path or method. Probes and scanners send these requests, which need no action. */
type UnreadRefusal = { status: 401 | 404 | 413 | 415; reason: UnreadReason | undefined }

/** Node discards a body of this size after the answer. That takes memory for a moment, so the connection of a longer one is ended instead. */
const maxDiscardedBytes = 65_536

/** Before the body is read: an unsigned request costs no memory. Bolt accepts time stamps of the future, so a replay could be kept for later. */
function refusalOf(request: Pick<IncomingMessage, 'method' | 'url' | 'headers'>, nowMs: number): UnreadRefusal | undefined {
  const { method, headers } = request
  if (method !== 'POST' || !isEndpoint(request)) return { status: 404, reason: undefined }
  if (Number(headers['content-length'] ?? 0) > maxBodyBytes) return { status: 413, reason: 'too large' }
  if (!isForm(headers) && !/^application\/json *(;|$)/i.test(headers['content-type'] ?? '')) return { status: 415, reason: 'wrong content' }
  if (mayBeCertificateCheck(headers)) return undefined
  const { 'x-slack-signature': signature, 'x-slack-request-timestamp': timestamp } = headers
  if (!signature || !timestamp) return { status: 401, reason: 'no signature' }
  const isRecent = /^\d{1,12}$/.test(String(timestamp)) && Math.abs(Math.floor(nowMs / 1_000) - Number(timestamp)) <= maxOffSeconds
  return isRecent ? undefined : { status: 401, reason: 'time stamp off' }
}

export function mustEnd({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  const length = headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : Number.POSITIVE_INFINITY
  return length > maxDiscardedBytes
}

function isForm(headers: IncomingHttpHeaders): boolean {
  return headers['content-type'] === formType
}

/** Whether an unsigned request may be a certificate check. Its body is short, so it is read. */
function mayBeCertificateCheck(headers: IncomingHttpHeaders): boolean {
  const { 'content-length': length, 'x-slack-signature': signature } = headers
  return !signature && isForm(headers) && length !== undefined && Number(length) <= maxCertificateCheckBytes
}

/**
 * Reads a signed body: JSON, a form, or JSON in a form. Undefined for anything else. The signature covers the body but not its type. So a
 * recorded event whose text has `&payload=` in it could be sent again as the click of another person, and JSON is never read as a form.
 */
function readContent(headers: IncomingHttpHeaders, text: string): { body: Record<string, unknown> } | undefined {
  try {
    if (!isForm(headers)) return { body: JSON.parse(text) }
    if (/^\s*["[{]/.test(text)) return undefined
    const form = new URLSearchParams(text)
    const payload = form.get('payload')
    return { body: payload === null ? Object.fromEntries(form) : JSON.parse(payload) }
  } catch {
    return undefined
  }
}

const maxOpenBytes = 32 * 1_048_576

type BodyReading = { is: 'read'; body: Buffer } | { is: 'too-large' } | { is: 'not-sent' }

/** What a chunk takes beside its bytes: a body in chunks of one byte takes more than a hundred times its size. */
const chunkOverheadBytes = 512

/** Creates the function that reads a whole body. `too-large`: it has more than `maxBytes`. `not-sent`: it was cut off, or dropped to make room. */
export function createBodyReader({ maxBytes, maxOpen = maxOpenBytes }: { maxBytes: number; maxOpen?: number }) {
  const open = new Map<IncomingMessage, (reading: BodyReading) => void>()
  let held = 0

  /** Drops the oldest bodies until the rest fits. Slack sends a request at once, so the oldest is hardly ever one of Slack's. */
  function dropOldest(): void {
    for (const [request, end] of open) {
      if (held <= maxOpen) return
      end({ is: 'not-sent' })
      request.destroy()
    }
  }

  return function readBody(request: IncomingMessage): Promise<BodyReading> {
    return new Promise((resolve) => {
      let chunks: Buffer[] = []
      let length = 0
      const sizeHeld = () => length + chunks.length * chunkOverheadBytes

      function end(reading: BodyReading): void {
        if (!open.delete(request)) return
        held -= sizeHeld()
        chunks = []
        resolve(reading)
      }

      open.set(request, end)
      request.on('data', (chunk: Buffer) => {
        // The rest of a body that is too large is discarded, so that the sender can read the answer.
        if (!open.has(request)) return
        if (length + chunk.length > maxBytes) return end({ is: 'too-large' })
        chunks.push(chunk)
        length += chunk.length
        held += chunk.length + chunkOverheadBytes
        if (length === Number(request.headers['content-length'])) return end({ is: 'read', body: Buffer.concat(chunks) })
        dropOldest()
      })
      request.on('end', () => end({ is: 'read', body: Buffer.concat(chunks) }))
      request.on('error', () => end({ is: 'not-sent' }))
      request.on('close', () => end({ is: 'not-sent' }))
    })
  }
}
