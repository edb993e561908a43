// Sample resources with every field of the interface specification 2023-06-01. Servers and events are from the vendor's OpenAPI document.

export const elasticIp = {
  id: 'eip_7f3apdb0NT6DO',
  type: 'elastic_ips',
  attributes: {
    address: '203.0.113.10',
    family: 'IPv4',
    prefix_length: 32,
    mode: 'routed',
    status: 'moving',
    created_at: '2026-03-02T09:30:00Z',
    server: { id: 'sv_81q8LGGQnFEm5', hostname: 'web-2', primary_ipv4: '198.51.100.22', operating_system: 'ubuntu_24_04_x64_lts' },
    project: { id: 'proj_1oNqx62cx6bn0', name: 'Storefront', slug: 'storefront' },
    region: { id: 'reg_usnDPAAF373Hs', name: 'United States', location: { id: 'site_ash', name: 'Ashburn', slug: 'ASH' } },
  },
}

export const server = {
  id: 'sv_81q8LGGQnFEm5',
  type: 'servers',
  attributes: {
    hostname: 'web-2',
    label: 'shop front',
    primary_ipv4: '198.51.100.22',
    status: 'on',
    locked: true,
    region: { city: 'Ashburn', site: { id: 'loc_87vRENkgNdPyk', name: 'Ashburn 74', slug: 'ASH' } },
    project: { id: 'proj_1oNqx62cx6bn0', name: 'Storefront', slug: 'storefront' },
  },
}

export const virtualMachine = {
  id: 'vm_19o9skue5y1L0',
  type: 'virtual_machines',
  attributes: {
    name: 'search-2',
    status: 'Running',
    created_at: '2026-06-18T09:30:00Z',
    primary_ipv4: '192.0.2.112',
    operating_system: {
      name: 'Ubuntu',
      slug: 'ubuntu_24_04_x64_lts',
      version: '24.04',
      features: { raid: false },
      distro: { name: 'Ubuntu' },
    },
    credentials: { username: 'ubuntu', host: '192.0.2.112', password: 'correct horse battery', ssh_keys: [] },
    site: 'ASH',
    billing: 'hourly',
    user_data: '',
    plan: { id: 'plan_4m1T5RfYvdM4F', name: 'vm.medium', slug: 'vm-medium' },
    specs: { vcpu: 4, ram: '8 GB', storage: '160 GB', nic: '10 Gbps', gpu: '' },
    tags: [],
    team: { id: 'team_1', name: 'Nimbus Works', limits: { virtual_machine: 50 } },
    project: { id: 'proj_1oNqx62cx6bn0', name: 'Storefront', slug: 'storefront', environment: 'Production', stats: { servers: 8 } },
    pending_restart: false,
  },
}

export const plan = {
  id: 'plan_4m1T5RfYvdM4F',
  type: 'virtual_machine_plans',
  attributes: {
    name: 'vm.medium',
    specs: {
      memory: 8,
      gpu: 'NVIDIA L40S',
      vram_per_gpu: 48,
      vcpus: 4,
      vcpu: { count: 4, clock: 2.9, type: 'shared' },
      nics: [{ type: '10 Gbps', count: '1' }],
      disk: { type: 'nvme', size: { amount: 160, unit: 'gib' } },
    },
    regions: [
      {
        name: 'United States',
        locations: { available: ['ASH', 'DAL'], in_stock: ['ASH'] },
        stock_level: 'low',
        pricing: { USD: { hour: 0.054, month: 39.42, year: 425.74 }, EUR: { hour: 0.05, month: 36.5, year: 394.2 } },
      },
    ],
    stock_level: 'low',
    available_operating_systems: ['ubuntu_24_04_x64_lts', 'debian_12'],
  },
}

export const baseline = {
  id: 'bl_2KlNltRYMQQ5l',
  type: 'baselines',
  attributes: {
    name: 'Kafka brokers',
    description: 'Two mirrored disks for the system',
    target_type: 'platforms',
    operating_system: 'debian_12',
    platforms: [{ id: 'plan_m4n3SgpdFvIDf', name: 'm4.metal.large', slug: 'm4-metal-large' }],
    ssh_keys: [{ id: 'ssh_13QYhuB4gg492', name: 'ops-2026', fingerprint: '6a:0f:3c:91' }],
    user_data: { id: 'ud_1cT6WRvn51oJC', description: null },
    disk_layout: [
      { role: 'os', count: 2, raid_level: 'raid-1', filesystem: null, mount_point: null },
      { role: 'storage', count: 4, raid_level: 'raid-0', filesystem: 'ext4', mount_point: '/var/lib/kafka' },
    ],
    bios: { hyperthreading: true, boot_mode: 'uefi', sockets: 2, power: { turbo: true } },
    created_at: '2026-05-11T14:02:00Z',
  },
}

/** A baseline in the shape of the SDKs of August 2026: with one plan, and without `target_type`, `operating_system` and `platforms`. */
export const newerBaseline = {
  id: 'bl_3ZyQWn0Kc7PtX',
  type: 'baselines',
  attributes: {
    name: 'GPU training',
    description: null,
    plan: { id: 'plan_g4Lw7BfDh2RmJ', slug: 'g4-h100-large', name: 'g4.h100.large' },
    ssh_keys: [],
    user_data: null,
    disk_layout: [],
    bios: {},
    created_at: '2026-08-03T08:00:00Z',
  },
}

export const apiKey = {
  id: 'tok_57jvG72qDZNTv',
  type: 'api_keys',
  attributes: {
    name: 'deploy',
    token_last_slice: '0ff1c',
    api_version: '2023-06-01',
    read_only: true,
    allowed_ips: ['198.51.100.0/24'],
    created_at: '2026-02-14T09:30:00Z',
    updated_at: '2026-02-14T09:30:00Z',
    last_used_at: null,
    user: { id: 'user_1', email: 'ada.okafor@nimbus.example' },
  },
}

export const token = 'd00dfeedd00dfeedd00dfeedd00dfeed0ff1c'.slice(1)

export const issuedApiKey = { ...apiKey, attributes: { ...apiKey.attributes, token } }

export const event = {
  id: 'evt_1FCY1WgOpwoIk',
  type: 'events',
  attributes: {
    action: 'update.elastic_ip',
    target: { id: 'eip_7f3apdb0NT6DO', name: '203.0.113.10' },
    author: { id: 'user_1', name: 'Ada', email: 'ada.okafor@nimbus.example' },
    created_at: '2026-11-20T10:00:00Z',
  },
}
