import type { Server } from '../../../src/domain/account.ts'
import { type Documented, sources } from './documented.ts'

const recorded =
  'latitudesh/terraform-provider-latitudesh, latitudesh/fixtures/TestAccServer_Basic.yaml at 2006b6e4: answers of the API, recorded in August 2024'
const assignments =
  'latitudesh/terraform-provider-latitudesh, latitudesh/fixtures/TestAccVlanAssignment_Basic.yaml at 508e651e: answers of the API, recorded in May 2025'
const model = 'latitudesh/latitudesh-typescript-sdk, src/models/serverdata.ts at 0bac93da: generated from the OpenAPI document'
const schedule =
  'latitudesh/latitudesh-typescript-sdk, docs/models/serverscheduledeletionattributes.md at 562e4908: generated from the OpenAPI document'
const goTests = 'latitudesh/latitudesh-go-sdk, tests/integration/helpers/mock_data.go at 0c68246e: written by hand for the tests of the SDK'

/** A project as servers show it, with more members than on an Elastic IP. */
const project = {
  id: 'proj_6059EqYkOQj8p',
  name: 'Storefront',
  slug: 'storefront',
  description: 'Shop',
  billing_type: 'Normal',
  billing_method: 'Normal',
  bandwidth_alert: false,
  environment: 'Development',
  billing: { subscription_id: 'sub_1a2b3c4d5e6f7g', type: 'Normal', method: 'Normal' },
  stats: { ip_addresses: 0, prefixes: 0, servers: 2, containers: 0, vlans: 1 },
}
const team = { id: 'team_KpGnxgwe3KS3ojrYVekYUXO22GQ', name: 'Nimbus Works', slug: 'nimbus-works', currency: {}, status: 'verified' }
const operatingSystem = {
  name: 'Ubuntu',
  slug: 'ubuntu_24_04_x64_lts',
  version: '24.04',
  features: { raid: true, rescue: true, ssh_keys: true, user_data: true },
  distro: { name: 'ubuntu', slug: 'ubuntu', series: 'noble' },
}
const plan = { id: 'plan_2X6KG5mA5yPBM', name: 'c2.small.x86', slug: 'c2-small-x86', billing: 'hourly' }
const interfaces = [{ role: 'ipmi', name: 'IPMI', mac_address: '00:11:22:33:44:55', description: 'IPMI Interface' }]

const saoPaulo = { id: 'loc_87vRENkgNdPyk', name: 'São Paulo', slug: 'SAO' }
const saoPaulo74 = { id: 'loc_695BdKjrOevVo', name: 'São Paulo 74', slug: 'SAO' }
const saoPaulo2 = { id: 'loc_ZnPRbajK0koM1', name: 'São Paulo 2', slug: 'SAO2' }

const live = {
  tags: [],
  hostname: 'web-2',
  label: '19AS020449',
  price: 0.22,
  role: 'Bare Metal',
  primary_ipv4: '198.51.100.22',
  status: 'on',
  ipmi_status: 'Normal',
  created_at: '2024-08-19T20:35:53+00:00',
  scheduled_deletion_at: null,
  locked: false,
  region: { city: 'São Paulo', country: 'Brazil', site: { ...saoPaulo, facility: 'SP1' } },
  team,
  project,
  plan,
  operating_system: operatingSystem,
  specs: { cpu: 'Xeon E-2276G CPU @ 3.80GHz (6 cores)', disk: '500 GB SSD', ram: '64 GB', nic: '2 X 1 Gbit/s', gpu: null },
}

const reads: Server = {
  id: 'sv_W3mVpQ0xNd7Lk',
  hostname: 'web-2',
  label: '19AS020449',
  primaryIpv4: '198.51.100.22',
  status: 'on',
  locked: false,
  project: { id: 'proj_6059EqYkOQj8p', name: 'Storefront', slug: 'storefront' },
  site: saoPaulo,
  regionNames: ['São Paulo', 'Brazil'],
}

function but(attributes: Record<string, unknown>) {
  return { id: 'sv_W3mVpQ0xNd7Lk', type: 'servers', attributes: { ...live, ...attributes } }
}

const { project: _, region: __, locked: ___, ...justCreated } = live
const { regionNames: ____, ...readsNoRegion } = reads

export const servers: Documented<Server>[] = [
  { name: 'as the API has answered', source: recorded, wire: but({}), reads },
  {
    name: 'the answer to a creation: no region, no project, not locked and not unlocked',
    source: recorded,
    wire: { ...but({}), attributes: { ...justCreated, status: 'starting_deploy' } },
    reads: { ...readsNoRegion, status: 'starting_deploy', project: undefined, site: undefined },
  },
  {
    name: 'in a site of another id and name, and the same slug',
    source: sources.januaryExamples,
    wire: but({
      created_at: null,
      primary_ipv6: '2001:db8::7',
      interfaces,
      region: { city: 'São Paulo 74', country: 'Brazil', site: { ...saoPaulo74, facility: 'São Paulo 74', rack_id: 'rack_VLMmAD8EOwop2' } },
      project: { ...project, provisioning_type: 'on_demand', environment: null, billing: {} },
    }),
    reads: { ...reads, site: saoPaulo74, regionNames: ['São Paulo 74', 'Brazil'] },
  },
  {
    name: 'in another site of the same town',
    source: 'latitudesh/terraform-provider-latitudesh, latitudesh/vm_plan_discovery_test.go at e89af8b9: site slugs of the API, July 2026',
    wire: but({ region: { city: 'São Paulo', country: 'Brazil', site: saoPaulo2 } }),
    reads: { ...reads, site: saoPaulo2 },
  },
  {
    name: 'with its credentials, which are never asked for',
    source: sources.januaryExamples,
    wire: but({ created_at: '1720608931604', credentials: { username: 'ubuntu', password: 'correct horse battery', ssh_keys: null } }),
    reads,
  },
  {
    name: 'of an unknown power status, without an operating system, in a site whose slug has a number',
    source: sources.januaryExamples,
    wire: but({
      status: 'unknown',
      operating_system: {},
      interfaces: [],
      specs: { cpu: '', disk: '', ram: '', nic: '', gpu: null },
      region: { city: 'Frankfurt 115', country: 'Germany 107', site: { id: 'loc_aNmodjGyqbE8W', name: 'Frankfurt 115', slug: 'FRA96' } },
    }),
    reads: {
      ...reads,
      status: 'unknown',
      site: { id: 'loc_aNmodjGyqbE8W', name: 'Frankfurt 115', slug: 'FRA96' },
      regionNames: ['Frankfurt 115', 'Germany 107'],
    },
  },
  {
    name: 'that the account deletes at a time',
    source: schedule,
    wire: but({ scheduled_deletion_at: '2026-12-01T09:30:00Z' }),
    reads: { ...reads, deletedAt: Date.UTC(2026, 11, 1, 9, 30) },
  },
  {
    name: 'locked, and of another role',
    source: sources.januaryExamples,
    wire: but({ locked: true, role: 'Enclosure' }),
    reads: { ...reads, locked: true },
  },
  {
    name: 'called by its label, because nobody has named it',
    source: assignments,
    wire: but({ hostname: '21BS005889', label: '21BS005889', status: 'off' }),
    reads: { ...reads, hostname: '21BS005889', label: '21BS005889', status: 'off' },
  },
  {
    name: 'with the newest members',
    source: model,
    wire: but({
      status: 'failed_deployment',
      ipmi_status: null,
      primary_ipv4: null,
      price: null,
      site: 'SAO',
      legacy_network: null,
      features: ['direct_remote_access'],
      public_network: { id: 'pnet_1oNqx62cx6bn0', ipv4: null, ipv6: null },
      public_network_eligible: true,
      bgp_eligible: true,
      bgp_deployed: false,
      rescue_allowed: false,
    }),
    reads: { ...reads, status: 'failed_deployment', primaryIpv4: undefined },
  },
  {
    name: 'with ids of another form, and without a project',
    source: goTests,
    wire: {
      id: 'server_test123',
      type: 'servers',
      attributes: {
        hostname: 'web-3',
        label: 'shop front',
        status: 'on',
        role: 'server',
        region: {
          city: 'São Paulo',
          country: 'BR',
          site: { id: 'sao-paulo-1', name: 'São Paulo 1', slug: 'sao-paulo-1', facility: 'SP4' },
        },
        primary_ipv4: '198.51.100.23',
      },
    },
    reads: {
      id: 'server_test123',
      hostname: 'web-3',
      label: 'shop front',
      primaryIpv4: '198.51.100.23',
      status: 'on',
      locked: false,
      project: undefined,
      site: { id: 'sao-paulo-1', name: 'São Paulo 1', slug: 'sao-paulo-1' },
      regionNames: ['São Paulo', 'BR'],
    },
  },
  {
    name: 'every attribute may be left out',
    source: model,
    wire: { id: 'sv_W3mVpQ0xNd7Lk', type: 'servers', attributes: {} },
    reads: {
      id: 'sv_W3mVpQ0xNd7Lk',
      hostname: undefined,
      label: undefined,
      primaryIpv4: undefined,
      status: undefined,
      locked: false,
      project: undefined,
      site: undefined,
    },
  },
]
