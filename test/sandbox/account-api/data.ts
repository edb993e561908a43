import { createHash, randomBytes } from 'node:crypto'

export interface Project {
  id: string
  name: string
  slug: string
}

/** A place has a different id and name on each kind of object. Only the slug is the same. */
export interface Site {
  slug: string
  /** On Elastic IPs, as `region.location`. */
  onElasticIps: { id: string; name: string }
  /** On servers, as `region.site`. */
  onServers: { id: string; name: string }
  region: { id: string; name: string }
  /** False: the account API answers SITE_NOT_SUPPORTED. */
  elasticIps: boolean
}

export interface ServerState {
  id: string
  hostname: string
  label: string | null
  primaryIpv4: string
  status: string
  locked: boolean
  operatingSystem: string
  projectId: string
  site: string
  /** True: the account API answers SERVER_NETWORK_INCOMPATIBLE. */
  networkIncompatible: boolean
  scheduledDeletionAt?: number
  /** The server is not active, so its Elastic IPs show no server. */
  dead?: boolean
}

export type MoveEnd = 'active' | 'error' | 'never' | 'released' | 'returned'

export interface ElasticIpState {
  id: string
  address: string
  family: string
  prefixLength: number
  mode: string
  status: string
  serverId: string | null
  projectId: string
  site: string | null
  createdAt: number
  /** Reads show neither the id nor the address yet. */
  provisioning?: boolean
  /** Set while it is `moving`. `serverId` is the target already. */
  move?: { from: string | null; startedAt: number; endsAt: number; endsIn: MoveEnd; phases: MovePhase[] } | undefined
}

/** What reads show during a part of a move. The documents do not say which server reads show then, so the stand-in can show any. */
export interface MovePhase {
  /** Default: `moving`. */
  status?: string
  server: 'target' | 'from' | 'none'
}

export interface VirtualMachineState {
  id: string
  name: string
  status: string
  primaryIpv4: string
  operatingSystem: { name: string; slug: string; version: string } | null
  site: string
  billing: string
  plan: { id: string; name: string; slug: string }
  specs: { vcpu: number; ram: string; storage: string; nic: string; gpu: string | null }
  projectId: string
  createdAt: number
  pendingRestart?: boolean
}

export interface ApiKeyState {
  id: string
  name: string
  /** The token exists only here, in memory. */
  token: string
  readOnly: boolean
  allowedIps: string[] | null
  createdAt: number
  updatedAt: number
  lastUsedAt: number | null
  user: { id: string; email: string }
}

/** Resources that never change are kept in the shape in which they are sent. */
export interface FixedResource {
  id: string
  type: string
  attributes: Record<string, unknown>
}

export interface Data {
  projects: Project[]
  sites: Site[]
  servers: ServerState[]
  elasticIps: ElasticIpState[]
  virtualMachines: VirtualMachineState[]
  plans: FixedResource[]
  baselines: FixedResource[]
  apiKeys: ApiKeyState[]
}

const letters = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Makes ids like the vendor's, the same in every run: a prefix and 13 case-sensitive letters and digits (`eip_KeQbB4BoO6x10`). */
export function idOf(prefix: string, name: string): string {
  const bytes = createHash('sha256').update(`${prefix}:${name}`).digest()
  return `${prefix}_${Array.from(bytes.subarray(0, 13), (byte) => letters[byte % letters.length]).join('')}`
}

export function day(text: string): number {
  return Date.parse(`${text}T09:30:00Z`)
}

export const projects: Project[] = [
  { id: idOf('proj', 'storefront'), name: 'Storefront', slug: 'storefront' },
  { id: idOf('proj', 'data-platform'), name: 'Data platform', slug: 'data-platform' },
  { id: idOf('proj', 'internal-tools'), name: 'Internal tools', slug: 'internal-tools' },
]

export const sites: Site[] = [
  site('ASH', 'Ashburn', 'United States'),
  site('DAL', 'Dallas', 'United States'),
  site('FRA', 'Frankfurt', 'Germany'),
  site('TYO', 'Tokyo', 'Japan'),
  { ...site('SAO', 'São Paulo', 'Brazil'), elasticIps: false },
]

export function projectId(slug: string): string {
  return idOf('proj', slug)
}

function site(slug: string, city: string, country: string): Site {
  return {
    slug,
    onElasticIps: { id: `site_${slug.toLowerCase()}`, name: city },
    onServers: { id: idOf('loc', slug), name: `${city} 74` },
    region: { id: idOf('reg', country), name: country },
    elasticIps: true,
  }
}

const bot = { id: idOf('user', 'lockkeeper'), email: 'lockkeeper@nimbus.example' }
const ada = { id: idOf('user', 'ada'), email: 'ada.okafor@nimbus.example' }

export function newToken(): string {
  return randomBytes(18).toString('hex')
}

export function apiKeys(botToken: string): ApiKeyState[] {
  return [
    key('lockkeeper', { token: botToken, user: bot, createdAt: day('2026-08-03'), updatedAt: day('2026-08-03') }),
    key('terraform', { allowedIps: ['198.51.100.50', '192.0.2.0/24'], lastUsedAt: day('2026-11-20') }),
    key('grafana read', { readOnly: true, allowedIps: null, lastUsedAt: day('2026-11-21') }),
    key('laptop of ada'),
  ]
}

function key(name: string, more: Partial<ApiKeyState> = {}): ApiKeyState {
  return {
    id: idOf('tok', name),
    name,
    token: newToken(),
    readOnly: false,
    allowedIps: [],
    createdAt: day('2026-02-14'),
    updatedAt: day('2026-02-14'),
    lastUsedAt: null,
    user: ada,
    ...more,
  }
}

const opsKey = { id: idOf('ssh', 'ops'), name: 'ops-2026', fingerprint: '6a:0f:3c:91:be:24:77:d8:1e:5b:c0:42:9d:f3:08:aa' }
const deployKey = { id: idOf('ssh', 'deploy'), name: 'deploy', fingerprint: 'b1:77:2e:40:5d:c9:83:16:fa:0b:6e:d4:39:a8:52:c7' }

export const baselines: FixedResource[] = [
  baseline('Every server', {
    description: 'What holds for all of them: our keys, and nothing that boots from the network.',
    target_type: 'all_servers',
    operating_system: 'ubuntu_24_04_x64_lts',
    ssh_keys: [opsKey, deployKey],
    bios: { boot_mode: 'uefi', pxe_boot: false, sriov: true },
  }),
  baseline('Kafka brokers', {
    description: 'Two mirrored disks for the system, the rest for the log.',
    target_type: 'platforms',
    operating_system: 'debian_12',
    platforms: [
      { id: idOf('plan', 'm4.metal.large'), name: 'm4.metal.large', slug: 'm4-metal-large' },
      { id: idOf('plan', 'm4.metal.xlarge'), name: 'm4.metal.xlarge', slug: 'm4-metal-xlarge' },
    ],
    ssh_keys: [opsKey],
    user_data: { id: idOf('ud', 'kafka'), description: 'Mounts /var/lib/kafka and joins the cluster' },
    disk_layout: [
      { role: 'os', count: 2, raid_level: 'raid-1', filesystem: null, mount_point: null },
      { role: 'storage', count: 4, raid_level: 'raid-0', filesystem: 'ext4', mount_point: '/var/lib/kafka' },
    ],
    bios: { hyperthreading: true, numa_nodes_per_socket: 1, power_profile: 'performance' },
  }),
  baseline('Ceph storage', {
    description: null,
    target_type: 'platforms',
    operating_system: 'rocky_9',
    platforms: [{ id: idOf('plan', 's3.metal.large'), name: 's3.metal.large', slug: 's3-metal-large' }],
    ssh_keys: [opsKey],
    disk_layout: [
      { role: 'os', count: 2, raid_level: 'raid-1', filesystem: null, mount_point: null },
      { role: 'raw', count: 10, raid_level: null, filesystem: null, mount_point: null },
    ],
    bios: { hyperthreading: true },
  }),
  baseline('Game edge', {
    description: 'Picked by hand, for the machines behind the game servers.',
    target_type: 'custom',
    operating_system: null,
    user_data: { id: idOf('ud', 'edge'), description: null },
    bios: { hyperthreading: false, power_profile: { idle: 'c1', turbo: true } },
  }),
  baseline('Draft for 2027', { description: null, target_type: 'custom', operating_system: null, created_at: null }),
]

function baseline(name: string, attributes: Record<string, unknown>): FixedResource {
  return {
    id: idOf('bl', name),
    type: 'baselines',
    attributes: {
      name,
      platforms: [],
      ssh_keys: [],
      user_data: null,
      disk_layout: [],
      bios: {},
      created_at: '2026-05-11T14:02:00Z',
      ...attributes,
    },
  }
}

const ubuntu = 'ubuntu_24_04_x64_lts'

/** `bastion-1` exists twice on purpose: hostnames are unique only within a project. */
export const servers: ServerState[] = [
  server('storefront', 'ASH', 'web-1', '198.51.100.21'),
  server('storefront', 'ASH', 'web-2', '198.51.100.22'),
  server('storefront', 'ASH', 'web-3', '198.51.100.23'),
  server('storefront', 'ASH', 'edge-ash-1', '198.51.100.31'),
  server('storefront', 'ASH', 'edge-ash-2', '198.51.100.32', { scheduledDeletionAt: day('2027-01-15') }),
  server('storefront', 'ASH', 'orders-db-1', '198.51.100.41', { locked: true, label: 'do not touch before the sale' }),
  server('storefront', 'ASH', 'legacy-cart-1', '198.51.100.49', { networkIncompatible: true, operatingSystem: 'centos_7_9_x64' }),
  server('storefront', 'ASH', 'bastion-1', '198.51.100.50'),
  server('storefront', 'FRA', 'edge-fra-1', '198.51.100.61'),
  server('storefront', 'FRA', 'edge-fra-2', '198.51.100.62'),
  server('storefront', 'FRA', 'web-fra-1', '198.51.100.63'),
  server('storefront', 'TYO', 'edge-tyo-1', '198.51.100.71'),
  server('storefront', 'TYO', 'edge-tyo-2', '198.51.100.72', { status: 'deploying' }),
  server('storefront', 'SAO', 'edge-sao-1', '198.51.100.81'),
  server('data-platform', 'ASH', 'kafka-1', '192.0.2.21', { operatingSystem: 'debian_12' }),
  server('data-platform', 'ASH', 'kafka-2', '192.0.2.22', { operatingSystem: 'debian_12' }),
  server('data-platform', 'ASH', 'kafka-3', '192.0.2.23', { operatingSystem: 'debian_12', status: 'off' }),
  server('data-platform', 'DAL', 'ingest-dal-1', '192.0.2.31'),
  server('data-platform', 'DAL', 'ingest-dal-2', '192.0.2.32'),
  server('data-platform', 'DAL', 'warehouse-1', '192.0.2.41', { operatingSystem: 'rocky_9' }),
  server('data-platform', 'DAL', 'warehouse-2', '192.0.2.42', { operatingSystem: 'rocky_9', locked: true }),
  server('internal-tools', 'DAL', 'gitlab-1', '192.0.2.61'),
  server('internal-tools', 'DAL', 'runner-1', '192.0.2.71'),
  server('internal-tools', 'DAL', 'runner-2', '192.0.2.72'),
  server('internal-tools', 'DAL', 'vpn-1', '192.0.2.81', { operatingSystem: 'debian_12' }),
  server('internal-tools', 'DAL', 'bastion-1', '192.0.2.90', { operatingSystem: 'debian_12' }),
]

export function serverId(project: string, hostname: string): string {
  return idOf('sv', `${project}/${hostname}`)
}

function server(project: string, site: string, hostname: string, primaryIpv4: string, more: Partial<ServerState> = {}): ServerState {
  return {
    id: serverId(project, hostname),
    hostname,
    label: null,
    primaryIpv4,
    status: 'on',
    locked: false,
    operatingSystem: ubuntu,
    projectId: projectId(project),
    site,
    networkIncompatible: false,
    ...more,
  }
}

/** The first one is on `web-1` and can be moved to `web-2`. One is announced by BGP, and the account shows no server for it. */
export const elasticIps: ElasticIpState[] = [
  elasticIp('203.0.113.10', 'storefront', 'ASH', 'web-1'),
  elasticIp('203.0.113.11', 'storefront', 'ASH', 'web-3'),
  elasticIp('203.0.113.12', 'storefront', 'ASH', 'edge-ash-1'),
  elasticIp('203.0.113.13', 'storefront', 'ASH', 'edge-ash-1'),
  elasticIp('203.0.113.40', 'storefront', 'FRA', 'edge-fra-1'),
  elasticIp('203.0.113.41', 'storefront', 'FRA', 'edge-fra-2'),
  elasticIp('203.0.113.60', 'storefront', 'TYO', 'edge-tyo-1'),
  elasticIp('2001:db8:40:1::', 'storefront', 'FRA', 'web-fra-1', { family: 'IPv6', prefixLength: 64 }),
  elasticIp('203.0.113.70', 'storefront', 'ASH', null, { id: idOf('ueip', '203.0.113.70'), mode: 'bgp' }),
  elasticIp('203.0.113.80', 'data-platform', 'ASH', 'kafka-1'),
  elasticIp('203.0.113.81', 'data-platform', 'DAL', 'ingest-dal-1'),
  elasticIp('203.0.113.82', 'data-platform', 'DAL', 'warehouse-1'),
  elasticIp('203.0.113.83', 'data-platform', 'DAL', null),
  elasticIp('203.0.113.100', 'internal-tools', 'DAL', 'gitlab-1'),
  elasticIp('203.0.113.101', 'internal-tools', 'DAL', 'vpn-1'),
  elasticIp('203.0.113.102', 'internal-tools', 'DAL', 'runner-1', { status: 'error' }),
  elasticIp('203.0.113.103', 'internal-tools', 'DAL', 'runner-2', { status: 'configuring' }),
  elasticIp('203.0.113.104', 'internal-tools', 'DAL', 'bastion-1', { status: 'releasing' }),
  elasticIp('203.0.113.105', 'internal-tools', 'DAL', null, { status: 'configuring', site: null, provisioning: true }),
]

export function elasticIp(
  address: string,
  project: string,
  site: string,
  hostname: string | null,
  more: Partial<ElasticIpState> = {},
): ElasticIpState {
  return {
    id: idOf('eip', address),
    address,
    family: 'IPv4',
    prefixLength: 32,
    mode: 'routed',
    status: 'active',
    serverId: hostname === null ? null : serverId(project, hostname),
    projectId: projectId(project),
    site,
    createdAt: day('2026-03-02'),
    ...more,
  }
}

const l40s = { name: 'NVIDIA L40S', vramPerGpu: 48 }
const h100 = { name: 'NVIDIA H100', vramPerGpu: 80 }
const rtx = { name: 'NVIDIA RTX 6000 Pro', vramPerGpu: 96 }
const linux = ['ubuntu_24_04_x64_lts', 'ubuntu_22_04_x64_lts', 'debian_12', 'rocky_9', 'almalinux_9']
const everything = [...linux, 'windows_server_2022_std_v1', 'flatcar_stable']
const gpuSystems = ['ubuntu_24_04_x64_lts', 'ubuntu24_ml_in_a_box']

const countries: Record<string, { sites: string[]; factor: number }> = {
  'United States': { sites: ['ASH', 'DAL'], factor: 1 },
  Germany: { sites: ['FRA'], factor: 1.08 },
  Japan: { sites: ['TYO'], factor: 1.22 },
  Brazil: { sites: ['SAO'], factor: 1.35 },
}

/** `stock` lists the sites with stock. */
export const plans: FixedResource[] = [
  plan('vm.nano', 1, 1, 20, 0.007, 'ASH DAL FRA TYO SAO'),
  plan('vm.tiny', 1, 2, 40, 0.014, 'ASH DAL FRA TYO SAO'),
  plan('vm.small', 2, 4, 80, 0.027, 'ASH DAL FRA TYO'),
  plan('vm.medium', 4, 8, 160, 0.054, 'ASH DAL FRA TYO SAO'),
  plan('vm.large', 8, 16, 320, 0.107, 'ASH FRA'),
  plan('vm.xlarge', 16, 32, 640, 0.214, 'DAL FRA'),
  plan('vm.2xlarge', 24, 64, 960, 0.41, 'ASH'),
  plan('vm.4xlarge', 32, 128, 1280, 0.79, ''),
  plan('cpu.small', 4, 8, 100, 0.083, 'ASH DAL FRA'),
  plan('cpu.medium', 8, 16, 200, 0.166, 'ASH DAL FRA TYO'),
  plan('cpu.large', 16, 32, 400, 0.331, 'ASH'),
  plan('cpu.xlarge', 32, 64, 800, 0.66, 'FRA TYO'),
  plan('cpu.metal-edge', 48, 96, 1200, 0.97, ''),
  plan('mem.small', 4, 32, 100, 0.124, 'ASH DAL FRA'),
  plan('mem.medium', 8, 64, 200, 0.248, 'ASH FRA TYO'),
  plan('mem.large', 16, 128, 400, 0.49, 'DAL'),
  plan('mem.xlarge', 32, 256, 800, 0.97, 'ASH SAO'),
  plan('store.medium', 8, 32, 4, 0.31, 'ASH DAL FRA', { unit: 'tib' }),
  plan('store.large', 16, 64, 8, 0.61, 'DAL', { unit: 'tib' }),
  plan('gpu.l40s.1', 16, 64, 500, 1.11, 'ASH DAL', { gpu: l40s, systems: gpuSystems }),
  plan('gpu.l40s.2', 32, 128, 1000, 2.2, 'DAL FRA', { gpu: l40s, systems: gpuSystems }),
  plan('gpu.rtx6000.1', 16, 96, 500, 1.62, 'ASH TYO', { gpu: rtx, systems: gpuSystems }),
  plan('gpu.h100.1', 24, 192, 1000, 2.49, 'DAL', { gpu: h100, systems: gpuSystems }),
  plan('gpu.h100.4', 96, 768, 4, 9.9, '', { gpu: h100, systems: gpuSystems, unit: 'tib' }),
  plan('win.medium', 4, 16, 160, 0.139, 'ASH DAL FRA', { systems: ['windows_server_2022_std_v1', 'windows_server_2025_std_v1'] }),
]

interface More {
  gpu?: typeof l40s
  unit?: 'gib' | 'tib'
  systems?: string[]
}

function plan(
  name: string,
  vcpus: number,
  memory: number,
  disk: number,
  usdPerHour: number,
  stock: string,
  more: More = {},
): FixedResource {
  const inStock = stock.split(' ').filter((site) => site !== '')
  return {
    id: idOf('plan', name),
    type: 'virtual_machine_plans',
    attributes: {
      name,
      specs: {
        memory,
        gpu: more.gpu?.name ?? null,
        vram_per_gpu: more.gpu?.vramPerGpu ?? null,
        vcpus,
        vcpu: { count: vcpus },
        disk: { type: 'nvme', size: { amount: disk, unit: more.unit ?? 'gib' } },
      },
      regions: Object.entries(countries).map(([country, { sites, factor }]) => {
        const here = sites.filter((site) => inStock.includes(site))
        return {
          name: country,
          locations: { available: sites, in_stock: here },
          stock_level: stockLevel(here.length, sites.length),
          pricing: { USD: prices(usdPerHour * factor), EUR: prices(usdPerHour * factor * 0.92) },
        }
      }),
      stock_level: stockLevel(inStock.length, 5),
      available_operating_systems: more.systems ?? (memory >= 4 ? everything : linux),
    },
  }
}

function stockLevel(some: number, all: number): string {
  if (some === 0) return 'unavailable'
  if (some === all) return 'high'
  return some * 2 >= all ? 'medium' : 'low'
}

function prices(hour: number) {
  const round = (value: number, digits: number) => Number(value.toFixed(digits))
  return { hour: round(hour, 4), month: round(hour * 730, 2), year: round(hour * 730 * 12 * 0.9, 2) }
}

const ubuntuVirtualMachines = { name: 'Ubuntu', slug: 'ubuntu_24_04_x64_lts', version: '24.04' }
const debian = { name: 'Debian', slug: 'debian_12', version: '12' }

const small = { plan: 'vm.small', specs: { vcpu: 2, ram: '4 GB', storage: '80 GB', nic: '10 Gbps', gpu: null } }
const medium = { plan: 'vm.medium', specs: { vcpu: 4, ram: '8 GB', storage: '160 GB', nic: '10 Gbps', gpu: null } }
const gpu = { plan: 'gpu.l40s.1', specs: { vcpu: 16, ram: '64 GB', storage: '500 GB', nic: '25 Gbps', gpu: 'NVIDIA L40S' } }

/** `search-1` exists twice on purpose: names need not be unique. */
export const virtualMachines: VirtualMachineState[] = [
  machine('preview-1', 'storefront', 'ASH', '192.0.2.110', small),
  machine('preview-2', 'storefront', 'ASH', '192.0.2.111', small),
  machine('search-1', 'storefront', 'ASH', '192.0.2.112', medium),
  machine('search-fra-1', 'storefront', 'FRA', '192.0.2.113', medium, { pendingRestart: true }),
  machine('cache-tyo-1', 'storefront', 'TYO', '192.0.2.114', medium, { status: 'Stopped' }),
  machine('notebook-ana', 'data-platform', 'DAL', '192.0.2.120', gpu),
  machine('notebook-li', 'data-platform', 'DAL', '192.0.2.121', gpu, { status: 'Stopped' }),
  machine('airflow-1', 'data-platform', 'DAL', '192.0.2.122', medium, { operatingSystem: debian }),
  machine('superset-1', 'data-platform', 'ASH', '192.0.2.123', medium, { operatingSystem: debian }),
  machine('search-1', 'data-platform', 'ASH', '192.0.2.124', medium, { id: idOf('vm', 'data-platform/search-1') }),
  machine('grafana-1', 'internal-tools', 'DAL', '192.0.2.130', small, { operatingSystem: debian }),
  machine('vault-1', 'internal-tools', 'DAL', '192.0.2.131', small, { billing: 'monthly' }),
  machine('wiki-1', 'internal-tools', 'DAL', '192.0.2.132', small, { operatingSystem: null }),
  machine('status-page-1', 'internal-tools', 'FRA', '192.0.2.133', small, { status: 'Deploying' }),
]

function machine(
  name: string,
  project: string,
  site: string,
  primaryIpv4: string,
  { plan, specs }: { plan: string; specs: VirtualMachineState['specs'] },
  more: Partial<VirtualMachineState> = {},
): VirtualMachineState {
  return {
    id: idOf('vm', name),
    name,
    status: 'Running',
    primaryIpv4,
    operatingSystem: ubuntuVirtualMachines,
    site,
    billing: 'hourly',
    plan: { id: idOf('plan', plan), name: plan, slug: plan.replaceAll('.', '-') },
    specs,
    projectId: projectId(project),
    createdAt: day('2026-06-18'),
    ...more,
  }
}

/** Returns a typical account. The data are fresh copies, because the stand-in changes them. */
export function accountData(botToken: string): Data {
  const data = { projects, sites, servers, elasticIps, virtualMachines, plans, baselines, apiKeys: apiKeys(botToken) }
  return structuredClone(data)
}
