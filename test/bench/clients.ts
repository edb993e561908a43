import { Pool } from 'undici'
import { signatureOf } from '../sandbox/slack/transport.ts'

// The clients of the benchmarks, each in its own forked process: `clients.ts <name> [url]` answers each message of its parent.

/** Signed slash commands, all different, over a number of kept connections, each of which waits for an acknowledgement. */
export interface Load {
  port: number
  connections: number
  count: number
  secret: string
  /** The URL for answers. */
  responseUrl: string
}

/** In ms. */
export interface Acknowledged {
  wallMs: number
  p50: number
  p99: number
}

export interface ReadsWanted {
  kind: 'elasticIps' | 'plans'
  count: number
}

export interface ReadsDone {
  /** The CPU time of this process, with its threads, for one list. */
  cpuMs: number
  wallMs: number
  items: number
}

let sent = 0

async function sendCommands({ port, connections, count, secret, responseUrl }: Load): Promise<Acknowledged> {
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections, pipelining: 1 })
  const took: number[] = []
  const timestamp = Math.floor(Date.now() / 1_000)
  const bodies = Array.from({ length: count }, () => bodyOf(responseUrl))
  const signed = bodies.map((body) => ({ body, signature: signatureOf(secret, timestamp, body) }))

  async function sendOneAfterTheOther(): Promise<void> {
    for (let next = signed.pop(); next; next = signed.pop()) {
      const startedAt = performance.now()
      const headers = {
        'content-type': 'application/x-www-form-urlencoded',
        'x-slack-request-timestamp': String(timestamp),
        'x-slack-signature': next.signature,
      }
      const { statusCode, body } = await pool.request({ method: 'POST', path: '/slack/events', headers, body: next.body })
      await body.dump()
      if (statusCode !== 200) throw new Error(`acknowledged with ${statusCode}`)
      took.push(performance.now() - startedAt)
    }
  }

  const startedAt = performance.now()
  await Promise.all(Array.from({ length: connections }, sendOneAfterTheOther))
  const wallMs = performance.now() - startedAt
  await pool.close()
  took.sort((a, b) => a - b)
  const at = (share: number) => took[Math.min(took.length - 1, Math.floor(took.length * share))] ?? Number.NaN
  return { wallMs, p50: at(0.5), p99: at(0.99) }
}

/** Builds a slash command as Slack sends it (docs.slack.dev, "Implementing slash commands"). */
function bodyOf(responseUrl: string): string {
  sent += 1
  return new URLSearchParams({
    token: 'gIkuvaNzQIHg97ATvDxqgjtO',
    team_id: 'T1',
    team_domain: 'bench',
    channel_id: 'C0OPS00001',
    channel_name: 'ops',
    user_id: 'U0ADA00001',
    user_name: 'ada',
    command: '/infra',
    text: 'ip list',
    api_app_id: 'A0BENCH001',
    is_enterprise_install: 'false',
    response_url: responseUrl,
    trigger_id: `${process.pid}.${sent}.0123456789abcdef0123456789abcdef`,
  }).toString()
}

type Lists = Record<ReadsWanted['kind'], () => Promise<unknown[]>>

async function typed(url: string): Promise<Lists> {
  const [{ createAccountApi }, { Secret }] = await Promise.all([
    import('../../src/account/client.ts'),
    import('../../src/domain/signing.ts'),
  ])
  const api = createAccountApi({ baseUrl: new URL(url), key: new Secret('bench-key-of-nobody') })
  return { elasticIps: async () => (await api.elasticIps.list()).items, plans: async () => (await api.plans.list()).items }
}

/** The base: `undici` and `JSON.parse`, with the same pool, headers and requests, one after the other. */
function bare(url: string): Lists {
  const limits = { headersTimeout: 10_000, bodyTimeout: 10_000, keepAliveTimeout: 4_000, maxResponseSize: 8 * 1024 * 1024 }
  const pool = new Pool(url, { connections: 80, pipelining: 1, allowH2: false, connect: { timeout: 5_000 }, ...limits })
  const headers = {
    authorization: 'bench-key-of-nobody',
    accept: 'application/vnd.api+json, application/json',
    'accept-encoding': 'identity',
    'api-version': '2023-06-01',
    'user-agent': 'lockkeeper',
  }
  const read = async (path: string): Promise<unknown[]> => {
    const { body } = await pool.request({ method: 'GET', path, headers })
    return JSON.parse(await body.text()).data
  }
  return {
    async elasticIps() {
      const found: unknown[] = []
      for (let page = 1, last = 1; last > 0; page += 1) {
        const items = await read(`/elastic_ips?page%5Bsize%5D=100&page%5Bnumber%5D=${page}`)
        last = items.length
        found.push(...items)
      }
      return found
    },
    plans: () => read('/plans/virtual_machines'),
  }
}

const reading =
  (lists: Lists) =>
  async ({ kind, count }: ReadsWanted): Promise<ReadsDone> => {
    const before = process.cpuUsage()
    const startedAt = performance.now()
    let items = 0
    for (let done = 0; done < count; done += 1) items = (await lists[kind]()).length
    const { user, system } = process.cpuUsage(before)
    return { cpuMs: (user + system) / 1_000 / count, wallMs: (performance.now() - startedAt) / count, items }
  }

const [, , name, url = ''] = process.argv
const work = name === 'load' ? sendCommands : reading(name === 'bare' ? bare(url) : await typed(url))
process.on('message', async (message: Load & ReadsWanted) => process.send?.(await work(message)))
process.on('disconnect', () => process.exit(0))
