import { describe, expect, test } from 'vitest'
import type { Message } from '../sandbox/slack/slack.ts'
import { type PolicyWorld, requestMove, startWorldUnder, steady, writesOf } from './policy-world.ts'
import { ops, people, untilCard, untilReport, untilShown } from './world.ts'

describe('after the end', () => {
  const policy = 'rules:\n  - { name: everything, approve: [S0ONCALL01] }'

  async function rejected(world: PolicyWorld, card: Message) {
    await world.ben.click(card, 'Reject')
    const form = await world.slack.until(() => world.ben.topView())
    await world.ben.fill(form, { Reason: 'Not during the sale' })
    await world.ben.submit()
    return world.slack.until(() => world.slack.messages(ops).find(({ ts, text }) => ts === card.ts && /\*Rejected\*/.test(text)))
  }

  /** Presses *Request again* and returns the initial values of the form. */
  async function requestAgain(world: PolicyWorld, card: Message) {
    await world.ada.click(card, 'Request again')
    const form = await world.slack.until(() => world.ada.topView())
    type Text = { text: string }
    type Block = { label?: Text; element?: Record<string, unknown>; text?: Text; elements?: Text[] }
    const shown = (form.view.blocks as Block[]).map(({ label, element, text, elements = [] }) => {
      const option = element?.initial_option as { text: Text } | undefined
      const words = (text ?? elements[0])?.text ?? ''
      return label ? `${label.text}: ${element?.initial_value ?? option?.text.text ?? ''}` : words.replace(/<.*\|request \w{8}>/, '(link)')
    })
    return [form.title, ...shown]
  }

  test('request again opens the form of the change with the earlier values', async () => {
    const world = await startWorldUnder(policy)
    const { elasticIp, target } = world.accountApi.world.movable()
    await world.ada.command('/infra ip move', { channel: ops })
    const form = await world.slack.until(() => world.ada.topView())
    await world.ada.fill(form, { 'Elastic IP': elasticIp.id, Server: target.id, Reason: 'web-1 is to be rebooted' })
    await world.ada.submit()
    const move = await rejected(world, await untilCard(world.slack, /needs approval from/))
    expect(await requestAgain(world, move)).toMatchInlineSnapshot(`
      [
        "Move an Elastic IP",
        "Elastic IP: 203.0.113.10",
        "Server: web-2",
        "Repeats (link).",
        "Reason: web-1 is to be rebooted",
      ]
    `)
    await world.ada.submit()
    const second = await untilCard(world.slack, /needs approval from/)
    expect(second.ts).not.toBe(move.ts)
    expect(second.text).toContain('web-1 is to be rebooted')

    const [machine] = world.accountApi.world.data.virtualMachines
    await world.ada.command(`/infra vm rename ${machine?.id} web-renamed`, { channel: ops })
    const rename = await rejected(world, await untilCard(world.slack, /Rename[\s\S]*needs approval from/))
    expect(await requestAgain(world, rename)).toMatchInlineSnapshot(`
      [
        "Rename a virtual machine",
        "Virtual machine: preview-1 (Storefront, ASH)",
        "New name: web-renamed",
        "Repeats (link).",
        "Reason: ",
      ]
    `)
    await world.ada.close()

    await world.ada.command('/infra keys create ci-deploy', { channel: ops })
    const key = await rejected(world, await untilCard(world.slack, /Create API key[\s\S]*needs approval from/))
    expect(await requestAgain(world, key)).toMatchInlineSnapshot(`
      [
        "Create an API key",
        "Name: ci-deploy",
        "Access: Read-only",
        "Allowed addresses: ",
        "Repeats (link).",
        "Reason: ",
      ]
    `)
  })

  test('request again for a change without a form shows the earlier request and submits the same', async () => {
    const world = await startWorldUnder(policy)
    await world.ada.command('/infra keys revoke terraform', { channel: ops })
    const revoke = await rejected(world, await untilCard(world.slack, /Revoke[\s\S]*needs approval from/))
    const shown = await requestAgain(world, revoke)
    await world.ada.fill(undefined, { Reason: 'It was found in a log' })
    const again = await world.ada.submit()
    const card = await world.slack.until(() =>
      world.slack.messages(ops).find(({ ts, text }) => ts > revoke.ts && /needs approval from/.test(text)),
    )

    expect(shown).toMatchInlineSnapshot(`
      [
        "Revoke an API key",
        "API key: terraform",
        "Repeats (link).",
        "Reason: ",
      ]
    `)
    expect(again.errors).toBeUndefined()
    expect(card.text).toContain('It was found in a log')
    await rejected(world, card)

    await world.ada.command('/infra keys rotate terraform', { channel: ops })
    const rotate = await rejected(world, await untilCard(world.slack, /Rotate[\s\S]*needs approval from/))
    expect(await requestAgain(world, rotate)).toMatchInlineSnapshot(`
      [
        "Rotate an API key",
        "API key: terraform",
        "Repeats (link).",
        "Reason: ",
      ]
    `)
  })

  test('move back is a new request, which another person approves', async () => {
    const world = await startWorldUnder(policy)
    const { elasticIp, card } = await requestMove(world)
    await world.ben.click(card, 'Approve')
    const done = await untilCard(world.slack, /\*Done/)

    await world.ben.click(done, 'Move back')
    const form = await world.slack.until(() => world.ben.topView())
    await world.ben.fill(form, { Server: 'web-3 (Storefront, ASH)' })
    // A move to another server is no move back.
    const other = await world.slack.until(() => (world.ben.topView().title === 'Move back' ? undefined : world.ben.topView()))
    expect([other.title, JSON.stringify(other.view).includes('Undoes')]).toEqual(['Move an Elastic IP', false])
    await world.ben.fill(other, { Server: 'web-1 (Storefront, ASH)' })
    await world.slack.until(() => world.ben.topView().title === 'Move back')
    await world.ben.fill(world.ben.topView(), { Reason: 'web-2 is slow' })
    await world.ben.submit()
    const back = await untilCard(world.slack, /needs approval from/)
    await world.ben.click(back, 'Approve')
    await untilShown(world.slack, people.ben, /You requested this/)
    await world.chiara.click(back, 'Approve')
    await untilReport(world.slack, back.ts, /Done/)

    const [, request] = /request (\w{8})>/.exec(back.text) ?? []
    expect(done.text).toContain(request)
    expect(JSON.stringify(form.view)).toContain(`|request ${request}>`)
    expect(back.text.replaceAll(/archives\/\w+\/p\d+/g, (path) => (path.endsWith(done.ts.replace('.', '')) ? 'ITS CARD' : path))).toContain(
      `/ITS CARD|request ${request}>.`,
    )
    expect(steady(back.text).replace(/<https.*request \w{8}>/, 'REQUEST')).toMatchInlineSnapshot(`
      "Move 203.0.113.10: web-2 → web-1
      <@U0BEN00001> needs approval from <!subteam^S0ONCALL01> by TIME (4 h after the request).
      Undoes REQUEST.
      Reason: \`web-2 is slow\`
      *Project:* \`Storefront\`
      *Site:* \`ASH\`
      Elastic IP \`eip_2BJYBkPZR5x1t\`  ·  From \`sv_3yuLZoyuzy2cj\`  ·  To \`sv_TU8nZb2v5QZal\` (its own address \`198.51.100.21\`)  ·  Request \`ID\`"
    `)
    expect(world.accountApi.world.elasticIp(elasticIp.id)?.serverId).toBe(elasticIp.serverId)
    expect(writesOf(world)).toHaveLength(2)
  })
})
