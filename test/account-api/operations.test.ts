import { expect, test } from 'vitest'
import { createAccountApi } from '../../src/account-api/client.ts'
import { Secret } from '../../src/domain/secret.ts'
import { key, type Reply, startClient } from './recording-server.ts'
import * as sample from './wire-samples.ts'

/** Answers the first page with one item, and all further pages empty. */
function firstPage(item: unknown): (request: { target: string }) => Reply {
  return ({ target }) => ({ json: { data: target.includes('number%5D=1') ? [item] : [], meta: {} } })
}

test('every request carries the key without a scheme, the accepted content types and the interface version', async () => {
  const { api, requests, url } = await startClient(() => ({ status: 202, json: { data: sample.elasticIp } }))

  await api.elasticIps.move('eip_7f3apdb0NT6DO', 'sv_81q8LGGQnFEm5')

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

test('lists baselines in the newer shape, with their plan under platforms and absent fields undefined', async () => {
  const { newerBaseline } = sample
  const both = { ...sample.baseline.attributes, plan: { id: 'plan_m4n3SgpdFvIDf', name: 'm4.metal.large', slug: null } }
  const { api } = await startClient(() => ({ json: { data: [newerBaseline, { ...sample.baseline, attributes: both }], meta: {} } }))

  const [newer, mixed] = await api.baselines.list()

  expect(newer).toMatchObject({
    name: 'GPU training',
    targetType: undefined,
    operatingSystem: undefined,
    platforms: [{ id: sample.newerBaseline.attributes.plan.id, name: 'g4.h100.large', slug: 'g4-h100-large' }],
  })
  expect(mixed?.platforms).toEqual([{ id: 'plan_m4n3SgpdFvIDf', name: 'm4.metal.large', slug: 'm4-metal-large' }])
})

test('keeps null as the operating system of a baseline that accepts any', async () => {
  const attributes = { ...sample.baseline.attributes, operating_system: null }
  const { api } = await startClient(() => ({ json: { data: [{ ...sample.baseline, attributes }] } }))

  expect(await api.baselines.list()).toMatchObject([{ operatingSystem: null }])
})

test('lists baselines', async () => {
  const { api, requests } = await startClient(() => ({ json: { data: [sample.baseline], meta: {} } }))

  const baselines = await api.baselines.list()

  expect(requests).toMatchObject([{ method: 'GET', target: '/baselines', body: '' }])
  expect(baselines).toMatchInlineSnapshot(`
    [
      {
        "bios": [
          {
            "setting": "hyperthreading",
            "value": "true",
          },
          {
            "setting": "boot_mode",
            "value": "uefi",
          },
          {
            "setting": "sockets",
            "value": "2",
          },
          {
            "setting": "power",
            "value": "{"turbo":true}",
          },
        ],
        "createdAt": "2026-05-11T14:02:00Z",
        "description": "Two mirrored disks for the system",
        "diskLayout": [
          {
            "count": 2,
            "filesystem": undefined,
            "mountPoint": undefined,
            "raidLevel": "raid-1",
            "role": "os",
          },
          {
            "count": 4,
            "filesystem": "ext4",
            "mountPoint": "/var/lib/kafka",
            "raidLevel": "raid-0",
            "role": "storage",
          },
        ],
        "id": "bl_2KlNltRYMQQ5l",
        "name": "Kafka brokers",
        "operatingSystem": "debian_12",
        "platforms": [
          {
            "id": "plan_m4n3SgpdFvIDf",
            "name": "m4.metal.large",
            "slug": "m4-metal-large",
          },
        ],
        "sshKeys": [
          {
            "fingerprint": "6a:0f:3c:91",
            "id": "ssh_13QYhuB4gg492",
            "name": "ops-2026",
          },
        ],
        "targetType": "platforms",
        "userData": {
          "description": undefined,
          "id": "ud_1cT6WRvn51oJC",
        },
      },
    ]
  `)
})

test('renames a virtual machine and sends only its name', async () => {
  const { api, requests } = await startClient(() => ({ json: { data: sample.virtualMachine, meta: {} } }))
  const hostile = Object.assign(Object('search-2'), { plan: 'vm.large', billing: 'monthly', tags: [] })

  const renamed = await api.virtualMachines.rename('vm_19o9skue5y1L0', hostile)

  expect(requests).toMatchObject([{ method: 'PATCH', target: '/virtual_machines/vm_19o9skue5y1L0' }])
  expect(JSON.parse(requests[0]?.body ?? '')).toEqual({
    data: { type: 'virtual_machines', id: 'vm_19o9skue5y1L0', attributes: { name: 'search-2' } },
  })
  expect(renamed).toMatchInlineSnapshot(`
    {
      "billing": "hourly",
      "createdAt": "2026-06-18T09:30:00Z",
      "id": "vm_19o9skue5y1L0",
      "name": "search-2",
      "operatingSystem": {
        "name": "Ubuntu",
        "slug": "ubuntu_24_04_x64_lts",
        "version": "24.04",
      },
      "pendingRestart": false,
      "plan": {
        "id": "plan_4m1T5RfYvdM4F",
        "name": "vm.medium",
        "slug": "vm-medium",
      },
      "primaryIpv4": "192.0.2.112",
      "project": {
        "id": "proj_1oNqx62cx6bn0",
        "name": "Storefront",
        "slug": "storefront",
      },
      "site": "ASH",
      "specs": {
        "gpu": "",
        "nic": "10 Gbps",
        "ram": "8 GB",
        "storage": "160 GB",
        "vcpuCount": 4,
      },
      "status": "Running",
    }
  `)
})

test('accepts an answer to a rename that has only the name', async () => {
  const { api } = await startClient(() => ({
    json: { data: { id: 'vm_19o9skue5y1L0', attributes: { name: 'search-2', operating_system: null } } },
  }))

  const renamed = await api.virtualMachines.rename('vm_19o9skue5y1L0', 'search-2')

  expect(renamed).toMatchObject({
    id: 'vm_19o9skue5y1L0',
    name: 'search-2',
    operatingSystem: undefined,
    plan: undefined,
    specs: { ram: undefined },
  })
})

test('moves an Elastic IP', async () => {
  const { api, requests } = await startClient(() => ({ status: 202, json: { data: sample.elasticIp } }))

  const moving = await api.elasticIps.move('eip_7f3apdb0NT6DO', 'sv_81q8LGGQnFEm5')

  expect(requests).toMatchObject([{ method: 'PATCH', target: '/elastic_ips/eip_7f3apdb0NT6DO' }])
  expect(JSON.parse(requests[0]?.body ?? '')).toEqual({ data: { type: 'elastic_ips', attributes: { server_id: 'sv_81q8LGGQnFEm5' } } })
  expect(moving).toMatchInlineSnapshot(`
    {
      "address": "203.0.113.10",
      "id": "eip_7f3apdb0NT6DO",
      "project": {
        "id": "proj_1oNqx62cx6bn0",
        "name": "Storefront",
        "slug": "storefront",
      },
      "server": {
        "hostname": "web-2",
        "id": "sv_81q8LGGQnFEm5",
      },
      "site": {
        "id": "site_ash",
        "name": "Ashburn",
        "slug": "ASH",
      },
      "status": "moving",
    }
  `)
})

test('creates an API key with a name only', async () => {
  const { api, requests } = await startClient(() => ({ status: 201, json: { data: sample.issuedApiKey, meta: {} } }))

  const { key: created, token } = await api.apiKeys.create({ name: 'deploy' })

  expect(requests).toMatchObject([{ method: 'POST', target: '/auth/api_keys' }])
  expect(JSON.parse(requests[0]?.body ?? '')).toEqual({ data: { type: 'api_keys', attributes: { name: 'deploy' } } })
  expect(token.reveal()).toBe(sample.token)
  expect(created).toMatchInlineSnapshot(`
    {
      "allowedIps": [
        "198.51.100.0/24",
      ],
      "apiVersion": "2023-06-01",
      "createdAt": "2026-02-14T09:30:00Z",
      "id": "tok_57jvG72qDZNTv",
      "lastUsedAt": undefined,
      "name": "deploy",
      "readOnly": true,
      "tokenLastSlice": "0ff1c",
      "updatedAt": "2026-02-14T09:30:00Z",
      "user": {
        "email": "ada.okafor@nimbus.example",
        "id": "user_1",
      },
    }
  `)
})

test('creates a read-only API key with allowed addresses', async () => {
  const { api, requests } = await startClient(() => ({ status: 201, json: { data: sample.issuedApiKey } }))

  await api.apiKeys.create({ name: 'deploy', readOnly: true, allowedIps: ['198.51.100.0/24'] })

  const attributes = { name: 'deploy', read_only: true, allowed_ips: ['198.51.100.0/24'] }
  expect(JSON.parse(requests[0]?.body ?? '')).toEqual({ data: { type: 'api_keys', attributes } })
})

test('lists API keys and drops a token in the list', async () => {
  const { api, requests } = await startClient(() => ({ json: { data: [sample.issuedApiKey], meta: {} } }))

  const keys = await api.apiKeys.list()

  expect(requests).toMatchObject([{ method: 'GET', target: '/auth/api_keys', body: '' }])
  expect(keys).toMatchObject([{ id: 'tok_57jvG72qDZNTv', name: 'deploy', tokenLastSlice: '0ff1c' }])
  expect(JSON.stringify(keys)).not.toContain(sample.token)
})

test('rotates an API key', async () => {
  const { api, requests } = await startClient(() => ({ json: { data: sample.issuedApiKey } }))

  const { token } = await api.apiKeys.rotate('tok_57jvG72qDZNTv', 'deploy')

  expect(requests).toMatchObject([{ method: 'PUT', target: '/auth/api_keys/tok_57jvG72qDZNTv' }])
  expect(JSON.parse(requests[0]?.body ?? '')).toEqual({
    data: { id: 'tok_57jvG72qDZNTv', type: 'api_keys', attributes: { name: 'deploy' } },
  })
  expect(token.reveal()).toBe(sample.token)
})

test('changes only the given settings of an API key', async () => {
  const { api, requests } = await startClient(() => ({ json: { data: sample.apiKey } }))

  const changed = await api.apiKeys.update('tok_57jvG72qDZNTv', { allowedIps: [] })

  expect(requests).toMatchObject([{ method: 'PATCH', target: '/auth/api_keys/tok_57jvG72qDZNTv' }])
  expect(JSON.parse(requests[0]?.body ?? '')).toEqual({
    data: { id: 'tok_57jvG72qDZNTv', type: 'api_keys', attributes: { allowed_ips: [] } },
  })
  expect(changed.id).toBe('tok_57jvG72qDZNTv')
})

test.each([
  ['with the documented body', { json: { meta: {} } }],
  ['without a body', { status: 204, headers: { 'content-type': '' } }],
  ['with an empty body', { headers: { 'content-length': '0', 'content-type': 'text/plain' } }],
])('deletes an API key when the answer comes %s', async (_, reply) => {
  const { api, requests } = await startClient(() => reply)

  await api.apiKeys.delete('tok_57jvG72qDZNTv')

  expect(requests).toMatchObject([{ method: 'DELETE', target: '/auth/api_keys/tok_57jvG72qDZNTv', body: '' }])
})

test('lists plans', async () => {
  const { api, requests } = await startClient(() => ({ json: { data: [sample.plan] } }))

  const plans = await api.plans.list()

  expect(requests).toMatchObject([{ method: 'GET', target: '/plans/virtual_machines', body: '' }])
  expect(plans).toMatchInlineSnapshot(`
    [
      {
        "id": "plan_4m1T5RfYvdM4F",
        "name": "vm.medium",
        "operatingSystems": [
          "ubuntu_24_04_x64_lts",
          "debian_12",
        ],
        "regions": [
          {
            "availableSites": [
              "ASH",
              "DAL",
            ],
            "inStockSites": [
              "ASH",
            ],
            "name": "United States",
            "prices": [
              {
                "currency": "USD",
                "hour": 0.054,
                "month": 39.42,
              },
              {
                "currency": "EUR",
                "hour": 0.05,
                "month": 36.5,
              },
            ],
          },
        ],
        "specs": {
          "disk": {
            "amount": 160,
            "type": "nvme",
            "unit": "gib",
          },
          "gpu": "NVIDIA L40S",
          "memory": 8,
          "vcpuCount": 4,
          "vramPerGpu": 48,
        },
        "stockLevel": "low",
      },
    ]
  `)
})

test('lists Elastic IPs by project, server and status', async () => {
  const { api, requests } = await startClient(firstPage(sample.elasticIp))

  const found = await api.elasticIps.list({ projectId: 'proj_1oNqx62cx6bn0', serverId: 'sv_81q8LGGQnFEm5', status: 'moving' })

  expect(requests.map(({ target }) => decodeURIComponent(target))).toEqual([
    '/elastic_ips?filter[project]=proj_1oNqx62cx6bn0&filter[server]=sv_81q8LGGQnFEm5&filter[status]=moving&page[size]=100&page[number]=1',
    '/elastic_ips?filter[project]=proj_1oNqx62cx6bn0&filter[server]=sv_81q8LGGQnFEm5&filter[status]=moving&page[size]=100&page[number]=2',
  ])
  expect(found).toMatchObject([
    { id: 'eip_7f3apdb0NT6DO', address: '203.0.113.10', server: { id: 'sv_81q8LGGQnFEm5', hostname: 'web-2' }, site: { slug: 'ASH' } },
  ])
})

test('reads one Elastic IP', async () => {
  const { api, requests } = await startClient(() => ({ json: { data: sample.elasticIp } }))

  const found = await api.elasticIps.get('eip_7f3apdb0NT6DO')

  expect(requests).toMatchObject([{ method: 'GET', target: '/elastic_ips/eip_7f3apdb0NT6DO' }])
  expect(found.status).toBe('moving')
})

test('lists servers by project, hostname and region', async () => {
  const { api, requests } = await startClient(firstPage(sample.server))

  const found = await api.servers.list({ projectId: 'proj_1oNqx62cx6bn0', hostname: 'web 2&page[size]=1', region: 'ASH' })

  expect(requests[0]?.target).toBe(
    '/servers?filter%5Bproject%5D=proj_1oNqx62cx6bn0&filter%5Bhostname%5D=web+2%26page%5Bsize%5D%3D1&filter%5Bregion%5D=ASH&page%5Bsize%5D=100&page%5Bnumber%5D=1',
  )
  expect(found).toMatchInlineSnapshot(`
    [
      {
        "hostname": "web-2",
        "id": "sv_81q8LGGQnFEm5",
        "label": "shop front",
        "locked": true,
        "primaryIpv4": "198.51.100.22",
        "project": {
          "id": "proj_1oNqx62cx6bn0",
          "name": "Storefront",
          "slug": "storefront",
        },
        "site": {
          "id": "loc_87vRENkgNdPyk",
          "name": "Ashburn 74",
          "slug": "ASH",
        },
        "status": "on",
      },
    ]
  `)
})

test('reads one server', async () => {
  const { api, requests } = await startClient(() => ({ json: { data: sample.server } }))

  const found = await api.servers.get('sv_81q8LGGQnFEm5')

  expect(requests).toMatchObject([{ method: 'GET', target: '/servers/sv_81q8LGGQnFEm5' }])
  expect(found.locked).toBe(true)
})

test('lists virtual machines without their credentials', async () => {
  const { api, requests } = await startClient(firstPage(sample.virtualMachine))

  const found = await api.virtualMachines.list({ projectId: 'proj_1oNqx62cx6bn0' })

  expect(decodeURIComponent(requests[0]?.target ?? '')).toBe(
    '/virtual_machines?filter[project]=proj_1oNqx62cx6bn0&page[size]=100&page[number]=1',
  )
  expect(JSON.stringify(found)).not.toMatch(/password|battery|username/)
})

test('reads one virtual machine', async () => {
  const { api, requests } = await startClient(() => ({ json: { data: sample.virtualMachine } }))

  await api.virtualMachines.get('vm_19o9skue5y1L0')

  expect(requests).toMatchObject([{ method: 'GET', target: '/virtual_machines/vm_19o9skue5y1L0' }])
})

test('lists events newest first, up to the limit', async () => {
  const { api, requests } = await startClient((_, index) => ({ json: { data: [{ ...sample.event, id: `evt_${index}` }] } }))

  const events = await api.events.list({
    targetId: 'eip_7f3apdb0NT6DO',
    action: 'update.elastic_ip',
    since: new Date('2026-11-20T00:00:00Z'),
    limit: 2,
  })

  expect(requests.map(({ target }) => decodeURIComponent(target))).toEqual([
    '/events?filter[target_id]=eip_7f3apdb0NT6DO&filter[action]=update.elastic_ip&filter[created_at][gte]=2026-11-20T00:00:00.000Z&sort=-created_at&page[size]=2&page[number]=1',
    '/events?filter[target_id]=eip_7f3apdb0NT6DO&filter[action]=update.elastic_ip&filter[created_at][gte]=2026-11-20T00:00:00.000Z&sort=-created_at&page[size]=2&page[number]=2',
  ])
  expect(events).toMatchObject([{ id: 'evt_0', author: { email: 'ada.okafor@nimbus.example' } }, { id: 'evt_1' }])
})

test('keeps the path of the base address', async () => {
  const { requests, url } = await startClient(() => ({ json: { data: [] } }))
  const below = createAccountApi({ baseUrl: new URL('/infra/v1/', url), key: new Secret(key) })

  await below.plans.list()
  await below.close()

  expect(requests).toMatchObject([{ target: '/infra/v1/plans/virtual_machines' }])
})
