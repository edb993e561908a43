import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { approveHeld } from '../journeys/world.ts'
import { type Sandbox, startSandbox } from './sandbox.ts'
import { ada, ben, chiara, ops } from './slack/slack-for-test.ts'

let sandbox: Sandbox

beforeAll(async () => {
  sandbox = await startSandbox({ moveTakes: { min: 200, max: 300 } })
})
afterAll(() => sandbox?.close())
afterEach(async () => {
  // This one restarts the bot, and goes off when everything starts over.
  for (const { id, isOn } of (await breakages()).breakages) if (isOn && id !== 'two-approvals') await use({ id, on: false })
})

interface Answer {
  ok: boolean
  error?: string
  said?: string
  breakages: { id: string; isOn?: boolean }[]
}

const address = () => `${sandbox.url}/sandbox/breakages`
const breakages = async () => (await (await fetch(address())).json()) as Answer
const use = async (wanted: object) => (await (await fetch(address(), { method: 'POST', body: JSON.stringify(wanted) })).json()) as Answer

async function requestMove(skip: number, by = ada) {
  const { elasticIp, target } = sandbox.accountApi.world.movable(skip)
  await sandbox.slack.as(by).command(`/infra ip move ${elasticIp.address} ${target.hostname}`, { channel: ops })
  const card = await sandbox.slack.until(() =>
    sandbox.slack
      .messages(ops)
      .find(({ text, blocks }) => text.includes(elasticIp.address) && JSON.stringify(blocks).includes('request-approve')),
  )
  const cardNow = () => sandbox.slack.messages(ops).find(({ ts }) => ts === card.ts)
  return { elasticIp, card, cardNow }
}

test('a machine asks, and people see it as one', async () => {
  const { said } = await use({ id: 'machine-asks' })

  expect(said).toMatch(/^The machine ci has requested to move [\d.]+\. See #ops\.$/)
  const card = await sandbox.slack.until(() => sandbox.slack.messages(ops).find(({ text }) => text.includes('ci (machine) needs approval')))
  const ben = sandbox.slack.as('U0BEN00001')
  await ben.click(card, 'Reject')
  await sandbox.slack.until(() => ben.openViews()[0], { what: 'the form' })
  await ben.fill(undefined, { reason: 'Only a test' })
  await ben.submit()
  await sandbox.slack.until(() => /\*Rejected\*/.test(sandbox.slack.messages(ops).find(({ ts }) => ts === card.ts)?.text ?? ''))
})

test('somebody moves the address of the newest open request, and after its approval nothing is done', async () => {
  const { elasticIp, card, cardNow } = await requestMove(0)

  const { said } = await use({ id: 'moved-meanwhile' })
  await sandbox.slack.as(ben).click(card, 'Approve')

  const hostname = sandbox.accountApi.world.server(sandbox.accountApi.world.elasticIp(elasticIp.id)?.serverId ?? '')?.hostname
  expect(said).toBe(`${elasticIp.address} is on ${hostname} now.`)
  await sandbox.slack.until(() => cardNow()?.text.includes(String(hostname)))
  expect(sandbox.accountApi.journal.writes()).toEqual([])

  expect((await use({ id: 'moved-meanwhile' })).said).toBe('No open request moves an address. Request a move or an evacuation first.')
})

test('two hours later a window is open and a freeze is over, so that what they held is done; and after two more skips at once an open request has expired', async () => {
  const { slack, accountApi } = sandbox
  // Two hours later, it ended ten minutes ago. What is not started within half an hour after its end is missed.
  await slack.as(ben).command('/infra freeze for 110m because something looks wrong', { channel: ops })
  await slack.until(() => slack.messages(ops).some(({ text }) => /Frozen\* by <@U0BEN00001> until (?!lifted)/.test(text)))
  await slack.as(ada).command('/infra ip move 203.0.113.100 vpn-1', { channel: ops })
  const card = await slack.until(() => slack.messages(ops).find(({ text }) => /203\.0\.113\.100.*needs approval/s.test(text)))
  const textOf = ({ ts }: { ts: string }) => slack.messages(ops).find((each) => each.ts === ts)?.text ?? ''
  await approveHeld({ slack }, slack.as(ben), card)
  await slack.until(() => /Approved\.\* Held by a freeze/.test(textOf(card)))
  const undecided = await requestMove(1)
  const writes = accountApi.journal.writes().length

  expect((await use({ id: 'hours-later' })).said).toBe(
    'For open requests and freezes, it is 2 hours later. The clock stays. Open requests that are older now: 2.',
  )
  await slack.until(() => /\*Done\*/.test(textOf(card)), { timeoutMs: 70_000 })
  await slack.until(() => slack.messages(ops).some(({ text }) => text.includes('*The freeze is over.*')))
  expect(accountApi.journal.writes()).toHaveLength(writes + 1)
  await slack.until(() => slack.thread(ops, undecided.card.ts).some(({ text }) => /” needs approval/.test(text)))

  // Two at once must not end each other's bot.
  const skips = await Promise.all([use({ id: 'hours-later' }), use({ id: 'hours-later' })])
  const words = /it is 2 hours later\. The clock stays\. (No request was open|Open requests that are older now: 1)\.$/
  expect(skips.map(({ said }) => said)).toEqual(Array(2).fill(expect.stringMatching(words)))
  await slack.until(() => /expired/i.test(textOf(undecided.card)))
  expect(await slack.as(ada).command('/infra help', { channel: ops })).toMatchObject({ outcome: 'acknowledged' })
})

test('thirty days later a key has ended, and another one is called for', async () => {
  const { slack, accountApi } = sandbox
  const threads: string[] = []
  for (const [index, name] of ['ending', 'ended'].entries()) {
    await slack.as(ada).command(`/infra keys create ${name} for ${[35, 29][index]}d`, { channel: ops })
    const cardOf = (words: RegExp) => slack.messages(ops).find(({ text }) => text.includes(`key ${name}`) && words.test(text))
    const card = await slack.until(() => cardOf(/needs approval/))
    await slack.as(ben).click(card, 'Approve')
    await slack.as(ada).click(await slack.until(() => cardOf(/\*Approved\.\*/)), 'Create key')
    await slack.until(() => slack.thread(ops, card.ts).some(({ text }) => /Done/.test(text)))
    threads.push(card.ts)
  }

  expect((await use({ id: 'days-later' })).said).toBe(
    'For requests, freezes and keys, it is 30 days later. The clock stays. Keys that end: 2.',
  )
  const told = (index: number, words: RegExp) => slack.thread(ops, threads[index] ?? '').some(({ text }) => words.test(text))
  await slack.until(() => told(0, /ends/) && told(1, /has ended/), { timeoutMs: 60_000, what: 'what is said of both keys' })
  expect(accountApi.world.data.apiKeys.filter(({ name }) => /^end/.test(name)).map(({ name }) => name.split(' ')[0])).toEqual(['ending'])
})

test('a server that goes down is proposed to be evacuated, and on again before the decision, the request is withdrawn', async () => {
  // The switch waits until Lockkeeper knows the addresses, which this shortens.
  await sandbox.slack.as(ada).command('/infra ip list', { channel: ops })
  const { id = '' } = sandbox.accountApi.world.data.servers.find(({ hostname }) => hostname === 'web-1') ?? {}
  const shownOn = () => sandbox.accountApi.world.elasticIps().filter((each) => sandbox.accountApi.world.shown(each).serverId === id).length
  const before = shownOn()

  const { said, breakages: after } = await use({ id: 'server-down', on: true })
  const cardNow = () => sandbox.slack.messages(ops).find(({ text }) => /Evacuate .*web-1/.test(text))
  await sandbox.slack.until(() => /Alertmanager needs approval/.test(cardNow()?.text ?? ''))
  expect(said).toBe('web-1 is off, and Alertmanager has sent its alert to Lockkeeper. See #ops.')
  expect(after.find((each) => each.id === 'server-down')?.isOn).toBe(true)
  expect([before > 0, shownOn()]).toEqual([true, 0])

  const on = await use({ id: 'server-down', on: false })

  expect(on.said).toBe('web-1 is on again, and Alertmanager has told Lockkeeper that the alert resolved.')
  await sandbox.slack.until(() => /\*Withdrawn\*.*The alert resolved/s.test(cardNow()?.text ?? ''))
  expect(shownOn()).toBe(before)
})

test('Ben freezes all changes, and what was approved meanwhile is done once he lifts the freeze', async () => {
  const { slack, accountApi } = sandbox
  const writes = accountApi.journal.writes().length
  expect((await use({ id: 'freeze', on: true })).said).toBe('Ben has frozen all changes. See #ops.')
  // Ada has used up her share of the reads.
  const { card, cardNow } = await requestMove(2, chiara)
  expect(card.text).toContain('Held by a freeze until lifted.')
  await slack.as(ben).click(card, 'Approve')
  await slack.until(() => slack.as(ben).topView())
  await slack.as(ben).submit()
  await slack.until(() => /Approved\.\* Held by a freeze/.test(cardNow()?.text ?? ''))
  expect(accountApi.journal.writes()).toHaveLength(writes)

  expect((await use({ id: 'freeze', on: false })).said).toBe('Ben has lifted the freeze. Approved changes start now.')
  await slack.until(() => /\*Done\*/.test(cardNow()?.text ?? ''))
})

test('two people must approve', async () => {
  const { slack } = sandbox
  expect((await use({ id: 'two-approvals', on: true })).said).toContain('Ben and Chiara must both approve')
  const { card, cardNow } = await requestMove(2, chiara)
  await slack.as(ben).click(card, 'Approve')
  await slack.until(() => slack.ephemerals(ben).some(({ text }) => text.includes('Approved (1 of 2). One more needed.')))
  expect(cardNow()?.text).toMatch(/needs .*approv/)
})

test('another tool uses up the limit, until it is undone: Lockkeeper is refused in spite of its own count', async () => {
  const { accountApi, slack } = sandbox
  const send = (method: string) => fetch(`${accountApi.url}/plans`, { method, headers: { authorization: accountApi.key } })
  const statuses = async () => [(await send('GET')).status, (await send('POST')).status]
  const { breakages: after } = await use({ id: 'limit-used-up', on: true })
  expect(after.find(({ id }) => id === 'limit-used-up')?.isOn).toBe(true)

  await slack.as(ada).command('/infra vms', { channel: ops })
  await slack.until(() => accountApi.journal.some(({ path, refused }) => path === '/virtual_machines' && refused))
  expect(await statuses()).toEqual([429, 429])
  const { breakages: undone } = await use({ id: 'limit-used-up', on: false })

  expect(undone.find(({ id }) => id === 'limit-used-up')?.isOn).toBe(false)
  expect(await statuses()).toEqual([404, 404])
})

test('Redis is away until it is switched back', async () => {
  const { slack } = sandbox
  expect((await use({ id: 'redis-away', on: true })).breakages.find(({ id }) => id === 'redis-away')?.isOn).toBe(true)
  await slack.as(ben).command('/infra pending', { channel: ops })
  await slack.until(() => slack.ephemerals(ben).some(({ text }) => text.includes("database (Redis) isn't responding")))

  expect((await use({ id: 'redis-away', on: false })).breakages.find(({ id }) => id === 'redis-away')?.isOn).toBe(false)
  // It connects again within 3 s.
  await expect
    .poll(
      async () => {
        const before = slack.ephemerals(ben).length
        await slack.as(ben).command('/infra pending', { channel: ops })
        return (await slack.until(() => slack.ephemerals(ben)[before])).text
      },
      { timeout: 20_000, interval: 500 },
    )
    .not.toContain("isn't responding")
})

test('everything starts over at the same addresses', async () => {
  const { url, slack, accountApi, machine } = sandbox
  const { world } = accountApi
  const web1 = world.data.servers.find(({ hostname }) => hostname === 'web-1')?.id
  const elasticIp = world.elasticIps().find(({ address }) => address === '203.0.113.14')
  world.moveBehindOurBack(elasticIp?.id ?? '', world.third(elasticIp?.id ?? '').id)

  expect((await use({ id: 'start-over' })).said).toMatch(/starts over/)
  await expect.poll(() => sandbox.slack !== slack, { timeout: 120_000 }).toBe(true)

  expect(sandbox.url).toBe(url)
  expect((await breakages()).breakages.filter(({ isOn }) => isOn)).toEqual([])
  expect(sandbox.machine).toEqual(machine)
  const answer = await fetch(`${machine.url}/v1/servers`, { headers: { authorization: `Bearer ${machine.token}` } })
  expect(answer.status).toBe(200)
  expect(sandbox.slack.messages(ops)).toEqual([])
  expect(sandbox.accountApi.world.elasticIp(elasticIp?.id ?? '')?.serverId).toBe(web1)
  await requestMove(0)
})
