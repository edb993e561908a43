import { describe, expect, test } from 'vitest'
import type { App } from '../../src/app.ts'
import type { AuditNote } from '../../src/audit/chain.ts'
import type { Person } from '../../src/domain/approval.ts'
import { type Bundles, type PolicyRule, type Project, toGroup } from '../../src/domain/policy.ts'
import { admit, authorize, gate, ReasonRequired } from '../../src/rights/authorize.ts'
import { may, reasonTerms, ruleOf, tally } from '../../src/rights/judge.ts'
import { Refusal } from '../../src/slack/errors.ts'
import { fakeApp } from '../fake-app.ts'
import { judging, type People } from '../given/access.ts'
import { trusting } from '../given/audit.ts'
import { requestFor, ruleFor } from '../given/request.ts'

const ada = { teamId: 'T0NIMBUS01', channelId: 'C0OPS00001', userId: 'U0ADA00001', command: '/infra' }
const ben = { ...ada, userId: 'U0BEN00001' }
const project = { id: 'proj_1oNqx62cx6bn0', name: 'Storefront' }
const approveBy = (anyOf: string[], approvals = 1) => ({ anyOf: toGroup(anyOf), allOf: [], approvals })

interface Workspace {
  rules?: PolicyRule[]
  /** By user id. Everybody else is a full member. */
  standings?: Record<string, Person['standing']>
  teams?: Record<string, string>
  groups?: Record<string, string[] | 'unknown'>
  channel?: Awaited<ReturnType<People['channel']>>
  projectNow?: Project
  /** What Slack says of Lockkeeper, and of the person, in the channel. */
  inChannel?: { bot?: boolean | 'unknown'; person?: boolean | 'unknown' }
  bundles?: Bundles
}

/** The checks over a workspace, with what they read from Slack and noted in the audit. */
function setUp({
  rules = [ruleFor()],
  standings = {},
  teams = {},
  groups = {},
  channel = 'usual',
  projectNow = project,
  inChannel: { bot = true, person: isOpen = true } = {},
  bundles = new Map(),
}: Workspace = {}) {
  const members: Record<string, string[] | 'unknown'> = { S0ONCALL01: ['U0BEN00001', 'U0CHI00001'], ...groups }
  const noted: AuditNote[] = []
  const reads: string[] = []
  const people: People = {
    person: async (userId, { fresh = false } = {}) => {
      reads.push(`${fresh ? 'fresh ' : ''}${userId}`)
      return { userId, standing: standings[userId] ?? 'member', teamIds: [teams[userId] ?? 'T0NIMBUS01'] }
    },
    members: async (ids, purpose) => {
      reads.push(...ids.map((id) => `${id} for a ${purpose}`))
      return new Map(
        ids.map((id) => {
          const found = members[id] ?? []
          return [id, found === 'unknown' ? found : new Set(found)]
        }),
      )
    },
    channel: async () => channel,
    hasBot: async () => bot,
    isOpenTo: async () => isOpen,
  }
  const app = fakeApp(
    judging({ rules, bundles }, people, async (note) => void noted.push(note)),
    {
      catalog: { projectOf: () => projectNow, labelOf: (kind) => kind, kinds: () => ['ip.move'], hasProject: () => true },
      signatures: trusting,
      errors: { of: () => () => {} },
    },
  )
  return { app, noted, reads }
}

const why = (work: Promise<unknown>) =>
  work.then(
    () => 'not refused',
    (error: Error) => error.message,
  )

describe('a refusal', () => {
  test('is thrown in words, and noted with person, act, request and cause', async () => {
    const { app, noted } = setUp()
    const request = requestFor()

    const words = await why(authorize(app, { ...ben, userId: 'U0DEE00001' }, { to: 'decide', request }))

    expect(words).toBe("You aren't an approver of this. These are: <!subteam^S0ONCALL01>.")
    expect(noted).toEqual([
      {
        act: 'refused',
        by: 'U0DEE00001',
        requestId: request.id,
        kind: 'ip.move',
        attempted: 'decide',
        causes: [{ code: 'not-an-approver', approvers: approveBy(['S0ONCALL01']) }],
      },
    ])
  })

  test('is noted also for a command that only reads', async () => {
    const { app, noted } = setUp({ standings: { U0ADA00001: 'guest' } })

    await why(authorize(app, ada, { to: 'read', what: 'command ip list' }))

    expect(noted).toMatchObject([{ act: 'refused', by: 'U0ADA00001', text: 'command ip list', channelId: 'C0OPS00001', attempted: 'read' }])
  })

  test('is not noted if only the rights of a person are listed', async () => {
    const { app, noted } = setUp({ rules: [ruleFor({ request: toGroup(['U0BEN00001']) })] })

    expect(await may(app, ada, ['read', 'ip.move', 'key.create', 'ip.move'])).toEqual(['read'])
    expect(await may(app, ben, ['read', 'ip.move', 'key.create'])).toEqual(['read', 'ip.move'])
    expect(noted).toEqual([])
  })
})

test.each<[Workspace['inChannel'], Parameters<typeof gate>[3], string]>([
  [{ bot: false }, undefined, 'not refused'],
  [{ bot: false }, 'opened', 'not-in-channel'],
  [{ bot: false }, 'channel-chosen', 'not-in-channel'],
  [{ bot: false }, 'sent', 'not refused'],
  [{ bot: 'unknown' }, 'opened', 'not refused'],
  // Whoever types a command in a channel is in it.
  [{ person: false }, undefined, 'not refused'],
  [{ person: false }, 'opened', 'not refused'],
  [{ person: false }, 'channel-chosen', 'foreign-channel'],
  [{ person: false }, 'sent', 'foreign-channel'],
  [{ person: 'unknown' }, 'channel-chosen', 'foreign-channel'],
  [{ person: 'unknown' }, 'sent', 'not refused'],
])('a request from a channel of which Slack says %j, by %s: %s', async (inChannel, formStep, expected) => {
  const { app } = setUp({ inChannel })

  const denied = await gate(app, ada, 'ip.move', formStep).then(
    () => 'not refused',
    (error: unknown) => (error instanceof Refusal ? error.code : 'another error'),
  )

  expect(denied).toBe(expected)
})

describe('a decision', () => {
  test('is checked by the person and the groups as Slack has them now', async () => {
    const { app, reads } = setUp()

    expect(await authorize(app, ben, { to: 'decide', request: requestFor() })).toEqual({ rule: 'APPROVERS', via: 'S0ONCALL01' })

    expect(reads).toEqual(['fresh U0BEN00001', 'S0ONCALL01 for a refusal', 'S0ONCALL01 for a decision'])
  })

  test('is refused by members that were read up to a minute ago, without another read', async () => {
    const { app, reads } = setUp()
    const request = requestFor()

    expect(await why(authorize(app, { ...ben, userId: 'U0DOV00001' }, { to: 'decide', request }))).toMatch(/^You aren't an approver/)
    expect(await why(authorize(app, ada, { to: 'decide', request }))).toMatch(/^You requested this/)

    expect(reads.filter((read) => read.startsWith('S'))).toEqual(['S0ONCALL01 for a refusal'])
  })

  test('is checked by the channel of the request, not by the place of the button', async () => {
    const rules = [ruleFor({ channels: ['C0OPS00001'] }), ruleFor({ name: 'elsewhere', approve: approveBy(['U0EVE00001']) })]
    const { app } = setUp({ rules })
    const onHome = { ...ben, channelId: '' }

    expect(await authorize(app, onHome, { to: 'decide', request: requestFor() })).toEqual({ rule: 'APPROVERS', via: 'S0ONCALL01' })
  })

  test('is checked by the current rule, and denied if there is none or the project is unknown', async () => {
    const gone = setUp({ rules: [] })
    const unsure = setUp({
      rules: [ruleFor({ projects: { ids: ['proj_1oNqx62cx6bn0'], names: [] } }), ruleFor({ approve: undefined })],
      projectNow: 'unknown',
    })

    for (const { app } of [gone, unsure])
      expect(await why(authorize(app, ben, { to: 'decide', request: requestFor() }))).toMatch(/^No policy rule covers this anymore/)
  })

  test('counts only approvals of people who may approve now', async () => {
    const rules = [ruleFor({ approve: approveBy(['S0ONCALL01'], 2) })]
    const { app } = setUp({ rules, groups: { S0ONCALL01: ['U0CHI00001'] } })

    expect(await tally(app, requestFor(), ['U0BEN00001', 'U0CHI00001'])).toMatchObject({ enough: false, missing: 1, needed: 2 })
  })

  test('counts no approval of somebody who was deactivated since, also if Slack said otherwise a moment ago', async () => {
    const { app, reads } = setUp({
      rules: [ruleFor({ approve: approveBy(['U0BEN00001', 'U0CHI00001'], 2) })],
      standings: { U0BEN00001: 'deleted' },
    })

    expect(await tally(app, requestFor(), ['U0BEN00001', 'U0CHI00001'])).toMatchObject({ enough: false, missing: 1 })
    expect(reads).toContain('fresh U0BEN00001')
  })
})

const draft = { input: {}, facts: {} }

describe('a request', () => {
  async function admitWith(app: App, by = ada, where: Project = project) {
    return admit(app, by, { kind: 'ip.move', project: where, requester: await gate(app, by, 'ip.move'), reason: undefined, draft })
  }
  const admitted = (workspace: Workspace, by = ada, where: Project = project) => admitWith(setUp(workspace).app, by, where)

  test('is admitted under the first rule that covers it', async () => {
    const rules = [
      ruleFor({ name: 'billing', projects: { ids: ['proj_2RBis9AK23gEc'], names: [] } }),
      ruleFor({ name: 'storefront', projects: { ids: [], names: ['Storefront'] } }),
      ruleFor(),
    ]

    expect(await admitted({ rules })).toMatchObject({ rule: { name: 'storefront' }, unchecked: [] })
  })

  test('counts the approvers who are only escalated to', async () => {
    const escalate = { afterMs: 1, to: toGroup(['U0LEA00001']) }
    expect(await admitted({ rules: [ruleFor({ approve: { ...approveBy(['S0ONCALL01'], 3), escalate } })] })).toMatchObject({
      unchecked: [],
    })
  })

  test.each<[string, Workspace, string]>([
    ['no rule covers its project', { rules: [ruleFor({ projects: { ids: ['proj_2RBis9AK23gEc'], names: [] } })] }, 'no-rule'],
    ['its rule does not name the requester', { rules: [ruleFor({ request: toGroup(['U0BEN00001']) })] }, 'not-a-requester'],
    ['the rule names no approver', { rules: [ruleFor({ approve: approveBy([]) })] }, 'too-few-approvers'],
    ['its group is empty', { groups: { S0ONCALL01: [] } }, 'too-few-approvers'],
    ['only the requester is in the group', { groups: { S0ONCALL01: ['U0ADA00001'] } }, 'too-few-approvers'],
    ['all approvers are guests or gone', { standings: { U0BEN00001: 'guest', U0CHI00001: 'deleted' } }, 'too-few-approvers'],
    ['all approvers are of another workspace', { teams: { U0BEN00001: 'T0OTHER001', U0CHI00001: 'T0OTHER001' } }, 'too-few-approvers'],
    ['more approvals are needed than people', { rules: [ruleFor({ approve: approveBy(['S0ONCALL01'], 3) })] }, 'too-few-approvers'],
    [
      'the requester would have to approve',
      { rules: [ruleFor({ approve: approveBy(['U0ADA00001', 'U0BEN00001'], 2) })] },
      'too-few-approvers',
    ],
    [
      'one person is in both groups that must approve',
      { rules: [ruleFor({ approve: { ...approveBy([]), allOf: ['SX', 'SY'] } })], groups: { SX: ['U1'], SY: ['U1'] } },
      'too-few-approvers',
    ],
  ])('is refused at once if %s', async (_, workspace, code) => {
    const { app, noted } = setUp(workspace)

    await expect(admitWith(app)).rejects.toThrow()

    expect(noted).toMatchObject([
      { act: 'refused', kind: 'ip.move', channelId: 'C0OPS00001', teamId: 'T0NIMBUS01', by: 'U0ADA00001', attempted: 'request' },
    ])
    expect(noted.flatMap(({ causes = [] }) => causes.map(({ code }) => code))).toEqual([code])
  })

  test('is refused if the rule depends on a project that is not known', async () => {
    const rules = [ruleFor({ name: 'production', projects: { ids: ['proj_1oNqx62cx6bn0'], names: [] } }), ruleFor({ approve: undefined })]

    expect(await why(admitted({ rules }, ada, 'unknown'))).toMatch(/couldn't read the project for the rule “production”/)
  })

  test('is admitted if the requester is the only approver and the rule allows break-glass', async () => {
    const breakGlass = (names: string[]) => ({
      rules: [ruleFor({ approve: approveBy(names), breakGlass: true })],
      standings: { U0BEN00001: 'deleted' as const },
    })

    expect(await why(admitted(breakGlass(['U0ADA00001', 'U0BEN00001'])))).toBe('not refused')
    expect(await why(admitted(breakGlass(['U0BEN00001'])))).toMatch(/ needs 1 approver besides you/)
  })

  test('is admitted with a finding if Slack does not answer', async () => {
    const { unchecked: groups } = await admitted({ groups: { S0ONCALL01: 'unknown' } })
    const { unchecked: people } = await admitted({ standings: { U0BEN00001: 'unknown' } })
    const { unchecked: channel } = await admitted({ channel: 'unreadable' })

    expect([groups, people, channel].flat().map(({ code }) => code)).toEqual([
      'approvers-unknown',
      'approvers-unknown',
      'channel-unreadable',
    ])
  })

  test('is judged by the facts from the gate, which are read once', async () => {
    const rules = [ruleFor({ request: toGroup(['S0OPERATE1']), approve: undefined })]
    const { app, reads } = setUp({ rules, groups: { S0OPERATE1: ['U0ADA00001'] } })

    expect(await admitWith(app)).toMatchObject({ rule: { name: 'APPROVERS' } })

    expect(reads).toEqual(['fresh U0ADA00001', 'S0OPERATE1 for a refusal', 'S0OPERATE1 for a request'])
  })

  test('is never judged by the facts of another person or another channel', async () => {
    const { app } = setUp()
    const requester = await gate(app, ben, 'ip.move')
    const requested = { kind: 'ip.move' as const, project, requester, reason: undefined, draft }

    await expect(admit(app, ada, requested)).rejects.toThrow('a requester was judged for another place')
    await expect(admit(app, { ...ben, channelId: 'C0OTHER001' }, requested)).rejects.toThrow('a requester was judged for another place')
  })

  test('is refused if the gate read the groups of another kind of change', async () => {
    const rules = [ruleFor({ changes: ['vm.rename'] }), ruleFor({ request: toGroup(['S0OPERATE1']) })]
    const { app } = setUp({ rules, groups: { S0OPERATE1: ['U0ADA00001'] } })
    const requester = await gate(app, ada, 'vm.rename')

    expect(await why(admit(app, ada, { kind: 'ip.move', project, requester, reason: undefined, draft }))).toMatch(
      /^Slack didn't return the members of the user group/,
    )
  })

  test('needs a reason where its rule requires one, and only once everything else allows it', async () => {
    const rules = [ruleFor({ reason: [{ rule: 'production' }], projects: { ids: [project.id], names: [] } }), ruleFor()]
    const { app } = setUp({ rules })
    const requested = { kind: 'ip.move' as const, requester: await gate(app, ada, 'ip.move'), draft }
    const elsewhere = { id: 'proj_2RBis9AK23gEc' }

    await expect(admit(app, ada, { ...requested, project, reason: undefined })).rejects.toThrow('The rule “production” requires a reason.')
    await expect(admit(app, ada, { ...requested, project, reason: '\u200b ' })).rejects.toBeInstanceOf(ReasonRequired)
    expect(await admit(app, ada, { ...requested, project, reason: 'OPS-123' })).toMatchObject({ rule: rules[0] })
    expect(await admit(app, ada, { ...requested, project: elsewhere, reason: undefined })).toMatchObject({ rule: rules[1] })
    expect(await why(admit(app, ada, { ...requested, project: 'unknown', reason: 'OPS-123' }))).toMatch(/couldn't read the project/)
    expect(await why(admitted({ rules: [ruleFor({ reason: [{ rule: 'production' }], approve: approveBy([]) })] }))).not.toContain('reason')
  })

  test('needs a match of each pattern that decides, in the text that people see', async () => {
    const move = ruleFor({ name: 'moves', reason: [{ rule: 'moves', pattern: 'OPS-\\d+' }] })
    const evacuation = ruleFor({ changes: ['ip.evacuate'], reason: [{ rule: 'evacuations', pattern: '^CHG' }] })
    const { app } = setUp({ rules: [evacuation, move], bundles: new Map([['ip.evacuate', 'ip.move']]) })
    const requester = await gate(app, ada, 'ip.evacuate')
    const refusalOf = (reason: string) => why(admit(app, ada, { kind: 'ip.evacuate', project, requester, reason, draft }))

    expect(await refusalOf('web-1 burns')).toBe('The rule “evacuations” requires a reason with a match of `^CHG`.')
    expect(await refusalOf('CHG-1')).toBe('The rule “moves” requires a reason with a match of `OPS-\\d+`.')
    expect(await refusalOf('CHG-1, O\u200bPS-\u200b2')).toBe('not refused')
  })

  test('surely needs a reason in a channel only if every rule that can apply requires one, and a match only if all require the same', () => {
    const termsOf = (...reasons: { pattern?: string }[][]) => {
      const rules = reasons.map((reason, index) => {
        const name = `rule ${index}`
        const projects = index < reasons.length - 1 ? { ids: [`proj_${index}`], names: [] } : undefined
        return ruleFor({ name, projects, reason: reason.map((terms) => ({ rule: name, ...terms })) })
      })
      return reasonTerms(setUp({ rules }).app, 'ip.move', ada.channelId)
    }
    const [required, ops, chg] = [[{}], [{ pattern: 'OPS' }], [{ pattern: 'CHG' }]]

    expect(termsOf(required, required)).toEqual({ rule: 'rule 1' })
    expect(termsOf([], required)).toBeUndefined()
    expect(termsOf(required, [])).toBeUndefined()
    expect(termsOf()).toBeUndefined()
    expect(termsOf(ops, ops)).toEqual({ rule: 'rule 1', pattern: 'OPS' })
    expect(termsOf(ops, chg)).toEqual({ rule: 'rule 1' })
    expect(termsOf(required, ops)).toEqual({ rule: 'rule 1' })
  })

  test('needs no approvers if it needs no approval', async () => {
    expect(await admitted({ rules: [ruleFor({ approve: undefined })] })).toMatchObject({ unchecked: [] })
  })
})

describe('what alerts request', () => {
  const alerts = { ...ada, userId: 'alerts' }
  const rules = [ruleFor({ alerts: true, request: toGroup([]), breakGlass: true })]
  const request = requestFor({ origin: alerts })

  async function admitted({ app }: ReturnType<typeof setUp>) {
    return admit(app, alerts, {
      kind: 'ip.move',
      project,
      requester: await gate(app, alerts, 'ip.move'),
      reason: 'web-1 is down',
      draft,
    })
  }

  test('is admitted under a rule that names them, without asking Slack who they are', async () => {
    const world = setUp({ rules })

    expect(await admitted(world)).toMatchObject({ rule: { name: 'APPROVERS' }, unchecked: [] })
    expect(world.reads).not.toContain('fresh alerts')
  })

  test.each<[string, PolicyRule, RegExp]>([
    ['a rule for everyone', ruleFor(), /the setting `APPROVERS` doesn't name alerts/],
    ['a rule for others', ruleFor({ request: toGroup(['U0ADA00001']) }), /the setting `APPROVERS` doesn't name alerts/],
    ['a rule without approval', ruleFor({ alerts: true, approve: undefined }), /the setting `APPROVERS` needs no approval/],
    ['a rule whose approvers are gone', ruleFor({ alerts: true, approve: approveBy(['S0GONE0001']) }), / needs 1 approver\./],
  ])('is refused under %s, and noted', async (_, rule, expected) => {
    const world = setUp({ rules: [rule] })

    expect(await why(admitted(world))).toMatch(expected)
    expect(world.noted).toMatchObject([{ act: 'refused', by: 'alerts', kind: 'ip.move' }])
  })

  test('is withdrawn by its approvers alone, and nothing else is done as alerts', async () => {
    const { app } = setUp({ rules })

    expect(await authorize(app, ben, { to: 'withdraw', request })).toMatchObject({ via: expect.any(String) })
    expect(await why(authorize(app, ada, { to: 'withdraw', request }))).toMatch(/^Only its approvers/)
    expect(await why(authorize(app, alerts, { to: 'withdraw', request }))).toMatch(/^Bots can't/)
    expect(await why(authorize(app, alerts, { to: 'read' }))).toMatch(/^Bots can't use Lockkeeper/)
  })
})

describe('a machine of the policy', () => {
  const machine = { ...ada, userId: 'machine:ci' }
  const own = requestFor({ origin: machine })
  // What the policy does not take: it names the machine as an approver. A group of Slack does, too.
  const rule = { request: toGroup([]), machines: [machine.userId], approve: approveBy([machine.userId, 'S0ONCALL01']), breakGlass: true }
  const { app } = setUp({ rules: [ruleFor(rule)], groups: { S0ONCALL01: [machine.userId] } })

  test.each<[to: 'decide' | 'break-glass' | 'issue' | 'track']>([['decide'], ['break-glass'], ['issue'], ['track']])(
    'never may %s, neither alone nor as one of the approvers',
    async (to) => {
      for (const request of [own, requestFor()]) expect(await why(authorize(app, machine, { to, request }))).toMatch(/^Bots can't/)
    },
  )

  test('neither reads as a person, nor freezes, and withdraws only what it requested', async () => {
    for (const to of ['read', 'freeze', 'unfreeze'] as const) expect(await why(authorize(app, machine, { to }))).toMatch(/^Bots can't/)
    expect(await authorize(app, machine, { to: 'withdraw', request: own })).toEqual({ via: 'requester' })
    for (const userId of ['U0ADA00001', 'alerts', 'machine:agent'])
      expect(await why(authorize(app, machine, { to: 'withdraw', request: requestFor({ origin: { ...ada, userId } }) }))).not.toBe(
        'not refused',
      )
  })
})

describe('an evacuation', () => {
  const bundles = new Map([['ip.evacuate', 'ip.move']])
  const request = requestFor({ kind: 'ip.evacuate' })
  const evacuations = (more: Partial<PolicyRule> = {}) => ruleFor({ name: 'failover', changes: ['ip.evacuate'], ...more })

  async function admittedBy(rules: PolicyRule[], where: Project = project) {
    const { app } = setUp({ rules, bundles })
    const requester = await gate(app, ada, 'ip.evacuate')
    return (await admit(app, ada, { kind: 'ip.evacuate', project: where, requester, reason: undefined, draft })).rule.name
  }

  test('is admitted by its own rule, and needs the approvals of that for the moves in it, too', async () => {
    const rules = [evacuations({ approve: approveBy(['U0EVE00001']) }), ruleFor()]
    const { app } = setUp({ rules, bundles })

    expect(await admittedBy(rules)).toBe('failover')
    expect(ruleOf(app, request)).toMatchObject({ name: 'failover', with: [{ name: 'APPROVERS', approvals: 1 }] })
    expect(await tally(app, request, ['U0EVE00001'])).toMatchObject({ enough: false, missing: 1, counted: [1, 0] })
    expect(await tally(app, request, ['U0BEN00001'])).toMatchObject({ enough: false, missing: 1, counted: [0, 1] })
    expect(await tally(app, request, ['U0BEN00001', 'U0EVE00001'])).toMatchObject({ enough: true, counted: [1, 1] })
  })

  test('is refused while the project is not known that the rule of the moves depends on', async () => {
    const rules = [evacuations(), ruleFor({ projects: { ids: ['proj_1oNqx62cx6bn0'], names: [] } })]

    expect(await why(admittedBy(rules, 'unknown'))).toMatch(/couldn't read the project/)
    expect(ruleOf(setUp({ rules, bundles, projectNow: 'unknown' }).app, request)).toBeUndefined()
  })
})
