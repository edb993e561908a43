import type { IncomingMessage, ServerResponse } from 'node:http'
import type { BufferedIncomingMessage, Logger } from '@slack/bolt'
import { HTTPReceiver, HTTPModuleFunctions as http, isValidSlackRequest } from '@slack/bolt'
import { limitServer } from './limit-server.ts'
import { createRefusalLog } from './log-refusals.ts'
import { createBodyReader } from './read-body.ts'
import {
  endpoint,
  isCertificateCheck,
  isForm,
  maxBodyBytes,
  mayBeCertificateCheck,
  mustEnd,
  type RefusalReason,
  refusalOf,
} from './refuse-unread.ts'

interface HttpSettings {
  signingSecret: string
  port: number
  logger: Logger
  /** Called for every signed request whose content is `null`. */
  onNull: () => void
}

/** Bolt's check of a body up to this size takes less time than a second check would. */
const quicklyCheckedBytes = 16_384

/** Receives Slack's requests over HTTP. Bolt checks their signatures. */
export function httpReceiver({ signingSecret, port, logger, onNull }: HttpSettings): HTTPReceiver {
  const refusals = createRefusalLog<RefusalReason>(logger)
  // Bolt has one warning for each request that it refuses. `refusals` has one line for many.
  const quietLogger: Logger = { ...logger, warn: () => {} }
  const receiver = limitServer(new HTTPReceiver({ signingSecret, port, endpoints: endpoint, bodyLimit: maxBodyBytes, logger: quietLogger }))
  const { requestListener: listen, stop } = receiver
  const readBody = createBodyReader({ maxBytes: maxBodyBytes })

  function refuse(response: ServerResponse, status: number, reason: RefusalReason | undefined): void {
    if (reason) refusals.note(reason)
    response.writeHead(status).end()
  }

  /** Answers the requests that Bolt must not or cannot answer, and passes the others on with their bodies. */
  async function handleRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const refusal = refusalOf(request, Date.now())
    if (refusal) {
      if (mustEnd(request, refusal)) response.setHeader('connection', 'close')
      return refuse(response, refusal.status, refusal.reason)
    }
    const reading = await readBody(request)
    if (reading.is === 'too-large') return refuse(response, 413, 'too large')
    if (reading.is === 'not-sent') return refusals.note('not sent in time')
    const text = reading.body.toString()
    if (mayBeCertificateCheck(request.headers)) {
      return isCertificateCheck(text) ? void response.writeHead(200).end() : refuse(response, 401, 'no signature')
    }
    if (mustBeCheckedFirst(text) && !isSigned(request.headers, text)) return refuse(response, 401, 'wrong signature')
    if (isForm(request.headers) && looksLikeJson.test(text)) {
      return isSigned(request.headers, text) ? refuse(response, 400, 'wrong content') : refuse(response, 401, 'wrong signature')
    }
    const buffered: BufferedIncomingMessage = Object.assign(request, { rawBody: reading.body })
    // Bolt reads `null` as an object.
    if (mayBeNull.test(text) && isNull(buffered) && isSigned(request.headers, text)) return acknowledgeNull(response)
    response.once('finish', () => {
      if (response.statusCode === 400) refusals.note('wrong content')
      if (response.statusCode === 401) refusals.note('wrong signature')
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

/**
 * Whether Bolt's receiver must not be the first to check the signature of a body. It looks for a certificate check in the whole body before,
 * which takes ten times as long as the signature, and answers one with 200 without a look at the signature.
 */
function mustBeCheckedFirst(text: string): boolean {
  return text.length > quicklyCheckedBytes || text.includes('ssl_check') || encodedName.test(text)
}

/** Matches a form with an encoded character in a name, which may be that of a certificate check. Slack encodes only values. */
const encodedName = /(?:^|&)[^=&%]*%/

function isNull(buffered: BufferedIncomingMessage): boolean {
  try {
    return http.parseHTTPRequestBody(buffered) === null
  } catch {
    // Bolt refuses content that is not JSON.
    return false
  }
}
