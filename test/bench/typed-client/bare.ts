import { Pool } from 'undici'
import { serveReads } from './serve-reads.ts'

/** The base: `undici` and `JSON.parse`, with the same pool, headers and requests, one after the other. */
const pool = new Pool(process.argv[2] ?? '', {
  connections: 80,
  pipelining: 1,
  allowH2: false,
  connect: { timeout: 5_000 },
  headersTimeout: 10_000,
  bodyTimeout: 10_000,
  keepAliveTimeout: 4_000,
  maxResponseSize: 8 * 1024 * 1024,
})
const headers = {
  authorization: 'bench-key-of-nobody',
  accept: 'application/vnd.api+json, application/json',
  'accept-encoding': 'identity',
  'api-version': '2023-06-01',
  'user-agent': 'lockkeeper',
}

async function read(path: string): Promise<unknown[]> {
  const { body } = await pool.request({ method: 'GET', path, headers })
  return JSON.parse(await body.text()).data
}

serveReads({
  async elasticIps() {
    const found: unknown[] = []
    for (let page = 1, last = 1; last > 0; page += 1) {
      const items = await read(`/elastic_ips?page%5Bsize%5D=100&page%5Bnumber%5D=${page}`)
      last = items.length
      found.push(...items)
    }
    return found.length
  },
  plans: async () => (await read('/plans/virtual_machines')).length,
})
