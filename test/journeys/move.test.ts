import { describe, expect, test } from 'vitest'
import { openRecords } from './records.ts'
import { general, ops, people, startWorld, untilCard, untilReport, untilShown, type World } from './world.ts'

const address = '203.0.113.10'

/** Ada requests a move. Waits for its card. */
async function requestMove(world: World) {
  const { elasticIp, target } = world.accountApi.world.movable()
  await world.ada.command(`/infra ip move ${elasticIp.address} ${target.hostname}`, { channel: ops })
  const card = await untilCard(world.slack, /needs approval from/)
  return { elasticIp, target, card }
}

function patches(world: World) {
  return world.accountApi.journal.writes().filter(({ method, path }) => method === 'PATCH' && path.startsWith('/elastic_ips/'))
}

describe('a move, from command to report', () => {
  test('is requested by one person, approved by another, tracked to its end and reported in the thread', async () => {
    const world = await startWorld()
    const { elasticIp, target, card } = await requestMove(world)

    await world.ben.click(card, 'Approve')
    const report = await untilReport(world.slack, card.ts, /Done/)

    expect(report.text).toContain(`<@${people.ada}>`)
    expect(report.text).toContain(`\`${elasticIp.address}\` is assigned to \`${target.hostname}\`.`)
    expect(world.accountApi.world.elasticIp(elasticIp.id)).toMatchObject({ status: 'active', serverId: target.id })
    expect(patches(world)).toMatchObject([
      { path: `/elastic_ips/${elasticIp.id}`, body: { data: { type: 'elastic_ips', attributes: { server_id: target.id } } } },
    ])
    await untilCard(world.slack, /\*Done\.?\*/)
  })

  test('is never shown as done before the Elastic IP is active on the target', async () => {
    const world = await startWorld({ account: { moveTakes: { min: 600, max: 600 } } })
    const { elasticIp, target, card } = await requestMove(world)
    const early: string[] = []
    world.slack.subscribe(() => {
      const shown = [...world.slack.messages(ops), ...world.slack.thread(ops, card.ts)].some((message) => /Done/.test(message.text))
      const now = world.accountApi.world.elasticIp(elasticIp.id)
      if (shown && !(now?.status === 'active' && now.serverId === target.id)) early.push(JSON.stringify(now))
    })

    await world.ben.click(card, 'Approve')
    await untilCard(world.slack, /\*Moving\*/)
    await untilReport(world.slack, card.ts, /Done/)

    expect(early).toEqual([])
  })
})

describe('a decision', () => {
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
    expect(patches(world)).toHaveLength(1)
    const answers = [...world.slack.ephemerals(people.ben), ...world.slack.ephemerals(people.chiara)]
    expect(answers.filter((message) => /Already approved by (you|<@)/.test(message.text))).toHaveLength(9)
    expect(world.slack.thread(ops, card.ts).slice(1)).toHaveLength(1)
  })

  test('that rejects carries its reason to the thread, and offers to request again', async () => {
    const world = await startWorld()
    const { card } = await requestMove(world)

    await world.ben.click(card, 'Reject')
    const form = await world.slack.until(() => world.ben.topView())
    await world.ben.fill(form, { Reason: 'Not during the sale' })
    await world.ben.submit()
    const report = await untilReport(world.slack, card.ts, /Rejected/)

    expect(report.text).toContain('Not during the sale')
    const rejected = await untilCard(world.slack, /Rejected/)
    expect(patches(world)).toEqual([])

    await world.ada.click(rejected, 'Request again')
    const again = await world.slack.until(() => world.ada.topView())
    await world.ada.submit(again)
    const second = await untilCard(world.slack, /needs approval from/)
    expect(second.ts).not.toBe(card.ts)
  })

  test.each([
    ['a move', '/infra ip move 203.0.113.10 web-2'],
    ['an evacuation', '/infra evacuate web-1 web-2'],
  ])('can be taken back while the account API does not answer, and nothing is sent: %s', async (_, command) => {
    const world = await startWorld()
    await world.ada.command(command, { channel: ops })
    const card = await untilCard(world.slack, /needs approval from/)
    world.accountApi.faults.add({ method: 'GET', kind: 'status', status: 503, times: Number.POSITIVE_INFINITY })
    await world.ben.click(card, 'Approve')
    const approved = await untilCard(world.slack, /Nothing has changed yet/)

    await world.ada.click(approved, 'Withdraw')

    expect((await untilCard(world.slack, /Withdrawn/)).text).toMatch(/Requested and withdrawn by <@U0ADA00001>, approved by <@U0BEN00001>/)
    const { store, all, audit } = openRecords(world)
    const [request] = await all()
    if (!request) throw new Error('there is no request')
    world.accountApi.faults.clear()
    // A worker that read the request before loses the race.
    for (const step of ['send', 'begin'] as const)
      expect(await store.take({ ...request, state: 'approved' }, step)).toMatchObject({ outcome: 'lost', state: 'withdrawn' })
    expect((await audit()).at(-1)).toMatchObject({ act: 'withdraw', to: 'withdrawn', by: people.ada })
    expect(patches(world)).toEqual([])
  })

  test('can be taken back by an approver before anything is sent, and the requester is called', async () => {
    const world = await startWorld()
    const { card } = await requestMove(world)
    world.accountApi.faults.add({ method: 'GET', kind: 'status', status: 503, times: Number.POSITIVE_INFINITY })
    await world.ben.click(card, 'Approve')
    const approved = await untilCard(world.slack, /Nothing has changed yet/)

    await world.ben.click(approved, 'Withdraw')

    expect((await untilCard(world.slack, /Withdrawn/)).text).toMatch(
      /Requested by <@U0ADA00001>, approved by <@U0BEN00001>, withdrawn by <@U0BEN00001>/,
    )
    const report = await untilReport(world.slack, card.ts, /Withdrawn/)
    expect(report.text).toMatch(/^<@U0ADA00001> :leftwards_arrow_with_hook: \*Withdrawn\* by .*Nothing was done\. Still wanted\?/)
    world.accountApi.faults.clear()
    expect(patches(world)).toEqual([])
  })

  test('is not needed if the rule needs no approval, and the card says so', async () => {
    const world = await startWorld({ env: { NO_APPROVAL: 'ip.move' } })
    const { elasticIp, target } = world.accountApi.world.movable()

    await world.ada.command(`/infra ip move ${elasticIp.id} ${target.id}`, { channel: ops })

    const card = await untilCard(world.slack, /No approval needed|no approval needed/)
    await untilReport(world.slack, card.ts, /Done/)
    expect(patches(world)).toHaveLength(1)
  })

  test('is not needed, and the card is not confirmed by Slack: the requester reads that the move starts once it is posted', async () => {
    const world = await startWorld({ env: { NO_APPROVAL: 'ip.move' } })
    const { elasticIp, target } = world.accountApi.world.movable()
    world.slack.faults.add({ method: 'chat.postMessage', kind: 'drop-after', times: 1 })

    await world.ada.command(`/infra ip move ${elasticIp.id} ${target.id}`, { channel: ops })

    const report = await untilShown(world.slack, people.ada, /Request recorded/)
    expect(report.text).toMatch(/It starts then\. No approval needed\./)
    const card = await untilCard(world.slack, /No approval needed|no approval needed/)
    await untilReport(world.slack, card.ts, /Done/)
    expect(patches(world)).toHaveLength(1)
  })
})

describe('a request that cannot be made', () => {
  test.each([
    ['an Elastic IP that does not exist', () => '203.0.113.250 web-2', /No Elastic IP `203\.0\.113\.250`/],
    ['an address that cannot be one', () => '203.0.113.999 web-2', /`203\.0\.113\.999` isn't an IP address: 999 is more than 255\./],
    ['a prefix that cannot be one', () => '203.0.113.10/33 web-2', /`203\.0\.113\.10\/33` isn't an IP address: \/33 is longer than \/32\./],
    ['a server with a wrong address', () => '203.0.113.10 203.0.113.999', /`203\.0\.113\.999` isn't an IP address: 999 is more than 255\./],
    ['an Elastic IP id that does not exist', () => 'eip_nowhere web-2', /No Elastic IP `eip_nowhere`/],
    [
      'a server that does not exist',
      (world: World) => `${world.accountApi.world.movable().elasticIp.address} web-999`,
      /No server `web-999`/,
    ],
    ['a server in another site', (world: World) => pair(world, world.accountApi.world.inAnotherSite()), /within its site/],
    ['a server in another project', (world: World) => pair(world, world.accountApi.world.inAnotherProject()), /within its project/],
    [
      'the server it is on',
      (world: World) => `${world.accountApi.world.movable().elasticIp.address} ${world.accountApi.world.movable().elasticIp.serverId}`,
      /is already on/,
    ],
    [
      'words too many',
      () => `${address} web-2 now please`,
      /Nothing was requested\. Not understood: `now please`\. Usage: .* or leave the server out to open a form\. Put names with spaces in quotes\.$/,
    ],
  ])('%s', async (_, words, sentence) => {
    const world = await startWorld()

    await world.ada.command(`/infra ip move ${words(world)}`, { channel: ops })

    await untilShown(world.slack, people.ada, sentence)
    expect(world.slack.messages(ops)).toEqual([])
  })

  function pair(_: World, { elasticIp, target }: { elasticIp: { address: string }; target: { id: string } }): string {
    return `${elasticIp.address} ${target.id}`
  }

  test('because the channel is without the bot', async () => {
    const world = await startWorld()
    const { elasticIp, target } = world.accountApi.world.movable()

    await world.ada.command(`/infra ip move ${elasticIp.address} ${target.hostname}`, { channel: general })
    expect((await untilShown(world.slack, people.ada, /not in this channel/)).text).toMatchInlineSnapshot(
      `"I'm not in this channel. Run \`/invite @Lockkeeper\` in it, then try again."`,
    )

    // Nothing of it is left: the same move can be requested in a channel with the bot.
    await world.ada.command(`/infra ip move ${elasticIp.address} ${target.hostname}`, { channel: ops })
    await untilCard(world.slack, /needs approval from/)
  })

  test('because the resource has an open request', async () => {
    const world = await startWorld()
    const { elasticIp, target } = await requestMove(world)

    await world.ben.command(`/infra ip move ${elasticIp.address} ${target.hostname}`, { channel: ops })

    const { text } = await untilShown(world.slack, people.ben, /open request/)
    expect(text.replace(/\/p\d+\|/, '/p…|')).toMatchInlineSnapshot(
      `"Nothing was requested, because <@U0ADA00001> has an open request for \`203.0.113.10\` in <#C0OPS00001>: “Move \`203.0.113.10\`: \`web-1\` → \`web-2\`” (waiting for approval). <https://nimbus-works.slack.com/archives/C0OPS00001/p…|Open it>. Have it approved or rejected there, or wait until it ends."`,
    )
    expect(world.slack.messages(ops)).toHaveLength(1)
  })
})
