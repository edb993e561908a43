import { idOf } from './ids.ts'
import type { FixedResource } from './model.ts'

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
