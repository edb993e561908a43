import { expect, onTestFinished, test } from 'vitest'
import { usualTimings } from '../../src/domain/timings.ts'
import { openRecords } from './records.ts'
import { approveMove, general, requestMove, startWorld, untilCard, untilReport } from './world.ts'

test('the end of a move is reported although one read a minute is all that tracking may spend', async () => {
  const env = { MOVE_POLL_INTERVAL: '2s', MOVE_POLL_BUDGET: '1' }
  const world = await startWorld({ env, account: { moveTakes: { min: 100, max: 100 } } })

  const { card } = await approveMove(world)
  await untilReport(world.slack, card.ts, /Done/)

  expect(world.log.filter((line) => /"level":(50|60)/.test(line))).toEqual([])
})

test('without a worker an approved change says so, the operators are told once, and it starts when a worker runs', async () => {
  const timings = { ...usualTimings, workerCheckMs: 200 }
  const world = await startWorld({ env: { ROLE: 'web', OPS_CHANNEL: general }, timings })
  const { slack } = world
  slack.invite(general)

  const { card } = await approveMove(world)
  await untilCard(slack, /Waiting: no worker/)
  const isNotice = ({ text }: { text: string }) => /No worker of Lockkeeper is running.*#no-worker\|no-worker>/.test(text)
  await slack.until(() => slack.messages(general).some(isNotice))
  const worker = await world.startBot({ ROLE: 'worker' })
  onTestFinished(() => worker.stop())
  await untilReport(slack, card.ts, /Done/)

  expect(slack.messages(general).filter(isNotice)).toHaveLength(1)
})

test('a process without work of its own tells that Redis lost what it alone has written, such as an approval', async () => {
  const world = await startWorld({ env: { ROLE: 'web', OPS_CHANNEL: general }, timings: { ...usualTimings, workerCheckMs: 200 } })
  const { slack, ben } = world
  slack.invite(general)
  const { redis, keys, audit } = openRecords(world)
  const { card } = await requestMove(world)
  const [request = ''] = await redis.zrange(keys.open, '0', '-1')
  const { length } = await audit()
  const names = [keys.audit, keys.auditHead, keys.record(request)]
  const before = await Promise.all(names.map((name) => redis.dumpBuffer(name)))

  await ben.click(card, 'Approve')
  await untilCard(slack, /Approved/)
  await expect.poll(() => redis.xlen(keys.audit)).toBeGreaterThan(length)
  for (const [index, copy] of before.entries()) await redis.restore(names[index] ?? '', 0, copy, 'REPLACE')

  await slack.until(() => slack.messages(general).some(({ text }) => /Redis went back to an older state/.test(text)))
  expect(await redis.get(keys.freeze)).toContain('set-back')
})
