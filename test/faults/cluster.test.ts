import { expect, test } from 'vitest'
import { ops, people, startWorld, untilCard, untilReport, untilWhisper } from '../journeys/world.ts'
import { startCluster } from './many-redis.ts'

test('on a real Cluster everything works, because all keys share a hash tag', async () => {
  const { clients, url } = await startCluster()
  const world = await startWorld({ env: { REDIS_URL: url } })
  const { elasticIp, target } = world.accountApi.world.movable()

  await world.ada.command(`/infra ip move ${elasticIp.address} ${target.hostname}`, { channel: ops })
  const card = await untilCard(world.slack, /Waiting for approval/)
  await world.ben.command('/infra pending', { channel: ops })
  await untilWhisper(world.slack, people.ben, /1 waiting for approval/)
  await world.ben.click(card, 'Approve')
  await untilReport(world.slack, card.ts, /Done/)

  const keys = (await Promise.all(clients.map((client) => client.keys('*')))).map((found) => found.length)
  expect(keys.filter((count) => count > 0)).toHaveLength(1)
}, 60_000)
