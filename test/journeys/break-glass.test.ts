import { describe, expect, test } from 'vitest'
import { finn, onlyRequest, requestMove, startWorldUnder, steady, writesOf } from './policy-world.ts'
import { people, untilCard, untilReport } from './world.ts'

describe('break-glass', () => {
  const policy = `
rules:
  - name: addresses
    changes: ip.move
    approve: { any_of: [S0ONCALL01], approvals: 2 }
    self_approval: break-glass
  - name: names
    changes: vm.rename
    approve: [S0ONCALL01]
`

  test('takes a reason and a second confirmation, is posted to the channel, and is in the audit', async () => {
    const world = await startWorldUnder(policy)
    const { card } = await requestMove(world, world.ben)

    await world.ben.click(card, 'Approve')
    const form = await world.slack.until(() => world.ben.topView())
    await world.ben.fill(form, { Reason: 'The site is down', Confirm: '' })
    const unsure = await world.ben.submit()
    expect(await onlyRequest(world.records)).toMatchObject({ state: 'waiting' })
    await world.ben.fill(form, { Confirm: 'I approve my own request' })
    const sure = await world.ben.submit()
    await untilReport(world.slack, card.ts, /Done/)

    expect(form.title).toBe('Emergency approval')
    expect(unsure.errors).toMatchInlineSnapshot(`
      {
        "confirmed": "Tick this to approve your own request.",
      }
    `)
    expect(sure.errors).toBeUndefined()
    const report = await untilReport(world.slack, card.ts, /Emergency approval/)
    expect(report.text).toMatchInlineSnapshot(
      `
      ":rotating_light: *Emergency approval.* <!subteam^S0ONCALL01>: <https://nimbus-works.slack.com/team/U0BEN00001|The requester> approved their own request alone: “Move \`203.0.113.10\`: \`web-1\` → \`web-2\`”. Check it now.
      Reason: \`The site is down\`"
    `,
    )
    const [post] = world.slack.calls('chat.postMessage').filter(({ args }) => /Emergency approval/.test(String(args.text)))
    expect(String(post?.args.reply_broadcast)).toBe('true')
    const done = await untilCard(world.slack, /\*Done/)
    expect(steady(done.text).split('\n').slice(-2).join('\n')).toMatchInlineSnapshot(
      `
      ":rotating_light: *Emergency approval:* requested and approved by <@U0BEN00001> alone  ·  TIME  ·  Request \`ID\`
      Reason for the emergency approval: \`The site is down\`"
    `,
    )
    const [entry] = (await world.records.audit()).filter(({ act }) => act === 'break-glass')
    expect(entry).toMatchObject({ by: people.ben, reason: 'The site is down', to: 'approved' })
    expect(entry).toMatchObject({ rule: 'addresses', via: 'S0ONCALL01' })
    expect(writesOf(world)).toHaveLength(1)
  })

  test('is refused if the requester left the group while the form was open', async () => {
    const world = await startWorldUnder(policy)
    const { card } = await requestMove(world, world.ben)
    await world.ben.click(card, 'Approve')
    const form = await world.slack.until(() => world.ben.topView())
    await world.ben.fill(form, { Reason: 'The site is down', Confirm: 'I approve my own request' })

    world.slack.setUserGroup('S0ONCALL01', { members: [people.chiara, finn] })
    await world.ben.submit()

    expect(JSON.stringify(world.ben.topView().view)).toContain('You requested this, so someone else must approve or reject it.')
    expect((await world.records.audit()).at(-1)).toMatchObject({ act: 'refused', by: people.ben, attempted: 'break-glass' })
    expect(await onlyRequest(world.records)).toMatchObject({ state: 'waiting' })
  })
})
