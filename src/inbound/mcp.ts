import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { z } from 'zod'
import packageFile from '../../package.json' with { type: 'json' }
import type { App } from '../app.ts'
import { type Caller, IdempotencyKey, inLaneOf, type Operation, problemOf } from './machine-operations.ts'

const instructions =
  'Lockkeeper changes an infrastructure account. You propose, and where the policy asks for it, people approve in Slack: nobody else can. Propose one change, tell your user what its message says, and wait for the request. Never propose the same change again while it is open.'

interface McpOptions {
  operations: Operation[]
  /** Who calls a tool. Throws a UserError if the call may not be. */
  callerOf: (meta: Record<string, unknown>) => Caller | Promise<Caller>
  /** What else each proposal takes. */
  more?: z.ZodRawShape
  signal: AbortSignal
}

/** Answers one call, whose body was read before. Nothing is kept between calls, so any process can answer the next one. */
export async function answerMcp(
  app: App,
  { request, body, response }: { request: IncomingMessage; body: string; response: ServerResponse },
  options: McpOptions,
): Promise<void> {
  // Nothing is kept, so there is nothing to read or delete. A batch would be many calls at once (MCP, 2025-06-18: removed).
  const refusal = request.method !== 'POST' ? 405 : /^\s*\[/.test(body) ? 400 : undefined
  if (refusal) return void response.writeHead(refusal, { 'content-length': 0, ...(refusal === 405 && { allow: 'POST' }) }).end()
  const onerror = (error: Error) => app.log.debug({ error }, 'An MCP call was not understood')
  const handler = createMcpHandler(() => serverFor(app, options), { onerror })
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  const headers = Object.entries(request.headers).flatMap(([name, value]) =>
    typeof value === 'string' ? [[name, value] as [string, string]] : [],
  )
  const answer = await handler.fetch(new Request('http://localhost/mcp', { method: 'POST', headers, signal: gone.signal, body }))
  response.writeHead(answer.status, { ...Object.fromEntries(answer.headers), 'cache-control': 'no-store' })
  if (!answer.body) return void response.end()
  // Its end is the end of the caller's connection.
  await pipeline(Readable.fromWeb(answer.body as ReadableStream), response).catch(() => {})
}

function serverFor(app: App, { operations, callerOf, more = {}, signal }: McpOptions): McpServer {
  const server = new McpServer({ name: 'lockkeeper', title: 'Lockkeeper', version: packageFile.version }, { instructions })
  for (const operation of operations) {
    const { tool, title, description, kind, input, output, hints } = operation
    const inputSchema: z.ZodObject =
      kind === undefined ? input : z.strictObject({ ...input.shape, idempotency_key: IdempotencyKey.optional(), ...more })
    const about = { title, description, inputSchema, outputSchema: output, annotations: { ...hints, openWorldHint: false } }
    server.registerTool(tool, about, async (given: Record<string, unknown>, { mcpReq }) => {
      const { progressToken, ...meta } = mcpReq._meta ?? {}
      /** A client that asked for progress learns that a person is awaited. */
      const onWaiting = ({ message }: { message: string }) => {
        if (progressToken === undefined) return
        const params = { progressToken, progress: 0, message: `Waiting. ${message}` }
        mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {})
      }
      try {
        const caller = await callerOf(meta)
        const call = { signal: AbortSignal.any([signal, mcpReq.signal]), onWaiting }
        const { output: structuredContent } = await inLaneOf(operation, caller, () => operation.run(caller, given, call))
        return { structuredContent, content: [{ type: 'text', text: JSON.stringify(structuredContent) }] }
      } catch (error) {
        return { isError: true, content: [{ type: 'text', text: problemOf(app, error).detail }] }
      }
    })
  }
  return server
}
