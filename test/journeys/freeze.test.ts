import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { createFreezes } from '../../src/record/freeze.ts'
import { objectOf, objectsOf } from '../sandbox/slack/json.ts'
import type { Message } from '../sandbox/slack/slack.ts'
import { addresses, requestEvacuation, withAddresses } from './evacuations.ts'
import { buttonsOf, freeze, notes, rules, saidIn, start, unfreeze, untilSaid } from './freeze-world.ts'
import { cardNow, onlyRequest } from './policy-world.ts'
import {
  approveHeld,
  figure,
  general,
  ops,
  patchesOf,
  people,
  pressAndSend,
  requestMove,
  untilCard,
  untilReport,
  untilShown,
} from './world.ts'

describe('a freeze', () => {
  test('holds what is approved until it is lifted. Then it starts in the order of the approvals', async () => {
    const world = await start()
    const begun = await freeze(world)
    expect(begun.text).toMatch(/until lifted\. No change starts\./)
    expect(begun.text).toContain('the network is being rebuilt')
    expect(world.slack.ephemerals(people.ben)).toEqual([])
    await untilSaid(world, general, /\*Frozen\* by <@U0BEN00001> until lifted\./)
    await expect.poll(() => figure(world, 'lockkeeper_frozen')).toBe(1)

    const moves: Awaited<ReturnType<typeof requestMove>>[] = []
    for (const skip of [0, 1, 2]) moves.push(await requestMove(world, { skip }))
    for (const { card } of moves) expect(card.text).toContain('Held by a freeze until lifted.')
    const [undecided, ...inOrder] = [1, 2, 0].flatMap((index) => moves[index] ?? [])
    for (const { card, elasticIp } of inOrder) {
      await approveHeld(world, world.ben, card)
      await untilCard(world.slack, new RegExp(`${elasticIp.address}[^]*Approved\\.\\* Held by a freeze until lifted`))
    }
    expect(patchesOf(world)).toEqual([])
    const shown = world.slack.calls('chat.update').map(({ args }) => String(args.text))
    expect(shown.filter((text) => /Approved\.\* Starting/.test(text))).toEqual([])

    await world.chiara.click(begun, 'Unfreeze')
    const form = JSON.stringify(await world.slack.until(() => world.chiara.topView()))
    const titles = inOrder.map(({ elasticIp }) => `“Move \`${elasticIp.address}\`: [^”]*”`)
    expect(form).toMatch(new RegExp(`2 approved changes start now: ${titles.join(', ')}\\.`))
    expect(patchesOf(world)).toEqual([])
    await world.chiara.submit()
    await untilShown(world.slack, people.chiara, new RegExp(`\\*Unfrozen\\*\\. 2 approved changes start now: ${titles.join(', ')}\\.`))
    for (const { card } of inOrder) await untilReport(world.slack, card.ts, /Done/)
    const waiting = undecided?.card as Message
    await world.slack.until(() => !cardNow(world, waiting)?.text.includes('Held by'), { what: 'the message without the freeze' })
    expect(buttonsOf(cardNow(world, waiting))).toEqual(buttonsOf(waiting))

    expect(patchesOf(world).map(({ path }) => path)).toEqual(inOrder.map(({ elasticIp }) => `/elastic_ips/${elasticIp.id}`))
    for (const channel of [ops, general]) {
      await untilSaid(world, channel, /\*Unfrozen\* by <@U0CHI00001>/)
      expect(saidIn(world, channel, /frozen\*/i)).toHaveLength(2)
    }
    await world.slack.until(() => buttonsOf(cardNow(world, begun)).length === 0, { what: 'the message without its button' })
    expect(cardNow(world, begun)?.text).toMatch(/\*Was frozen\* by <@U0BEN00001>\. Lifted at <!date\S+ [^.]* by <@U0CHI00001>\./)
    expect(await notes(world)).toMatchObject([
      { act: 'freeze', by: people.ben, reason: 'the network is being rebuilt', channelId: ops },
      { act: 'unfreeze', by: people.chiara },
    ])
    await expect.poll(() => figure(world, 'lockkeeper_frozen')).toBe(0)
  })

  test('is not set by words that cannot be, and what is not on is not lifted', async () => {
    const world = await start()
    const day = new Date(Date.now() + 3 * 86_400_000).toISOString().slice(0, 10)
    const cases: [string, RegExp][] = [
      ['until 25:00 because of the sale', /Nothing was frozen\. `25:00` isn't a time/],
      ['until 05/06/2027 10:00 because of the sale', /Nothing was frozen\. `05\/06\/2027 10:00` can be two dates\. Write the year first/],
      ['until in 15d because of the sale', /is more than 14 days ahead\. The latest end is .*\(Europe\/Berlin\)/],
      ['until 2020-01-01 06:00 because of it', /Wed 1 Jan 2020, 06:00 \(Europe\/Berlin\) is too early\. Write a later time, or none\./],
      [`from ${day} 18:00 until ${day} 06:00 because of it`, /Nothing was frozen\. .*, 06:00 \(Europe\/Berlin\) is too early\./],
      [
        'from in 2h until in 1h because of it',
        /Nothing was frozen\. The freeze would end before it begins: `in` counts from now, `for` from the beginning\./,
      ],
      [`because ${'x'.repeat(501)}`, /A reason can have up to 500 characters\. This one has 501\./],
    ]
    for (const [words, answer] of cases) {
      await world.ben.command(`/infra freeze ${words}`, { channel: ops })
      await untilShown(world.slack, people.ben, answer)
    }
    await unfreeze(world)
    await untilShown(world.slack, people.ben, /No freeze to lift\./)
    expect(await notes(world)).toEqual([])

    const begun = await freeze(world, 'for 2h because of the sale')
    expect(begun.text).toMatch(/until <!date\S+ .*\. No change starts\./)
    await world.ben.command('/infra freeze from in 1h because of the sale', { channel: ops })
    await untilShown(world.slack, people.ben, /Nothing was frozen: there is a freeze by <@U0BEN00001> until <!date.*\. Lift it first/)
    await world.ben.command('/infra unfreeze in 2h because of the sale', { channel: ops })
    await untilShown(world.slack, people.ben, /`\/infra unfreeze` takes no arguments\. Not understood: `in 2h`\./)
    expect(await notes(world)).toMatchObject([{ act: 'freeze' }])
  })

  test('with a beginning and an end holds nothing until then, and both channels get it when it is set and at both ends, once', async () => {
    const world = await start()
    const { card } = await requestMove(world)
    // What people type begins with a minute.
    const [now, by] = [await world.records.store.now(), { by: people.ben, reason: 'the sale', channelId: ops }]
    const freezes = createFreezes({ ...world.records, audit: world.records.chained }, world.recordKeyring, { opsChannel: general })
    await freezes.set({ ...by, from: now + 5_000, until: now + 17_000 })
    const begun = await untilSaid(world, ops, /\*Freeze planned\*/)
    expect(begun.text).toMatch(/\*Freeze planned\* by <@U0BEN00001> from <!date.* until <!date.*\. No change starts in that time\./)
    expect(buttonsOf(begun)).toEqual(['"action_id":"unfreeze"'])
    await expect.poll(() => figure(world, 'lockkeeper_frozen')).toBe(0)
    for (const channel of [ops, general]) await untilSaid(world, channel, /\*The freeze is on\* until <!date/)
    await approveHeld(world, world.ben, card)
    await untilCard(world.slack, /Approved\.\* Held by a freeze, until <!date/)

    await untilReport(world.slack, card.ts, /Done/)
    for (const channel of [ops, general]) await untilSaid(world, channel, /\*The freeze is over\.\* Approved changes/)
    await wait(3_000)

    for (const channel of [ops, general]) expect(saidIn(world, channel, /freeze is|frozen\*|\*freeze planned/i)).toHaveLength(3)
    expect(buttonsOf(cardNow(world, begun))).toEqual([])
    const refused = await pressAndSend(world, world.ben, { ...begun, blocks: begun.blocks }, 'Unfreeze')
    expect(JSON.stringify(refused)).toContain('This freeze is over, or another one is on. Nothing was changed.')
    const noted = (await world.records.audit()).filter(({ act }) => act === 'refused')
    expect(noted).toMatchObject([{ by: people.ben, attempted: 'unfreeze', causes: [{ code: 'freeze-over' }] }])
    expect(patchesOf(world)).toHaveLength(1)
    expect(await notes(world)).toMatchObject([{ act: 'freeze', from: expect.any(Number), until: expect.any(Number) }])
  })

  test('that is lifted before it begins never was one, and its messages say so', async () => {
    const world = await start()
    const planned = await freeze(world, 'from in 1h until in 2h because of the sale')
    await world.chiara.click(planned, 'Unfreeze')
    await world.slack.until(() => world.chiara.topView())
    await world.chiara.submit()
    await untilShown(world.slack, people.chiara, /^:sunny: \*Planned freeze canceled\*\.$/)
    for (const channel of [ops, general]) await untilSaid(world, channel, /^:sunny: \*Planned freeze canceled\* by <@U0CHI00001>\.$/)
    await world.slack.until(() => buttonsOf(cardNow(world, planned)).length === 0, { what: 'the message without its button' })
    expect(cardNow(world, planned)?.text).toMatch(
      /^:snowflake: \*Canceled: a freeze planned\* by <@U0BEN00001> from <!date.* until <!date.*\. Lifted at/,
    )

    const time = { from: expect.any(Number), until: expect.any(Number) }
    expect(await notes(world)).toMatchObject([
      { act: 'freeze', by: people.ben, ...time },
      { act: 'unfreeze', by: people.chiara, ...time },
    ])
    await world.ada.command('/infra audit unfreeze', { channel: ops })
    const { text } = await untilShown(world.slack, people.ada, /Audit: 1 result/)
    expect(text).toMatch(/Canceled the planned freeze\*\n[^\n]*By: <@U0CHI00001>[^\n]*Notes: from <!date.* until <!date/)
  })

  test('at once keeps the one that somebody planned, says so, and that one has its messages and its button as before', async () => {
    const world = await start()
    const planned = await freeze(world, 'from in 1h until in 2h because of the sale')
    await world.chiara.command('/infra freeze', { channel: ops })
    const form = await world.slack.until(() => world.chiara.topView(), { what: 'the form' })
    expect(JSON.stringify(form.view.blocks)).toMatch(
      /There is a freeze by <@U0BEN00001> from <!date.* until <!date.*\. Freezing at once keeps it\./,
    )
    await world.chiara.fill(form, { Reason: 'The network is down', Until: 'in 10m' })
    await world.chiara.submit()
    const stays = ' The freeze by <@U0BEN00001> from <!date\\S+ .* until <!date\\S+ .* stays\\.'
    await untilSaid(world, ops, new RegExp(`\\*Frozen\\* by <@U0CHI00001> until <!date\\S+ [^.]*\\.${stays} No change starts\\.`))
    expect(cardNow(world, planned)?.text).toBe(planned.text)
    const refused = await pressAndSend(world, world.ben, planned, 'Unfreeze')
    expect(JSON.stringify(refused)).toContain('This freeze is over, or another one is on. Nothing was changed.')

    await world.chiara.command('/infra unfreeze', { channel: ops })
    await untilSaid(world, ops, new RegExp(`\\*Unfrozen\\* by <@U0CHI00001>\\..*${stays}$`))
    await unfreeze(world)
    await untilShown(
      world.slack,
      people.ben,
      /No freeze is on, so nothing was lifted\. One is planned by <@U0BEN00001> from <!date.*under its message/,
    )
    await world.chiara.command('/infra freeze from in 3h because of the sale', { channel: ops })
    await untilShown(world.slack, people.chiara, /Nothing was frozen: there is a freeze by <@U0BEN00001> from <!date/)
    for (const open of world.ben.openViews()) await world.ben.close(open)
    await pressAndSend(world, world.ben, planned, 'Unfreeze')
    await untilSaid(world, ops, /\*Planned freeze canceled\* by <@U0BEN00001>\./)
    const canceled = /\*Canceled: a freeze planned\*.*\. Lifted at/
    await world.slack.until(() => canceled.test(cardNow(world, planned)?.text ?? ''), { what: 'the canceled one' })
    const [from, until] = [expect.any(Number), expect.any(Number)]
    expect(await notes(world)).toMatchObject([
      { act: 'freeze', by: people.ben, from, until },
      { act: 'freeze', by: people.chiara, reason: 'The network is down' },
      { act: 'unfreeze', by: people.chiara },
      { act: 'unfreeze', by: people.ben, from, until },
    ])
  })

  test('with a beginning is shown at once on what it will hold, and no later one takes its place', async () => {
    const world = await start()
    await world.ada.command('/infra ip move 203.0.113.10 web-3 in 2h', { channel: ops })
    const undecided = await untilCard(world.slack, /203\.0\.113\.10.*Starts <!date/s)
    await world.ada.command('/infra ip move 203.0.113.12 web-3 in 2h', { channel: ops })
    await world.ben.click(await untilCard(world.slack, /203\.0\.113\.12/), 'Approve')
    const approved = await untilCard(world.slack, /203\.0\.113\.12.*Approved\.\* Starts <!date/s)

    await freeze(world, 'from in 1h until in 3h because of the sale')
    for (const card of [undecided, approved])
      await world.slack.until(() => cardNow(world, card)?.text.includes(', after a freeze planned from'), { what: 'what would hold it' })
    await world.ben.command('/infra freeze from in 4h because of the sale', { channel: ops })
    await untilShown(
      world.slack,
      people.ben,
      /Nothing was frozen: there is a freeze by <@U0BEN00001> from <!date.* until <!date.*\. Lift it first/,
    )
    await world.ben.command('/infra doctor', { channel: ops })
    await untilShown(world.slack, people.ben, /\*Freeze:\* None is on\. Planned by <@U0BEN00001> from <!date/)
  })

  test('is set in a form by the command alone, or without a reason, with what was typed', async () => {
    const world = await start()
    await world.ben.command('/infra freeze until 25:00', { channel: ops })
    await world.slack.until(() => world.ben.openViews()[0], { what: 'the form' })
    expect(world.ben.topView()).toMatchObject({ title: 'Freeze all changes' })
    expect(JSON.stringify(world.ben.topView())).toContain('"initial_value":"25:00"')
    await world.ben.fill(undefined, { Reason: 'The sale' })
    expect((await world.ben.submit()).errors).toEqual({ until: expect.stringContaining("25:00 isn't a time. Write a time such as") })
    await world.ben.fill(undefined, { Until: 'in 2h' })
    expect((await world.ben.submit()).errors).toBeUndefined()

    expect((await untilSaid(world, ops, /\*Frozen\* by <@U0BEN00001> until <!date/)).text).toContain('The sale')
    await world.ada.command('/infra freeze', { channel: ops })
    await untilShown(world.slack, people.ada, /Only <!subteam\^S0ONCALL01> can freeze/)
  })

  test('set while the form of another one was open is shown by that before it is replaced', async () => {
    const world = await start()
    await world.chiara.command('/infra freeze', { channel: ops })
    const form = await world.slack.until(() => world.chiara.topView(), { what: 'the form' })
    expect(JSON.stringify(form.view.blocks)).toContain('Such as fri 18:00 (Europe/Berlin). Leave empty')
    await world.chiara.fill(form, { Reason: 'of the sale' })
    await freeze(world, 'until in 5h because the network is being rebuilt')
    await world.chiara.submit()
    const again = /\*Not frozen yet\.\* A freeze was set meanwhile\..*There is a freeze by <@U0BEN00001> until <!date.*of the sale/
    await world.slack.until(() => again.test(JSON.stringify(world.chiara.topView())), { what: 'the form with that freeze' })
    expect(await notes(world)).toHaveLength(1)
    await world.chiara.submit()
    await untilSaid(world, ops, /\*Frozen\* by <@U0CHI00001> until lifted\. It replaces the one by <@U0BEN00001>/)
  })

  test('is not lifted by a form that did not say of all that starts', async () => {
    const world = await start()
    const begun = await freeze(world)
    const { card } = await requestMove(world)
    await world.chiara.click(begun, 'Unfreeze')
    expect(JSON.stringify(await world.slack.until(() => world.chiara.topView()))).toContain('No approved change starts now.')
    await approveHeld(world, world.ben, card)
    await untilCard(world.slack, /Approved\.\* Held by a freeze until lifted/)
    await world.chiara.submit()
    const again = /\*Not lifted yet\.\* More starts now than when this form opened\..*1 approved change starts now: “Move/
    await world.slack.until(() => again.test(JSON.stringify(world.chiara.topView())), { what: 'the form with what starts' })
    expect(patchesOf(world)).toEqual([])
    await world.chiara.submit()
    await untilReport(world.slack, card.ts, /Done/)
  })

  test('is only shown to its author where Lockkeeper cannot post', async () => {
    const world = await start()
    const [id, members] = ['C0RANDOM01', [people.ben]]
    world.slack.workspace.channels.push({ id, name: 'random', topic: '', members })
    await world.ben.command('/infra freeze because of the sale', { channel: id })
    await untilShown(
      world.slack,
      people.ben,
      /\*Frozen\* by <@U0BEN00001> until lifted\..*\n.*Lockkeeper couldn't post this in the channel yet\./s,
    )
  })

  test('is set and lifted only by those whom the policy lets, which the audit shows', async () => {
    const world = await start()
    const words = /Only <!subteam\^S0ONCALL01> can freeze or unfreeze changes\./
    await world.ada.command('/infra freeze because of the sale', { channel: ops })
    await untilShown(world.slack, people.ada, words)
    const begun = await freeze(world)
    await world.ada.click(begun, 'Unfreeze')
    await world.slack.until(() => world.slack.ephemerals(people.ada).filter(({ text }) => words.test(text)).length === 2)
    // Somebody who has just left the group is no longer a member of it.
    const group = world.slack.workspace.userGroups.find(({ id }) => id === 'S0ONCALL01')
    if (group) group.members = [people.chiara]
    await unfreeze(world)
    await untilShown(world.slack, people.ben, words)
    world.slack.faults.add({ method: 'usergroups.users.list', kind: 'error', error: 'internal_error', times: 99 })
    await world.chiara.command('/infra unfreeze', { channel: ops })
    await untilShown(world.slack, people.chiara, /Slack didn't return the members of the user group/)

    const refused = (await world.records.audit()).filter(({ act }) => act === 'refused')
    expect(refused.map(({ by, attempted }) => `${by} ${attempted}`)).toEqual([
      `${people.ada} freeze`,
      `${people.ada} unfreeze`,
      `${people.ben} unfreeze`,
      `${people.chiara} unfreeze`,
    ])
    await world.ada.command('/infra audit freeze', { channel: ops })
    const shown = await untilShown(world.slack, people.ada, /Audit: /)
    expect(shown.text).toContain('Froze all changes')
    expect(shown.text).toContain('reason: `the network is being rebuilt`')
    expect(shown.text).toContain('Tried to freeze changes')
    expect(await notes(world)).toHaveLength(1)
  })
})

describe('while everything is frozen', () => {
  test('the rest of an evacuation is not sent, and what was sent is tracked to its end', async () => {
    const world = await start(withAddresses(addresses(7)))
    const card = await requestEvacuation(world)
    // Five are sent at a time. They hold up the others until the freeze is on.
    world.accountApi.faults.add({ method: 'PATCH', kind: 'delay', delayMs: 3_000, times: 5 })
    await world.ben.click(card, 'Approve')
    // Seven are many, and the rule has emergency approvals, so that a form asks once more.
    await world.slack.until(() => world.ben.topView())
    await world.ben.submit()
    await expect.poll(() => patchesOf(world).length).toBe(5)
    await freeze(world)
    await untilCard(world.slack, /2 not sent yet: held by a freeze until lifted\.\n\*5 of 7 moved\*/)
    await wait(2_000)
    expect(patchesOf(world)).toHaveLength(5)

    await unfreeze(world)
    await untilReport(world.slack, card.ts, /Done/)
    expect(patchesOf(world)).toHaveLength(7)
  })

  test('a key is not created, and its button stays; what needs no approval waits, and says so. After that both are done', async () => {
    const world = await start()
    await world.ada.command('/infra keys create ci-deploy', { channel: ops })
    await freeze(world, 'until in 1h because of the sale')
    await world.ada.command('/infra vm rename preview-1 preview-2', { channel: ops })
    await untilCard(world.slack, /preview-1.*Held by a freeze, until/s)
    await approveHeld(world, world.ben, await untilCard(world.slack, /ci-deploy.*needs approval from/s))
    const card = await untilCard(world.slack, /ci-deploy.*\*Approved\.\*/s)
    await world.ada.click(card, 'Create key')
    await untilShown(world.slack, people.ada, /Nothing was created\. Held by a freeze, until <!date.*Press the button again then\./)
    const posts = () => world.accountApi.journal.writes().filter(({ method }) => method === 'POST')
    expect([...posts(), ...patchesOf(world)]).toEqual([])

    await unfreeze(world)
    await untilSaid(world, ops, /\*Unfrozen\*/)
    await expect.poll(() => patchesOf(world).length).toBe(1)
    await world.ada.click(card, 'Create key')
    await untilShown(world.slack, people.ada, /Your new API key/)
    expect(posts()).toHaveLength(1)
  })

  test('the message of an approved key says what holds its button, also after it is lifted', async () => {
    const world = await start({
      policy: rules.replace('others, approve: [S0ONCALL01]', 'others, approve: [S0ONCALL01], emergency: approvers'),
    })
    await world.ada.command('/infra keys create ci-deploy', { channel: ops })
    const card = await untilCard(world.slack, /ci-deploy.*needs approval from/s)
    await approveHeld(world, world.ben, card)
    await untilReport(world.slack, card.ts, /Press \*Create key\* above by <!date/)
    const begun = await freeze(world)
    const sooner = "Can't wait\\? \\*Withdraw\\*, then \\*Request again\\* for an emergency approval\\."
    const held = `Approved\\.\\* Held by a freeze until lifted\\. Then, <@U0ADA00001>, press \\*Create key\\*\\. .* ${sooner}`
    await untilCard(world.slack, new RegExp(held))
    const { ttlMs } = await onlyRequest(world.records)
    const left = async () => (await onlyRequest(world.records)).expiresAt - Date.now()
    // As long as an approval can hold.
    await expect.poll(left).toBeGreaterThan(13 * 24 * 3_600_000)
    await world.ada.command('/infra pending', { channel: ops })
    await untilShown(world.slack, people.ada, /Scheduled or held: 1\..*Held by a freeze until lifted/s)
    await world.ada.click(cardNow(world, card) as Message, 'Create key')
    await untilShown(world.slack, people.ada, new RegExp(`Nothing was created\\. Held by a freeze until lifted\\. .*${sooner}`))

    await world.chiara.click(begun, 'Unfreeze')
    const form = JSON.stringify(await world.slack.until(() => world.chiara.topView()))
    expect(form).toContain('1 approved change starts once the requester presses the button: “Create API key ci-deploy”.')
    await world.chiara.submit()
    await untilCard(world.slack, /Approved\.\* <@U0ADA00001>, press \*Create key\* by/)
    await expect.poll(left).toBeLessThanOrEqual(ttlMs)
    await untilReport(
      world.slack,
      card.ts,
      /<@U0ADA00001> Press \*Create key\* above by [^(]*\([^)]* left\): “Create API key ci-deploy”\.$/,
    )
  })

  test('the Home tab says it, with *Unfreeze* for those who may', async () => {
    const world = await start()
    await freeze(world, 'until in 1h because of the sale')
    const homeOf = async (id: string) => {
      await world.slack.as(id).openHome()
      return world.slack.until(() => (/Frozen/.test(JSON.stringify(world.slack.home(id)?.blocks)) ? world.slack.as(id).home() : undefined))
    }
    const shown = await homeOf(people.ada)
    expect(JSON.stringify(shown.view.blocks)).toMatch(/Frozen\* by <@U0BEN00001> until <!date.*the sale/)
    expect(JSON.stringify(shown.view.blocks)).not.toContain('Unfreeze')

    await pressAndSend(world, world.chiara, await homeOf(people.chiara), 'Unfreeze')
    await world.slack.until(() => !/Frozen/.test(JSON.stringify(world.slack.home(people.chiara)?.blocks)))
    await untilSaid(world, ops, /\*Unfrozen\* by <@U0CHI00001>/)
    await world.ada.command('/infra doctor', { channel: ops })
    await untilShown(world.slack, people.ada, /\*Freeze:\* None is on\./)
  })
})

test('an emergency approval of its requester takes a sentence as the reason, passes freeze and window, and everybody reads so', async () => {
  const day = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'][(new Date().getUTCDay() + 3) % 7]
  const windowed = `windows:\n  far: { days: [${day}], from: "09:00", to: "17:00", zone: UTC }\n${rules.replace('changes: ip.move,', 'changes: ip.move, window: far,')}`
  const world = await start({ policy: windowed })
  await freeze(world)
  const { card } = await requestMove(world)
  await world.ada.click(card, 'Approve')
  const form = await world.slack.until(() => world.ada.topView())
  expect(form.title).toBe('Emergency approval')
  expect(JSON.stringify(form.view.blocks)).toMatch(
    /Overrides the window “far” \(opens .*\) and <@\w+>'s freeze \(until lifted\)\. The channel sees your reason\./,
  )
  await world.ada.fill(form, { Reason: 'ok' })
  expect((await world.ada.submit()).errors).toEqual({ reason: 'Too short. Write at least 3 different words.' })
  expect(await onlyRequest(world.records)).toMatchObject({ state: 'waiting' })
  await world.ada.fill(form, { Reason: 'The site is down' })
  expect((await world.ada.submit()).errors).toBeUndefined()

  const report = await untilReport(world.slack, card.ts, /Emergency approval/)
  expect(report.text).toMatch(
    /<!subteam\^S0ONCALL01>: <[^|]*\/team\/U0ADA00001\|@ada> approved their own request “.*”, past the window “far” and a freeze\..*(?:press \*Withdraw\*|Check the reason).*\.\nReason: `The site is down`/,
  )
  const [post] = world.slack.calls('chat.postMessage').filter(({ args }) => /Emergency approval/.test(String(args.text)))
  expect(String(post?.args.reply_broadcast)).toBe('true')
  await untilReport(world.slack, card.ts, /Done/)
  expect(cardNow(world, card)?.text).toContain('*Emergency approval* by <@U0ADA00001>, past the window “far” and a freeze')
  const [entry] = (await world.records.audit()).filter(({ act }) => act === 'break-glass')
  const passed = [{ by: 'window', name: 'far' }, { by: 'freeze' }]
  expect(entry).toMatchObject({ by: people.ada, reason: 'The site is down', to: 'approved', rule: 'alone', via: people.ada, passed })
  expect(patchesOf(world)).toHaveLength(1)

  // What it passed is signed.
  const { id, decision } = await onlyRequest(world.records)
  expect(world.signatures.verifyBreakGlass(await world.records.find(id), decision ?? { via: '' })).toBe('genuine')
  expect(world.signatures.verifyBreakGlass(await world.records.find(id), { via: '', ...decision, passed: [] })).toBe('forged')
})

test('a time after because freezes and lifts nothing: the form has it', async () => {
  const world = await start()
  const opened = async (text: string) => {
    for (const open of world.ben.openViews()) await world.ben.close(open)
    await world.ben.command(`/infra freeze ${text}`, { channel: ops })
    const { view } = await world.slack.until(() => world.ben.topView(), { what: `a form for ${text}` })
    const presets = objectsOf(view.blocks).flatMap(({ block_id: id, element }) => {
      const value = objectOf(element).initial_value
      return value === undefined ? [] : [[id, value]]
    })
    return { ...Object.fromEntries(presets), words: /You typed .*?Check it\./.exec(JSON.stringify(view))?.[0] }
  }
  const words = (late: string, field: string) => `You typed \`${late}\` after \`because\`: it is in *${field}* now. Check it.`
  const reason = 'the sale'

  expect(await opened('because the sale until 4:00')).toEqual({ until: '4:00', reason, words: words('until 4:00', 'Until') })
  expect(await opened('because of the sale for 2h')).toEqual({ until: 'for 2h', reason, words: words('for 2h', 'Until') })
  expect(await opened('because the sale in 2h')).toEqual({ from: 'in 2h', reason, words: words('in 2h', 'From') })
  const [from, until] = ['fri 18:00', 'mon 08:00']
  expect(await opened(`from ${from} because the sale until ${until}`)).toEqual({
    from,
    until,
    reason,
    words: words(`until ${until}`, 'Until'),
  })
  const both = `from ${from} until ${until}`
  expect(await opened(`because the sale ${both}`)).toEqual({ from, until, reason, words: words(both, 'Until') })

  expect(await opened(`until ${until} because the sale from ${from}`)).toEqual({
    from,
    until,
    reason,
    words: words(`from ${from}`, 'From'),
  })

  await world.ben.command('/infra unfreeze because the sale ended at 22:00', { channel: ops })
  await untilShown(world.slack, people.ben, /`\/infra unfreeze` takes no arguments\. Not understood: `at 22:00`\./)
  expect(await notes(world)).toEqual([])
  const begun = await freeze(world, 'until 23:00 because the sale fails for 2h')
  expect(begun.text).toContain('the sale fails for 2h')
})
