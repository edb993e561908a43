import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { AccountApi } from '../../src/account/client.ts'
import { apiKey, plan, server } from '../../src/account/objects.ts'
import { ApiError, certainlyNotApplied } from '../../src/domain/errors.ts'
import { sample } from '../contract/documented.ts'
import { jsonType, key, type Reply, rejection, startClient, startRecordingServer, timings } from './recording-server.ts'

const whole = JSON.stringify({ data: sample.elasticIp })
const json = { 'content-type': jsonType }
const read = (api: AccountApi) => api.elasticIps.get('eip_1GijF7NsZe3bN')
const write = (api: AccountApi) => api.elasticIps.move('eip_1GijF7NsZe3bN', 'sv_22mUQSvUfeqdv')
const both = [write, read]

/** Keeps writing to a response until the client disconnects. */
function writeForever(response: ServerResponse, piece: Buffer | string, everyMs: number) {
  const timer = setInterval(() => response.write(piece), everyMs)
  response.on('close', () => clearInterval(timer))
}

/** What a reply means for a write: certainly nothing changed, or it may have been carried out. */
const refused = { name: 'ApiError' }
const failed = { name: 'ApiError', mayBeApplied: true }
const misfit = { name: 'ApiContractError', mayBeApplied: true }
const unanswered = { name: 'ApiUnreachableError', requestSent: 'unknown', mayBeApplied: true }

type Row = [what: string, reply: Reply, means: { name: string; mayBeApplied?: boolean }, reads: number]

test.each<Row>([
  ['a web page', { headers: { 'content-type': 'text/html' }, text: '<html>hello</html>' }, misfit, 1],
  ['a web page that says it is JSON', { text: '<html>hello</html>' }, misfit, 1],
  ['no content type', (response) => response.end(whole), misfit, 1],
  ['a content type that only begins like JSON', { headers: { 'content-type': 'application/jsonp' }, text: whole }, misfit, 1],
  ['truncated JSON', { text: whole.slice(0, 60) }, misfit, 1],
  ['an empty body', { text: '' }, misfit, 1],
  ['204 No Content', (response) => response.writeHead(204).end(), misfit, 1],
  ['null', { json: null }, misfit, 1],
  ['a list instead of one resource', { json: { data: [sample.elasticIp] } }, misfit, 1],
  ['a resource without an id', { json: { data: { attributes: {} } } }, misfit, 1],
  ['a field of the wrong type', { json: { data: { id: 'eip_1', attributes: { status: { is: 'active' } } } } }, misfit, 1],
  ['a compressed body', (response) => response.writeHead(200, { ...json, 'content-encoding': 'gzip' }).end(gzipSync(whole)), misfit, 1],
  ['a redirect', { status: 302, headers: { location: '/elastic_ips/eip_2VszvKL6sK72c' } }, misfit, 1],
  ['a redirect that keeps the method', { status: 307, headers: { location: '/elastic_ips/eip_2VszvKL6sK72c' } }, misfit, 1],
  ['304 Not Modified', (response) => response.writeHead(304).end(), misfit, 1],
  ...[400, 401, 403, 404, 409, 422, 423].map((status): Row => [`${status}`, { status }, refused, 1]),
  ...[408, 501].map((status): Row => [`${status}`, { status }, failed, 1]),
  ...[500, 504].map((status): Row => [`${status}`, { status }, failed, 3]),
  ['502 with a web page', { status: 502, text: '<html>' }, failed, 3],
  ['503 with Retry-After 0', { status: 503, headers: { 'retry-after': '0' } }, failed, 3],
  ['429 with Retry-After 0', { status: 429, headers: { 'retry-after': '0' } }, failed, 3],
  ['a closed connection', (response) => response.destroy(), unanswered, 3],
  ['a reset connection', (response) => response.socket?.resetAndDestroy(), unanswered, 3],
  [
    'a connection that closes in the middle of the body',
    (response) => response.writeHead(200, { ...json, 'content-length': whole.length }).write(whole.slice(0, 60), () => response.destroy()),
    unanswered,
    3,
  ],
])('%s: a write is sent once, and a read is sent again if that may help', async (_, reply, { mayBeApplied = false, ...means }, reads) => {
  const { api, requests } = await startClient(() => reply)

  const error = await rejection(write(api))

  expect(error).toMatchObject(means)
  expect(certainlyNotApplied(error)).toBe(!mayBeApplied)
  expect(String(error)).not.toMatch(/hello|203\.0\.113|</)
  expect(requests).toHaveLength(1)
  await rejection(read(api))
  expect(requests).toHaveLength(1 + reads)
})

test.each<[string, (response: ServerResponse) => void]>([
  ['does not answer', () => {}],
  ['does not finish its body', (response) => void response.writeHead(200, json).write('{')],
  ['sends its body very slowly', (response) => writeForever(response.writeHead(200, json), ' ', 20)],
])('a call ends at its deadline when the server %s', async (_, reply) => {
  const { api, requests } = await startClient(() => reply, { timings })

  for (const call of both) expect(await rejection(call(api))).toMatchObject({ name: 'ApiUnreachableError', requestSent: 'unknown' })
  expect(requests.filter(({ method }) => method === 'PATCH')).toHaveLength(1)
})

test.each([
  [200, { message: expect.stringMatching(/200 more than 8388608 bytes/) }],
  [422, { name: 'ApiError', status: 422 }],
])('a body with %i that is larger than 8 MB is not read to its end', async (status, expected) => {
  const megabyte = Buffer.alloc(1024 * 1024, 32)
  const patient = { readMs: 300_000, writeMs: 300_000 }
  const { api } = await startClient(() => (response) => writeForever(response.writeHead(status, json), megabyte, 20), { timings: patient })

  for (const call of both) expect(await rejection(call(api))).toMatchObject(expected)
})

test('the status is enough if the body of a refusal never ends', async () => {
  const { api } = await startClient(() => (response) => response.writeHead(409, json).write('{'), { timings })
  expect(await rejection(write(api))).toMatchObject({ name: 'ApiError', status: 409 })
})

test.each([301, 302, 303, 307, 308])('a redirect with %i to another host is not followed', async (status) => {
  const otherHost = await startRecordingServer(() => ({ json: { data: sample.elasticIp } }))
  const { api } = await startClient(() => ({ status, headers: { location: otherHost.url.href } }))

  for (const call of both) await rejection(call(api))

  expect(otherHost.requests).toEqual([])
})

test('a connection whose answer was rejected does not block later calls', async () => {
  const { api } = await startClient((_, index) =>
    index === 0 ? (response) => writeForever(response.writeHead(200, { 'content-type': 'text/html' }), 'x', 5) : { text: whole },
  )

  await rejection(write(api))

  expect(await read(api)).toMatchObject({ id: sample.elasticIp.id })
})

const usd = { hour: 0.05, month: 36.5 }
const prices = (pricing: unknown) => ({ regions: [{ name: 'Japan', pricing }] })
const priced = (...all: object[]) => ({ regions: [expect.objectContaining({ name: 'Japan', prices: all })] })

test.each<[what: string, kind: { one(json: unknown): object }, attributes: object, expected: object]>([
  ['the time of a deletion, with its offset', server, { scheduled_deletion_at: '2026-12-01T09:30:00+00:00' }, { deletedAt: 1796117400000 }],
  ['the time of a deletion in ms', server, { scheduled_deletion_at: '1796117400000' }, { deletedAt: 1796117400000 }],
  ...['soon', '2026-99-99', '', { on: 'Friday' }, null].map((at): [string, typeof server, object, object] => [
    'no time of a deletion',
    server,
    { scheduled_deletion_at: at },
    { deletedAt: undefined },
  ]),
  [
    'no prices from notes',
    plan,
    prices({ USD: usd, note: 'no tax', EUR: 5, GBP: ['0.04'], CHF: true }),
    priced({ currency: 'USD', ...usd }),
  ],
  [
    'a price of which a part is unknown',
    plan,
    prices({ EUR: { hour: { amount: 4 }, month: '31' } }),
    priced({ currency: 'EUR', hour: undefined, month: 31 }),
  ],
  ['no prices from a list', plan, prices([usd]), priced()],
  ['no prices from a text', plan, prices('on request'), priced()],
  // An empty list would mean any address.
  [
    'allowed addresses in an unknown form',
    apiKey,
    { allowed_ips: [{ cidr: '192.0.2.0/24' }] },
    { allowedIps: ['{"cidr":"192.0.2.0/24"}'] },
  ],
])('a thing is read with %s: %#', (_, kind, attributes, expected) => {
  expect(kind.one({ data: { id: 'id_1', attributes } })).toMatchObject(expected)
})

describe('a refusal', () => {
  const code = 'RATE_LIMIT_EXCEEDED'
  const waiting = (item: object, headers = {}) => ({ status: 429, headers, json: { errors: [{ code: 'TOO_MANY', ...item }] } })

  test.each<[what: string, reply: Reply & object, reads: object]>([
    // As documented: the shorter shape, the longer one, and a status alone (OpenAPI document and SDKs of the vendor, 2026).
    [
      'a code and a message',
      { status: 422, json: { errors: [{ code: 'SITE_MISMATCH', message: 'Another site.' }] } },
      { codes: ['SITE_MISMATCH'], detail: 'Another site.' },
    ],
    [
      'a code and a detail',
      {
        json: { errors: [{ code: 'INVALID', status: '422', title: 'Invalid', detail: 'unknown', source: { pointer: '/data' }, meta: {} }] },
      },
      { codes: ['INVALID'], detail: 'unknown' },
    ],
    ['a status', { json: { errors: [{ status: '404' }] } }, {}],
    ['only a title', { json: { errors: [{ title: 'Not found' }] } }, { detail: 'Not found' }],
    ['a number as code', { json: { errors: [{ code: 1042, message: '' }] } }, { codes: ['1042'] }],
    ['items that are no errors', { json: { errors: [null, 'x', 7, { detail: { a: 1 }, message: 'words' }] } }, { detail: 'words' }],
    ['no errors', { json: {} }, {}],
    ['errors that are not a list', { json: { errors: 'many' } }, {}],
    ['a text', { json: 'no' }, {}],
    ['an empty body', {}, {}],
    ['a web page', { headers: { 'content-type': 'text/html' }, text: '<html>please log in</html>' }, { message: 'elasticIps.move: 404' }],
    ['truncated JSON', { text: '{"errors":[{"code":"SITE_MIS' }, {}],
    ['a compressed body', { headers: { 'content-encoding': 'gzip' }, text: '\u001f\u008b' }, {}],
    ['a header in seconds', { status: 429, headers: { 'retry-after': '120' } }, { retryAfterMs: 120_000 }],
    ['a header with a word', { status: 429, headers: { 'retry-after': 'soon' } }, {}],
    ['a header with a negative number', { status: 429, headers: { 'retry-after': '-5' } }, {}],
    ['retry_after', waiting({ meta: { retry_after: 60 } }), { codes: ['TOO_MANY'], retryAfterMs: 60_000 }],
    ['retry_after as a text', waiting({ meta: { retry_after: '0.5' } }), { codes: ['TOO_MANY'], retryAfterMs: 500 }],
    [
      'retry_after and a header, which takes precedence',
      waiting({ meta: { retry_after: 60 } }, { 'retry-after': '5' }),
      { codes: ['TOO_MANY'], retryAfterMs: 5_000 },
    ],
    ['retry_after that is a word', waiting({ meta: { retry_after: 'soon' } }), { codes: ['TOO_MANY'] }],
    ['a negative retry_after', waiting({ meta: { retry_after: -5 } }), { codes: ['TOO_MANY'] }],
    ['a number as meta', waiting({ meta: 60 }), { codes: ['TOO_MANY'] }],
  ])('is read as far as it is valid: %s', async (_, reply, reads) => {
    const { api } = await startClient(() => ({ status: 404, ...reply }))

    const error = await rejection(write(api))

    expect(error).toBeInstanceOf(ApiError)
    expect(error).toMatchObject({ codes: [], detail: undefined, retryAfterMs: undefined, ...reads })
  })

  test('has a detail of at most 200 characters, on one line, without keys and tokens', async () => {
    const detail = `The key ${key} and\nthe token ${'ab12'.repeat(9)} are \u0000wrong. ${'😀'.repeat(300)}`
    const { api } = await startClient(() => ({ status: 400, json: { errors: [{ code: key, detail }] } }))

    const error = (await rejection(write(api))) as ApiError

    expect(error.codes).toEqual([])
    expect(error.detail).toMatch(/^The key \[redacted\] and the token \[redacted\] are wrong\. (😀)+…$/u)
    expect(error.detail?.length).toBeLessThanOrEqual(200)
  })

  test('of a write because of the limit of the account certainly changed nothing', async () => {
    const { api } = await startClient(() => ({ status: 429, json: { errors: [{ code, meta: { retry_after: 17 } }] } }))

    const error = await rejection(write(api))

    expect(error).toMatchObject({ name: 'AccountLimitError', kind: 'write', waitMs: 17_000, answered: true })
    expect(certainlyNotApplied(error)).toBe(true)
  })
})
