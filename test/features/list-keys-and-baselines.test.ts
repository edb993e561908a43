import { expect, test } from 'vitest'
import type { ApiKey, Baseline } from '../../src/account/objects.ts'
import { baselineListing } from '../../src/features/baselines.ts'
import { apiKeyListing } from '../../src/features/keys/list.ts'
import { expectDocument } from '../messages/documents.ts'
import { wholeList } from '../whole-list.ts'
import { shown } from './listing-of.ts'

const day = 24 * 3_600_000
const now = Date.parse('2026-11-20T12:00:00Z')
const ago = (ms: number) => new Date(now - ms).toISOString()
/** A key that was made so long ago and never used. */
const keyMade = (ms: number, more: Partial<ApiKey> = {}): ApiKey => ({
  id: 'tok_9ZXm2eMd1nvsF',
  name: 'ci',
  tokenLastSlice: undefined,
  readOnly: true,
  allowedIps: ['203.0.113.7'],
  createdAt: ago(ms),
  updatedAt: undefined,
  lastUsedAt: undefined,
  user: undefined,
  ...more,
})
const own = { tokenLastSlice: '2daaa' }
const keyListing = (keys: ApiKey[], ...words: string[]) => apiKeyListing(wholeList(keys), words, { now, ownLastSlice: '2daaa' })

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

test('keys and baselines as people see them', async () => {
  const lineBreaks = 'x\n:large_green_circle: *Done.* API key prod was revoked, and no longer works.'
  const user = { id: 'user_1', email: 'eve@example.com\u2028:key: *prod*' }
  const keys: [string, ApiKey][] = [
    ['A name and an owner with line breaks', keyMade(day, { name: lineBreaks, user, readOnly: undefined })],
    ['Unknown allowed addresses', keyMade(day, { readOnly: false, allowedIps: undefined })],
    ['Never used, and minutes old', keyMade(300_000)],
    ['Never used, and one day old', keyMade(day)],
    ['Never used, and its age is not shown', keyMade(0, { createdAt: undefined })],
    ['Rotated a short while ago, so that its use is not shown', keyMade(400 * day, { updatedAt: ago(300_000) })],
    ['Rotated days ago, and never used', keyMade(400 * day, { updatedAt: ago(2 * day) })],
    ['Not used for long', keyMade(300 * day, { lastUsedAt: ago(200 * day) })],
    ['The key that Lockkeeper uses, whatever the account shows of its use', keyMade(300 * day, { ...own, lastUsedAt: ago(200 * day) })],
    ['The key that Lockkeeper uses, with other risks', keyMade(800 * day, { ...own, readOnly: false, allowedIps: [] })],
    ['Created by Lockkeeper for somebody', keyMade(day, { name: 'ci [U0ADA00001 0123456789ab]' })],
  ]
  const h100 = { id: 'plan_g43BcLTyjTAKP', name: 'g4.h100.large', slug: 'g4-h100-large' }
  const baselines: [string, Partial<Baseline>][] = [
    ['with all members', full],
    ['with missing members and an unknown target', {}],
    ['for all servers', { targetType: 'all_servers' }],
    ['for a set of servers, with plans', { targetType: 'custom', platforms: full.platforms }],
    ['with an unknown target, with plans', { platforms: full.platforms }],
    ['without a target', { targetType: undefined }],
    ['in the newer shape', { targetType: undefined, operatingSystem: undefined, platforms: [h100] }],
  ]
  await expectDocument('keys-and-baselines.md', 'Lists of API keys and baselines', [
    ...keys.map(([name, key]): [string, string] => [`API keys: ${name}`, shown(keyListing([key]))]),
    ...baselines.map(([name, more]): [string, string] => [
      `A baseline ${name}`,
      String(baselineListing(wholeList([{ ...bare, ...more }]), []).rows[0]),
    ]),
    ['No baselines', shown(baselineListing(wholeList([]), []))],
  ])
})

test('what needs attention stands next to the name, where a phone shows it, and *For* is there only if a key is for somebody', () => {
  const headersOf = (key: ApiKey) => keyListing([key]).table?.headers.slice(0, 3)

  expect(headersOf(keyMade(day, { tokenLastSlice: 'x7Qz' }))).toEqual(['Name', 'Needs attention', 'Token ends in'])
  expect(headersOf(keyMade(day, { name: 'ci [U0ADA00001 0123456789ab]' }))).toEqual(['Name', 'Needs attention', 'For'])
})

test('keys that should have ended come first, by their record, or by their name if Redis lost it', () => {
  const end = (day: string, id: string, label: string) =>
    keyMade(20 * 24 * 3_600_000, { id, name: `${label} [U0ADA00001 0123456789ab until ${day}T10:00Z]` })
  const keys = [
    keyMade(800 * day, { id: 'tok_old', name: 'old', readOnly: false, allowedIps: [] }),
    end('2026-11-20', 'tok_lost', 'lost'),
    end('2025-12-04', 'tok_longer', 'lost-longer'),
    end('2026-11-21', 'tok_later', 'later'),
    end('2026-11-20', 'tok_extended', 'extended'),
    end('2026-11-21', 'tok_stuck', 'stuck'),
    end('2026-11-20', 'tok_ending', 'ending'),
    end('2026-11-20', 'tok_kept', 'kept'),
    end('2026-11-27', 'tok_soon', 'soon'),
    end('2026-11-27', 'tok_replaced', 'replaced'),
    end('2026-11-21', 'tok_minutes', 'minutes'),
  ]
  const since = now - 20 * day
  const ends = new Map([
    ['tok_extended', { end: now + 8 * day, since }],
    ['tok_stuck', { end: now - 2 * 3_600_000, since }],
    ['tok_ending', { end: now - 60_000, since }],
    ['tok_kept', { end: now - 2 * 3_600_000, since, keptUntil: now + 22 * 3_600_000 }],
    ['tok_soon', { end: now + 6 * day, since }],
    ['tok_minutes', { end: now + 600_000, since: now - 60_000 }],
    ['tok_replaced', { end: now + 6 * day, since, isReplaced: true as const }],
  ])
  const { rows } = apiKeyListing(wholeList(keys), [], { now, ends, ownLastSlice: '' })
  const attention = (text: unknown) => /Needs attention: ([^·\n]*) {2}·/.exec(String(text))?.[1]
  expect(
    rows.map((row) => [
      /(?:old|lost-longer|lost|later|extended|stuck|ending|kept|soon|minutes|replaced)/.exec(String(row))?.[0],
      attention(row),
    ]),
  ).toEqual([
    ['lost', 'should have ended on 20 Nov, no use shown'],
    ['lost-longer', 'should have ended on 4 Dec 2025, no use shown'],
    ['stuck', 'should have ended on 20 Nov, no use shown'],
    ['old', 'no use shown, 2 years old, full access from any IP'],
    ['ending', 'past its end, no use shown'],
    ['kept', 'past its end, no use shown'],
    ['soon', 'ends soon, no use shown'],
    ['minutes', 'ends soon, no use shown'],
    ['later', 'no use shown'],
    ['extended', 'no use shown'],
    ['replaced', 'no use shown'],
  ])
  expect(apiKeyListing(wholeList(keys), ['ends', 'soon'], { now, ends, ownLastSlice: '' }).rows).toHaveLength(2)
})

test('words find keys by what Lockkeeper says of them, and baselines by the values as received', () => {
  expect([['lockkeeper'], ['read-only'], ['attention']].map((words) => keyListing([keyMade(day, own)], ...words).rows.length)).toEqual([
    1, 1, 0,
  ])
  const named = { ...bare, name: 'R&D nodes' }
  const found = (...words: string[]) => baselineListing(wholeList([full, bare, named]), words).rows.length
  expect([found('raid', '1'), found('6a:0f'), found('by_label'), found('nothing')]).toEqual([1, 1, 2, 0])
  expect([found('R&D'), found('<2027>'), found('amp;')]).toEqual([1, 1, 0])
})
