import { inspect } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { AccountApi } from '../../src/account/client.ts'
import { UserError } from '../../src/domain/errors.ts'
import type { List } from '../../src/domain/list.ts'
import { anyText } from '../any-text.ts'
import { key, type Reply, rejection, startClient } from './recording-server.ts'
import * as sample from './wire-samples.ts'
import { issuedApiKey, token } from './wire-samples.ts'

const deploy = { name: 'deploy', readOnly: true, allowedIps: ['203.0.113.10', '198.51.100.0/24'] }
/** A value with more members than the operation accepts. */
const hostileName = Object.assign(Object('search-2'), { plan: 'vm.large', billing: 'monthly', tags: [] })

/** Answers the first page with one item, and all further pages empty. */
function firstPage(item: unknown): (request: { target: string }) => Reply {
  return ({ target }) => ({ json: { data: /page%5Bnumber%5D=[^1]/.test(target) ? [] : [item], meta: {} } })
}

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

test.each<[string, string, unknown, (api: AccountApi) => Promise<unknown>]>([
  ['one Elastic IP', '/elastic_ips/eip_1', sample.elasticIp, (api) => api.elasticIps.get('eip_1')],
  ['one server', '/servers/sv_1', sample.server, (api) => api.servers.get('sv_1')],
  ['one virtual machine', '/virtual_machines/vm_1', sample.virtualMachine, (api) => api.virtualMachines.get('vm_1')],
  ['the plans', '/plans/virtual_machines', [sample.plan], (api) => api.plans.list()],
  ['the baselines', '/baselines', [sample.baseline], (api) => api.baselines.list()],
  ['the API keys', '/auth/api_keys', [sample.apiKey], (api) => api.apiKeys.list()],
])('reads %s', async (_, target, data, call) => {
  const { api, requests } = await startClient(() => ({ json: { data, meta: {} } }))

  await call(api)

  expect(requests).toMatchObject([{ method: 'GET', target, body: '' }])
})

test.each<[string, string, unknown, (api: AccountApi) => Promise<List<unknown>>]>([
  ['Elastic IPs by status', '/elastic_ips?filter%5Bstatus%5D=moving', sample.elasticIp, (api) => api.elasticIps.list({ status: 'moving' })],
  [
    'servers by hostname, and a typed one stays one value of the query',
    '/servers?filter%5Bhostname%5D=web+2%26page%5Bsize%5D%3D1&stats%5Btotal%5D=count',
    sample.server,
    (api) => api.servers.list({ hostname: 'web 2&page[size]=1' }),
  ],
  [
    'virtual machines, with whether they restart and without their credentials',
    '/virtual_machines?extra_fields%5Bvirtual_machines%5D=pending_restart&stats%5Btotal%5D=count',
    sample.virtualMachine,
    (api) => api.virtualMachines.list(),
  ],
])('lists %s', async (_, path, item, call) => {
  const { api, requests } = await startClient(firstPage(item))

  expect((await call(api)).items).toHaveLength(1)

  expect(requests.map(({ target }) => target)).toEqual([`${path}&page%5Bsize%5D=100&page%5Bnumber%5D=1`])
})

test.each<[string, string, object, unknown, (api: AccountApi) => Promise<unknown>]>([
  [
    'moves an Elastic IP',
    'PATCH /elastic_ips/eip_1',
    { type: 'elastic_ips', attributes: { server_id: 'sv_2' } },
    sample.elasticIp,
    (api) => api.elasticIps.move('eip_1', 'sv_2'),
  ],
  [
    'renames a virtual machine and sends only its name',
    'PATCH /virtual_machines/vm_1',
    { type: 'virtual_machines', id: 'vm_1', attributes: { name: 'search-2' } },
    sample.virtualMachine,
    (api) => api.virtualMachines.rename('vm_1', hostileName),
  ],
  [
    'creates an API key with a name only',
    'POST /auth/api_keys',
    { type: 'api_keys', attributes: { name: 'deploy' } },
    sample.issuedApiKey,
    (api) => api.apiKeys.create({ name: 'deploy' }),
  ],
  [
    'creates a read-only API key with allowed addresses',
    'POST /auth/api_keys',
    { type: 'api_keys', attributes: { name: 'deploy', read_only: true, allowed_ips: deploy.allowedIps } },
    sample.issuedApiKey,
    (api) => api.apiKeys.create(deploy),
  ],
  [
    'rotates an API key',
    'PUT /auth/api_keys/tok_1',
    { type: 'api_keys', id: 'tok_1', attributes: { name: 'deploy' } },
    sample.issuedApiKey,
    (api) => api.apiKeys.rotate('tok_1', 'deploy'),
  ],
])('%s', async (_, request, data, answer, call) => {
  const { api, requests } = await startClient(() => ({ status: 202, json: { data: answer, meta: {} } }))

  await call(api)

  expect(requests.map(({ method, target }) => `${method} ${target}`)).toEqual([request])
  expect(JSON.parse(requests[0]?.body ?? '')).toEqual({ data })
})

test.each([
  ['with the documented body', { json: { meta: {} } }],
  ['without a body', { status: 204, headers: { 'content-type': '' } }],
  ['with an empty body', { headers: { 'content-length': '0', 'content-type': 'text/plain' } }],
])('deletes an API key when the answer comes %s', async (_, reply) => {
  const { api, requests } = await startClient(() => reply)

  await api.apiKeys.delete('tok_1')

  expect(requests).toMatchObject([{ method: 'DELETE', target: '/auth/api_keys/tok_1', body: '' }])
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

  test('the report of a call contains only operation, attempt, status and duration', async () => {
    const reports: unknown[] = []
    const { api } = await startClient(() => ({ status: 201, json: { data: issuedApiKey } }), { onCall: (report) => reports.push(report) })

    await api.apiKeys.create({ name: 'deploy' })

    expect(Object.keys(reports[0] ?? {})).toEqual(['operation', 'attempt', 'status', 'ms'])
  })
})

describe('hostile ids', () => {
  const calls: [string, string, (api: AccountApi, id: string) => Promise<unknown>][] = [
    ['elasticIps.get', '/elastic_ips/', (api, id) => api.elasticIps.get(id)],
    ['elasticIps.move', '/elastic_ips/', (api, id) => api.elasticIps.move(id, 'sv_1WFgWmkF9Mzju')],
    ['servers.get', '/servers/', (api, id) => api.servers.get(id)],
    ['virtualMachines.get', '/virtual_machines/', (api, id) => api.virtualMachines.get(id)],
    ['virtualMachines.rename', '/virtual_machines/', (api, id) => api.virtualMachines.rename(id, 'web')],
    ['apiKeys.rotate', '/auth/api_keys/', (api, id) => api.apiKeys.rotate(id, 'deploy')],
    ['apiKeys.delete', '/auth/api_keys/', (api, id) => api.apiKeys.delete(id)],
  ]

  const hostile = fc.oneof(
    anyText(),
    fc.string({ unit: fc.constantFrom('.', '/', '\\', '%', '2', 'e', 'f', '?', '#', '@', ':', ';', ' ', '\n', '\r', '\0', '\ud800', 'a') }),
  )

  describe.each(calls)('%s', (_, prefix, call) => {
    test.each(['', '.', '..', 'a/b', '../servers/sv_1WFgWmkF9Mzju', '..\\x', 'a\nb', 'a\u0000', 'a\u007f', '\ud800'])(
      'throws UserError for the id %j and sends nothing',
      async (id) => {
        const { api, requests } = await startClient(() => ({ json: {} }))

        expect(await rejection(call(api, id))).toBeInstanceOf(UserError)
        expect(requests).toEqual([])
      },
    )

    test('keeps the request below its path for any id, even if a proxy decodes the path before it routes', async () => {
      const { api, requests } = await startClient(() => ({ status: 404 }))

      await fc.assert(
        fc.asyncProperty(hostile, async (id) => {
          requests.length = 0
          await call(api, id).catch(() => {})

          for (const { target } of requests) {
            expect(target.startsWith(prefix)).toBe(true)
            expect(target.slice(prefix.length)).toMatch(/^[\w\-.~!'()*%]+$/)
            expect(decodeURIComponent(target.slice(prefix.length))).toBe(id)
            const decoded = new URL(decodeURI(target).replaceAll(/%2[ef5]/gi, decodeURIComponent), 'http://host')
            expect(decoded.pathname.startsWith(prefix)).toBe(true)
          }
        }),
        { numRuns: 60 },
      )
    })
  })
})
