import { expect, test } from 'vitest'
import { finn, startWorldUnder, writesOf } from './policy-world.ts'
import { requestMove, untilCard, untilReport, untilShown } from './world.ts'

test('Stop tracking ends the tracking and reports it; Track again resumes it and reports the end', async () => {
  const policy = 'rules:\n  - { name: addresses, approve: [S0ONCALL01] }'
  const world = await startWorldUnder(policy, { env: { MOVE_TIMEOUT: '1s' }, account: { moveTakes: { min: 600_000, max: 600_000 } } })
  const { elasticIp, card } = await requestMove(world)
  await world.ben.click(card, 'Approve')
  const moving = await untilCard(world.slack, /Slower than usual/)

  await world.finn.click(moving, 'Stop tracking')
  await untilShown(world.slack, finn, /can stop or restart tracking/)
  const changedTheirMind = await world.chiara.click(moving, 'Stop tracking', { confirm: 'deny' })
  await world.chiara.click(moving, 'Stop tracking')
  await untilReport(world.slack, moving.ts, /No longer tracked:.*\|@chiara> stopped tracking after .*\. It may still finish\./)
  const stopped = await untilCard(world.slack, /No longer tracked/)
  world.accountApi.world.endMove(elasticIp.id)
  await world.ada.click(stopped, 'Track again')
  const report = await untilReport(world.slack, moving.ts, /Done/)

  expect(changedTheirMind.outcome).toBe('not-sent')
  expect(report.text).toContain(`\`${elasticIp.address}\` is assigned to`)
  expect(report.text).not.toMatch(/It took/)
  expect(writesOf(world)).toHaveLength(1)
  const acts = (await world.records.audit()).map(({ act }) => act)
  expect(acts).toEqual(['request', 'approve', 'send', 'accept', 'late', 'refused', 'stop-tracking', 'track-again', 'finish'])
})
