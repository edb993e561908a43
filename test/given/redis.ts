import { randomBytes } from 'node:crypto'
import { Redis } from 'ioredis'
import { expect, inject, onTestFinished } from 'vitest'
import { Secret } from '../../src/domain/signing.ts'
import { createStore, type TakenStep } from '../../src/record/store.ts'
import { closeRedis, connectRedis, type Patience } from '../../src/redis/connect.ts'
import { createKeys } from '../../src/redis/key-names.ts'
import { startTcpProxy } from '../faults/tcp-proxy.ts'
import { startRedis } from '../sandbox/redis/start-redis.ts'
import { auditWriting, trusting } from './audit.ts'

/** Connects to the real Redis, with a new prefix. The connection is closed when the test ends. */
export function connectTestRedis() {
  const redis = new Redis(inject('redisUrl'), { maxRetriesPerRequest: null })
  const prefix = `test-${randomBytes(6).toString('hex')}`
  onTestFinished(() => redis.disconnect())
  return { redis, prefix, keys: createKeys(prefix) }
}

/** Starts a Redis of the test's own, with a client. Both end with the test. */
export async function startOwnRedis(options: Parameters<typeof startRedis>[0] = {}) {
  const server = await startRedis(options)
  const redis = new Redis(server.url)
  onTestFinished(async () => {
    redis.disconnect()
    await server.stop()
  })
  return { server, redis }
}

/** A store of requests over the real Redis. It keeps no audit, and trusts every record. */
export function connectTestStore(more: { onStep?: (step: TakenStep) => void } = {}) {
  const { redis, keys } = connectTestRedis()
  return { redis, keys, store: createStore({ redis, keys, audit: noAudit, signatures: trusting, ...more }) }
}

/** Opens a connection of the bot to the same Redis, through a proxy that can lose answers. */
export async function connectLossyRedis(patience: Patience) {
  const address = new URL(inject('redisUrl'))
  const proxy = await startTcpProxy({ port: Number(address.port) })
  address.port = String(proxy.port)
  const redis = connectRedis(new Secret(address.href), patience, () => {})
  onTestFinished(async () => {
    await closeRedis(redis)
    await proxy.close()
  })
  await expect.poll(() => redis.status).toBe('ready')
  return { redis, proxy }
}

/** An audit that keeps nothing, for tests of other parts. */
export const noAudit = auditWriting(() => '{"act":"test"}')
