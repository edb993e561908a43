import { describe, expect, test } from 'vitest'
import { finn, onlyRequest, restart, startWorldUnder } from './policy-world.ts'
import { ops, patchesOf, people, untilCard, untilReport, untilShown } from './world.ts'

const minutes = (count: number) => count * 60_000

/** Ada requests a move in two hours, in her words. `pass` lets time pass while no bot runs. */
async function startScheduled({
  words = 'in 2h because the maintenance begins',
  approve = true,
  policy = '[S0ONCALL01]',
  expires = '4h',
} = {}) {
  const world = await startWorldUnder(`rules:\n  - { name: moves, approve: ${policy}, expires: ${expires} }`)
  const { elasticIp, target } = world.accountApi.world.movable()
  await world.ada.command(`/infra ip move ${elasticIp.address} ${target.hostname} ${words}`, { channel: ops })
  const card = await untilCard(world.slack, /needs approval from/)
  if (approve) {
    await world.ben.click(card, 'Approve')
    await untilCard(world.slack, /Approved\.\* Starts <!date/)
  }
  const now = () => world.slack.messages(ops).find(({ ts }) => ts === card.ts) ?? card
  const pass = async (ms: number) => {
    const { id } = await onlyRequest(world.records)
    await restart(world, () => world.records.shiftTimes(id, ms))
  }
  return { world, card, now, elasticIp, target, pass }
}

describe('a move that was requested for later', () => {
  test('says its start before and after the approval, is sent then, and not before', async () => {
    const { world, card, pass } = await startScheduled({ approve: false })
    expect(card.text).toMatch(/needs approval from .* by <!date.*\n\*Starts <!date/)
    await world.ben.click(card, 'Approve')
    await untilCard(world.slack, /Approved\.\* Starts <!date/)
    await pass(minutes(119))
    expect(patchesOf(world)).toEqual([])

    await pass(minutes(1))
    await untilReport(world.slack, card.ts, /Done/)

    expect(patchesOf(world)).toHaveLength(1)
    await untilCard(world.slack, /\*Done\*/)
    expect((await world.records.audit()).map(({ act }) => act)).toEqual([
      'request',
      'approve',
      'wait-for-start',
      'send',
      'accept',
      'finish',
    ])
  })

  test('expires at its start if nobody has approved it, and not before', async () => {
    const { world, card, pass } = await startScheduled({ approve: false, expires: '30m' })

    await pass(minutes(60))
    await untilReport(world.slack, card.ts, /needs approval/)
    await pass(minutes(61))

    await untilReport(world.slack, card.ts, /Expired/)
  })

  test('starts at once when an approver lets it, and nobody else can', async () => {
    const { world, card, now } = await startScheduled()
    await world.ada.click(now(), 'Start now')
    await untilShown(world.slack, people.ada, /another approver must/)
    await world.slack.as(finn).click(now(), 'Start now')
    await untilShown(world.slack, finn, /You aren't an approver/)

    await world.ben.click(now(), 'Start now')

    await untilReport(world.slack, card.ts, /Done/)
    const [entry] = (await world.records.audit()).filter(({ act }) => act === 'start-now')
    expect(entry).toMatchObject({ by: people.ben, rule: 'moves' })
  })

  test('keeps its start if an approver wants to let it start while everything is frozen', async () => {
    const { world, card, now } = await startScheduled()
    await world.ben.command('/infra freeze because the network is being rebuilt', { channel: ops })
    await untilCard(world.slack, /\*Frozen\* by/)
    await world.ben.click(now(), 'Start now')
    await untilShown(world.slack, people.ben, /Nothing was changed\. It can't start now: held by a freeze until lifted\./)

    await world.ben.command('/infra unfreeze', { channel: ops })
    await untilShown(world.slack, people.ben, /Unfrozen/)
    expect(now().text).toMatch(/\*Approved\.\* Starts /)
    await world.ben.click(now(), 'Start now')
    await untilReport(world.slack, card.ts, /Done/)
    expect(patchesOf(world)).toHaveLength(1)
  })
})
