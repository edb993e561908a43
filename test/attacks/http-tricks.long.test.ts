import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { cardButtons } from '../../src/messages/words.ts'
import { ops, people, shareWorld, startWorld, untilCard, untilShown, type World } from '../journeys/world.ts'
import { form, plausibleHeaders } from './half-sent.ts'

/** Sends bytes, and returns everything that the bot answers until it ends the connection or says nothing for 400 ms after an answer. */
function exchange({ bots }: World, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(bots[0]?.slackPort ?? 0, '127.0.0.1')
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

function statusesIn(answer: string): number[] {
  return [...answer.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status))
}

function post(headers: Record<string, string> | [name: string, value: string][], body = '', line = 'POST /slack/events HTTP/1.1'): string {
  const fields = Array.isArray(headers) ? headers : Object.entries(headers)
  return `${[line, 'host: bot', ...fields.map(([name, value]) => `${name}: ${value}`)].join('\r\n')}\r\n\r\n${body}`
}

const length = (body: string) => ({ 'content-length': String(Buffer.byteLength(body)) })

/** Ben's click on Approve, as a person would forge it who knows the card, and not the signing secret. */
async function forgedApproval(world: World): Promise<string> {
  const { elasticIp, target } = world.accountApi.world.movable()
  await world.ada.command(`/infra ip move ${elasticIp.address} ${target.hostname}`, { channel: ops })
  const card = await untilCard(world.slack, /needs approval from/)
  const elements = card.blocks?.flatMap((block) => ('elements' in block ? block.elements : [])) as { action_id?: string; value?: string }[]
  const value = elements.find(({ action_id: id }) => id === cardButtons.approve)?.value
  const action = { type: 'button', action_id: cardButtons.approve, block_id: 'b', action_ts: '1.1', value }
  const team = { id: 'T0NIMBUS01' }
  const user = { id: people.ben, team_id: team.id }
  const message = { type: 'message', message_ts: card.ts, channel_id: ops }
  return JSON.stringify({ type: 'block_actions', team, user, channel: { id: ops }, container: message, trigger_id: 't', actions: [action] })
}

async function expectStillWaiting(world: World): Promise<void> {
  await world.ada.command('/infra help', { channel: ops })
  await untilShown(world.slack, people.ada, /What you can do/)
  expect(await untilCard(world.slack, /needs approval from/)).toBeDefined()
  expect(world.accountApi.journal.writes()).toEqual([])
}

describe('somebody without the signing secret cannot click for another person, by calling the click a certificate check', () => {
  test.each<[how: string, prefix: string]>([
    ['at the beginning', 'ssl_check=1&'],
    ['in an encoded name', 's%73l_check=1&'],
    ['in a wholly encoded name', '%73%73%6c%5f%63%68%65%63%6b=1&'],
    ['in a name with capital digits of its code', 'ssl%5Fcheck=1&'],
    ['twice', 'ssl_check=0&ssl_check=1&'],
    ['in an array', 'ssl_check[]=1&'],
    ['behind 20 kB', `x=${'x'.repeat(20_000)}&s%73l_check=1&`],
  ])('%s', async (_, prefix) => {
    const world = await startWorld()
    const payload = encodeURIComponent(await forgedApproval(world))
    for (const body of [`${prefix}payload=${payload}`, `payload=${payload}&${prefix.slice(0, -1)}`]) {
      const answer = await exchange(world, post({ ...plausibleHeaders(), ...length(body), connection: 'close' }, body))
      expect(statusesIn(answer)).toEqual([401])
      const unsigned = { 'content-type': form, ...length(body), connection: 'close' }
      expect(statusesIn(await exchange(world, post(unsigned, body)))).toEqual([401])
    }

    await expectStillWaiting(world)
  })
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

test('of 200 requests in one packet the first is refused and ends the connection, and a signed command is acknowledged meanwhile', async () => {
  const world = await startWorld()
  const one = post({ ...plausibleHeaders(), ...length('payload=x') }, 'payload=x')

  const [answer, command] = await Promise.all([exchange(world, one.repeat(200)), world.ada.command('/infra help', { channel: ops })])

  expect(statusesIn(answer)).toEqual([401])
  expect(command.outcome).toBe('acknowledged')
})

describe('a signed request that is nested or named to break its reader is answered, and the bot goes on', () => {
  const shared = shareWorld()
  const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`
  test.each<[how: string, body: string, contentType: string]>([
    ['100,000 levels in an event', `{"type":"event_callback","event":${nested(100_000)}}`, 'application/json'],
    ['100,000 levels in a click', `payload=${encodeURIComponent(`{"type":"block_actions","actions":${nested(100_000)}}`)}`, form],
    [
      'a prototype in an event',
      '{"type":"event_callback","__proto__":{"event":{"type":"app_home_opened","user":"U1"}}}',
      'application/json',
    ],
    ['100,000 names in a form', `${Array.from({ length: 100_000 }, (_, index) => `a${index}=`).join('&')}&command=%2Finfra`, form],
    ['100,000 members', `{"type":"x",${Array.from({ length: 80_000 }, (_, index) => `"${index}":0`).join(',')}}`, 'application/json'],
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
