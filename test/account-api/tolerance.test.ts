import { expect, test } from 'vitest'
import { asFarAsRead } from '../../src/account/resource.ts'
import { type Reply, startClient } from './recording-server.ts'
import * as sample from './wire-samples.ts'

function page(items: unknown[]): (request: { target: string }) => Reply {
  return ({ target }) => ({ json: { data: /number%5D=([2-9]|\d\d)/.test(target) ? [] : items } })
}

const bare = { server: null, region: null, project: null, prefix_length: null, family: null, mode: null, created_at: null }

test('reads an Elastic IP whose optional fields are all null', async () => {
  const { api } = await startClient(() => ({ json: { data: { id: 'eip_1GijF7NsZe3bN', attributes: bare } } }))

  expect(await api.elasticIps.get('eip_1GijF7NsZe3bN')).toStrictEqual({
    id: 'eip_1GijF7NsZe3bN',
    address: 'eip_1GijF7NsZe3bN',
    status: 'unknown',
    project: undefined,
    server: undefined,
    site: undefined,
  })
})

test('accepts unknown values and unknown fields', async () => {
  const attributes = { ...sample.elasticIp.attributes, status: 'frozen', mode: 'bgp', anycast: { since: 2027 } }
  const { api } = await startClient(() => ({ json: { data: { ...sample.elasticIp, attributes, links: {} }, included: [] } }))

  expect(await api.elasticIps.get(sample.elasticIp.id)).toMatchObject({ status: 'frozen' })
})

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

test('lists a pending Elastic IP with an id, and leaves out one without an id', async () => {
  const pending = { ...bare, address: '203.0.113.11', status: 'pending' }
  const { api } = await startClient(
    page([
      { id: null, attributes: pending },
      { id: 'eip_2VszvKL6sK72c', attributes: pending },
    ]),
  )

  expect(await api.elasticIps.list()).toMatchObject([
    { id: 'eip_2VszvKL6sK72c', address: '203.0.113.11', status: 'pending', server: undefined },
  ])
})

test('leaves out an Elastic IP without an id, which is still being provisioned, and does not report it', async () => {
  const skipped: unknown[] = []
  const { api } = await startClient(page([{ ...sample.elasticIp, id: null }, sample.elasticIp]), {
    onSkipped: (report) => skipped.push(report),
  })

  const { items, ...missing } = await asFarAsRead(api.elasticIps.list())

  expect(items).toMatchObject([{ id: sample.elasticIp.id }])
  expect(missing).toEqual({ unreadable: 0, unready: 1 })
  expect(skipped).toEqual([])
})

test.each(['elasticIps', 'servers', 'virtualMachines', 'plans', 'baselines', 'apiKeys', 'events'] as const)(
  'lists the valid items of %s and reports the number of invalid ones',
  async (resource) => {
    const skipped: unknown[] = []
    const whole = { id: 'whole', attributes: {} }
    const broken = [
      { id: 7, attributes: {} },
      null,
      'text',
      { id: 'half' },
      { id: 'odd', attributes: { name: 9, status: {}, action: [], hostname: 1 } },
    ]
    const { api } = await startClient(page([...broken, whole]), { onSkipped: (report) => skipped.push(report) })

    const { items, ...missing } = await asFarAsRead<{ id: string }>(api[resource].list())

    expect(items.map(({ id }) => id)).toEqual(['whole'])
    expect(missing).toEqual({ unreadable: 5, unready: 0 })
    expect(skipped).toEqual([{ operation: `${resource}.list`, count: 5 }])
  },
)

test('reads a plan with few fields', async () => {
  const specs = { gpu: null, vram_per_gpu: null, nics: [{ type: null, count: '2' }], vcpu: { count: '4' }, disk: { size: null } }
  const regions = [{ name: 'Japan', locations: null, pricing: { JPY: { hour: '7.5' }, USD: null } }, {}]
  const { api } = await startClient(page([{ id: 'plan_1Qw0wK7XH7hTo', attributes: { specs, regions, stock_level: 'plenty' } }]))

  expect(await api.plans.list()).toEqual([
    {
      id: 'plan_1Qw0wK7XH7hTo',
      name: 'plan_1Qw0wK7XH7hTo',
      operatingSystems: [],
      regions: [
        { name: 'Japan', availableSites: [], inStockSites: [], prices: [{ currency: 'JPY', hour: 7.5 }, { currency: 'USD' }] },
        { availableSites: [], inStockSites: [], prices: [] },
      ],
      specs: { disk: {}, vcpuCount: 4 },
      stockLevel: 'plenty',
    },
  ])
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

  const [first, ...others] = await api.plans.list()

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

  const [first, second] = await api.apiKeys.list()

  expect(first?.allowedIps).toEqual(['{"cidr":"192.0.2.0/24"}'])
  expect(second).toMatchObject({ allowedIps: [], readOnly: undefined })
})
