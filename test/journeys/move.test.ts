import { describe, expect, test } from 'vitest'
import { openRecords } from './records.ts'
import { general, ops, patchesOf, people, requestMove, startWorld, untilCard, untilReport, untilShown } from './world.ts'

describe('a move', () => {
  test('is requested by one person, approved by another, tracked to its end, and never shown as done before it is', async () => {
    const world = await startWorld({ account: { moveTakes: { min: 600, max: 600 } } })
    const { elasticIp, target, card } = await requestMove(world)
    const early: string[] = []
    world.slack.subscribe(() => {
      const shown = [...world.slack.messages(ops), ...world.slack.thread(ops, card.ts)].some(({ text }) => /Done/.test(text))
      const now = world.accountApi.world.elasticIp(elasticIp.id)
      if (shown && !(now?.status === 'active' && now.serverId === target.id)) early.push(JSON.stringify(now))
    })

    await world.ben.click(card, 'Approve')
    await untilCard(world.slack, /\*Moving\*/)
    const report = await untilReport(world.slack, card.ts, /Done/)

    expect(report.text).toContain(`<@${people.ada}>`)
    expect(report.text).toContain(`\`${elasticIp.address}\` is assigned to ${target.hostname}.`)
    const body = { data: { type: 'elastic_ips', attributes: { server_id: target.id } } }
    expect(patchesOf(world)).toMatchObject([{ path: `/elastic_ips/${elasticIp.id}`, body }])
    await untilCard(world.slack, /\*Done\.?\*/)
    expect(early).toEqual([])
  })

  test('that is in the way of an approver is theirs to decide', async () => {
    const world = await startWorld()
    const { elasticIp, target } = await requestMove(world)
    await world.ben.command(`/infra ip move ${elasticIp.address} ${target.hostname}`, { channel: ops })
    await world.ben.click(await untilShown(world.slack, people.ben, /Wait until it ends, or decide it first\./), 'Reject')
    await world.ben.fill(await world.slack.until(() => world.ben.topView()), { Reason: 'A key leaked' })
    await world.ben.submit()
    await untilCard(world.slack, /\*Rejected\*/)
  })

  test('sends one PATCH and answers every click, for any number of clicks, people and replicas', async () => {
    const world = await startWorld({ replicas: 2 })
    const { card } = await requestMove(world)

    const clicks = []
    for (let round = 0; round < 5; round += 1) {
      for (const [index, person] of [world.ben, world.chiara].entries()) {
        world.slack.connectBot(world.bots[(round + index) % 2]?.slackUrl ?? '')
        clicks.push(person.click(card, 'Approve'))
      }
    }
    const delivered = await Promise.all(clicks)
    await untilReport(world.slack, card.ts, /Done/)

    expect(delivered.map(({ outcome }) => outcome)).toEqual(Array(10).fill('acknowledged'))
    expect(patchesOf(world)).toHaveLength(1)
    const answers = [...world.slack.ephemerals(people.ben), ...world.slack.ephemerals(people.chiara)]
    expect(answers.filter((message) => /Already approved by (you|<@)/.test(message.text))).toHaveLength(9)
    expect(world.slack.thread(ops, card.ts).slice(1)).toHaveLength(1)
  })

  test.each([
    [
      'a move, by its requester',
      'ip move 203.0.113.10 web-2',
      'ada',
      /Requested and withdrawn by <@U0ADA00001>, approved by <@U0BEN00001>/,
    ],
    ['an evacuation, by its approver', 'evacuate web-1 web-2', 'ben', /<@U0ADA00001>, approved by <@U0BEN00001>, withdrawn by/],
  ] as const)('can be taken back while the account API does not answer, and nothing is sent: %s', async (_, command, who, words) => {
    const world = await startWorld()
    await world.ada.command(`/infra ${command}`, { channel: ops })
    const card = await untilCard(world.slack, /needs approval from/)
    world.accountApi.faults.add({ method: 'GET', kind: 'status', status: 503, times: Number.POSITIVE_INFINITY })
    await world.ben.click(card, 'Approve')

    await world[who].click(await untilCard(world.slack, /Nothing has changed/), 'Withdraw')

    expect((await untilCard(world.slack, /Withdrawn/)).text).toMatch(words)
    // Others than the requester call the requester.
    if (who === 'ben') await untilReport(world.slack, card.ts, /^<@U0ADA00001> .*\*Withdrawn:\* .* by .*Nothing was done\.$/)
    const { store, all, audit } = openRecords(world)
    const [request] = await all()
    if (!request) throw new Error('there is no request')
    world.accountApi.faults.clear()
    // A worker that read the request before loses the race.
    for (const step of ['send', 'begin'] as const)
      expect(await store.take({ ...request, state: 'approved' }, step)).toMatchObject({ outcome: 'lost', state: 'withdrawn' })
    expect((await audit()).at(-1)).toMatchObject({ act: 'withdraw', to: 'withdrawn', by: people[who] })
    expect(patchesOf(world)).toEqual([])
  })

  test.each([
    ['posted', false],
    ['recorded, because Slack does not confirm the message', true],
  ])('without a need for approval starts once it is posted: %s', async (_, isLost) => {
    const world = await startWorld({ env: { NO_APPROVAL: 'ip.move' } })
    const { elasticIp, target } = world.accountApi.world.movable()
    if (isLost) world.slack.faults.add({ method: 'chat.postMessage', kind: 'drop-after', times: 1 })

    await world.ada.command(`/infra ip move ${elasticIp.id} ${target.id}`, { channel: ops })

    if (isLost) await untilShown(world.slack, people.ada, /Recorded: /)
    const card = await untilCard(world.slack, /No approval needed|no approval needed/)
    await untilReport(world.slack, card.ts, /Done/)
    expect(patchesOf(world)).toHaveLength(1)
  })
})

test('a request cannot be made in a channel without the bot, nor for a resource that has an open request', async () => {
  const world = await startWorld()

  await world.ada.command('/infra ip move 203.0.113.10 web-2', { channel: general })
  await untilShown(world.slack, people.ada, /^I'm not in this channel\. Run `\/invite @Lockkeeper`, then try again\.$/)

  // Nothing of it is left: the same move can be requested in a channel with the bot.
  await requestMove(world)
  await world.ben.command('/infra ip move 203.0.113.10 web-2', { channel: ops })
  await untilShown(world.slack, people.ben, /^Not requested: <@U0ADA00001> has an open request for `203\.0\.113\.10`/)
  expect(world.slack.messages(ops)).toHaveLength(1)
})
