import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { z } from 'zod'
import packageFile from '../../../package.json' with { type: 'json' }
import type { App } from '../../app.ts'
import { IdempotencyKey } from './idempotency.ts'
import { type Caller, inLaneOf, type Operation, withoutEmpty } from './operations.ts'
import { problemOf } from './problems.ts'

const instructions =
  'Lockkeeper changes an infrastructure account. You propose, and where the policy asks for it, people approve in Slack: nobody else can. Propose one change, tell your user what its message says, and read the request until it has ended. Never propose the same change again while it is open.'

/** Clients give up after 5 to 60 s without a word, and each word lets some of them wait on (modelcontextprotocol/python-sdk 407). */
const progressMs = 3_000

interface McpOptions {
  operations: Operation[]
  caller: Caller
  signal: AbortSignal
}

/** Answers one call, whose body was read before. Nothing is kept between calls, so any process can answer the next one. */
export async function answerMcp(
  app: App,
  { request, body, response }: { request: IncomingMessage; body: string; response: ServerResponse },
  options: McpOptions,
): Promise<void> {
  // Nothing is kept, so there is nothing to read or delete. Clients take this for an answer (MCP, "Streamable HTTP").
  if (request.method !== 'POST') return void response.writeHead(405, { 'content-length': 0, allow: 'POST' }).end()
  const message = parsed(body)
  if (Array.isArray(message)) return answerJson(response, 400, refusalOf("Send one message at a time: batches aren't supported."))
  const onerror = (error: Error) => app.log.debug({ error }, 'An MCP call was not understood')
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  const signal = AbortSignal.any([options.signal, gone.signal])
  // The tools never change, so nobody has to listen for that.
  const handler = createMcpHandler(() => serverFor(app, { ...options, signal }), { onerror, maxSubscriptions: 0 })
  const call = new Request('http://localhost/mcp', { method: 'POST', headers: headersFor(request), signal: gone.signal, body })
  const answer = await handler.fetch(call, message === undefined ? {} : { parsedBody: asMeant(message) })
  await send(request, response, answer)
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

const refusalOf = (message: string) => ({ jsonrpc: '2.0', id: null, error: { code: -32_600, message } })

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null && !Array.isArray(value)

const withoutNull = (given: object) => Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null))

/** Clients fill what is optional with null and '', also in the members of `params`. */
function asMeant(message: unknown): unknown {
  if (!isObject(message) || !('params' in message)) return message
  const { params, ...rest } = message
  if (params === null || params === '') return rest
  if (!isObject(params)) return message
  const given = Object.entries(withoutNull(params)).filter(([name, value]) => value !== '' || name === 'protocolVersion')
  const { arguments: own = {}, ...others } = Object.fromEntries(
    given.map(([name, value]) => [name, isObject(value) ? withoutNull(value) : value]),
  )
  return { ...rest, params: 'name' in others ? { ...others, arguments: isObject(own) ? withoutEmpty(own) : own } : others }
}

/**
 * The protocol wants clients to name both types that they read. Real ones name one, any, or none, and then get what they can read
 * (anthropics/claude-code 45368, PrefectHQ/fastmcp 1664, honojs/middleware 1799). The same for the type of the body, which was read as JSON.
 */
function headersFor({ headers }: IncomingMessage): [string, string][] {
  const others = Object.entries(headers).flatMap(([name, value]) =>
    typeof value === 'string' && value !== '' ? [[name, value] as [string, string]] : [],
  )
  return [
    ...others.filter(([name]) => name !== 'accept' && name !== 'content-type' && name !== 'content-length'),
    ['accept', 'application/json, text/event-stream'],
    ['content-type', 'application/json'],
  ]
}

/** A client that names no stream gets JSON: the result alone. One that names nothing but streams gets every result as one. */
async function send({ headers: { accept = '' } }: IncomingMessage, response: ServerResponse, answer: Response): Promise<void> {
  const isStream = /^text\/event-stream/i.test(answer.headers.get('content-type') ?? '')
  const readsStreams = /text\/(event-stream|\*)/i.test(accept)
  const readsJson = accept === '' || /json|\*\/\*|application\/\*/i.test(accept)
  if (isStream && !readsStreams) {
    const messages = [...(await answer.text()).matchAll(/^data: ?(.+)$/gm)].map(([, data = '']) => parsed(data))
    const result = messages.findLast((each) => typeof each === 'object' && each !== null && ('result' in each || 'error' in each))
    return answerJson(response, answer.status, result ?? refusalOf('The call was ended.'))
  }
  if (!isStream && !readsJson && readsStreams && answer.status === 200) {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
    return void response.end(`event: message\ndata: ${await answer.text()}\n\n`)
  }
  response.writeHead(answer.status, { ...Object.fromEntries(answer.headers), 'cache-control': 'no-store' })
  if (!answer.body) return void response.end()
  // Its end is the end of the caller's connection.
  await pipeline(Readable.fromWeb(answer.body as ReadableStream), response).catch(() => {})
}

function answerJson(response: ServerResponse, status: number, json: object): void {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' }).end(JSON.stringify(json))
}

function serverFor(app: App, { operations, caller, signal }: McpOptions): McpServer {
  const about = { name: 'lockkeeper', title: 'Lockkeeper', version: packageFile.version }
  const server = new McpServer(about, { instructions, capabilities: { tools: { listChanged: false } } })
  for (const operation of operations) {
    const { tool, title, description, kind, input, output, hints } = operation
    const inputSchema: z.ZodObject =
      kind === undefined ? input : z.strictObject({ ...input.shape, idempotency_key: IdempotencyKey.optional() })
    const about = { title, description, inputSchema, outputSchema: output, annotations: { ...hints, openWorldHint: false } }
    server.registerTool(tool, about, async (given: Record<string, unknown>, { mcpReq }) => {
      const progressToken = mcpReq._meta?.progressToken
      let progress = 0
      let telling: NodeJS.Timeout | undefined
      /** A client that asked for progress learns again and again that a person is awaited. */
      const onWaiting = ({ message }: { message: string }) => {
        if (progressToken === undefined) return
        const tell = () => {
          const params = { progressToken, progress, message: `Waiting. ${message}` }
          mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {})
          progress += 1
        }
        tell()
        telling = setInterval(tell, progressMs)
      }
      return inLaneOf(operation, caller, async () => {
        try {
          const call = { signal: AbortSignal.any([signal, mcpReq.signal]), onWaiting }
          const { output: structuredContent } = await operation.run(caller, given, call)
          return { structuredContent, content: [{ type: 'text', text: JSON.stringify(structuredContent) }] }
        } catch (error) {
          const { detail } = await problemOf(app, error, { ...caller, tool })
          return { isError: true, content: [{ type: 'text', text: detail }] }
        } finally {
          clearInterval(telling)
        }
      })
    })
  }
  return server
}
