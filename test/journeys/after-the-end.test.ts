import { describe, expect, test } from 'vitest'
import { elementsOf } from '../sandbox/slack/elements.ts'
import { objectOf, objectsOf, textOf } from '../sandbox/slack/json.ts'
import type { Hands, Message } from '../sandbox/slack/slack.ts'
import { type PolicyWorld, startWorldUnder, writesOf } from './policy-world.ts'
import { ops, people, requestMove, untilCard, untilReport, untilShown } from './world.ts'

const policy = 'rules:\n  - { name: everything, approve: [S0ONCALL01] }'

async function rejected(world: PolicyWorld, card: Message) {
  await world.ben.click(card, 'Reject')
  await world.ben.fill(await world.slack.until(() => world.ben.topView()), { Reason: 'Not during the sale' })
  await world.ben.submit()
  return world.slack.until(() => world.slack.messages(ops).find(({ ts, text }) => ts === card.ts && /\*Rejected\*/.test(text)))
}

/** Returns the title of a form, and each field with its initial value. */
function fieldsOf({ title, view }: ReturnType<Hands['topView']>) {
  const inputs = elementsOf(objectsOf(view.blocks)).filter(({ block }) => block.label)
  return [
    title,
    ...inputs.map(({ label, element }) => `${label}: ${element.initial_value ?? textOf(objectOf(element.initial_option).text)}`),
  ]
}

describe('after the end', () => {
  test.each([
    ['ip move 203.0.113.10 web-2', ['Move an Elastic IP', 'Elastic IP: 203.0.113.10', 'Server: web-2', 'Start: ']],
    [
      'vm rename preview-1 web-renamed',
      ['Rename a virtual machine', 'Virtual machine: preview-1 (Storefront, ASH)', 'New name: web-renamed', 'Start: '],
    ],
    [
      'keys create ci-deploy',
      ['Create an API key', 'Name: ci-deploy', 'Access: Read-only', 'Allowed addresses: ', 'Ends: Never', 'Date: '],
    ],
    ['keys revoke terraform', ['Revoke an API key', 'API key: terraform', 'Start: ']],
    ['evacuate web-1 web-2', ['Evacuate a server', 'Server: web-1', 'Target: web-2', 'Addresses to move: ', 'Start: ']],
    ['keys rotate terraform', ['Rotate an API key', 'API key: terraform', 'Old token: Stops working at once']],
  ])('Request again opens the form with the earlier values, which is a new request: %s', async (command, fields) => {
    const world = await startWorldUnder(policy)
    await world.ada.command(`/infra ${command} because OPS-1`, { channel: ops })
    const card = await rejected(world, await untilCard(world.slack, /needs approval from/))

    await world.ada.click(card, 'Request again')
    const form = await world.slack.until(() => world.ada.topView())
    await world.ada.fill(form, { Reason: 'OPS-2' })
    await world.ada.submit()
    const again = await untilCard(world.slack, /needs approval from/)

    expect(fieldsOf(form)).toEqual([...fields, 'Reason: OPS-1'])
    expect(JSON.stringify(form.view)).toMatch(/Repeats <.*\|request \w{8}>/)
    expect(again.ts).not.toBe(card.ts)
    expect(again.text).toContain('OPS-2')
  })

  test('move back is a new request, which another person approves', async () => {
    const world = await startWorldUnder(policy)
    const { elasticIp, card } = await requestMove(world)
    await world.ben.click(card, 'Approve')
    const done = await untilCard(world.slack, /\*Done/)

    await world.ben.click(done, 'Move back')
    const form = await world.slack.until(() => world.ben.topView())
    expect(form.title).toBe('Move back')
    await world.ben.submit()
    const back = await untilCard(world.slack, /needs approval from/)
    await world.ben.click(back, 'Approve')
    await untilShown(world.slack, people.ben, /You requested this/)
    await world.chiara.click(back, 'Approve')
    await untilReport(world.slack, back.ts, /Done/)

    const [, request] = /request (\w{8})>/.exec(back.text) ?? []
    expect(done.text).toContain(request)
    expect(back.text).toMatch(
      new RegExp(`Move 203\\.0\\.113\\.10: web-2 → web-1\n[\\s\\S]*Undoes <.*/p${done.ts.replace('.', '')}\\|request ${request}>`),
    )
    expect(world.accountApi.world.elasticIp(elasticIp.id)?.serverId).toBe(elasticIp.serverId)
    expect(writesOf(world)).toHaveLength(2)
  })

  test('move back of what somebody moved elsewhere outside undoes nothing, and says so to check first', async () => {
    const world = await startWorldUnder(policy)
    const { elasticIp, card } = await requestMove(world)
    await world.ben.click(card, 'Approve')
    await world.ben.click(await untilCard(world.slack, /\*Done/), 'Move back')
    await world.slack.until(() => world.ben.topView())
    const account = world.accountApi.world
    const outside = account.data.servers.find(({ hostname }) => hostname === 'edge-ash-2')
    account.moveBehindOurBack(elasticIp.id, outside?.id ?? '')
    await world.ben.submit()
    const back = await untilCard(world.slack, /needs approval from/)

    expect(back.text).toContain('edge-ash-2 → web-1')
    expect(back.text).not.toContain('Undoes')
    expect(back.text).toMatch(
      /Check first\*.*\n• {2}Changed outside Lockkeeper since its last change: .?203\.0\.113\.10.? is on edge-ash-2 now\./,
    )
    // A move that nobody began with the form of another says so, too.
    await world.ben.click(back, 'Withdraw')
    await untilCard(world.slack, /Withdrawn/)
    await world.ada.command('/infra vm rename preview-1 preview-8 because OPS-1', { channel: ops })
    await world.ben.click(await untilCard(world.slack, /Rename preview-1.*needs approval from/s), 'Approve')
    await untilCard(world.slack, /\*Done\*.*preview-8/s)
    const machine = account.data.virtualMachines.find(({ name }) => name === 'preview-8')
    account.changeVirtualMachine(machine?.id ?? '', { name: 'preview-7' })
    await world.ada.command('/infra vm rename preview-7 preview-6 because OPS-1', { channel: ops })
    expect((await untilCard(world.slack, /Rename preview-7.*needs approval from/s)).text).toMatch(
      /last change: preview-8 is called preview-7 now\./,
    )
  })
})
