import { describe, expect, test } from 'vitest'
import { keyOf } from '../../src/features/passkeys/links.ts'
import { createAuthenticator } from '../given/authenticator.ts'
import type { Message } from '../sandbox/slack/slack.ts'
import {
  approveWithPasskey,
  atPort,
  givePasskey,
  linkIn,
  listPasskeys,
  makePasskey,
  onlyMove,
  openPage,
  party,
  pressForLink,
  restartWith,
  runTrust,
  sendAnswer,
  startPasskeyWorld,
  submitForLink,
  usual,
} from './passkeys-world.ts'
import { cardNow, type PolicyWorld, restart, writesOf } from './policy-world.ts'
import { ops, people, requestMove, untilCard, untilReport, untilShown } from './world.ts'

describe('a rule with confirm: passkey', () => {
  test('is approved with a passkey that was made on the page and trusted on the server, and the audit has the proof', async () => {
    const world = await startPasskeyWorld()
    const { elasticIp, target } = world.accountApi.world.movable()
    await world.ada.command(`/infra ip move ${elasticIp.address} ${target.hostname}`, { channel: ops })
    await untilShown(
      world.slack,
      people.ada,
      /needs 1 approver with a passkey besides you\. Ask <!subteam\^S0ONCALL01> to add one: `\/infra passkeys`\./,
    )

    const { authenticator, code, answer } = await makePasskey(world, world.ben, people.ben)
    expect(code).toMatch(/^[A-HJ-NP-Z2-9]{4}-[A-HJ-NP-Z2-9]{4}$/)
    expect(answer.words).toContain(`npm run passkeys -- trust ${code}`)
    await world.ben.command('/infra audit passkey', { channel: ops })
    await untilShown(world.slack, people.ben, /Made a passkey that waits for an operator to trust it: Laptop \([-A-Z2-9]{14}\)/)
    const { exitCode, output } = await runTrust(world, ['trust', code.toLowerCase()])
    expect([exitCode, output]).toEqual([
      0,
      expect.stringMatching(/^Slack user U0BEN00001, key \S{4}-\S{4}-\S{4}, .*, called: Laptop\n.*outside Slack.*\nTrusted/),
    ])
    await untilCard(world.slack, /<@U0BEN00001> has a new passkey, `Laptop \([-A-Z2-9]{14}\)`/)

    const { card } = await requestMove(world)
    const url = await pressForLink(world, world.ben, people.ben, card, 'Approve')
    const page = await openPage(world, url)
    expect(page.html).toMatch(/<h1>Approve: Move 203\.0\.113\.\d+/)
    expect(page.html).toContain('@ada needs approval from @oncall')
    expect(page.headers.get('content-security-policy')).toMatch(/script-src 'nonce-[^']+'.*frame-ancestors 'none'/)
    expect(await onlyMove(world)).toMatchObject({ state: 'waiting', approvals: [] })
    const done = await sendAnswer(world, url, authenticator.get(page.challenge))
    expect(done).toMatchObject({ status: 200, title: 'Approved', isDone: true })
    await untilReport(world.slack, card.ts, /Done/)

    expect(writesOf(world)).toHaveLength(1)
    const audit = await world.records.audit()
    expect(audit.find(({ act }) => act === 'passkey-trust')).toMatchObject({ by: people.ben, text: expect.stringMatching(/^Laptop \(/) })
    expect(audit.filter(({ act, by }) => act === 'refused' && by === people.ben)).toEqual([])
    expect(audit.find(({ act }) => act === 'approve')).toMatchObject({
      by: people.ben,
      confirmed: { with: 'passkey', proof: { credential: authenticator.id, signature: expect.any(String) } },
    })
    const [, secret = ''] = new URL(url).pathname.split('/passkeys/')
    expect(world.log.join('\n')).not.toContain(secret)
  })

  test('refuses a click of a person who has none, and says how to add one', async () => {
    const world = await startPasskeyWorld()
    await givePasskey(world, world.chiara, people.chiara)
    const { card } = await requestMove(world)

    await world.ben.click(card, 'Approve')

    const shown = await untilShown(world.slack, people.ben, /You have none here/)
    expect(shown.text).toContain('`/infra passkeys` adds one')
    await world.ben.command('/infra pending', { channel: ops })
    await untilShown(world.slack, people.ben, /1 request needs approval\. You can approve none, and 1 once you have a passkey\./)
    expect(await onlyMove(world)).toMatchObject({ state: 'waiting', approvals: [] })
  })

  test('refuses that person before a form opens: what a freeze holds, and their own request in an emergency', async () => {
    const world = await startPasskeyWorld(usual.replace('confirm', 'self_approval: break-glass, emergency: approvers, confirm'))
    await givePasskey(world, world.chiara, people.chiara)
    const { card } = await requestMove(world, { by: world.ben })
    const refusals = () => world.slack.ephemerals(people.ben).filter(({ text }) => text.includes('You have none here'))
    await world.ben.click(card, 'Approve')
    await expect.poll(() => refusals().length).toBe(1)
    await world.chiara.command('/infra freeze because the network is being rebuilt', { channel: ops })
    await untilCard(world.slack, /\*Frozen\*/)
    const other = await requestMove(world, { skip: 1 })
    await world.ben.click(other.card, 'Approve')
    await expect.poll(() => refusals().length).toBe(2)
    expect(() => world.ben.topView()).toThrow('no modal open')
  })

  test.each([
    ['every', ', confirm: passkey', 'Every rule that lets you approve asks for a passkey, and you have none. `/infra passkeys` adds one.'],
    ['some', '', 'The rules “addresses” and “passkeys” ask for a passkey, and you have none. `/infra passkeys` adds one.'],
  ])('is named by whoami and Home if a person lacks what it asks for: %s', async (_, confirm, words) => {
    const world = await startPasskeyWorld(`rules:
  - {name: addresses, changes: [ip.move, ip.evacuate], approve: {any_of: [S0ONCALL01]}, confirm: passkey}
  - {name: rest, approve: {any_of: [S0ONCALL01]} ${confirm}}`)
    await world.ben.command('/infra whoami', { channel: ops })
    expect((await untilShown(world.slack, people.ben, /You are/)).text).toMatch(
      new RegExp(`^\\*You are [^\\n]*, and approve [^\\n]*\\. :warning: ${words}\\*\\n`),
    )
    await world.ben.openHome()
    await world.slack.until(() => JSON.stringify(world.ben.home() ?? '').includes(words) || undefined, { what: words })
    expect(JSON.stringify(world.ben.home())).toContain('"Your passkey"')
  })

  test('names the passkey that it asks for, and its answer is replaced by one that names the request once the link was used', async () => {
    const world = await startPasskeyWorld()
    const ben = await givePasskey(world, world.ben, people.ben)
    const { card } = await requestMove(world)
    const url = await pressForLink(world, world.ben, people.ben, card, 'Approve')
    const asked = await untilShown(world.slack, people.ben, /^.*\n?\*Not approved yet\.\* Confirm it with your passkey “Laptop” within/)
    await world.ben.click(asked, 'Confirm')
    const { challenge } = await openPage(world, url)
    await sendAnswer(world, url, ben.get(challenge))
    await untilReport(world.slack, card.ts, /Done/)

    const confirmed = await untilShown(world.slack, people.ben, /Confirmed with your passkey\.$/)
    expect(confirmed.text).toMatch(/^\*Move `203\.0\.113\.\d+`[^\n]*\* {2}· {2}<https:[^|]*\|request [0-9a-f]{8}>\n/)
    expect(confirmed.ts).toBe(asked.ts)
  })

  test('is asked for on Home in a dialog, which is replaced once the link was used, too', async () => {
    const world = await startPasskeyWorld()
    const ben = await givePasskey(world, world.ben, people.ben)
    const { card } = await requestMove(world)
    await world.ben.openHome()
    await world.slack.until(() => JSON.stringify(world.ben.home() ?? '').includes('"Approve"'), { what: 'the button' })
    await world.ben.click(world.ben.home(), 'Approve')
    const shows = (words: RegExp) =>
      world.slack.until(() => (words.test(JSON.stringify(world.ben.topView()?.view)) ? world.ben.topView() : undefined), {
        what: `a dialog like ${words}`,
      })
    const dialog = await shows(/Not approved yet.*“Laptop”/)
    const url = linkIn(dialog?.view as unknown as Message)
    await world.ben.click(dialog, 'Confirm')
    const { challenge } = await openPage(world, url)
    await sendAnswer(world, url, ben.get(challenge))
    await untilReport(world.slack, card.ts, /Done/)

    expect((await shows(/Confirmed with your passkey/))?.id).toBe(dialog?.id)
  })

  test('names in the request message the approvers who have none, without a mention', async () => {
    const world = await startPasskeyWorld()
    const ben = await givePasskey(world, world.ben, people.ben)
    const { card } = await requestMove(world)
    const words = JSON.stringify(card.blocks)
    expect(words).toMatch(/@chiara(?:\|[^>]*>)?>? had no passkey when this was requested\./)
    expect(words).not.toMatch(/<@U0CHI00001>/)
    expect(words).not.toMatch(/ben>? had no passkey/)
    await restartWith(world, { policy: usual.replace(', confirm: passkey', '') })
    await world.slack.until(() => !JSON.stringify(cardNow(world, card)?.blocks).includes('had no passkey') || undefined)
    await restartWith(world, { policy: usual })
    await approveWithPasskey(world, world.ben, people.ben, card, ben)
    await untilReport(world.slack, card.ts, /Done/)
  })

  test('counts the approvals of two people with a passkey each, of whom one used two tabs and two replicas', async () => {
    const world = await startPasskeyWorld(usual.replace('approvals: 1', 'approvals: 2'), { replicas: 2 })
    const ben = await givePasskey(world, world.ben, people.ben)
    const chiara = await givePasskey(world, world.chiara, people.chiara)
    const { card } = await requestMove(world)

    const url = await pressForLink(world, world.ben, people.ben, card, 'Approve')
    const other = await pressForLink(world, world.ben, people.ben, card, 'Approve')
    const tabs = await Promise.all([openPage(world, url), openPage(world, other)])
    const answers = await Promise.all([
      sendAnswer(world, url, ben.get(tabs[0].challenge), { bot: 0 }),
      sendAnswer(world, other, ben.get(tabs[1].challenge), { bot: 1 }),
    ])
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409])
    expect(answers.map(({ words }) => words).join()).toMatch(/Approved \(1 of 2\)/)
    expect(answers.map(({ words }) => words).join()).toMatch(/You already approved this/)
    expect(writesOf(world)).toEqual([])

    const last = await approveWithPasskey(world, world.chiara, people.chiara, card, chiara)
    expect(last.answer.title).toBe('Approved')
    await untilReport(world.slack, card.ts, /Done/)
    expect(writesOf(world)).toHaveLength(1)
  })

  test('that asks for one from now on is shown by what waits, and by whose approval no longer counts', async () => {
    const asking = usual.replace('approvals: 1', 'approvals: 2')
    const world = await startPasskeyWorld(asking)
    const ben = await givePasskey(world, world.ben, people.ben)
    const chiara = await givePasskey(world, world.chiara, people.chiara)
    await restartWith(world, { policy: asking.replace(', confirm: passkey', '') })
    const { card } = await requestMove(world)
    await world.ben.click(card, 'Approve')
    await untilCard(world.slack, /\*1 of 2 approvals\*: <@U0BEN00001>/)

    await restartWith(world, { policy: asking })

    await untilCard(world.slack, /, with a passkey\.[\s\S]*\*0 of 2 approvals\* \(1 more doesn't count\): <@U0BEN00001>/)
    await world.ben.openHome()
    await world.slack.until(() => /Needs your approval again, with a passkey\./.test(JSON.stringify(world.slack.home(people.ben)?.blocks)))
    await world.ben.command('/infra pending', { channel: ops })
    await untilShown(
      world.slack,
      people.ben,
      /1 request needs approval\. You can approve 1\.[\s\S]*Needs your approval again, with a passkey\./,
    )
    await approveWithPasskey(world, world.ben, people.ben, card, ben)
    await untilCard(world.slack, /\*1 of 2 approvals\*: <@U0BEN00001>/)
    await world.ben.command('/infra pending', { channel: ops })
    await untilShown(world.slack, people.ben, /You can approve none, and approved 1 already\./)
    await approveWithPasskey(world, world.chiara, people.chiara, card, chiara)
    await untilReport(world.slack, card.ts, /Done/)
  })

  test('asks for one in an emergency of the requester, with the reason on the page', async () => {
    const world = await startPasskeyWorld(usual.replace('confirm', 'self_approval: break-glass, confirm'))
    const ben = await givePasskey(world, world.ben, people.ben)
    const { card } = await requestMove(world, { by: world.ben })
    await world.ben.click(card, 'Approve')
    const form = await world.slack.until(() => world.ben.topView())
    await world.ben.fill(form, { Reason: 'The site is down' })
    const url = await submitForLink(world, world.ben, people.ben)
    expect(await onlyMove(world)).toMatchObject({ state: 'waiting' })
    const { challenge, html } = await openPage(world, url)
    expect(html).toContain('Your reason, which is posted in the channel: The site is down')
    expect(await sendAnswer(world, url, ben.get(challenge))).toMatchObject({ status: 200, title: 'Approved' })
    await untilReport(world.slack, card.ts, /Done/)
    expect((await world.records.audit()).find(({ act }) => act === 'break-glass')).toMatchObject({ confirmed: { with: 'passkey' } })
  })

  test('asks for one at Start now', async () => {
    const world = await startPasskeyWorld()
    const ben = await givePasskey(world, world.ben, people.ben)
    const { elasticIp, target } = world.accountApi.world.movable()
    await world.ada.command(`/infra ip move ${elasticIp.address} ${target.hostname} in 3h`, { channel: ops })
    const card = await untilCard(world.slack, /needs approval from/)
    await approveWithPasskey(world, world.ben, people.ben, card, ben)
    const scheduled = await untilCard(world.slack, /Approved\.\* Starts/)

    const url = await pressForLink(world, world.ben, people.ben, scheduled, 'Start now')
    expect((await onlyMove(world)).startNow).toBeUndefined()
    const { challenge } = await openPage(world, url)
    expect(await sendAnswer(world, url, ben.get(challenge))).toMatchObject({
      status: 200,
      title: 'Start confirmed',
      words: expect.not.stringContaining('tarted'),
    })
    await untilReport(world.slack, card.ts, /Done/)
  })
})

describe('a passkey that is removed', () => {
  /** Ada's move in 3 hours, which Ben has approved. */
  async function startScheduled() {
    const world = await startPasskeyWorld()
    const ben = await givePasskey(world, world.ben, people.ben)
    const { elasticIp, target } = world.accountApi.world.movable()
    await world.ada.command(`/infra ip move ${elasticIp.address} ${target.hostname} in 3h`, { channel: ops })
    const card = await untilCard(world.slack, /needs approval from/)
    await approveWithPasskey(world, world.ben, people.ben, card, ben)
    await untilCard(world.slack, /Approved\.\* Starts/)
    return { world, ben, card }
  }
  const lost = /<@U0ADA00001>[\s\S]*A passkey that approved it was removed or can't be verified\. Nothing was changed\./

  test('ends at once what it has approved and was not sent, which mentions the requester and offers it again', async () => {
    const { world, card } = await startScheduled()
    await world.ben.click(await listPasskeys(world, world.ben, people.ben), 'Remove')

    const report = await untilReport(world.slack, card.ts, lost)
    expect(JSON.stringify([report.blocks, cardNow(world, card)?.blocks])).toContain('Request again')
    expect(cardNow(world, card)?.text).not.toMatch(/Starts/)
    expect(await onlyMove(world)).toMatchObject({ state: 'not-started' })
    await world.ada.command('/infra pending', { channel: ops })
    await untilShown(world.slack, people.ada, /No requests need approval, and none are scheduled/)
  })

  test('by a request that another approver confirms ends it, too', async () => {
    const { world, card } = await startScheduled()
    const chiara = await givePasskey(world, world.chiara, people.chiara)
    await world.ada.command(`/infra passkeys <@${people.ben}>`, { channel: ops })
    await world.ada.click(await untilShown(world.slack, people.ada, /Passkeys of/), 'Request removal')
    const removal = await untilCard(world.slack, /Remove passkey[\s\S]*needs approval from/)
    await approveWithPasskey(world, world.chiara, people.chiara, removal, chiara)
    await untilReport(world.slack, card.ts, lost)
  })

  test('no longer counts in what waits, whose message says so', async () => {
    const world = await startPasskeyWorld(usual.replace('approvals: 1', 'approvals: 2'))
    const ben = await givePasskey(world, world.ben, people.ben)
    await givePasskey(world, world.chiara, people.chiara)
    const { card } = await requestMove(world)
    await approveWithPasskey(world, world.ben, people.ben, card, ben)
    await untilCard(world.slack, /\*1 of 2 approvals\*: <@U0BEN00001>/)
    await world.ben.click(await listPasskeys(world, world.ben, people.ben), 'Remove')
    await untilCard(world.slack, /\*0 of 2 approvals\* \(1 more doesn't count\): <@U0BEN00001>/)
  })

  test.each([
    [
      'trusted on the server again, because the record was gone',
      async (world: PolicyWorld, code: string) => {
        await world.records.redis.del(world.records.keys.passkeys)
        expect(await runTrust(world, ['trust', code, '--yes'])).toMatchObject({ exitCode: 0 })
      },
      {},
    ],
    ['of another host, as PUBLIC_URL changed', async () => {}, { PUBLIC_URL: 'https://new.example.com' }],
  ])('or %s while no process runs, ends what the requester still had to create, once one runs', async (_, change, env) => {
    const world = await startPasskeyWorld()
    const ben = await givePasskey(world, world.ben, people.ben)
    await world.ada.command('/infra keys create ci-deploy', { channel: ops })
    const card = await untilCard(world.slack, /API key.*needs approval from/s)
    await approveWithPasskey(world, world.ben, people.ben, card, ben)
    await untilCard(world.slack, /\*Approved\.\*/)
    const { redis, keys } = world.records
    const record = (await redis.get(keys.passkeys)) ?? ''
    await redis.del(keys.passkeys)
    const { code } = await makePasskey(world, world.chiara, people.chiara)
    await redis.set(keys.passkeys, record)

    await restartWith(world, { env, meanwhile: () => change(world, code) })

    await untilReport(world.slack, card.ts, lost)
  })
})

describe('a new passkey that does not count yet', () => {
  test('is said to wait for an operator, by the list, Approve and the message with its link, which never show its code', async () => {
    const world = await startPasskeyWorld()
    await givePasskey(world, world.chiara, people.chiara)
    const { card } = await requestMove(world)
    await world.chiara.click(await listPasskeys(world, world.chiara, people.chiara), 'Remove')
    await untilShown(world.slack, people.chiara, /^Removed Laptop/)
    const list = await listPasskeys(world, world.ben, people.ben)
    const url = await pressForLink(world, world.ben, people.ben, list, 'Add a passkey')
    const asked = await untilShown(world.slack, people.ben, /Add a passkey of this device/)
    await world.ben.click(asked, 'Add a passkey')
    const answer = await sendAnswer(world, url, createAuthenticator(party).create((await openPage(world, url)).challenge), {
      name: 'Phone',
    })
    const code = answer.title
    const waits = 'Your new passkey “Phone” counts once an operator trusts it. Before <!date'

    const created = await untilShown(world.slack, people.ben, /^Passkey created\./)
    expect([created.text.includes(waits), created.ts]).toEqual([true, asked.ts])
    expect((await listPasskeys(world, world.ben, people.ben)).text).toContain(waits)
    await world.ben.click(card, 'Approve')
    expect((await untilShown(world.slack, people.ben, /Not approved: this rule asks for your passkey\./)).text).toContain(waits)
    expect(JSON.stringify(world.slack.ephemerals(people.ben))).not.toContain(code)

    await runTrust(world, ['trust', code, '--yes'])
    expect((await listPasskeys(world, world.ben, people.ben)).text).not.toContain('counts once')
  })

  test('is said to wait for another approver, with a link to its request', async () => {
    const world = await startPasskeyWorld()
    await givePasskey(world, world.ben, people.ben)
    await makePasskey(world, world.chiara, people.chiara)
    const { card } = await requestMove(world)
    const waits = /Your new passkey counts once another approver confirms it: <https:[^|]*\|request [0-9a-f]{8}>\./
    expect((await listPasskeys(world, world.chiara, people.chiara)).text).toMatch(waits)
    await world.chiara.click(card, 'Approve')
    expect((await untilShown(world.slack, people.chiara, /Not approved: this rule asks/)).text).toMatch(waits)
    await world.chiara.openHome()
    await world.slack.until(() => waits.test(JSON.stringify(world.chiara.home() ?? '')) || undefined, { what: 'the section on Home' })
  })
})

/** Everything but a move needs no approval. */
const exempting =
  'rules:\n  - {name: addresses, changes: ip.move, approve: {any_of: [S0ONCALL01]}, confirm: passkey, self_approval: break-glass}\n  - {name: rest, approve: none}'

describe('passkeys of a person', () => {
  test('are requested once somebody has one, and confirmed by another approver with theirs, whatever the rules say', async () => {
    const world = await startPasskeyWorld(exempting)
    const ben = await givePasskey(world, world.ben, people.ben)
    const { answer, authenticator } = await makePasskey(world, world.chiara, people.chiara)
    const key = keyOf(authenticator)
    expect(answer).toMatchObject({
      title: `Requested: ${key}`,
      words: expect.stringContaining('Another approver confirms it with their passkey.'),
    })
    const card = await untilCard(world.slack, /Add passkey/)
    expect(card.text).toMatch(/Check first[\s\S]*Ask <[^>]*@chiara> in person or by phone which key their page shows/)
    const dialog = JSON.stringify(card.blocks).match(/"confirm":\{.*?"deny"/)?.[0]
    expect(dialog).toContain(`Add passkey ${key}\\nAsk @chiara in person or by phone`)
    await world.chiara.click(card, 'Approve')
    await untilShown(world.slack, people.chiara, /an approver other than you must decide/)
    const { answer: confirmed } = await approveWithPasskey(world, world.ben, people.ben, card, ben)
    expect(confirmed.title).toBe('Approved')
    await untilReport(world.slack, card.ts, /Done/)
    await untilCard(world.slack, /<@U0CHI00001> has a new passkey, `Laptop \([-A-Z2-9]{14}\)`\. Another approver confirmed it/)
    await world.slack.until(() => world.slack.calls('chat.postMessage').find(({ args }) => args.channel === people.chiara), {
      what: 'the direct message',
    })
    expect((await world.records.audit()).find(({ act }) => act === 'passkey-add')).toMatchObject({
      by: people.chiara,
      revision: expect.any(Number),
    })

    const { card: move } = await requestMove(world)
    expect((await approveWithPasskey(world, world.chiara, people.chiara, move, authenticator)).answer.title).toBe('Approved')
    await untilReport(world.slack, move.ts, /Done/)
  })

  test('that were rejected are added with a new link, and not with a button of the request', async () => {
    const world = await startPasskeyWorld()
    await givePasskey(world, world.ben, people.ben)
    await makePasskey(world, world.chiara, people.chiara)
    await world.ben.click(await untilCard(world.slack, /Add passkey/), 'Reject')
    await world.ben.fill(await world.slack.until(() => world.ben.topView()), { Reason: 'Nobody told me' })
    await world.ben.submit()
    const rejected = await untilCard(world.slack, /\*Rejected\*/)
    expect(JSON.stringify(rejected.blocks)).toContain('Details')
    expect(JSON.stringify(rejected.blocks)).not.toContain('Request again')
  })

  test('are removed by themselves, which is told to them and to the operators, and are at most five', async () => {
    const world = await startPasskeyWorld()
    for (let count = 0; count < 5; count += 1) await givePasskey(world, world.ben, people.ben)
    const list = await listPasskeys(world, world.ben, people.ben)
    expect(JSON.stringify(list.blocks).match(/"Remove"/g)?.length).toBeGreaterThanOrEqual(5)
    expect(JSON.stringify(list.blocks)).not.toMatch(/Add a passkey|your only one/)

    await world.ben.click(list, 'Remove')

    await untilShown(world.slack, people.ben, /^Removed Laptop\.\n\*Your passkeys\*(?:\n\*Laptop\*.*){4}$/)
    await untilCard(world.slack, /<@U0BEN00001> removed their passkey `Laptop \([-A-Z2-9]{14}\)`/)
    await world.slack.until(() => world.slack.calls('chat.postMessage').find(({ args }) => args.channel === people.ben), {
      what: 'the direct message',
    })
  })

  test('of somebody else are removed by a request that another approver confirms with their own, and all three are told', async () => {
    const world = await startPasskeyWorld(exempting)
    const ben = await givePasskey(world, world.ben, people.ben)
    await givePasskey(world, world.chiara, people.chiara)
    await world.ada.command(`/infra passkeys <@${people.chiara}>`, { channel: ops })
    const list = await untilShown(world.slack, people.ada, /Passkeys of/)
    await world.ada.click(list, 'Request removal')
    const card = await untilCard(world.slack, /Remove passkey[\s\S]*needs approval from[\s\S]*Owner <@U0CHI00001>/)
    expect(card.text).toMatch(/Check first[\s\S]*It is their only one\. They can't confirm approvals until they have another\./)
    expect(card.text).toMatch(/Rule .*addresses.* then has 1 with a passkey, and needs 1 besides the requester\./)
    expect(card.text).toMatch(/What it approved ends, unless it was sent\./)
    await world.ben.click(card, 'Approve')
    await untilShown(world.slack, people.ben, /Not approved yet/)
    expect((await listPasskeys(world, world.chiara, people.chiara)).text).toMatch(/Your passkeys/)

    await approveWithPasskey(world, world.ben, people.ben, card, ben)
    await untilReport(world.slack, card.ts, /Done/)

    await untilCard(world.slack, /The passkey `Laptop \([-A-Z2-9]{14}\)` of <@U0CHI00001> was removed, as <@U0ADA00001> requested/)
    await world.slack.until(() => world.slack.calls('chat.postMessage').find(({ args }) => args.channel === people.chiara), {
      what: 'the direct message',
    })
    expect((await listPasskeys(world, world.chiara, people.chiara)).text).toMatch(/You have no passkey/)
    expect((await world.records.audit()).find(({ act }) => act === 'passkey-remove')).toMatchObject({
      by: people.ada,
      text: expect.stringMatching(/^Laptop \(/),
    })
  })

  test('whose removal waits when no rule asks for a passkey anymore can still be withdrawn, and whoami names no such right', async () => {
    const world = await startPasskeyWorld()
    await givePasskey(world, world.ben, people.ben)
    await world.ada.command(`/infra passkeys <@${people.ben}>`, { channel: ops })
    await world.ada.click(await untilShown(world.slack, people.ada, /Passkeys of/), 'Request removal')
    await untilCard(world.slack, /Remove passkey[\s\S]*needs approval from/)
    await restartWith(world, { policy: usual.replace(', confirm: passkey', '') })

    const card = await untilCard(world.slack, /Remove passkey[\s\S]*no policy rule covers this anymore/)
    await world.ben.command('/infra whoami', { channel: ops })
    expect((await untilShown(world.slack, people.ben, /you can request every change, and approve every change/)).text).not.toMatch(
      /passkey/,
    )
    await world.ada.click(card, 'Withdraw')
    await untilCard(world.slack, /\*Withdrawn\*.*Remove passkey/)
  })

  test('are trusted by a code that is good once and right, by nobody who is unsure, and outlast a restart', async () => {
    const world = await startPasskeyWorld()
    const { code, authenticator } = await makePasskey(world, world.ben, people.ben)

    expect(await runTrust(world, ['trust', 'AAAA-AAAA'])).toMatchObject({
      exitCode: 1,
      output: expect.stringContaining('this code is wrong'),
    })
    expect(await runTrust(world, ['trust', code], { answer: 'no' })).toMatchObject({
      exitCode: 1,
      output: expect.stringMatching(/Nothing was trusted\.\n$/),
    })
    expect(await runTrust(world, ['trust', code], { env: { STATE_KEY: 'another-key-of-32-characters-for-this' } })).toMatchObject({
      exitCode: 1,
    })
    expect(await runTrust(world, ['trust', code], { env: { STATE_KEY: '' } })).toMatchObject({ exitCode: 2 })
    expect(await runTrust(world, ['remove', code])).toMatchObject({ exitCode: 2 })
    expect(await runTrust(world, ['trust', code])).toMatchObject({ exitCode: 0 })
    expect(await runTrust(world, ['trust', code])).toMatchObject({ exitCode: 1 })

    await restart(world)
    const { card } = await requestMove(world)
    expect((await approveWithPasskey(world, world.ben, people.ben, card, authenticator)).answer.title).toBe('Approved')
    const list = await listPasskeys(world, world.ben, people.ben)
    expect(JSON.stringify(list.blocks)).toContain("It is your only one: without it, you can't approve under rules that ask for a passkey.")
    await world.ben.click(list, 'Remove')
    await untilShown(world.slack, people.ben, /Removed Laptop\.\nYou have no passkey\. Rules with `confirm: passkey` ask for one/)
  })

  test('are made in Socket Mode on a port of the pages alone', async () => {
    const world = await startPasskeyWorld(usual, { socketMode: true })
    const [bot] = world.bots
    const { pagesPort } = bot as unknown as { pagesPort: number }
    Object.assign(bot as object, { slackPort: pagesPort })
    const authenticator = await givePasskey(world, world.ben, people.ben)
    const { card } = await requestMove(world)
    expect((await approveWithPasskey(world, world.ben, people.ben, card, authenticator)).answer.title).toBe('Approved')
    expect((await fetch(`http://127.0.0.1:${pagesPort}/slack/events`, { method: 'POST' })).status).toBe(404)
  })
})

test('no passkey is asked for, and no page is there, where no rule asks for one', async () => {
  const world = await startPasskeyWorld(usual.replace(', confirm: passkey', ''))
  const { card } = await requestMove(world)
  await world.ben.click(card, 'Approve')
  await untilReport(world.slack, card.ts, /Done/)
  expect((await fetch(atPort(world, 'https://lockkeeper.example.com/passkeys/'))).status).toBe(404)
})
