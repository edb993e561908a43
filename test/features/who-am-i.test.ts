import { describe, expect, test } from 'vitest'
import type { ChangeKind } from '../../src/domain/change-kind.ts'
import { type PolicyRule, toGroup } from '../../src/domain/policy.ts'
import { changeKinds } from '../../src/features/index.ts'
import { whoAmI } from '../../src/features/who-am-i/index.ts'
import { rightsMessage } from '../../src/features/who-am-i/messages.ts'
import { createAccess } from '../../src/requests/access/access.ts'
import type { People } from '../../src/requests/access/standings.ts'
import type { Mrkdwn } from '../../src/slack/text/text.ts'
import { evacuationKinds } from '../config/evacuation-kinds.ts'
import { minutes, ruleFor } from '../requests/request-for-test.ts'

const origin = { teamId: 'T0NIMBUS01', channelId: 'C0OPS00001', userId: 'U0BEN00001', command: '/infra' }

const labels: Record<string, string> = {
  'vm.rename': 'renaming a virtual machine',
  'ip.move': 'moving an Elastic IP',
  'ip.evacuate': 'evacuating a server',
  'key.create': 'a new API key',
  'key.rotate': 'rotating an API key',
  'key.revoke': 'revoking an API key',
}
const catalog = { labelOf: (kind: string) => labels[kind] ?? kind, kinds: () => [...changeKinds] }

/** Returns the rights of Ben, who is on call, under these rules. */
async function rightsUnder(rules: PolicyRule[], people: Partial<People> = {}, kinds = [...changeKinds]) {
  const access = createAccess({
    people: {
      person: async (userId) => ({ userId, standing: 'member', teamId: 'T0NIMBUS01' }),
      members: async (ids) => new Map(ids.map((id) => [id, new Set(id === 'S0ONCALL01' ? ['U0BEN00001', 'U0CHI00001'] : [])])),
      channel: async () => 'usual',
      ...people,
    },
    policy: { rules, bundles: evacuationKinds.bundles },
    homeTeamId: () => 'T0NIMBUS01',
    catalog: { ...catalog, kinds: () => kinds, projectOf: () => 'none' },
    noteRefusal: async () => {},
  })
  return { access, words: rightsMessage(await access.rights(origin), origin, catalog.labelOf).text }
}

const of = (kind: ChangeKind, more: Partial<PolicyRule> = {}) => ruleFor({ changes: [kind], ...more })

describe('the rights of a person', () => {
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
      "You are <@U0BEN00001> (\`U0BEN00001\`), a full member of this workspace, so you may look at everything. In <#C0OPS00001>:

      *Moving an Elastic IP* (\`ip.move\`)
      :white_check_mark: you may ask for it (addresses: every full member may ask)
      :white_check_mark: you may approve it for others (addresses: <!subteam^S0ONCALL01>). It takes 2 approvals within 30 min.

      *Renaming a virtual machine* (\`vm.rename\`)
      :white_check_mark: you may ask for it (NO_APPROVAL: every full member may ask)
      :white_check_mark: it needs no approval (NO_APPROVAL)

      *A new API key* (\`key.create\`)
      :no_entry: You are not among the people who may ask for this here (<@U0ADA00001>). Ask one of them, or the people who run this bot.
      :no_entry: you may not approve it; <@U0EVE00001> and <!subteam^S0SECURE01> may. It takes 2 approvals within 4 h.

      *Rotating an API key* (\`key.rotate\`)
      :no_entry: No rule of the policy lets anybody ask for rotating an API key in this channel, so it is refused. Ask in <#C0GENERAL1>.

      *Revoking an API key* (\`key.revoke\`)
      :no_entry: No rule of the policy lets anybody ask for revoking an API key in this channel, so it is refused. The people who run this bot can add a rule for it."
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

    expect(words.split('\n\n').find((part) => part.includes('ip.move'))).toMatchInlineSnapshot(`
      "*Moving an Elastic IP* (\`ip.move\`)
      :no_entry: In the projects Storefront, proj_2RBis9AK23gEc: You are not among the people who may ask for this here (<@U0ADA00001>). Ask one of them, or the people who run this bot.
      :white_check_mark: you may approve it for others (production: <!subteam^S0ONCALL01>). It takes one approval within 4 h, and in an emergency an approver may approve their own (break-glass).
      :white_check_mark: Otherwise: you may ask for it (the rest: every full member may ask)
      :no_entry: you may not approve it; <@U0EVE00001> may. It takes one approval within 4 h."
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
      "*Evacuating a server* (\`ip.evacuate\`)
      :white_check_mark: you may ask for it (moves: every full member may ask)
      :white_check_mark: you may approve it for others (moves: <!subteam^S0ONCALL01>). It takes one approval within 4 h."
    `)
    expect(await evacuating([moves, failover])).toMatchInlineSnapshot(`
      "*Evacuating a server* (\`ip.evacuate\`)
      :no_entry: Only alerts can request this here. Ask the people who run this bot.
      :white_check_mark: you may approve it for others (failover: <!subteam^S0ONCALL01>). It takes one approval within 4 h."
    `)
  })

  test('have every kind of change, also those without a rule', async () => {
    const { words } = await rightsUnder([])

    for (const kind of changeKinds) expect(words).toContain(`(\`${kind}\`)`)
    expect(words.match(/:no_entry: No rule of the policy/g)).toHaveLength(changeKinds.length)
  })

  test('are shown as unknown if a group cannot be read', async () => {
    const { words } = await rightsUnder([of('ip.move')], { members: async (ids) => new Map(ids.map((id) => [id, 'unknown'])) })

    expect(words).toContain('whether you may approve it is not known: Slack did not tell who is in the user group just now')
    expect(words).not.toContain('you may not approve it')
  })

  test('say in a direct message that changes are requested in channels', async () => {
    const { words } = await rightsUnder([of('ip.move')], { channel: async () => 'direct' })

    expect(words).toContain('Changes cannot be asked for in a direct message')
  })

  test('show the names of rules and projects as text', async () => {
    const { words } = await rightsUnder([of('ip.move', { name: '<!channel> & co', projects: { ids: [], names: ['<!here>'] } })])

    expect(words).not.toContain('<!channel>')
    expect(words).not.toContain('<!here>')
  })
})

test('/infra whoami shows the rights of the person in the channel', async () => {
  const { access, words } = await rightsUnder([of('ip.move')])
  const said: Mrkdwn[] = []

  await whoAmI.create({ access, catalog }).commands[0]?.run({
    slashCommand: {
      deliveryKey: 'd1',
      origin,
      answer: { ephemeral: async () => {}, replace: async () => {} },
      responseUrl: undefined,
      triggerId: '',
    },
    args: [],
    list: async () => {},
    say: async (each) => void said.push(each),
  })

  expect(said.map(({ text }) => text)).toEqual([words])
})
