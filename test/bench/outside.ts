import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * Everything outside of the bot while many moves are tracked, as small and fast as possible: an account API with `count` Elastic IPs that
 * move and end at known times, and a Slack that accepts everything. At the end it sends its parent how long after its end each move was
 * reported.
 */
const { count, meanMs } = JSON.parse(process.argv[2] ?? '{}') as { count: number; meanMs: number }

interface Moving {
  id: string
  address: string
  endsAt: number
}

const from = { id: 'sv_from0uV4VZYm1', hostname: 'web-1' }
const to = { id: 'sv_toyuTZG5N1gWu', hostname: 'web-2' }
const counts = { lists: 0, gets: 0, updates: 0, posts: 0 }
const reportedAfterMs: number[] = []
let all: Moving[] = []
let moving: Moving[] = []

function begin(): void {
  const now = Date.now()
  all = Array.from({ length: count }, (_, index) => ({
    id: idOf(index),
    address: addressOf(index),
    endsAt: now + meanMs / 2 + (index / count) * meanMs,
  }))
  moving = [...all]
}

const idOf = (index: number) => `eip_${String(index).padStart(13, '0')}`
const addressOf = (index: number) => `10.${Math.floor(index / 62_500)}.${Math.floor(index / 250) % 250}.${(index % 250) + 1}`

function wire({ id, address, endsAt }: Moving) {
  const status = endsAt <= Date.now() ? 'active' : 'moving'
  const attributes = {
    address,
    family: 'IPv4',
    prefix_length: 32,
    status,
    server: to,
    project: { id: 'proj_1oNqx62cx6bn0', name: 'Storefront', slug: 'storefront' },
  }
  return { id, type: 'elastic_ips', attributes }
}

const account = createServer((request, response) => {
  const url = new URL(request.url ?? '/', 'http://outside')
  const single = /^\/elastic_ips\/(\w+)$/.exec(url.pathname)?.[1]
  if (single) {
    counts.gets += 1
    const found = all[Number(single.slice(4))]
    return found ? json(response, { data: wire(found) }) : json(response, { errors: [] }, 404)
  }
  if (url.pathname === '/elastic_ips') {
    counts.lists += 1
    const size = Number(url.searchParams.get('page[size]') ?? 20)
    const page = Number(url.searchParams.get('page[number]') ?? 1)
    const now = Date.now()
    moving = moving.filter(({ endsAt }) => endsAt > now)
    return json(response, { data: moving.slice((page - 1) * size, page * size).map(wire), meta: {} })
  }
  return json(response, { data: [], meta: {} })
})

const known: Record<string, unknown> = {
  'auth.test': { ok: true, user_id: 'UBOT', bot_id: 'BBOT', team_id: 'T1', url: 'https://bench.slack.com/' },
  'users.info': { ok: true, user: { id: 'U0ADA00001', team_id: 'T1', name: 'ada' } },
  'conversations.info': { ok: true, channel: { id: 'C1' } },
}

const slack = createServer((request, response) => {
  let body = ''
  request.setEncoding('utf8')
  request.on('data', (chunk: string) => {
    body += chunk
  })
  request.on('end', () => {
    const method = (request.url ?? '').split('/').at(-1) ?? ''
    if (method in known) return json(response, known[method])
    if (method === 'chat.update') counts.updates += 1
    if (method === 'chat.postMessage') {
      counts.posts += 1
      const address = /10\.\d+\.\d+\.\d+/.exec(decodeURIComponent(body.replaceAll('+', ' ')))?.[0]
      const moved = address === undefined ? undefined : all[indexOf(address)]
      if (moved) reportedAfterMs.push(Date.now() - moved.endsAt)
    }
    return json(response, { ok: true, ts: `${Date.now() / 1000}`, channel: 'C1' })
  })
})

function indexOf(address: string): number {
  const [, a = 0, b = 0, c = 0] = address.split('.').map(Number)
  return a * 62_500 + b * 250 + c - 1
}

function json(response: ServerResponse, body: unknown, status = 200): void {
  const text = JSON.stringify(body)
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }).end(text)
}

account.keepAliveTimeout = 60_000
slack.keepAliveTimeout = 60_000
account.listen(0, '127.0.0.1', () =>
  slack.listen(0, '127.0.0.1', () => {
    const port = (server: typeof slack) => (server.address() as AddressInfo).port
    process.send?.({ account: `http://127.0.0.1:${port(account)}`, slack: `http://127.0.0.1:${port(slack)}/api/` })
  }),
)
process.on('message', (message: string) => {
  if (message === 'begin') begin()
  process.send?.({ counts, reportedAfterMs: message === 'end' ? reportedAfterMs : [], reported: reportedAfterMs.length, from, to })
})
process.on('disconnect', () => process.exit(0))
