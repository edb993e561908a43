import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { cardButtons } from '../../src/messages/button-ids.ts'
import { writeMetadata } from '../../src/slack/payloads.ts'
import { ops, people, requestMove, shareWorld, startWorld, untilShown, type World } from '../journeys/world.ts'
import { signatureOf } from '../sandbox/slack/transport.ts'
import { form, halfSend, nowSeconds, plausibleHeaders, statusOn } from './half-sent.ts'

const portOf = ({ bots }: World) => bots[0]?.slackPort ?? 0
const common = { team: { id: 'T0NIMBUS01' }, user: { id: people.ada, team_id: 'T0NIMBUS01' }, api_app_id: 'A0LOCKKEEP' }

function clickBy(userId: string, action: object, messageTs = '1795010400.000100'): object {
  return {
    type: 'block_actions',
    ...common,
    user: { id: userId, team_id: 'T0NIMBUS01' },
    channel: { id: ops },
    container: { type: 'message', message_ts: messageTs, channel_id: ops },
    trigger_id: `t-${Math.random()}`,
    actions: [{ type: 'button', block_id: 'b', action_ts: String(Math.random()), ...action }],
  }
}

function asForm(payload: object): { body: string; contentType: string } {
  return { body: new URLSearchParams({ payload: JSON.stringify(payload) }).toString(), contentType: form }
}

/** Ben's click on Approve, as a person would forge it who knows the card, and not the signing secret. */
async function forgedApproval(world: World): Promise<object> {
  const { card } = await requestMove(world)
  const elements = card.blocks?.flatMap((block) => ('elements' in block ? block.elements : [])) as { action_id?: string; value?: string }[]
  const value = elements.find(({ action_id: id }) => id === cardButtons.approve)?.value
  return clickBy(people.ben, { action_id: cardButtons.approve, value }, card.ts)
}

/** Expects that nothing was requested or decided, once the bot has answered another command. */
async function expectNothingDone(world: World, messages = 0): Promise<void> {
  await world.ada.command('/infra help', { channel: ops })
  await untilShown(world.slack, people.ada, /What you can do/)
  const shown = world.slack.messages(ops).filter(({ isBot }) => isBot)
  expect(shown.filter(({ text }) => text.includes('needs approval from'))).toHaveLength(messages)
  expect(shown).toHaveLength(messages)
  expect(world.accountApi.journal.writes()).toEqual([])
}

/** Sends bytes, and returns everything that the bot answers until it ends the connection or says nothing for 400 ms after an answer. */
function exchange(world: World, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(portOf(world), '127.0.0.1')
    let answer = ''
    const end = () => {
      clearTimeout(timer)
      socket.destroy()
      resolve(answer)
    }
    // A slow machine gets long for the first answer: the silence is counted from it.
    let timer = setTimeout(end, 15_000)
    socket.on('data', (chunk: Buffer) => {
      answer += chunk.toString()
      clearTimeout(timer)
      timer = setTimeout(end, 400)
    })
    socket.on('error', () => {})
    socket.on('close', end)
    socket.write(bytes)
  })
}

const statusesIn = (answer: string) => [...answer.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status))

function post(headers: Record<string, string> | [name: string, value: string][], body = '', line = 'POST /slack/events HTTP/1.1'): string {
  const fields = Array.isArray(headers) ? headers : Object.entries(headers)
  return `${[line, 'host: bot', ...fields.map(([name, value]) => `${name}: ${value}`)].join('\r\n')}\r\n\r\n${body}`
}

const length = (body: string) => ({ 'content-length': String(Buffer.byteLength(body)) })

describe('a body that never comes is not waited for', () => {
  const current = shareWorld()
  test.each<[string, string, () => Record<string, string>, number]>([
    ['to a path that does not exist', 'POST /nothing', plausibleHeaders, 404],
    ['with a wrong method', 'PUT /slack/events', plausibleHeaders, 404],
    ['without a signature', 'POST /slack/events', () => ({ 'content-type': form, 'x-slack-request-timestamp': String(nowSeconds()) }), 401],
    ['without a time stamp', 'POST /slack/events', () => ({ 'content-type': form, 'x-slack-signature': `v0=${'0'.repeat(64)}` }), 401],
    ['that is too large', 'POST /slack/events', () => ({ ...plausibleHeaders(), 'content-length': '1048577' }), 413],
    ['of a type that Slack never sends', 'POST /slack/events', () => ({ ...plausibleHeaders(), 'content-type': 'text/plain' }), 415],
    ['that is too long for a certificate check', 'POST /slack/events', () => ({ 'content-type': form, 'content-length': '300' }), 401],
  ])('where the request is one %s', async (_, line, headers, status) => {
    const socket = halfSend(portOf(current()), line, headers())

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

test('a connection that carried a signed request stays open while it is idle, and one of a stranger does not', async () => {
  const world = await startWorld()
  const signed = 'payload=null'
  const timestamp = nowSeconds()
  const headers = { ...plausibleHeaders(timestamp), 'x-slack-signature': signatureOf(world.slack.signingSecret, timestamp, signed) }
  const open = (bytes: string) => {
    const socket = connect(portOf(world), '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    socket.on('error', () => {}).resume()
    socket.write(bytes)
    return socket
  }
  const known = open(post({ ...headers, ...length(signed) }, signed))
  const strangers = [open(''), open('GET / HTTP/1.1\r\nhost: bot\r\n\r\n')]

  // Longer than the limits for strangers, which Node checks once a second.
  await pause(8_000)

  expect([known, ...strangers].map(({ closed }) => closed)).toEqual([false, true, true])
  const answered = once(known, 'data')
  known.write(post({ ...headers, ...length(signed) }, signed))
  expect(statusesIn(String(await answered))).toHaveLength(1)
})

test('500 requests that are not signed fill no log: they have one line', async () => {
  const world = await startWorld()
  const bot = await world.startBot()
  const before = world.log.length
  const forged = { method: 'POST', body: 'payload=x', headers: plausibleHeaders() }

  const statuses = await Promise.all(Array.from({ length: 500 }, () => fetch(bot.slackUrl, forged).then(({ status }) => status)))
  await bot.stop()

  const refusals = world.log.slice(before).filter((line) => /"msg":"Refused/.test(line))
  expect(new Set(statuses)).toEqual(new Set([401]))
  expect(refusals.map((line) => JSON.parse(line).problem)).toEqual(['wrong signature'])
})

test('of 200 requests in one packet the first is refused and ends the connection, and a signed command is acknowledged meanwhile', async () => {
  const world = await startWorld()
  const one = post({ ...plausibleHeaders(), ...length('payload=x') }, 'payload=x')

  const [answer, command] = await Promise.all([exchange(world, one.repeat(200)), world.ada.command('/infra help', { channel: ops })])

  expect(statusesIn(answer)).toEqual([401])
  expect(command.outcome).toBe('acknowledged')
})

test('a recorded event whose text holds a click is not read as that click when it is sent again as a form', async () => {
  const world = await startWorld()
  const text = `&payload=${encodeURIComponent(JSON.stringify(await forgedApproval(world)))}&`
  const event = JSON.stringify({ type: 'event_callback', team_id: 'T0NIMBUS01', event: { type: 'message', user: people.dov, text } })

  expect((await world.slack.sendRaw({ body: event, contentType: form })).status).toBe(400)
  await expectNothingDone(world, 1)
})

test('somebody without the signing secret cannot click for another person, by calling the click a certificate check', async () => {
  const world = await startWorld()
  const payload = encodeURIComponent(JSON.stringify(await forgedApproval(world)))
  for (const prefix of [
    'ssl_check=1&',
    's%73l_check=1&',
    '%73%73%6c%5f%63%68%65%63%6b=1&',
    'ssl%5Fcheck=1&',
    'ssl_check=0&ssl_check=1&',
    'ssl_check[]=1&',
    `x=${'x'.repeat(20_000)}&s%73l_check=1&`,
  ])
    for (const body of [`${prefix}payload=${payload}`, `payload=${payload}&${prefix.slice(0, -1)}`])
      for (const headers of [plausibleHeaders(), { 'content-type': form }]) {
        const answer = await exchange(world, post({ ...headers, ...length(body), connection: 'close' }, body))
        expect({ prefix, statuses: statusesIn(answer) }).toEqual({ prefix, statuses: [401] })
      }

  await expectNothingDone(world, 1)
})

test.each(['constructor', '__proto__'])('the id %s, which every object has, is answered as unknown, and is no defect', async (id) => {
  const world = await startWorld()
  const origin = { teamId: 'T0NIMBUS01', channelId: ops, userId: people.ada, command: '/infra' }
  const view = {
    id: 'V1',
    hash: 'h',
    callback_id: id,
    private_metadata: writeMetadata({ origin }),
    state: { values: { [id]: { [id]: {} } } },
  }
  for (const payload of [
    clickBy(people.ada, { action_id: id, value: 'x' }),
    { type: 'block_suggestion', ...common, action_id: id, block_id: id, value: 'x', channel: { id: ops } },
    { type: 'view_submission', ...common, trigger_id: `t-${Math.random()}`, view },
  ])
    expect((await world.slack.sendRaw(asForm(payload))).status).toBe(200)

  await expectNothingDone(world)
  expect(world.log.filter((line) => /"reference"|"level":"fatal"/.test(line))).toEqual([])
})

describe('a request that two readers could understand in two ways is refused, and nothing of it is done', () => {
  const body = 'payload=null'
  const signed = Object.entries(plausibleHeaders())
  const shared = shareWorld()
  test.each<[how: string, bytes: () => string, status: number]>([
    ['two lengths', () => post([...signed, ['content-length', '12'], ['content-length', '0']], body), 400],
    ['a length and chunks', () => post([...signed, ['content-length', '12'], ['transfer-encoding', 'chunked']], body), 400],
    ['an unknown transfer encoding', () => post([...signed, ['transfer-encoding', 'xchunked']], body), 400],
    ['a space before the colon', () => post([['content-length ', '12'], ...signed], body), 400],
    ['a negative length', () => post([...signed, ['content-length', '-1']], body), 400],
    ['a length in hexadecimal', () => post([...signed, ['content-length', '0xC']], body), 400],
    ['headers of 32 kB', () => post({ ...plausibleHeaders(), long: 'x'.repeat(32_000) }), 431],
    ['two time stamps', () => post([...signed, ['x-slack-request-timestamp', '1'], ['content-length', '12']], body), 401],
    ['two signatures', () => post([...signed, ['x-slack-signature', `v0=${'1'.repeat(64)}`], ['content-length', '12']], body), 401],
    ['two content types', () => post([...signed, ['content-type', 'application/json'], ['content-length', '12']], body), 401],
    ['the length of the body in another type', () => post({ ...plausibleHeaders(), 'content-type': `${form}; charset=utf-8` }), 415],
    ['a path with a host', () => post({ ...plausibleHeaders(), ...length(body) }, body, 'POST http://x/slack/events HTTP/1.1'), 401],
    ['a path with two slashes', () => post({ ...plausibleHeaders() }, '', 'POST //slack/events HTTP/1.1'), 404],
    ['a path that is encoded', () => post({ ...plausibleHeaders() }, '', 'POST /slack%2fevents HTTP/1.1'), 404],
    ['another expectation', () => post({ ...plausibleHeaders(), expect: '200-maybe', ...length(body) }, body), 417],
  ])('with %s', async (_, bytes, status) => {
    const world = shared()
    const before = world.log.length

    expect(statusesIn(await exchange(world, bytes()))).toEqual([status])
    expect(world.log.slice(before).filter((line) => /"reference"|"level":"fatal"/.test(line))).toEqual([])
  })
})

describe('a signed request that is nested or named to break its reader is answered, and the bot goes on', () => {
  const shared = shareWorld()
  const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`
  const json = 'application/json'
  const prototype = '{"type":"event_callback","__proto__":{"event":{"type":"app_home_opened","user":"U1"}}}'
  test.each<[how: string, body: string, contentType: string]>([
    ['100,000 levels in an event', `{"type":"event_callback","event":${nested(100_000)}}`, json],
    ['100,000 levels in a click', `payload=${encodeURIComponent(`{"type":"block_actions","actions":${nested(100_000)}}`)}`, form],
    ['a prototype in an event', prototype, json],
    ['100,000 names in a form', `${Array.from({ length: 100_000 }, (_, index) => `a${index}=`).join('&')}&command=%2Finfra`, form],
    ['100,000 members', `{"type":"x",${Array.from({ length: 80_000 }, (_, index) => `"${index}":0`).join(',')}}`, json],
    ['100,000 actions', `payload={"type":"block_actions","user":{"id":"U1"},"actions":[${'{},'.repeat(99_999)}{}]}`, form],
  ])('%s', async (_, body, contentType) => {
    const world = shared()
    const before = world.log.length

    const { status } = await world.slack.sendRaw({ body, contentType })
    const { outcome } = await world.ada.command('/infra help', { channel: ops })

    expect([200, 400]).toContain(status)
    expect(outcome).toBe('acknowledged')
    expect(world.log.slice(before).filter((line) => /"level":"fatal"/.test(line))).toEqual([])
  })
})
