import { connect } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { cardButtons } from '../../src/messages/words.ts'
import { pageActionIds } from '../../src/slack/listing.ts'
import { ops, people, startWorld, untilCard, untilReport, untilShown, type World } from '../journeys/world.ts'
import { form, halfSend, nowSeconds, plausibleHeaders, statusOn } from './half-sent.ts'

function portOf({ bots }: World): number {
  return bots[0]?.slackPort ?? 0
}

const common = { team: { id: 'T0NIMBUS01' }, user: { id: people.ada, team_id: 'T0NIMBUS01' }, api_app_id: 'A0LOCKKEEP' }

function clickBy(userId: string, action: object): object {
  return {
    type: 'block_actions',
    ...common,
    user: { id: userId, team_id: 'T0NIMBUS01' },
    channel: { id: ops },
    container: { type: 'message', message_ts: '1795010400.000100', channel_id: ops },
    trigger_id: `t-${Math.random()}`,
    actions: [{ type: 'button', block_id: 'b', action_ts: String(Math.random()), ...action }],
  }
}

function asForm(payload: object): { body: string; contentType: string } {
  return { body: new URLSearchParams({ payload: JSON.stringify(payload) }).toString(), contentType: form }
}

async function expectNothingRequested(world: World): Promise<void> {
  await world.ada.command('/infra help', { channel: ops })
  await untilShown(world.slack, people.ada, /What you can do/)
  expect(world.slack.messages(ops).filter(({ isBot }) => isBot)).toEqual([])
  expect(world.accountApi.journal.writes()).toEqual([])
}

describe('a body that never comes is not waited for', () => {
  test.each<[string, string, () => Record<string, string>, number]>([
    ['to a path that does not exist', 'POST /nothing', plausibleHeaders, 404],
    ['with a wrong method', 'PUT /slack/events', plausibleHeaders, 404],
    ['without a signature', 'POST /slack/events', () => ({ 'content-type': form, 'x-slack-request-timestamp': String(nowSeconds()) }), 401],
    ['without a time stamp', 'POST /slack/events', () => ({ 'content-type': form, 'x-slack-signature': `v0=${'0'.repeat(64)}` }), 401],
    ['with a time stamp that is too old', 'POST /slack/events', () => plausibleHeaders(nowSeconds() - 310), 401],
    ['with a time stamp of the future', 'POST /slack/events', () => plausibleHeaders(nowSeconds() + 310), 401],
    ['with a time stamp that is none', 'POST /slack/events', () => plausibleHeaders('1e9'), 401],
    ['that is too large', 'POST /slack/events', () => ({ ...plausibleHeaders(), 'content-length': '1048577' }), 413],
    ['of a type that Slack never sends', 'POST /slack/events', () => ({ ...plausibleHeaders(), 'content-type': 'text/plain' }), 415],
    ['that is too long for a certificate check', 'POST /slack/events', () => ({ 'content-type': form, 'content-length': '300' }), 401],
  ])('where the request is one %s', async (_, line, headers, status) => {
    const world = await startWorld()
    const socket = halfSend(portOf(world), line, headers())

    const answered = await statusOn(socket, 15_000)
    socket.destroy()

    expect(answered).toBe(status)
  })
})

test('1,000 kept connections that send nothing signed do not keep a signed command out', async () => {
  const world = await startWorld()
  const send = 'GET / HTTP/1.1\r\nhost: bot.example.com\r\n\r\n'
  const sockets = Array.from({ length: 1_000 }, () => connect(portOf(world), '127.0.0.1').on('error', () => {}))
  onTestFinished(() => void sockets.map((socket) => socket.destroy()))

  await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.on('data', resolve).on('close', resolve).write(send))))
  const { outcome } = await world.ada.command('/infra help', { channel: ops })

  expect(outcome).toBe('acknowledged')
  await expect.poll(() => sockets.filter(({ destroyed }) => !destroyed).length).toBe(0)
}, 30_000)

test('500 requests that are not signed fill no log: two lines count them all', async () => {
  const world = await startWorld()
  const bot = await world.startBot()
  const before = world.log.length
  const forged = { method: 'POST', body: 'payload=x', headers: plausibleHeaders() }

  const statuses = await Promise.all(Array.from({ length: 500 }, () => fetch(bot.slackUrl, forged).then(({ status }) => status)))
  await bot.stop()

  const refusals = world.log.slice(before).filter((line) => /"msg":"Refused/.test(line))
  expect(new Set(statuses)).toEqual(new Set([401]))
  expect(refusals.map((line) => JSON.parse(line).msg)).toEqual([
    'Refused 1 request to the public port: wrong signature (1).',
    'Refused 499 requests to the public port: wrong signature (499).',
  ])
})

test('a recorded event whose text holds a click is not read as that click when it is sent again as a form', async () => {
  const world = await startWorld()
  const { elasticIp, target } = world.accountApi.world.movable()
  await world.ada.command(`/infra ip move ${elasticIp.address} ${target.hostname}`, { channel: ops })
  const card = await untilCard(world.slack, /needs approval from/)
  const approve = card.blocks?.flatMap((block) => ('elements' in block ? block.elements : [])) as { action_id?: string; value?: string }[]
  const value = approve.find(({ action_id: id }) => id === cardButtons.approve)?.value
  const click = { ...clickBy(people.ben, { action_id: cardButtons.approve, value }), container: { type: 'message', message_ts: card.ts } }
  const text = `&payload=${encodeURIComponent(JSON.stringify(click))}&`
  const event = JSON.stringify({ type: 'event_callback', team_id: 'T0NIMBUS01', event: { type: 'message', user: people.dov, text } })

  const answer = await world.slack.sendRaw({ body: event, contentType: form })

  expect(answer.status).toBe(400)
  await world.ada.command('/infra help', { channel: ops })
  await untilShown(world.slack, people.ada, /What you can do/)
  expect(world.slack.messages(ops).at(-1)?.text).toMatch(/needs approval from/)
  expect(world.accountApi.journal.writes()).toEqual([])
})

test('a recorded submission that is sent again is not handled again', async () => {
  const world = await startWorld()
  const { elasticIp, target } = world.accountApi.world.movable()
  await world.ada.command(`/infra ip move ${elasticIp.address} ${target.hostname}`, { channel: ops })
  const card = await untilCard(world.slack, /needs approval from/)
  await world.ben.click(card, 'Reject')
  await world.slack.until(() => world.ben.openViews()[0], { what: 'the form' })
  await world.ben.fill(undefined, { reason: 'Not today' })
  const submitted = await world.ben.submit()
  await untilReport(world.slack, card.ts, /Rejected/)

  const again = await Promise.all([0, 1, 2].map(() => world.ben.redeliver(submitted)))

  expect(again.map(({ body }) => JSON.stringify(body))).toEqual(Array(3).fill(expect.stringContaining('This form was already sent')))
  expect(world.auditLines.filter((line) => line.includes('"refused"'))).toEqual([])
})

test('a page button that names a command which requests a change runs nothing', async () => {
  const world = await startWorld()
  const { elasticIp, target } = world.accountApi.world.movable()
  const value = JSON.stringify({ version: 1, command: 'ip move', args: [elasticIp.id, target.id], page: 0 })

  const { status } = await world.slack.sendRaw(asForm(clickBy(people.ada, { action_id: pageActionIds.next, value })))

  expect(status).toBe(200)
  await untilShown(world.slack, people.ada, /This button is out of date/)
  await expectNothingRequested(world)
})

describe.each(['constructor', '__proto__'])('the id %s, which every object has', (id) => {
  test.each<[string, () => object]>([
    ['a button', () => clickBy(people.ada, { action_id: id, value: 'x' })],
    ['a picker', () => ({ type: 'block_suggestion', ...common, action_id: id, block_id: id, value: 'x', channel: { id: ops } })],
    [
      'a form',
      () => ({
        type: 'view_submission',
        ...common,
        trigger_id: `t-${Math.random()}`,
        view: { id: 'V1', hash: 'h', callback_id: id, private_metadata: metadata, state: { values: { [id]: { [id]: { value: 'x' } } } } },
      }),
    ],
  ])('as %s is answered as unknown, and is no defect', async (_, payload) => {
    const world = await startWorld()

    const { status } = await world.slack.sendRaw(asForm(payload()))

    expect(status).toBe(200)
    await expectNothingRequested(world)
    expect(world.log.filter((line) => /"reference"|"level":"fatal"/.test(line))).toEqual([])
  })
})

const metadata = JSON.stringify({
  version: 1,
  origin: { teamId: 'T0NIMBUS01', channelId: ops, userId: people.ada, command: '/infra' },
})
