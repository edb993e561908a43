import { describe, expect, test } from 'vitest'
import { type ChangeKind, type PolicyRule, toGroup } from '../../src/domain/policy.ts'
import { changeKinds } from '../../src/features/index.ts'
import { rightsListing, whoAmI } from '../../src/features/whoami.ts'
import type { Listing } from '../../src/slack/listing.ts'
import { evacuationKinds } from '../config/evacuation-kinds.ts'
import { fakeApp } from '../fake-app.ts'
import { accessWith, type People } from '../requests/access-for-test.ts'
import { minutes, ruleFor } from '../requests/request-for-test.ts'
import { listingOf } from './listing-of.ts'

const origin = { teamId: 'T0NIMBUS01', channelId: 'C0OPS00001', userId: 'U0BEN00001', command: '/infra' }

const labels: Record<string, string> = {
  'vm.rename': 'renaming a virtual machine',
  'ip.move': 'moving an Elastic IP',
  'ip.evacuate': 'evacuating a server',
  'key.create': 'a new API key',
  'key.rotate': 'rotating an API key',
  'key.revoke': 'revoking an API key',
}
const catalog = {
  labelOf: (kind: string) => labels[kind] ?? kind,
  kinds: () => [...changeKinds],
  hasProject: (kind: string) => !kind.startsWith('key.'),
}

const wordsOf = ({ warning, title, rows, notes = [] }: Listing) =>
  [...(warning ? [warning] : []), title, ...rows, ...notes].map(({ text }) => text).join('\n\n')

/** Returns the rows of one kind. */
function rowsOf(words: string, kind: string): string {
  return words
    .split('\n\n')
    .filter((part) => part.includes(`\`${kind}\``))
    .join('\n')
}

/** Returns the rights of Ben, who is on call, under these rules. */
async function rightsUnder(rules: PolicyRule[], people: Partial<People> = {}, kinds = [...changeKinds]) {
  const access = accessWith({
    people: {
      person: async (userId) => ({ userId, standing: 'member', teamId: 'T0NIMBUS01' }),
      members: async (ids) => new Map(ids.map((id) => [id, new Set(id === 'S0ONCALL01' ? ['U0BEN00001', 'U0CHI00001'] : [])])),
      channel: async () => 'usual',
      hasBot: async () => true,
      isOpenTo: async () => true,
      ...people,
    },
    policy: { rules, bundles: evacuationKinds.bundles },
    catalog: { ...catalog, kinds: () => kinds, projectOf: () => 'none' },
    noteRefusal: async () => {},
  })
  const listing = rightsListing(await access.rights(origin), origin, catalog.labelOf)
  return { access, listing, words: wordsOf(listing) }
}

const of = (kind: ChangeKind, more: Partial<PolicyRule> = {}) => ruleFor({ changes: [kind], ...more })

describe('the rights of a person', () => {
  test('begin with what keeps them from being used: Lockkeeper cannot post in this channel', async () => {
    const firstOf = async (rules: PolicyRule[], hasBot: boolean | 'unknown') =>
      (await rightsUnder(rules, { hasBot: async () => hasBot })).words.split('\n\n')[0]

    expect(await firstOf([of('ip.move')], false)).toBe(
      ":warning: Lockkeeper isn't in <#C0OPS00001>. Nothing can be requested here until somebody runs `/invite @Lockkeeper`.",
    )
    const { words } = await rightsUnder([of('ip.move')], { hasBot: async () => false })
    expect(words).toContain("Request: no  ·  Lockkeeper isn't in this channel.")
    expect(await firstOf([of('ip.move')], 'unknown')).toBe('What you may request and approve here')
    expect(await firstOf([], false)).toBe('What you may request and approve here')
  })

  test('say where every approval is confirmed in a dialog', async () => {
    const { words } = await rightsUnder([of('ip.move', { confirm: true })])

    expect(words).toContain('1 approval within 4 h, each confirmed in a dialog')
  })

  test('are listed by kind, with the rule, the number of approvals and the time limit', async () => {
    const { words } = await rightsUnder([
      of('vm.rename', { name: 'NO_APPROVAL', approve: undefined }),
      of('ip.move', { name: 'addresses', approve: { anyOf: toGroup(['S0ONCALL01']), allOf: [], approvals: 2 }, expiresMs: 30 * minutes }),
      of('key.create', {
        name: 'keys',
        request: toGroup(['U0ADA00001']),
        approve: { anyOf: toGroup([]), allOf: ['U0EVE00001', 'S0SECURE01'], approvals: 1 },
      }),
      of('key.rotate', { name: 'elsewhere', channels: ['C0GENERAL1'] }),
    ])

    expect(words).toMatchInlineSnapshot(`
      "What you may request and approve here

      :white_check_mark: *Moving an Elastic IP*  ·  \`ip.move\`
      Request: yes  ·  rule “addresses”: every full member can request
      Approve: yes  ·  requests of others, rule “addresses”: <!subteam^S0ONCALL01>  ·  2 approvals within 30 min

      :white_check_mark: *Evacuating a server*  ·  \`ip.evacuate\`
      Request: yes  ·  rule “addresses”: every full member can request
      Approve: yes  ·  requests of others, rule “addresses”: <!subteam^S0ONCALL01>  ·  2 approvals within 30 min

      :white_check_mark: *Renaming a virtual machine*  ·  \`vm.rename\`
      Request: yes  ·  every full member can request
      Approve: not needed  ·  setting \`NO_APPROVAL\`

      :no_entry: *A new API key*  ·  \`key.create\`
      Request: no  ·  You can't request this here. These requesters can: <@U0ADA00001>. Ask one of them, or the people who run Lockkeeper.
      Approve: no  ·  <@U0EVE00001> and <!subteam^S0SECURE01> can  ·  2 approvals within 4 h

      :no_entry: *Rotating an API key*  ·  \`key.rotate\`
      Request: no  ·  No policy rule allows rotating an API key in this channel. Request it in <#C0GENERAL1>.

      :no_entry: *Revoking an API key*  ·  \`key.revoke\`
      Request: no  ·  No policy rule allows revoking an API key in this channel. The people who run Lockkeeper can add one.

      You are <@U0BEN00001> (\`U0BEN00001\`). As a full member of this workspace, you can use every list. These are your rights in <#C0OPS00001>."
    `)
  })

  test('are listed by rule if the project decides', async () => {
    const { words } = await rightsUnder([
      of('ip.move', {
        name: 'production',
        projects: { ids: ['proj_2RBis9AK23gEc'], names: ['Storefront'] },
        request: toGroup(['U0ADA00001']),
        breakGlass: true,
      }),
      of('ip.move', { name: 'the rest', approve: { anyOf: toGroup(['U0EVE00001']), allOf: [], approvals: 1 } }),
    ])

    expect(rowsOf(words, 'ip.move')).toMatchInlineSnapshot(`
      ":no_entry: *Moving an Elastic IP (Storefront, proj_2RBis9AK23gEc)*  ·  \`ip.move\`
      Request: no  ·  You can't request this here. These requesters can: <@U0ADA00001>. Ask one of them, or the people who run Lockkeeper.
      Approve: yes  ·  requests of others, rule “production”: <!subteam^S0ONCALL01>  ·  1 approval within 4 h. In an emergency, press Approve on your own request
      :white_check_mark: *Moving an Elastic IP (all other projects)*  ·  \`ip.move\`
      Request: yes  ·  rule “the rest”: every full member can request
      Approve: no  ·  <@U0EVE00001> can  ·  1 approval within 4 h"
    `)
  })

  test('start with a short answer to what one may request and approve, because a phone cuts off later columns', async () => {
    const { listing } = await rightsUnder([of('ip.move'), of('key.create', { request: toGroup(['U0ADA00001']), approve: undefined })])

    expect(listing.table?.headers.slice(0, 3)).toEqual(['Change', 'Request', 'Approve'])
    expect(listing.table?.rows.map((row) => row.slice(0, 3)).filter(([change]) => change !== 'Evacuating a server')).toEqual([
      ['Moving an Elastic IP', 'yes', 'yes'],
      ['Renaming a virtual machine', 'no', undefined],
      ['A new API key', 'no', 'not needed'],
      ['Rotating an API key', 'no', undefined],
      ['Revoking an API key', 'no', undefined],
    ])
  })

  test('name the projects together with the change, because rows must differ where a phone cuts them off', async () => {
    const { listing } = await rightsUnder([of('ip.move', { projects: { ids: [], names: ['Storefront'] } })])

    expect(listing.table?.rows.map(([change]) => change).filter((change) => String(change).startsWith('Moving'))).toEqual([
      'Moving an Elastic IP (Storefront)',
      'Moving an Elastic IP (all other projects)',
    ])
  })

  test('leave out rules that an earlier rule keeps from being reached', async () => {
    const { words } = await rightsUnder([
      of('ip.move', { name: 'here', channels: ['C0OPS00001'], request: toGroup(['U0ADA00001']) }),
      of('ip.move', { name: 'everywhere' }),
    ])

    expect(words).not.toContain('everywhere')
    expect(words).not.toContain('Request: yes')
  })

  test('leave out rules for projects where changes of the kind belong to none', async () => {
    const { words } = await rightsUnder([of('key.create', { name: 'storefront', projects: { ids: [], names: ['Storefront'] } })])

    expect(words).not.toContain('Storefront')
    expect(rowsOf(words, 'key.create')).toMatchInlineSnapshot(`
      ":no_entry: *A new API key*  ·  \`key.create\`
      Request: no  ·  No policy rule allows a new API key in this channel. The people who run Lockkeeper can add one."
    `)
  })

  test('say that other projects have no rule', async () => {
    const { words } = await rightsUnder([of('ip.move', { name: 'storefront', projects: { ids: [], names: ['Storefront'] } })])

    expect(rowsOf(words, 'ip.move')).toMatchInlineSnapshot(`
      ":white_check_mark: *Moving an Elastic IP (Storefront)*  ·  \`ip.move\`
      Request: yes  ·  rule “storefront”: every full member can request
      Approve: yes  ·  requests of others, rule “storefront”: <!subteam^S0ONCALL01>  ·  1 approval within 4 h
      :no_entry: *Moving an Elastic IP (all other projects)*  ·  \`ip.move\`
      Request: no  ·  No rule covers them."
    `)
  })

  test('to evacuate are those to move an address, until a rule names evacuations', async () => {
    const moves = of('ip.move', { name: 'moves' })
    const failover = of('ip.evacuate', { name: 'failover', request: toGroup([]), alerts: true })
    const evacuating = async (rules: PolicyRule[]) => {
      const { words } = await rightsUnder(rules, {}, evacuationKinds.kinds)
      return words.split('\n\n').find((part) => part.includes('ip.evacuate'))
    }

    expect(await evacuating([moves])).toMatchInlineSnapshot(`
      ":white_check_mark: *Evacuating a server*  ·  \`ip.evacuate\`
      Request: yes  ·  rule “moves”: every full member can request
      Approve: yes  ·  requests of others, rule “moves”: <!subteam^S0ONCALL01>  ·  1 approval within 4 h"
    `)
    expect(await evacuating([moves, failover])).toMatchInlineSnapshot(`
      ":no_entry: *Evacuating a server*  ·  \`ip.evacuate\`
      Request: no  ·  Only alerts can request this here. Ask the people who run Lockkeeper.
      Approve: yes  ·  requests of others, rule “failover”: <!subteam^S0ONCALL01>  ·  1 approval within 4 h"
    `)
  })

  test('have every kind of change, also those without a rule', async () => {
    const { words } = await rightsUnder([])

    for (const kind of changeKinds) expect(words).toContain(`\`${kind}\``)
    expect(words.match(/Request: no {2}· {2}No policy rule/g)).toHaveLength(changeKinds.length)
  })

  test('are shown as unknown if a group cannot be read', async () => {
    const { words } = await rightsUnder([of('ip.move')], { members: async (ids) => new Map(ids.map((id) => [id, 'unknown'])) })

    expect(words).toContain("Approve: unknown  ·  Slack didn't return the members of the user group")
    expect(words).not.toContain('Approve: no')
  })

  test('say in a direct message that changes are requested in channels', async () => {
    const { words } = await rightsUnder([of('ip.move')], { channel: async () => 'direct' })

    expect(words).toContain("You can't request changes in a direct message")
  })

  test('show the names of rules and projects as text', async () => {
    const { words } = await rightsUnder([of('ip.move', { name: '<!channel> & co', projects: { ids: [], names: ['<!here>'] } })])

    expect(words).not.toContain('<!channel>')
    expect(words).not.toContain('<!here>')
  })
})

test('/infra whoami shows the rights of the person in the channel', async () => {
  const { access, listing } = await rightsUnder([of('ip.move')])

  const shown = await listingOf(whoAmI.create(fakeApp({ access, catalog })).commands[0])

  expect(wordsOf(shown)).toBe(wordsOf(listing))
})
