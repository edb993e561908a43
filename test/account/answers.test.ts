import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { AccountApi } from '../../src/account/client.ts'
import { ApiContractError, ApiError, ApiUnreachableError, certainlyNotApplied } from '../../src/domain/errors.ts'
import { jsonType, key, type Reply, rejection, startClient, startRecordingServer, timings } from './recording-server.ts'
import * as sample from './wire-samples.ts'

describe('hostile answers', () => {
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
      const { api } = await startClient(() => reply, { timings })

      const error = await rejection(call(api))

      expect(error).toBeInstanceOf(ApiUnreachableError)
      expect(error).toMatchObject({ requestSent: 'unknown' })
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
})

describe('tolerated answers', () => {
  function page(items: unknown[]): (request: { target: string }) => Reply {
    return ({ target }) => ({ json: { data: /number%5D=([2-9]|\d\d)/.test(target) ? [] : items } })
  }

  test.each([
    ['2026-12-01T09:30:00+00:00', Date.UTC(2026, 11, 1, 9, 30)],
    ['1796117400000', Date.UTC(2026, 11, 1, 9, 30)],
    ['soon', undefined],
    ['2026-99-99', undefined],
    ['', undefined],
    [{ on: 'Friday' }, undefined],
    [null, undefined],
  ])('reads when a server is deleted, and the server also if the time is in no known form: %j', async (shown, deletedAt) => {
    const attributes = { ...sample.server.attributes, scheduled_deletion_at: shown }
    const { api } = await startClient(() => ({ json: { data: { ...sample.server, attributes } } }))

    expect((await api.servers.get(sample.server.id)).deletedAt).toBe(deletedAt)
  })

  test('leaves out an Elastic IP without an id, which is still being provisioned, and does not report it', async () => {
    const skipped: unknown[] = []
    const { api } = await startClient(page([{ ...sample.elasticIp, id: null }, sample.elasticIp]), {
      onSkipped: (report) => skipped.push(report),
    })

    const { items, ...missing } = await api.elasticIps.list()

    expect(items).toMatchObject([{ id: sample.elasticIp.id }])
    expect(missing).toEqual({ isWhole: true, unreadable: 0, unready: 1 })
    expect(skipped).toEqual([])
  })

  const usd = { hour: 0.05, month: 36.5 }

  test.each([
    ['a note next to the prices', { USD: usd, note: 'excluding tax', EUR: 5, GBP: ['0.04'], CHF: true }, [{ currency: 'USD', ...usd }]],
    [
      'a price in an unknown shape',
      { USD: usd, EUR: { hour: { amount: 4 }, month: '31' } },
      [
        { currency: 'USD', ...usd },
        { currency: 'EUR', hour: undefined, month: 31 },
      ],
    ],
    ['a list instead of prices', [usd], []],
    ['a text instead of prices', 'on request', []],
  ])('lists the plan without the invalid prices: %s', async (_, pricing, prices) => {
    const skipped: unknown[] = []
    const plan = { ...sample.plan, attributes: { ...sample.plan.attributes, regions: [{ name: 'Japan', pricing }] } }
    const { api } = await startClient(page([plan, { ...sample.plan, id: 'plan_5JJZxAL0yRKtm' }]), {
      onSkipped: (report) => skipped.push(report),
    })

    const [first, ...others] = (await api.plans.list()).items

    expect(first?.regions[0]?.prices).toEqual(prices)
    expect(others).toMatchObject([{ id: 'plan_5JJZxAL0yRKtm' }])
    expect(skipped).toEqual([])
  })

  test('keeps allowed addresses in an unknown form, because an empty list would mean any address', async () => {
    const { api } = await startClient(
      page([
        { id: 'tok_15s9QBceXweJT', attributes: { allowed_ips: [{ cidr: '192.0.2.0/24' }] } },
        { id: 'tok_2r2LuEFZ1tt4e', attributes: { allowed_ips: null } },
      ]),
    )

    const [first, second] = (await api.apiKeys.list()).items

    expect(first?.allowedIps).toEqual(['{"cidr":"192.0.2.0/24"}'])
    expect(second).toMatchObject({ allowedIps: [] })
  })
})

describe('refusals', () => {
  async function refusedMove(reply: Reply): Promise<ApiError> {
    const { api } = await startClient(() => reply)
    const error = await rejection(api.elasticIps.move('eip_1GijF7NsZe3bN', 'sv_22mUQSvUfeqdv'))
    if (!(error instanceof ApiError)) throw error
    return error
  }

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
    const { api } = await startClient(() => (response) => response.writeHead(409, { 'content-type': 'application/json' }).write('{'), {
      timings,
    })

    expect(await rejection(api.elasticIps.move('eip_1GijF7NsZe3bN', 'sv_22mUQSvUfeqdv'))).toMatchObject({ name: 'ApiError', status: 409 })
  })

  test('cuts the detail to 200 characters, puts it on one line, and removes keys and tokens', async () => {
    const detail = `The key ${key} and\nthe token ${'ab12'.repeat(9)} are \u0000wrong. ${'😀'.repeat(300)}`

    const error = await refusedMove({ status: 400, json: { errors: [{ code: key, detail }] } })

    expect(error.codes).toEqual([])
    expect(error.detail).toMatch(/^The key \[redacted\] and the token \[redacted\] are wrong\. (😀)+…$/u)
    expect(error.detail?.length).toBeLessThanOrEqual(200)
  })

  test.each([
    ['seconds', { 'retry-after': '120' }, 120_000],
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
})
