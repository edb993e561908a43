import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { StartError } from '../../../src/domain/errors.ts'
import { Secret } from '../../../src/domain/signing.ts'
import type { Alert } from '../../../src/features/alerts/payload.ts'
import { createAlertReceiver } from '../../../src/features/alerts/receiver.ts'
import { halfSend, statusOn } from '../../attacks/half-sent.ts'
import { fakeApp } from '../../fake-app.ts'
import { alert, delivery, post, token } from '../../journeys/alerts-world.ts'

const otherToken = 'another-token-of-at-least-32-characters'

type Take = Parameters<typeof createAlertReceiver>[2]

async function open(take: Take = async () => 'accepted') {
  const taken: Alert[][] = []
  const refused: string[] = []
  const noticed: string[] = []
  const receiver = receiverOn(0, {
    take: async (alerts, signal) => {
      taken.push(alerts)
      return take(alerts, signal)
    },
    onRefused: (reason) => void refused.push(reason),
    onNotice: (text) => void noticed.push(text),
  })
  const alertsPort = await receiver.start()
  onTestFinished(receiver.stop)
  const send = (body: unknown, headers = {}) => post({ alertsPort }, typeof body === 'string' ? body : JSON.stringify(body), headers)
  return { alertsPort, send, taken, refused, noticed, stop: receiver.stop }
}

interface Options {
  take?: Take
  onRefused?: (reason: string) => void
  /** The operators have no channel, so their notices are only logged. */
  onNotice?: (text: string) => void
}

function receiverOn(port: number, { take = async () => 'accepted', onRefused = () => {}, onNotice = () => {} }: Options) {
  const app = fakeApp({
    config: { opsChannel: undefined },
    lines: {
      write: ({ fields, text }) => {
        if (fields.code === 'alerts-unread') onNotice(text)
        return true
      },
    },
    metrics: { alert: () => {}, alertRefused: (reason, count) => count > 0 && onRefused(reason) },
  })
  return createAlertReceiver(app, { host: '127.0.0.1', port, tokens: [new Secret(token), new Secret(otherToken)] }, take)
}

describe('a delivery', () => {
  test('is accepted with any of the tokens, and taken whole', async () => {
    const { send, taken } = await open()

    expect(await send(delivery([alert(), alert({ instance: 'web-2' })]))).toBe(200)
    expect(await send(delivery([alert()]), { authorization: `bearer ${otherToken}` })).toBe(200)

    expect(taken.map((alerts) => alerts.length)).toEqual([2, 1])
  })

  test.each([
    ['no token', ''],
    ['another token', 'Bearer token-of-alertmanager-with-32-characterz'],
    ['a shorter one', `Bearer ${token.slice(0, -1)}`],
    ['a longer one', `Bearer ${token}x`],
    ['both tokens', `Bearer ${token},${otherToken}`],
    ['an empty one', 'Bearer '],
    ['another scheme', `Basic ${token}`],
    ['a very long one', `Bearer ${'x'.repeat(8_000)}`],
  ])('with %s is refused with 401', async (_, authorization) => {
    const { send, taken, refused } = await open()

    expect(await send(delivery([alert()]), { authorization })).toBe(401)

    expect({ taken, refused }).toEqual({ taken: [], refused: ['wrong-token'] })
  })

  test.each([
    ['no JSON', 'firing', 400, 'unreadable'],
    ['no alerts', '{}', 400, 'unreadable'],
    ['too many alerts', JSON.stringify({ alerts: Array(10_000).fill({ status: 'firing', labels: {} }) }), 413, 'too-large'],
    ['more than 1 MB', JSON.stringify(delivery([alert({ x: 'x'.repeat(1_100_000) })])), 413, 'too-large'],
  ])('with %s is refused', async (_, body, status, reason) => {
    const { send, taken, refused } = await open()

    expect(await send(body)).toBe(status)

    expect({ taken, refused }).toEqual({ taken: [], refused: [reason] })
  })

  test('with deep nesting is taken without what is nested', async () => {
    const { send, taken } = await open()
    const nested = `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`

    expect(await send(`{"alerts":[{"status":"firing","labels":{"alertname":"NodeDown","x":${nested}}}]}`)).toBe(200)

    expect(taken).toMatchObject([[{ labels: new Map([['alertname', 'NodeDown']]) }]])
  })

  test('to another path is not found', async () => {
    const { alertsPort, taken } = await open()

    for (const path of ['/', '/alerts', '/alerts/alertmanager/x', '/slack/events']) {
      const answer = await fetch(`http://127.0.0.1:${alertsPort}${path}`, { method: 'POST', headers: { authorization: `Bearer ${token}` } })
      expect(answer.status).toBe(404)
    }
    expect(taken).toEqual([])
  })

  test('that has to be done later, or that fails, is answered with 503, which the sender repeats', async () => {
    for (const take of [async () => 'later' as const, () => Promise.reject(new Error('Redis is away'))])
      expect(await (await open(take)).send(delivery([alert()]))).toBe(503)
  })

  test('of which the sender left out alerts is taken, and reported', async () => {
    const { send, taken, noticed } = await open()

    expect(await send(delivery([alert()], { truncatedAlerts: 5 }))).toBe(200)

    expect(taken).toHaveLength(1)
    expect(noticed).toEqual([expect.stringContaining('left out 5 alerts')])
  })

  test('is answered with 503 while eight others are under way', async () => {
    const ends = Promise.withResolvers<'accepted'>()
    const { send, refused, taken } = await open(() => ends.promise)
    const under = Array.from({ length: 8 }, () => send(delivery([alert()])))
    await expect.poll(() => taken).toHaveLength(8)

    expect(await send(delivery([alert()]))).toBe(503)
    ends.resolve('accepted')

    expect(await Promise.all(under)).toEqual(Array(8).fill(200))
    expect(refused).toEqual(['too-many'])
  })
})

test.each([
  ['without the token', { authorization: 'Bearer wrong' }, 401],
  ['that announces too much', { authorization: `Bearer ${token}`, 'content-length': '1048577' }, 413],
])('a body is not waited for %s', async (_, headers, status) => {
  const { alertsPort } = await open()
  const socket = halfSend(alertsPort, 'POST /alerts/alertmanager', headers)

  expect(await statusOn(socket, 15_000)).toBe(status)
  socket.destroy()
})

test('a delivery is taken while somebody without a token holds more connections than the port takes', async () => {
  const { alertsPort, taken } = await open()
  const headers = { authorization: `Bearer ${token}`, connection: 'close' }
  const hold = () =>
    connect(alertsPort, '127.0.0.1')
      .on('error', () => {})
      .on('data', () => {})
  const sockets = Array.from({ length: 300 }, hold)
  onTestFinished(() => void sockets.map((socket) => socket.destroy()))
  await pause(300)

  expect(await post({ alertsPort }, JSON.stringify(delivery([alert()])), headers)).toBe(200)

  expect(taken).toHaveLength(1)
  expect(sockets.filter(({ destroyed }) => !destroyed)).toHaveLength(99)
})

test('a stop makes the delivery hurry', async () => {
  const hurried: Take = (_, signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve('later'), { once: true }))
  const { send, stop, taken } = await open(hurried)
  const begun = send(delivery([alert()]))
  await expect.poll(() => taken).toHaveLength(1)
  await stop()

  expect(await begun).toBe(503)
})

test('a stop lets the delivery end that was begun, and takes no other', async () => {
  const ends = Promise.withResolvers<'accepted'>()
  const { send, stop, taken } = await open(() => ends.promise)
  const begun = send(delivery([alert()]))
  await expect.poll(() => taken).toHaveLength(1)

  const stopped = stop()
  await expect(send(delivery([alert()]))).rejects.toThrow()
  ends.resolve('accepted')

  expect(await begun).toBe(200)
  await stopped
  expect(taken).toHaveLength(1)
})

test('a port that another program uses stops the start with what to do', async () => {
  const { alertsPort } = await open()
  const other = receiverOn(alertsPort, {})

  await expect(other.start()).rejects.toThrow(
    new StartError(`ALERTS_PORT ${alertsPort} is used by another program. Choose another port, or stop that program.`),
  )
})
