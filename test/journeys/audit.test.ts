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
  await untilShown(world.slack, people.ada, /someone else must approve or reject it/)
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
    .replace(/<https:[^|]*\|([^>]*)>/g, '[$1]')
    .replace(/`[0-9a-f]{32}`/g, '(request)')
}

test('a whole move is one row, with its steps on demand', async () => {
  const world = await startWorld()
  const { elasticIp } = await makeMove(world)

  await world.ada.command(`/infra audit ${elasticIp.address}`, { channel: ops })

  const audit = await untilShown(world.slack, people.ada, /Audit:/)
  const { requestId = '' } = (await openRecords(world).audit())[0] ?? {}
  await world.ada.click(audit, 'Steps of a request', { choose: requestId })

  expect(steady(audit.text)).toMatchInlineSnapshot(`
    "*Audit: 1 request and 1 event of the account matching \`203.0.113.10\`, newest first*
    :large_green_circle: *[Move 203.0.113.10: web-1 → web-2]*  ·  Done  ·  (time)
    by <@U0ADA00001>  ·  approved by <@U0BEN00001>
    1 refused attempt
    :white_small_square: *Event of the account: \`update.elastic_ip\` of \`203.0.113.10\`*  ·  (time)
    by lockkeeper (lockkeeper@nimbus.example)
    Also searched the account's own events for \`203.0.113.10\` since (time).
    Searched all 6 entries, back to (time). A request has an entry for each of its steps."
  `)
  expect(steady((await untilShown(world.slack, people.ada, /Requested:/)).text)).toMatchInlineSnapshot(`
    "*“Move 203.0.113.10: web-1 → web-2”*
    Requested: <@U0ADA00001>, (time)  ·  setting \`APPROVERS\`
    Refused: <@U0ADA00001> tried to approve this request, (time): You requested this, so someone else must approve or reject it. To cancel it, press *Withdraw*.
    Approved: <@U0BEN00001>, (time)  ·  setting \`APPROVERS\`: <!subteam^S0ONCALL01>
    Sent to the account: (time)
    Accepted by the account: (time)  ·  account API: move accepted (202)
    Done: (time)
    Request (request) in <#C0OPS00001>"
  `)
})

test('the events of the account stand beside the requests, also of changes that were made outside the bot', async () => {
  const world = await startWorld()
  const { elasticIp, target } = await makeMove(world)
  const { id } = world.accountApi.world.third(elasticIp.id)
  await moveOutside(world.accountApi, elasticIp.id, id === target.id ? (elasticIp.serverId ?? '') : id)

  await world.ben.command(`/infra audit ${elasticIp.id} <@${people.ben}>`, { channel: ops })

  expect(steady((await untilShown(world.slack, people.ben, /Audit:/)).text)).toMatchInlineSnapshot(`
    "*Audit: 1 request and 2 events of the account matching \`eip_2BJYBkPZR5x1t\` <@U0BEN00001>, newest first*
    :white_small_square: *Event of the account: \`update.elastic_ip\` of \`203.0.113.10\`*  ·  (time)
    by lockkeeper (lockkeeper@nimbus.example)
    :large_green_circle: *[Move 203.0.113.10: web-1 → web-2]*  ·  Done  ·  (time)
    by <@U0ADA00001>  ·  approved by <@U0BEN00001>
    1 refused attempt
    :white_small_square: *Event of the account: \`update.elastic_ip\` of \`203.0.113.10\`*  ·  (time)
    by lockkeeper (lockkeeper@nimbus.example)
    Also searched the account's own events for \`203.0.113.10\` since (time).
    Searched all 6 entries, back to (time). A request has an entry for each of its steps."
  `)
})

test('every entry is printed on standard output exactly as it is in the chain', async () => {
  const world = await startWorld()
  await makeMove(world)

  const entries = await openRecords(world).audit()
  await world.slack.until(() => world.auditLines.length >= entries.length)

  expect(entries.map(({ act }) => act)).toEqual(['request', 'refused', 'approve', 'send', 'accept', 'finish'])
  expect(world.auditLines.map((line) => readPrintedLine(line)?.seq)).toEqual(entries.map(({ seq }) => seq))
})
