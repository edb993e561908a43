/** Baselines as the wire has them, one of each variety. */
export function wireBaselines(): unknown[] {
  const keys = [
    { id: 'ssh_Ada', name: 'ada@nimbus', fingerprint: 'SHA256:9Xk2mCq0u3xN1bqgJ7sE4tVfYpLwRhZ8aKdTiO5GmPc' },
    { id: 'ssh_Ben', name: 'ben@nimbus', fingerprint: 'SHA256:Lr7Qv1HsWd6YzB3nKx8PfUc2MtEaJg5oR0iTyVb4NwQ' },
  ]
  const baseline = (id: string, attributes: Record<string, unknown>) => ({ id, type: 'baselines', attributes })
  return [
    baseline('bl_standard', {
      name: 'Standard web server',
      description: 'What every server of the shop front is delivered with',
      target_type: 'platforms',
      operating_system: 'ubuntu_24_04_x64_lts',
      platforms: [
        { id: 'plan_c3_small', name: 'c3.small.x86', slug: 'c3-small-x86' },
        { id: 'plan_c3_medium', name: 'c3.medium.x86', slug: 'c3-medium-x86' },
      ],
      ssh_keys: keys,
      user_data: { id: 'ud_base', description: 'Base packages and hardening' },
      disk_layout: [
        { role: 'os', count: 2, raid_level: 'raid-1', filesystem: null, mount_point: null },
        { role: 'storage', count: 4, raid_level: 'raid-0', filesystem: 'ext4', mount_point: '/srv' },
      ],
      bios: { hyperthreading: true, boot_mode: 'uefi', power_profile: 'performance', numa_nodes: 2 },
      created_at: '2026-03-02T10:11:00+00:00',
    }),
    baseline('bl_all', {
      name: 'Everything',
      description: null,
      target_type: 'all_servers',
      operating_system: null,
      platforms: [],
      ssh_keys: keys.slice(0, 1),
      user_data: null,
      disk_layout: [],
      bios: {},
      created_at: null,
    }),
    baseline('bl_database', {
      name: 'Database',
      description: 'Ledger and warehouse',
      target_type: 'custom',
      operating_system: 'debian_12',
      platforms: [],
      ssh_keys: keys,
      user_data: { id: 'ud_db', description: null },
      disk_layout: [
        { role: 'os', count: 2, raid_level: 'raid-1', filesystem: null, mount_point: null },
        { role: 'raw', count: 6, raid_level: null, filesystem: null, mount_point: null },
      ],
      bios: { boot_mode: 'uefi', sriov: { enabled: true, functions: 16 } },
      created_at: '2026-05-20T08:00:00+00:00',
    }),
    baseline('bl_gpu', {
      name: 'GPU nodes',
      description: 'Training',
      target_type: 'by_label',
      operating_system: 'ubuntu24_ml_in_a_box',
      platforms: [],
      ssh_keys: [],
      user_data: null,
      disk_layout: [{ role: 'storage', count: 1, raid_level: null, filesystem: 'ext4', mount_point: '/data' }],
      bios: { above_4g_decoding: true, fan_speed: 0.8 },
      created_at: '2026-08-11T14:45:00+00:00',
    }),
  ]
}
