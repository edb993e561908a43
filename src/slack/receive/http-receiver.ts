import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Logger } from '@slack/bolt'
import { HTTPReceiver, HTTPModuleFunctions as http } from '@slack/bolt'

const bodyLimit = 1_048_576

interface HttpSettings {
  signingSecret: string
  port: number
  logger: Logger
  /** Is called for every signed request whose content is `null`. */
  onNull: () => void
}

/** Receives Slack's requests over HTTP. Bolt checks their signatures. */
export function httpReceiver({ signingSecret, port, logger, onNull }: HttpSettings): HTTPReceiver {
  const receiver = new HTTPReceiver({ signingSecret, port, logger, bodyLimit })
  const listen = receiver.requestListener

  /**
   * Answers the requests that Bolt cannot answer, and passes the others on. Bolt 5.1 expects an object in every signed request. If the
   * content is `null`, its unhandled rejection ends the process.
   */
  async function handleRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const status = request.method === 'POST' ? await statusWithoutBolt(request) : undefined
    if (status !== undefined) return end(response, status)
    try {
      listen(request, response)
    } catch {
      // Bolt throws for every path but its own. Answer without a log line, because probes and scanners would fill the log.
      end(response, 404)
    }
  }

  /** Returns the status for a body that is unreadable or `null`. Undefined for all that Bolt answers: it then uses the body read here. */
  async function statusWithoutBolt(request: IncomingMessage): Promise<number | undefined> {
    const buffered = await http.bufferIncomingMessage(request, bodyLimit).catch((error: unknown) => error)
    if (buffered instanceof Error) return http.isRawBodyError(buffered) ? buffered.statusCode : 400
    const message = buffered as Awaited<ReturnType<typeof http.bufferIncomingMessage>>
    if (!mayBeNull.test(String(message.rawBody)) || !isNull(message)) return undefined
    return http.parseAndVerifyHTTPRequest({ enabled: true, signingSecret, bodyLimit }, message).then(
      () => {
        onNull()
        return 200
      },
      () => 401,
    )
  }

  receiver.requestListener = (request, response) => void handleRequest(request, response)
  return receiver
}

function end(response: ServerResponse, status: number): void {
  response.writeHead(status).end()
}

/** Matches bodies that may hold `null`. Nearly all requests do not match, and are not parsed twice. */
const mayBeNull = /(?:^|&)payload=(?!\{|%7b)|^\s*n/i

function isNull(buffered: Awaited<ReturnType<typeof http.bufferIncomingMessage>>): boolean {
  try {
    return http.parseHTTPRequestBody(buffered) === null
  } catch {
    // Bolt refuses content that is not JSON.
    return false
  }
}
