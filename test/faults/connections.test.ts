import { Redis } from 'ioredis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { Secret } from '../../src/domain/signing.ts'
import { closeRedis, connectRedis, type Patience } from '../../src/redis/connect.ts'
import { startRedis } from '../sandbox/redis/start-redis.ts'
import { startTcpProxy } from './tcp-proxy.ts'

async function connectThroughProxy(patience: Patience) {
  const server = await startRedis({ appendonly: true })
  const address = new URL(server.url)
  const proxy = await startTcpProxy({ port: Number(address.port) })
  const direct = new Redis(server.url)
  address.port = String(proxy.port)
  const problems: string[] = []
  const redis = connectRedis(new Secret(address.href), patience, (problem) => problems.push(problem))
  onTestFinished(async () => {
    await closeRedis(redis)
    direct.disconnect()
    await proxy.close()
    await server.stop()
  })
  await expect.poll(() => redis.status).toBe('ready')
  return { server, proxy, direct, redis, problems }
}

async function untilAnswered(redis: Redis): Promise<void> {
  await expect.poll(() => redis.ping().catch((error: Error) => error.message), { interval: 100 }).toBe('PONG')
}

describe('the connection for people', () => {
  test('is reopened when packets vanish, and answers once they pass again', async () => {
    const { proxy, redis } = await connectThroughProxy('prompt')
    proxy.blackhole()
    await expect(redis.ping()).rejects.toThrow(/timed out/i)
    await expect.poll(() => redis.status).not.toBe('ready')
    proxy.heal()
    await untilAnswered(redis)
    expect(proxy.fired.swallowed).toBeGreaterThan(0)
  })

  test('fails at once while Redis is away, so that there is time for an answer', async () => {
    const { proxy, redis } = await connectThroughProxy('prompt')
    proxy.refuse()
    await expect.poll(() => redis.status).not.toBe('ready')
    await expect(redis.get('key')).rejects.toThrow()
    await expect.poll(() => proxy.fired.refused).toBeGreaterThan(0)
    proxy.heal()
    await untilAnswered(redis)
  })
})

describe('the connection for jobs', () => {
  test('waits while Redis is away, and executes the commands of that time afterwards', async () => {
    const { proxy, redis } = await connectThroughProxy('patient')
    proxy.refuse()
    const written = redis.set('kept', 'yes')
    await new Promise((resolve) => setTimeout(resolve, 500))
    proxy.heal()
    expect(await written).toBe('OK')
    expect(proxy.fired.refused + proxy.fired.resets).toBeGreaterThan(0)
  })
})
