import { describe, expect, test } from 'vitest'
import { findElement } from '../sandbox/slack/elements.ts'
import { type Json, objectsOf, textOf } from '../sandbox/slack/json.ts'
import { freeze, unfreeze } from './freeze-world.ts'
import { finn, onlyRequest, restart, startWorldUnder } from './policy-world.ts'
import { ops, patchesOf, people, untilCard, untilReport, untilShown } from './world.ts'

const minutes = (count: number) => count * 60_000

/** Ada requests a move in two hours. `pass` lets time pass while no bot runs. */
async function startScheduled({ approve = true, expires = '4h' } = {}) {
  const world = await startWorldUnder(`rules:\n  - { name: moves, approve: [S0ONCALL01], expires: ${expires} }`)
  const { elasticIp, target } = world.accountApi.world.movable()
  const command = `/infra ip move ${elasticIp.address} ${target.hostname}`
  await world.ada.command(`${command} in 2h because OPS-1`, { channel: ops })
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
  return { world, card, command, now, pass }
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
    const acts = (await world.records.audit()).map(({ act }) => act)
    expect(acts).toEqual(['request', 'approve', 'wait-for-start', 'send', 'accept', 'finish'])
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
    await untilShown(
      world.slack,
      people.ada,
      /^\*.*\nYou requested this, so an approver other than you must press \*Start now\*\. To cancel it, press \*Withdraw\*\.$/,
    )
    await world.slack.as(finn).click(now(), 'Start now')
    await untilShown(world.slack, finn, /You aren't an approver/)

    await world.ben.click(now(), 'Start now')

    await untilReport(world.slack, card.ts, /Done/)
    const [entry] = (await world.records.audit()).filter(({ act }) => act === 'start-now')
    expect(entry).toMatchObject({ by: people.ben, rule: 'moves' })
  })

  test('keeps its start while everything is frozen, and only then has no button to start now', async () => {
    const { world, card, now } = await startScheduled()
    const before = structuredClone(now())
    const hasButton = () => JSON.stringify(now().blocks).includes('"Start now"')
    await freeze(world)
    await world.slack.until(() => !hasButton(), { what: 'the message without its button' })
    await world.ben.click(before, 'Start now')
    await untilShown(world.slack, people.ben, /Nothing was changed\. It can't start now: held by a freeze until lifted\./)

    await unfreeze(world)
    await untilShown(world.slack, people.ben, /Unfrozen/)
    await world.slack.until(hasButton, { what: 'the message with its button' })
    expect(now().text).toMatch(/\*Approved\.\* Starts /)
    await world.ben.click(now(), 'Start now')
    await untilReport(world.slack, card.ts, /Done/)
    expect(patchesOf(world)).toHaveLength(1)
  })

  test('may start now although a freeze is planned over its start, and says when it starts otherwise', async () => {
    const { world, card, now } = await startScheduled()
    await freeze(world, 'from in 1h until in 3h because of the sale')
    await untilCard(world.slack, /Approved\.\* Starts <!date[^>]*>, after a freeze planned from <!date.*\nRequested start: <!date/)
    expect(JSON.stringify(now().blocks)).toMatch(/"Start now\?".*\\nStarts <!date[^>]*>, after a freeze planned from <!date/)
    await world.ben.click(now(), 'Start now')
    await untilReport(world.slack, card.ts, /Done/)
    expect(patchesOf(world)).toHaveLength(1)
  })

  test('keeps its address: another move is refused with its link and start, and possible once it is withdrawn', async () => {
    const { world, card, command, now } = await startScheduled()
    for (const start of ['', ' in 3h']) await world.chiara.command(command + start, { channel: ops })
    const refused = await world.slack.until(() => {
      const shown = world.slack.ephemerals(people.chiara).filter(({ text }) => text.startsWith('Not requested'))
      return shown.length === 2 ? shown : undefined
    })
    for (const { text } of refused) {
      expect(text).toContain('(approved, starts <!date')
      expect(text).toContain(`/p${card.ts.replace('.', '')}|`)
      expect(text).toContain('Wait until it ends, or have it withdrawn by <@U0ADA00001> or an approver.')
    }
    expect(await world.records.all()).toHaveLength(1)

    await world.ben.click(now(), 'Withdraw')
    await untilCard(world.slack, /\*Withdrawn\*/)
    await world.chiara.command(command, { channel: ops })
    await world.ben.click(await untilCard(world.slack, /needs approval from/), 'Approve')
    await untilCard(world.slack, /\*Done\*/)
    expect(patchesOf(world)).toHaveLength(1)
  })

  test('is on Home once, and in the lists', async () => {
    const { world } = await startScheduled()
    const homes: string[] = []
    for (const user of [people.ada, people.ben, finn]) {
      const words = () => JSON.stringify(world.slack.home(user)?.blocks ?? [])
      await world.slack.as(user).openHome()
      await world.slack.until(() => words().includes('Updated'))
      homes.push(words())
    }
    for (const home of homes) {
      expect(home).toContain('Scheduled or held (1)')
      expect(home).not.toMatch(/In progress|Your requests/)
      expect(home).toMatch(/Starts <!date\^\d+\^{time} {date_long_pretty}/)
    }
    expect(homes.map((home) => home.includes('"Withdraw"'))).toEqual([true, false, false])

    await world.chiara.command('/infra pending', { channel: ops })
    await untilShown(world.slack, people.chiara, /No requests need approval\. Scheduled or held: 1\./)
    await world.chiara.command('/infra moves', { channel: ops })
    await untilShown(world.slack, people.chiara, /Moves: 0 in progress, 1 scheduled/)
  })
})

describe('the start that somebody types', () => {
  /** What the field *Start* of an open form has, and its hint. */
  function startIn({ view: { blocks } }: { view: Json }) {
    const field = findElement(objectsOf(blocks), 'start')
    return { start: field?.element.initial_value, hint: textOf(field?.block.hint) }
  }

  test('is in the form that opens because something is missing, which names the zone once it is known, or is refused', async () => {
    const world = await startWorldUnder('rules:\n  - { name: moves, approve: [S0ONCALL01], reason: required }')
    const { elasticIp, target } = world.accountApi.world.movable()
    await world.ada.command(`/infra ip move ${elasticIp.address} in 2h because OPS-1`, { channel: ops })
    expect(startIn(await world.slack.until(() => world.ada.topView()))).toMatchObject({ start: 'in 2h' })
    await world.ada.close()
    for (const [start, words] of [
      ['in 15d', /^Not requested: .* is more than 14 days ahead/],
      ['at 25:00', /^Not requested: `at 25:00` isn't a time/],
      ['at 2020-01-01 06:00', /^Not requested: .* is past/],
    ] as const) {
      await world.ada.command(`/infra ip move ${elasticIp.address} ${target.hostname} ${start} because OPS-1`, { channel: ops })
      await untilShown(world.slack, people.ada, words)
    }
    expect(await world.records.all()).toEqual([])

    await world.ada.command(`/infra ip move ${elasticIp.address} ${target.hostname} in 2h`, { channel: ops })
    const withoutReason = await world.slack.until(() => world.ada.topView())
    const hint = 'Such as 22:00, tomorrow 06:00 or in 2h (Europe/Berlin). Leave empty to start at once.'
    expect(startIn(withoutReason)).toEqual({ start: 'in 2h', hint })
    await world.ada.fill(withoutReason, { Reason: 'OPS-1' })
    await world.ada.submit()

    expect((await untilCard(world.slack, /needs approval from/)).text).toMatch(/\*Starts <!date/)
  })

  test('tells its approvers first that a freeze may not be lifted by its start', async () => {
    const { world, card } = await startScheduled({ approve: false })
    await world.chiara.command('/infra freeze because INC-1', { channel: ops })
    await untilCard(world.slack, /Starts <!date[^>]*>, if the freeze is lifted by then/)
    await world.ben.click(card, 'Approve')
    const form = JSON.stringify((await world.slack.until(() => world.ben.topView())).view)
    expect(form).toMatch(/Starts <!date[^>]*>, if the freeze is lifted by then/)
  })

  test('that starts outside its window says so while a freeze is on that ends nobody knows when, to approvers first, and once that is lifted', async () => {
    const hour = (inHours: number) => new Date(Date.now() + inHours * 3_600_000).toISOString().slice(11, 13)
    const window = `{ days: [mon, tue, wed, thu, fri, sat, sun], from: "${hour(5)}:00", to: "${hour(6)}:00", zone: UTC }`
    const world = await startWorldUnder(`windows:\n  office: ${window}\nrules:\n  - { name: moves, approve: [S0ONCALL01], window: office }`)
    const { elasticIp, target } = world.accountApi.world.movable()
    await world.ada.command(`/infra ip move ${elasticIp.address} ${target.hostname} in 2h because OPS-1`, { channel: ops })
    const card = await untilCard(world.slack, /needs approval from.* Starts when the window “office” opens, <!date[^>]*>\./)
    const lift = /opens, <!date[^>]*>, if the freeze is lifted by then/
    await world.chiara.command('/infra freeze because INC-1', { channel: ops })
    await untilCard(world.slack, lift)
    await world.ben.click(card, 'Approve')
    expect(JSON.stringify((await world.slack.until(() => world.ben.topView())).view)).toMatch(lift)
    await world.ben.submit()
    await untilCard(world.slack, new RegExp(`Approved.*${lift.source}`))
    await world.chiara.command('/infra unfreeze', { channel: ops })
    await untilCard(world.slack, /Approved\.\* Starts when the window “office” opens, <!date[^>]*>\./)
  })

  test('is again in *Request again*, and the field is empty once that is past', async () => {
    const { world, card } = await startScheduled({ approve: false })
    const { id, start = 0 } = await onlyRequest(world.records)
    await world.ada.click(card, 'Withdraw')
    const withdrawn = await untilCard(world.slack, /\*Withdrawn\*/)

    await world.ada.click(withdrawn, 'Request again')
    const again = await world.slack.until(() => world.ada.topView())
    expect(startIn(again).start).toBe(`${new Date(start).toISOString().slice(0, 16).replace('T', ' ')} UTC`)
    await world.ada.submit()
    await untilCard(world.slack, /needs approval from/)
    const [first, second] = (await world.records.all()).toSorted((one, other) => one.createdAt - other.createdAt)
    expect([first?.id, second?.start]).toEqual([id, Math.floor(start / 60_000) * 60_000])

    await restart(world, () => world.records.shiftTimes(second?.id ?? '', minutes(180)))
    await world.ada.click(await untilCard(world.slack, /\*Expired\*/), 'Request again')
    expect(startIn(await world.slack.until(() => world.ada.topView())).start).toBeUndefined()
  })

  test('is not in *Request again* of one that an approver let start before', async () => {
    const { world, now } = await startScheduled()
    world.accountApi.faults.add({ kind: 'status', status: 503, times: 10_000 })
    await world.ben.click(now(), 'Start now')
    const waiting = await untilCard(world.slack, /Waiting for the account API/)
    await world.ada.click(waiting, 'Withdraw')
    const withdrawn = await untilCard(world.slack, /\*Withdrawn\*/)
    world.accountApi.faults.clear()
    await world.ada.click(withdrawn, 'Request again')
    expect(startIn(await world.slack.until(() => world.ada.topView())).start).toBeUndefined()
  })
})
