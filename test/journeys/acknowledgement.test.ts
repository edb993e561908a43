import { Redis } from 'ioredis'
import { expect, onTestFinished, test } from 'vitest'
import { startRedis } from '../sandbox/redis/start-redis.ts'
import { ops, people, startWorld, untilShown } from './world.ts'

test('a command is acknowledged although Redis does not answer, and costs it one command', async () => {
  const redis = await startRedis({ appendonly: true })
  const admin = new Redis(redis.url)
  onTestFinished(async () => {
    admin.disconnect()
    await redis.stop()
  })
  // A bot that carries nothing out has nothing to ask Redis by itself, but for the pulse of its connection.
  const world = await startWorld({ env: { REDIS_URL: redis.url, ROLE: 'web' } })
  const before = await commandsOf(admin)

  await admin.client('PAUSE', 20_000, 'WRITE')
  const askedAt = performance.now()
  await world.ada.command('/infra help', { channel: ops })
  const tookMs = performance.now() - askedAt
  const atAck = await commandsOf(admin)
  await admin.client('UNPAUSE')
  await untilShown(world.slack, people.ada, /What you can ask me/)
  const atAnswer = await commandsOf(admin)

  // Whoever waits for Redis gives up after a second, not before.
  expect(tookMs).toBeLessThan(1_000)
  expect(added(before, atAck)).toEqual({})
  expect(added(before, atAnswer)).toEqual({ set: 1 })
})

type Commands = Record<string, number>

/** How often each command was carried out, without those of this test and the pulse. */
async function commandsOf(admin: Redis): Promise<Commands> {
  const stats = [...(await admin.info('commandstats')).matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)]
  const counts = stats.map(([, name = '', calls]) => [name, Number(calls)] as const)
  return Object.fromEntries(counts.filter(([name]) => !/^(info|ping|client\b.*)$/.test(name)))
}

function added(before: Commands, after: Commands): Commands {
  const changes = Object.entries(after).map(([name, calls]) => [name, calls - (before[name] ?? 0)] as const)
  return Object.fromEntries(changes.filter(([, calls]) => calls > 0))
}
