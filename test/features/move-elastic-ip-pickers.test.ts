import { describe, expect, test } from 'vitest'
import type { AccountApi } from '../../src/account-api/client.ts'
import { createInventory } from '../../src/account-api/inventory.ts'
import type { ElasticIp } from '../../src/domain/elastic-ip.ts'
import type { Server } from '../../src/domain/server.ts'
import { elasticIpChoices, serverChoices } from '../../src/features/move-elastic-ip/pickers.ts'
import { createServerPicker } from '../../src/features/move-elastic-ip/server-picker.ts'
import type { Choices } from '../../src/slack/interaction.ts'
import { writeMetadata } from '../../src/slack/payloads.ts'

const storefront = { id: 'proj_1', name: 'Storefront', slug: 'storefront' }
const billing = { id: 'proj_2', name: 'Billing', slug: 'billing' }
const ashburn = { id: 'site_1', name: 'Ashburn', slug: 'ASH' }
const frankfurt = { id: 'site_2', name: 'Frankfurt', slug: 'FRA' }

const elasticIp: ElasticIp = {
  id: 'eip_1',
  address: '203.0.113.10',
  status: 'active',
  server: { id: 'sv_1', hostname: 'web-1' },
  project: storefront,
  site: ashburn,
}

function server(id: string, hostname: string, project = storefront, site = ashburn): Server {
  return { id, hostname, label: undefined, primaryIpv4: '198.51.100.22', status: 'on', locked: false, project, site }
}

const servers = [
  server('sv_2', 'web-2'),
  server('sv_1', 'web-1'),
  server('sv_3', 'edge-fra-1', storefront, frankfurt),
  server('sv_4', 'invoices-1', billing),
  { ...server('sv_5', 'new-1'), project: undefined, site: undefined },
]

const textsOf = ({ options }: Choices) => options.map(({ text }) => text.text)
const valuesOf = ({ options }: Choices) => options.map(({ value }) => value)

describe('the picker of Elastic IPs', () => {
  test('says where each is, and which cannot be moved now', () => {
    expect(
      elasticIpChoices([elasticIp, { ...elasticIp, id: 'eip_2', address: '203.0.113.9', status: 'moving' }], '').options,
    ).toMatchObject([
      { text: { text: '203.0.113.9 on web-1 (moving)' }, value: 'eip_2', description: { text: 'Storefront, ASH · eip_2' } },
      { text: { text: '203.0.113.10 on web-1' }, value: 'eip_1', description: { text: 'Storefront, ASH · eip_1' } },
    ])
  })

  test.each(['203.0.113.10', 'eip_1', 'web-1', 'sv_1', 'storefront', 'ash', 'ashburn'])('is searched by %s', (typed) => {
    const other = { ...elasticIp, id: 'eip_2', address: '203.0.113.99', server: undefined, project: billing, site: frankfurt }
    expect(valuesOf(elasticIpChoices([elasticIp, other], typed))).toEqual(['eip_1'])
  })
})

describe('the picker of servers', () => {
  test('offers all while no Elastic IP is chosen', () => {
    expect(valuesOf(serverChoices(servers, '', undefined))).toHaveLength(5)
  })

  test('offers those in the project and site of the Elastic IP, as far as is told, and marks where it is', () => {
    expect(textsOf(serverChoices(servers, '', elasticIp))).toEqual([
      'new-1',
      'web-1 (Storefront, ASH): it is here now',
      'web-2 (Storefront, ASH)',
    ])
  })

  test('says that others are not offered, where none fits', () => {
    const [only] = serverChoices(servers, 'edge-fra-1', elasticIp).options
    expect(only).toMatchObject({
      text: { text: 'No server fits what you typed.' },
      description: { text: 'Only those in the project and site of 203.0.113.10 are offered.' },
    })
  })
})

describe('which Elastic IP was chosen', () => {
  const lists = { elasticIps: { list: async () => [elasticIp] }, servers: { list: async () => servers } } as unknown as AccountApi
  const origin = { teamId: 'T0NIMBUS01', channelId: 'C0OPS00001', userId: 'U0ADA00001', command: '/infra' }
  const { offerServers } = createServerPicker(createInventory(lists))

  async function offered(metadata: { extra?: string }, values: Record<string, string>) {
    return valuesOf(await offerServers({ actionId: 'server', origin, typed: '', metadata: writeMetadata({ origin, ...metadata }), values }))
  }

  test('is what the form remembers, whatever older state comes with the option load', async () => {
    expect(await offered({ extra: 'eip_1' }, { 'elastic-ip': 'eip_0' })).toEqual(['sv_5', 'sv_1', 'sv_2'])
  })

  test('is what the option load tells, while the form does not remember it yet', async () => {
    expect(await offered({}, { 'elastic-ip': 'eip_1' })).toEqual(['sv_5', 'sv_1', 'sv_2'])
  })

  test('is not known where neither tells: then all are offered', async () => {
    expect(await offered({}, {})).toHaveLength(5)
    expect(await offered({}, { 'elastic-ip': 'not-a-choice' })).toHaveLength(5)
    expect(await offered({ extra: 'eip_gone' }, {})).toHaveLength(5)
  })
})
