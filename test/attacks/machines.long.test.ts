import { expect, test } from 'vitest'
import { usualTimings } from '../../src/domain/timings.ts'
import { otherToken, startMachineWorld, token } from '../features/machines/machines-world.ts'
import { forgetLists, general, untilCard } from '../journeys/world.ts'

test('the lists of machines silence neither the reports of changes outside nor the snapshots: a key made by hand is reported', async () => {
  const timings = { ...usualTimings, accountWindowMs: 3_000, repeatMs: 700 }
  const env = { WATCH_CHANGES: 'true', OPS_CHANNEL: general, INFRA_READS_PER_MINUTE: '60' }
  const world = await startMachineWorld({ timings, env })
  world.slack.invite(general, 'U0LOCKKEEP')
  const { redis, keys } = world.records
  let isOver = false
  const attack = [token, otherToken].map(async (sent) => {
    for (const path of ['servers', 'virtual-machines', 'plans', 'elastic-ips'].flatMap((each) => Array(200).fill(each))) {
      if (isOver) return
      await redis.del(keys.machineCalls('machine:ci'), keys.machineCalls('machine:agent'))
      await world.call(`GET /v1/${path}`, { token: sent })
      await forgetLists(world)
    }
  })
  const seen = async () => (await redis.get(keys.outside)) ?? ''
  await expect.poll(seen, { timeout: 20_000 }).toContain('"apiKeys":[')
  const { apiKeys } = world.accountApi.world.data
  apiKeys.push({ ...structuredClone(apiKeys[0] as (typeof apiKeys)[number]), id: 'ak_byhand0000000', name: 'by-hand' })

  await untilCard(world.slack, /API key by-hand was created outside Lockkeeper/, general)
  isOver = true
  await Promise.all(attack)
})
