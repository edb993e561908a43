import type { IncomingMessage, ServerResponse } from 'node:http'
import type { BufferedIncomingMessage, Logger } from '@slack/bolt'
import { HTTPReceiver, HTTPModuleFunctions as http, isValidSlackRequest } from '@slack/bolt'
import { type ConnectionLimits, limitServer } from './limit-server.ts'
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
