import { expect, test } from 'vitest'
import { Secret } from '../../src/domain/signing.ts'
import { closeRedis, connectRedis, holdCommands } from '../../src/redis/connect.ts'
import { ops, people, requestMove, startWorld, untilReport, untilShown } from '../journeys/world.ts'
import { startCluster } from './many-redis.ts'

test('the bot works on a real Cluster, because all keys share a hash tag', async () => {
  const { clients, url } = await startCluster()
  await expectHeld(url)
  const world = await startWorld({ env: { REDIS_URL: url } })

  const { card } = await requestMove(world)
  await world.ben.command('/infra pending', { channel: ops })
  await untilShown(world.slack, people.ben, /1 request needs approval/)
  await world.ben.click(card, 'Approve')
  await untilReport(world.slack, card.ts, /Done/)

  const keys = (await Promise.all(clients.map((client) => client.keys('*')))).map((found) => found.length)
  expect(keys.filter((count) => count > 0)).toHaveLength(1)
})

/** Checks that a connection writes nothing before Redis has been checked. */
async function expectHeld(url: string): Promise<void> {
  const redis = connectRedis(new Secret(url), 'prompt', () => {})
  const shiftTimes = holdCommands(redis)
  await expect.poll(() => redis.status).toBe('ready')

  expect(await redis.ping()).toBe('PONG')
  await expect(redis.set('{held}', '1')).rejects.toThrow('not been checked')
  shiftTimes()
  expect(await redis.set('{held}', '1')).toBe('OK')
  expect(await redis.del('{held}')).toBe(1)
  await closeRedis(redis)
}
