import { describe, expect, test } from 'vitest'
import { openRecords } from '../journeys/records.ts'
import { general, ops, patchesOf, people, startWorld, untilCard, type WorldOptions } from '../journeys/world.ts'
import { assistantOf } from './machines-world.ts'

async function open({ env = {}, ...options }: WorldOptions = {}) {
  const world = await startWorld({ ...options, env: { SLACKBOT_MCP: 'true', ...env } })
  const { elasticIp, target } = world.accountApi.world.movable()
  return { ...world, ...assistantOf(world), move: { elastic_ip: elasticIp.address, server: target.hostname }, records: openRecords(world) }
}

describe("Slack's assistant", () => {
  test('proposes for the person who asked it, with their rights, and another person approves', async () => {
    const world = await open({ env: { CHANNELS: ops } })

    const { result } = await world.tool('propose_move', { ...world.move, reason: 'Deploy 42' })
    expect(result).toMatchObject({ state: 'waiting', change: 'ip.move' })
    const card = await untilCard(world.slack, /<@U0ADA00001> needs approval/)
    // It tries again when an answer is late, with another signature.
    expect((await world.tool('propose_move', world.move)).result).toMatchObject({ id: result.id })
    const keyed = await world.tool('propose_move', { ...world.move, idempotency_key: 'one' }).then(({ text }) => text)
    expect(keyed).toMatch(/You have an open request for it/)

    await world.ada.click(card, 'Approve')
    expect((await world.records.find(result.id)).state).toBe('waiting')
    await world.ben.click(card, 'Approve')
    await expect
      .poll(async () => (await world.tool('wait_for_request', { id: result.id, wait: 5 })).result.state, { timeout: 15_000 })
      .toBe('done')
    expect(patchesOf(world)).toHaveLength(1)
    expect((await world.tool('wait_for_request', { id: result.id, wait: 0 }, { userId: people.ben })).text).toMatch(/^You have no request/)
  })

  test('gets the refusals that the person would get', async () => {
    const world = await open()

    const named = { ...world.move, channel: ops }
    expect((await world.tool('propose_move', world.move)).text).toMatch(/^Not requested: name the channel/)
    expect((await world.tool('propose_move', named, { userId: people.dov })).text).toMatch(/^Guests can't/)
    expect((await world.tool('list_servers', {}, { userId: people.dov })).text).toMatch(/^Guests can't/)
    // The bot is no member there.
    expect((await world.tool('propose_move', { ...world.move, channel: general })).text).toMatch(/not in this channel/)
    expect((await world.tool('propose_move', { ...world.move, channel: 'C0SHARED01' })).text).toMatch(
      /another organization shares this channel/,
    )
    expect((await world.tool('propose_move', named, { team: 'T0PARTNER1' })).text).toMatch(/^Slack didn't say which member/)
    expect((await world.tool('propose_move', named, { userId: 'machine:ci' })).text).toMatch(/^Slack didn't say which member/)
    expect(await world.records.all()).toEqual([])
    expect((await world.tool('list_servers', { search: 'web-1' })).result.items.length).toBeGreaterThan(0)
  })

  test('names a channel that the policy has, in which the person is, too', async () => {
    const world = await open({ env: { CHANNELS: `${ops},${general}` } })
    world.slack.invite(general)
    const channels = world.slack.workspace.channels
    const here = channels.find(({ id }) => id === general)
    if (here) here.members = here.members.filter((id) => id !== people.chiara)
    channels.push({ id: 'C0RANDOM01', name: 'random', topic: '', members: [people.ada, 'U0LOCKKEEP'] })
    const leaver = world.slack.workspace.people.find(({ id }) => id === people.ben)
    const ask = async (channel: string | undefined, userId?: string) =>
      (await world.tool('propose_move', { ...world.move, channel }, { userId })).text

    expect(await ask(undefined)).toMatch(/^Not requested: name the channel/)
    expect(await ask('C0RANDOM01')).toMatch(/^No policy rule allows moving an Elastic IP here\. Request it in/)
    expect(await ask(general, people.chiara)).toMatch(/^Slack doesn't list you as a member of this channel/)
    Object.assign(leaver ?? {}, { deleted: true })
    expect(await ask(ops, people.ben)).toMatch(/^Deactivated accounts can't/)
    expect(await ask('D0ADA00001')).toMatch(/must be the id of a channel/)
    expect(await world.records.all()).toEqual([])
    expect(JSON.parse(await ask(general))).toMatchObject({ state: 'waiting' })
  })

  test('leads to one request with each try under one key', async () => {
    const world = await open({ env: { CHANNELS: ops } })
    const keyed = { ...world.move, idempotency_key: 'one' }

    const tries = await Promise.all([1, 2, 3].map(() => world.tool('propose_move', keyed)))

    expect(new Set(tries.map(({ result }) => result.id)).size).toBe(1)
    expect((await world.tool('propose_move', { ...keyed, reason: 'another' })).text).toMatch(
      /^Not requested: this idempotency key was used for another/,
    )
    // The key of another person is another key.
    expect((await world.tool('propose_move', keyed, { userId: people.chiara })).text).toMatch(/^Not requested: @ada has/)
    expect(await world.records.all()).toHaveLength(1)
  })

  test('has each signature accepted once, on all processes', async () => {
    const world = await open({ replicas: 2, env: { CHANNELS: ops } })
    const request = world.signed(world.requestOf('propose_move', world.move))

    expect((await world.send(request)).status).toBe(200)
    expect((await world.send(request)).status).toBe(401)
    expect((await world.send(request, 1)).status).toBe(401)
    // The same signature, written in other ways.
    const at = request.headers['x-slack-request-timestamp']
    const written = [{ 'x-slack-signature': `${request.headers['x-slack-signature']}=x` }, { 'x-slack-request-timestamp': `0${at}` }]
    for (const other of written) expect((await world.send({ ...request, headers: { ...request.headers, ...other } })).status).toBe(401)
    expect(await world.records.all()).toHaveLength(1)
  })

  test.each([
    ['another secret', { secret: 'x'.repeat(32) }],
    ['an old time stamp', { at: Math.floor(Date.now() / 1_000) - 400 }],
  ])('is refused with %s', async (_, asking) => {
    const world = await open()
    expect((await world.tool('list_plans', {}, asking)).status).toBe(401)
  })

  test('has no address unless it is on', async () => {
    const world = await startWorld()
    const { tool } = assistantOf(world)
    expect((await tool('list_plans', {})).status).toBe(404)
  })
})
