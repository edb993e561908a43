import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createAccountApi } from '../../src/account/client.ts'
import { ApiUnreachableError } from '../../src/domain/errors.ts'
import { inLane } from '../../src/domain/lane.ts'
import { Secret } from '../../src/domain/signing.ts'
import { toUserMessage } from '../../src/slack/errors.ts'
import { sample } from '../contract/documented.ts'
import { operations } from './operations.ts'
import { key, type Reply, rejection, startClient, timings } from './recording-server.ts'

const success: Reply = { json: { data: sample.elasticIp } }
const drop: Reply = (response) => response.destroy()

describe('a write is never repeated', () => {
  test.each(operations.filter(({ request }) => !request.startsWith('GET')))('$name', async ({ call }) => {
    const { api, requests } = await startClient((_, index) => (index === 0 ? drop : { status: 503, headers: { 'retry-after': '0' } }))

    for (const count of [1, 2]) {
      await rejection(call(api, 'id_1'))
      expect(requests).toHaveLength(count)
    }
  })

  test('even when a reused connection closes at that moment', async () => {
    const { api, requests } = await startClient((_, index) => (index === 0 ? success : drop))
    await api.elasticIps.get('eip_1GijF7NsZe3bN')

    const error = await rejection(api.elasticIps.move('eip_1GijF7NsZe3bN', 'sv_22mUQSvUfeqdv'))

    expect(error).toMatchObject({ name: 'ApiUnreachableError', requestSent: 'unknown' })
    expect(requests.map(({ method }) => method)).toEqual(['GET', 'PATCH'])
  })
})

describe('a read', () => {
  test('is sent once if its caller wants that', async () => {
    const { api, requests } = await startClient(() => ({ status: 503 }))

    expect(await rejection(api.apiKeys.list({ tries: 1 }))).toMatchObject({ status: 503 })
    expect(requests).toHaveLength(1)
  })

  test('that has no turn says to a person that the last one was not answered, until one is', async () => {
    let turns = 0
    const take = async () => (turns-- > 0 ? 0 : 50_000)
    const answers: Reply[] = [{ status: 503 }, { json: { data: [] } }]
    const { api, requests } = await startClient(() => answers.shift() ?? drop, {
      turns: { perMinute: { read: 60, write: 20 }, take, pause: async () => {} },
    })
    const limited = { name: 'AccountLimitError', answered: false }
    const read = (lane: 'person' | 'background') => rejection(inLane(lane, () => api.plans.list({ tries: 1 })))

    turns = 1
    expect(await read('background')).toMatchObject({ status: 503 })
    const unanswered = await read('person')
    expect(unanswered).toMatchObject({ ...limited, cause: { status: 503 } })
    expect(toUserMessage(unanswered)).toMatch(/^The account API [^.]*503/)
    expect(await read('background')).not.toHaveProperty('cause')
    turns = 1
    await inLane('person', () => api.plans.list({ tries: 1 }))
    expect(await read('person')).not.toHaveProperty('cause')
    expect(requests).toHaveLength(2)
  })

  test.each([
    ['an outage', { status: 503, json: {} }, { name: 'ApiError', status: 503 }],
    [
      'a limit',
      { status: 429, json: { errors: [{ meta: { retry_after: 40 } }] } },
      { name: 'AccountLimitError', answered: true, waitMs: 40_000 },
    ],
  ] as const)('whose repeat has to wait too long ends with what happened to its first attempt: %s', async (_, reply, expected) => {
    const waits = [0, 50_000]
    const turns = { perMinute: { read: 60, write: 20 }, take: async () => waits.shift() ?? 50_000, pause: async () => {} }
    const { api, requests } = await startClient(() => reply, { turns })

    expect(await rejection(inLane('background', () => api.plans.list()))).toMatchObject(expected)
    expect(requests).toHaveLength(1)
  })

  test('that only the share of its person keeps waiting says so', async () => {
    const turns = { perMinute: { read: 60, write: 20 }, take: async () => 50_000, spentShare: async () => 16, pause: async () => {} }
    const { api } = await startClient(() => ({ json: {} }), { turns })

    expect(await rejection(inLane('person', () => api.plans.list()))).toMatchObject({ perMinute: 60, share: 16 })
  })

  test('waits for the time in Retry-After', async () => {
    const { api, requests } = await startClient((_, index) => (index === 0 ? { status: 429, headers: { 'retry-after': '1' } } : success), {
      timings: { ...timings, readMs: 5_000 },
    })
    const startedAt = performance.now()

    await api.elasticIps.get('eip_1GijF7NsZe3bN')

    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(990)
    expect(requests).toHaveLength(2)
  })

  test('fails at once when Retry-After is later than its deadline, and reports the time', async () => {
    const { api, requests } = await startClient(() => ({ status: 429, headers: { 'retry-after': '120' } }))

    expect(await rejection(api.elasticIps.get('eip_1GijF7NsZe3bN'))).toMatchObject({
      name: 'AccountLimitError',
      kind: 'read',
      waitMs: 120_000,
    })

    expect(requests).toHaveLength(1)
  })

  test('spreads its attempts over the whole wait', async () => {
    const random = vi.spyOn(Math, 'random').mockReturnValue(0.999)
    onTestFinished(() => void random.mockRestore())
    const { api } = await startClient(() => ({ status: 503 }), { timings: { ...timings, retryBaseMs: 60, retryMaxMs: 100 } })
    const startedAt = performance.now()

    await rejection(api.elasticIps.get('eip_1GijF7NsZe3bN'))

    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(155)
  })
})

describe('requestSent', () => {
  test('is no when the connection is refused', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    server.close()
    await once(server, 'close')
    const api = createAccountApi({ baseUrl: new URL(`http://127.0.0.1:${port}`), key: new Secret(key), timings })

    const error = await rejection(api.elasticIps.move('eip_1GijF7NsZe3bN', 'sv_22mUQSvUfeqdv'))

    expect(error).toMatchObject({ requestSent: 'no', message: 'elasticIps.move: no answer (ECONNREFUSED)' })
  })

  test('is no when the caller aborted before the call', async () => {
    const { api, requests } = await startClient(() => success)

    const error = await rejection(api.elasticIps.move('eip_1GijF7NsZe3bN', 'sv_22mUQSvUfeqdv', { signal: AbortSignal.abort() }))

    expect(error).toMatchObject({ requestSent: 'no' })
    expect(requests).toEqual([])
  })

  test('is unknown when the caller aborts during the call', async () => {
    const stop = new AbortController()
    const { api } = await startClient(() => () => stop.abort())

    const error = await rejection(api.elasticIps.move('eip_1GijF7NsZe3bN', 'sv_22mUQSvUfeqdv', { signal: stop.signal }))

    expect(error).toBeInstanceOf(ApiUnreachableError)
    expect(error).toMatchObject({ requestSent: 'unknown', message: 'elasticIps.move: no answer (cancelled by the caller)' })
  })
})

test('a read is not sent again after the caller aborts', async () => {
  const stop = new AbortController()
  const { api, requests } = await startClient(() => (response) => {
    stop.abort()
    response.destroy()
  })

  await rejection(api.elasticIps.get('eip_1GijF7NsZe3bN', { signal: stop.signal }))

  expect(requests).toHaveLength(1)
})
