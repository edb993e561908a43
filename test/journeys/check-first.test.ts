import { describe, expect, test } from 'vitest'
import { requestMove, startWorldUnder, steady } from './policy-world.ts'
import { ops, startWorld, untilCard, untilReport, type World } from './world.ts'

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
})
