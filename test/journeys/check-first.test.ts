import { describe, expect, test } from 'vitest'
import { requestMove, startWorldUnder, steady } from './policy-world.ts'
import { ops, people, startWorld, untilCard, untilReport, untilShown, type World } from './world.ts'

/** The dialog that Slack shows after a press on a button of a message. */
function dialogOf(blocks: unknown, button: string): { text: { text: string } } | undefined {
  const elements = (blocks as { elements?: { text?: { text: string }; confirm?: { text: { text: string } } }[] }[]).flatMap(
    ({ elements: some = [] }) => some,
  )
  return elements.find(({ text }) => text?.text === button)?.confirm
}

function serverOf(world: World, id: string) {
  const found = world.accountApi.world.data.servers.find((server) => server.id === id)
  if (!found) throw new Error(`the stand-in has no server ${id}`)
  return found
}

async function moved(world: World, { elasticIp, target } = world.accountApi.world.movable()) {
  await world.ada.command(`/infra ip move ${elasticIp.id} ${target.id}`, { channel: ops })
  return { elasticIp, target, card: await untilCard(world.slack, /needs approval from/) }
}

describe('what approvers should check first', () => {
  test('is repeated before the approval, which a person can still cancel', async () => {
    const world = await startWorld()
    const movable = world.accountApi.world.movable()
    Object.assign(serverOf(world, movable.target.id), { status: 'off', label: 'do not touch before the sale' })
    const { card } = await moved(world, movable)

    const canceled = await world.ben.click(card, 'Approve', { confirm: 'deny' })
    await world.ben.click(card, 'Approve')
    const report = await untilReport(world.slack, card.ts, /Done/)
    const done = await untilCard(world.slack, /\*Done/)

    expect(canceled.outcome).toBe('not-sent')
    expect(dialogOf(card.blocks, 'Approve')?.text.text).toMatchInlineSnapshot(`
      "Move \`203.0.113.10\`: \`web-1\` → \`web-2\`
      \`web-2\` has status \`off\`. Addresses on it answer only once it is on.
      \`web-2\` has the label \`do not touch before the sale\`."
    `)
    expect(steady(report.text).replace(/It took.*/, 'It took TIME.')).toMatchInlineSnapshot(
      `"<@U0ADA00001> :warning: *Done.* \`203.0.113.10\` is assigned to \`web-2\`. \`web-2\` has status \`off\`. The address doesn't answer until the server is on."`,
    )
    expect(done.text).toContain("`web-2` has status `off`. The address doesn't answer until the server is on.")
  })

  test('is when the account deletes the target, for a move and for an evacuation', async () => {
    const world = await startWorld()
    const deletion =
      /\*Check first\*\n• {2}`edge-ash-2` is scheduled for deletion at <!date\^1800005400\^\{time\} \{date_short_pretty\}\|2027-01-15 09:30 UTC>\./

    await world.ada.command('/infra ip move 203.0.113.11 edge-ash-2', { channel: ops })
    expect((await untilCard(world.slack, /Move .*needs approval from/s)).text).toMatch(deletion)
    await world.ada.command('/infra evacuate web-1 edge-ash-2', { channel: ops })
    expect((await untilCard(world.slack, /Evacuate .*needs approval from/s)).text).toMatch(deletion)
  })

  test('is nothing for a usual move: one tap approves it', async () => {
    const world = await startWorld()
    const { card } = await moved(world)

    expect(card.text).not.toContain('Check first')
    expect(dialogOf(card.blocks, 'Approve')).toBeUndefined()
  })

  test('is asked for by a rule, whatever there is to check', async () => {
    const world = await startWorldUnder('rules:\n  - { name: addresses, approve: [S0ONCALL01], confirm: true }')
    const { card } = await requestMove(world)

    expect(dialogOf(card.blocks, 'Approve')?.text.text).toContain('Move `203.0.113.10`: `web-1` → `web-2`')
  })

  test('is the last change of the address, and who requested it', async () => {
    const world = await startWorld()
    const { elasticIp, card } = await moved(world)
    await world.ben.click(card, 'Approve')
    await untilReport(world.slack, card.ts, /Done/)

    await world.ben.command(`/infra ip move ${elasticIp.id} ${elasticIp.serverId}`, { channel: ops })
    const back = await untilCard(world.slack, /needs approval from/)

    expect(back.text.match(/\*Check first\*(?:\n•.*)+/)?.[0].replace(/changed .*? before/, 'changed TIME before')).toMatchInlineSnapshot(
      `
      "*Check first*
      •  \`203.0.113.10\` was last changed TIME before this request, by <https://nimbus-works.slack.com/team/U0ADA00001|@ada>: Move \`203.0.113.10\`: \`web-1\` → \`web-2\`."
    `,
    )
  })

  test('names people without a mention where the rule mentions others', async () => {
    const world = await startWorldUnder('rules:\n  - { name: addresses, approve: [S0ONCALL01], mention: [S0PAGED001] }')
    const { elasticIp, card } = await requestMove(world)
    await world.chiara.click(card, 'Approve')
    await untilReport(world.slack, card.ts, /Done/)

    await world.finn.command(`/infra ip move ${elasticIp.id} ${elasticIp.serverId}`, { channel: ops })
    const back = await untilCard(world.slack, /needs approval from/)

    expect(back.text).toContain('|@ada>:')
    expect(JSON.stringify(back)).not.toContain(`<@${people.ada}>`)
  })

  test('is for a key how long ago it was used, how old it is, and that it opens everything', async () => {
    const world = await startWorld()
    await world.ada.command('/infra keys rotate "laptop of ada"', { channel: ops })
    const card = await untilCard(world.slack, /needs approval from/)

    expect(card.text.match(/\*Check first\*(?:\n•.*)+/)?.[0].replace(/Created .*? before/, 'Created TIME before')).toMatchInlineSnapshot(
      `
      "*Check first*
      •  The old token stops working as soon as the requester presses Rotate key.
      •  The account shows no use of it. Created TIME before this request.
      •  The key gives full access from any IP."
    `,
    )
  })

  test('is for a new name that another virtual machine has it', async () => {
    const world = await startWorld()
    await world.ada.command('/infra vm rename preview-1 preview-2', { channel: ops })
    const card = await untilCard(world.slack, /needs approval from/)

    expect(card.text.match(/\*Check first\*(?:\n•.*)+/)?.[0].replace(/vm_\w+/, 'ID')).toMatchInlineSnapshot(
      `
      "*Check first*
      •  Another virtual machine (\`ID\`) is already called \`preview-2\`."
    `,
    )
  })
})

describe('the details of a finished request', () => {
  test('are shown to the person who asks for them, and to nobody else', async () => {
    const world = await startWorld()
    const { card } = await moved(world)
    await world.ben.click(card, 'Approve')
    const done = await untilCard(world.slack, /\*Done/)

    await world.chiara.click(done, 'Details')
    const details = await untilShown(world.slack, people.chiara, /By setting/)

    expect(
      steady(details.text)
        .replaceAll(/`[0-9a-f]{32}`/g, 'ID')
        .replace(/ {2}· {2}took.*?(?= {2}·)/, ''),
    ).toMatchInlineSnapshot(`
      ":large_green_circle: *Done*  ·  Move \`203.0.113.10\`: \`web-1\` → \`web-2\`
      *Project:* \`Storefront\`
      *Site:* \`ASH\`
      Requested by <@U0ADA00001>, TIME
      Approved by <@U0BEN00001>, TIME
      Sent to the account API, TIME
      Accepted by the account API, TIME
      Ended, TIME
      Elastic IP \`eip_2BJYBkPZR5x1t\`  ·  From \`sv_TU8nZb2v5QZal\`  ·  To \`sv_3yuLZoyuzy2cj\` (its own address \`198.51.100.22\`)  ·  By setting \`APPROVERS\`  ·  Request ID"
    `)
    expect(world.slack.messages(ops).filter(({ text }) => text.includes('By setting'))).toEqual([])
  })
})
