import { describe, expect, test } from 'vitest'
import type { Server } from '../../src/domain/account.ts'
import { createServerPicker, elasticIpChoices, serverChoices } from '../../src/features/ip-move.ts'
import type { Choices } from '../../src/slack/interactions.ts'
import { writeMetadata } from '../../src/slack/payloads.ts'
import { ashburn, billing, elasticIpFor, frankfurt, ids as knownIds, serverFor } from '../domain/account-objects.ts'

const elasticIp = elasticIpFor()

function server(id: string, hostname: string, more: Partial<Server> = {}): Server {
  return serverFor({ id, hostname, ...more })
}

const ids = {
  ...knownIds,
  elsewhere: 'sv_pX0vYkT7Bn4Lq',
  invoices: 'sv_mR3wQzE8Hs1Dj',
  unplaced: 'sv_aZ6tGfC2Vu9Ko',
}

const servers = [
  server(ids.web2, 'web-2'),
  server(ids.web1, 'web-1'),
  server(ids.elsewhere, 'edge-fra-1', { site: frankfurt.onServers }),
  server(ids.invoices, 'invoices-1', { project: billing }),
  server(ids.unplaced, 'new-1', { project: undefined, site: undefined }),
]

const textsOf = ({ options }: Choices) => options.map(({ text }) => text.text)
const valuesOf = ({ options }: Choices) => options.map(({ value }) => value)

describe('the picker of Elastic IPs', () => {
  test('shows the server of each, and which ones cannot be moved now', () => {
    expect(
      elasticIpChoices([elasticIp, { ...elasticIp, id: 'eip_2VszvKL6sK72c', address: '203.0.113.9', status: 'moving' }], '').options,
    ).toMatchObject([
      {
        text: { text: '203.0.113.9 on web-1 (moving)' },
        value: 'eip_2VszvKL6sK72c',
        description: { text: 'Storefront, ASH · eip_2VszvKL6sK72c' },
      },
      { text: { text: '203.0.113.10 on web-1' }, value: ids.elasticIp, description: { text: `Storefront, ASH · ${ids.elasticIp}` } },
    ])
  })

  test('does not offer BGP addresses', () => {
    const bgp = [
      { ...elasticIp, id: 'ueip_v9BVDaGvdRm1W' },
      { ...elasticIp, id: 'eip_2VszvKL6sK72c', mode: 'BGP' },
    ]
    expect(valuesOf(elasticIpChoices([...bgp, elasticIp], ''))).toEqual([ids.elasticIp])
  })

  test.each(['203.0.113.10', ids.elasticIp, 'web-1', ids.web1, 'storefront', 'ash', 'ashburn'])('is searched by %s', (typed) => {
    const other = {
      ...elasticIp,
      id: 'eip_2VszvKL6sK72c',
      address: '203.0.113.99',
      server: undefined,
      project: billing,
      site: frankfurt.onElasticIps,
    }
    expect(valuesOf(elasticIpChoices([elasticIp, other], typed))).toEqual([ids.elasticIp])
  })
})

describe('the picker of servers', () => {
  test('offers all servers while no Elastic IP is chosen', () => {
    expect(valuesOf(serverChoices(servers, '', undefined))).toHaveLength(5)
  })

  test('offers servers that may be in the project and site of the Elastic IP, but not its own server', () => {
    expect(textsOf(serverChoices(servers, '', elasticIp))).toEqual(['new-1', 'web-2 (Storefront, ASH)'])
  })

  test('uses the site of the server that has the address, if the address itself shows another site', () => {
    const sao2 = { id: 'loc_ZnPRbajK0koM1', name: 'São Paulo 74', slug: 'SAO2' }
    const inSaoPaulo = elasticIpFor({ site: { id: 'site_sao', name: 'São Paulo', slug: 'SAO' } })
    const all = [server(ids.web1, 'web-1', { site: sao2 }), server(ids.web2, 'web-2', { site: sao2 }), ...servers.slice(2)]

    expect(textsOf(serverChoices(all, '', inSaoPaulo))).toEqual(['new-1', 'web-2 (Storefront, SAO2)'])
  })

  test('offers servers that cannot be compared, and does not compare names of sites', () => {
    const unplaced = elasticIpFor({
      site: { ...ashburn.onServers, id: 'site_ash', slug: undefined },
      server: undefined,
      project: undefined,
    })
    expect(valuesOf(serverChoices(servers, '', unplaced))).toHaveLength(5)
  })

  test('offers nothing that the preflight check would refuse', () => {
    expect(serverChoices(servers, 'edge-fra-1', elasticIp).options).toEqual([])
    expect(serverChoices(servers, 'web-1', elasticIp).options).toEqual([])
  })
})

describe('the chosen Elastic IP', () => {
  const origin = { teamId: 'T0NIMBUS01', channelId: 'C0OPS00001', userId: 'U0ADA00001', command: '/infra' }
  const { offerServers } = createServerPicker({ elasticIps: async () => [elasticIp], servers: async () => servers })

  async function offered(metadata: { extra?: string }, values: Record<string, string>) {
    return valuesOf(await offerServers({ actionId: 'server', origin, typed: '', metadata: writeMetadata({ origin, ...metadata }), values }))
  }

  test('is the one in the form’s metadata, also if the option load has an older one', async () => {
    expect(await offered({ extra: ids.elasticIp }, { 'elastic-ip': 'eip_0Luj7giJiSZl6' })).toEqual([ids.unplaced, ids.web2])
  })

  test('is the one in the option load, if the metadata has none', async () => {
    expect(await offered({}, { 'elastic-ip': ids.elasticIp })).toEqual([ids.unplaced, ids.web2])
  })

  test('is unknown if neither has one, and all servers are offered', async () => {
    expect(await offered({}, {})).toHaveLength(5)
    expect(await offered({}, { 'elastic-ip': 'not-a-choice' })).toHaveLength(5)
    expect(await offered({ extra: 'eip_gone' }, {})).toHaveLength(5)
  })
})
