import { expect, test } from 'vitest'
import { findElement } from '../sandbox/slack/elements.ts'
import { objectsOf } from '../sandbox/slack/json.ts'
import { finn, startWorldUnder, writesOf } from './policy-world.ts'
import { wordsOf } from './subject.ts'
import { ops, people, pressAndSend, requestMove, untilCard, untilReport, untilShown } from './world.ts'

test('each of several approvals is counted on the card and in the answer to its approver, and the last one starts the change', async () => {
  const world = await startWorldUnder(`rules:\n  - { name: addresses, approve: { any_of: [S0ONCALL01, ${finn}], approvals: 3 } }`)
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

  expect([first, second, again].map(wordsOf)).toEqual([
    'Approved (1 of 3). 2 more needed.',
    'Approved (2 of 3). One more needed.',
    'You already approved this, so nothing changed. One more needed.',
  ])
  expect(counted.text).toMatch(/\*2 of 3 approvals\*: <@U0BEN00001>, .*; <@U0CHI00001>/)
  const done = await untilCard(world.slack, /\*Done/)
  expect(done.text).toContain(`approved by <@${people.ben}>, <@${people.chiara}> and <@${finn}>`)
  expect(writesOf(world)).toHaveLength(1)
  const decisions = (await world.records.audit()).filter(({ act }) => act === 'count-approval' || act === 'approve')
  expect(decisions).toMatchObject([
    { by: people.ben, rule: 'addresses', via: 'S0ONCALL01', to: 'waiting', missing: 2, needed: 3 },
    { by: people.chiara, rule: 'addresses', via: 'S0ONCALL01', to: 'waiting', missing: 1, needed: 3 },
    { by: finn, rule: 'addresses', via: finn, to: 'approved' },
  ])
})

test('the list of what needs an approval has the buttons of those that one can approve, and is shown again after a press', async () => {
  const world = await startWorldUnder('rules:\n  - { name: addresses, approve: [S0ONCALL01] }')
  const { card } = await requestMove(world)
  await requestMove(world, { by: world.ben, skip: 1 })
  await world.ben.command('/infra pending', { channel: ops })
  const list = await untilShown(world.slack, people.ben, /2 requests need approval\. You can approve 1\./)
  expect(list.text).toMatch(/You can approve 1\.[\s\S]*203\.0\.113\.10[\s\S]*<@U0ADA00001> needs approval from[\s\S]*203\.0\.113\.11/)

  await world.ben.click(list, 'Approve')
  await untilReport(world.slack, card.ts, /Done/)
  const after = await untilShown(world.slack, people.ben, /1 request needs approval\. You can approve none\./)
  await world.ben.click(after, 'Withdraw')
  await untilShown(world.slack, people.ben, /No requests need approval/)
})

test('the list of what needs an approval keeps what was decided in its place until it is refreshed, so that a second press decides nothing else', async () => {
  const world = await startWorldUnder('rules:\n  - { name: addresses, approve: [S0ONCALL01] }')
  const { card } = await requestMove(world)
  await requestMove(world, { skip: 1 })
  await world.ben.command('/infra pending', { channel: ops })
  const list = await untilShown(world.slack, people.ben, /You can approve 2\./)
  /** Where each *Approve* is. */
  const approvals = ({ blocks }: typeof list) =>
    objectsOf(blocks).flatMap((block, at) => (JSON.stringify(block).includes('"Approve"') ? [at] : []))
  const [, second] = approvals(list)

  await world.ben.click(list, 'Approve')
  await untilReport(world.slack, card.ts, /Done/)
  const after = await untilShown(world.slack, people.ben, /You can approve 1\.[\s\S]*Stays here until \*Refresh\*\./)
  expect(approvals(after)).toEqual([second])

  await world.ben.click(after, 'Refresh')
  await world.slack.until(() => world.slack.ephemerals(people.ben).every(({ text }) => !text.includes('Stays here')), {
    what: 'a new list',
  })
})

test('a request that is withdrawn from a refusal leaves no button there: not the one of another request', async () => {
  const world = await startWorldUnder('rules:\n  - { name: addresses, approve: [S0ONCALL01] }')
  const { elasticIp, target } = await requestMove(world)
  await requestMove(world, { skip: 1 })
  await world.ada.command(`/infra ip move ${elasticIp.address} ${target.hostname}`, { channel: ops })
  const refused = await untilShown(world.slack, people.ada, /Not requested: you have an open request/)

  await world.ada.click(refused, 'Withdraw')
  const answer = await untilShown(world.slack, people.ada, /^Withdrawn, /)
  expect(answer.text).toContain(elasticIp.address)
  expect(JSON.stringify(answer.blocks)).not.toContain('"button"')
  expect(world.slack.ephemerals(people.ada).filter(({ text }) => /Not requested|need/.test(text))).toEqual([])
  expect((await world.records.all()).map(({ state }) => state).toSorted()).toEqual(['waiting', 'withdrawn'])
})

test('the list of what needs an approval is shown again after a form that was opened from it', async () => {
  const world = await startWorldUnder('rules:\n  - { name: addresses, approve: [S0ONCALL01], self_approval: break-glass }')
  await requestMove(world)
  await requestMove(world, { skip: 1 })
  await world.ben.command('/infra pending', { channel: ops })
  await pressAndSend(world, world.ben, await untilShown(world.slack, people.ben, /You can approve 2\./), 'Approve')
  const list = await untilShown(world.slack, people.ben, /You can approve 1\./)

  await world.ben.click(list, 'Reject')
  await world.ben.fill(await world.slack.until(() => world.ben.topView()), { Reason: 'Not during the sale' })
  await world.ben.submit()
  await world.slack.until(() => world.slack.ephemerals(people.ben).every(({ text }) => !text.includes('You can approve')), {
    what: 'the list without them',
  })
})

test('a rejection that comes after an approval is answered in place of its form, with the request that it is about', async () => {
  const world = await startWorldUnder('rules:\n  - { name: addresses, approve: [S0ONCALL01] }')
  const { card, elasticIp } = await requestMove(world)
  await world.ben.click(card, 'Reject')
  const form = await world.slack.until(() => world.ben.topView())
  await world.chiara.click(card, 'Approve')
  await untilReport(world.slack, card.ts, /Done/)
  await world.ben.fill(form, { Reason: 'Not during the sale' })
  await world.ben.submit()

  const answer = JSON.stringify(world.ben.topView()?.view)
  expect(answer).toContain('Your click had no effect.')
  expect(answer).toContain(elasticIp.address)
})

test('an own request that its requester may approve alone has another button, and another count', async () => {
  const world = await startWorldUnder('rules:\n  - { name: moves, approve: [S0ONCALL01], self_approval: break-glass }')
  const { card } = await requestMove(world, { by: world.ben })
  await world.ben.command('/infra pending', { channel: ops })
  const list = await untilShown(world.slack, people.ben, /You can approve none, and 1 of your own in an emergency\./)
  const found = [list, card].map(({ blocks }) => ['Approve', 'Approve alone…'].map((label) => findElement(blocks ?? [], label)?.element))
  expect(found).toMatchObject([
    [undefined, { text: { text: 'Approve alone…' } }],
    [{ style: 'primary' }, undefined],
  ])
  expect(found[0]?.[1]).not.toHaveProperty('style')
  await world.ben.click(list, 'Approve alone…')
  await world.slack.until(() => world.ben.topView().title === 'Emergency approval')
})
