import { describe, expect, test } from 'vitest'
import { onlyRequest, startWorldUnder, writesOf } from './policy-world.ts'
import { ops, people, startWorld, untilCard, untilReport, untilShown, type World } from './world.ts'

const strict = `
rules:
  - { name: production, projects: [{ name: Storefront }], approve: [S0ONCALL01], reason: required }
  - { name: keys, changes: [key.create, key.rotate, key.revoke], approve: [S0ONCALL01], reason: required }
  - { name: everything else, approve: [S0ONCALL01] }
`

const typedMove = ({ accountApi }: World) => {
  const { elasticIp, target } = accountApi.world.movable()
  return { elasticIp, target, command: `/infra ip move ${elasticIp.address} ${target.hostname}` }
}

function reasonInput(view: Record<string, unknown>) {
  const blocks = view.blocks as { block_id?: string; optional?: boolean; hint?: { text: string }; element?: { initial_value?: string } }[]
  return blocks.find(({ block_id: id }) => id === 'reason')
}

describe('a reason', () => {
  test.each([
    ['/infra ip move ADDRESS TARGET because OPS-123: “web-1” burns', 'OPS-123: “web-1” burns'],
    ['/infra vm rename VM web-eu-7 because the team is called eu now', 'the team is called eu now'],
    ['/infra keys create ci-deploy because @ben needs it', '@ben needs it'],
    ['/infra keys revoke KEY because it leaked', 'it leaked'],
  ])('at the end of a command is on its request: %s', async (command, reason) => {
    const world = await startWorld()
    const { elasticIp, target } = typedMove(world)
    const { virtualMachines, apiKeys } = world.accountApi.world.data
    const typed = command
      .replace('ADDRESS', elasticIp.address)
      .replace('TARGET', target.hostname)
      .replace('VM', virtualMachines[0]?.id ?? '')
      .replace('KEY', apiKeys[1]?.id ?? '')

    await world.ada.command(typed, { channel: ops })

    const card = await untilCard(world.slack, /needs approval from/)
    expect(card.text).toContain(`Reason: \`${reason}\``)
  })

  test('that was typed before a form opened is in the form', async () => {
    const world = await startWorld()

    await world.ada.command('/infra ip move because OPS-123', { channel: ops })

    const form = await world.slack.until(() => world.ada.topView())
    expect(reasonInput(form.view)).toMatchObject({ optional: true, element: { initial_value: 'OPS-123' } })
  })
})

test('a command that ends with because opens its filled form, and says that the reason is missing', async () => {
  const world = await startWorld()
  const { elasticIp, command } = typedMove(world)

  await world.ada.command(`${command} because`, { channel: ops })

  const form = await world.slack.until(() => world.ada.topView())
  expect(JSON.stringify(form.view)).toContain('The reason after *because* is missing. Nothing was requested yet.')
  expect(JSON.stringify(form.view)).toContain(elasticIp.address)
  expect(world.slack.messages(ops)).toEqual([])
  await world.ada.fill(form, { Reason: 'OPS-123' })
  await world.ada.submit()
  const card = await untilCard(world.slack, /needs approval from/)
  expect(card.text).toContain('OPS-123')
})

test('a second open request for a key of the same name is refused, and names the first', async () => {
  const world = await startWorld()
  await world.ada.command('/infra keys create ci-deploy', { channel: ops })
  await untilCard(world.slack, /needs approval from/)

  await world.ben.command('/infra keys create CI-deploy', { channel: ops })

  const { text } = await untilShown(world.slack, people.ben, /open request/)
  expect(text).toMatch(/^Nothing was requested, because <@U0ADA00001> has an open request for `.*` in .* \(waiting for approval\)/)
  expect(world.slack.messages(ops)).toHaveLength(1)
})

describe('a rule that requires a reason', () => {
  test('opens the filled form for a command without one, and keeps it open until there is one', async () => {
    const world = await startWorldUnder(strict)
    const { elasticIp, target, command } = typedMove(world)

    await world.ada.command(command, { channel: ops })

    const form = await world.slack.until(() => world.ada.topView())
    expect(JSON.stringify(form.view)).toContain('The rule “production” requires a reason. Nothing was requested yet.')
    expect(JSON.stringify(form.view)).toContain(elasticIp.address)
    expect(reasonInput(form.view)).toMatchObject({
      optional: false,
      hint: { text: 'The rule “production” requires a reason. Approvers will see this.' },
    })
    expect(await world.records.all()).toEqual([])

    await world.ada.fill(form, { Reason: '\u200b' })
    const refused = await world.ada.submit()
    expect(refused.errors).toEqual({ reason: 'The rule “production” requires a reason.' })
    await world.ada.fill(form, { Reason: 'OPS-123' })
    await world.ada.submit()
    const card = await untilCard(world.slack, /needs approval from/)
    await world.ben.click(card, 'Approve')
    await untilReport(world.slack, card.ts, /Done/)

    expect(await onlyRequest(world.records)).toMatchObject({ reason: 'OPS-123', rule: 'production', input: { serverId: target.id } })
    expect(writesOf(world)).toHaveLength(1)
  })

  test('makes the field required from the beginning where no other rule can apply', async () => {
    const world = await startWorldUnder(strict)

    await world.ada.command('/infra keys create', { channel: ops })

    const form = await world.slack.until(() => world.ada.topView())
    expect(reasonInput(form.view)).toMatchObject({ optional: false, hint: { text: expect.stringContaining('The rule “keys” requires') } })
  })

  test.each(['rotate', 'revoke'])('opens a form for the key that was named: %s', async (verb) => {
    const world = await startWorldUnder(strict)
    const key = world.accountApi.world.data.apiKeys[1]

    await world.ada.command(`/infra keys ${verb} ${key?.id}`, { channel: ops })
    const form = await world.slack.until(() => world.ada.topView())
    expect(JSON.stringify(form.view)).toContain(key?.name)
    await world.ada.fill(form, { Reason: 'It leaked' })
    await world.ada.submit()

    const card = await untilCard(world.slack, /needs approval from/)
    expect(card.text).toContain('Reason: `It leaked`')
    expect(await onlyRequest(world.records)).toMatchObject({ kind: `key.${verb}`, input: { keyId: key?.id } })
  })

  test('is honoured by Request again and Move back', async () => {
    const world = await startWorldUnder(strict)
    const { command } = typedMove(world)
    await world.ada.command(`${command} because OPS-123`, { channel: ops })
    const first = await untilCard(world.slack, /needs approval from/)
    await world.ada.click(first, 'Withdraw')
    await world.ada.click(await untilCard(world.slack, /\*Withdrawn\*/), 'Request again')
    const again = await world.slack.until(() => world.ada.topView())
    expect(reasonInput(again.view)).toMatchObject({ optional: false, element: { initial_value: 'OPS-123' } })
    await world.ada.submit()
    const second = await untilCard(world.slack, /needs approval from/)
    await world.ben.click(second, 'Approve')
    const done = await untilCard(world.slack, /\*Done/)

    await world.ada.click(done, 'Move back')

    const back = await world.slack.until(() => world.ada.topView())
    expect(reasonInput(back.view)).toMatchObject({ optional: false })
    expect(reasonInput(back.view)?.element?.initial_value).toBeUndefined()
  })
})
