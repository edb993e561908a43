import { Redis } from 'ioredis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { Secret } from '../../src/domain/secret.ts'
import { closeRedis, connectRedis, type Patience } from '../../src/redis/connect.ts'
import { startRedis } from '../sandbox/redis/start-redis.ts'
import { startTcpProxy } from './tcp-proxy.ts'

/** A real Redis behind a proxy, and one of the bot's own connections to it. */
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

/** How long until a command is answered again, in ms. */
async function untilAnswered(redis: Redis, withinMs: number): Promise<number> {
  const startedAt = performance.now()
  await expect.poll(() => redis.ping().catch((error: Error) => error.message), { timeout: withinMs, interval: 100 }).toBe('PONG')
  return performance.now() - startedAt
}

describe('the connection that people wait for', () => {
  test('answers again after a reset', async () => {
    const { proxy, redis } = await connectThroughProxy('prompt')
    proxy.reset()
    await untilAnswered(redis, 5_000)
    expect(proxy.fired.resets).toBeGreaterThan(0)
  })

  test('is opened anew when packets vanish, and answers once they pass again', async () => {
    const { proxy, redis } = await connectThroughProxy('prompt')
    proxy.blackhole()
    await expect(redis.ping()).rejects.toThrow(/timed out/i)
    await expect.poll(() => redis.status, { timeout: 8_000 }).not.toBe('ready')
    proxy.heal()
    await untilAnswered(redis, 8_000)
    expect(proxy.fired.swallowed).toBeGreaterThan(0)
  }, 20_000)

  test('fails at once while Redis is away, so that there is time to say so', async () => {
    const { proxy, redis } = await connectThroughProxy('prompt')
    proxy.refuse()
    await expect.poll(() => redis.status).not.toBe('ready')
    await expect(redis.get('key')).rejects.toThrow()
    await expect.poll(() => proxy.fired.refused).toBeGreaterThan(0)
    proxy.heal()
    await untilAnswered(redis, 8_000)
  }, 20_000)
})

describe('the connection of the jobs', () => {
  test('waits out an absence, and carries on with what was asked meanwhile', async () => {
    const { proxy, redis } = await connectThroughProxy('patient')
    proxy.refuse()
    const asked = redis.set('kept', 'yes')
    await new Promise((resolve) => setTimeout(resolve, 500))
    proxy.heal()
    expect(await asked).toBe('OK')
    expect(proxy.fired.refused + proxy.fired.resets).toBeGreaterThan(0)
  })

  test('leaves a primary that was demoted, and writes again when it is one', async () => {
    const { direct, redis } = await connectThroughProxy('patient')
    const demotion = await startRedis()
    onTestFinished(() => demotion.stop())
    await direct.replicaof('127.0.0.1', new URL(demotion.url).port)
    const asked = redis.set('kept', 'yes')
    await new Promise((resolve) => setTimeout(resolve, 300))
    await direct.replicaof('NO', 'ONE')
    expect(await asked).toBe('OK')
  })
})
