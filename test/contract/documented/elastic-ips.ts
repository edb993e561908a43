import type { ElasticIp } from '../../../src/domain/account.ts'
import { type Documented, sources } from './documented.ts'

const model = 'latitudesh/latitudesh-typescript-sdk, src/models/elasticipdata.ts at 468b3f98: generated from the OpenAPI document'
const operations = 'latitudesh/latitudesh-typescript-sdk, docs/sdks/elasticips/README.md at 468b3f98: generated from the OpenAPI document'
const olderOperations =
  'latitudesh/latitudesh-go-sdk, docs/sdks/elasticips/README.md in an earlier version (class ElasticIPs): generated from the OpenAPI document'
const bgp =
  'latitudesh/terraform-provider-latitudesh, latitudesh/resource_elastic_ip_bgp.go at 02a7d3d2 and the stand-in API of its test, September 2026'

const project = { id: 'proj_6059EqYkOQj8p', name: 'Storefront', slug: 'storefront' }
/** Has the id from the examples of the OpenAPI document. */
const saoPaulo = { id: 'site_sao', name: 'São Paulo', slug: 'SAO' }
const web1 = { id: 'sv_vKm8ZaLzG5R2n', hostname: 'web-1', primary_ipv4: '198.51.100.21', operating_system: 'ubuntu_24_04_x64_lts' }
const web2 = { id: 'sv_W3mVpQ0xNd7Lk', hostname: 'web-2', primary_ipv4: '198.51.100.22', operating_system: 'ubuntu_24_04_x64_lts' }

const wire = {
  id: 'eip_KeQbB4BoO6x10',
  type: 'elastic_ips',
  attributes: {
    address: '203.0.113.10',
    family: 'IPv4',
    prefix_length: 32,
    mode: 'routed',
    status: 'active',
    created_at: '2026-03-20T09:30:00Z',
    server: web1,
    project,
    region: { id: 'reg_usnDPAAF373Hs', name: 'Brazil', location: saoPaulo },
  },
}

const reads: ElasticIp = {
  id: 'eip_KeQbB4BoO6x10',
  address: '203.0.113.10',
  status: 'active',
  mode: 'routed',
  server: { id: 'sv_vKm8ZaLzG5R2n', hostname: 'web-1' },
  project,
  site: saoPaulo,
  regionNames: ['Brazil'],
}

const { regionNames: _, ...readsNoRegion } = reads

/** Returns the same Elastic IP with other attributes. */
function but(attributes: Record<string, unknown>) {
  return { ...wire, attributes: { ...wire.attributes, ...attributes } }
}

export const elasticIps: Documented<ElasticIp>[] = [
  { name: 'active on a server', source: sources.specification, wire, reads },
  {
    name: 'the answer to a move: moving, and the target as its server',
    source: `${sources.specification}, "States and transitions"`,
    wire: but({ status: 'moving', server: web2 }),
    reads: { ...reads, status: 'moving', server: { id: 'sv_W3mVpQ0xNd7Lk', hostname: 'web-2' } },
  },
  {
    name: 'unassigned, or its server is not active: server null',
    source: model,
    wire: but({ server: null }),
    reads: { ...reads, server: undefined },
  },
  { name: 'region null', source: model, wire: but({ region: null }), reads: { ...readsNoRegion, site: undefined } },
  {
    name: 'a server whose operating system is null',
    source: model,
    wire: but({ server: { ...web1, operating_system: null } }),
    reads,
  },
  { name: 'pending', source: sources.fieldsLock, wire: but({ status: 'pending' }), reads: { ...reads, status: 'pending' } },
  { name: 'releasing', source: operations, wire: but({ status: 'releasing' }), reads: { ...reads, status: 'releasing' } },
  { name: 'in error', source: model, wire: but({ status: 'error' }), reads: { ...reads, status: 'error' } },
  {
    name: 'the answer to a creation: configuring, and no id yet',
    source: operations,
    wire: { ...but({ status: 'configuring' }), id: null },
    reads: 'not ready',
  },
  {
    name: 'the older word for it: provisioning',
    source: olderOperations,
    wire: but({ status: 'provisioning' }),
    reads: { ...reads, status: 'provisioning' },
  },
  {
    name: 'announced by BGP: another form of id, on no server, and the site as servers show it',
    source: bgp,
    wire: {
      ...but({
        mode: 'bgp',
        server: null,
        created_at: '2026-09-08T00:52:04.801Z',
        region: { ...wire.attributes.region, location: { id: 'loc_87vRENkgNdPyk', name: 'São Paulo', slug: 'SAO' } },
      }),
      id: 'ueip_v9BVDaGvdRm1W',
    },
    reads: { ...reads, id: 'ueip_v9BVDaGvdRm1W', mode: 'bgp', server: undefined, site: { ...saoPaulo, id: 'loc_87vRENkgNdPyk' } },
  },
  {
    name: 'every attribute may be left out',
    source: model,
    wire: { ...wire, attributes: {} },
    reads: { id: reads.id, address: reads.id, status: 'unknown', server: undefined, project: undefined, site: undefined },
  },
]
