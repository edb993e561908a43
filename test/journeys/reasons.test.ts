import { describe, expect, test } from 'vitest'
import { findElement } from '../sandbox/slack/elements.ts'
import { type Json, objectsOf, textOf } from '../sandbox/slack/json.ts'
import { onlyRequest, startWorldUnder, writesOf } from './policy-world.ts'
import { ops, people, startWorld, untilCard, untilReport } from './world.ts'

const strict = `
rules:
  - { name: production, projects: [{ name: Storefront }], approve: [S0ONCALL01], reason: required }
  - { name: keys, changes: [key.create, key.rotate, key.revoke], approve: [S0ONCALL01], reason: required }
  - { name: everything else, approve: [S0ONCALL01] }
`
const move = '/infra ip move 203.0.113.10 web-2'

const link = 'https://tickets.example.com/browse/$0'
const withTickets = `
rules:
  - { name: production, changes: ip.move, approve: [S0ONCALL01], self_approval: break-glass, reason: { pattern: 'OPS-\\d+', link: '${link}' } }
  - { name: failover, changes: ip.evacuate, approve: [S0ONCALL01], self_approval: break-glass, reason: { pattern: '^CHG|(?i)change' } }
`

const reasonInput = ({ blocks }: Json) => findElement(objectsOf(blocks), 'reason')?.block

describe('a reason', () => {
  test('at the end of a command is on its request', async () => {
    const world = await startWorld()
    for (const [command, reason] of [
      [move, 'OPS-123: “web-1” burns'],
      ['/infra vm rename preview-1 web-eu-7', 'the team is called eu now'],
      ['/infra keys create ci-deploy', '@ben needs it'],
      ['/infra keys revoke terraform', 'it leaked'],
    ]) {
      await world.ada.command(`${command} because ${reason}`, { channel: ops })
      const card = await world.slack.until(() => world.slack.messages(ops).find(({ text }) => text.includes(`Reason: \`${reason}\``)))
      expect(card.text).toContain('needs approval from')
    }
  })

  test('that was typed before a form opened is in the form, and a missing one after *because* opens it', async () => {
    const world = await startWorld()
    await world.ada.command('/infra ip move because OPS-123', { channel: ops })
    const form = await world.slack.until(() => world.ada.topView())
    expect(reasonInput(form.view)).toMatchObject({ optional: true, element: { initial_value: 'OPS-123' } })
    await world.ada.close()

    await world.ada.command(`${move} because`, { channel: ops })
    const filled = await world.slack.until(() => world.ada.topView())
    expect(JSON.stringify(filled.view)).toContain('The reason after *because* is missing. Nothing was requested yet.')
    await world.ada.fill(filled, { Reason: 'OPS-123' })
    await world.ada.submit()
    expect((await untilCard(world.slack, /needs approval from/)).text).toContain('OPS-123')
  })
})

describe('a rule that requires a reason', () => {
  test('opens the filled form for a command without one, and keeps it open until there is one', async () => {
    const world = await startWorldUnder(strict)

    await world.ada.command(move, { channel: ops })

    const form = await world.slack.until(() => world.ada.topView())
    expect(JSON.stringify(form.view)).toContain('The rule “production” requires a reason. Nothing was requested yet.')
    expect(JSON.stringify(form.view)).toContain('203.0.113.10')
    const hint = { text: 'The rule “production” requires a reason. Approvers will see this.' }
    expect(reasonInput(form.view)).toMatchObject({ optional: false, hint })
    expect(await world.records.all()).toEqual([])

    await world.ada.fill(form, { Reason: '\u200b' })
    expect((await world.ada.submit()).errors).toEqual({ reason: 'The rule “production” requires a reason.' })
    await world.ada.fill(form, { Reason: 'OPS-123' })
    await world.ada.submit()
    const card = await untilCard(world.slack, /needs approval from/)
    await world.ben.click(card, 'Approve')
    await untilReport(world.slack, card.ts, /Done/)

    expect(await onlyRequest(world.records)).toMatchObject({ reason: 'OPS-123', rule: 'production' })
    expect(writesOf(world)).toHaveLength(1)
  })

  test('is honoured by Request again and Move back', async () => {
    const world = await startWorldUnder(strict)
    await world.ada.command(`${move} because OPS-123`, { channel: ops })
    await world.ada.click(await untilCard(world.slack, /needs approval from/), 'Withdraw')
    await world.ada.click(await untilCard(world.slack, /\*Withdrawn\*/), 'Request again')
    const again = await world.slack.until(() => world.ada.topView())
    expect(reasonInput(again.view)).toMatchObject({ optional: false, element: { initial_value: 'OPS-123' } })
    await world.ada.submit()
    await world.ben.click(await untilCard(world.slack, /needs approval from/), 'Approve')

    await world.ada.click(await untilCard(world.slack, /\*Done/), 'Move back')

    const back = await world.slack.until(() => world.ada.topView())
    expect(reasonInput(back.view)).toMatchObject({ optional: false })
    expect(reasonInput(back.view)?.element).not.toHaveProperty('initial_value')
  })
})

describe('a rule that requires a match of a pattern', () => {
  const why = 'The rule “production” requires a reason with a match of `OPS-\\d+`.'
  const linked = { type: 'link', url: 'https://tickets.example.com/browse/OPS-123', text: 'OPS-123' }

  test('opens the form with the reason that was typed, keeps it open until there is one, and every message links it', async () => {
    const world = await startWorldUnder(withTickets)

    await world.ada.command(`${move} because web-1 burns`, { channel: ops })

    const form = await world.slack.until(() => world.ada.topView())
    expect(JSON.stringify(form.view)).toContain(JSON.stringify(`${why} Nothing was requested yet.`).slice(1, -1))
    const hint = { text: `${why.replaceAll('`', '')} Approvers will see this.` }
    expect(reasonInput(form.view)).toMatchObject({ optional: false, hint, element: { initial_value: 'web-1 burns' } })
    expect((await world.ada.submit()).errors).toEqual({ reason: why.replaceAll('`', '') })
    expect(await world.records.all()).toEqual([])

    await world.ada.fill(form, { Reason: 'OPS-123: web-1 burns, as in OPS-7' })
    await world.ada.submit()
    const card = await untilCard(world.slack, /needs approval from/)
    expect(JSON.stringify(card.blocks)).toContain(JSON.stringify(linked))
    expect(JSON.stringify(card.blocks)).not.toContain('browse/OPS-7')
    expect(await onlyRequest(world.records)).toMatchObject({ reason: 'OPS-123: web-1 burns, as in OPS-7', rule: 'production' })

    await world.ben.click(card, 'Approve')
    await untilReport(world.slack, card.ts, /Done/)
    const done = await untilCard(world.slack, /\*Done/)
    expect(JSON.stringify(done.blocks)).not.toContain(linked.url)
    await world.ada.click(done, 'Details')
    await world.slack.until(() => world.slack.ephemerals(people.ada).find(({ blocks }) => JSON.stringify(blocks).includes(linked.url)))
  })

  test('decides about an evacuation, too, and not about the reason of an emergency', async () => {
    const world = await startWorldUnder(withTickets)
    await world.ben.command('/infra evacuate web-1 web-2 because of a change for OPS-123', { channel: ops })
    const card = await untilCard(world.slack, /Evacuate web-1.*needs approval from/s)
    expect(JSON.stringify(card.blocks)).toContain(JSON.stringify(linked))
    await world.ben.click(card, 'Approve')
    await world.ben.fill(await world.slack.until(() => world.ben.topView()), { Reason: 'web-1 burns' })
    expect((await world.ben.submit()).errors).toBeUndefined()
    await untilReport(world.slack, card.ts, /Emergency approval/)
  })

  test('is named whole in the form, and the metadata of the form has room for it', async () => {
    const pattern = `OPS-\\d+${'\\d?'.repeat(64)}`
    const world = await startWorldUnder(withTickets.replace('OPS-\\d+', pattern).replace('name: production', `name: ${'🚀'.repeat(60)}`))

    await world.ada.command(`${move} because ${'"'.repeat(1_500)}`, { channel: ops })
    await world.slack.until(() =>
      world.slack.ephemerals(people.ada).find(({ text }) => /a reason can have up to 500 characters\./i.test(text)),
    )
    await world.ada.command(`/infra ip move because ${'"'.repeat(1_500)}`, { channel: ops })
    const form = await world.slack.until(() => world.ada.topView())
    expect(textOf(reasonInput(form.view)?.hint)).toContain(pattern)
  })
})
