import { expect, test } from 'vitest'
import { ops, startWorld, untilCard, untilReport } from '../journeys/world.ts'
import { startSentinels } from './many-redis.ts'

test('when the primary dies, the replica takes over and the move is followed to its end, once', async () => {
  const { primary, url } = await startSentinels()
  const world = await startWorld({ env: { REDIS_URL: url }, account: { moveTakes: { min: 9_000, max: 9_000 } } })
  const { elasticIp, target } = world.accountApi.world.movable()
  await world.ada.command(`/infra ip move ${elasticIp.address} ${target.hostname}`, { channel: ops })
  const card = await untilCard(world.slack, /Waiting for approval/)
  await world.ben.click(card, 'Approve')
  await untilCard(world.slack, /\*Moving\*/)

  await primary.kill()
  await expect.poll(() => world.log.some((line) => line.includes('Redis does not answer')), { timeout: 10_000 }).toBe(true)

  const report = await untilReport(world.slack, card.ts, /Done/)
  expect(report.text).toContain(`${elasticIp.address} now answers from ${target.hostname}.`)
  expect(world.accountApi.journal.writes().filter(({ method }) => method === 'PATCH')).toHaveLength(1)
  await untilCard(world.slack, /\*Done/)
  expect(world.slack.thread(ops, card.ts).filter(({ text }) => /Done/.test(text))).toHaveLength(2)
}, 60_000)
