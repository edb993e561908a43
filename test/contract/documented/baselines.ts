import type { Baseline } from '../../../src/domain/account.ts'
import { type Documented, sources } from './documented.ts'

const middle = 'latitudesh/latitudesh-go-sdk, models/components/baselinedata.go at 0380994d: generated from the OpenAPI document'
const newest = 'latitudesh/latitudesh-typescript-sdk, src/models/baselinedata.ts at 468b3f98: generated from the OpenAPI document'

const plan = { id: 'plan_m4n3SgpdFvIDf', slug: 'm4-metal-large', name: 'm4.metal.large' }

const shared = {
  name: 'Kafka brokers',
  description: 'Two mirrored disks for the system',
  ssh_keys: [{ id: 'ssh_13QYhuB4gg492', name: 'ops-2026', fingerprint: '6a:0f:3c:91' }],
  user_data: { id: 'ud_1cT6WRvn51oJC', description: null },
  disk_layout: [
    { role: 'os', count: 2, raid_level: 'raid-1', filesystem: null, mount_point: null },
    { role: 'storage', count: 4, raid_level: 'raid-0', filesystem: 'ext4', mount_point: '/var/lib/kafka' },
  ],
  bios: { hyperthreading: true, boot_mode: 'uefi', sockets: 2 },
  created_at: '2026-05-11T14:02:00Z',
}

const reads: Baseline = {
  id: 'bl_2KlNltRYMQQ5l',
  name: 'Kafka brokers',
  description: 'Two mirrored disks for the system',
  targetType: 'platforms',
  operatingSystem: 'debian_12',
  platforms: [plan],
  sshKeys: [{ id: 'ssh_13QYhuB4gg492', name: 'ops-2026', fingerprint: '6a:0f:3c:91' }],
  userData: { id: 'ud_1cT6WRvn51oJC', description: undefined },
  diskLayout: [
    { role: 'os', count: 2, raidLevel: 'raid-1', filesystem: undefined, mountPoint: undefined },
    { role: 'storage', count: 4, raidLevel: 'raid-0', filesystem: 'ext4', mountPoint: '/var/lib/kafka' },
  ],
  bios: [
    { setting: 'hyperthreading', value: 'true' },
    { setting: 'boot_mode', value: 'uefi' },
    { setting: 'sockets', value: '2' },
  ],
  createdAt: '2026-05-11T14:02:00Z',
}

function baseline(attributes: Record<string, unknown>) {
  return { id: 'bl_2KlNltRYMQQ5l', type: 'baselines', attributes }
}

export const baselines: Documented<Baseline>[] = [
  {
    name: 'for some platforms',
    source: sources.specification,
    wire: baseline({ ...shared, target_type: 'platforms', operating_system: 'debian_12', platforms: [plan] }),
    reads,
  },
  {
    name: 'for all servers, and expecting nothing',
    source: sources.specification,
    wire: baseline({
      name: 'Bare',
      description: null,
      target_type: 'all_servers',
      operating_system: null,
      platforms: [],
      ssh_keys: [],
      user_data: null,
      disk_layout: [],
      bios: {},
      created_at: null,
    }),
    reads: {
      id: 'bl_2KlNltRYMQQ5l',
      name: 'Bare',
      description: undefined,
      targetType: 'all_servers',
      operatingSystem: null,
      platforms: [],
      sshKeys: [],
      userData: undefined,
      diskLayout: [],
      bios: [],
      createdAt: undefined,
    },
  },
  {
    name: 'without the operating system',
    source: middle,
    wire: baseline({ ...shared, target_type: 'platforms', platforms: [plan] }),
    reads: { ...reads, operatingSystem: undefined },
  },
  {
    name: 'of the newest shape: for one plan, and without a target type',
    source: newest,
    wire: baseline({ ...shared, plan }),
    reads: { ...reads, targetType: undefined, operatingSystem: undefined },
  },
  {
    name: 'of the newest shape, for no plan',
    source: newest,
    wire: baseline({ ...shared, plan: null }),
    reads: { ...reads, targetType: undefined, operatingSystem: undefined, platforms: [] },
  },
]
