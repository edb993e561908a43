import { describe, expect, onTestFinished, test } from 'vitest'
import { policyInFile } from './policy-in-file.ts'
import { openRecords } from './records.ts'
import { wordsOf } from './subject.ts'
import { general, ops, people, startWorld, untilCard, untilReport, untilShown } from './world.ts'

const finn = 'U0FIN00001'
const nobody = 'S0NOBODY01'

async function startWorldUnder(policy: string) {
  const world = await startWorld({ env: { POLICY_FILE: policyInFile(policy) } })
  const { people: staff, channels, userGroups } = world.slack.workspace
  staff.push({ id: finn, name: 'Finn Aalto', handle: 'finn' })
  for (const channel of channels) channel.members.push(finn)
  userGroups.push({ id: nobody, handle: 'nobody', name: 'Nobody yet', members: [] })
  userGroups.push({ id: 'S0PAGED001', handle: 'paged', name: 'Who is paged', members: [finn] })
  world.slack.invite(general)
  return { ...world, finn: world.slack.as(finn), records: openRecords(world) }
}
type PolicyWorld = Awaited<ReturnType<typeof startWorldUnder>>

/** Ada requests a move that is possible. */
async function requestMove(world: PolicyWorld, channel = ops, by = world.ada) {
  const { elasticIp, target } = world.accountApi.world.movable()
  await by.command(`/infra ip move ${elasticIp.address} ${target.hostname}`, { channel })
}

async function expectNoRequest(world: PolicyWorld) {
  expect(await world.records.all()).toEqual([])
  expect(world.accountApi.journal.writes()).toEqual([])
  expect((await world.records.audit()).map(({ act }) => act)).toEqual(['refused'])
}

describe('which rule holds', () => {
  const policy = `
rules:
  - name: production
    changes: ip.move
    projects: [{name: Storefront}]
    channels: [${ops}]
    approve: [${people.chiara}]
  - name: other addresses
    changes: ip.move
    channels: [${ops}]
    request: [${people.ada}]
    approve: [${people.ben}]
`

  test('the first one that fits kind, project and channel decides alone', async () => {
    const world = await startWorldUnder(policy)
    const { elasticIp, target } = world.accountApi.world.movable()
    await requestMove(world)
    const card = await untilCard(world.slack, /needs approval from/)

    await world.ben.click(card, 'Approve')
    const denied = await untilShown(world.slack, people.ben, /aren't an approver/)
    await world.chiara.click(card, 'Approve')
    await untilReport(world.slack, card.ts, /Done/)

    expect(wordsOf(denied)).toBe(`You aren't an approver of this request. <@${people.chiara}> can approve or reject it.`)
    const entry = (await world.records.audit()).find(({ act }) => act === 'approve')
    expect(entry).toMatchObject({ by: people.chiara, rule: 'production', via: people.chiara })
    expect(world.accountApi.world.elasticIp(elasticIp.id)?.serverId).toBe(target.id)
  })

  test('another project falls to the rule below', async () => {
    const world = await startWorldUnder(policy)
    const elsewhere = [...Array(12).keys()].map((skip) => world.accountApi.world.movable(skip))
    const storefront = elsewhere[0]?.elasticIp.projectId
    const { elasticIp, target } = elsewhere.find((pair) => pair.elasticIp.projectId !== storefront) ?? world.accountApi.world.movable()

    await world.ada.command(`/infra ip move ${elasticIp.id} ${target.id}`, { channel: ops })
    const card = await untilCard(world.slack, /needs approval from/)
    await world.finn.command(`/infra ip move ${elasticIp.id} ${target.id}`, { channel: ops })

    expect(card.text).toContain(`needs approval from <@${people.ben}> by`)
    expect((await untilShown(world.slack, finn, /can't request this here/)).text).toMatchInlineSnapshot(
      `"You can't request this here. These requesters can: <@U0ADA00001>. Ask one of them, or the people who run Lockkeeper."`,
    )
  })

  test('a channel without a rule is refused, with the channel where the change can be requested', async () => {
    const world = await startWorldUnder(policy)

    await requestMove(world, general)

    expect((await untilShown(world.slack, people.ada, /No policy rule/)).text).toMatchInlineSnapshot(
      `"No policy rule allows moving an Elastic IP in this channel. Request it in <#C0OPS00001>."`,
    )
    await expectNoRequest(world)
  })

  test('an unknown project reaches no laxer rule', async () => {
    const world = await startWorldUnder(policy)
    world.accountApi.faults.add({ method: 'GET', path: /elastic_ips\/\w|servers/, kind: 'status', status: 503, times: 100 })
    const { elasticIp, target } = world.accountApi.world.movable()

    await world.ada.command(`/infra ip move ${elasticIp.id} ${target.id}`, { channel: ops })

    expect((await untilShown(world.slack, people.ada, /project/)).text).toMatchInlineSnapshot(
      `"Couldn't read the project from the account API, and the rule “production” depends on it. Nothing was requested. Try again in a minute."`,
    )
    await expectNoRequest(world)
  })
})

describe('the approvers of a rule', () => {
  test('are nobody: the request is refused at once, with the reason', async () => {
    const world = await startWorldUnder(`rules:\n  - { name: addresses, approve: [${nobody}] }`)

    await requestMove(world)

    expect((await untilShown(world.slack, people.ada, /Not enough approvers/)).text).toMatchInlineSnapshot(
      `"Not enough approvers: rule “addresses” needs 1 besides you. Nothing was requested. The people who run Lockkeeper can add active members to the rule."`,
    )
    await expectNoRequest(world)
  })

  test('are in a group that Slack cannot read: the card shows what was not checked, and clicks are denied', async () => {
    const world = await startWorldUnder('rules:\n  - { name: addresses, approve: [S0ONCALL01] }')
    const outage = world.slack.faults.add({ method: 'usergroups.users.list', kind: 'error', error: 'internal_error', times: 100 })
    await requestMove(world)
    const card = await untilCard(world.slack, /needs approval from/)

    await world.ben.click(card, 'Approve')
    const denied = await untilShown(world.slack, people.ben, /Slack didn't return/)

    expect(card.text.split('\n').find((line) => line.includes('Not checked'))).toMatchInlineSnapshot(
      `"•  Not checked: whether enough people can approve it (Slack didn't return the members of the user group)."`,
    )
    expect(wordsOf(denied)).toMatchInlineSnapshot(
      `"Slack didn't return the members of the user group, so this couldn't be checked. Nothing was done. Try again in a minute."`,
    )
    expect(await world.records.all()).toMatchObject([{ state: 'waiting', approvals: [] }])
    expect((await world.records.audit()).at(-1)).toMatchObject({ act: 'refused', by: people.ben })

    outage.remove()
    await world.ben.click(card, 'Approve')
    await untilReport(world.slack, card.ts, /Done/)
  })
})

describe('the people whom a card mentions', () => {
  const mentions = (card: { text: string; blocks?: unknown[] }) => ({
    text: [...card.text.matchAll(/<(?:@|!subteam\^)\w+>/g)].map(([found]) => found),
    blocks: [...JSON.stringify(card.blocks).matchAll(/<(?:@|!subteam\^)\w+>/g)].map(([found]) => found),
  })

  test('are only those of the rule, and those who may approve are shown by name', async () => {
    const world = await startWorldUnder(
      `rules:\n  - { name: addresses, approve: [S0ONCALL01, ${finn}], mention: [S0PAGED001], expires: 4s }`,
    )
    await requestMove(world)
    const card = await untilCard(world.slack, /needs approval from/)
    const reminder = await untilReport(world.slack, card.ts, /still needs/)

    const called = [`<@${people.ada}>`, '<!subteam^S0PAGED001>']
    expect(mentions(card)).toEqual({ text: called, blocks: called })
    expect(card.text.split('\n')[1]?.replace(/<!date.*?>/, 'TIME')).toMatchInlineSnapshot(
      `"<@U0ADA00001> needs approval from @finn or @oncall by TIME (4 s after the request). cc <!subteam^S0PAGED001>"`,
    )
    expect(mentions(reminder)).toEqual({ text: ['<!subteam^S0PAGED001>'], blocks: ['<!subteam^S0PAGED001>'] })
  })
})

describe('changes are refused', () => {
  const policy = 'rules:\n  - { name: addresses, approve: [S0ONCALL01] }'

  test('in a direct message', async () => {
    const world = await startWorldUnder(policy)
    const { id } = world.slack.workspace.channels.find(({ isDirect }) => isDirect) ?? { id: 'D0ADA00001' }
    world.slack.workspace.channels.push({ id, name: 'directmessage', topic: '', members: [people.ada, 'U0LOCKKEEP'], isDirect: true })

    await requestMove(world, id)

    expect((await untilShown(world.slack, people.ada, /direct/)).text).toMatchInlineSnapshot(
      `"You can't request changes in a direct message, because nobody else could approve them. Use a channel."`,
    )
    await expectNoRequest(world)
  })

  test('in a channel of Slack Connect', async () => {
    const world = await startWorldUnder(policy)

    await requestMove(world, 'C0SHARED01')

    expect((await untilShown(world.slack, people.ada, /shared/)).text).toMatchInlineSnapshot(
      `"Nobody can use Lockkeeper here: this channel is shared with another organization (Slack Connect). Use a channel that isn't shared."`,
    )
    await expectNoRequest(world)
  })

  test('if their channel is shared after the request', async () => {
    const world = await startWorldUnder(policy)
    await requestMove(world)
    const card = await untilCard(world.slack, /needs approval from/)
    Object.assign(world.slack.workspace.channels.find(({ id }) => id === ops) ?? {}, { isShared: true })
    // What a channel is, is cached for a minute. This bot has not read it yet.
    const { slackUrl, stop } = await world.startBot()
    onTestFinished(stop)
    world.slack.connectBot(slackUrl)

    await world.ben.click(card, 'Approve')

    expect((await untilShown(world.slack, people.ben, /shared/)).text).toMatchInlineSnapshot(
      `"Nobody can use Lockkeeper here: this channel is shared with another organization (Slack Connect). Use a channel that isn't shared."`,
    )
    expect(await world.records.all()).toMatchObject([{ state: 'waiting', approvals: [] }])
  })
})
