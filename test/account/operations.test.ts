import { inspect } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { UserError } from '../../src/domain/errors.ts'
import { anyText } from '../any-text.ts'
import { sample, token } from '../contract/documented.ts'
import { operations } from './operations.ts'
import { key, type Reply, rejection, startClient } from './recording-server.ts'

test('every request carries the key without a scheme, the accepted content types and the interface version', async () => {
  const { api, requests, url } = await startClient(() => ({ status: 202, json: { data: sample.elasticIp } }))

  await api.elasticIps.move('eip_1GijF7NsZe3bN', 'sv_22mUQSvUfeqdv')

  expect(requests[0]?.headers).toEqual({
    authorization: key,
    accept: 'application/vnd.api+json, application/json',
    'accept-encoding': 'identity',
    'api-version': '2023-06-01',
    'content-type': 'application/json',
    'content-length': String(requests[0]?.body.length),
    'user-agent': 'lockkeeper',
    connection: 'keep-alive',
    host: url.host,
  })
})

test.each(operations)('$name is one request: $request', async ({ request, data, answer, call }) => {
  const { api, requests } = await startClient(() => ({ status: data ? 202 : 200, json: { data: answer, meta: {} } }))

  await call(api, 'id_1')

  expect(requests.map(({ method, target, body }) => [`${method} ${target}`, body && JSON.parse(body)])).toEqual([
    [request, data ? { data } : ''],
  ])
})

test.each([
  ['without a body', { status: 204, headers: { 'content-type': '' } }],
  ['with an empty body', { headers: { 'content-length': '0', 'content-type': 'text/plain' } }],
  ['that the key is gone', { status: 404 }],
])('an API key is deleted if the answer comes %s', async (_, reply) => {
  const { api } = await startClient(() => reply)
  expect(await api.apiKeys.delete('tok_1')).toBeUndefined()
})

test('who notes assignments gets each Elastic IP of a part of the list, too, because such a row is what confirms a move', async () => {
  const whole: string[][] = []
  const single: string[] = []
  const elasticIpReads = {
    onComplete: (all: { id: string }[]) => void whole.push(all.map(({ id }) => id)),
    onOne: ({ id }: { id: string }) => void single.push(id),
  }
  const { api } = await startClient(() => ({ json: { data: [sample.elasticIp], meta: {} } }), { elasticIpReads })

  await api.elasticIps.list()
  expect({ whole, single }).toEqual({ whole: [[sample.elasticIp.id]], single: [] })

  await api.elasticIps.list({ pages: 1 })
  expect({ whole, single }).toEqual({ whole: [[sample.elasticIp.id]], single: [sample.elasticIp.id] })
})

describe('secrets', () => {
  const body = JSON.stringify({ data: sample.issuedApiKey })
  const misfit = { ...sample.apiKey, attributes: { ...sample.apiKey.attributes, token: { value: token } } }

  test.each<[string, Reply]>([
    ['a token of the wrong type', { status: 201, json: { data: misfit } }],
    ['a token in the wrong place', { status: 201, json: { data: { id: token, attributes: { [token]: token } } } }],
    ['JSON that begins with the token', { status: 201, text: `${token}${body}` }],
    ['JSON that ends after the token', { status: 201, text: body.slice(0, body.indexOf(token) + token.length) }],
    ['an error page with key and token', { status: 502, headers: { 'content-type': 'text/html' }, text: `<p>${key} ${token}` }],
    ['a web page with status 200 and key and token', { headers: { 'content-type': 'text/html' }, text: `<p>${key} ${token}` }],
    ['an error that quotes key and token', { status: 422, json: { errors: [{ code: token, detail: `${key} ${token}`, title: key }] } }],
    ['headers with key and token', { status: 500, headers: { 'x-echo': `${key} ${token}`, 'retry-after': token } }],
    ['a redirect with key and token', { status: 302, headers: { location: `http://127.0.0.1:9/?${key}${token}` } }],
    [
      'a connection that closes in the middle of the body',
      (response) => response.writeHead(201, { 'content-length': '9999' }).write(body, () => response.destroy()),
    ],
    ['an answer that is not HTTP', (response) => void response.socket?.end(`${token} ${key}\r\n\r\n`)],
    ['an invalid header', (response) => void response.socket?.end(`HTTP/1.1 200 OK\r\nbad header ${key}${token}\r\n\r\n`)],
  ])('the error of a creation contains no key and no token after %s', async (_, reply) => {
    const { api } = await startClient(() => reply)

    const error = await rejection(api.apiKeys.create({ name: 'deploy' }))

    expect(error).toBeInstanceOf(Error)
    const printed = [inspect(error, { depth: 20, showHidden: true }), JSON.stringify(error), String(error), (error as Error).stack].join(
      '\n',
    )
    expect(printed).not.toContain(key)
    expect(printed).not.toContain(token.slice(0, 12))
    expect((error as Error).cause).toBeUndefined()
  })

  test('a new token is kept only in a Secret, and the report of the call has none', async () => {
    const reports: object[] = []
    const { api } = await startClient(() => ({ status: 201, text: body }), { onCall: (report) => reports.push(report) })

    const issued = await api.apiKeys.create({ name: 'deploy' })

    expect(issued.token.reveal()).toBe(token)
    expect(inspect(issued, { depth: 20, showHidden: true }) + JSON.stringify(issued)).not.toContain(token.slice(0, 12))
    expect(reports.map(Object.keys)).toEqual([['operation', 'attempt', 'status', 'ms']])
  })
})

describe('hostile ids', () => {
  const impossible = ['', '.', '..', 'a/b', '../servers/sv_1WFgWmkF9Mzju', '..\\x', 'a\nb', 'a\u0000', 'a\u007f', '\ud800']
  const unit = fc.constantFrom('.', '/', '\\', '%', '2', 'e', 'f', '?', '#', '@', ':', ';', ' ', '\n', '\r', '\0', '\ud800', 'a')

  test.each(operations.filter(({ request }) => request.endsWith('/id_1')))(
    'keep $request below its path, even if a proxy decodes it before it routes, or send nothing',
    async ({ request, call }) => {
      const { api, requests } = await startClient(() => ({ status: 404 }))
      const prefix = request.slice(request.indexOf('/'), -'id_1'.length)

      await fc.assert(
        fc.asyncProperty(fc.oneof(anyText(), fc.string({ unit })), async (id) => {
          requests.length = 0
          const error = await call(api, id).catch((thrown: unknown) => thrown)

          expect(requests).toHaveLength(error instanceof UserError ? 0 : 1)
          if (impossible.includes(id)) expect(error).toBeInstanceOf(UserError)
          for (const { target } of requests) {
            expect(target.startsWith(prefix)).toBe(true)
            expect(target.slice(prefix.length)).toMatch(/^[\w\-.~!'()*%]+$/)
            expect(decodeURIComponent(target.slice(prefix.length))).toBe(id)
            const decoded = new URL(decodeURI(target).replaceAll(/%2[ef5]/gi, decodeURIComponent), 'http://host')
            expect(decoded.pathname.startsWith(prefix)).toBe(true)
          }
        }),
        { numRuns: 70, examples: impossible.map((id) => [id]) },
      )
    },
  )
})
