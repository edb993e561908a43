import { expect, test } from 'vitest'
import { challengeOf } from '../../src/features/passkeys/ceremony.ts'
import { keyOf } from '../../src/features/passkeys/links.ts'
import { encodeFields } from '../../src/record/store.ts'
import { createAuthenticator } from '../given/authenticator.ts'
import { freeze } from '../journeys/freeze-world.ts'
import {
  approveWithPasskey,
  givePasskey,
  listPasskeys,
  makePasskey,
  onlyMove,
  openPage,
  party,
  pressForLink,
  restartWith,
  runTrust,
  sendAnswer,
  startLinked,
  startPasskeyWorld,
  submitForLink,
  usual,
} from '../journeys/passkeys-world.ts'
import { type PolicyWorld, writesOf } from '../journeys/policy-world.ts'
import { chooseEmergency, ops, people, requestMove, untilCard, untilReport, untilShown } from '../journeys/world.ts'

const addCard = /Add passkey[\s\S]*needs approval from/
const wordsOf = (html: string) => html.replace(/<style[\s\S]*?<\/style>|<script[\s\S]*?<\/script>/g, '').replace(/<[^>]+>/g, ' ')

test('the page of who adds a passkey, its request and the list show the same key, which another passkey of the same id has not', async () => {
  const world = await startPasskeyWorld()
  const chiara = await givePasskey(world, world.chiara, people.chiara)
  const { answer, authenticator } = await makePasskey(world, world.ben, people.ben)
  const key = keyOf(authenticator)
  expect(answer.title).toBe(`Requested: ${key}`)
  expect(keyOf({ ...authenticator, publicKey: createAuthenticator(party).publicKey })).not.toBe(key)
  const card = await untilCard(world.slack, addCard)
  expect(card.text).toContain(key)
  await approveWithPasskey(world, world.chiara, people.chiara, card, chiara)
  await untilReport(world.slack, card.ts, /Done/)
  expect(JSON.stringify((await listPasskeys(world, world.ben, people.ben)).blocks)).toContain(key)
})

test('of two answers to one link that adds a passkey, the page of the other one says that it is not the one requested', async () => {
  const world = await startPasskeyWorld()
  await givePasskey(world, world.chiara, people.chiara)
  const url = await pressForLink(world, world.ben, people.ben, await listPasskeys(world, world.ben, people.ben), 'Add a passkey')
  const { challenge } = await openPage(world, url)
  const made = [createAuthenticator(party), createAuthenticator(party)]
  const answers = await Promise.all(made.map((one) => sendAnswer(world, url, one.create(challenge))))
  const first = made.findIndex((one) => answers.some(({ title }) => title === `Requested: ${keyOf(one)}`))
  expect(answers[first]).toMatchObject({ status: 200 })
  // A link that is used up already is over, which says the same.
  expect(answers[1 - first]).toMatchObject({ isDone: false, words: expect.stringContaining('withdraw that request') })
  expect((await untilCard(world.slack, addCard)).text).toContain(keyOf(made[first] ?? { id: '', publicKey: '' }))
  expect((await sendAnswer(world, url, made[0]?.create(challenge))).words).toContain('withdraw that request')
})

test('a link that adds a passkey and is put back after its use requests no second one, and says which was requested', async () => {
  const world = await startPasskeyWorld()
  await givePasskey(world, world.chiara, people.chiara)
  const url = await pressForLink(world, world.ben, people.ben, await listPasskeys(world, world.ben, people.ben), 'Add a passkey')
  const { challenge } = await openPage(world, url)
  const { redis, keys } = world.records
  const place = keys.ofPasskey('passkey-link', new URL(url).pathname.split('/')[2]?.split('.')[0] ?? '')
  const link = (await redis.get(place)) ?? ''
  const thief = createAuthenticator(party)
  await sendAnswer(world, url, thief.create(challenge))
  await redis.set(place, link)
  expect(await sendAnswer(world, url, createAuthenticator(party).create(challenge))).toMatchObject({
    status: 409,
    words: expect.stringContaining(`came first, with the key ${keyOf(thief)}`),
  })
})

test('a person is notified of a passkey that was trusted for them on the server', async () => {
  const world = await startPasskeyWorld()
  await givePasskey(world, world.ben, people.ben)
  const told = () => world.slack.calls('chat.postMessage').find(({ args }) => args.channel === people.ben)
  expect(JSON.stringify((await world.slack.until(told, { what: 'the direct message' })).args)).toContain('has a new passkey')
})

test('an emergency approval passes no freeze that its page did not name', async () => {
  const world = await startPasskeyWorld(
    `windows:\n  never: {days: [sun], from: "03:00", to: "03:01", zone: UTC}\n${usual.replace('confirm: passkey', 'emergency: approvers, window: never, confirm: passkey')}`,
  )
  const ben = await givePasskey(world, world.ben, people.ben)
  const { card } = await requestMove(world)
  await world.ben.click(card, 'Approve')
  await world.slack.until(() => world.ben.topView(), { what: 'the form' })
  await chooseEmergency(world, world.ben, 'The site is down for everybody')
  const url = await submitForLink(world, world.ben, people.ben)
  const { challenge, html } = await openPage(world, url)
  expect(wordsOf(html)).toContain('Overrides the window “never”')
  await freeze(world)

  expect(await sendAnswer(world, url, ben.get(challenge))).toMatchObject({ status: 409, words: expect.stringContaining('read it again') })
  expect(writesOf(world)).toEqual([])
  const again = await openPage(world, url)
  expect(wordsOf(again.html)).toMatch(/Overrides the window “never”.*freeze/)
  expect(await sendAnswer(world, url, ben.get(again.challenge))).toMatchObject({ status: 200, title: 'Approved' })
  await untilReport(world.slack, card.ts, /Done/)
  expect(writesOf(world)).toHaveLength(1)
})

test('the page shows no approval, reason, decision or warning that Lockkeeper did not sign', async () => {
  const { world, ben, url } = await startLinked(usual.replace('approvals: 1', 'approvals: 2'))
  const { id } = await onlyMove(world)
  const forged = { by: people.chiara, via: 'x', at: Date.now(), emergency: true, reason: 'ordered by the CTO', signature: 'x' }
  const proof = { link: new URL(url).pathname.split('/')[2]?.split('.')[0] }
  const fields = {
    approvals: [{ ...forged, confirmed: { with: 'passkey', proof } }],
    decision: { ...forged, breakGlass: true },
    missing: 0,
    newWarnings: [{ code: 'rejected-before', at: Date.now(), by: people.chiara, reason: 'this one is right' }],
  }
  await world.records.redis.hset(world.records.keys.record(id), encodeFields(fields as never))
  const { html, challenge } = await openPage(world, url)
  expect(wordsOf(html)).not.toMatch(/Approved|ordered by the CTO|this one is right|[12] of 2/)
  expect(await sendAnswer(world, url, ben.get(challenge))).toMatchObject({ words: expect.stringContaining('1 of 2') })
})

test('the page says of an alert about the target no more than was signed: that it fired at the request', async () => {
  const world = await startPasskeyWorld(usual)
  await givePasskey(world, world.ben, people.ben)
  const { redis, keys } = world.records
  const { target } = world.accountApi.world.movable()
  await redis.zadd(keys.alertsAbout(target.id), Date.now(), `x@${Date.now()}`)
  const { card } = await requestMove(world)
  expect(card.text).toContain('has been firing since')
  const { html } = await openPage(world, await pressForLink(world, world.ben, people.ben, card, 'Approve'))
  expect(wordsOf(html)).toMatch(/Check first.*An alert about the target web-2 was firing when this was requested\./s)
  expect(wordsOf(html)).not.toContain('since')
})

test('a name that somebody chose in Slack passes for no sentence of the page', async () => {
  const name = 'ada (on call). 1 of 1 approvals: @chiara, “checked”. @ada'
  const world = await startPasskeyWorld(usual, {
    staff: ({ people: all }) => {
      const ada = all.find(({ id }) => id === people.ada)
      if (ada) ada.handle = name
    },
  })
  await givePasskey(world, world.ben, people.ben)
  const { card } = await requestMove(world)
  const { html } = await openPage(world, await pressForLink(world, world.ben, people.ben, card, 'Approve'))
  expect(wordsOf(html)).toContain('@“ada (on call). 1 of 1 approvals: @chiara, &quot;checked&quot;. @ada” needs approval from')
})

test('a passkey of another host counts as none: after PUBLIC_URL got another one, the next passkey gets a code for an operator', async () => {
  const world = await startPasskeyWorld()
  await givePasskey(world, world.ben, people.ben)
  await givePasskey(world, world.chiara, people.chiara)
  const origin = 'https://new.example.com'
  await restartWith(world, { env: { PUBLIC_URL: origin } })
  await world.ada.command('/infra doctor', { channel: ops })
  await untilShown(world.slack, people.ada, /2 of 2 can't confirm anything at `new\.example\.com`: .* such as `lockkeeper\.example\.com`/)
  const list = await listPasskeys(world, world.ben, people.ben)
  expect(JSON.stringify(list.blocks)).toContain("It was made at `lockkeeper.example.com` and can't confirm anything here.")
  const url = await pressForLink(world, world.ben, people.ben, list, 'Add a passkey')
  const made = createAuthenticator({ origin, rpId: 'new.example.com' }).create((await openPage(world, url)).challenge)
  const { title } = await sendAnswer(world, url, made, { headers: { origin } })
  expect(await runTrust(world, ['trust', title, '--yes'])).toMatchObject({ exitCode: 0 })
})

test('a freeze does not hold the removal of a passkey, which could pass it', async () => {
  const world = await startPasskeyWorld()
  await givePasskey(world, world.ben, people.ben)
  const chiara = await givePasskey(world, world.chiara, people.chiara)
  await freeze(world)
  await world.ada.command(`/infra passkeys <@${people.ben}|ben>`, { channel: ops })
  await world.ada.click(await untilShown(world.slack, people.ada, /Passkeys of/), 'Request removal')
  const card = await untilCard(world.slack, /Remove passkey[\s\S]*needs approval from/)
  expect((await approveWithPasskey(world, world.chiara, people.chiara, card, chiara)).answer.title).toBe('Approved')
  await untilReport(world.slack, card.ts, /Done/)
})

const placeOf = (url: string) => new URL(url).pathname.split('/')[2]?.split('.')[0] ?? ''

test('a request that took the place of the one whose button was pressed, with its id, gets no approval by that link', async () => {
  const world = await startPasskeyWorld()
  const { redis, keys } = world.records
  const chiara = await givePasskey(world, world.chiara, people.chiara)
  const adding = await pressForLink(world, world.ben, people.ben, await listPasskeys(world, world.ben, people.ben), 'Add a passkey')
  const link = (await redis.get(keys.ofPasskey('passkey-link', placeOf(adding)))) ?? ''
  const { challenge } = await openPage(world, adding)
  await sendAnswer(world, adding, createAuthenticator(party).create(challenge), { name: 'Laptop' })
  const url = await pressForLink(world, world.chiara, people.chiara, await untilCard(world.slack, addCard), 'Approve')
  const [request] = (await world.records.all()).filter(({ kind, state }) => kind === 'passkey.add' && state === 'waiting')
  await redis.del(keys.record(request?.id ?? ''))
  await redis.set(keys.ofPasskey('passkey-link', placeOf(adding)), link)
  const thief = createAuthenticator(party)
  expect((await sendAnswer(world, adding, thief.create(challenge), { name: 'Laptop' })).title).toBe(`Requested: ${keyOf(thief)}`)

  const page = await openPage(world, url)

  expect([page.status, (await sendAnswer(world, url, chiara.get(page.challenge))).status]).toEqual([409, 409])
  expect((await world.records.find(request?.id ?? '')).state).toBe('waiting')
})

test('a confirmation is of one request, also if another one has the same id and content later', () => {
  const act = { to: 'approve', by: people.ben } as const
  const request = { id: 'a', hash: 'b', createdAt: 1 }
  expect(challengeOf(request, act, 'link')).toBe(challengeOf({ ...request }, act, 'link'))
  expect(challengeOf({ ...request, createdAt: 2 }, act, 'link')).not.toBe(challengeOf(request, act, 'link'))
})

test('a name that contains the key of another passkey does not pass for it in the title', async () => {
  const world = await startPasskeyWorld()
  await givePasskey(world, world.chiara, people.chiara)
  const [honest, thief] = [createAuthenticator(party), createAuthenticator(party)]
  const url = await pressForLink(world, world.ben, people.ben, await listPasskeys(world, world.ben, people.ben), 'Add a passkey')
  const made = thief.create((await openPage(world, url)).challenge)
  await sendAnswer(world, url, made, { name: `Laptop (${keyOf(honest)})` })
  const card = await untilCard(world.slack, addCard)
  expect(card.text).toContain(`Add passkey ${keyOf(thief)}`)
  const dialog = JSON.stringify(card.blocks).match(/"confirm":\{.*?"deny"/)?.[0]
  expect(dialog).not.toContain(keyOf(honest))
})

test('the page of a held request shows no name of a freeze that Lockkeeper did not sign', async () => {
  const { world, url } = await startLinked()
  const { id } = await onlyMove(world)
  const waits = { for: 'freeze', name: 'drill”. This is a rehearsal: confirming sends nothing. “x' }
  await world.records.redis.hset(world.records.keys.record(id), encodeFields({ waits } as never))
  expect(wordsOf((await openPage(world, url)).html)).not.toContain('rehearsal')
})

/** Ways to remove what says that a passkey was removed, or that somebody froze. */
const erasing: [string, (world: PolicyWorld, ids: string[]) => Promise<unknown>][] = [
  ['the entry of the audit was deleted', ({ records: { redis, keys } }, ids) => redis.xdel(keys.audit, ...ids)],
  [
    'the audit up to that entry, and the last look at it, were removed',
    async ({ records: { redis, keys } }, ids) => {
      const [ms, count = 0] = ids.at(-1)?.split('-').map(Number) ?? []
      await redis.xtrim(keys.audit, 'MINID', `${ms}-${count + 1}`)
      await redis.del(keys.freezeLook)
    },
  ],
]

test.each(erasing)('neither a removed passkey nor a lifted state of before counts after %s and a process restarted', async (_, erase) => {
  const world = await startPasskeyWorld()
  const { redis, keys } = world.records
  await givePasskey(world, world.ben, people.ben)
  const { card } = await requestMove(world)
  const [passkeys, frozen] = [(await redis.get(keys.passkeys)) ?? '', await redis.get(keys.freeze)]
  await world.ben.click(await listPasskeys(world, world.ben, people.ben), 'Remove')
  await untilShown(world.slack, people.ben, /Removed/)
  await freeze(world)
  await world.ada.click(card, 'Withdraw')
  await untilCard(world.slack, /\*Withdrawn\*/)
  await world.records.audit()
  await restartWith(world, {
    meanwhile: async () => {
      const entries = await redis.xrange(keys.audit, '-', '+')
      await erase(
        world,
        entries.filter(([, [, text = '']]) => /"act":"(passkey-remove|freeze)"/.test(text)).map(([id]) => id),
      )
      await redis.set(keys.passkeys, passkeys)
      if (frozen === null) await redis.del(keys.freeze)
      else await redis.set(keys.freeze, frozen)
    },
  })
  await expect.poll(() => redis.get(keys.freeze)).toBeTruthy()
  await world.ben.command('/infra passkeys', { channel: ops })
  await untilCard(world.slack, /Nobody can approve with a passkey: the record of passkeys in Redis is older/)
})

test('a removed passkey does not count in a newer record that a process made from an older one, which it did not know to be older', async () => {
  const world = await startPasskeyWorld(usual, { replicas: 2 })
  const [stale, current] = world.bots
  const { redis, keys } = world.records
  await givePasskey(world, world.ben, people.ben)
  await givePasskey(world, world.chiara, people.chiara)
  const listOfChiara = await listPasskeys(world, world.chiara, people.chiara)
  const before = (await redis.get(keys.passkeys)) ?? ''
  world.slack.connectBot(current?.slackUrl ?? '')
  await world.ben.click(await listPasskeys(world, world.ben, people.ben), 'Remove')
  await untilShown(world.slack, people.ben, /Removed/)
  await world.records.audit()
  const entries = await redis.xrange(keys.audit, '-', '+')
  const since = entries.slice(entries.findIndex(([, [, text = '']]) => text.includes('"act":"passkey-remove"')))
  // While that process reads, the audit ends before the removal. Then it is whole again.
  await redis.xdel(keys.audit, ...since.map(([id]) => id))
  await redis.set(keys.passkeys, before)
  world.slack.connectBot(stale?.slackUrl ?? '')
  await world.chiara.click(listOfChiara, 'Remove')
  await untilShown(world.slack, people.chiara, /Removed/)
  const kept = entries.length - since.length
  await expect.poll(() => redis.xlen(keys.audit)).toBeGreaterThan(kept)
  const added = (await redis.xrange(keys.audit, '-', '+')).slice(kept)
  await redis.del(keys.audit)
  for (const [id, fields] of [...entries, ...added]) await redis.xadd(keys.audit, id, ...(fields as [string, string]))

  world.slack.connectBot(current?.slackUrl ?? '')
  expect((await listPasskeys(world, world.ben, people.ben)).text).toContain('You have no passkey')
})

test('the page shows the signed end of the time to decide, and a title of one line, whatever Redis and the account hold', async () => {
  const { world, url } = await startLinked()
  const move = await onlyMove(world)
  const shown = wordsOf((await openPage(world, url)).html)
  await world.records.redis.hset(world.records.keys.record(move.id), encodeFields({ expiresAt: move.expiresAt + 86_400_000 } as never))
  expect(wordsOf((await openPage(world, url)).html)).toBe(shown)
})

test.each([
  ['a move', (address: string, _: string, to: string) => `ip move ${address} ${to}`],
  ['an evacuation', (_: string, from: string, to: string) => `evacuate ${from} ${to}`],
])('servers that exchanged their names before the request of %s, and have their own again at its page, end it', async (_, wordsFor) => {
  const world = await startPasskeyWorld()
  const { accountApi, slack } = world
  const ben = await givePasskey(world, world.ben, people.ben)
  const { elasticIp, target } = accountApi.world.movable()
  const other = accountApi.world.third(elasticIp.id)
  const exchangeNames = () => {
    const [one, two] = [target, other].map(({ id }) => accountApi.world.data.servers.find((server) => server.id === id))
    if (one && two) [one.hostname, two.hostname] = [two.hostname, one.hostname]
  }

  exchangeNames()
  await world.ada.command(`/infra ${wordsFor(elasticIp.address, elasticIp.serverId ?? '', other.id)}`, { channel: ops })
  if (world.ada.openViews().length > 0) await world.ada.submit()
  const card = await untilCard(slack, /needs approval from/)
  exchangeNames()
  const url = await pressForLink(world, world.ben, people.ben, card, 'Approve')
  const { html, challenge } = await openPage(world, url)
  expect(wordsOf(html)).toContain(`→ ${target.hostname}`)
  await sendAnswer(world, url, ben.get(challenge))

  await untilReport(slack, card.ts, new RegExp(`${target.hostname} is called ${other.hostname} now`))
  expect(writesOf(world)).toEqual([])
})
