import { expect, test } from 'vitest'
import { usualTimings } from '../../src/domain/timings.ts'
import { finn, startWorldUnder, writesOf } from './policy-world.ts'
import { ops, people, requestMove, untilCard, untilReport, untilShown } from './world.ts'

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

test('What was sent and is no longer tracked is the last change, something to check first, and superseded by a newer one', async () => {
  const policy = 'rules:\n  - { name: addresses, approve: [S0ONCALL01] }'
  const account = { moveTakes: { min: 600_000, max: 600_000 } }
  const world = await startWorldUnder(policy, { env: { MOVE_TIMEOUT: '1s' }, account, timings: { ...usualTimings, graceMs: 600 } })
  const { elasticIp, card } = await requestMove(world)
  await world.ben.click(card, 'Approve')
  await world.ada.click(await untilCard(world.slack, /Slower than usual/), 'Stop tracking')
  const stopped = await untilCard(world.slack, /No longer tracked/)
  world.accountApi.world.endMove(elasticIp.id)

  await world.ben.command(`/infra ${elasticIp.address}`, { channel: ops })
  await untilShown(world.slack, people.ben, /Last change: Move .*web-1 → web-2, no longer tracked/)
  await world.ada.command(`/infra ip move ${elasticIp.address} web-1`, { channel: ops })
  const back = await untilCard(world.slack, /web-2 → web-1.*needs approval from/s)
  expect(back.text).toMatch(
    /Check first.*An earlier change may still finish: Move `203\.0\.113\.10`: web-1 → web-2\. Sent at .*@ada>, no longer tracked\./su,
  )

  await world.ada.click(stopped, 'Track again')
  await untilShown(world.slack, people.ada, /Not tracked again: .*request .* about the same is still open/)
  await world.ben.click(back, 'Approve')
  await untilCard(world.slack, /web-2 → web-1\n.*Moving/)
  world.accountApi.world.endMove(elasticIp.id)
  await untilReport(world.slack, back.ts, /Done/)
  await world.ada.click(stopped, 'Track again')

  const report = await untilReport(world.slack, stopped.ts, /Superseded/)
  expect(report.text).toContain('Another request changed it since.')
  expect(writesOf(world)).toHaveLength(2)
})
