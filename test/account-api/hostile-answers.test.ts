import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { AccountApi } from '../../src/account-api/client.ts'
import { ApiContractError, ApiUnreachableError } from '../../src/domain/errors.ts'
import { jsonType, type Reply, rejection, startClient, startRecordingServer } from './recording-server.ts'
import * as sample from './wire-samples.ts'

const whole = JSON.stringify({ data: sample.elasticIp })

/** Keeps writing until nobody listens. */
function pour(response: ServerResponse, piece: Buffer | string, everyMs: number) {
  const timer = setInterval(() => response.write(piece), everyMs)
  response.on('close', () => clearInterval(timer))
}

const misfits: [string, Reply][] = [
  ['a web page', { headers: { 'content-type': 'text/html' }, text: '<html>hello</html>' }],
  ['a web page that says it is JSON', { text: '<html>hello</html>' }],
  ['no content type', (response) => response.end(whole)],
  ['a type that only begins like JSON', { headers: { 'content-type': 'application/jsonp' }, text: whole }],
  ['JSON that ends in the middle', { text: whole.slice(0, 60) }],
  ['nothing', { text: '' }],
  ['no content', (response) => response.writeHead(204).end()],
  ['null', { json: null }],
  ['a list in place of one', { json: { data: [sample.elasticIp] } }],
  ['a resource without an id', { json: { data: { attributes: {} } } }],
  ['a field of another kind', { json: { data: { id: 'eip_1GijF7NsZe3bN', attributes: { status: { is: 'active' } } } } }],
  [
    'a compressed body',
    (response) => response.writeHead(200, { 'content-type': jsonType, 'content-encoding': 'gzip' }).end(gzipSync(whole)),
  ],
  ['a redirect', { status: 302, headers: { location: '/elastic_ips/eip_2VszvKL6sK72c' } }],
  ['a redirect that keeps the method', { status: 307, headers: { location: '/elastic_ips/eip_2VszvKL6sK72c' } }],
  ['not modified', (response) => response.writeHead(304).end()],
]

describe.each<[string, (api: AccountApi) => Promise<unknown>]>([
  ['a read', (api) => api.elasticIps.get('eip_1GijF7NsZe3bN')],
  ['a write', (api) => api.elasticIps.move('eip_1GijF7NsZe3bN', 'sv_22mUQSvUfeqdv')],
])('%s', (_, call) => {
  test.each(misfits)('answered with %s does not fit, and is not tried again', async (__, reply) => {
    const { api, requests } = await startClient(() => reply)

    const error = await rejection(call(api))

    expect(error).toBeInstanceOf(ApiContractError)
    expect(String(error)).not.toMatch(/hello|203\.0\.113|</)
    expect(requests).toHaveLength(1)
  })

  test('answered with more than can be meant is cut off', async () => {
    const megabyte = Buffer.alloc(1024 * 1024, 32)
    const { api, requests } = await startClient(() => (response) => {
      response.writeHead(200, { 'content-type': jsonType })
      pour(response, megabyte, 1)
    })

    const error = await rejection(call(api))

    expect(String(error)).toMatch(/200 more than 8388608 bytes/)
    expect(requests).toHaveLength(1)
  })

  test.each<[string, (response: ServerResponse) => void]>([
    ['never', () => {}],
    ['never to its end', (response) => void response.writeHead(200, { 'content-type': jsonType }).write('{')],
    ['by drips', (response) => pour(response.writeHead(200, { 'content-type': jsonType }), ' ', 20)],
  ])('answered %s ends at its deadline', async (__, reply) => {
    const { api } = await startClient(() => reply)
    const startedAt = performance.now()

    const error = await rejection(call(api))

    expect(error).toBeInstanceOf(ApiUnreachableError)
    expect(error).toMatchObject({ requestSent: 'unknown' })
    expect(performance.now() - startedAt).toBeLessThan(2_500)
  })

  test('answered with a body that is cut off has no answer', async () => {
    const { api } = await startClient(() => (response) => {
      response.writeHead(200, { 'content-type': jsonType, 'content-length': whole.length })
      response.write(whole.slice(0, 60), () => response.destroy())
    })

    expect(await rejection(call(api))).toMatchObject({ name: 'ApiUnreachableError', requestSent: 'unknown' })
  })

  test.each([301, 302, 303, 307, 308])('redirected with %i to another host never goes there', async (status) => {
    const evil = await startRecordingServer(() => ({ json: { data: sample.elasticIp } }))
    const { api } = await startClient(() => ({ status, headers: { location: evil.url.href } }))

    await rejection(call(api))

    expect(evil.requests).toEqual([])
  })
})

test('a connection whose answer was abandoned does not block those that follow', async () => {
  const { api } = await startClient((_, index) =>
    index === 0
      ? (response) => pour(response.writeHead(200, { 'content-type': 'text/html' }), 'x', 5)
      : { json: { data: sample.elasticIp } },
  )

  await rejection(api.elasticIps.move('eip_1GijF7NsZe3bN', 'sv_22mUQSvUfeqdv'))

  expect(await api.elasticIps.get('eip_7f3apdb0NT6DO')).toMatchObject({ id: 'eip_7f3apdb0NT6DO' })
})
