import { describe, expect, test } from 'vitest'
import { isOpen, resourcesOf } from '../../src/domain/request.ts'
import { alert, delivery, post, startAlertWorld } from '../journeys/alerts-world.ts'
import { addresses, patched, withAddresses } from '../journeys/evacuations.ts'
import { openRecords } from '../journeys/records.ts'
import { ops, requestMove, startWorld, untilCard, untilReport, type World } from '../journeys/world.ts'

/** Lets each act reach another bot, all at the same moment. */
async function atOnce({ slack, bots }: World, acts: (() => Promise<unknown>)[]): Promise<void> {
  const begun = acts.map((act, index) => {
    const bot = bots[index % bots.length]
    if (bot) slack.connectBot(bot.slackUrl)
    return act()
  })
  await Promise.all(begun)
}

/** The resources that open requests hold, each as often as it is held. */
async function held(world: World): Promise<string[]> {
  const requests = await openRecords(world).all()
  return requests.filter(({ state }) => isOpen(state)).flatMap(resourcesOf)
}

describe('two people, each at another replica and at the same moment,', () => {
  test('approve and withdraw, and either it is sent once or not at all', async () => {
    const world = await startWorld({ replicas: 2 })
    const { card } = await requestMove(world)

    await atOnce(world, [
      () => world.ben.click(card, 'Approve'),
      () => world.ada.click(card, 'Withdraw'),
      () => world.chiara.click(card, 'Approve'),
      () => world.ben.click(card, 'Approve'),
    ])
    const end = await untilCard(world.slack, /\*(Done|Withdrawn)\*/)

    expect(world.accountApi.journal.writes()).toHaveLength(end.text.includes('Done') ? 1 : 0)
    const acts = (await openRecords(world).audit()).map(({ act }) => act).filter((act) => act === 'approve' || act === 'withdraw')
    // An approved request can be withdrawn until its write is sent.
    expect(end.text.includes('Done') ? [['approve']] : [['withdraw'], ['approve', 'withdraw']]).toContainEqual(acts)
  })

  test('move an evacuation back, or send its rest again, and one request is made', async () => {
    const own = addresses(3)
    const world = await startWorld({ ...withAddresses(own), replicas: 2 })
    await world.ada.command('/infra evacuate web-1 web-2', { channel: ops })
    const card = await untilCard(world.slack, /Evacuate .*needs approval from/s)
    world.accountApi.faults.add({ method: 'PATCH', path: `/elastic_ips/${own[1]?.id}`, kind: 'status', status: 422, times: 1 })
    await world.ben.click(card, 'Approve')
    await untilReport(world.slack, card.ts, /Partly done/)
    const failed = await untilCard(world.slack, /\*Partly done\*/)

    for (const button of ['Retry the rest', 'Move back']) {
      await Promise.all([world.ada, world.chiara].map((each) => each.click(failed, button)))
      await world.slack.until(() => world.ada.topView() && world.chiara.topView())
      await atOnce(world, [() => world.ada.submit(), () => world.chiara.submit(), () => world.ada.submit().catch(() => undefined)])
      const resources = await held(world)
      expect(resources.length).toBeGreaterThan(0)
      expect(new Set(resources).size).toBe(resources.length)
      for (const each of [world.ada, world.chiara]) if (each.openViews().length > 0) await each.close()
    }
    expect(patched(world)).toHaveLength(3)
  })
})

test('an alert that reaches both replicas while a person evacuates the same server makes one request', async () => {
  const world = await startAlertWorld({ replicas: 2 })
  const body = JSON.stringify(delivery([alert()]))

  await atOnce(world, [
    () => world.ada.command('/infra evacuate web-1 web-2', { channel: ops }),
    () => post(world.bots[0] ?? {}, body),
    () => post(world.bots[1] ?? {}, body),
  ])
  await untilCard(world.slack, /needs approval from/)

  const requests = await world.records.all()
  expect(requests.filter(({ state }) => isOpen(state))).toHaveLength(1)
})
