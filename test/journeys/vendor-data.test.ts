import { describe, expect, test } from 'vitest'
import type { MovePhase } from '../sandbox/account-api/data.ts'
import { approveMove, ops, requestMove, startWorld, untilCard, untilReport, type World, type WorldOptions } from './world.ts'

/** Follows a move from the request to its end: no early report, and one report. */
async function live(world: World) {
  const requested = await approveMove(world)
  const report = await untilReport(world.slack, requested.card.ts, /Done|Failed|Superseded|Not started|Canceled/)
  return { ...requested, report, replies: world.slack.thread(ops, requested.card.ts).slice(1) }
}

const oldServer: MovePhase[] = [{ server: 'from' }]

describe('a move, with ids that differ by kind of object', () => {
  test.each<[string, MovePhase[]]>([
    ['the old server, then none, then the target', [{ server: 'from' }, { server: 'none' }, { server: 'target' }]],
    ['an unknown status', [{ status: 'quiescing', server: 'from' }, { server: 'target' }]],
  ])('ends as done while reads show %s', async (_, movePhases) => {
    const world = await startWorld({ account: { movePhases } })

    const { card, report, replies, elasticIp, target } = await live(world)

    expect(card.text).not.toContain('Not checked')
    expect(report.text).toMatch(/Done/)
    expect(replies).toHaveLength(1)
    expect(world.accountApi.world.elasticIp(elasticIp.id)).toMatchObject({ status: 'active', serverId: target.id })
  })
})

describe('a server that dies', () => {
  async function startFailover(options: WorldOptions = {}) {
    const world = await startWorld(options)
    const requested = await requestMove(world)
    return { world, ...requested, from: requested.elasticIp.serverId ?? '' }
  }

  test('between request and approval does not stop its own failover, and Move back names it', async () => {
    const { world, elasticIp, target, card, from } = await startFailover()
    world.accountApi.world.killServer(from)

    await world.ben.click(card, 'Approve')
    await untilReport(world.slack, card.ts, /Done/)
    expect(world.slack.thread(ops, card.ts).slice(1)).toHaveLength(1)
    expect(world.accountApi.world.elasticIp(elasticIp.id)).toMatchObject({ status: 'active', serverId: target.id })

    await world.ada.click(await untilCard(world.slack, /\*Done/), 'Move back')
    await world.slack.until(() => world.ada.topView())
    await world.ada.submit()
    expect((await untilCard(world.slack, /needs approval from/)).text).toContain(`Move ${elasticIp.address}: web-2 → web-1`)
  })

  test('after the write does not make the move superseded or failed', async () => {
    const { world, card, from } = await startFailover({ account: { moveTakes: { min: 1_500, max: 1_500 }, movePhases: oldServer } })
    await world.ben.click(card, 'Approve')
    await untilCard(world.slack, /\*Moving\*/)

    world.accountApi.world.killServer(from)

    expect((await untilReport(world.slack, card.ts, /Done|Superseded|Failed/)).text).toMatch(/Done/)
  })
})
