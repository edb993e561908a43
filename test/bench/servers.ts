import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

// The servers of the benchmarks, each in its own process: `node servers.ts <name>` prints the port that it listens on.

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
async function startBoltEcho() {
  const { App, HTTPReceiver } = await import('@slack/bolt')
  const receiver = new HTTPReceiver({ signingSecret: secret, port: 0 })
  const app = new App({ receiver, authorize: async () => ({ botToken: 'xoxb-bench', botId: 'B1', botUserId: 'U1' }) })
  app.command('/infra', async ({ command, ack }) => ack(command.text))
  const server = await app.start()
  print({ port: (server.address() as AddressInfo).port })
}

/** An account API with prepared answers: 1,000 Elastic IPs in pages of 100, and 500 plans, each with every field of the interface specification. */
function accountApi(): { serve: RequestListener; sizes: object } {
  const text = (data: unknown[]) => Buffer.from(JSON.stringify({ data, meta: {} }))
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
  return {
    id: `eip_${String(index).padStart(10, '0')}`,
    type: 'elastic_ips',
    attributes: {
      address: `203.0.${Math.floor(index / 250)}.${(index % 250) + 1}`,
      family: 'IPv4',
      prefix_length: 32,
      mode: 'routed',
      status: 'moving',
      created_at: '2026-03-02T09:30:00Z',
      server: { id: 'sv_81q8LGGQnFEm5', hostname: 'web-2', primary_ipv4: '198.51.100.22', operating_system: 'ubuntu_24_04_x64_lts' },
      project: { id: 'proj_1oNqx62cx6bn0', name: 'Storefront', slug: 'storefront' },
      region: { id: 'reg_usnDPAAF373Hs', name: 'United States', location: { id: 'site_ash', name: 'Ashburn', slug: 'ASH' } },
    },
  }
}

function plan(index: number) {
  const prices = { USD: { hour: 0.054, month: 39.42, year: 425.74 }, EUR: { hour: 0.05, month: 36.5, year: 394.2 } }
  return {
    id: `plan_${String(index).padStart(10, '0')}`,
    type: 'virtual_machine_plans',
    attributes: {
      name: `vm.${index}`,
      specs: {
        memory: 8,
        gpu: 'NVIDIA L40S',
        vram_per_gpu: 48,
        vcpus: 4,
        vcpu: { count: 4, clock: 2.9, type: 'shared' },
        nics: [{ type: '10 Gbps', count: '1' }],
        disk: { type: 'nvme', size: { amount: 160, unit: 'gib' } },
      },
      regions: ['United States', 'Germany', 'Japan', 'Brazil'].map((name) => ({
        name,
        locations: { available: ['ASH', 'DAL'], in_stock: ['ASH'] },
        stock_level: 'low',
        pricing: prices,
      })),
      stock_level: 'low',
      available_operating_systems: [
        'ubuntu_24_04_x64_lts',
        'ubuntu_22_04_x64_lts',
        'debian_12',
        'rocky_9',
        'almalinux_9',
        'flatcar_stable',
      ],
    },
  }
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
