import { describe, expect, test } from 'vitest'
import { cardButtons } from '../../src/messages/button-ids.ts'
import { ops, patchesOf, people, requestMove, startWorld, untilCard, untilReport, untilShown, type World } from '../journeys/world.ts'
import { findElement } from '../sandbox/slack/elements.ts'
import type { Delivery } from '../sandbox/slack/slack.ts'

async function unsentClick(world: World) {
  const { card } = await requestMove(world)
  const { value } = findElement(card.blocks ?? [], cardButtons.approve)?.element ?? {}
  const payload = JSON.stringify({
    type: 'block_actions',
    api_app_id: 'A0LOCKKEEP',
    team: { id: 'T0NIMBUS01' },
    user: { id: people.ben, team_id: 'T0NIMBUS01' },
    channel: { id: ops },
    container: { type: 'message', message_ts: card.ts, channel_id: ops },
    trigger_id: 'of-ben',
    actions: [{ type: 'button', action_id: cardButtons.approve, block_id: 'b', action_ts: '1795010400.1', value }],
  })
  return { card, click: new URLSearchParams({ payload }).toString() }
}

describe('a request with the right signature', () => {
  test('that is sent again, byte for byte, has one effect', async () => {
    const world = await startWorld({ replicas: 2 })
    const { card, click } = await unsentClick(world)
    const first = { body: click, timestamp: Math.floor(Date.now() / 1_000) }

    const answers = await Promise.all([0, 1, 2, 3, 4].map(() => world.slack.sendRaw(first)))
    await untilReport(world.slack, card.ts, /Done/)
    world.slack.connectBot(world.bots[1]?.slackUrl ?? '')
    const late = await world.slack.sendRaw(first)

    expect([...answers, late].map(({ status }) => status)).toEqual(Array(6).fill(200))
    expect(patchesOf(world)).toHaveLength(1)
    expect(world.slack.thread(ops, card.ts).slice(1)).toHaveLength(1)
    expect(world.slack.ephemerals(people.ben)).toEqual([])
  })

  test('for a command creates one request, however often it is replayed', async () => {
    const world = await startWorld()
    const { elasticIp, target } = world.accountApi.world.movable()
    const said: Delivery = await world.ada.command(`/infra ip move ${elasticIp.address} ${target.hostname}`, { channel: ops })
    await untilCard(world.slack, /needs approval from/)

    const again = await Promise.all([world.ada.redeliver(said), world.ada.redeliver(said), world.ada.redeliver(said)])

    expect(again.map(({ outcome }) => outcome)).toEqual(Array(3).fill('acknowledged'))
    await world.ada.command('/infra help', { channel: ops })
    await untilShown(world.slack, people.ada, /What you can do/)
    expect(world.slack.messages(ops).filter(({ isBot }) => isBot)).toHaveLength(1)
    expect(world.slack.ephemerals(people.ada).filter(({ text }) => /already|open request/.test(text))).toEqual([])
  })

  test('and another time within 5 minutes has one effect as well: signed anew for every minute, it is still one click', async () => {
    const world = await startWorld()
    const { card, click } = await unsentClick(world)
    const now = Math.floor(Date.now() / 1_000)

    for (const minutes of [-4, -1, 1, 4]) await world.slack.sendRaw({ body: click, timestamp: now + minutes * 60 })

    await untilReport(world.slack, card.ts, /Done/)
    expect(patchesOf(world)).toHaveLength(1)
    expect(world.slack.ephemerals(people.ben)).toEqual([])
  })
})
