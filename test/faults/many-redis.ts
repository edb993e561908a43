import { Redis } from 'ioredis'
import { onTestFinished } from 'vitest'
import { type Redis as Server, startRedis } from '../sandbox/redis/start-redis.ts'
import { untilTrue } from './until-true.ts'

const password = 'p4ss'

/** Starts a primary, a replica that follows it, and three Sentinels that monitor them, all on loopback. Ends them with the test. */
export async function startSentinels({ sentinelPassword }: { sentinelPassword?: string } = {}) {
  const shared = { appendonly: true, password }
  const primary = await start(shared)
  const settings = [`replicaof 127.0.0.1 ${primary.port}`, `masterauth ${password}`]
  const replica = await start({ ...shared, settings })
  const monitoring = [
    `sentinel monitor main 127.0.0.1 ${primary.port} 2`,
    `sentinel auth-pass main ${password}`,
    'sentinel down-after-milliseconds main 1000',
    'sentinel failover-timeout main 5000',
    ...(sentinelPassword === undefined ? [] : [`requirepass ${sentinelPassword}`]),
  ]
  const sentinels = [
    await start({ mode: 'sentinel', settings: monitoring }),
    await start({ mode: 'sentinel', settings: monitoring }),
    await start({ mode: 'sentinel', settings: monitoring }),
  ]
  const hosts = sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',')
  await untilInStep(replica)
  return { primary, replica, url: `redis+sentinel://:${password}@${hosts}/main` }
}

/** Starts three primaries that share the slots, on loopback. Ends them with the test. */
export async function startCluster() {
  const options = { appendonly: true, password, settings: ['cluster-enabled yes', 'cluster-node-timeout 2000', `masterauth ${password}`] }
  const nodes = [await start(options), await start(options), await start(options)]
  const clients = nodes.map(({ url }) => new Redis(url))
  onTestFinished(() => {
    for (const client of clients) client.disconnect()
  })
  const perNode = Math.ceil(16_384 / nodes.length)
  for (const [index, client] of clients.entries()) {
    const last = Math.min(16_383, (index + 1) * perNode - 1)
    await client.call('CLUSTER', 'ADDSLOTSRANGE', String(index * perNode), String(last))
    await client.call('CLUSTER', 'MEET', '127.0.0.1', String(nodes[0]?.port))
  }
  await untilTrue('the nodes have found together', async () =>
    (await Promise.all(clients.map(async (client) => String(await client.call('CLUSTER', 'INFO'))))).every(
      (info) => info.includes('cluster_state:ok') && info.includes('cluster_known_nodes:3'),
    ),
  )
  return { nodes, clients, url: `redis+cluster://:${password}@${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}` }
}

async function start(options: Parameters<typeof startRedis>[0]): Promise<Server> {
  const server = await startRedis(options)
  onTestFinished(() => server.stop())
  return server
}

async function untilInStep(replica: Server): Promise<void> {
  const client = new Redis(replica.url)
  await untilTrue('the replica follows', async () => (await client.info('replication')).includes('master_link_status:up'))
  client.disconnect()
}
