import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { turnValidMs } from '../../src/account/budget.ts'
import { createAccountApi } from '../../src/account/client.ts'
import { maxConnections } from '../../src/account/http.ts'
import { deadlineIn } from '../../src/domain/deadline.ts'
import { inLane, withTurn } from '../../src/domain/lane.ts'
import { Secret } from '../../src/domain/signing.ts'
import { key, type Reply, rejection, startClient } from '../account/recording-server.ts'
import { sample } from '../contract/documented.ts'
import { everyClock, stallAtConnect } from './stall-at-connect.ts'

const success: Reply = { json: { data: sample.elasticIp } }
const move = ['eip_1GijF7NsZe3bN', 'sv_22mUQSvUfeqdv'] as const
const budget = { perMinute: { read: 60, write: 20 }, take: async () => 0, pause: async () => {} }

describe('a write whose process does not run while its connection opens', () => {
  test.each(everyClock)('is not sent after its deadline, and certainly changed nothing: by the clock %s', async (clock) => {
    const { api, requests } = await startClient(() => success)
    stallAtConnect(30_000, clock)

    const error = await rejection(api.elasticIps.move(...move))

    expect(error).toMatchObject({ name: 'ApiUnreachableError', requestSent: 'no', problem: 'not finished within 20000 ms' })
    expect(requests).toEqual([])
  })

  test.each([
    ['was taken before', (work: () => Promise<unknown>) => withTurn('send', deadlineIn(turnValidMs), work)],
    ['is taken for it', (work: () => Promise<unknown>) => inLane('retract', work)],
  ])('waits for another turn if its own is older than the budget allows: one that %s', async (_, within) => {
    const { api, requests } = await startClient(() => success, { turns: budget })
    stallAtConnect(turnValidMs + 500)

    const error = await rejection(within(() => api.elasticIps.move(...move)))

    expect(error).toMatchObject({ name: 'AccountLimitError', requestSent: 'no', answered: false, waitMs: 0 })
    expect(requests).toEqual([])
  })

  test('is sent within its turn', async () => {
    const { api, requests } = await startClient(() => success, { turns: budget })
    stallAtConnect(turnValidMs - 1_000)

    await withTurn('send', deadlineIn(turnValidMs), () => api.elasticIps.move(...move))

    expect(requests).toHaveLength(1)
  })

  test('does not wait behind all reads that the budget allows, of an account that answers none of them', async () => {
    const answers: (() => void)[] = []
    const { api, requests } = await startClient(
      ({ method }) =>
        method === 'PATCH' ? success : (response) => void answers.push(() => response.writeHead(404, { 'content-length': 0 }).end()),
      { turns: budget },
    )
    const read = () => inLane('track', () => api.elasticIps.get(move[0]))
    const reads = Promise.allSettled(Array.from({ length: budget.perMinute.read }, read))

    await withTurn('send', deadlineIn(turnValidMs), () => api.elasticIps.move(...move))

    expect(requests.filter(({ method }) => method === 'PATCH')).toHaveLength(1)
    await vi.waitFor(() => expect(answers).toHaveLength(budget.perMinute.read))
    for (const answer of answers) answer()
    await reads
  })

  test('and then gets no answer may have arrived, if it was handed over before', async () => {
    const stop = new AbortController()
    const { api, requests } = await startClient(() => () => stop.abort(), { turns: budget })

    const moved = withTurn('send', deadlineIn(turnValidMs), () => api.elasticIps.move(...move, { signal: stop.signal }))

    expect(await rejection(moved)).toMatchObject({ name: 'ApiUnreachableError', requestSent: 'unknown' })
    expect(requests).toHaveLength(1)
  })
})

test('a read whose process does not run for longer than its call may last is not sent', async () => {
  const { api, requests } = await startClient(() => success)
  stallAtConnect(30_000)

  expect(await rejection(api.elasticIps.get(move[0]))).toMatchObject({ requestSent: 'no' })
  expect(requests).toEqual([])
})

describe('a call that is aborted before it has a connection ends at once, and certainly changed nothing', () => {
  test('while it connects', async () => {
    // It accepts the connection and never answers the TLS handshake.
    const sockets: Socket[] = []
    const server = createServer((socket) => void sockets.push(socket)).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const stop = new AbortController()
    server.once('connection', () => stop.abort())
    const timings = { connectMs: 60_000, writeMs: 60_000 }
    const api = createAccountApi({ baseUrl: new URL(`https://127.0.0.1:${port}`), key: new Secret(key), timings })
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy()
      server.close()
    })

    const error = await rejection(api.elasticIps.move(...move, { signal: stop.signal }))

    expect(error).toMatchObject({ requestSent: 'no', problem: 'cancelled by the caller' })
  })

  test('while it waits for one, and is not sent once there is one', async () => {
    const answers: (() => void)[] = []
    const full = Promise.withResolvers<void>()
    const { api, requests } = await startClient(() => (response) => {
      answers.push(() => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ data: sample.elasticIp })))
      if (answers.length === maxConnections) full.resolve()
    })
    const others = Array.from({ length: maxConnections }, () => api.elasticIps.get(move[0]))
    await full.promise
    const stop = new AbortController()
    const moved = rejection(api.elasticIps.move(...move, { signal: stop.signal }))
    stop.abort()

    expect(await moved).toMatchObject({ requestSent: 'no', problem: 'cancelled by the caller' })
    for (const answer of answers.splice(0)) answer()
    await Promise.all(others)
    const last = api.elasticIps.get(move[0])
    await vi.waitFor(() => expect(answers).toHaveLength(1))
    answers[0]?.()
    await last
    expect(requests.map(({ method }) => method)).toEqual(Array(maxConnections + 1).fill('GET'))
  })
})
