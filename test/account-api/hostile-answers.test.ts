import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { AccountApi } from '../../src/account/client.ts'
import { ApiContractError, ApiUnreachableError } from '../../src/domain/errors.ts'
import { jsonType, type Reply, rejection, startClient, startRecordingServer } from './recording-server.ts'
import * as sample from './wire-samples.ts'

const whole = JSON.stringify({ data: sample.elasticIp })

/** Keeps writing to a response until the client disconnects. */
function writeForever(response: ServerResponse, piece: Buffer | string, everyMs: number) {
  const timer = setInterval(() => response.write(piece), everyMs)
  response.on('close', () => clearInterval(timer))
}

const invalidReplies: [string, Reply][] = [
  ['a web page', { headers: { 'content-type': 'text/html' }, text: '<html>hello</html>' }],
  ['a web page that says it is JSON', { text: '<html>hello</html>' }],
  ['no content type', (response) => response.end(whole)],
  ['a content type that only begins like JSON', { headers: { 'content-type': 'application/jsonp' }, text: whole }],
  ['truncated JSON', { text: whole.slice(0, 60) }],
  ['an empty body', { text: '' }],
  ['204 No Content', (response) => response.writeHead(204).end()],
  ['null', { json: null }],
  ['a list instead of one resource', { json: { data: [sample.elasticIp] } }],
  ['a resource without an id', { json: { data: { attributes: {} } } }],
  ['a field of the wrong type', { json: { data: { id: 'eip_1GijF7NsZe3bN', attributes: { status: { is: 'active' } } } } }],
  [
    'a compressed body',
    (response) => response.writeHead(200, { 'content-type': jsonType, 'content-encoding': 'gzip' }).end(gzipSync(whole)),
  ],
  ['a redirect', { status: 302, headers: { location: '/elastic_ips/eip_2VszvKL6sK72c' } }],
  ['a redirect that keeps the method', { status: 307, headers: { location: '/elastic_ips/eip_2VszvKL6sK72c' } }],
  ['304 Not Modified', (response) => response.writeHead(304).end()],
]

describe.each<[string, (api: AccountApi) => Promise<unknown>]>([
  ['a read', (api) => api.elasticIps.get('eip_1GijF7NsZe3bN')],
  ['a write', (api) => api.elasticIps.move('eip_1GijF7NsZe3bN', 'sv_22mUQSvUfeqdv')],
])('%s', (_, call) => {
  test.each(invalidReplies)('throws ApiContractError for %s and is sent only once', async (__, reply) => {
    const { api, requests } = await startClient(() => reply)

    const error = await rejection(call(api))

    expect(error).toBeInstanceOf(ApiContractError)
    expect(String(error)).not.toMatch(/hello|203\.0\.113|</)
    expect(requests).toHaveLength(1)
  })

  test('stops reading a body that is larger than 8 MB', async () => {
    const megabyte = Buffer.alloc(1024 * 1024, 32)
    const { api, requests } = await startClient(() => (response) => {
      response.writeHead(200, { 'content-type': jsonType })
      writeForever(response, megabyte, 1)
    })

    const error = await rejection(call(api))

    expect(String(error)).toMatch(/200 more than 8388608 bytes/)
    expect(requests).toHaveLength(1)
  })

  test.each<[string, (response: ServerResponse) => void]>([
    ['does not answer', () => {}],
    ['does not finish its body', (response) => void response.writeHead(200, { 'content-type': jsonType }).write('{')],
    ['sends its body very slowly', (response) => writeForever(response.writeHead(200, { 'content-type': jsonType }), ' ', 20)],
  ])('ends at its deadline when the server %s', async (__, reply) => {
    const { api } = await startClient(() => reply)
    const startedAt = performance.now()

    const error = await rejection(call(api))

    expect(error).toBeInstanceOf(ApiUnreachableError)
    expect(error).toMatchObject({ requestSent: 'unknown' })
    expect(performance.now() - startedAt).toBeLessThan(2_500)
  })

  test('throws ApiUnreachableError when the connection closes in the middle of the body', async () => {
    const { api } = await startClient(() => (response) => {
      response.writeHead(200, { 'content-type': jsonType, 'content-length': whole.length })
      response.write(whole.slice(0, 60), () => response.destroy())
    })

    expect(await rejection(call(api))).toMatchObject({ name: 'ApiUnreachableError', requestSent: 'unknown' })
  })

  test.each([301, 302, 303, 307, 308])('does not follow a redirect with %i to another host', async (status) => {
    const otherHost = await startRecordingServer(() => ({ json: { data: sample.elasticIp } }))
    const { api } = await startClient(() => ({ status, headers: { location: otherHost.url.href } }))

    await rejection(call(api))

    expect(otherHost.requests).toEqual([])
  })
})

test('a connection whose answer was rejected does not block later calls', async () => {
  const { api } = await startClient((_, index) =>
    index === 0
      ? (response) => writeForever(response.writeHead(200, { 'content-type': 'text/html' }), 'x', 5)
      : { json: { data: sample.elasticIp } },
  )

  await rejection(api.elasticIps.move('eip_1GijF7NsZe3bN', 'sv_22mUQSvUfeqdv'))

  expect(await api.elasticIps.get(sample.elasticIp.id)).toMatchObject({ id: sample.elasticIp.id })
})
