import { describe, expect, test } from 'vitest'
import { general, ops, people, startWorld, untilCard, untilReport, untilShown, type World } from './world.ts'

const address = '203.0.113.10'

/** Ada asks for a move that can be made, and the card is there. */
async function askForMove(world: World) {
  const { elasticIp, target } = world.accountApi.world.movable()
  await world.ada.command(`/infra ip move ${elasticIp.address} ${target.hostname}`, { channel: ops })
  const card = await untilCard(world.slack, /Waiting for approval/)
  return { elasticIp, target, card }
}

function patches(world: World) {
  return world.accountApi.journal.writes().filter(({ method, path }) => method === 'PATCH' && path.startsWith('/elastic_ips/'))
}

describe('a move, from command to report', () => {
  test('asked for by one, approved by another, followed to its end and reported in the thread', async () => {
    const world = await startWorld()
    const { elasticIp, target, card } = await askForMove(world)

    await world.ben.click(card, 'Approve')
    const report = await untilReport(world.slack, card.ts, /Done/)

    expect(report.text).toContain(`<@${people.ada}>`)
    expect(report.text).toContain(`${elasticIp.address} now answers from ${target.hostname}.`)
    expect(world.accountApi.world.elasticIp(elasticIp.id)).toMatchObject({ status: 'active', serverId: target.id })
    expect(patches(world)).toMatchObject([
      { path: `/elastic_ips/${elasticIp.id}`, body: { data: { type: 'elastic_ips', attributes: { server_id: target.id } } } },
    ])
    await untilCard(world.slack, /\*Done\.?\*/)
  })

  test('done is never shown before the Elastic IP is active on the target', async () => {
    const world = await startWorld({ account: { moveTakes: { min: 600, max: 600 } } })
    const { elasticIp, target, card } = await askForMove(world)
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

  test('the form asks for the same, with the reason on the card', async () => {
    const world = await startWorld()
    const { elasticIp, target } = world.accountApi.world.movable()

    await world.ada.command('/infra ip move', { channel: ops })
    const view = await world.slack.until(() => world.ada.topView())
    expect(view.title).toBe('Move an Elastic IP')
    await world.ada.fill(view, { 'Elastic IP': elasticIp.id, Server: target.id, Reason: 'web-1 is to be rebooted' })
    const submitted = await world.ada.submit()
    expect(submitted.errors).toBeUndefined()

    const card = await untilCard(world.slack, /Waiting for approval/)
    expect(card.text).toContain('web-1 is to be rebooted')
    expect(world.ada.openViews()).toEqual([])
  })

  test('a refusal in the form stands at the field and keeps what was entered', async () => {
    const world = await startWorld()
    const { elasticIp } = world.accountApi.world.movable()

    await world.ada.command('/infra ip move', { channel: ops })
    const view = await world.slack.until(() => world.ada.topView())
    await world.ada.fill(view, { 'Elastic IP': elasticIp.id, Server: elasticIp.serverId ?? '' })
    const submitted = await world.ada.submit()

    expect(submitted.errors?.server).toMatch(/already, so there is nothing to move/)
    expect(world.ada.openViews()).toHaveLength(1)
    expect(world.slack.messages(ops)).toEqual([])
  })

  test('after a completed move the card offers to move back, as a request of its own', async () => {
    const world = await startWorld()
    const { elasticIp, target, card } = await askForMove(world)
    const from = elasticIp.serverId
    await world.ben.click(card, 'Approve')
    const done = await untilCard(world.slack, /\*Done\.?\*/)

    await world.ada.click(done, 'Move back')
    const back = await untilCard(world.slack, /Waiting for approval/)
    await world.chiara.click(back, 'Approve')
    await untilReport(world.slack, back.ts, /Done/)

    expect(target.id).not.toBe(from)
    expect(world.accountApi.world.elasticIp(elasticIp.id)?.serverId).toBe(from)
  })
})

describe('a decision', () => {
  test('the requester cannot approve, an outsider cannot, and both are told why', async () => {
    const world = await startWorld()
    const { card } = await askForMove(world)

    await world.ada.click(card, 'Approve')
    await world.dov.click(card, 'Approve')

    expect((await untilShown(world.slack, people.ada, /yourself/)).text).toMatchInlineSnapshot(
      `"You asked for this yourself, so another person has to decide it. You can withdraw it."`,
    )
    expect((await untilShown(world.slack, people.dov, /Guests/)).text).toMatchInlineSnapshot(
      `"Guests may not use this bot. Ask a full member of this workspace."`,
    )
    expect(patches(world)).toEqual([])
    expect(world.slack.messages(ops).at(-1)?.text).toMatch(/Waiting for approval/)
  })

  test('however often it is pressed, by whomever and through however many replicas, one PATCH is sent and every click answered', async () => {
    const world = await startWorld({ replicas: 2 })
    const { card } = await askForMove(world)

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
    expect(answers.filter((message) => /approved by (you|<@).* already/.test(message.text))).toHaveLength(9)
    expect(world.slack.thread(ops, card.ts).slice(1)).toHaveLength(1)
  })

  test('a rejection carries its reason to the thread, and offers to ask again', async () => {
    const world = await startWorld()
    const { card } = await askForMove(world)

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
    const second = await untilCard(world.slack, /Waiting for approval/)
    expect(second.ts).not.toBe(card.ts)
  })

  test('the form for a reason turns into a refusal for who may not reject', async () => {
    const world = await startWorld()
    const { card } = await askForMove(world)

    await world.ada.click(card, 'Reject')
    await world.slack.until(() => world.ada.topView().title === 'Not possible')

    expect(JSON.stringify(world.ada.topView().view)).toContain('another person has to decide it')
  })

  test('only the requester can withdraw', async () => {
    const world = await startWorld()
    const { card } = await askForMove(world)

    await world.ben.click(card, 'Withdraw')
    await untilShown(world.slack, people.ben, /can withdraw it/)
    await world.ada.click(card, 'Withdraw')

    await untilCard(world.slack, /Withdrawn/)
    await world.ben.click(card, 'Approve')
    await untilShown(world.slack, people.ben, /has withdrawn this/)
    expect(patches(world)).toEqual([])
  })

  test('what nobody decides expires, says so, and can be asked for again', async () => {
    const world = await startWorld({ env: { APPROVAL_TTL: '700ms' } })
    const { card } = await askForMove(world)

    const report = await untilReport(world.slack, card.ts, /Expired/)
    await untilCard(world.slack, /\*Expired\*/)
    await world.ben.click(card, 'Approve')

    expect(report.text).toContain('nothing was done')
    await untilShown(world.slack, people.ben, /expired before it was decided/)
    expect(patches(world)).toEqual([])
  })

  test('a member of the group that Slack cannot tell of is denied', async () => {
    const world = await startWorld()
    const { card } = await askForMove(world)
    const fault = world.slack.faults.add({ method: 'usergroups.users.list', kind: 'error', error: 'internal_error', times: 5 })

    await world.ben.click(card, 'Approve')

    await untilShown(world.slack, people.ben, /Slack did not tell/)
    expect(fault.fired).toBeGreaterThan(0)
    expect(patches(world)).toEqual([])
  })

  test('without need of an approval it starts by itself, and says so', async () => {
    const world = await startWorld({ env: { NO_APPROVAL: 'ip.move' } })
    const { elasticIp, target } = world.accountApi.world.movable()

    await world.ada.command(`/infra ip move ${elasticIp.id} ${target.id}`, { channel: ops })

    const card = await untilCard(world.slack, /Needed no approval/)
    await untilReport(world.slack, card.ts, /Done/)
    expect(patches(world)).toHaveLength(1)
  })

  test('without need of an approval, and with a card that Slack does not confirm, the requester is told that it starts without one', async () => {
    const world = await startWorld({ env: { NO_APPROVAL: 'ip.move' } })
    const { elasticIp, target } = world.accountApi.world.movable()
    world.slack.faults.add({ method: 'chat.postMessage', kind: 'drop-after', times: 1 })

    await world.ada.command(`/infra ip move ${elasticIp.id} ${target.id}`, { channel: ops })

    const told = await untilShown(world.slack, people.ada, /Recorded/)
    expect(told.text).toMatch(/this starts then: it needs no approval/)
    const card = await untilCard(world.slack, /Needed no approval/)
    await untilReport(world.slack, card.ts, /Done/)
    expect(patches(world)).toHaveLength(1)
  })
})

describe('a request that cannot be made', () => {
  test.each([
    ['an Elastic IP that does not exist', () => '203.0.113.250 web-2', /no Elastic IP 203\.0\.113\.250/],
    ['an Elastic IP id that does not exist', () => 'eip_nowhere web-2', /no Elastic IP eip_nowhere/],
    [
      'a server that does not exist',
      (world: World) => `${world.accountApi.world.movable().elasticIp.address} web-999`,
      /no server web-999/,
    ],
    ['a server in another site', (world: World) => pair(world, world.accountApi.world.inAnotherSite()), /within its site/],
    ['a server in another project', (world: World) => pair(world, world.accountApi.world.inAnotherProject()), /within its project/],
    [
      'the server it is on',
      (world: World) => `${world.accountApi.world.movable().elasticIp.address} ${world.accountApi.world.movable().elasticIp.serverId}`,
      /nothing to move/,
    ],
    ['half of it', () => address, /needs an Elastic IP and a server/],
  ])('%s', async (_, words, sentence) => {
    const world = await startWorld()

    await world.ada.command(`/infra ip move ${words(world)}`, { channel: ops })

    await untilShown(world.slack, people.ada, sentence)
    expect(world.slack.messages(ops)).toEqual([])
  })

  function pair(_: World, { elasticIp, target }: { elasticIp: { address: string }; target: { id: string } }): string {
    return `${elasticIp.address} ${target.id}`
  }

  test('a channel without the bot', async () => {
    const world = await startWorld()
    const { elasticIp, target } = world.accountApi.world.movable()

    await world.ada.command(`/infra ip move ${elasticIp.address} ${target.hostname}`, { channel: general })
    expect((await untilShown(world.slack, people.ada, /not a member/)).text).toMatchInlineSnapshot(
      `"I am not a member of this channel, so I could not post the request and nothing was asked for. Type */invite @Lockkeeper* here, then ask again."`,
    )

    // Nothing is left behind: the same can be asked for where the bot is.
    await world.ada.command(`/infra ip move ${elasticIp.address} ${target.hostname}`, { channel: ops })
    await untilCard(world.slack, /Waiting for approval/)
  })

  test('a thing with an open request', async () => {
    const world = await startWorld()
    const { elasticIp, target } = await askForMove(world)

    await world.ben.command(`/infra ip move ${elasticIp.address} ${target.hostname}`, { channel: ops })

    expect((await untilShown(world.slack, people.ben, /open request/)).text).toMatchInlineSnapshot(
      `"<@U0ADA00001> has an open request for this already (waiting for approval) in <#C0OPS00001>. One change of a thing at a time: let that one end, or have it withdrawn or rejected, then ask again."`,
    )
    expect(world.slack.messages(ops)).toHaveLength(1)
  })

  test('a wrong API key', async () => {
    const world = await startWorld({ env: { INFRA_API_KEY: 'f'.repeat(36) } })

    await world.ada.command('/infra ip list', { channel: ops })

    expect((await untilShown(world.slack, people.ada, /API key/)).text).toMatchInlineSnapshot(
      `"The account API rejects the bot's API key (401). The people who run this bot have to set a valid INFRA_API_KEY."`,
    )
  })

  test('a guest', async () => {
    const world = await startWorld()

    await world.dov.command('/infra ip list', { channel: ops })

    expect((await untilShown(world.slack, people.dov, /Guests/)).text).toMatchInlineSnapshot(
      `"Guests may not use this bot. Ask a full member of this workspace."`,
    )
  })
})
