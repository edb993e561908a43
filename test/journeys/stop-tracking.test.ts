import { describe, expect, test } from 'vitest'
import { cardNow, finn, startWorldUnder, writesOf } from './policy-world.ts'
import { wordsOf } from './subject.ts'
import { ops, people, requestMove, untilCard, untilReport, untilShown, type WorldOptions } from './world.ts'

describe('Stop tracking', () => {
  const policy = 'rules:\n  - { name: addresses, approve: [S0ONCALL01] }'

  async function startedMove(options: WorldOptions = {}) {
    const env = { MOVE_TIMEOUT: '1s' }
    const world = await startWorldUnder(policy, { ...options, env, account: { moveTakes: { min: 600_000, max: 600_000 } } })
    const requested = await requestMove(world)
    await world.ben.click(requested.card, 'Approve')
    return { world, ...requested, moving: await untilCard(world.slack, /Slower than usual/) }
  }

  test('ends the tracking and reports it; Track again resumes it and reports the end', async () => {
    const { world, elasticIp, moving } = await startedMove()

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

  test('cannot be undone once another change of the same address was requested', async () => {
    const { world, elasticIp, moving } = await startedMove()
    await world.ada.click(moving, 'Stop tracking')
    const stopped = await untilCard(world.slack, /No longer tracked/)
    world.accountApi.world.endMove(elasticIp.id)
    const third = world.accountApi.world.third(elasticIp.id)
    await world.finn.command(`/infra ip move ${elasticIp.address} ${third.hostname}`, { channel: ops })
    await untilCard(world.slack, /needs approval from/)

    await world.ada.click(stopped, 'Track again')

    const said = await untilShown(world.slack, people.ada, /^Not tracked again|Not tracked again/)
    expect(wordsOf(said)).toMatch(/^Not tracked again: a newer request changes the same resource\./)
    expect(cardNow(world, stopped)?.text).toContain('No longer tracked')
  })
})
