import { randomBytes } from 'node:crypto'
import { Secret } from '../../src/domain/signing.ts'
import { connectRedis } from '../../src/redis/connect.ts'
import { createKeys } from '../../src/redis/key-names.ts'
import { createStore } from '../../src/requests/store.ts'
import { auditWriting, trusting } from '../requests/audit-for-test.ts'
import { recordRequest } from '../requests/request-for-test.ts'
import { startRedis } from '../sandbox/redis/start-redis.ts'
import { startTcpProxy } from './tcp-proxy.ts'

/**
 * Several replicas claim the same requests while their connections break, so that commands are sent twice. Prints how many requests had no
 * winner, one, or more. It is a program, so that it can run with an ablation.
 */
const [trials = 0, contenders = 0] = process.argv.slice(2).map(Number)

const server = await startRedis()
const replicas = await Promise.all(
  Array.from({ length: contenders }, async () => {
    const proxy = await startTcpProxy({ port: server.port })
    const address = new URL(server.url)
    address.port = String(proxy.port)
    return { proxy, redis: connectRedis(new Secret(address.href), 'patient', () => {}) }
  }),
)
const keys = createKeys(`claims-${randomBytes(4).toString('hex')}`)
const audit = auditWriting(() => '{"act":"test"}')
const stores = replicas.map(({ redis }) => createStore({ redis, keys, audit, signatures: trusting }))
const [first] = stores
if (!first) throw new Error('no contenders')

const winners: number[] = []
for (let trial = 0; trial < trials; trial += 1) {
  const request = await recordRequest(first, { resource: `elastic_ip:${trial}` })
  await first.take(request, 'approve')
  const claims = stores.map(async (store, index) => {
    if ((trial + index) % 3 === 0) replicas[index]?.proxy.loseNextReply()
    return (await store.take(request, 'send', { dueInMs: 1_000 })).outcome === 'won'
  })
  winners.push((await Promise.all(claims)).filter(Boolean).length)
}

const lostReplies = replicas.reduce((sum, { proxy }) => sum + proxy.fired.lostReplies, 0)
process.stdout.write(
  `${JSON.stringify({ trials, lostReplies, none: count(0), one: count(1), more: winners.filter((n) => n > 1).length })}\n`,
)
// Connections that are closing do not keep this process alive.
setInterval(() => {}, 1_000)
for (const { redis, proxy } of replicas) {
  redis.disconnect()
  await proxy.close()
}
await server.stop()
process.exit(0)

function count(wanted: number): number {
  return winners.filter((winner) => winner === wanted).length
}
