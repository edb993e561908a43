import { expect, test } from 'vitest'
import { readPrintedLine } from '../../src/audit/chain.ts'
import { openRecords } from './records.ts'
import { ops, people, requestMove, startWorld, untilReport, untilShown } from './world.ts'

/** Replaces what differs from run to run by a name. */
function steady(text: string): string {
  return text
    .replace(/<!date\^[^>]*>/g, '(time)')
    .replace(/<https:[^|]*\|([^>]*)>/g, '[$1]')
    .replace(/`[0-9a-f]{32}`/g, '(request)')
}

test('a whole move is one row, with its steps on demand, and every entry is printed', async () => {
  const world = await startWorld()
  const { elasticIp, card } = await requestMove(world)
  await world.ada.click(card, 'Approve')
  await untilShown(world.slack, people.ada, /an approver other than you must decide/)
  await world.ben.click(card, 'Approve')
  await untilReport(world.slack, card.ts, /Done/)

  await world.ben.command(`/infra audit ${elasticIp.id} <@${people.ben}>`, { channel: ops })
  const audit = await untilShown(world.slack, people.ben, /Audit:/)
  const entries = await openRecords(world).audit()
  await world.ben.click(audit, 'Steps')

  expect(steady(audit.text).split('\n')).toEqual([
    '*Audit: 1 result matching `eip_2BJYBkPZR5x1t` <@U0BEN00001>, newest first*',
    '*[Move 203.0.113.10: web-1 → web-2]*',
    'Outcome: Done  ·  When: (time)  ·  By: <@U0ADA00001>  ·  Decision: approved by <@U0BEN00001>  ·  Notes: 1 refused attempt by <@U0ADA00001>: they requested it themselves',
    'Entries searched: all 6, back to (time).',
  ])
  expect(steady((await untilShown(world.slack, people.ben, /Requested:/)).text)).toMatchInlineSnapshot(`
    "*“Move 203.0.113.10: web-1 → web-2”*
    Requested: <@U0ADA00001>, (time)  ·  setting \`APPROVERS\`
    Refused: <@U0ADA00001> tried to approve this request, (time): they requested it themselves
    Approved: <@U0BEN00001>, (time)  ·  setting \`APPROVERS\`: <!subteam^S0ONCALL01>
    Sent to the account: (time)
    Accepted by the account: (time)  ·  account API: move accepted (202)
    Done: (time)
    Request (request) in <#C0OPS00001>"
  `)
  await world.slack.until(() => world.auditLines.length >= entries.length)
  expect(entries.map(({ act }) => act)).toEqual(['request', 'refused', 'approve', 'send', 'accept', 'finish'])
  expect(world.auditLines.map((line) => readPrintedLine(line)?.seq)).toEqual(entries.map(({ seq }) => seq))
})

test('a guest who presses a button of a request is in the audit of that request, however many they press', async () => {
  const world = await startWorld()
  const cards = []
  for (const skip of [0, 1]) cards.push((await requestMove(world, { skip })).card)
  for (const card of [...cards, ...cards]) await world.dov.click(card, 'Approve')
  await world.slack.until(() => world.slack.ephemerals(people.dov).length === 4)

  const records = openRecords(world)
  const refused = (await records.audit()).filter(({ act }) => act === 'refused')
  const requests = (await records.audit()).filter(({ act }) => act === 'request')
  expect(refused.map(({ by, attempted, requestId }) => ({ by, attempted, requestId }))).toEqual(
    requests.map(({ requestId }) => ({ by: people.dov, attempted: 'request-approve', requestId })),
  )
})

test('why a press on Approve was refused is in the audit in words, and in one line of the log, however often it is pressed', async () => {
  const world = await startWorld()
  const { elasticIp, card } = await requestMove(world)
  await world.ben.click(card, 'Approve')
  await untilReport(world.slack, card.ts, /Done/)
  for (let press = 0; press < 3; press += 1) await world.chiara.click(card, 'Approve')
  await world.slack.until(() => world.slack.ephemerals(people.chiara).length === 3)

  await world.ben.command(`/infra audit ${elasticIp.id}`, { channel: ops })
  const audit = await untilShown(world.slack, people.ben, /Audit:/)
  expect(audit.text).toContain('1 refused attempt')
  const [{ requestId = '' } = {}] = await openRecords(world).audit()
  await world.ben.click(audit, 'Steps')
  expect(steady((await untilShown(world.slack, people.ben, /Requested:/)).text)).toContain(
    `Refused: <@${people.chiara}> tried to approve this request, (time): the request was already decided, sent or ended`,
  )
  const lines = world.log.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'refused')
  const said = { code: 'too-late', requestId, userId: people.chiara, at: 'click request-approve' }
  expect(lines).toEqual([expect.objectContaining({ level: 'info', ...said })])
})
