import { expect, test } from 'vitest'
import { type ChangeKind, type PolicyRule, toGroup } from '../../src/domain/policy.ts'
import { changeKinds } from '../../src/features/index.ts'
import { whoAmI } from '../../src/features/whoami.ts'
import { evacuationKinds } from '../config/evacuation-kinds.ts'
import { fakeApp } from '../fake-app.ts'
import { judging, type People } from '../given/access.ts'
import { minutes, ruleFor } from '../given/request.ts'
import { expectDocument } from '../messages/documents.ts'
import { listingOf, shown } from './listing-of.ts'

const labels: Record<string, string> = {
  'vm.rename': 'renaming a virtual machine',
  'ip.move': 'moving an Elastic IP',
  'ip.evacuate': 'evacuating a server',
  'key.create': 'a new API key',
  'key.rotate': 'rotating an API key',
  'key.revoke': 'revoking an API key',
  'key.extend': 'extending an API key',
}
const catalog = {
  labelOf: (kind: string) => labels[kind] ?? kind,
  kinds: () => [...changeKinds],
  hasProject: (kind: string) => !kind.startsWith('key.'),
  changeIfKnown: () => undefined,
}

/** What `/infra whoami` lists for Ben, who is on call, under these rules. */
function rightsUnder(rules: PolicyRule[], people: Partial<People> = {}, { kinds = [...changeKinds] } = {}) {
  const policy = { rules, bundles: evacuationKinds.bundles }
  const known: Partial<People> = {
    person: async (userId) => ({ userId, standing: 'member', teamIds: ['T0NIMBUS01'] }),
    members: async (ids) => new Map(ids.map((id) => [id, new Set(id === 'S0ONCALL01' ? ['U0BEN00001', 'U0CHI00001'] : [])])),
    channel: async () => 'usual',
    hasBot: async () => true,
    isOpenTo: async () => true,
    ...people,
  }
  return listingOf(whoAmI.create(fakeApp(judging(policy, known), { catalog: { ...catalog, kinds: () => kinds } })).commands[0])
}

const of = (kind: ChangeKind, more: Partial<PolicyRule> = {}) => ruleFor({ changes: [kind], ...more })
const ada = toGroup(['U0ADA00001'])
const storefront = { ids: ['proj_2RBis9AK23gEc'], names: ['Storefront'] }
const two = { anyOf: toGroup(['S0ONCALL01']), allOf: [], approvals: 2 }
const others = { anyOf: toGroup(['U0EVE00001']), allOf: [], approvals: 1 }
const move = of('ip.move', { name: 'moves' })
const unread: Partial<People> = { members: async (ids) => new Map(ids.map((id) => [id, 'unknown'])) }

const office = { name: 'office', days: [1, 2, 3, 4, 5], from: '09:00', to: '17:00', zone: 'Europe/Lisbon' }

/** What is listed of one kind alone. */
async function onlyOf(kind: string, rules: PolicyRule[], people?: Partial<People>): Promise<string> {
  const { rows } = await rightsUnder(rules, people)
  return rows.filter(({ text }) => text.toLowerCase().includes(`${labels[kind]}`.toLowerCase())).join('\n')
}

test('rights as people see them', async () => {
  const byKind = [
    of('vm.rename', { name: 'NO_APPROVAL', approve: undefined }),
    of('ip.move', { name: 'addresses', approve: two, expiresMs: 30 * minutes }),
    of('key.create', {
      name: 'keys',
      request: ada,
      approve: { anyOf: toGroup([]), allOf: ['U0EVE00001', 'S0SECURE01'], approvals: 1 },
    }),
    of('key.rotate', { name: 'elsewhere', channels: ['C0GENERAL1'] }),
  ]
  const byProject = [
    of('ip.move', { name: 'production', projects: storefront, request: ada, breakGlass: true }),
    of('ip.move', { name: 'the rest', approve: others, breakGlass: true, emergency: true }),
  ]
  const unreachable = [of('ip.move', { name: 'here', channels: ['C0OPS00001'], request: ada }), of('ip.move', { name: 'everywhere' })]
  const hostile = { name: '<!channel> & co', projects: { ids: [], names: ['<!here>'] } }
  const failover = of('ip.evacuate', { name: 'failover', request: toGroup([]), alerts: true })

  await expectDocument('rights.md', 'Rights, as `/infra whoami` lists them', [
    ['By kind', shown(await rightsUnder(byKind))],
    ['Without rules', shown(await rightsUnder([]))],
    ['Lockkeeper is not in the channel', shown(await rightsUnder([move], { hasBot: async () => false }))],
    ['The project decides', await onlyOf('ip.move', byProject)],
    ['Other projects have no rule', await onlyOf('ip.move', [of('ip.move', { name: 'storefront', projects: storefront })])],
    ['A rule for projects, for a kind that belongs to none', await onlyOf('key.create', [of('key.create', { projects: storefront })])],
    ['A rule that an earlier one keeps from being reached', await onlyOf('ip.move', unreachable)],
    ['A user group cannot be read', await onlyOf('ip.move', [move], unread)],
    ['In a direct message', await onlyOf('ip.move', [move], { channel: async () => 'direct' })],
    ['Names of rules and projects are text', await onlyOf('ip.move', [of('ip.move', hostile)])],
    ['To evacuate, as to move', await onlyOf('ip.evacuate', [move])],
    ['A window', await onlyOf('ip.move', [of('ip.move', { windows: [office] })])],
    ['A window, and no approval', await onlyOf('ip.move', [of('ip.move', { windows: [office], approve: undefined })])],
    ['An evacuation with a rule of its own', await onlyOf('ip.evacuate', [move, failover])],
  ])
})

test('say that Lockkeeper is not there only if that keeps somebody from requesting', async () => {
  expect((await rightsUnder([move], { hasBot: async () => 'unknown' })).notes).toEqual([])
  expect((await rightsUnder([], { hasBot: async () => false })).notes).toEqual([])
})

test('begin with what may be requested and approved, and have one row for all that is equal', async () => {
  const sentences = async (...rules: PolicyRule[]) => {
    const { title, rows } = await rightsUnder(rules)
    return [String(title).replace(/^.*you can /, ''), rows.length]
  }
  expect(await sentences(ruleFor({ changes: [...changeKinds] }))).toEqual(['request every change, and approve every change.', 1])
  expect(await sentences(of('ip.move', { projects: storefront }), of('key.create', { request: ada, approve: undefined }))).toEqual([
    'request moving an Elastic IP in some projects, evacuating a server in some projects, and approve moving an Elastic IP in some projects, evacuating a server in some projects.',
    4,
  ])
  expect(await sentences()).toEqual(['request nothing, and approve nothing.', 1])
})
