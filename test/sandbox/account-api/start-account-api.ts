import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { answerBadly, createFaults } from './faults.ts'
import { answerCall, newKey, type Reply } from './operations.ts'
import { createWorld } from './world.ts'

export interface AccountApiOptions {
  /** Default: a free port. Always on loopback. */
  port: number
  /** How long a move takes, in ms; evenly spread between the two. */
  moveTakes: { min: number; max: number }
  /** The largest page the server gives, whatever is asked for. */
  pageClamp: number
  now: () => number
}

/** A request as it came in, without the key that it carried. */
export interface JournalEntry {
  at: number
  method: string
  path: string
  query: Record<string, string>
  headers: Record<string, string>
  body: unknown
  /** 0: no answer was sent. */
  status: number
}

/** A stand-in for the account API over HTTP on loopback, with an account of its own that changes as the real one would. */
export async function startAccountApi(options: Partial<AccountApiOptions> = {}) {
  const { port = 0, moveTakes = { min: 6_000, max: 12_000 }, pageClamp = 100, now = Date.now } = options
  const world = createWorld({ moveTakes, now })
  const faults = createFaults()
  const entries: JournalEntry[] = []
  const user = { id: 'user_bot', email: 'lockkeeper@nimbus-works.example' }
  const ada = { id: 'user_ada', email: 'ada@nimbus-works.example' }
  const own = newKey({ name: 'Lockkeeper', readOnly: false, allowedIps: null, user, now: now(), token: randomBytes(18).toString('hex') })
  world.keys.push(
    own,
    newKey({
      name: 'terraform',
      readOnly: false,
      allowedIps: ['203.0.113.0/24'],
      user: ada,
      now: now() - 200 * 86_400_000,
      lastUsedAt: new Date(now() - 3_600_000).toISOString(),
    }),
    newKey({
      name: 'grafana',
      readOnly: true,
      allowedIps: [],
      user: ada,
      now: now() - 300 * 86_400_000,
      lastUsedAt: new Date(now() - 120 * 86_400_000).toISOString(),
    }),
    newKey({ name: 'old laptop', readOnly: false, allowedIps: [], user: ada, now: now() - 400 * 86_400_000 }),
  )

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://loopback')
    const { authorization = '', ...headers } = request.headers as Record<string, string>
    const text = await readText(request)
    const method = request.method ?? 'GET'
    const entry: JournalEntry = {
      at: now(),
      method,
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      headers,
      body: parse(text),
      status: 0,
    }
    entries.push(entry)

    const fault = faults.take(method, url.pathname)
    if (fault?.kind === 'drop-before') return void request.socket.destroy()
    if (fault?.kind === 'delay') await new Promise((resolve) => setTimeout(resolve, fault.delayMs ?? 1_000).unref())
    if (fault?.kind === 'status') return send(response, entry, { status: fault.status ?? 503, body: fault.body }, fault.headers)
    if (response.destroyed && method === 'GET') return

    const reply =
      authorise(authorization, method) ??
      answerCall(world, { method, path: url.pathname, query: url.searchParams, body: entry.body, by: own, now: now() }, pageClamp)
    if (fault && fault.kind !== 'delay') return answerBadly(response, fault, JSON.stringify(reply.body ?? {}))
    send(response, entry, reply)
  }

  function authorise(authorization: string, method: string): Reply | undefined {
    const key = world.keys.find(({ token }) => token === authorization)
    if (!key)
      return { status: 401, body: { errors: [{ code: 'UNAUTHORIZED', status: '401', title: 'Unauthorized', detail: 'Invalid API key' }] } }
    if (key.readOnly && method !== 'GET')
      return { status: 403, body: { errors: [{ code: 'FORBIDDEN', message: 'This API key is read-only' }] } }
    return undefined
  }

  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })

  async function close(): Promise<void> {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** The bot's own key. */
    key: own.token,
    world,
    faults,
    journal: { entries, writes: () => entries.filter(({ method }) => method !== 'GET') },
    close,
  }
}
export type AccountApi = Awaited<ReturnType<typeof startAccountApi>>

function send(response: ServerResponse, entry: JournalEntry, { status, body }: Reply, headers: Record<string, string> = {}): void {
  entry.status = status
  response.writeHead(status, { 'content-type': 'application/vnd.api+json; charset=utf-8', ...headers })
  response.end(body === undefined ? undefined : JSON.stringify(body))
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

function parse(text: string): unknown {
  if (text === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
