import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import type { AccountApi } from '../../src/account/client.ts'
import { key, type Reply, rejection, startClient } from './recording-server.ts'
import { issuedApiKey, token } from './wire-samples.ts'

const body = JSON.stringify({ data: issuedApiKey })
const broken = { ...issuedApiKey, attributes: { ...issuedApiKey.attributes, token: { value: token } } }

const replies: [string, Reply][] = [
  ['a token of the wrong type', { status: 201, json: { data: broken } }],
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
]

const calls: [string, (api: AccountApi) => Promise<unknown>][] = [
  ['create', (api) => api.apiKeys.create({ name: 'deploy' })],
  ['rotate', (api) => api.apiKeys.rotate('tok_57jvG72qDZNTv', 'deploy')],
]

test.each(calls.flatMap(([name, call]) => replies.map(([what, reply]) => [name, what, call, reply] as const)))(
  'the error of %s contains no key and no token after %s',
  async (_, __, call, reply) => {
    const { api } = await startClient(() => reply)

    const error = await rejection(call(api))

    expect(error).toBeInstanceOf(Error)
    const printed = [inspect(error, { depth: 20, showHidden: true }), JSON.stringify(error), String(error), (error as Error).stack].join(
      '\n',
    )
    expect(printed).not.toContain(key)
    expect(printed).not.toContain(token.slice(0, 12))
    expect((error as Error).cause).toBeUndefined()
  },
)

test('a new token is kept only in a Secret', async () => {
  const { api } = await startClient(() => ({ status: 201, json: { data: issuedApiKey } }))

  const issued = await api.apiKeys.create({ name: 'deploy' })

  expect(issued.token.reveal()).toBe(token)
  expect(inspect(issued, { depth: 20, showHidden: true }) + JSON.stringify(issued)).not.toContain(token.slice(0, 12))
})

test('printing the client does not show its key', async () => {
  const { api } = await startClient(() => ({ json: {} }))

  expect(inspect(api, { depth: 20, showHidden: true }) + JSON.stringify(api)).not.toContain(key)
})

test('the report of a call contains only operation, attempt, status and duration', async () => {
  const reports: unknown[] = []
  const { api } = await startClient(() => ({ status: 201, json: { data: issuedApiKey } }), { onCall: (report) => reports.push(report) })

  await api.apiKeys.create({ name: 'deploy' })

  expect(Object.keys(reports[0] ?? {})).toEqual(['operation', 'attempt', 'status', 'ms'])
})
