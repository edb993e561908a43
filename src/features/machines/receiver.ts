import { type IncomingMessage, STATUS_CODES } from 'node:http'
import { z } from 'zod'
import type { App } from '../../app.ts'
import { machineRequester } from '../../domain/approval.ts'
import { createLimitedServer, type LimitedRequest } from '../../ops/server.ts'
import { createTokenCheck } from '../../ops/token.ts'
import { createBodyReader, mustEnd } from '../../slack/http-receiver.ts'
import { IdempotencyKey } from './idempotency.ts'
import { listOperations } from './list-operations.ts'
import { answerMcp } from './mcp.ts'
import { openApi } from './open-api.ts'
import { type Caller, countCall, inLaneOf, type Operation, withoutEmpty } from './operations.ts'
import { type Problem, problemOf, statuses } from './problems.ts'
import { requestOperations } from './request-operations.ts'

const mostBytes = 65_536
const mostOpenBytes = 8 * 1_048_576

interface Answer {
  status: number
  /** Text is JSON already. */
  body: unknown
  headers?: Record<string, string | number>
  /** Why the log counts it among the refused. */
  refused?: 'wrong token' | 'from a browser' | 'too large' | 'too many'
}

/** Problem details (RFC 9457). Their type is `about:blank`, so the title is that of the status. */
function problem({ status, code, detail, retryAfter }: Problem, more: Partial<Answer> = {}): Answer {
  const headers = { ...more.headers, ...(retryAfter === undefined ? {} : { 'retry-after': retryAfter }) }
  return { ...more, status, headers, body: { type: 'about:blank', title: STATUS_CODES[status], status, detail, code } }
}

const wrong = (code: keyof typeof statuses, detail: string, more?: Partial<Answer>) =>
  problem({ status: statuses[code], code, detail }, more)

/** For each machine, and together for those who have shown no token. */
const mostConnections = 50

const openApiPath = '/v1/openapi.json'
const nothingHere = wrong('not-found', `There is nothing at this address. ${openApiPath} describes this API.`)

/** The HTTP API of machines, and their MCP server. The token is checked before the body is read. */
export function createMachineReceiver(app: App, { host, port, tokens }: NonNullable<App['config']['machines']>) {
  const operations = [...requestOperations(app), ...listOperations(app)]
  const document = JSON.stringify(openApi(operations, schemaOf))
  const readBody = createBodyReader({ maxBytes: mostBytes, maxOpen: mostOpenBytes })
  const ownerOf = createTokenCheck(tokens)
  const channels = new Map(app.config.policy.machines?.map(({ name, channelId }) => [machineRequester(name), channelId]))
  const stopping = new AbortController()

  async function handle(limited: LimitedRequest): Promise<void> {
    const { request, response } = limited
    const gone = new AbortController()
    response.once('close', () => gone.abort()).once('finish', () => app.metrics.machineRequest(response.statusCode))
    const signal = AbortSignal.any([stopping.signal, gone.signal])
    const answer = await answerTo(limited, signal).catch(async (error: unknown) => problem(await problemOf(app, error)))
    // It was answered, or the sender closed the connection.
    if (!answer) return
    const { refused } = answer
    const fields = { code: 'machines-port-refused', problem: refused } as const
    if (refused) app.lines.write({ fields, text: 'Refused a request to the port of machines', about: refused })
    if (!request.complete && mustEnd(request)) response.setHeader('connection', 'close')
    const type = answer.status < 400 ? 'application/json' : 'application/problem+json'
    response.writeHead(answer.status, { 'content-type': type, 'cache-control': 'no-store', ...answer.headers })
    response.end(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body))
  }

  async function answerTo({ request, response, trust }: LimitedRequest, signal: AbortSignal): Promise<Answer | undefined> {
    const { headers } = request
    // Node sends no body with the answer to HEAD.
    const method = request.method === 'HEAD' ? 'GET' : (request.method ?? '')
    const url = URL.parse(request.url ?? '', 'http://localhost') ?? new URL('http://localhost')
    const { searchParams } = url
    const pathname = url.pathname.replace(/\/+$/, '')
    if (headers.origin !== undefined)
      return wrong('from-a-browser', 'This API is not for browsers: send no Origin header.', { refused: 'from a browser' })
    // Clients of MCP look for OAuth there. Any other answer than 404 makes them start it.
    if (!/^\/(v1\/.|mcp$)/.test(pathname)) return nothingHere
    const owner = ownerOf(request)
    if (owner === undefined) {
      const more = { headers: { 'www-authenticate': 'Bearer' }, refused: 'wrong token' } as const
      return wrong('wrong-token', 'Send the token of a machine that the policy names: Authorization: Bearer <token>.', more)
    }
    if (!trust(owner))
      return wrong('too-many', `You have ${mostConnections} calls at once, which is the limit. Wait until one ends.`, {
        refused: 'too many',
      })
    if (pathname === openApiPath && method === 'GET') return { status: 200, body: document }
    const caller = callerOf(owner)
    if (pathname === '/mcp') {
      const read = method === 'POST' ? await textOf(request) : { text: '' }
      if (read?.text === undefined) return read?.problem
      if (method === 'POST') await countCall(app, caller)
      const options = { operations, caller, signal: stopping.signal }
      return void (await answerMcp(app, { request, body: read.text, response }, options))
    }
    const own = operations.flatMap((operation) => {
      const id = idIn(operation.path, pathname)
      return id === undefined ? [] : [{ operation, id }]
    })
    const matching = own.filter(({ operation }) => operation.method === method)
    if (own.length === 0) return nothingHere
    if (matching.length === 0) {
      const allow = [...new Set(own.map(({ operation }) => operation.method))].join(', ')
      return wrong('wrong-method', `This address takes ${allow}.`, { headers: { allow } })
    }
    const body = method === 'POST' ? await jsonOf(request) : { json: {} }
    if (!body?.json) return body?.problem
    const { json } = body
    const found = matching.find(({ operation }) => operation.kind === undefined || operation.kind === json.change)
    if (!found) return invalid([`change: must be one of ${matching.map(({ operation }) => operation.kind).join(', ')}`])
    const { operation, id } = found
    const query = Object.fromEntries(searchParams)
    const given = method === 'POST' ? json : { ...query, ...(id !== '' && { id }) }
    const { tool } = operation
    return inLaneOf(operation, caller, () =>
      run(operation, caller, { given, key: headers['idempotency-key'], signal }).catch(async (error: unknown) =>
        problem(await problemOf(app, error, { ...caller, tool })),
      ),
    )
  }

  async function run(
    operation: Operation,
    caller: Caller,
    { given, key, signal }: { given: Record<string, unknown>; key: unknown; signal: AbortSignal },
  ): Promise<Answer> {
    await countCall(app, caller)
    const { kind } = operation
    const read = schemaOf(operation).safeParse(withoutEmpty(given))
    // A structured header has its text in quotes.
    const readKey = kind === undefined ? undefined : IdempotencyKey.safeParse(String(key ?? '').replace(/^"(.*)"$/, '$1'))
    const ofKey = key === undefined && readKey ? ['is missing'] : linesOf(readKey?.error)
    const wrongs = [...linesOf(read.error), ...ofKey.map((line) => `Idempotency-Key: ${line}`)]
    if (!read.success || wrongs.length > 0) return invalid(wrongs)
    const { change: _, ...own } = read.data
    const { output, isNew } = await operation.run(caller, { ...own, ...(readKey && { idempotency_key: readKey.data }) }, { signal })
    const { links } = output as { links?: { self: string } }
    return isNew ? { status: 201, body: output, headers: { location: links?.self ?? '' } } : { status: 200, body: output }
  }

  async function jsonOf(request: IncomingMessage): Promise<{ json?: Record<string, unknown>; problem?: Answer } | undefined> {
    if (!/^application\/json *(;|$)/i.test(request.headers['content-type'] ?? ''))
      return { problem: wrong('no-json', 'Send the body as application/json.') }
    const read = await textOf(request)
    if (read?.text === undefined) return read
    const json = z.record(z.string(), z.unknown()).safeParse(parseJson(read.text))
    return json.success ? { json: json.data } : { problem: invalid(['The body must be a JSON object.']) }
  }

  async function textOf(request: IncomingMessage): Promise<{ text?: string; problem?: Answer } | undefined> {
    const tooLarge = wrong('too-large', 'A body has at most 64 kB.', { refused: 'too large', headers: { connection: 'close' } })
    if (Number(request.headers['content-length'] ?? 0) > mostBytes) return { problem: tooLarge }
    const reading = await readBody(request)
    if (reading.is === 'not-sent') return undefined
    return reading.is === 'too-large' ? { problem: tooLarge } : { text: reading.body.toString() }
  }

  function callerOf(userId: string): Caller {
    const { slack } = app
    const { command } = app.config.slack
    return { origin: { teamId: slack.identity.current()?.teamId, channelId: channels.get(userId) ?? '', userId, command } }
  }

  const server = createLimitedServer({
    named: { host: 'MACHINES_HOST', port: 'MACHINES_PORT' },
    mostConnections,
    stopWithinMs: 5_000,
    handle,
    // Waits answer at once.
    onStop: () => stopping.abort(),
  })
  return { start: () => server.start({ host, port }), stop: server.stop }
}

/** What a body has: beside what the operation takes, the kind of change that chose it. */
export function schemaOf({ kind, input }: Operation): z.ZodObject {
  return kind === undefined ? input : z.strictObject({ change: z.literal(kind), ...input.shape })
}

/** Returns the id in a path, which is empty for a path without one. Undefined if it is another path. */
function idIn(template: string, path: string): string | undefined {
  const [before, after] = template.split('{id}')
  if (after === undefined) return template === path ? '' : undefined
  const id = path.startsWith(before ?? '') ? path.slice(before?.length) : ''
  return id === '' || id.includes('/') ? undefined : id
}

function invalid(lines: string[]): Answer {
  return wrong('invalid', `Nothing was done, because the request is not valid. ${lines.join('. ')}.`.replaceAll('..', '.'))
}

function linesOf(error: z.ZodError | undefined): string[] {
  return (error?.issues ?? []).map(({ path, message }) => {
    const words = /received undefined$/.test(message) ? 'is missing' : message
    return path.length > 0 ? `${path.join('.')}: ${words}` : words
  })
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
