import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import { parseJson } from '../slack/json.ts'
import { accountData, type Data, type MovePhase, newToken } from './data.ts'
import { createFaults, createJournal, type JournalEntry, jsonType, misbehave, takesEffect } from './faults.ts'
import { createRateLimiter, type Limits } from './rate-limiter.ts'
import { createRouter } from './resources.ts'
import type { Answer } from './wire.ts'
import { createWorld } from './world.ts'

export interface AccountApiOptions {
  port?: number
  key?: string
  /** How long a move takes, in ms. */
  moveTakes?: { min: number; max: number }
  /** What reads show while an Elastic IP moves. Default: the old server, then the target. */
  movePhases?: MovePhase[]
  data?: Partial<Data>
  /** Limits the size of pages below what is requested. */
  maxPageSize?: number
  limits?: Limits
  now?: () => number
}

/** Starts the stand-in account API: a real HTTP server with its own state, which answers as the interface specification says. */
export async function startAccountApi(options: AccountApiOptions = {}) {
  const {
    port = 0,
    key = newToken(),
    moveTakes = { min: 4_000, max: 9_000 },
    maxPageSize = Number.POSITIVE_INFINITY,
    movePhases = [{ server: 'from' }, { server: 'target' }],
    now = Date.now,
  } = options
  const world = createWorld({ data: { ...accountData(key), ...options.data }, moveTakes, movePhases, now })
  const answer = createRouter(world, maxPageSize)
  const journal = createJournal()
  const faults = createFaults()
  const limiter = createRateLimiter(options.limits ?? {}, key, now)

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const entry = await readEntry(request, now())
    journal.push(entry)
    const refused = limiter.take(entry.method, request.headers.authorization)
    if (refused) {
      entry.refused = true
      return send(response, refused)
    }
    const fault = faults.next(entry)
    if (fault?.kind === 'late') await wait(fault.delayMs, undefined, { ref: false })
    fault?.meanwhile?.()
    const reply = takesEffect(fault) ? answer({ ...entry, token: request.headers.authorization }) : undefined
    if (fault) return misbehave(response, fault, reply)
    send(response, reply ?? { status: 500, body: undefined })
  }

  // A request that breaks off while it is read gets no answer.
  const server = createServer((request, response) => void serve(request, response).catch(() => response.destroy()))
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    key,
    world,
    journal,
    faults,
    limiter,
    async close(): Promise<void> {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}
export type AccountApi = Awaited<ReturnType<typeof startAccountApi>>

function send(response: ServerResponse, { status, body }: Answer): void {
  if (body === undefined) response.writeHead(status).end()
  else response.writeHead(status, { 'content-type': jsonType }).end(JSON.stringify(body))
}

async function readEntry(request: IncomingMessage, time: number): Promise<JournalEntry> {
  const { authorization: _, ...headers } = request.headers
  // Split without a URL parser, which would resolve `..`: tests need the path as it was sent.
  const [path = '', query = ''] = (request.url ?? '').split(/\?(.*)/s)
  const content = await text(request)
  return {
    method: request.method ?? '',
    path,
    query: Object.fromEntries(new URLSearchParams(query)),
    headers,
    body: parseJson(content) ?? (content || undefined),
    time,
  }
}
