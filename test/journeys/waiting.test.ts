import { expect, onTestFinished, test } from 'vitest'
import { usualTimings } from '../../src/domain/timings.ts'
import { approveMove, general, startWorld, untilCard, untilReport } from './world.ts'

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
  const isNotice = ({ text }: { text: string }) => /No worker of Lockkeeper is running.*`no-worker`/.test(text)
  await slack.until(() => slack.messages(general).some(isNotice))
  const worker = await world.startBot({ ROLE: 'worker' })
  onTestFinished(() => worker.stop())
  await untilReport(slack, card.ts, /Done/)

  expect(slack.messages(general).filter(isNotice)).toHaveLength(1)
})
