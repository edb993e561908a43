import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Canary, startCanary } from './canary.ts'
import { general, ops, people, untilReport, untilShown } from './world.ts'

let canary: Canary
let { slack, accountApi, approved, createKey } = {} as Canary

beforeAll(async () => {
  canary = await startCanary()
  ;({ slack, accountApi, approved, createKey } = canary)
}, 120_000)
afterAll(() => canary?.end())

test('a key that is shown', async () => {
  const card = await createKey('shown')
  await slack.as(people.ada).click(card, 'Create key')
  await untilShown(slack, people.ada, /Your new API key shown/)
  await untilReport(slack, card.ts, /Done/)
})

test('a key that ends: it is extended, and a new one takes its place', async () => {
  const card = await createKey('ending for 2d')
  await slack.as(people.ada).click(card, 'Create key')
  await untilReport(slack, card.ts, /Done/)
  for (const [command, button] of [['extend ending 3d'], ['rotate ending keeping the old one for 1d', 'Rotate key']] as const) {
    const known = slack.messages(ops).length
    await slack.as(people.ada).command(`/infra keys ${command}`, { channel: ops })
    const asked = await slack.until(() => slack.messages(ops)[known])
    await slack.as(people.ben).click(asked, 'Approve')
    const approvedCard = () => slack.messages(ops).find(({ ts, text }) => ts === asked.ts && /\*Approved\.\*/.test(text))
    if (button) await slack.as(people.ada).click(await slack.until(approvedCard), button)
    await untilReport(slack, asked.ts, /Done/)
  }
  expect(accountApi.world.data.apiKeys.filter(({ name }) => name.startsWith('ending ['))).toHaveLength(2)
})

test('a key that somebody else creates on a watched account is reported to the operators', async () => {
  await canary.untilKeysAreKnown()
  const made = await fetch(`${accountApi.url}/auth/api_keys`, {
    method: 'POST',
    headers: { authorization: accountApi.key, 'content-type': 'application/json' },
    body: JSON.stringify({ data: { type: 'api_keys', attributes: { name: 'by-hand' } } }),
  })
  expect(made.status).toBe(201)
  await slack.until(() => slack.messages(general).find(({ text }) => text.includes('API key by-hand was created outside Lockkeeper')))
})

test('a key that Slack does not show, and one whose creation gets no usable answer', async () => {
  await canary.hideKey('error')
  await canary.loseKey('instead')
})

test('a key that is rotated, and one whose rotation gets no answer', async () => {
  const [first, second] = accountApi.world.data.apiKeys.filter((key) => key.token !== accountApi.key && !key.name.includes('['))
  const shown = await approved(`/infra keys rotate ${first?.id}`)
  await slack.as(people.ada).click(shown, 'Rotate key')
  await untilReport(slack, shown.ts, /Done/)

  const lost = await approved(`/infra keys rotate ${second?.id}`)
  accountApi.faults.add({ method: 'PUT', path: /api_keys/, kind: 'drop-after', times: 1 })
  await slack.as(people.ada).click(lost, 'Rotate key')
  await untilReport(slack, lost.ts, /Failed.*Both tokens are invalid/)
  expect(accountApi.world.data.apiKeys.map(({ id }) => id)).not.toContain(second?.id)
})

test('afterwards no token is anywhere except in what its requester was shown', async () => {
  await canary.expectNoLeak({ tokens: 6, shown: 2 })
})
