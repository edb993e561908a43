import { expect, test } from 'vitest'
import { ApiError, certainlyNotApplied } from '../../src/domain/errors.ts'
import { key, type Reply, rejection, startClient } from './recording-server.ts'

async function refusedMove(reply: Reply): Promise<ApiError> {
  const { api } = await startClient(() => reply)
  const error = await rejection(api.elasticIps.move('eip_1GijF7NsZe3bN', 'sv_22mUQSvUfeqdv'))
  if (!(error instanceof ApiError)) throw error
  return error
}

test.each(['ELASTIC_IP_NOT_ACTIVE', 'SERVER_NOT_IN_PROJECT', 'SITE_NOT_SUPPORTED', 'SERVER_NETWORK_INCOMPATIBLE', 'SITE_MISMATCH'])(
  'a move rejected with %s throws ApiError with this code',
  async (code) => {
    const error = await refusedMove({ status: 422, json: { errors: [{ code, message: 'No.' }] } })

    expect(error).toMatchObject({ operation: 'elasticIps.move', status: 422, codes: [code], detail: 'No.' })
    expect(error.message).toBe(`elasticIps.move: 422 ${code}`)
    expect(certainlyNotApplied(error)).toBe(true)
  },
)

test('reads codes and detail from the longer shape of errors', async () => {
  const long = {
    code: 'VALIDATION_ERROR',
    status: '422',
    title: 'Invalid',
    detail: 'server_id is unknown',
    source: { pointer: '/data' },
    meta: {},
  }

  const error = await refusedMove({ status: 422, json: { errors: [long, { code: 'SECOND' }] } })

  expect(error).toMatchObject({ codes: ['VALIDATION_ERROR', 'SECOND'], detail: 'server_id is unknown' })
})

test.each([
  ['only a title', { errors: [{ title: 'Not found' }] }, [], 'Not found'],
  ['a number as code', { errors: [{ code: 1042, message: '' }] }, ['1042'], undefined],
  ['an item that is not an error', { errors: [null, 'x', 7, { detail: { a: 1 }, message: 'words' }] }, [], 'words'],
  ['no errors', {}, [], undefined],
  ['errors that are not a list', { errors: 'many' }, [], undefined],
  ['a text', 'no', [], undefined],
  ['an empty body', undefined, [], undefined],
])('reads what is valid in the body of an error: %s', async (_, json, codes, detail) => {
  const error = await refusedMove({ status: 404, json })

  expect(error).toMatchObject({ status: 404, codes, detail })
})

test.each([
  ['a web page', { headers: { 'content-type': 'text/html' }, text: '<html>please log in</html>' }],
  ['truncated JSON', { text: '{"errors":[{"code":"SITE_MIS' }],
  ['a compressed body', { headers: { 'content-encoding': 'gzip' }, text: '\u001f\u008b' }],
])('reads only the status when the body is %s', async (_, reply) => {
  const error = await refusedMove({ status: 400, ...reply })

  expect(error).toMatchObject({ status: 400, codes: [], detail: undefined, message: 'elasticIps.move: 400' })
})

test('throws ApiError with the status when the body never ends', async () => {
  const { api } = await startClient(() => (response) => response.writeHead(409, { 'content-type': 'application/json' }).write('{'))

  expect(await rejection(api.elasticIps.move('eip_1GijF7NsZe3bN', 'sv_22mUQSvUfeqdv'))).toMatchObject({ name: 'ApiError', status: 409 })
})

test('cuts the detail to 200 characters, puts it on one line, and removes keys and tokens', async () => {
  const detail = `The key ${key} and\nthe token ${'ab12'.repeat(9)} are \u0000wrong. ${'😀'.repeat(300)}`

  const error = await refusedMove({ status: 400, json: { errors: [{ code: key, detail }] } })

  expect(error.codes).toEqual([])
  expect(error.detail).toMatch(/^The key \[redacted\] and the token \[redacted\] are wrong\. (😀)+…$/u)
  expect([...(error.detail ?? '')]).toHaveLength(200)
})

test.each([
  ['seconds', { 'retry-after': '120' }, 120_000],
  [
    'a date, compared with the Date header',
    { 'retry-after': 'Sat, 21 Nov 2026 12:00:30 GMT', date: 'Sat, 21 Nov 2026 12:00:00 GMT' },
    30_000,
  ],
  ['a date in the past', { 'retry-after': 'Sat, 21 Nov 2026 11:00:00 GMT', date: 'Sat, 21 Nov 2026 12:00:00 GMT' }, 0],
  ['a word', { 'retry-after': 'soon' }, undefined],
  ['a negative number', { 'retry-after': '-5' }, undefined],
  ['nothing', {}, undefined],
])('reads a Retry-After header with %s', async (_, headers, retryAfterMs) => {
  const error = await refusedMove({ status: 429, headers })

  expect(error.retryAfterMs).toBe(retryAfterMs)
  expect(certainlyNotApplied(error)).toBe(false)
})

test.each([
  ['a number', { meta: { retry_after: 60 } }, {}, 60_000],
  ['a number as a text', { meta: { retry_after: '0.5' } }, {}, 500],
  ['a number and a header, which takes precedence', { meta: { retry_after: 60 } }, { 'retry-after': '5' }, 5_000],
  ['a word', { meta: { retry_after: 'soon' } }, {}, undefined],
  ['a negative number', { meta: { retry_after: -5 } }, {}, undefined],
  ['an impossibly large number', { meta: { retry_after: 1e300 } }, {}, undefined],
  ['a number as meta', { meta: 60 }, {}, undefined],
])('reads retry_after from the body: %s', async (_, item, headers, retryAfterMs) => {
  const error = await refusedMove({ status: 429, headers, json: { errors: [{ code: 'TOO_MANY', ...item }] } })

  expect(error).toMatchObject({ codes: ['TOO_MANY'], retryAfterMs })
})

test('a write that the account refuses because of its limit certainly changed nothing', async () => {
  const { api } = await startClient(() => ({
    status: 429,
    json: { errors: [{ code: 'RATE_LIMIT_EXCEEDED', meta: { retry_after: 17 } }] },
  }))
  const error = await rejection(api.elasticIps.move('eip_1GijF7NsZe3bN', 'sv_22mUQSvUfeqdv'))

  expect(error).toMatchObject({ name: 'AccountLimitError', kind: 'write', waitMs: 17_000, answered: true })
  expect(certainlyNotApplied(error)).toBe(true)
})

test.each([400, 401, 403, 404, 409, 422, 423])('a write answered with %i certainly changed nothing', async (status) => {
  expect(certainlyNotApplied(await refusedMove({ status }))).toBe(true)
})

test.each([408, 429, 500, 502, 503, 504])('a write answered with %i may have been carried out', async (status) => {
  expect(certainlyNotApplied(await refusedMove({ status }))).toBe(false)
})
