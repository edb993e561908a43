import { expect, test } from 'vitest'
import { readPrintedLine } from '../../src/audit/chain.ts'
import { openRecords } from './records.ts'
import { type AccountApi, ops, people, startWorld, untilCard, untilReport, untilShown, type World } from './world.ts'

/** Moves an Elastic IP to its end: Ada requests it, Dov fails to approve it, Ben approves it. */
async function makeMove(world: World) {
  const { elasticIp, target } = world.accountApi.world.movable()
  await world.ada.command(`/infra ip move ${elasticIp.address} ${target.hostname}`, { channel: ops })
  const card = await untilCard(world.slack, /needs approval from/)
  await world.ada.click(card, 'Approve')
  await untilShown(world.slack, people.ada, /another person has to decide it/)
  await world.ben.click(card, 'Approve')
  await untilReport(world.slack, card.ts, /Done/)
  return { elasticIp, target }
}

/** Moves it through the account API directly, as anybody with a key can. */
async function moveOutside({ url, key }: AccountApi, elasticIpId: string, serverId: string): Promise<void> {
  const answer = await fetch(`${url}/elastic_ips/${elasticIpId}`, {
    method: 'PATCH',
    headers: { authorization: key, 'content-type': 'application/vnd.api+json' },
    body: JSON.stringify({ data: { type: 'elastic_ips', attributes: { server_id: serverId } } }),
  })
  if (answer.status !== 202) throw new Error(`the stand-in answered ${answer.status}`)
}

/** Replaces what differs from run to run by a name. */
function steady(text: string): string {
  return text
    .replace(/<!date\^[^>]*>/g, '(time)')
    .replace(/ {2}· {2}[0-9a-f]{8} in/g, '  ·  (request) in')
    .replace(/for [0-9a-f]{8}$/gm, 'for (request)')
}

test('a whole move can be read afterwards, beside the events of the account', async () => {
  const world = await startWorld()
  const { elasticIp } = await makeMove(world)

  await world.ada.command(`/infra audit ${elasticIp.address}`, { channel: ops })

  expect(steady((await untilShown(world.slack, people.ada, /Audit:/)).text)).toMatchInlineSnapshot(`
    "*Audit: 6 entries and 1 event of the account for \`203.0.113.10\`, newest first*
    :large_green_circle: *Done* “Move 203.0.113.10 from web-1 to web-2”, (time)  ·  (request) in <#C0OPS00001>
    :arrows_counterclockwise: *Accepted by the account* “Move 203.0.113.10 from web-1 to web-2”, (time)  ·  elasticIps.move: 202  ·  (request) in <#C0OPS00001>
    :arrow_forward: *Sent to the account* “Move 203.0.113.10 from web-1 to web-2”, (time)  ·  (request) in <#C0OPS00001>
    ↳ confirmed by the account: \`update.elastic_ip\` of \`203.0.113.10\` by lockkeeper (lockkeeper@nimbus.example), (time)
    :white_check_mark: *Approved* “Move 203.0.113.10 from web-1 to web-2” by <@U0BEN00001>, (time)  ·  by the rule APPROVERS: <!subteam^S0ONCALL01>  ·  (request) in <#C0OPS00001>
    :no_entry: *Refused*: <@U0ADA00001> tried to decide “Move 203.0.113.10 from web-1 to web-2”, (time): You asked for this yourself, so another person has to decide it. You can withdraw it.  ·  (request) in <#C0OPS00001>
    :speech_balloon: *Asked for* “Move 203.0.113.10 from web-1 to web-2” by <@U0ADA00001>, (time)  ·  by the rule APPROVERS  ·  (request) in <#C0OPS00001>
    Beside them: the account's own events of \`eip_2BJYBkPZR5x1t\` since (time).
    Looked through all 6 entries, back to (time). \`npm run audit:verify\` checks that none was changed, removed or put in."
  `)
})

test('a change that was made outside the bot is marked', async () => {
  const world = await startWorld()
  const { elasticIp, target } = await makeMove(world)
  const { id } = world.accountApi.world.third(elasticIp.id)
  await moveOutside(world.accountApi, elasticIp.id, id === target.id ? (elasticIp.serverId ?? '') : id)

  await world.ben.command(`/infra audit ${elasticIp.id} <@${people.ben}>`, { channel: ops })

  expect(steady((await untilShown(world.slack, people.ben, /Audit:/)).text)).toMatchInlineSnapshot(`
    "*Audit: 1 entry and 2 events of the account for \`eip_2BJYBkPZR5x1t\` <@U0BEN00001>, newest first*
    :warning: account: *made outside this bot*: \`update.elastic_ip\` of \`203.0.113.10\` by lockkeeper (lockkeeper@nimbus.example), (time)  ·  at the time of a change of this bot, which another event confirms
    :ballot_box_with_check: account: \`update.elastic_ip\` of \`203.0.113.10\` by lockkeeper (lockkeeper@nimbus.example), (time)  ·  made by this bot, for (request)
    :white_check_mark: *Approved* “Move 203.0.113.10 from web-1 to web-2” by <@U0BEN00001>, (time)  ·  by the rule APPROVERS: <!subteam^S0ONCALL01>  ·  (request) in <#C0OPS00001>
    Beside them: the account's own events of \`eip_2BJYBkPZR5x1t\` since (time).
    Looked through all 6 entries, back to (time). \`npm run audit:verify\` checks that none was changed, removed or put in."
  `)
})

test('entries are shown although the events of the account cannot be read', async () => {
  const world = await startWorld()
  const { elasticIp } = await makeMove(world)
  world.accountApi.faults.add({ method: 'GET', path: /events/, kind: 'status', status: 403 })

  await world.ada.command(`/infra audit ${elasticIp.address} approve`, { channel: ops })

  const { text } = await untilShown(world.slack, people.ada, /Audit:/)
  expect(text).toMatch(/\*Approved\*/)
  expect(text).toMatch(/could not be read, so changes made outside this bot are not shown/)
})

test('without words every entry is shown, a page at a time', async () => {
  const world = await startWorld()
  await makeMove(world)
  await world.dov.command('/infra moves', { channel: ops })
  await untilShown(world.slack, people.dov, /Guests may not/)
  for (const _ of Array.from({ length: 6 })) {
    await world.dov.command('/infra audit', { channel: ops })
  }
  await world.slack.until(() => world.slack.ephemerals(people.dov).length >= 7)

  await world.ben.command('/infra audit', { channel: ops })
  const first = await untilShown(world.slack, people.ben, /Audit:.*page 1 of 2/)
  expect(first.text).toMatch(/\*Refused\*: <@U0DOV00001> tried to use this bot \(`command audit`\).*: Guests may not use this bot/)
  await world.ben.click(first, 'Next')
  expect((await untilShown(world.slack, people.ben, /page 2 of 2/)).text).toMatch(/\*Asked for\*/)
})

test('every entry is printed on standard output exactly as it is in the chain', async () => {
  const world = await startWorld()
  await makeMove(world)

  const entries = await openRecords(world).audit()
  await world.slack.until(() => world.auditLines.length >= entries.length)

  expect(entries.map(({ act }) => act)).toEqual(['request', 'refused', 'approve', 'send', 'accept', 'finish'])
  expect(world.auditLines.map((line) => readPrintedLine(line)?.seq)).toEqual(entries.map(({ seq }) => seq))
})
