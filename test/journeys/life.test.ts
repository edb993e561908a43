import { describe, expect, test } from 'vitest'
import type { Message } from '../sandbox/slack/slack.ts'
import { policyInFile } from './policy-in-file.ts'
import { openRecords, type Records } from './records.ts'
import { ops, people, startWorld, untilCard, untilReport, untilShown, type World, type WorldOptions } from './world.ts'

const finn = 'U0FIN00001'

/** Starts a world under a policy, with Finn as an additional colleague. */
async function startWorldUnder(policy: string, { env = {}, ...options }: WorldOptions = {}) {
  const world = await startWorld({ ...options, env: { ...env, POLICY_FILE: policyInFile(policy) } })
  const { people: staff, channels, userGroups } = world.slack.workspace
  staff.push({ id: finn, name: 'Finn Aalto', handle: 'finn' })
  for (const channel of channels) channel.members.push(finn)
  userGroups.push({ id: 'S0NETWORK1', handle: 'network', name: 'Network', members: [people.ben, finn] })
  userGroups.push({ id: 'S0SECURE01', handle: 'security', name: 'Security', members: [people.ben, people.chiara] })
  return { ...world, finn: world.slack.as(finn), records: openRecords(world) }
}
type PolicyWorld = Awaited<ReturnType<typeof startWorldUnder>>

/** Stops the bot and starts another one. */
async function restart(world: World, whileDown: () => Promise<unknown> = async () => {}) {
  await world.bots[0]?.stop()
  await whileDown()
  const bot = await world.startBot()
  world.bots.splice(0, 1, bot)
  world.slack.connectBot(bot.slackUrl)
}

async function requestMove(world: World, by = world.ada) {
  const { elasticIp, target } = world.accountApi.world.movable()
  await by.command(`/infra ip move ${elasticIp.address} ${target.hostname}`, { channel: ops })
  const card = await untilCard(world.slack, /Waiting for approval|About to start/)
  return { elasticIp, target, card }
}

const writesOf = (world: World) => world.accountApi.journal.writes()
const repliesTo = (world: World, { ts }: Message) => world.slack.thread(ops, ts).slice(1)
const cardNow = (world: World, { ts }: Message) => world.slack.messages(ops).find((message) => message.ts === ts)

/** Replaces what differs from run to run. */
function steady(text: string | undefined): string {
  return (text ?? '').replaceAll(/<!date\^\d+\^[^>]*>/g, 'TIME').replaceAll(/`[0-9a-f]{8}`/g, '`ID`')
}

async function onlyRequest(records: Records) {
  const [request, ...others] = await records.all()
  expect(others).toEqual([])
  if (!request) throw new Error('there is no request')
  return request
}

describe('more than one approval', () => {
  const three = `
rules:
  - name: addresses
    approve: { any_of: [S0ONCALL01, ${finn}], approvals: 3 }
`

  test('is counted on the card and in the answer to each approver, and the last one starts the change', async () => {
    const world = await startWorldUnder(three)
    const { card } = await requestMove(world)

    await world.ben.click(card, 'Approve')
    const first = await untilShown(world.slack, people.ben, /counts/)
    await world.chiara.click(card, 'Approve')
    const second = await untilShown(world.slack, people.chiara, /counts/)
    await world.chiara.click(card, 'Approve')
    const again = await untilShown(world.slack, people.chiara, /already/)
    const counted = await untilCard(world.slack, /2 of 3 approvals/)
    expect(writesOf(world)).toEqual([])
    await world.finn.click(card, 'Approve')
    await untilReport(world.slack, card.ts, /Done/)

    expect([first, second, again].map(({ text }) => text)).toMatchInlineSnapshot(`
      [
        "Your approval counts: 1 of 3. It now waits for 2 more people.",
        "Your approval counts: 2 of 3. It now waits for one more person.",
        "You have approved this already. It waits for one more person. Your click changed nothing.",
      ]
    `)
    expect(steady(counted.text)).toMatchInlineSnapshot(`
      "Move 203.0.113.10 from web-1 to web-2
      :hourglass_flowing_sand: *Waiting for approval* by 3 of <@U0FIN00001> or <!subteam^S0ONCALL01>, until TIME.
      2 of 3 approvals: <@U0BEN00001>, <@U0CHI00001>
      Elastic IP: 203.0.113.10 (eip_2BJYBkPZR5x1t)
      Site: ASH
      From: web-1 (sv_TU8nZb2v5QZal)
      To: web-2 (sv_3yuLZoyuzy2cj, 198.51.100.22)
      Project: Storefront
      Asked for by <@U0ADA00001>, TIME  ·  Request \`ID\`"
    `)
    expect(JSON.stringify(counted.blocks)).toContain(`*2 of 3 approvals*: <@${people.ben}>`)
    const done = await untilCard(world.slack, /\*Done/)
    for (const id of [people.ben, people.chiara, finn]) expect(done.text).toContain(`Approved by <@${id}>`)
    expect(writesOf(world)).toHaveLength(1)
    const decisions = (await world.records.audit()).filter(({ act }) => act === 'count-approval' || act === 'approve')
    expect(
      decisions.map(({ by, rule, via, from, to, missing, needed }) => ({ by, rule, via, from, to, missing, needed })),
    ).toMatchInlineSnapshot(`
      [
        {
          "by": "U0BEN00001",
          "from": "waiting",
          "missing": 2,
          "needed": 3,
          "rule": "addresses",
          "to": "waiting",
          "via": "S0ONCALL01",
        },
        {
          "by": "U0CHI00001",
          "from": "waiting",
          "missing": 1,
          "needed": 3,
          "rule": "addresses",
          "to": "waiting",
          "via": "S0ONCALL01",
        },
        {
          "by": "U0FIN00001",
          "from": "waiting",
          "missing": undefined,
          "needed": undefined,
          "rule": "addresses",
          "to": "approved",
          "via": "U0FIN00001",
        },
      ]
    `)
  })

  test('of two groups has to come from two people, also if one person is in both', async () => {
    const world = await startWorldUnder('rules:\n  - { name: both, approve: { all_of: [S0NETWORK1, S0SECURE01] } }')
    const { card } = await requestMove(world)

    await world.ben.click(card, 'Approve')
    await untilShown(world.slack, people.ben, /1 of 2/)
    await world.ben.click(card, 'Approve')
    await untilShown(world.slack, people.ben, /You have approved this already/)
    expect(await onlyRequest(world.records)).toMatchObject({ state: 'waiting' })
    await world.finn.click(card, 'Approve')

    await untilReport(world.slack, card.ts, /Done/)
  })

  test('does not count two members of one group for another group', async () => {
    const world = await startWorldUnder('rules:\n  - { name: both, approve: { all_of: [S0NETWORK1, S0SECURE01] } }')
    world.slack.setUserGroup('S0SECURE01', { members: [people.chiara] })
    const { card } = await requestMove(world)

    await world.ben.click(card, 'Approve')
    await untilShown(world.slack, people.ben, /counts/)
    await world.finn.click(card, 'Approve')
    const said = await untilShown(world.slack, finn, /counts/)
    expect(await onlyRequest(world.records)).toMatchObject({ state: 'waiting' })
    await world.chiara.click(card, 'Approve')

    expect(said.text).toMatchInlineSnapshot(`"Your approval counts: 1 of 2. It now waits for one more person."`)
    await untilReport(world.slack, card.ts, /Done/)
  })

  test('no longer counts a person who left the group after approving', async () => {
    const world = await startWorldUnder('rules:\n  - { name: two, approve: { any_of: [S0ONCALL01], approvals: 2 } }')
    const { card } = await requestMove(world)
    await world.chiara.click(card, 'Approve')
    await untilShown(world.slack, people.chiara, /counts/)

    world.slack.setUserGroup('S0ONCALL01', { members: [people.ben, finn] })
    await world.ben.click(card, 'Approve')
    const said = await untilShown(world.slack, people.ben, /counts/)
    expect(await onlyRequest(world.records)).toMatchObject({ state: 'waiting' })
    expect(said.text).toMatchInlineSnapshot(`"Your approval counts: 1 of 2. It now waits for one more person."`)

    await world.finn.click(card, 'Approve')
    await untilReport(world.slack, card.ts, /Done/)
    expect(writesOf(world)).toHaveLength(1)
  })
})

describe('a waiting card', () => {
  test('counts only approvals that are still valid', async () => {
    const world = await startWorldUnder('rules:\n  - { name: two, approve: { any_of: [S0ONCALL01], approvals: 2 } }')
    const { card } = await requestMove(world)
    await world.chiara.click(card, 'Approve')
    await untilShown(world.slack, people.chiara, /counts/)

    world.slack.setUserGroup('S0ONCALL01', { members: [people.ben, finn] })
    await world.ben.click(card, 'Approve')
    await untilShown(world.slack, people.ben, /1 of 2/)

    expect(cardNow(world, card)?.text).toContain('1 of 2 approvals')
  })

  test('counts nobody for a group that has not approved', async () => {
    const world = await startWorldUnder('rules:\n  - { name: both, approve: { all_of: [S0NETWORK1, S0SECURE01] } }')
    world.slack.setUserGroup('S0SECURE01', { members: [people.chiara] })
    const { card } = await requestMove(world)
    await world.ben.click(card, 'Approve')
    await untilShown(world.slack, people.ben, /1 of 2/)

    await world.finn.click(card, 'Approve')
    await untilShown(world.slack, finn, /1 of 2/)

    expect(cardNow(world, card)?.text).toContain('1 of 2 approvals')
  })
})

describe('reminders and expiry', () => {
  test('approvers are reminded in the thread at half and nine tenths of the time, once each, and then it expires', async () => {
    const world = await startWorldUnder('rules:\n  - { name: soon, approve: [S0ONCALL01], expires: 5s }', { replicas: 2 })
    const { card } = await requestMove(world)

    await untilReport(world.slack, card.ts, /Expired/)

    const replies = repliesTo(world, card)
    expect(replies.map(({ text }) => text.replace(/expires in \d+ s/, 'expires in TIME'))).toMatchInlineSnapshot(`
      [
        ":hourglass_flowing_sand: <!subteam^S0ONCALL01> “Move 203.0.113.10 from web-1 to web-2” still waits for approval. It expires in TIME: press *Approve* or *Reject* on the card above.",
        ":hourglass_flowing_sand: <!subteam^S0ONCALL01> “Move 203.0.113.10 from web-1 to web-2” still waits for approval. It expires in TIME: press *Approve* or *Reject* on the card above.",
        "<@U0ADA00001> :alarm_clock: *Expired:* nobody decided “Move 203.0.113.10 from web-1 to web-2” in time, and nothing was done. Press *Request again* on the card if it is still wanted.",
      ]
    `)
    const { createdAt } = await onlyRequest(world.records)
    const [half = 0, last = 0, end = 0] = replies.map(({ ts }) => Number(ts) * 1000 - createdAt)
    expect(half).toBeGreaterThanOrEqual(2_500)
    expect(last).toBeGreaterThanOrEqual(4_500)
    expect(end).toBeGreaterThanOrEqual(5_000)
    await untilCard(world.slack, /\*Expired\*/)
    expect((await world.records.audit()).map(({ act }) => act)).toEqual(['request', 'remind-half', 'remind-last', 'expire'])
  })

  test('each is sent once across restarts, only the later one if both were missed, and the request expires while no bot runs', async () => {
    const world = await startWorldUnder('rules:\n  - { name: hours, approve: [S0ONCALL01], expires: 10h }')
    const { records, slack } = world
    const hours = (count: number) => count * 3_600_000
    const { card } = await requestMove(world)
    const { id } = await onlyRequest(records)

    await restart(world, () => records.shiftTimes(id, hours(5.5)))
    const half = await untilReport(slack, card.ts, /still waits for approval/)
    await restart(world, () => records.shiftTimes(id, hours(1)))
    await restart(world, () => records.shiftTimes(id, hours(3)))
    const last = await slack.until(() => repliesTo(world, card)[1])
    await restart(world, () => records.shiftTimes(id, hours(1)))
    await untilReport(slack, card.ts, /Expired/)

    expect(half.text).toContain('It expires in 4 h')
    expect(last.text).toContain('It expires in 30 min')
    expect(repliesTo(world, card)).toHaveLength(3)

    const second = await requestMove(world)
    const [other] = (await records.all()).filter((request) => request.id !== id)
    await restart(world, () => records.shiftTimes(other?.id ?? '', hours(9.5)))
    await untilReport(slack, second.card.ts, /still waits for approval/)
    await world.ben.click(second.card, 'Approve')
    await untilReport(slack, second.card.ts, /Done/)

    expect(repliesTo(world, second.card).map(({ text }) => text)).toMatchInlineSnapshot(`
      [
        ":hourglass_flowing_sand: <!subteam^S0ONCALL01> “Move 203.0.113.10 from web-1 to web-2” still waits for approval. It expires in 30 min: press *Approve* or *Reject* on the card above.",
        "<@U0ADA00001> :large_green_circle: *Done.* 203.0.113.10 now answers from web-2.",
      ]
    `)
  })

  test('a reminder whose answer was lost is searched for while Slack has trouble, and comes once', async () => {
    const world = await startWorldUnder('rules:\n  - { name: hours, approve: [S0ONCALL01], expires: 10h }')
    const { card } = await requestMove(world)
    const { id } = await onlyRequest(world.records)
    const isReminder = ({ text }: Record<string, unknown>) => /still waits/.test(String(text))
    const lost = world.slack.faults.add({ method: 'chat.postMessage', kind: 'drop-after', when: isReminder })
    const trouble = world.slack.faults.add({ method: 'conversations.replies', kind: 'status', status: 503 })

    await restart(world, () => world.records.shiftTimes(id, 5.5 * 3_600_000))
    await world.slack.until(() => world.slack.calls('conversations.replies')[1], { timeoutMs: 15_000, what: 'the second look for it' })
    await expect.poll(() => world.records.redis.zcard(world.records.keys.outbox), { timeout: 5_000 }).toBe(0)

    expect([lost.fired, trouble.fired]).toEqual([1, 1])
    expect(repliesTo(world, card).map(({ text }) => text.includes('repeat'))).toEqual([false])
  })

  test('an approval is not delayed by a reminder that is being sent', async () => {
    const world = await startWorldUnder('rules:\n  - { name: hours, approve: [S0ONCALL01], expires: 10h }')
    const { card } = await requestMove(world)
    const { id } = await onlyRequest(world.records)
    const isReminder = ({ text }: Record<string, unknown>) => /still waits/.test(String(text))
    const slow = world.slack.faults.add({ method: 'chat.postMessage', kind: 'delay', delayMs: 1_000, when: isReminder })
    await restart(world, () => world.records.shiftTimes(id, 5.5 * 3_600_000))
    await expect.poll(() => slow.fired, { timeout: 5_000, interval: 20 }).toBe(1)

    await world.ben.click(card, 'Approve')

    await world.slack.until(() => repliesTo(world, card).some(({ text }) => /Done/.test(text)), {
      timeoutMs: 5_000,
      what: 'the end of the move',
    })
  })

  test('the reminder of a request with one approval mentions it', async () => {
    const world = await startWorldUnder('rules:\n  - { name: two, approve: { any_of: [S0ONCALL01], approvals: 2 }, expires: 1s }')
    const { card } = await requestMove(world)
    await world.ben.click(card, 'Approve')

    const reminder = await untilReport(world.slack, card.ts, /still waits/)

    expect(reminder.text).toContain('It has 1, and needs 1 more.')
  })
})

describe('stop watching', () => {
  const policy = 'rules:\n  - { name: addresses, approve: [S0ONCALL01] }'

  async function startedMove(options: WorldOptions = {}) {
    const world = await startWorldUnder(policy, { ...options, account: { moveTakes: { min: 600_000, max: 600_000 } } })
    const requested = await requestMove(world)
    await world.ben.click(requested.card, 'Approve')
    await untilCard(world.slack, /\*Moving\*/)
    return { world, ...requested, moving: await untilCard(world.slack, /\*Moving\*/) }
  }

  test('ends the tracking and reports it; watch again resumes it and reports the end', async () => {
    const { world, elasticIp, moving } = await startedMove()

    await world.finn.click(moving, 'Stop watching')
    const denied = await untilShown(world.slack, finn, /not an approver/)
    const changedTheirMind = await world.chiara.click(moving, 'Stop watching', { confirm: 'deny' })
    await world.chiara.click(moving, 'Stop watching')
    const stopReport = await untilReport(world.slack, moving.ts, /No longer followed/)
    const stopped = await untilCard(world.slack, /No longer followed/)
    world.accountApi.world.endMove(elasticIp.id)
    await world.ada.click(stopped, 'Watch again')
    const report = await untilReport(world.slack, moving.ts, /Done/)

    expect(denied.text).toMatchInlineSnapshot(`"You are not an approver of this. <!subteam^S0ONCALL01> can decide it."`)
    expect(changedTheirMind.outcome).toBe('not-sent')
    expect(stopReport.text.replace(/after .*?\./, 'after TIME.')).toMatchInlineSnapshot(
      `"<@U0ADA00001> :large_orange_circle: *No longer followed:* “Move 203.0.113.10 from web-1 to web-2”. <@U0CHI00001> stopped it after TIME. The account API had accepted it, so it may still complete, and I do not tell when. *Watch again* on the card takes it up again."`,
    )
    expect(report.text).toContain(`${elasticIp.address} now answers from`)
    expect(writesOf(world)).toHaveLength(1)
    const acts = (await world.records.audit()).map(({ act }) => act)
    expect(acts).toEqual(['request', 'approve', 'send', 'accept', 'refused', 'stop-tracking', 'track-again', 'finish'])
  })

  test('is reported again if another person does it again, also if the answer to that report is lost', async () => {
    const { world, moving } = await startedMove()
    const isByAda = ({ text }: Record<string, unknown>) => String(text).includes(`<@${people.ada}> stopped it`)
    await world.chiara.click(moving, 'Stop watching')
    await untilReport(world.slack, moving.ts, /No longer followed/)
    await world.ada.click(await untilCard(world.slack, /No longer followed/), 'Watch again')
    const again = await untilCard(world.slack, /\*Moving\*/)
    const lost = world.slack.faults.add({ method: 'chat.postMessage', kind: 'drop-before', when: isByAda })

    await world.ada.click(again, 'Stop watching')
    await world.slack.until(() => repliesTo(world, moving)[1], { timeoutMs: 10_000, what: 'the second stop' })
    await expect.poll(() => world.records.redis.zcard(world.records.keys.outbox), { timeout: 5_000 }).toBe(0)

    expect(lost.fired).toBe(1)
    expect(repliesTo(world, moving).map(({ text }) => text.match(/<@\w+> stopped it/)?.[0])).toEqual([
      `<@${people.chiara}> stopped it`,
      `<@${people.ada}> stopped it`,
    ])
  })

  test('watch again, pressed twice at the same moment, resumes the tracking once and reports it', async () => {
    const { world, moving } = await startedMove({ replicas: 2 })
    await world.ada.click(moving, 'Stop watching')
    const stopped = await untilCard(world.slack, /No longer followed/)

    const clicks = world.bots.map(({ slackUrl }) => {
      world.slack.connectBot(slackUrl)
      return world.ada.click(stopped, 'Watch again')
    })
    await Promise.all(clicks)
    await untilCard(world.slack, /\*Moving\*/)
    const said = await world.slack.until(() => world.slack.ephemerals(people.ada)[1])

    expect(said.text).toBe(`This was approved by <@${people.ben}> already and is under way now. Your click changed nothing.`)
  })

  test('cannot be undone once another change of the same address was requested', async () => {
    const { world, elasticIp, moving } = await startedMove()
    await world.ada.click(moving, 'Stop watching')
    const stopped = await untilCard(world.slack, /No longer followed/)
    world.accountApi.world.endMove(elasticIp.id)
    const third = world.accountApi.world.third(elasticIp.id)
    await world.finn.command(`/infra ip move ${elasticIp.address} ${third.hostname}`, { channel: ops })
    await untilCard(world.slack, /Waiting for approval/)

    await world.ada.click(stopped, 'Watch again')

    const said = await untilShown(world.slack, people.ada, /Something else/)
    expect(said.text).toMatchInlineSnapshot(
      `"Something else has been asked for with the same thing since, so I do not follow this any more. Your click changed nothing."`,
    )
    expect(cardNow(world, stopped)?.text).toContain('No longer followed')
  })
})

describe('break-glass', () => {
  const policy = `
rules:
  - name: addresses
    changes: ip.move
    approve: { any_of: [S0ONCALL01], approvals: 2 }
    self_approval: break-glass
  - name: names
    changes: vm.rename
    approve: [S0ONCALL01]
`

  test('takes a reason and a second confirmation, is posted to the channel, and is in the audit', async () => {
    const world = await startWorldUnder(policy)
    const { card } = await requestMove(world, world.ben)

    await world.ben.click(card, 'Approve')
    const form = await world.slack.until(() => world.ben.topView())
    await world.ben.fill(form, { Reason: 'The site is down', 'Are you sure?': 'No, somebody else shall decide' })
    const unsure = await world.ben.submit()
    expect(await onlyRequest(world.records)).toMatchObject({ state: 'waiting' })
    await world.ben.fill(form, { 'Are you sure?': 'Yes, I approve my own request' })
    const sure = await world.ben.submit()
    await untilReport(world.slack, card.ts, /Done/)

    expect(form.title).toBe('Break the glass')
    expect(unsure.errors).toMatchInlineSnapshot(`
      {
        "confirmed": "Confirm that you approve what you asked for yourself.",
      }
    `)
    expect(sure.errors).toBeUndefined()
    const report = await untilReport(world.slack, card.ts, /Break-glass/)
    expect(report.text).toMatchInlineSnapshot(
      `":rotating_light: *Break-glass.* <!subteam^S0ONCALL01>: <@U0BEN00001> asked for “Move 203.0.113.10 from web-1 to web-2” and approved it alone. Reason: “The site is down”. Look at it now, and talk about it afterwards."`,
    )
    const [post] = world.slack.calls('chat.postMessage').filter(({ args }) => /Break-glass/.test(String(args.text)))
    expect(String(post?.args.reply_broadcast)).toBe('true')
    const done = await untilCard(world.slack, /\*Done/)
    expect(steady(done.text).split('\n').at(-1)).toMatchInlineSnapshot(
      `"Asked for by <@U0BEN00001>, TIME  ·  :rotating_light: *Break-glass:* approved alone by <@U0BEN00001>, who asked for it, TIME. Reason: “The site is down”  ·  Request \`ID\`"`,
    )
    const [entry] = (await world.records.audit()).filter(({ act }) => act === 'break-glass')
    expect(entry).toMatchObject({ by: people.ben, reason: 'The site is down', from: 'waiting', to: 'approved' })
    expect(entry).toMatchObject({ rule: 'addresses', via: 'S0ONCALL01' })
    expect(writesOf(world)).toHaveLength(1)
  })

  test('is refused if the requester could not approve it for others', async () => {
    const world = await startWorldUnder(policy)
    const { card } = await requestMove(world)

    await world.ada.click(card, 'Approve')

    const said = await untilShown(world.slack, people.ada, /approver/)
    expect(said.text).toMatchInlineSnapshot(`"You are not an approver of this. 2 of <!subteam^S0ONCALL01> can decide it."`)
    expect(world.ada.openViews()).toEqual([])
    expect(await onlyRequest(world.records)).toMatchObject({ state: 'waiting' })
  })

  test('is refused if the rule does not allow it', async () => {
    const world = await startWorldUnder(policy)
    const [machine] = world.accountApi.world.data.virtualMachines
    await world.ben.command(`/infra vm rename ${machine?.id} web-renamed`, { channel: ops })
    const card = await untilCard(world.slack, /Waiting for approval/)

    await world.ben.click(card, 'Approve')

    expect((await untilShown(world.slack, people.ben, /yourself/)).text).toMatchInlineSnapshot(
      `"You asked for this yourself, so another person has to decide it. You can withdraw it."`,
    )
    expect((await world.records.audit()).at(-1)).toMatchObject({ act: 'refused', by: people.ben })
  })

  test('is refused if the requester left the group while the form was open', async () => {
    const world = await startWorldUnder(policy)
    const { card } = await requestMove(world, world.ben)
    await world.ben.click(card, 'Approve')
    const form = await world.slack.until(() => world.ben.topView())
    await world.ben.fill(form, { Reason: 'The site is down', 'Are you sure?': 'Yes, I approve my own request' })

    world.slack.setUserGroup('S0ONCALL01', { members: [people.chiara, finn] })
    await world.ben.submit()

    expect(JSON.stringify(world.ben.topView().view)).toContain('You are not an approver of this.')
    expect(await onlyRequest(world.records)).toMatchObject({ state: 'waiting' })
  })
})

describe('after the end', () => {
  const policy = 'rules:\n  - { name: everything, approve: [S0ONCALL01] }'

  async function rejected(world: PolicyWorld, card: Message) {
    await world.ben.click(card, 'Reject')
    const form = await world.slack.until(() => world.ben.topView())
    await world.ben.fill(form, { Reason: 'Not during the sale' })
    await world.ben.submit()
    return world.slack.until(() => world.slack.messages(ops).find(({ ts, text }) => ts === card.ts && /\*Rejected\*/.test(text)))
  }

  /** Presses *Request again* and returns the initial values of the form. */
  async function requestAgain(world: PolicyWorld, card: Message) {
    await world.ada.click(card, 'Request again')
    const form = await world.slack.until(() => world.ada.topView())
    const blocks = form.view.blocks as { label?: { text: string }; element?: Record<string, unknown>; text?: { text: string } }[]
    const shown = blocks.map(({ label, element, text }) => {
      const option = element?.initial_option as { text: { text: string } } | undefined
      return label ? `${label.text}: ${element?.initial_value ?? option?.text.text ?? ''}` : (text?.text ?? '')
    })
    return [form.title, ...shown]
  }

  test('a voided request shows what changed on the account, and nothing was done', async () => {
    const world = await startWorldUnder(policy)
    const { elasticIp, card } = await requestMove(world)
    const third = world.accountApi.world.third(elasticIp.id)

    world.accountApi.world.moveBehindOurBack(elasticIp.id, third.id)
    await world.ben.click(card, 'Approve')

    const report = await untilReport(world.slack, card.ts, /Nothing was done/)
    expect(report.text).toMatchInlineSnapshot(
      `"<@U0ADA00001> :large_orange_circle: *Nothing was done:* “Move 203.0.113.10 from web-1 to web-2” was approved, but the account has changed since it was asked for. 203.0.113.10 was on web-1 when this was asked for, and is on bastion-1 now. Press *Request again* on the card if it is still wanted."`,
    )
    expect((await untilCard(world.slack, /Void/)).text).toContain(`is on ${third.hostname} now.`)
    expect(writesOf(world)).toEqual([])
    expect((await world.records.audit()).at(-1)).toMatchObject({ act: 'void', from: 'approved', to: 'voided' })
  })

  test('request again opens the form of the change with the earlier values', async () => {
    const world = await startWorldUnder(policy)
    const { elasticIp, target } = world.accountApi.world.movable()
    await world.ada.command('/infra ip move', { channel: ops })
    const form = await world.slack.until(() => world.ada.topView())
    await world.ada.fill(form, { 'Elastic IP': elasticIp.id, Server: target.id, Reason: 'web-1 is to be rebooted' })
    await world.ada.submit()
    const move = await rejected(world, await untilCard(world.slack, /Waiting for approval/))
    expect(await requestAgain(world, move)).toMatchInlineSnapshot(`
      [
        "Move an Elastic IP",
        "Elastic IP: 203.0.113.10",
        "Server: web-2",
        "Reason: web-1 is to be rebooted",
      ]
    `)
    await world.ada.submit()
    const second = await untilCard(world.slack, /Waiting for approval/)
    expect(second.ts).not.toBe(move.ts)
    expect(second.text).toContain('web-1 is to be rebooted')

    const [machine] = world.accountApi.world.data.virtualMachines
    await world.ada.command(`/infra vm rename ${machine?.id} web-renamed`, { channel: ops })
    const rename = await rejected(world, await untilCard(world.slack, /Rename[\s\S]*Waiting for approval/))
    expect(await requestAgain(world, rename)).toMatchInlineSnapshot(`
      [
        "Rename virtual machine",
        "Virtual machine: preview-1 (Storefront, ASH)",
        "New name: web-renamed",
        "Reason: ",
      ]
    `)
    await world.ada.close()

    await world.ada.command('/infra keys create ci-deploy', { channel: ops })
    const key = await rejected(world, await untilCard(world.slack, /Create API key[\s\S]*Waiting for approval/))
    expect(await requestAgain(world, key)).toMatchInlineSnapshot(`
      [
        "Create an API key",
        "Name: ci-deploy",
        "Access: Read-only",
        "Allowed addresses: ",
        "Reason: ",
      ]
    `)
  })

  test('request again for a change without a form shows the earlier request and submits the same', async () => {
    const world = await startWorldUnder(policy)
    await world.ada.command('/infra keys revoke terraform', { channel: ops })
    const revoke = await rejected(world, await untilCard(world.slack, /Revoke[\s\S]*Waiting for approval/))
    const shown = await requestAgain(world, revoke)
    await world.ada.fill(undefined, { Reason: 'It was found in a log' })
    const again = await world.ada.submit()
    const card = await world.slack.until(() =>
      world.slack.messages(ops).find(({ ts, text }) => ts > revoke.ts && /Waiting for approval/.test(text)),
    )

    expect(shown).toMatchInlineSnapshot(`
      [
        "Request again",
        "*Revoke API key terraform*",
        "Reason: ",
      ]
    `)
    expect(again.errors).toBeUndefined()
    expect(card.text).toContain('It was found in a log')
    await rejected(world, card)

    await world.ada.command('/infra keys rotate terraform', { channel: ops })
    const rotate = await rejected(world, await untilCard(world.slack, /Rotate[\s\S]*Waiting for approval/))
    expect(await requestAgain(world, rotate)).toMatchInlineSnapshot(`
      [
        "Request again",
        "*Rotate API key terraform*",
        "Reason: ",
      ]
    `)
  })

  test('move back is a request of its own, which another person approves', async () => {
    const world = await startWorldUnder(policy)
    const { elasticIp, card } = await requestMove(world)
    await world.ben.click(card, 'Approve')
    const done = await untilCard(world.slack, /\*Done/)

    await world.ben.click(done, 'Move back')
    const back = await untilCard(world.slack, /Waiting for approval/)
    await world.ben.click(back, 'Approve')
    await untilShown(world.slack, people.ben, /yourself/)
    await world.chiara.click(back, 'Approve')
    await untilReport(world.slack, back.ts, /Done/)

    expect(steady(back.text).replace(/request \w{8}/, 'request ID')).toMatchInlineSnapshot(`
      "Move 203.0.113.10 from web-2 to web-1
      :hourglass_flowing_sand: *Waiting for approval* by <!subteam^S0ONCALL01>, until TIME.
      Elastic IP: 203.0.113.10 (eip_2BJYBkPZR5x1t)
      Site: ASH
      From: web-2 (sv_3yuLZoyuzy2cj)
      To: web-1 (sv_TU8nZb2v5QZal, 198.51.100.21)
      Project: Storefront
      Reason: “Undoes request ID.”
      Asked for by <@U0BEN00001>, TIME  ·  Request \`ID\`"
    `)
    expect(world.accountApi.world.elasticIp(elasticIp.id)?.serverId).toBe(elasticIp.serverId)
    expect(writesOf(world)).toHaveLength(2)
  })
})
