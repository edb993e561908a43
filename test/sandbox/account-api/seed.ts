/** An account that reads like a real one: three projects in four sites, and something in every state. Addresses are from documentation ranges. */
export interface Site {
  id: string
  name: string
  slug: string
}

export interface Project {
  id: string
  name: string
  slug: string
}

export interface ServerRow {
  id: string
  hostname: string
  label: string
  primaryIpv4: string
  status: string
  locked: boolean
  project: Project
  site: Site
}

export interface ElasticIpRow {
  id: string
  address: string
  status: string
  serverId: string | null
  project: Project
  site: Site
  createdAt: string
  /** Of a move under way: when and how it ends. */
  move?: { endsAt: number; endsIn: MoveEnd; fromServerId: string | null }
}

export type MoveEnd = 'active' | 'error' | 'never' | 'released' | 'no-server'

export interface VirtualMachineRow {
  id: string
  name: string
  status: string
  primaryIpv4: string
  plan: string
  project: Project
  site: Site
}

export interface ApiKeyRow {
  id: string
  name: string
  token: string
  readOnly: boolean
  allowedIps: string[] | null
  createdAt: string
  updatedAt: string
  lastUsedAt: string | null
  user: { id: string; email: string }
}

const ashburn: Site = { id: 'loc_ash', name: 'Ashburn', slug: 'ASH' }
const dallas: Site = { id: 'loc_dal', name: 'Dallas', slug: 'DAL' }
const frankfurt: Site = { id: 'loc_fra', name: 'Frankfurt', slug: 'FRA' }
const tokyo: Site = { id: 'loc_tyo2', name: 'Tokyo', slug: 'TYO2' }

const storefront: Project = { id: 'proj_6nE8lK2Vd5', name: 'Storefront', slug: 'storefront' }
const billing: Project = { id: 'proj_W2QkRr4Yx0', name: 'Billing', slug: 'billing' }
const data: Project = { id: 'proj_b1mZpT9sGh', name: 'Data platform', slug: 'data-platform' }

const serverTable: [hostname: string, project: Project, site: Site, label: string, status?: string, locked?: boolean][] = [
  ['web-1', storefront, ashburn, 'Shop front, primary'],
  ['web-2', storefront, ashburn, 'Shop front, standby'],
  ['web-3', storefront, ashburn, 'Shop front, canary'],
  ['edge-ash-1', storefront, ashburn, 'Load balancer'],
  ['edge-ash-2', storefront, ashburn, 'Load balancer'],
  ['web-fra-1', storefront, frankfurt, 'Shop front, Europe'],
  ['web-fra-2', storefront, frankfurt, 'Shop front, Europe'],
  ['edge-fra-1', storefront, frankfurt, 'Load balancer'],
  ['cache-1', storefront, dallas, 'Product cache'],
  ['cache-2', storefront, dallas, 'Product cache', 'off'],
  ['pay-1', billing, ashburn, 'Payments', 'on', true],
  ['pay-2', billing, ashburn, 'Payments', 'on', true],
  ['web-2', billing, ashburn, 'Invoice portal'],
  ['ledger-1', billing, frankfurt, 'Ledger database'],
  ['ledger-2', billing, frankfurt, 'Ledger database, replica'],
  ['mail-out-1', billing, frankfurt, 'Outgoing mail'],
  ['ingest-1', data, tokyo, 'Event ingest'],
  ['ingest-2', data, tokyo, 'Event ingest'],
  ['ingest-3', data, tokyo, 'Event ingest', 'deploying'],
  ['warehouse-1', data, dallas, 'Warehouse'],
  ['warehouse-2', data, dallas, 'Warehouse'],
  ['notebook-1', data, dallas, ''],
]

const elasticIpTable: [address: string, server: number | null, status?: string, project?: Project, site?: Site][] = [
  ['203.0.113.10', 0],
  ['203.0.113.11', 1],
  ['203.0.113.12', 3],
  ['203.0.113.40', 5],
  ['203.0.113.41', 6],
  ['203.0.113.42', 7],
  ['198.51.100.20', 10],
  ['198.51.100.21', 12],
  ['198.51.100.60', 13],
  ['198.51.100.61', 15],
  ['192.0.2.80', 16],
  ['192.0.2.81', 19],
  ['203.0.113.90', null, 'configuring', storefront, ashburn],
  ['203.0.113.91', 4, 'error'],
  ['198.51.100.99', 14, 'releasing'],
  ['192.0.2.99', null, 'active', data, tokyo],
]

const virtualMachineTable: [name: string, plan: string, project: Project, site: Site, status?: string][] = [
  ['ci-runner-1', 'vm.medium', storefront, ashburn],
  ['ci-runner-2', 'vm.medium', storefront, ashburn],
  ['preview-checkout', 'vm.small', storefront, ashburn],
  ['preview-search', 'vm.small', storefront, frankfurt, 'Stopped'],
  ['status-page', 'vm.tiny', storefront, dallas],
  ['vpn-gateway', 'vm.tiny', billing, frankfurt],
  ['batch-invoices', 'vm.large', billing, ashburn],
  ['sandbox', 'vm.small', billing, ashburn],
  ['sandbox', 'vm.small', data, tokyo],
  ['airflow', 'vm.xlarge', data, dallas],
  ['feature-store', 'vm.large', data, tokyo],
  ['gpu-train-1', 'vm.l40s.small', data, dallas, 'Scheduling'],
]

export function seedAccount() {
  const servers: ServerRow[] = serverTable.map(([hostname, project, site, label, status = 'on', locked = false], index) => ({
    id: `sv_${shortId(index, 'server')}`,
    hostname,
    label,
    primaryIpv4: `198.51.100.${110 + index}`,
    status,
    locked,
    project,
    site,
  }))

  const elasticIps: ElasticIpRow[] = elasticIpTable.map(([address, serverIndex, status = 'active', project, site], index) => {
    const server = serverIndex === null ? undefined : servers[serverIndex]
    return {
      id: `eip_${shortId(index, 'address')}`,
      address,
      status,
      serverId: server?.id ?? null,
      project: project ?? server?.project ?? storefront,
      site: site ?? server?.site ?? ashburn,
      createdAt: `2026-0${1 + (index % 9)}-1${index % 10}T09:30:00+00:00`,
    }
  })

  const virtualMachines: VirtualMachineRow[] = virtualMachineTable.map(([name, plan, project, site, status = 'Running'], index) => ({
    id: `vm_${shortId(index, 'machine')}`,
    name,
    status,
    primaryIpv4: `192.0.2.${120 + index}`,
    plan,
    project,
    site,
  }))

  return { projects: [storefront, billing, data], sites: [ashburn, dallas, frankfurt, tokyo], servers, elasticIps, virtualMachines }
}

/** Looks like the opaque ids of the service, and is the same at every start. */
function shortId(index: number, salt: string): string {
  const alphabet = '0123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghjkmnpqrstuvwxyz'
  let hash = 2_166_136_261
  for (const character of `${salt}:${index}`) hash = Math.imul(hash ^ character.charCodeAt(0), 16_777_619) >>> 0
  let id = ''
  for (let place = 0; place < 10; place += 1) {
    hash = Math.imul(hash ^ (hash >>> 15) ^ place, 2_246_822_519) >>> 0
    id += alphabet[hash % alphabet.length]
  }
  return id
}
