import { Redis } from 'ioredis'
import { expect, onTestFinished, test } from 'vitest'
import { approveMove, ops, startWorld, untilCard, untilReport } from '../journeys/world.ts'
import { createEvidence } from './evidence.ts'
import { startSentinels } from './many-redis.ts'

test('when the primary dies, the replica takes over and the move is tracked to its end, once', async () => {
  const { primary, replica, url } = await startSentinels()
  const client = new Redis(replica.url)
  onTestFinished(() => client.disconnect())
  const world = await startWorld({ env: { REDIS_URL: url }, account: { moveTakes: { min: 9_000, max: 9_000 } } })
  const { elasticIp, target, card } = await approveMove(world)
  await untilCard(world.slack, /\*Moving\*/)

  const { lastTick } = createEvidence(client, world.prefix).keys
  const tickOnReplica = async () => ((await client.role())[0] === 'master' ? client.get(lastTick) : undefined)

  await primary.kill()
  const killedAt = performance.now()
  const ticked = await client.get(lastTick)
  await expect.poll(() => world.log.some((line) => line.includes("Redis isn't responding"))).toBe(true)

  await expect.poll(tickOnReplica, { timeout: 20_000, interval: 50 }).not.toBeOneOf([ticked, undefined])
  const resumedMs = performance.now() - killedAt
  console.log(JSON.stringify({ resumedMs: Math.round(resumedMs) }))
  expect(resumedMs).toBeLessThan(15_000)

  const report = await untilReport(world.slack, card.ts, /Done/)
  expect(report.text).toContain(`\`${elasticIp.address}\` is assigned to ${target.hostname}.`)
  expect(world.accountApi.journal.writes().filter(({ method }) => method === 'PATCH')).toHaveLength(1)
  await untilCard(world.slack, /\*Done/)
  expect(world.slack.thread(ops, card.ts).filter(({ text }) => /Done/.test(text))).toHaveLength(2)
})
