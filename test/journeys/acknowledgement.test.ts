import { Redis } from 'ioredis'
import { expect, onTestFinished, test } from 'vitest'
import { startRedis } from '../sandbox/redis/start-redis.ts'
import { ops, people, startWorld, untilShown } from './world.ts'

test('a command is acknowledged while Redis does not answer, and costs one Redis command', async () => {
  const redis = await startRedis({ appendonly: true })
  const admin = new Redis(redis.url)
  onTestFinished(async () => {
    admin.disconnect()
    await redis.stop()
  })
  // With the role web the bot sends Redis nothing by itself, except the heartbeat of its connection.
  const world = await startWorld({ env: { REDIS_URL: redis.url, ROLE: 'web' } })
  const before = await commandsOf(admin)

  await admin.client('PAUSE', 20_000, 'WRITE')
  const startedAt = performance.now()
  await world.ada.command('/infra help', { channel: ops })
  const tookMs = performance.now() - startedAt
  const atAck = await commandsOf(admin)
  await admin.client('UNPAUSE')
  await untilShown(world.slack, people.ada, /What you can do/)
  const atAnswer = await commandsOf(admin)

  // A command that waited for Redis would take a second, because its connection fails after that time.
  expect(tookMs).toBeLessThan(1_000)
  expect(added(before, atAck)).toEqual({})
  expect(added(before, atAnswer)).toEqual({ set: 1 })
})

type Commands = Record<string, number>

/** Returns how often each command was executed, without those of this test and the heartbeat. */
async function commandsOf(admin: Redis): Promise<Commands> {
  const stats = [...(await admin.info('commandstats')).matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)]
  const counts = stats.map(([, name = '', calls]) => [name, Number(calls)] as const)
  return Object.fromEntries(counts.filter(([name]) => !/^(info|ping|client\b.*)$/.test(name)))
}

function added(before: Commands, after: Commands): Commands {
  const changes = Object.entries(after).map(([name, calls]) => [name, calls - (before[name] ?? 0)] as const)
  return Object.fromEntries(changes.filter(([, calls]) => calls > 0))
}
