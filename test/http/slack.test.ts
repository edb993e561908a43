import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { WebClient } from '@slack/web-api'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { webClientOptions } from '../../src/bolt/app.ts'
import { deadlineIn } from '../../src/domain/deadline.ts'
import { createResponder } from '../../src/slack/respond.ts'
import { createMessenger } from '../../src/slack/web-api.ts'
import { type Reply, startRecordingServer } from '../account/recording-server.ts'
import { freePort } from '../sandbox/programs.ts'
import { everyClock, stallAtConnect } from './stall-at-connect.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {}, setLevel() {}, getLevel: () => 'error', setName() {} }
const place = { channelId: 'C0OPS00001', key: 'req/ended' }
const words = { text: 'Done', blocks: [] }
const success: Reply = { json: { ok: true, ts: '1.1', channel: 'C0OPS00001' } }

const messengerAt = (url: URL, options = {}) =>
  createMessenger({ client: new WebClient('xoxb-1', { ...webClientOptions(url, silent as never), ...options }), botUserId: () => 'U1' })

async function startMessenger(reply: Reply = success, options = {}) {
  const { url, requests } = await startRecordingServer(() => reply)
  return { messenger: messengerAt(url, options), requests, url }
}

describe('a message whose process does not run while its connection opens', () => {
  test.each(everyClock)('is not posted after 5 s, and can be sent again: by the clock %s', async (clock) => {
    const { messenger, requests } = await startMessenger()
    stallAtConnect(5_100, clock)

    expect(await messenger.post(place, words)).toEqual({ is: 'unsent', problem: 'no answer' })
    expect(requests).toEqual([])
    expect(await messenger.post(place, words)).toMatchObject({ is: 'sent' })
  })

  test('is neither posted nor updated after the lease with which it is sent', async () => {
    for (const name of ['post', 'update'] as const) {
      const { messenger, requests } = await startMessenger()
      stallAtConnect(1_100)
      const until = deadlineIn(1_000)

      const result = name === 'post' ? messenger.post(place, words, until) : messenger.update({ ...place, ts: '1.1' }, words, until)

      expect(await result).toEqual({ is: 'unsent', problem: 'no answer' })
      expect(requests).toEqual([])
      vi.restoreAllMocks()
    }
  })

  test('is no answer to a command or a click after 5 s, either', async () => {
    const { url, requests } = await startMessenger()
    stallAtConnect(5_100)
    const respond = createResponder({ allowedOrigins: [url.origin] })

    expect(await respond(`${url.origin}/x`, words)).toMatchObject({ is: 'unknown' })
    expect(requests).toEqual([])
  })
})

test('of many calls at once, none is sent with the lease of another', async () => {
  const { messenger, requests } = await startMessenger()
  const leases = Array.from({ length: 150 }, (_, index) => (index < 110 ? deadlineIn(60_000) : { leftMs: () => 0 }))

  const results = await Promise.all(leases.map((until, index) => messenger.post({ ...place, channelId: `C${index}` }, words, until)))

  expect(results.slice(110).map(({ is }) => is)).toEqual(Array(40).fill('unsent'))
  const channels = requests.map(({ body }) => Number(new URLSearchParams(body).get('channel')?.slice(1)))
  expect(channels.length).toBeGreaterThan(0)
  expect(channels.filter((channel) => !(channel < 110))).toEqual([])
})

describe('a message without an answer', () => {
  test('was not sent if the connection is refused', async () => {
    const messenger = messengerAt(new URL(`http://127.0.0.1:${await freePort()}`))
    expect(await messenger.post(place, words)).toEqual({ is: 'unsent', problem: 'no answer' })
  })

  test.each<[string, Reply, object, string]>([
    ['timed out if Slack does not answer', () => {}, { timeout: 3_000 }, 'timed-out'],
    [
      'timed out if Slack does not answer to the end',
      (response) => void response.writeHead(200, { 'content-length': '100' }).write('{"ok":true'),
      { timeout: 3_000 },
      'timed-out',
    ],
    ['is unknown if the connection is reset', (response) => void response.socket?.resetAndDestroy(), {}, 'unknown'],
    ['is unknown if a proxy answers', { status: 502, text: '<html>' }, {}, 'unknown'],
  ])('%s', async (_, reply, options, is) => {
    const { messenger, requests } = await startMessenger(reply, options)
    expect(await messenger.post(place, words)).toMatchObject({ is })
    expect(requests).toHaveLength(1)
  })
})

test('a call offers HTTP/1.1 alone: one connection of HTTP/2 that no longer answers would hold up every call', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const posted = messengerAt(new URL(`https://127.0.0.1:${port}`)).post(place, words)

  const [socket] = await once(server, 'connection')
  const [hello] = await once(socket, 'data')
  socket.destroy()

  // A list of 9 bytes, with one name of 8 (RFC 7301, section 3.1).
  expect(hello.includes('\0\x09\x08http/1.1')).toBe(true)
  expect(await posted).toEqual({ is: 'unsent', problem: 'no answer' })
})
