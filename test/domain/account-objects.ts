import type { ElasticIp, Server, VirtualMachine } from '../../src/account/objects.ts'

/** Objects of an account with ids as the vendor writes them. Each kind of object shows another id and another name for the same site. */
export const ids = {
  elasticIp: 'eip_KeQbB4BoO6x10',
  web1: 'sv_vKm8ZaLzG5R2n',
  web2: 'sv_W3mVpQ0xNd7Lk',
  web3: 'sv_bT90rYxPqJ6Uh',
  storefront: 'proj_6059EqYkOQj8p',
  billing: 'proj_R82A9jVb5Lq0d',
} as const

export const storefront = { id: ids.storefront, name: 'Storefront', slug: 'storefront' }
export const billing = { id: ids.billing, name: 'Billing', slug: 'billing' }

export const ashburn = {
  onElasticIps: { id: 'site_ash', name: 'Ashburn', slug: 'ASH' },
  onServers: { id: 'loc_87vRENkgNdPyk', name: 'Ashburn 74', slug: 'ASH' },
}
export const frankfurt = {
  onElasticIps: { id: 'site_fra', name: 'Frankfurt', slug: 'FRA' },
  onServers: { id: 'loc_jBL3KkXmNq0Td', name: 'Frankfurt 74', slug: 'FRA' },
}

/** `203.0.113.10`, active on `web-1` in Ashburn, project Storefront. */
export function elasticIpFor(more: Partial<ElasticIp> = {}): ElasticIp {
  return {
    id: ids.elasticIp,
    address: '203.0.113.10',
    status: 'active',
    server: { id: ids.web1, hostname: 'web-1' },
    project: storefront,
    site: ashburn.onElasticIps,
    ...more,
  }
}

/** `web-2` in Ashburn, project Storefront. */
export function serverFor(more: Partial<Server> = {}): Server {
  return {
    id: ids.web2,
    hostname: 'web-2',
    label: undefined,
    primaryIpv4: '198.51.100.22',
    status: 'on',
    locked: false,
    project: storefront,
    site: ashburn.onServers,
    ...more,
  }
}

/** `web-1`, the server that the Elastic IP is on. */
export function assignedServerFor(more: Partial<Server> = {}): Server {
  return serverFor({ id: ids.web1, hostname: 'web-1', primaryIpv4: '198.51.100.21', ...more })
}

/** `preview-1` in Ashburn, project Storefront. */
export function virtualMachineFor(more: Partial<VirtualMachine> = {}): VirtualMachine {
  return {
    id: 'vm_7265Xp57xmWdK',
    name: 'preview-1',
    status: 'Running',
    createdAt: undefined,
    primaryIpv4: '192.0.2.110',
    site: 'ASH',
    operatingSystem: undefined,
    plan: undefined,
    specs: { vcpuCount: 2, ram: '4 GB', storage: undefined, gpu: undefined },
    project: { id: 'proj_1oNqx62cx6bn0', name: 'Storefront', slug: 'storefront' },
    pendingRestart: false,
    ...more,
  }
}
