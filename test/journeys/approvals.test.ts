import { describe, expect, test } from 'vitest'
import { finn, onlyRequest, requestMove, startWorldUnder, steady, writesOf } from './policy-world.ts'
import { wordsOf } from './subject.ts'
import { people, untilCard, untilReport, untilShown } from './world.ts'

/** Of two approvals that are needed, Chiara gives the first and then leaves the group. After that Ben gives his. */
async function approvedAfterFirstLeft() {
  const world = await startWorldUnder('rules:\n  - { name: two, approve: { any_of: [S0ONCALL01], approvals: 2 } }')
  const { card } = await requestMove(world)
  await world.chiara.click(card, 'Approve')
  await untilShown(world.slack, people.chiara, /Approved \(/)

  world.slack.setUserGroup('S0ONCALL01', { members: [people.ben, finn] })
  await world.ben.click(card, 'Approve')
  return { world, card }
}

describe('more than one approval', () => {
  const three = `
rules:
  - name: addresses
    approve: { any_of: [S0ONCALL01, ${finn}], approvals: 3 }
`

  test('is counted on the card and in the answer to each approver, and the last one starts the change', async () => {
    const world = await startWorldUnder(three)
    const { card } = await requestMove(world)

    await world.ben.click(card, 'Approve')
    const first = await untilShown(world.slack, people.ben, /Approved \(/)
    await world.chiara.click(card, 'Approve')
    const second = await untilShown(world.slack, people.chiara, /Approved \(/)
    await world.chiara.click(card, 'Approve')
    const again = await untilShown(world.slack, people.chiara, /already/)
    const counted = await untilCard(world.slack, /2 of 3 approvals/)
    expect(writesOf(world)).toEqual([])
    await world.finn.click(card, 'Approve')
    await untilReport(world.slack, card.ts, /Done/)

    expect([first, second, again].map(wordsOf)).toMatchInlineSnapshot(`
      [
        "Approved (1 of 3). 2 more needed.",
        "Approved (2 of 3). One more needed.",
        "You already approved this. One more needed. No change made.",
      ]
    `)
    expect(steady(counted.text)).toMatchInlineSnapshot(`
      "Move 203.0.113.10: web-1 → web-2
      <@U0ADA00001> needs approval from 3 of <@U0FIN00001> or <!subteam^S0ONCALL01> by TIME (4 h after the request).
      :ballot_box_with_check: *2 of 3 approvals*: <@U0BEN00001>, TIME; <@U0CHI00001>, TIME
      *Project:* \`Storefront\`
      *Site:* \`ASH\`
      Elastic IP \`eip_2BJYBkPZR5x1t\`  ·  From \`sv_TU8nZb2v5QZal\`  ·  To \`sv_3yuLZoyuzy2cj\` (its own address \`198.51.100.22\`)  ·  Request \`ID\`"
    `)
    expect(JSON.stringify(counted.blocks)).toContain(`*2 of 3 approvals*: <@${people.ben}>`)
    const done = await untilCard(world.slack, /\*Done/)
    expect(done.text).toContain(`approved by <@${people.ben}>, <@${people.chiara}> and <@${finn}>`)
    expect(writesOf(world)).toHaveLength(1)
    const decisions = (await world.records.audit()).filter(({ act }) => act === 'count-approval' || act === 'approve')
    expect(decisions.map(({ by, rule, via, to, missing, needed }) => ({ by, rule, via, to, missing, needed }))).toMatchInlineSnapshot(`
      [
        {
          "by": "U0BEN00001",
          "missing": 2,
          "needed": 3,
          "rule": "addresses",
          "to": "waiting",
          "via": "S0ONCALL01",
        },
        {
          "by": "U0CHI00001",
          "missing": 1,
          "needed": 3,
          "rule": "addresses",
          "to": "waiting",
          "via": "S0ONCALL01",
        },
        {
          "by": "U0FIN00001",
          "missing": undefined,
          "needed": undefined,
          "rule": "addresses",
          "to": "approved",
          "via": "U0FIN00001",
        },
      ]
    `)
  })

  test('of two groups has to come from two people, also if one person is in both', async () => {
    const world = await startWorldUnder('rules:\n  - { name: both, approve: { all_of: [S0NETWORK1, S0SECURE01] } }')
    const { card } = await requestMove(world)

    await world.ben.click(card, 'Approve')
    await untilShown(world.slack, people.ben, /1 of 2/)
    await world.ben.click(card, 'Approve')
    await untilShown(world.slack, people.ben, /You already approved this/)
    expect(await onlyRequest(world.records)).toMatchObject({ state: 'waiting' })
    await world.finn.click(card, 'Approve')

    await untilReport(world.slack, card.ts, /Done/)
  })

  test('no longer counts a person who left the group after approving', async () => {
    const { world, card } = await approvedAfterFirstLeft()
    const said = await untilShown(world.slack, people.ben, /Approved \(/)
    expect(await onlyRequest(world.records)).toMatchObject({ state: 'waiting' })
    expect(wordsOf(said)).toMatchInlineSnapshot(`"Approved (1 of 2). One more needed."`)

    await world.finn.click(card, 'Approve')
    await untilReport(world.slack, card.ts, /Done/)
    expect(writesOf(world)).toHaveLength(1)
  })
})
