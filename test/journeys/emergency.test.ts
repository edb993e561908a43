import { writeFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { Temporal } from 'temporal-polyfill'
import { describe, expect, test } from 'vitest'
import { encodeFields } from '../../src/record/store.ts'
import type { Message } from '../sandbox/slack/slack.ts'
import { alert, startAlertWorld, untilProposed } from './alerts-world.ts'
import { freeze } from './freeze-world.ts'
import { policyInFile } from './policy-in-file.ts'
import { onlyRequest, repliesTo, restart, startWorldUnder } from './policy-world.ts'
import { openRecords } from './records.ts'
import {
  approveHeld,
  chooseEmergency,
  ops,
  patchesOf,
  people,
  requestMove,
  startWorld,
  untilCard,
  untilReport,
  untilShown,
  type World,
} from './world.ts'

/** A window that is closed today. */
function closedWindow(): string {
  const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']
  const today = Temporal.Now.zonedDateTimeISO('UTC').dayOfWeek
  return `office: {days: [${days[(today + 2) % 7]}], from: "09:00", to: "17:00", zone: UTC}`
}

const sentence = 'web-1 is dead and customers see errors'

type Person = World['ben']

/** Presses *Approve*, which has to open the form. */
async function openForm({ slack }: World, by: Person, card: Message) {
  await by.click(card, 'Approve')
  return slack.until(() => by.topView(), { what: 'the form' })
}

async function approveInEmergency(world: World, by: Person, card: Message, reason = sentence) {
  await openForm(world, by, card)
  await chooseEmergency(world, by, reason)
  return by.submit()
}

describe('a request of an alert during a freeze and outside of its window', () => {
  const policy = `
windows:
  ${closedWindow()}
rules:
  - { name: failover, changes: ip.evacuate, request: [alerts, everyone], approve: [S0ONCALL01], emergency: approvers, window: office }
  - { name: moves, changes: ip.move, approve: [S0ONCALL01], emergency: approvers }
alerts:
  - { name: node down, match: {alertname: NodeDown}, server: instance, to: {ASH: web-2, FRA: edge-fra-2}, channel: ${ops} }`

  test('is passed by an approver with a reason: it starts at once, and the channel and the audit say so', async () => {
    const world = await startAlertWorld({}, policy)
    await freeze(world)
    expect(await world.send([alert()])).toBe(200)
    const card = await untilProposed(world)
    const form = await openForm(world, world.ben, card)

    expect(form.title).toBe('Approve a held change')
    expect(JSON.stringify(form)).toMatch(/Held by a freeze until lifted\.|[Ss]tarts when the window/)
    expect(JSON.stringify(form)).not.toMatch(/Reason|Overrides/)
    // It is sent before Slack shows the field.
    const unshown = world.slack.faults.add({ method: 'views.update', kind: 'error', error: 'internal_error', times: 5 })
    await world.ben.fill(undefined, { Approval: "Emergency approval: it doesn't wait" })
    await expect.poll(() => unshown.fired).toBeGreaterThan(0)
    await world.ben.submit()
    await world.slack.until(() => JSON.stringify(world.ben.topView()).includes('Too short. Write'), { what: 'the field for the reason' })
    const urgent = world.ben.topView()
    expect(JSON.stringify(urgent)).toMatch(/Overrides the window “office” \(opens [^)]*\) and <@U0BEN00001>'s freeze \(until lifted\)\./)
    expect(JSON.stringify(urgent)).toMatch(/"text":"Reason"[^{}]*\}[^{}]*\{[^{}]*\}[^{}]*"optional":false/)
    for (const [reason, words] of [
      ['', /Please complete this required field/],
      ['ok', /Too short\. Write at least 3 different words/],
      ['asap asap asap!!', /Too short/],
    ] as const) {
      await world.ben.fill(undefined, { Reason: reason })
      expect(JSON.stringify((await world.ben.submit()).errors)).toMatch(words)
    }
    expect(await onlyRequest(world.records)).toMatchObject({ state: 'waiting', approvals: [] })

    await world.ben.fill(undefined, { Reason: sentence })
    expect((await world.ben.submit()).errors).toBeUndefined()
    await untilReport(world.slack, card.ts, /Done/)

    const report = await untilReport(world.slack, card.ts, /Emergency approval/)
    expect(report.text).toMatch(
      /:rotating_light: \*Emergency approval\.\* <!subteam\^S0ONCALL01>: <[^|]*\/team\/U0BEN00001\|@ben> approved “Evacuate .*, past the window “office” and a freeze\. Check the reason and the result\.\nReason: `web-1 is dead and customers see errors`/,
    )
    const [post] = world.slack.calls('chat.postMessage').filter(({ args }) => /Emergency approval/.test(String(args.text)))
    expect(String(post?.args.reply_broadcast)).toBe('true')
    const done = await untilCard(world.slack, /\*Done\*/)
    expect(done.text).toContain('Alertmanager, :rotating_light: emergency approval by <@U0BEN00001>, past the window “office” and a freeze')
    const [entry] = (await world.records.audit()).filter(({ act }) => act === 'approve')
    const passed = [
      { by: 'window', name: 'office' },
      { by: 'freeze', name: 'freeze by command' },
    ]
    expect(entry).toMatchObject({ by: people.ben, rule: 'failover', via: 'S0ONCALL01', reason: sentence, passed })
    await world.ben.command('/infra audit', { channel: ops })
    await untilShown(
      world.slack,
      people.ben,
      /emergency approval, past the window “office” and a freeze|approved by <@U0BEN00001> \(emergency\)/,
    )
  })
})

test('an emergency approval before a start that was requested says that the change waits for it', async () => {
  const world = await startWorldUnder(`
rules:
  - { name: moves, changes: ip.move, approve: [S0ONCALL01], emergency: approvers }
  - { name: freezing, changes: freeze, request: [S0ONCALL01], approve: none }`)
  await world.ada.command('/infra ip move 203.0.113.10 web-2 in 2h', { channel: ops })
  await world.ada.command('/infra ip move 203.0.113.11 web-2 in 2h', { channel: ops })
  await world.ben.command('/infra freeze until in 4h because the network is being rebuilt', { channel: ops })
  await untilCard(world.slack, /\*Frozen\* by/)
  const card = await untilCard(world.slack, /203\.0\.113\.10/)
  const form = JSON.stringify(await openForm(world, world.ben, card))
  expect(form).toMatch(/Held by a freeze, until [^.]*\.\\nRequested start: /)
  await chooseEmergency(world, world.ben, sentence, 'Emergency approval: it only waits for its start')
  expect(JSON.stringify(world.ben.topView())).toMatch(/\*Emergency approval:\* Overrides [^.]*\. Starts <!date/)
  await world.ben.submit()
  await untilCard(world.slack, /203\.0\.113\.10.*\*Approved\.\* Starts <!date/s)

  await approveHeld(world, world.ben, await untilCard(world.slack, /203\.0\.113\.11/))
  await untilCard(
    world.slack,
    /\*Approved\.\* Held by a freeze, until [^.]*\. Can't wait\? \*Withdraw\*, then \*Request again\* for an emergency approval\.\nRequested start: <!date/,
  )
})

test('an emergency approval from before a freeze does not pass it: the key is created once that is lifted', async () => {
  const world = await startWorldUnder(`
rules:
  - { name: keys, changes: key.create, approve: [S0ONCALL01], self_approval: break-glass }
  - { name: freezing, changes: freeze, request: [S0ONCALL01], approve: none }`)
  const { ben, slack } = world
  await ben.command('/infra keys create ci-deploy', { channel: ops })
  await openForm(world, ben, await untilCard(slack, /ci-deploy.*needs approval/s))
  await ben.fill(undefined, { Reason: sentence })
  await ben.submit()
  const card = await untilCard(slack, /ci-deploy.*press \*Create key\* by/s)
  await freeze(world)
  await untilCard(slack, /ci-deploy.*Held by a freeze until lifted\. Then, <@U0BEN00001>, press \*Create key\*/s)
  await ben.click(card, 'Create key')
  await untilShown(slack, people.ben, /Nothing was created\. Held by a freeze until lifted/)
  expect(world.accountApi.journal.writes()).toEqual([])

  await ben.command('/infra unfreeze', { channel: ops })
  await ben.click(await untilCard(slack, /ci-deploy.*Approved.*press \*Create key\* by/s), 'Create key')
  await untilCard(slack, /Done.*ci-deploy/s)
})

describe('a form that is open while what its decision passes changes is shown again, with the reason, before it counts:', () => {
  const policy = `
rules:
  - { name: moves, changes: ip.move, approve: [S0ONCALL01, ${people.ada}], self_approval: break-glass }
  - { name: freezing, changes: freeze, request: [S0ONCALL01], approve: none }`
  const again = async ({ slack }: World, by: Person, words: RegExp) => {
    expect((await by.submit()).errors).toBeUndefined()
    await slack.until(() => words.test(JSON.stringify(by.topView())), { what: 'the form with what changed' })
  }

  test('an emergency approval that a freeze has begun to hold', async () => {
    const world = await startWorldUnder(policy)
    const { card } = await requestMove(world)
    expect(JSON.stringify(await openForm(world, world.ada, card))).not.toContain('Overrides')
    await world.ada.fill(undefined, { Reason: sentence })
    await freeze(world)
    await again(
      world,
      world.ada,
      /\*Not approved yet\.\* Changed since this form opened:\\nOverrides <@U0BEN00001>'s freeze \(until lifted\)\./,
    )
    expect(JSON.stringify(world.ada.topView())).toContain(`"initial_value":"${sentence}"`)
    const { id } = await onlyRequest(world.records)
    const warned = { newWarnings: [{ code: 'rejected-before', at: Date.now(), by: people.chiara, reason: 'not now' }] }
    await world.records.redis.hset(world.records.keys.record(id), encodeFields(warned as never))
    await again(world, world.ada, /Changed since this form opened:\\n[^"]*not now[^"]*"/)
    expect(await onlyRequest(world.records)).toMatchObject({ state: 'waiting' })

    expect((await world.ada.submit()).errors).toBeUndefined()
    await untilReport(world.slack, card.ts, /Emergency approval.*, past a freeze\./s)
  })

  test('one of another request, whose freeze was replaced', async () => {
    const world = await startWorldUnder(policy.replace('self_approval: break-glass', 'emergency: approvers'))
    const { card } = await requestMove(world)
    await freeze(world)
    await openForm(world, world.ben, card)
    await chooseEmergency(world, world.ben, sentence)
    await world.chiara.command('/infra freeze until in 5h because of the sale', { channel: ops })
    await untilCard(world.slack, /\*Frozen\* by <@U0CHI00001>/)
    await again(world, world.ben, /\*Not approved yet\.\* Changed [^.]*Overrides <@U0CHI00001>'s freeze \(ends <!date/)
    expect((await world.ben.submit()).errors).toBeUndefined()
    await untilReport(world.slack, card.ts, /Emergency approval/)
  })

  test('an approval that was to wait, and would not anymore', async () => {
    const world = await startWorldUnder(policy.replace(', self_approval: break-glass', ''))
    const { card } = await requestMove(world)
    await freeze(world)
    expect(JSON.stringify(await openForm(world, world.ben, card))).toContain('Held by a freeze until lifted.')
    await world.chiara.command('/infra unfreeze', { channel: ops })
    await untilCard(world.slack, /\*Unfrozen\*/)
    await again(world, world.ben, /\*Not approved yet\.\* Changed since this form opened:\\nNothing holds it anymore\./)
    expect((await world.ben.submit()).errors).toBeUndefined()
    await untilReport(world.slack, card.ts, /Done/)
  })

  test('one of another request, whose freeze was lifted', async () => {
    const world = await startWorldUnder(policy.replace('self_approval: break-glass', 'emergency: approvers'))
    const { card } = await requestMove(world)
    await freeze(world)
    await openForm(world, world.ben, card)
    await chooseEmergency(world, world.ben, sentence)
    await world.chiara.command('/infra unfreeze', { channel: ops })
    await untilCard(world.slack, /\*Unfrozen\*/)
    await again(world, world.ben, /\*Not approved yet\.\* Changed since this form opened:\\nNothing holds it anymore\./)
    expect((await world.ben.submit()).errors).toBeUndefined()
    expect((await untilReport(world.slack, card.ts, /Done/)).text).not.toContain('Emergency')
  })

  test('an approval that a freeze has begun to hold', async () => {
    const world = await startWorldUnder(policy.replace('self_approval: break-glass', 'confirm: true, emergency: approvers'))
    const { card } = await requestMove(world)
    expect(JSON.stringify(await openForm(world, world.ben, card))).not.toContain('Held')
    await freeze(world)
    await again(world, world.ben, /\*Not approved yet\.\* Changed since this form opened:\\nHeld by a freeze until lifted\./)
    await chooseEmergency(world, world.ben, sentence)
    expect((await world.ben.submit()).errors).toBeUndefined()
    await untilReport(world.slack, card.ts, /Emergency approval/)
  })
})

describe('a request of another person during a freeze', () => {
  const policy = (more: string) => `
rules:
  - { name: moves, changes: ip.move, approve: {any_of: [S0ONCALL01, ${people.ada}], approvals: 2} ${more && `, ${more}`} }
  - { name: freezing, changes: freeze, request: [S0ONCALL01], approve: none }`

  test('still needs all approvals, whoever gives the emergency approval, and whenever', async () => {
    for (const order of ['first', 'last']) {
      const world = await startWorldUnder(policy('emergency: approvers'))
      const { card } = await requestMove(world, { by: world.finn })
      await freeze(world)
      const usual = async (by: Person) => {
        await by.click(card, 'Approve')
        if (order === 'last') {
          await world.slack.until(() => by.topView())
          await by.submit()
        }
      }
      if (order === 'first') await approveInEmergency(world, world.ben, card)
      else await usual(world.ben)
      await untilCard(world.slack, order === 'first' ? /1 of 2 approvals.*emergency, past a freeze.*Emergency reason/s : /1 of 2 approvals/)
      if (order === 'first') await untilReport(world.slack, card.ts, /@ben> approved “.*”, past a freeze\. It was approval 1 of 2\./)
      await wait(500)
      expect(patchesOf(world)).toEqual([])
      if (order === 'first') {
        // Nothing holds it anymore, so that there is nothing to choose.
        await world.chiara.command('/infra pending', { channel: ops })
        await world.chiara.click(await untilShown(world.slack, people.chiara, /needs approval/), 'Approve')
        const form = await world.slack.until(() => world.chiara.topView())
        expect(JSON.stringify(form)).not.toContain('let it wait')
        await world.chiara.submit()
      }
      if (order === 'last') await approveInEmergency(world, world.chiara, card)

      await untilReport(world.slack, card.ts, /Done/)
      expect(patchesOf(world)).toHaveLength(1)
      expect(repliesTo(world, card).filter(({ text }) => /Emergency approval/.test(text))).toHaveLength(1)
    }
  })

  test('is not passed once the policy allows it no more, whether it was given or is being written', async () => {
    const file = policyInFile(policy('emergency: approvers'))
    const world = await startWorld({ env: { POLICY_FILE: file } })
    const records = openRecords(world)
    const { card, elasticIp } = await requestMove(world)
    const other = await requestMove(world, { skip: 1 })
    await freeze(world)
    await approveInEmergency(world, world.ben, card)
    await untilCard(world.slack, new RegExp(`${elasticIp.address}[^]*1 of 2 approvals`))
    await openForm(world, world.ben, other.card)
    await chooseEmergency(world, world.ben, '')
    writeFileSync(file, policy(''))
    await restart(world)

    await world.ben.fill(undefined, { Reason: sentence })
    expect(JSON.stringify(await world.ben.submit())).toContain('Not approved: the rule “moves” allows no emergency approval.')
    const usual = JSON.stringify(await openForm(world, world.chiara, card))
    expect(usual).toContain('Held by a freeze until lifted.')
    expect(usual).not.toContain("Emergency approval: it doesn't wait")
    await world.chiara.submit()
    await untilCard(world.slack, /Approved\.\* Held by a freeze until lifted/)
    await wait(500)

    expect(patchesOf(world)).toEqual([])
    expect((await records.audit()).filter(({ act }) => act === 'refused')).toMatchObject([
      { by: people.ben, causes: [{ code: 'no-emergency' }] },
    ])
  })

  test('is approved without a form where nothing holds it', async () => {
    const world = await startWorldUnder(policy('emergency: approvers'))
    const { card } = await requestMove(world, { by: world.finn })

    await world.ben.click(card, 'Approve')
    await untilCard(world.slack, /1 of 2 approvals/)
    expect(world.ben.openViews()).toEqual([])
  })
})
