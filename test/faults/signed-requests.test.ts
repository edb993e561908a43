import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { beforeAll, describe, expect, test } from 'vitest'
import { cardButtons } from '../../src/messages/button-ids.ts'
import {
  ops,
  patchesOf,
  people,
  requestMove,
  shareWorld,
  startWorld,
  untilCard,
  untilReport,
  untilShown,
  type World,
} from '../journeys/world.ts'
import { findElement } from '../sandbox/slack/elements.ts'
import type { Delivery, RawRequest } from '../sandbox/slack/slack.ts'

async function unsentClick(world: World) {
  const { card } = await requestMove(world)
  const { value } = findElement(card.blocks ?? [], cardButtons.approve)?.element ?? {}
  const payload = JSON.stringify({
    type: 'block_actions',
    api_app_id: 'A0LOCKKEEP',
    team: { id: 'T0NIMBUS01' },
    user: { id: people.ben, team_id: 'T0NIMBUS01' },
    channel: { id: ops },
    container: { type: 'message', message_ts: card.ts, channel_id: ops },
    trigger_id: 'of-ben',
    actions: [{ type: 'button', action_id: cardButtons.approve, block_id: 'b', action_ts: '1795010400.1', value }],
  })
  return { card, payload, click: new URLSearchParams({ payload }).toString() }
}

async function expectNothingDone({ ada, slack, accountApi }: World): Promise<void> {
  expect((await ada.command('/infra help', { channel: ops })).outcome).toBe('acknowledged')
  expect(slack.messages(ops).at(-1)?.text).toMatch(/needs approval from/)
  expect(accountApi.journal.writes()).toEqual([])
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

describe('a request that must have no effect', () => {
  const world = shareWorld()
  let unsent: Awaited<ReturnType<typeof unsentClick>>
  beforeAll(async () => {
    unsent = await unsentClick(world())
  })

  const forged = { signature: 'v0=none' }
  const secondsFromNow = (seconds: number) => Math.floor(Date.now() / 1_000) + seconds
  const huge = (body: string) => `${body}&more=${'x'.repeat(10 * 1024 * 1024)}`

  test.each<[string, number, (click: string, payload: string) => RawRequest]>([
    ['is too old', 401, (body) => ({ body, timestamp: secondsFromNow(-301) })],
    ['is of the future', 401, (body) => ({ body, timestamp: secondsFromNow(310) })],
    ['is signed with another secret', 401, (body) => ({ body, signingSecret: 'another secret' })],
    ['is signed with an empty secret', 401, (body) => ({ body, signingSecret: '' })],
    ['has the signature of another body', 401, (body) => ({ body: `${body}&x=1`, signature: `v0=${'0'.repeat(64)}` })],
    ['has a signature of another version', 401, (body) => ({ body, signature: `v1=${'0'.repeat(64)}` })],
    ['has half a signature', 401, (body) => ({ body, signature: 'v0=' })],
    ['has no time', 401, (body) => ({ body, headers: { 'x-slack-request-timestamp': '' } })],
    ['has a time that is none', 401, (body) => ({ body, headers: { 'x-slack-request-timestamp': 'now' } })],
    ['passes for an event of Socket Mode', 401, (body) => ({ body, ...forged, headers: { 'x-slack-socket-mode': '1' } })],
    // Slack checks certificates with unsigned requests. The rest of such a request must not be processed.
    ['is disguised as a certificate check before the click', 401, (body) => ({ body: `ssl_check=1&${body}`, ...forged })],
    ['has 10 MB and is signed', 413, (body) => ({ body: huge(body) })],
    ['has 10 MB and is not signed', 413, (body) => ({ body: huge(body), ...forged })],
  ])('because it %s, is answered with %i, and the bot goes on', async (_, expected, forge) => {
    const { status } = await world().slack.sendRaw(forge(unsent.click, unsent.payload))

    expect(status).toBe(expected)
    await expectNothingDone(world())
  })

  test.each(['GET /slack/events', 'POST /slack/events/', 'PUT /slack/events', 'POST //', 'HEAD /.env'])(
    'because it goes to %s, gets 404, and the bot goes on',
    async (line) => {
      const [method = '', path = ''] = line.split(' ')
      const sent = request({ port: world().bots[0]?.slackPort, host: '127.0.0.1', method, path, agent: false })
      sent.end(method === 'POST' ? unsent.click : undefined)
      const [answer] = (await once(sent, 'response')) as [IncomingMessage]
      answer.resume()

      expect(answer.statusCode).toBe(404)
      await expectNothingDone(world())
    },
  )
})
