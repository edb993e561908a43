import { describe, expect, test } from 'vitest'
import type { App } from '../../src/app.ts'
import { type Project, toGroup } from '../../src/domain/policy.ts'
import { admit, authorize, gate, ReasonRequired } from '../../src/rights/authorize.ts'
import { may, reasonTerms, ruleOf, tally } from '../../src/rights/judge.ts'
import { Refusal } from '../../src/slack/errors.ts'
import { requestFor, ruleFor } from '../given/request.ts'
import { ada, approveBy, ben, project, setUp, type Workspace } from './workspace.ts'

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

  test('counts the approvers who are only escalated to', async () => {
    const escalate = { afterMs: 1, to: toGroup(['U0LEA00001']) }
    expect(await admitted({ rules: [ruleFor({ approve: { ...approveBy(['S0ONCALL01'], 3), escalate } })] })).toMatchObject({
      unchecked: [],
    })
  })

  test.each<[string, Workspace]>([
    ['only the requester is in the group', { groups: { S0ONCALL01: ['U0ADA00001'] } }],
    ['all approvers are guests or gone', { standings: { U0BEN00001: 'guest', U0CHI00001: 'deleted' } }],
    ['all approvers are of another workspace', { teams: { U0BEN00001: ['T0OTHER001'], U0CHI00001: ['T0OTHER001'] } }],
    ['more approvals are needed than people', { rules: [ruleFor({ approve: approveBy(['S0ONCALL01'], 3) })] }],
    ['the requester would have to approve', { rules: [ruleFor({ approve: approveBy(['U0ADA00001', 'U0BEN00001'], 2) })] }],
    [
      'one person is in both groups that must approve',
      { rules: [ruleFor({ approve: { ...approveBy([]), allOf: ['SX', 'SY'] } })], groups: { SX: ['U1'], SY: ['U1'] } },
    ],
  ])('is refused at once if approvers are too few: %s', async (_, workspace) => {
    const { app, noted } = setUp(workspace)

    await expect(admitWith(app)).rejects.toThrow()

    expect(noted).toMatchObject([
      { act: 'refused', kind: 'ip.move', channelId: 'C0OPS00001', teamId: 'T0NIMBUS01', by: 'U0ADA00001', attempted: 'request' },
    ])
    expect(noted.flatMap(({ causes = [] }) => causes.map(({ code }) => code))).toEqual(['too-few-approvers'])
  })

  test('says so if the others who may approve are too few, and the rule lets its requester approve it alone', async () => {
    const breakGlass = (names: string[], approvals: number) => ({
      rules: [ruleFor({ approve: approveBy(names, approvals), breakGlass: true })],
    })
    const warned = async (...given: [string[], number]) => (await admitted(breakGlass(...given))).warnings.map(({ code }) => code)

    expect(await warned(['U0ADA00001', 'U0BEN00001'], 2)).toEqual(['too-few-others'])
    expect(await warned(['U0ADA00001', 'U0BEN00001'], 1)).toEqual([])
    expect(await warned(['U0ADA00001', 'U0BEN00001', 'U0CHI00001'], 2)).toEqual([])
    // Alone, they have to be an approver under each rule.
    const [own, also] = [approveBy(['U0ADA00001', 'U0BEN00001'], 2), [approveBy(['U0BEN00001'])]]
    expect(await why(admitted({ rules: [ruleFor({ approve: { ...own, also }, breakGlass: true })] }))).toMatch(
      / needs 2 approvers besides you/,
    )
  })

  test('is admitted if the requester is the only approver and the rule allows break-glass', async () => {
    const breakGlass = (names: string[]) => ({
      rules: [ruleFor({ approve: approveBy(names), breakGlass: true })],
      standings: { U0BEN00001: 'deleted' as const },
    })

    expect(await why(admitted(breakGlass(['U0ADA00001', 'U0BEN00001'])))).toBe('not refused')
    expect(await why(admitted(breakGlass(['U0BEN00001'])))).toMatch(/ needs 1 approver besides you/)
  })

  test.each([
    [['U0ADA00001', 'U0BEN00001'], / needs 1 approver with a passkey besides you\. Ask <@U0BEN00001> to add one/],
    [['U0ADA00001'], / needs 1 approver besides you\. Lockkeeper's operators can add some\./],
  ])('that nobody else can confirm is refused with those who may approve, but never the requester: %j', async (names, words) => {
    const rules = [ruleFor({ approve: approveBy(names), confirmBy: 'passkey' })]
    expect(await why(admitted({ rules }))).toMatch(words)
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
})

describe('a machine', () => {
  const machine = { ...ada, userId: 'machine:ci' }
  // What the policy does not take: it names the machine as an approver. A group of Slack does, too.
  const rule = { machines: [machine.userId], approve: approveBy([machine.userId, 'S0ONCALL01'], 2), breakGlass: true }
  const { app, reads } = setUp({
    rules: [ruleFor(rule)],
    groups: { S0ONCALL01: [machine.userId, ben.userId] },
    standings: { 'machine:ci': 'unknown' },
  })

  test('never decides, neither alone nor as one of the approvers', async () => {
    for (const request of [requestFor({ origin: machine }), requestFor()])
      for (const to of ['decide', 'break-glass', 'issue', 'track'] as const)
        expect(await why(authorize(app, machine, { to, request }))).toMatch(/^Bots can't/)
    expect(await tally(app, requestFor(), [machine.userId, ben.userId])).toMatchObject({ enough: false, missing: 1 })
  })

  test('is admitted without asking Slack who it is', async () => {
    reads.length = 0
    expect(await gate(app, machine, 'ip.move')).toMatchObject({ person: { standing: 'machine' } })
    expect(reads).not.toContain('fresh machine:ci')
  })
})

test('an approval of an evacuation counts under its own rule and under that of the moves in it', async () => {
  const own = ruleFor({ name: 'failover', changes: ['ip.evacuate'], approve: approveBy(['U0EVE00001']) })
  const { app } = setUp({ rules: [own, ruleFor()], bundles: new Map([['ip.evacuate', 'ip.move']]) })
  const request = requestFor({ kind: 'ip.evacuate' })

  expect(ruleOf(app, request)).toMatchObject({ name: 'failover', with: [{ name: 'APPROVERS', approvals: 1 }] })
  expect(await tally(app, request, ['U0EVE00001'])).toMatchObject({ enough: false, missing: 1, counted: [1, 0] })
  expect(await tally(app, request, ['U0BEN00001', 'U0EVE00001'])).toMatchObject({ enough: true, counted: [1, 1] })
})
