import type { Redis } from 'ioredis'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { encodeFields } from '../../src/record/store.ts'
import { startTcpProxy } from '../faults/tcp-proxy.ts'
import { createAuthenticator } from '../given/authenticator.ts'
import { approvedBy, factsOf } from '../given/signatures.ts'
import { freeze, unfreeze } from '../journeys/freeze-world.ts'
import {
  approveWithPasskey,
  atPort,
  givePasskey,
  listPasskeys,
  makePasskey,
  onlyMove,
  openPage,
  origin,
  party,
  pressForLink,
  restartWith,
  runTrust,
  sendAnswer,
  startLinked,
  startPasskeyWorld,
  stateKey,
  submitForLink,
  usual,
} from '../journeys/passkeys-world.ts'
import { type PolicyWorld, writesOf } from '../journeys/policy-world.ts'
import { ops, people, requestMove, untilCard, untilReport, untilShown } from '../journeys/world.ts'

const benOnly = { by: people.ben, rule: 'addresses', via: 'S0ONCALL01' }

const expectWaiting = async (world: PolicyWorld) => {
  expect(await onlyMove(world)).toMatchObject({ state: 'waiting', approvals: [] })
  expect(writesOf(world)).toEqual([])
}

test('an answer of a passkey that is not exactly of this act, request, person, link, origin and device approves nothing', async () => {
  const { world, ben, chiara, card, url, challenge } = await startLinked()
  const other = await pressForLink(world, world.chiara, people.chiara, card, 'Approve')
  const [challengeOfChiara, stranger] = [(await openPage(world, other)).challenge, createAuthenticator(party)]
  const good = ben.get(challenge)
  const wrong: [why: string, response: unknown][] = [
    ['of another person, on this link', chiara.get(challenge)],
    ['of another person, for their link', chiara.get(challengeOfChiara)],
    ['for the link of another person', ben.get(challengeOfChiara)],
    ['of an unknown passkey', stranger.get(challenge)],
    ['of an unknown passkey under the id of a known one', { ...stranger.get(challenge), id: ben.id }],
    ['for nothing', ben.get('')],
    ['of another origin', ben.get(challenge, { origin: 'https://lockkeeper.example.org' })],
    ['of a port beside it', ben.get(challenge, { origin: `${origin}:8443` })],
    ['of another RP id', ben.get(challenge, { rpId: 'example.com' })],
    ['without user verification', ben.get(challenge, { flags: 1 })],
    ['without anybody present', ben.get(challenge, { flags: 4 })],
    ['of a registration', ben.get(challenge, { type: 'webauthn.create' })],
    ['in a frame of another page', ben.get(challenge, { crossOrigin: true })],
    ['with a signature of something else', { ...good, response: { ...good.response, signature: ben.get('x').response.signature } }],
    [
      'with other data of the device',
      { ...good, response: { ...good.response, authenticatorData: ben.get(challenge, { counter: 9 }).response.authenticatorData } },
    ],
  ]
  for (const [why, response] of wrong) expect([why, (await sendAnswer(world, url, response)).status]).toEqual([why, 409])
  await expectWaiting(world)

  const refused = (await world.records.audit()).filter(({ act, attempted }) => act === 'refused' && attempted === 'approve')
  expect(refused).toMatchObject([{ by: people.ben, causes: [{ code: 'not-confirmed' }] }])
  expect(await sendAnswer(world, url, good)).toMatchObject({ status: 200, title: 'Approved' })
})

test('what no page sends to a link is no attempt of its person: nothing is done, and the audit has no refusal', async () => {
  const { world, ben, chiara, card, url, challenge } = await startLinked()
  const { response, ...good } = ben.get(challenge)
  const sent = [
    null,
    [],
    'nothing',
    { ...good, response: { ...response, signature: '' } },
    { ...good, response: { ...response, signature: 'A'.repeat(2_000) } },
  ]
  const statuses = async () => Promise.all(sent.map(async (each) => (await sendAnswer(world, url, each)).status))
  expect(await statuses()).toEqual(sent.map(() => 400))
  await expectWaiting(world)
  await approveWithPasskey(world, world.chiara, people.chiara, card, chiara)
  expect(await statuses()).toEqual(sent.map(() => 400))
  expect((await world.records.audit()).filter(({ attempted }) => attempted === 'approve')).toEqual([])
})

test('a link that is opened often is used up by its answer alone, and then by none', async () => {
  const { world, ben, url, challenge } = await startLinked(usual.replace('approvals: 1', 'approvals: 2'))
  for (let times = 0; times < 3; times += 1) expect((await openPage(world, url)).challenge).toBe(challenge)
  expect(await sendAnswer(world, url, ben.get(challenge))).toMatchObject({ status: 200, words: expect.stringContaining('1 of 2') })
  expect(await sendAnswer(world, url, ben.get(challenge))).toMatchObject({ status: 404, title: 'This link has expired' })
  expect((await openPage(world, url)).status).toBe(404)
  expect((await onlyMove(world)).approvals).toHaveLength(1)
})

test('a link is for five minutes, and its signed time counts, however long Redis keeps it', async () => {
  const { world, ben, url, challenge } = await startLinked()
  const { redis, keys } = world.records
  const id = new URL(url).pathname.split('/')[2]?.split('.')[0] ?? ''
  const sealed = (await redis.get(keys.ofPasskey('passkey-link', id))) ?? ''
  expect(factsOf(sealed)).toMatchObject({ id, to: 'approve', origin: { userId: people.ben } })
  expect(await redis.pttl(keys.ofPasskey('passkey-link', id))).toBeLessThanOrEqual(300_000)
  const until = factsOf(sealed).until - 300_001
  await redis.set(
    keys.ofPasskey('passkey-link', id),
    `${sealed.split(' ')[0]} ${JSON.stringify({ ...factsOf(sealed), until: until + 9_000_000 })}`,
  )
  expect((await sendAnswer(world, url, ben.get(challenge))).status).toBe(404)
  await redis.set(keys.ofPasskey('passkey-link', id), sealOf(world, 'passkey-link', { ...factsOf(sealed), until }))
  expect((await sendAnswer(world, url, ben.get(challenge))).status).toBe(404)
  await expectWaiting(world)
})

/** As the bot would seal it. */
function sealOf({ recordKeyring }: PolicyWorld, record: string, facts: object): string {
  const text = JSON.stringify(facts)
  return `${recordKeyring.sign({ record, text })} ${text}`
}

test('a guessed link, the page in a frame, another page, another method and a body without end get nothing', async () => {
  const { world, ben, url, challenge } = await startLinked()
  const good = ben.get(challenge)
  expect((await openPage(world, `${origin}/passkeys/${'A'.repeat(22)}.01234567.${'A'.repeat(43)}`)).status).toBe(404)
  expect((await openPage(world, url.replace(/\/passkeys\/..../, '/passkeys/AAAA'))).status).toBe(404)
  for (const headers of [{ origin: 'https://evil.example' }, { origin: 'null' }, { 'content-type': 'text/plain' }] as Record<
    string,
    string
  >[])
    expect((await sendAnswer(world, url, good, { headers })).status).toBe(403)
  expect((await fetch(atPort(world, url), { method: 'DELETE' })).status).toBe(405)
  expect((await sendAnswer(world, url, 'A'.repeat(100_000))).status).toBe(413)
  const { headers } = await openPage(world, url)
  expect(Object.fromEntries(headers)).toMatchObject({
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-frame-options': 'DENY',
    'content-security-policy': expect.stringContaining("frame-ancestors 'none'"),
  })
  await expectWaiting(world)
})

test('a request that was decided meanwhile, or whose record was changed, is not approved', async () => {
  const { world, ben, chiara, card, url, challenge } = await startLinked()
  const request = await onlyMove(world)
  await world.records.redis.hset(world.records.keys.record(request.id), encodeFields({ reason: 'another' }))
  expect((await sendAnswer(world, url, ben.get(challenge))).words).toMatch(/record of this request was changed/)
  await world.records.redis.hdel(world.records.keys.record(request.id), 'reason')

  const [, id = ''] = /passkeys\/([\w-]{22})/.exec(url) ?? []
  const given = { ...benOnly, at: request.createdAt + 1, confirmed: { with: 'passkey', proof: { link: id } } }
  const [approval] = approvedBy(world.signatures, { ...request, approvals: [] }, [given]).approvals
  const forged = encodeFields({ approvals: [{ ...approval, at: request.createdAt + 2 }] } as never)
  await world.records.redis.hset(world.records.keys.record(request.id), forged)
  expect((await openPage(world, url)).html).not.toMatch(/<h1>Approved/)
  await world.records.redis.hset(world.records.keys.record(request.id), encodeFields({ approvals: [] }))
  await approveWithPasskey(world, world.chiara, people.chiara, card, chiara)
  await untilReport(world.slack, card.ts, /Done/)

  const noted = async () => (await world.records.audit()).filter(({ act, by }) => act === 'refused' && by === people.ben).length
  const before = await noted()
  expect((await openPage(world, url)).status).toBe(409)
  expect(await noted()).toBe(before)
  expect(await sendAnswer(world, url, ben.get(challenge))).toMatchObject({
    status: 409,
    words: expect.stringContaining('this request was approved, rejected or withdrawn in the meantime'),
  })
  expect(writesOf(world)).toHaveLength(1)
})

test('a counter that goes back, as that of a copied device would, approves nothing', async () => {
  const { world, ben, card } = await startLinked(usual.replace('approvals: 1', 'approvals: 2'))
  const url = await pressForLink(world, world.ben, people.ben, card, 'Approve')
  const { challenge } = await openPage(world, url)
  expect((await sendAnswer(world, url, ben.get(challenge, { counter: 7 }))).status).toBe(200)

  await requestMove(world, { skip: 1 })
  const next = await untilCard(world.slack, /needs approval from/)
  const second = await pressForLink(world, world.ben, people.ben, next, 'Approve')
  const again = await openPage(world, second)
  for (const counter of [0, 6, 7]) expect((await sendAnswer(world, second, ben.get(again.challenge, { counter }))).status).toBe(409)
  expect((await sendAnswer(world, second, ben.get(again.challenge, { counter: 8 }))).status).toBe(200)
})

describe('a stolen Slack session', () => {
  test('gets no passkey without somebody on the server: not by adding one, nor by removing the person’s and adding another', async () => {
    const { world, ben, card, url, challenge } = await startLinked()
    const { authenticator: thief } = await makePasskey(world, world.ben, people.ben)
    expect((await sendAnswer(world, url, thief.get(challenge))).status).toBe(409)
    const list = await listPasskeys(world, world.ben, people.ben)
    await world.ben.click(list, 'Remove')
    await untilShown(world.slack, people.ben, /Removed/)
    const { authenticator: another } = await makePasskey(world, world.ben, people.ben)
    for (const one of [thief, another, ben]) expect((await sendAnswer(world, url, one.get(challenge))).status).toBe(409)
    await world.ben.click(card, 'Approve')
    await untilShown(
      world.slack,
      people.ben,
      /Not approved: this rule asks for your passkey\. Your new passkey counts once another approver confirms it/,
    )
    await expectWaiting(world)
  })
})

/** Approves what a freeze holds, so that something can happen before it starts. */
async function startHeld(policy = usual) {
  const world = await startPasskeyWorld(policy)
  const ben = await givePasskey(world, world.ben, people.ben)
  await freeze(world)
  const { card } = await requestMove(world)
  await world.ben.click(card, 'Approve')
  await world.slack.until(() => world.ben.topView(), { what: 'the form' })
  const url = await submitForLink(world, world.ben, people.ben)
  const { challenge } = await openPage(world, url)
  const assertion = ben.get(challenge)
  expect(await sendAnswer(world, url, assertion)).toMatchObject({ status: 200 })
  await untilCard(world.slack, /Approved\.\* Held by a freeze/)
  return { world, ben, card, assertion, request: await onlyMove(world) }
}

describe('between approval and start', () => {
  test('nothing happens: it starts', async () => {
    const { world, card } = await startHeld()
    await unfreeze(world)
    await untilReport(world.slack, card.ts, /Done/)
    expect(writesOf(world)).toHaveLength(1)
  })

  test('the passkey is removed: nothing is done, and its message says why', async () => {
    const { world, card } = await startHeld()
    const list = await listPasskeys(world, world.ben, people.ben)
    await world.ben.click(list, 'Remove')
    await untilShown(world.slack, people.ben, /Removed/)
    await unfreeze(world)

    await untilReport(world.slack, card.ts, /A passkey that approved it was removed or can't be verified\. Nothing was changed\./)
    expect(writesOf(world)).toEqual([])
  })

  const changes: [what: string, change: (world: PolicyWorld) => Promise<unknown>][] = [
    [
      'the public key is exchanged in Redis',
      ({ records: { redis, keys } }) =>
        replaceText(redis, keys.passkeys, (text) =>
          text.replace(/"publicKey":"[^"]*"/, `"publicKey":"${createAuthenticator(party).publicKey}"`),
        ),
    ],
    ['the record of passkeys is deleted', ({ records: { redis, keys } }) => redis.del(keys.passkeys)],
  ]
  test.each(changes)('%s while no process runs: nothing is done, and the operators are notified', async (_, change) => {
    const { world, card } = await startHeld()
    await restartWith(world, { meanwhile: () => change(world) })
    await unfreeze(world)
    await untilReport(world.slack, card.ts, /can't be verified\. Nothing was changed\./)
    await untilCard(world.slack, /Nobody can approve with a passkey/)
    expect(writesOf(world)).toEqual([])
  })

  test('an approval has the proof of another one, or none, although Lockkeeper signed it: nothing is done', async () => {
    const { world, card, request } = await startHeld()
    const { proof } = request.approvals[0]?.confirmed ?? { proof: {} }
    const { card: other } = await requestMove(world, { skip: 1 })
    const [second] = (await world.records.all()).filter(({ id, kind }) => kind === 'ip.move' && id !== request.id)
    if (!second) throw new Error('there is no second request')
    for (const [one, confirmed] of [
      [second, { with: 'passkey', proof }],
      [request, undefined],
    ] as const) {
      const approved = approvedBy(world.signatures, { ...one, approvals: [] }, [{ ...benOnly, at: one.createdAt + 1, confirmed }])
      const { approvals, decision } = approved
      await world.records.redis.hset(
        world.records.keys.record(one.id),
        encodeFields({ state: 'approved', approvals, decision, decidedAt: one.createdAt + 1 }),
      )
      await world.records.redis.zadd(world.records.keys.due, Date.now(), one.id)
    }
    await unfreeze(world)

    await untilReport(world.slack, other.ts, /A passkey that approved it was removed or can't be verified/)
    await untilReport(world.slack, card.ts, /The policy now requires a passkey for its approvals/)
    expect(writesOf(world)).toEqual([])
  })

  test('an approval is forged in Redis, with a proof from before: nothing is done', async () => {
    const { world, card, request } = await startHeld()
    const [approval] = request.approvals
    const forged = { ...approval, by: people.chiara }
    await world.records.redis.hset(world.records.keys.record(request.id), encodeFields({ approvals: [approval, forged] } as never))
    await unfreeze(world)
    await untilReport(world.slack, card.ts, /approvals in Redis aren't genuine/)
    expect(writesOf(world)).toEqual([])
  })
})

async function replaceText(redis: Redis, key: string, change: (text: string) => string): Promise<void> {
  await redis.set(key, change((await redis.get(key)) ?? ''))
}

describe('the rule changes between approval and start', () => {
  test('it begins to ask for a passkey: what was approved without one is not done', async () => {
    const world = await startPasskeyWorld(usual.replace(', confirm: passkey', ''))
    await freeze(world)
    const { card } = await requestMove(world)
    await world.ben.click(card, 'Approve')
    await world.slack.until(() => world.ben.topView(), { what: 'the form' })
    await world.ben.submit()
    await untilCard(world.slack, /Approved\.\* Held by a freeze/)
    await restartWith(world, { policy: usual })
    await unfreeze(world)
    await untilReport(world.slack, card.ts, /The policy now requires a passkey for its approvals\. Nothing was changed\./)
    expect(writesOf(world)).toEqual([])
  })

  test('it no longer asks for one: what was approved with one is done', async () => {
    const { world, card } = await startHeld()
    await restartWith(world, { policy: usual.replace(', confirm: passkey', '') })
    await unfreeze(world)
    await untilReport(world.slack, card.ts, /Done/)
    expect(writesOf(world)).toHaveLength(1)
  })
})

describe('the record of passkeys', () => {
  test('of before a removal is not believed, by the process that knows it nor by the next one, and a trusted passkey begins anew', async () => {
    const { world, ben, card } = await startLinked()
    const { redis, keys } = world.records
    const before = (await redis.get(keys.passkeys)) ?? ''
    const list = await listPasskeys(world, world.ben, people.ben)
    await world.ben.click(list, 'Remove')
    await untilShown(world.slack, people.ben, /Removed/)
    await redis.set(keys.passkeys, before)
    await world.ben.click(card, 'Approve')
    await untilShown(world.slack, people.ben, /the record of passkeys can't be verified/)
    await restartWith(world)
    await world.ben.click(card, 'Approve')
    await world.slack.until(() => world.slack.ephemerals(people.ben).filter(({ text }) => /can't be verified/.test(text)).length > 1)
    await untilCard(world.slack, /the record of passkeys in Redis is older than the last one/)
    await expectWaiting(world)
    await world.ada.command('/infra doctor', { channel: ops })
    await untilShown(
      world.slack,
      people.ada,
      /in Redis is older than the last one[\s\S]*`npm run passkeys -- trust <code>`|trust &lt;code&gt;/,
    )

    const { code, authenticator } = await makePasskey(world, world.chiara, people.chiara)
    expect(await runTrust(world, ['trust', code])).toMatchObject({
      exitCode: 0,
      output: expect.stringContaining('Lockkeeper starts a new one'),
    })
    expect((await approveWithPasskey(world, world.chiara, people.chiara, card, authenticator)).answer.title).toBe('Approved')
    expect(ben.id).not.toBe(authenticator.id)
  })

  test('of before a removal is not believed by a replica that has not read it since', async () => {
    const world = await startPasskeyWorld(usual, { replicas: 2 })
    const [first, second] = world.bots
    const ben = await givePasskey(world, world.ben, people.ben)
    const { card } = await requestMove(world)
    const url = await pressForLink(world, world.ben, people.ben, card, 'Approve')
    const { challenge } = await openPage(world, url)
    const { redis, keys } = world.records
    const before = (await redis.get(keys.passkeys)) ?? ''
    world.slack.connectBot(second?.slackUrl ?? '')
    const list = await listPasskeys(world, world.ben, people.ben)
    await world.ben.click(list, 'Remove')
    await untilShown(world.slack, people.ben, /Removed/)
    world.slack.connectBot(first?.slackUrl ?? '')
    await redis.set(keys.passkeys, before)

    expect((await sendAnswer(world, url, ben.get(challenge))).status).toBe(409)
    await expectWaiting(world)
  })

  test('that waits to be trusted is not exchanged under its code, and is old after 15 minutes', async () => {
    const world = await startPasskeyWorld()
    const { redis, keys } = world.records
    const [ofBen, ofChiara] = [await makePasskey(world, world.ben, people.ben), await makePasskey(world, world.chiara, people.chiara)]
    const [good, bad] = [
      (await redis.get(keys.ofPasskey('passkey-pending', ofBen.code))) ?? '',
      (await redis.get(keys.ofPasskey('passkey-pending', ofChiara.code))) ?? '',
    ]
    await redis.set(keys.ofPasskey('passkey-pending', ofBen.code), bad)
    expect(await runTrust(world, ['trust', ofBen.code])).toMatchObject({
      exitCode: 1,
      output: expect.stringContaining('this code is wrong'),
    })
    const exchanged = good.replace(/"publicKey":"[^"]*"/, `"publicKey":"${createAuthenticator(party).publicKey}"`)
    await redis.set(keys.ofPasskey('passkey-pending', ofBen.code), exchanged)
    expect(await runTrust(world, ['trust', ofBen.code])).toMatchObject({ exitCode: 1 })
    await redis.set(
      keys.ofPasskey('passkey-pending', ofBen.code),
      sealOf(world, 'passkey-pending', { ...factsOf(good), until: Date.now() - 1_000 }),
    )
    expect(await runTrust(world, ['trust', ofBen.code])).toMatchObject({ exitCode: 1 })
    expect(await redis.exists(keys.passkeys)).toBe(0)
  })

  test('is signed with a new STATE_KEY once that is the first, so that the old one can go, and its passkeys still count', async () => {
    const world = await startPasskeyWorld()
    const ben = await givePasskey(world, world.ben, people.ben)
    const { redis, keys } = world.records
    const before = await redis.get(keys.passkeys)
    const newKey = 'a-new-key-of-these-tests-has-32-characters'
    await restartWith(world, { env: { STATE_KEY: `${newKey},${stateKey}` } })
    await listPasskeys(world, world.ben, people.ben)
    const after = await redis.get(keys.passkeys)
    expect([after?.split(' ').slice(1), after === before]).toEqual([before?.split(' ').slice(1), false])

    await restartWith(world, { env: { STATE_KEY: newKey } })
    const { card } = await requestMove(world)
    expect((await approveWithPasskey(world, world.ben, people.ben, card, ben)).answer.title).toBe('Approved')
    await untilReport(world.slack, card.ts, /Done/)
  })

  test('signed with a key that this process lacks holds what was approved, until the key is back', async () => {
    const { world, card } = await startHeld()
    const { redis, keys } = world.records
    const text = (await redis.get(keys.passkeys)) ?? ''
    await redis.set(keys.passkeys, `00000000${text.slice(8)}`)
    await unfreeze(world)
    await expect
      .poll(() => world.slack.messages(ops).some(({ text: words }) => /signed with a key/.test(words)), { timeout: 10_000 })
      .toBe(true)
    expect(await onlyMove(world)).toMatchObject({ state: 'approved' })
    expect(writesOf(world)).toEqual([])
    expect(card.ts).toBeDefined()
  })
})

test('a person who left the approvers confirms nothing, although their passkey is trusted', async () => {
  const { world, ben, url, challenge } = await startLinked()
  const group = world.slack.workspace.userGroups.find(({ id }) => id === 'S0ONCALL01')
  if (!group) throw new Error('there is no such group')
  group.members = group.members.filter((id) => id !== people.ben)
  expect(await sendAnswer(world, url, ben.get(challenge))).toMatchObject({
    status: 409,
    words: expect.stringMatching(/You aren't an approver of this/),
  })
  await expectWaiting(world)
})

test('a backup that is restored while no process runs has the passkeys of its time', async () => {
  const world = await startPasskeyWorld()
  const ben = await givePasskey(world, world.ben, people.ben)
  const { redis } = world.records
  const names = async () => (await redis.keys(`*${world.prefix}*`)).filter((name) => !name.includes(':bull:'))
  const backup = await Promise.all((await names()).map(async (name) => [name, await redis.dumpBuffer(name)] as const))
  await givePasskey(world, world.chiara, people.chiara)
  await restartWith(world, {
    meanwhile: async () => {
      await redis.del(...(await names()))
      for (const [name, data] of backup) if (data) await redis.restore(name, 0, data)
    },
  })
  const { card } = await requestMove(world)
  await world.chiara.click(card, 'Approve')
  await untilShown(world.slack, people.chiara, /You have none here/)
  expect((await approveWithPasskey(world, world.ben, people.ben, card, ben)).answer.title).toBe('Approved')
})

test('Slack that is away at the answer approves nothing, and the same link works once it is back', async () => {
  const { world, ben, card, url, challenge } = await startLinked()
  const away = world.slack.faults.add({ method: 'usergroups.users.list', kind: 'status', times: 1_000 })
  const refused = await sendAnswer(world, url, ben.get(challenge))
  away.remove()
  expect(refused).toMatchObject({ status: 409, words: expect.stringMatching(/Slack didn't return the members of the user group/) })
  await expectWaiting(world)
  expect(await sendAnswer(world, url, ben.get(challenge))).toMatchObject({ status: 200 })
  await untilReport(world.slack, card.ts, /Done/)
  expect(writesOf(world)).toHaveLength(1)
})

test('Redis that is away at the answer approves nothing, which the page says, and the same link works once it is back', async () => {
  const address = new URL(inject('redisUrl'))
  const proxy = await startTcpProxy({ port: Number(address.port) })
  address.port = String(proxy.port)
  const world = await startPasskeyWorld(usual, { env: { REDIS_URL: address.href } })
  onTestFinished(proxy.close)
  const ben = await givePasskey(world, world.ben, people.ben)
  const { card } = await requestMove(world)
  const url = await pressForLink(world, world.ben, people.ben, card, 'Approve')
  const { challenge } = await openPage(world, url)

  proxy.refuse()
  const refused = await sendAnswer(world, url, ben.get(challenge))
  proxy.heal()

  expect(refused).toMatchObject({ status: 503, words: expect.stringMatching(/Redis|storage/) })
  await expectWaiting(world)
  await expect.poll(async () => (await openPage(world, url)).status, { timeout: 10_000 }).toBe(200)
  expect(await sendAnswer(world, url, ben.get(challenge))).toMatchObject({ status: 200, title: 'Approved' })
  await untilReport(world.slack, card.ts, /Done/)
  expect(writesOf(world)).toHaveLength(1)
})
