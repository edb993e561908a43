import { describe, expect, onTestFinished, test } from 'vitest'
import { finn, type PolicyWorld, startWorldUnder as start } from './policy-world.ts'
import { wordsOf } from './subject.ts'
import { general, ops, people, untilCard, untilReport, untilShown } from './world.ts'

const nobody = 'S0NOBODY01'

async function startWorldUnder(policy: string) {
  const world = await start(policy, {
    staff: ({ userGroups }) => {
      userGroups.push({ id: nobody, handle: 'nobody', name: 'Nobody yet', members: [] })
      userGroups.push({ id: 'S0PAGED001', handle: 'paged', name: 'Who is paged', members: [finn] })
    },
  })
  world.slack.invite(general)
  return world
}

/** Ada requests a move that is possible. */
async function requestMove(world: PolicyWorld, channel = ops) {
  const { elasticIp, target } = world.accountApi.world.movable()
  await world.ada.command(`/infra ip move ${elasticIp.address} ${target.hostname}`, { channel })
  return { elasticIp, target }
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
    const { elasticIp, target } = await requestMove(world)
    const card = await untilCard(world.slack, /needs approval from/)

    await world.ben.click(card, 'Approve')
    const denied = await untilShown(world.slack, people.ben, /aren't an approver/)
    await world.chiara.click(card, 'Approve')
    await untilReport(world.slack, card.ts, /Done/)

    expect(wordsOf(denied)).toBe(`You aren't an approver of this. These are: <@${people.chiara}>.`)
    const entry = (await world.records.audit()).find(({ act }) => act === 'approve')
    expect(entry).toMatchObject({ by: people.chiara, rule: 'production', via: people.chiara })
    expect(world.accountApi.world.elasticIp(elasticIp.id)?.serverId).toBe(target.id)
  })
})

describe('the approvers of a rule', () => {
  test('are in a group that Slack cannot read: the card shows what was not checked, and clicks are denied', async () => {
    const world = await startWorldUnder('rules:\n  - { name: addresses, approve: [S0ONCALL01] }')
    const outage = world.slack.faults.add({ method: 'usergroups.users.list', kind: 'error', error: 'internal_error', times: 100 })
    await requestMove(world)
    const card = await untilCard(world.slack, /Not checked: whether enough people can approve it \(Slack didn't return the user group/)

    await world.ben.click(card, 'Approve')
    const denied = await untilShown(world.slack, people.ben, /Slack didn't return/)

    expect(wordsOf(denied)).toMatch(/so nothing was done\. Try again in a minute\.$/)
    expect(await world.records.all()).toMatchObject([{ state: 'waiting', approvals: [] }])
    expect((await world.records.audit()).at(-1)).toMatchObject({ act: 'refused', by: people.ben })

    outage.remove()
    await world.ben.click(card, 'Approve')
    await untilReport(world.slack, card.ts, /Done/)
  })
})

describe('changes are refused', () => {
  const policy = 'rules:\n  - { name: addresses, approve: [S0ONCALL01] }'
  const connected = /^Nobody can use Lockkeeper here: another organization shares this channel\./

  test.each([
    ['in a direct message', 'D0ADA00001', /^Nobody can approve changes in a direct message\./],
    ['in a channel of Slack Connect', 'C0SHARED01', connected],
  ])('%s', async (_, channel, words) => {
    const world = await startWorldUnder(policy)
    const members = [people.ada, 'U0LOCKKEEP']
    if (channel.startsWith('D')) world.slack.workspace.channels.push({ id: channel, name: 'dm', topic: '', members, isDirect: true })

    await requestMove(world, channel)

    await untilShown(world.slack, people.ada, words)
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

    await untilShown(world.slack, people.ben, connected)
    expect(await world.records.all()).toMatchObject([{ state: 'waiting', approvals: [] }])
  })
})
