import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { type AccountApi, createAccountApi } from '../../src/account-api/client.ts'
import { ApiUnreachableError } from '../../src/domain/errors.ts'
import { Secret } from '../../src/domain/secret.ts'
import { key, type Reply, rejection, startClient, timings } from './recording-server.ts'
import * as sample from './wire-samples.ts'

const fine: Reply = { json: { data: sample.elasticIp } }
const drop: Reply = (response) => response.destroy()
const reset: Reply = (response) => response.socket?.resetAndDestroy()

const writes: [string, (api: AccountApi) => Promise<unknown>][] = [
  ['elasticIps.move', (api) => api.elasticIps.move('eip_1GijF7NsZe3bN', 'sv_22mUQSvUfeqdv')],
  ['virtualMachines.rename', (api) => api.virtualMachines.rename('vm_1zHfNurvp25kg', 'web')],
  ['apiKeys.create', (api) => api.apiKeys.create({ name: 'deploy' })],
  ['apiKeys.rotate', (api) => api.apiKeys.rotate('tok_15s9QBceXweJT', 'deploy')],
  ['apiKeys.update', (api) => api.apiKeys.update('tok_15s9QBceXweJT', { readOnly: true })],
  ['apiKeys.delete', (api) => api.apiKeys.delete('tok_15s9QBceXweJT')],
]

const faults: [string, Reply][] = [
  ['a 500', { status: 500 }],
  ['a 502', { status: 502, text: '<html>' }],
  ['a 503 to be tried again at once', { status: 503, headers: { 'retry-after': '0' } }],
  ['a 504', { status: 504 }],
  ['a 429 to be tried again at once', { status: 429, headers: { 'retry-after': '0' } }],
  ['a closed connection', drop],
  ['a reset connection', reset],
  ['silence', () => {}],
  ['a web page', { headers: { 'content-type': 'text/html' }, text: '<html>' }],
  ['a redirect', { status: 307, headers: { location: '/' } }],
]

describe('a write is never repeated', () => {
  test.each(writes.flatMap(([name, call]) => faults.map(([fault, reply]) => [name, fault, call, reply] as const)))(
    '%s after %s',
    async (_, __, call, reply) => {
      const { api, requests } = await startClient(() => reply)

      await rejection(call(api))

      expect(requests).toHaveLength(1)
    },
  )

  test('also when a connection that was in use before closes just then', async () => {
    const { api, requests } = await startClient((_, index) => (index === 0 ? fine : drop))
    await api.elasticIps.get('eip_1GijF7NsZe3bN')

    const error = await rejection(api.elasticIps.move('eip_1GijF7NsZe3bN', 'sv_22mUQSvUfeqdv'))

    expect(error).toMatchObject({ name: 'ApiUnreachableError', requestSent: 'unknown' })
    expect(requests.map(({ method }) => method)).toEqual(['GET', 'PATCH'])
  })
})

describe('a read', () => {
  test.each(faults.slice(0, 7))('is tried three times in all after %s', async (_, reply) => {
    const { api, requests } = await startClient(() => reply)

    await rejection(api.elasticIps.get('eip_1GijF7NsZe3bN'))

    expect(requests).toHaveLength(3)
  })

  test.each(faults.slice(0, 7))('succeeds when %s is not the end of it', async (_, reply) => {
    const { api, requests } = await startClient((__, index) => (index < 2 ? reply : fine))

    await api.elasticIps.get('eip_1GijF7NsZe3bN')

    expect(requests).toHaveLength(3)
  })

  test.each([400, 401, 403, 404, 409, 422, 501])('is not tried again after %i', async (status) => {
    const { api, requests } = await startClient(() => ({ status }))

    await rejection(api.elasticIps.get('eip_1GijF7NsZe3bN'))

    expect(requests).toHaveLength(1)
  })

  test('waits as long as Retry-After says', async () => {
    const { api, requests } = await startClient((_, index) => (index === 0 ? { status: 429, headers: { 'retry-after': '1' } } : fine), {
      timings: { ...timings, readMs: 5_000 },
    })
    const startedAt = performance.now()

    await api.elasticIps.get('eip_1GijF7NsZe3bN')

    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(990)
    expect(requests).toHaveLength(2)
  })

  test('gives up at once when Retry-After is beyond its deadline, and tells when', async () => {
    const { api, requests } = await startClient(() => ({ status: 429, headers: { 'retry-after': '120' } }))
    const startedAt = performance.now()

    expect(await rejection(api.elasticIps.get('eip_1GijF7NsZe3bN'))).toMatchObject({ status: 429, retryAfterMs: 120_000 })

    expect(performance.now() - startedAt).toBeLessThan(500)
    expect(requests).toHaveLength(1)
  })

  test('spreads its tries over the whole wait', async () => {
    const random = vi.spyOn(Math, 'random').mockReturnValue(0.999)
    onTestFinished(() => void random.mockRestore())
    const { api } = await startClient(() => ({ status: 503 }), { timings: { ...timings, retryBaseMs: 60, retryMaxMs: 100 } })
    const startedAt = performance.now()

    await rejection(api.elasticIps.get('eip_1GijF7NsZe3bN'))

    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(155)
  })
})

describe('whether the request was sent', () => {
  test('is certain where nobody listens', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    server.close()
    await once(server, 'close')
    const api = createAccountApi({ baseUrl: new URL(`http://127.0.0.1:${port}`), key: new Secret(key), timings })

    const error = await rejection(api.elasticIps.move('eip_1GijF7NsZe3bN', 'sv_22mUQSvUfeqdv'))

    expect(error).toMatchObject({ requestSent: 'no', message: 'elasticIps.move: no answer (ECONNREFUSED)' })
  })

  test('is certain where the host has no address', async () => {
    const api = createAccountApi({
      baseUrl: new URL('https://api.nimbus.invalid'),
      key: new Secret(key),
      timings: { ...timings, readMs: 4_000, writeMs: 4_000, connectMs: 4_000 },
    })

    expect(await rejection(api.elasticIps.move('eip_1GijF7NsZe3bN', 'sv_22mUQSvUfeqdv'))).toMatchObject({ requestSent: 'no' })
  })

  test('is certain when the caller had stopped before', async () => {
    const { api, requests } = await startClient(() => fine)

    const error = await rejection(api.elasticIps.move('eip_1GijF7NsZe3bN', 'sv_22mUQSvUfeqdv', { signal: AbortSignal.abort() }))

    expect(error).toMatchObject({ requestSent: 'no' })
    expect(requests).toEqual([])
  })

  test('is not known when the caller stops while it is under way', async () => {
    const stop = new AbortController()
    const { api } = await startClient(() => () => stop.abort())

    const error = await rejection(api.elasticIps.move('eip_1GijF7NsZe3bN', 'sv_22mUQSvUfeqdv', { signal: stop.signal }))

    expect(error).toBeInstanceOf(ApiUnreachableError)
    expect(error).toMatchObject({ requestSent: 'unknown', message: 'elasticIps.move: no answer (cancelled by the caller)' })
  })

  test.each([
    ['closed', drop],
    ['reset', reset],
  ])('is not known when the connection is %s', async (_, reply) => {
    const { api } = await startClient(() => reply)

    expect(await rejection(api.elasticIps.move('eip_1GijF7NsZe3bN', 'sv_22mUQSvUfeqdv'))).toMatchObject({ requestSent: 'unknown' })
  })
})

test('a caller who stops ends the tries of a read', async () => {
  const stop = new AbortController()
  const { api, requests } = await startClient(() => (response) => {
    stop.abort()
    response.destroy()
  })

  await rejection(api.elasticIps.get('eip_1GijF7NsZe3bN', { signal: stop.signal }))

  expect(requests).toHaveLength(1)
})

test('every try is reported with what came of it', async () => {
  const reports: unknown[] = []
  const replies: Reply[] = [{ status: 503 }, drop, { json: { data: 1 } }]
  const { api } = await startClient((_, index) => replies[index] ?? fine, { onCall: ({ ms: _ms, ...report }) => reports.push(report) })

  await rejection(api.elasticIps.get('eip_1GijF7NsZe3bN'))
  await api.elasticIps.get('eip_1GijF7NsZe3bN')

  expect(reports).toEqual([
    { operation: 'elasticIps.get', attempt: 1, status: 503 },
    { operation: 'elasticIps.get', attempt: 2, status: 'unreachable' },
    { operation: 'elasticIps.get', attempt: 3, status: 'contract' },
    { operation: 'elasticIps.get', attempt: 1, status: 200 },
  ])
})
