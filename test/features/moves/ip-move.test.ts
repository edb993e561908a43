import { describe, expect, test } from 'vitest'
import type { ElasticIp, Server } from '../../../src/account/objects.ts'
import { placeFact } from '../../../src/domain/account.ts'
import { phrase, phraseText } from '../../../src/domain/text.ts'
import { findNamed, moveForm } from '../../../src/features/moves/ip-move.ts'
import { describeMove } from '../../../src/features/moves/move-change.ts'
import { checkMove } from '../../../src/features/moves/move-checks.ts'
import { offerChoices } from '../../../src/kit/change-form.ts'
import { writeMetadata } from '../../../src/slack/payloads.ts'
import { ashburn, billing, elasticIpFor, frankfurt, ids as knownIds, serverFor } from '../../domain/account-objects.ts'
import { fakeApp } from '../../fake-app.ts'
import { wholeList } from '../../whole-list.ts'

const input = { elasticIpId: knownIds.elasticIp, serverId: knownIds.web2 }

describe('the description of a move', () => {
  test('has all facts', () => {
    const { facts } = checkMove(input, { elasticIp: elasticIpFor(), target: serverFor(), assigned: undefined })

    expect(describeMove(facts)).toEqual({
      title: phrase`Move ${'203.0.113.10'}: ${'web-1'} → ${'web-2'}`,
      facts: [placeFact({ id: 'proj_1', name: 'Storefront' }, 'ASH')],
      ids: [
        { label: 'Elastic IP', value: 'eip_KeQbB4BoO6x10' },
        { label: 'From', value: 'sv_vKm8ZaLzG5R2n' },
        { label: 'To', value: 'sv_W3mVpQ0xNd7Lk' },
      ],
      underway: 'moving',
    })
  })

  test('says if no server is shown, and uses ids if the account API did not answer', () => {
    const assigned = undefined
    const unassigned = checkMove(input, { elasticIp: elasticIpFor({ server: undefined }), target: serverFor(), assigned }).facts
    expect(describeMove(unassigned).facts).toContainEqual({ label: 'From', value: ['no server shown'] })
    expect(phraseText(describeMove(unassigned).title)).toBe('Move 203.0.113.10 → web-2')
    const unread = checkMove(input, { elasticIp: undefined, target: undefined, assigned }).facts
    expect(phraseText(describeMove(unread).title)).toBe(`Move ${knownIds.elasticIp} → ${knownIds.web2}`)
    expect(describeMove(unread).facts).toContainEqual({ label: 'From', value: ['unknown'] })
  })
})

test('a server is the one in the project of the Elastic IP; otherwise all of its name are', async () => {
  const twin = serverFor({ id: knownIds.web3, project: billing })
  const found = async (project: ElasticIp['project']) => {
    const lists = {
      elasticIps: async () => wholeList([elasticIpFor({ project })]),
      servers: async () => wholeList([twin, serverFor()]),
      isShort: () => true,
    }
    const named = await findNamed(fakeApp({ lists }), { elasticIpId: '203.0.113.10', serverId: 'WEB-2' }, AbortSignal.timeout(1_000))
    return 'found' in named ? named.found.map(({ id }) => id) : named
  }

  expect(await found(elasticIpFor().project)).toEqual([knownIds.web2])
  expect(await found(undefined)).toEqual([knownIds.web3, knownIds.web2])
})

function server(id: string, hostname: string, more: Partial<Server> = {}): Server {
  return serverFor({ id, hostname, ...more })
}

const ids = { ...knownIds, elsewhere: 'sv_pX0vYkT7Bn4Lq', invoices: 'sv_mR3wQzE8Hs1Dj', unplaced: 'sv_aZ6tGfC2Vu9Ko' }
const elasticIp = elasticIpFor()
const others = [
  server(ids.elsewhere, 'edge-fra-1', { site: frankfurt.onServers }),
  server(ids.invoices, 'invoices-1', { project: billing }),
  server(ids.unplaced, 'new-1', { project: undefined, site: undefined }),
]
const servers = [server(ids.web2, 'web-2'), server(ids.web1, 'web-1'), ...others]
const origin = { teamId: 'T0NIMBUS01', channelId: 'C0OPS00001', userId: 'U0ADA00001', command: '/infra' }

interface Offering {
  field?: 'elasticIpId' | 'serverId'
  elasticIps?: ElasticIp[]
  all?: Server[]
  typed?: string
  /** The Elastic IP in the metadata of the form, and in the option load. */
  noted?: string | undefined
  chosen?: string
}

async function offered({ field = 'serverId', elasticIps = [elasticIp], all = servers, typed = '', noted, chosen }: Offering) {
  const app = fakeApp({ lists: { elasticIps: async () => wholeList(elasticIps), servers: async () => wholeList(all) } })
  const query = { actionId: '', origin, typed, metadata: writeMetadata({ origin, chosen: noted }), values: { elasticIpId: chosen } }
  const { options } = await offerChoices(app, moveForm.fields[field], query)
  return options.map(({ text }) => text.text)
}

describe('the picker of Elastic IPs', () => {
  test('shows the server of each, and offers none that cannot be moved', async () => {
    const elasticIps = [
      elasticIp,
      { ...elasticIp, id: 'eip_2VszvKL6sK72c', address: '203.0.113.9', status: 'moving' },
      { ...elasticIp, id: 'ueip_v9BVDaGvdRm1W' },
      { ...elasticIp, id: 'eip_Bgp', mode: 'BGP' },
    ]
    expect(await offered({ field: 'elasticIpId', elasticIps })).toEqual(['203.0.113.10 on web-1'])
  })

  test.each(['203.0.113.10', ids.elasticIp, 'web-1', ids.web1, 'storefront', 'ash', 'ashburn'])('is searched by %s', async (typed) => {
    const place = { server: undefined, project: billing, site: frankfurt.onElasticIps }
    const other = { ...elasticIp, id: 'eip_2VszvKL6sK72c', address: '203.0.113.99', ...place }
    expect(await offered({ field: 'elasticIpId', elasticIps: [elasticIp, other], typed })).toEqual(['203.0.113.10 on web-1'])
  })
})

describe('the picker of servers', () => {
  const noted = ids.elasticIp

  test('offers servers that may be in the project and site of the Elastic IP, but not its own server', async () => {
    expect(await offered({ noted })).toEqual(['new-1', 'web-2 (Storefront, ASH)'])
    expect(await offered({ noted, typed: 'edge-fra-1' })).toEqual([])
    expect(await offered({ noted, typed: 'web-1' })).toEqual([])
  })

  test('takes the Elastic IP of the metadata before that of the option load, and offers all servers without one', async () => {
    expect(await offered({ noted, chosen: 'eip_0Luj7giJiSZl6' })).toHaveLength(2)
    expect(await offered({ chosen: ids.elasticIp })).toHaveLength(2)
    for (const none of [{}, { chosen: 'not-a-choice' }, { noted: 'eip_gone' }]) expect(await offered(none)).toHaveLength(5)
  })

  test('uses the site of the server that has the address, if the address itself shows another site', async () => {
    const site = { id: 'loc_ZnPRbajK0koM1', name: 'São Paulo 74', slug: 'SAO2' }
    const elasticIps = [elasticIpFor({ site: { id: 'site_sao', name: 'São Paulo', slug: 'SAO' } })]
    const all = [server(ids.web1, 'web-1', { site }), server(ids.web2, 'web-2', { site }), ...others]

    expect(await offered({ elasticIps, all, noted })).toEqual(['new-1', 'web-2 (Storefront, SAO2)'])
  })

  test('offers servers that cannot be compared, and does not compare names of sites', async () => {
    const site = { ...ashburn.onServers, id: 'site_ash', slug: undefined }
    expect(await offered({ elasticIps: [elasticIpFor({ site, server: undefined, project: undefined })], noted })).toHaveLength(5)
  })
})
