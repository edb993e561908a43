import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { accountData, type ElasticIpState } from '../sandbox/account-api/data.ts'
import { elasticIpOnWire } from '../sandbox/account-api/wire.ts'

// The servers of the benchmarks, each in its own process: `node servers.ts <name>` prints the port that it listens on.

/** What the answers of the account API are made from. */
const data = accountData('')

const secret = process.env.SLACK_SIGNING_SECRET ?? ''

/** Slack and the account API in one, as small and fast as possible: everybody is a member, every list is empty. */
const surroundings: RequestListener = (request, response) => {
  request.resume()
  request.on('end', () => {
    const last = (request.url ?? '').split('?')[0]?.split('/').at(-1) ?? ''
    const text = JSON.stringify(
      {
        'auth.test': { ok: true, user_id: 'UBOT', bot_id: 'BBOT', team_id: 'T1', url: 'https://bench.slack.com/' },
        'users.info': { ok: true, user: { id: 'U0ADA00001', team_id: 'T1', name: 'ada' } },
        'conversations.info': { ok: true, channel: { id: 'C1' } },
      }[last] ?? { ok: true, data: [] },
    )
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }).end(text)
  })
}

/** The least that can acknowledge a slash command: checks the signature of the body and answers 200. */
const bareHttp: RequestListener = (request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const timestamp = Number(request.headers['x-slack-request-timestamp'])
    const body = Buffer.concat(chunks).toString()
    const wanted = Buffer.from(`v0=${createHmac('sha256', secret).update(`v0:${timestamp}:${body}`).digest('hex')}`)
    const given = Buffer.from(String(request.headers['x-slack-signature']))
    const fresh = Math.abs(Date.now() / 1_000 - timestamp) < 300
    response.writeHead(fresh && given.length === wanted.length && timingSafeEqual(given, wanted) ? 200 : 401).end()
  })
}

/** Plain Bolt, with one listener that acknowledges with the text of the command. */
async function startBoltEcho(more: { convoStore?: false } = {}) {
  const { App, HTTPReceiver } = await import('@slack/bolt')
  const receiver = new HTTPReceiver({ signingSecret: secret, port: 0 })
  const app = new App({ receiver, authorize: async () => ({ botToken: 'xoxb-bench', botId: 'B1', botUserId: 'U1' }), ...more })
  app.command('/infra', async ({ command, ack }) => ack(command.text))
  const server = await app.start()
  print({ port: (server.address() as AddressInfo).port })
}

/** An account API with prepared answers: 1,000 Elastic IPs in pages of 100, and 500 plans, each with every field of the interface specification. */
function accountApi(): { serve: RequestListener; sizes: object } {
  const text = (items: unknown[]) => Buffer.from(JSON.stringify({ data: items, meta: {} }))
  const many = (count: number, one: (index: number) => unknown) => Array.from({ length: count }, (_, index) => one(index))
  const pages = many(10, (page) => text(many(100, (index) => elasticIp(page * 100 + index)))) as Buffer[]
  const [plans, empty] = [text(many(500, plan)), text([])]
  return {
    sizes: { page: pages[0]?.length, plans: plans.length },
    serve: (request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '/', 'http://answers')
      const body = pathname === '/plans/virtual_machines' ? plans : (pages[Number(searchParams.get('page[number]')) - 1] ?? empty)
      response.writeHead(200, { 'content-type': 'application/vnd.api+json', 'content-length': body.length }).end(body)
    },
  }
}

function elasticIp(index: number) {
  const address = `203.0.${Math.floor(index / 250)}.${(index % 250) + 1}`
  const state = { ...(data.elasticIps[0] as ElasticIpState), id: `eip_${String(index).padStart(10, '0')}`, address }
  return elasticIpOnWire(data, state, { status: 'moving', serverId: state.serverId })
}

function plan(index: number) {
  return { ...data.plans[index % data.plans.length], id: `plan_${String(index).padStart(10, '0')}` }
}

const print = (line: object) => console.log(JSON.stringify(line))

function listen(serve: RequestListener, more: object = {}): void {
  const server = createServer(serve)
  server.keepAliveTimeout = 60_000
  server.listen(0, '127.0.0.1', () => print({ port: (server.address() as AddressInfo).port, ...more }))
}

switch (process.argv[2]) {
  case 'bolt-echo':
    await startBoltEcho()
    break
  case 'bolt-echo-without-store':
    await startBoltEcho({ convoStore: false })
    break
  case 'bare-http':
    listen(bareHttp)
    break
  case 'account-api': {
    const { serve, sizes } = accountApi()
    listen(serve, sizes)
    break
  }
  default:
    listen(surroundings)
}
