import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { describe, expect, test } from 'vitest'
import { readConfig } from '../../src/config/config.ts'
import { bundles, changeKinds } from '../../src/features/index.ts'
import { buttonValue, cardButtons } from '../../src/messages/words.ts'
import { openRecords } from '../journeys/records.ts'
import { ops, people, startWorld, untilCard, untilReport, untilShown, type World } from '../journeys/world.ts'
import type { Delivery } from '../sandbox/slack/slack.ts'
import { patchesOf, requestMove } from './moves.ts'

async function unsentClick(world: World) {
  const { card } = await requestMove(world)
  const [recorded] = await openRecords(world).all()
  if (!recorded) throw new Error('nothing was recorded')
  const payload = JSON.stringify({
    type: 'block_actions',
    api_app_id: 'A0LOCKKEEP',
    team: { id: 'T0NIMBUS01' },
    user: { id: people.ben, team_id: 'T0NIMBUS01' },
    channel: { id: ops },
    container: { type: 'message', message_ts: card.ts, channel_id: ops },
    trigger_id: 'of-ben',
    actions: [{ type: 'button', action_id: cardButtons.approve, block_id: 'b', action_ts: '1795010400.1', value: buttonValue(recorded) }],
  })
  return { card, payload, click: new URLSearchParams({ payload }).toString() }
}

async function expectNothingDone(world: World): Promise<void> {
  await world.ada.command('/infra help', { channel: ops })
  await untilShown(world.slack, people.ada, /What you can do/)
  expect(world.slack.messages(ops).at(-1)?.text).toMatch(/needs approval from/)
  expect(world.accountApi.journal.writes()).toEqual([])
}

describe('a request with the right signature', () => {
  test('that is sent again, byte for byte, has one effect', async () => {
    const world = await startWorld({ replicas: 2 })
    const { card, click } = await unsentClick(world)
    const first = { body: click, timestamp: Math.floor(Date.now() / 1_000) }

    const answers = await Promise.all([0, 1, 2, 3, 4].map(() => world.slack.sendRaw(first)))
    await untilReport(world.slack, card.ts, /Done/)
    world.slack.connectBot(world.bots[1]?.slackUrl ?? '')
    const late = await world.slack.sendRaw(first)

    expect([...answers, late].map(({ status }) => status)).toEqual(Array(6).fill(200))
    expect(patchesOf(world)).toHaveLength(1)
    expect(world.slack.thread(ops, card.ts).slice(1)).toHaveLength(1)
    expect(world.slack.ephemerals(people.ben)).toEqual([])
  })

  test('for a command creates one request, however often it is replayed', async () => {
    const world = await startWorld()
    const { elasticIp, target } = world.accountApi.world.movable()
    const said: Delivery = await world.ada.command(`/infra ip move ${elasticIp.address} ${target.hostname}`, { channel: ops })
    await untilCard(world.slack, /needs approval from/)

    const again = await Promise.all([world.ada.redeliver(said), world.ada.redeliver(said), world.ada.redeliver(said)])

    expect(again.map(({ outcome }) => outcome)).toEqual(Array(3).fill('acknowledged'))
    await world.ada.command('/infra help', { channel: ops })
    await untilShown(world.slack, people.ada, /What you can do/)
    expect(world.slack.messages(ops).filter(({ isBot }) => isBot)).toHaveLength(1)
    expect(world.slack.ephemerals(people.ada).filter(({ text }) => /already|open request/.test(text))).toEqual([])
  })

  test('and another time within 5 minutes has one effect as well: signed anew for every minute, it is still one click', async () => {
    const world = await startWorld()
    const { card, click } = await unsentClick(world)
    const now = Math.floor(Date.now() / 1_000)

    for (const minutes of [-4, -1, 1, 4]) await world.slack.sendRaw({ body: click, timestamp: now + minutes * 60 })

    await untilReport(world.slack, card.ts, /Done/)
    expect(patchesOf(world)).toHaveLength(1)
    expect(world.slack.ephemerals(people.ben)).toEqual([])
  })
})

describe('a request without a current signature of Slack', () => {
  test.each<[string, (world: World, body: string) => Parameters<World['slack']['sendRaw']>[0]]>([
    ['is too old', (_, body) => ({ body, timestamp: Math.floor(Date.now() / 1_000) - 301 })],
    ['is of the future', (_, body) => ({ body, timestamp: Math.floor(Date.now() / 1_000) + 310 })],
    ['is signed with another secret', (_, body) => ({ body, signingSecret: 'another secret' })],
    ['is signed with an empty secret', (_, body) => ({ body, signingSecret: '' })],
    ['has the signature of another body', (_, body) => ({ body: `${body}&x=1`, signature: `v0=${'0'.repeat(64)}` })],
    ['has a signature of another version', (_, body) => ({ body, signature: `v1=${'0'.repeat(64)}` })],
    ['has half a signature', (_, body) => ({ body, signature: 'v0=' })],
    ['has no time', (_, body) => ({ body, headers: { 'x-slack-request-timestamp': '' } })],
    ['has a time that is none', (_, body) => ({ body, headers: { 'x-slack-request-timestamp': 'now' } })],
    ['passes for an event of Socket Mode', (_, body) => ({ body, signature: 'v0=none', headers: { 'x-slack-socket-mode': '1' } })],
  ])('has no effect because it %s', async (_, forge) => {
    const world = await startWorld()
    const { click } = await unsentClick(world)

    const { status } = await world.slack.sendRaw(forge(world, click))

    expect(status).toBe(401)
    await expectNothingDone(world)
  })

  // Slack checks certificates with unsigned requests. The rest of such a request must not be processed.
  test.each([
    ['before', (body: string) => `ssl_check=1&${body}`],
    ['behind', (body: string) => `${body}&ssl_check=1`],
  ])('that is disguised as a certificate check, with that field %s the click, has no effect', async (_, smuggle) => {
    const world = await startWorld()
    const { click } = await unsentClick(world)

    const { status } = await world.slack.sendRaw({ body: smuggle(click), signature: 'v0=none' })

    expect(status).toBe(401)
    await expectNothingDone(world)
  })

  test('as JSON, with a certificate check in it, has no effect', async () => {
    const world = await startWorld()
    const { payload } = await unsentClick(world)
    const body = JSON.stringify({ ...JSON.parse(payload), ssl_check: '1', payload })

    const { status } = await world.slack.sendRaw({ body, contentType: 'application/json', signature: 'v0=none' })

    expect(status).toBe(401)
    await expectNothingDone(world)
  })
})

test.each<[string, { signature?: string }]>([
  ['signed', {}],
  ['not signed', { signature: 'v0=none' }],
])('a body of 10 MB is refused, %s, and the bot goes on', async (_, signed) => {
  const world = await startWorld()
  const { click } = await unsentClick(world)

  const { status } = await world.slack.sendRaw({ body: `${click}&more=${'x'.repeat(10 * 1024 * 1024)}`, ...signed })

  expect(status).toBe(413)
  await expectNothingDone(world)
})

test.each<[string, { body: string; contentType?: string }]>([
  ['as JSON', { body: 'null', contentType: 'application/json' }],
  ['as a payload', { body: 'payload=null' }],
])('a request with the content null, %s, is acknowledged if it is signed, and the bot goes on', async (_, nothing) => {
  const world = await startWorld()
  await unsentClick(world)

  const signed = await world.slack.sendRaw(nothing)
  const forged = await world.slack.sendRaw({ ...nothing, signature: 'v0=none' })

  expect([signed.status, forged.status]).toEqual([200, 401])
  await expectNothingDone(world)
})

test('requests to other paths get 404, and the bot goes on', async () => {
  const world = await startWorld()
  const { click } = await unsentClick(world)
  const [bot] = world.bots

  const statuses = await Promise.all(
    ['GET /', 'GET /slack/events', 'POST /', 'POST /slack/events/', 'PUT /slack/events', 'GET //', 'POST //', 'HEAD /.env'].map(
      async (line) => {
        const [method = '', path = ''] = line.split(' ')
        const sent = request({ port: bot?.slackPort, host: '127.0.0.1', method, path, agent: false })
        sent.end(method === 'POST' ? click : undefined)
        const [answer] = (await once(sent, 'response')) as [IncomingMessage]
        answer.resume()
        return answer.statusCode
      },
    ),
  )

  expect(statuses).toEqual(statuses.map(() => 404))
  await expectNothingDone(world)
})

test.each([{}, { SLACK_SIGNING_SECRET: '' }, { SLACK_SIGNING_SECRET: '   ' }])(
  'without a signing secret it does not start: %j',
  (signing) => {
    const rest = {
      SLACK_BOT_TOKEN: 'xoxb-1-2-3',
      INFRA_API_URL: 'https://api.example.com',
      INFRA_API_KEY: '0123456789abcdef0123456789abcdef0123',
      REDIS_URL: 'redis://127.0.0.1:6379',
      APPROVERS: 'S0ONCALL01',
    }
    expect(() => readConfig({ ...rest, ...signing }, { kinds: changeKinds, bundles })).toThrow(/SLACK_SIGNING_SECRET/)
    expect(() =>
      readConfig({ ...rest, SLACK_SIGNING_SECRET: '8f742231b10e8888abcd99f3a5b85a57' }, { kinds: changeKinds, bundles }),
    ).not.toThrow()
  },
)
