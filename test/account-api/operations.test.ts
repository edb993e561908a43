import { expect, test } from 'vitest'
import { type AccountApi, createAccountApi } from '../../src/account/client.ts'
import { Secret } from '../../src/domain/signing.ts'
import { key, type Reply, startClient } from './recording-server.ts'
import * as sample from './wire-samples.ts'

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

test('a request without a body has no content type', async () => {
  const { api, requests } = await startClient(() => ({ json: { data: [] } }))

  await api.plans.list()

  expect(requests[0]?.headers).not.toHaveProperty('content-type')
  expect(requests[0]?.body).toBe('')
})

test('keeps the path of the base address', async () => {
  const { requests, url } = await startClient(() => ({ json: { data: [] } }))
  const below = createAccountApi({ baseUrl: new URL('/infra/v1/', url), key: new Secret(key) })

  await below.plans.list()
  await below.close()

  expect(requests).toMatchObject([{ target: '/infra/v1/plans/virtual_machines' }])
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

test.each<[string, string, unknown, (api: AccountApi) => Promise<unknown[]>]>([
  [
    'Elastic IPs by project, server and status',
    '/elastic_ips?filter[project]=proj_1&filter[server]=sv_1&filter[status]=moving',
    sample.elasticIp,
    (api) => api.elasticIps.list({ projectId: 'proj_1', serverId: 'sv_1', status: 'moving' }),
  ],
  [
    'servers by project, hostname and region',
    '/servers?filter[project]=proj_1&filter[hostname]=web+2&page[size]=1&filter[region]=ASH',
    sample.server,
    (api) => api.servers.list({ projectId: 'proj_1', hostname: 'web 2&page[size]=1', region: 'ASH' }),
  ],
  [
    'virtual machines by project',
    '/virtual_machines?filter[project]=proj_1&stats[total]=count',
    sample.virtualMachine,
    (api) => api.virtualMachines.list({ projectId: 'proj_1' }),
  ],
])('lists %s', async (_, path, item, call) => {
  const { api, requests } = await startClient(firstPage(item))

  expect(await call(api)).toHaveLength(1)

  expect(requests.map(({ target }) => decodeURIComponent(target))).toEqual([`${path}&page[size]=100&page[number]=1`])
})

test('a typed hostname stays one value of the query', async () => {
  const { api, requests } = await startClient(firstPage(sample.server))

  await api.servers.list({ hostname: 'web 2&page[size]=1' })

  expect(requests[0]?.target).toBe('/servers?filter%5Bhostname%5D=web+2%26page%5Bsize%5D%3D1&page%5Bsize%5D=100&page%5Bnumber%5D=1')
})

test('lists events newest first, up to the limit', async () => {
  const { api, requests } = await startClient((_, index) => ({ json: { data: [{ ...sample.event, id: `evt_${index}` }] } }))

  const since = new Date('2026-11-20T00:00:00Z')
  const events = await api.events.list({ targetId: 'eip_1', action: 'update.elastic_ip', since, limit: 2 })

  expect(requests.map(({ target }) => decodeURIComponent(target))).toEqual(
    [1, 2].map(
      (page) =>
        `/events?filter[target_id]=eip_1&filter[action]=update.elastic_ip&filter[created_at][gte]=2026-11-20T00:00:00.000Z&sort=-created_at&stats[total]=count&page[size]=2&page[number]=${page}`,
    ),
  )
  expect(events).toMatchObject([{ id: 'evt_0', author: { email: 'ada.okafor@nimbus.example' } }, { id: 'evt_1' }])
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
  [
    'changes only the given settings of an API key',
    'PATCH /auth/api_keys/tok_1',
    { type: 'api_keys', id: 'tok_1', attributes: { allowed_ips: [] } },
    sample.apiKey,
    (api) => api.apiKeys.update('tok_1', { allowedIps: [] }),
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

test('reads a rename whose answer has only the name', async () => {
  const data = { id: 'vm_1', attributes: { name: 'search-2', operating_system: null } }
  const { api } = await startClient(() => ({ json: { data } }))

  const renamed = await api.virtualMachines.rename('vm_1', 'search-2')

  expect(renamed).toMatchObject({ id: 'vm_1', name: 'search-2', operatingSystem: undefined, plan: undefined })
})

test('reads a baseline that has platforms and a plan: the platforms count', async () => {
  const plan = { id: 'plan_m4n3SgpdFvIDf', name: 'm4.metal.large', slug: null }
  const { api } = await startClient(() => ({
    json: { data: [{ ...sample.baseline, attributes: { ...sample.baseline.attributes, plan } }] },
  }))

  expect((await api.baselines.list())[0]?.platforms).toEqual([{ id: 'plan_m4n3SgpdFvIDf', name: 'm4.metal.large', slug: 'm4-metal-large' }])
})

test('reads a nested BIOS setting of a baseline as text', async () => {
  const attributes = { ...sample.baseline.attributes, bios: { power: { turbo: true } } }
  const { api } = await startClient(() => ({ json: { data: [{ ...sample.baseline, attributes }] } }))

  expect((await api.baselines.list())[0]?.bios).toEqual([{ setting: 'power', value: '{"turbo":true}' }])
})

test('drops a token in the list of API keys', async () => {
  const { api } = await startClient(() => ({ json: { data: [sample.issuedApiKey] } }))

  const keys = await api.apiKeys.list()

  expect(keys).toMatchObject([{ id: sample.issuedApiKey.id }])
  expect(JSON.stringify(keys)).not.toContain(sample.token)
})

test('lists virtual machines without their credentials', async () => {
  const { api } = await startClient(firstPage(sample.virtualMachine))

  expect(JSON.stringify(await api.virtualMachines.list())).not.toMatch(/password|battery|username/)
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
