import { expect, test } from 'vitest'
import type { Baseline } from '../../src/account/objects.ts'
import { baselineListing } from '../../src/features/baselines.ts'

const full: Baseline = {
  id: 'bl_14zQYJxvUN6aS',
  name: 'Kafka brokers',
  description: 'Two mirrored disks for the system, the rest for the log.',
  targetType: 'platforms',
  operatingSystem: 'debian_12',
  platforms: [
    { id: 'plan_1Qw0wK7XH7hTo', name: 'm4.metal.large', slug: 'm4-metal-large' },
    { id: 'plan_2yG30IPxCDOjp', name: undefined, slug: 'm4-metal-xlarge' },
  ],
  sshKeys: [
    { id: 'ssh_13QYhuB4gg492', name: 'ops-2026', fingerprint: '6a:0f:3c:91:be:24:77:d8' },
    { id: 'ssh_2JIxOfGb0C8Ma', name: undefined, fingerprint: undefined },
  ],
  userData: { id: 'ud_1cT6WRvn51oJC', description: 'Joins the cluster' },
  diskLayout: [
    { role: 'os', count: 2, raidLevel: 'raid-1', filesystem: undefined, mountPoint: undefined },
    { role: 'storage', count: 4, raidLevel: 'raid-0', filesystem: 'ext4', mountPoint: '/var/lib/kafka' },
    { role: 'raw', count: 1, raidLevel: undefined, filesystem: undefined, mountPoint: undefined },
    { role: 'scratch', count: undefined, raidLevel: undefined, filesystem: undefined, mountPoint: undefined },
  ],
  bios: [
    { setting: 'hyperthreading', value: 'true' },
    { setting: 'pxe_boot', value: 'false' },
    { setting: 'numa_nodes_per_socket', value: '1' },
    { setting: 'power_profile', value: '{"idle":"c1"}' },
  ],
  createdAt: '2026-03-02T10:11:00+00:00',
}

const bare: Baseline = {
  id: 'bl_2KlNltRYMQQ5l',
  name: 'Draft <2027> & later',
  description: undefined,
  targetType: 'by_label',
  operatingSystem: null,
  platforms: [],
  sshKeys: [],
  userData: undefined,
  diskLayout: [],
  bios: [],
  createdAt: undefined,
}

test('shows all members of a baseline in words', () => {
  expect(String(baselineListing([full], []).rows[0])).toMatchInlineSnapshot(`
    "*Kafka brokers*  ·  on m4.metal.large, m4-metal-xlarge  ·  \`bl_14zQYJxvUN6aS\`
    Two mirrored disks for the system, the rest for the log.
    *Operating system:* \`debian_12\`
    *SSH keys:* ops-2026 \`6a:0f:3c:91:be:24:77:d8\`; ssh_2JIxOfGb0C8Ma (no fingerprint)
    *User data:* Joins the cluster \`ud_1cT6WRvn51oJC\`
    *Disks:* 2 disks for the system, RAID 1; 4 disks for storage, RAID 0, ext4 on \`/var/lib/kafka\`; 1 disk raw; disks for scratch
    *BIOS:* \`hyperthreading\` on; \`pxe_boot\` off; \`numa_nodes_per_socket\` 1; \`power_profile\` \`{"idle":"c1"}\`
    *Created:* <!date^1772446260^{time} {date_short_pretty}|2026-03-02 10:11 UTC>"
  `)
})

test('shows a baseline with missing members and an unknown target', () => {
  expect(String(baselineListing([bare], []).rows[0])).toMatchInlineSnapshot(`
    "*Draft &lt;2027&gt; &amp; later*  ·  for \`by_label\`  ·  \`bl_2KlNltRYMQQ5l\`
    *Operating system:* any
    *SSH keys:* none
    *User data:* none
    *Disks:* as delivered
    *BIOS:* as delivered"
  `)
  expect(String(baselineListing([{ ...bare, targetType: 'all_servers' }], []).rows[0])).toContain('all servers')
  expect(String(baselineListing([{ ...bare, targetType: 'custom' }], []).rows[0])).toContain('a custom set of servers')
  expect(String(baselineListing([{ ...bare, targetType: undefined }], []).rows[0])).toContain('target unknown')
})

test('shows the plan of a baseline without a target, and no line for a missing operating system', () => {
  const plan = { id: 'plan_g43BcLTyjTAKP', name: 'g4.h100.large', slug: 'g4-h100-large' }
  const newer = { ...bare, targetType: undefined, operatingSystem: undefined, platforms: [plan] }

  expect(String(baselineListing([newer], []).rows[0])).toMatchInlineSnapshot(`
    "*Draft &lt;2027&gt; &amp; later*  ·  on g4.h100.large  ·  \`bl_2KlNltRYMQQ5l\`
    *SSH keys:* none
    *User data:* none
    *Disks:* as delivered
    *BIOS:* as delivered"
  `)
  expect(baselineListing([newer, full], ['h100']).rows).toHaveLength(1)
})

test('shows plans also with a target that usually has none', () => {
  const shown = (targetType: string) => String(baselineListing([{ ...full, targetType }], []).rows[0]).split('\n')[0]

  expect([shown('all_servers'), shown('custom'), shown('by_label')]).toMatchInlineSnapshot(`
    [
      "*Kafka brokers*  ·  all servers: m4.metal.large, m4-metal-xlarge  ·  \`bl_14zQYJxvUN6aS\`",
      "*Kafka brokers*  ·  a custom set of servers: m4.metal.large, m4-metal-xlarge  ·  \`bl_14zQYJxvUN6aS\`",
      "*Kafka brokers*  ·  for \`by_label\`: m4.metal.large, m4-metal-xlarge  ·  \`bl_14zQYJxvUN6aS\`",
    ]
  `)
})

test('filters by every shown value', () => {
  const names = (words: string[]) => baselineListing([full, bare], words).rows.length
  expect([names(['raid', '1']), names(['6a:0f']), names(['by_label']), names(['nothing'])]).toEqual([1, 1, 1, 0])
})

test('filters by the values as received, also with characters that are escaped when shown', () => {
  const named = { ...bare, name: 'R&D nodes' }
  const names = (words: string[]) => baselineListing([full, bare, named], words).rows.length
  expect([names(['R&D']), names(['<2027>']), names(['amp;']), names(['raid-1'])]).toEqual([1, 1, 0, 1])
})

test('says that baselines are a preview', () => {
  expect(String(baselineListing([], []).notes)).toContain('preview')
  expect(String(baselineListing([], []).empty)).toBe('The team has no baselines.')
})
