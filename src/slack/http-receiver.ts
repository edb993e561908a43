import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Logger } from '@slack/bolt'
import { HTTPReceiver, HTTPModuleFunctions as http } from '@slack/bolt'

const bodyLimit = 1_048_576

interface HttpSettings {
  signingSecret: string
  port: number
  logger: Logger
  /** Hears of every signed request whose content is `null`. */
  onNull: () => void
}

/** Takes Slack's requests over HTTP. Signatures are checked by Bolt. */
export function httpReceiver({ signingSecret, port, logger, onNull }: HttpSettings): HTTPReceiver {
  const receiver = new HTTPReceiver({ signingSecret, port, logger, bodyLimit })
  const listen = receiver.requestListener

  /** Bolt 5.1 takes the content of every signed request for an object, and ends the process with an unhandled rejection where it is `null`. */
  async function takeRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const status = request.method === 'POST' ? await statusWithoutBolt(request) : undefined
    if (status !== undefined) return end(response, status)
    try {
      listen(request, response)
    } catch {
      // Bolt throws for every other path. Probes and scanners find nothing here, and are not worth a log line each.
      end(response, 404)
    }
  }

  /** Of a body that cannot be read, or is `null`; undefined for all that Bolt answers. Reads the body, which Bolt then finds read. */
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

  receiver.requestListener = (request, response) => void takeRequest(request, response)
  return receiver
}

function end(response: ServerResponse, status: number): void {
  response.writeHead(status).end()
}

/** Content that is no object. All the rest, which is nearly everything, need not be parsed twice. */
const mayBeNull = /(?:^|&)payload=(?!\{|%7b)|^\s*n/i

function isNull(buffered: Awaited<ReturnType<typeof http.bufferIncomingMessage>>): boolean {
  try {
    return http.parseHTTPRequestBody(buffered) === null
  } catch {
    // What is no JSON is refused by Bolt.
    return false
  }
}
