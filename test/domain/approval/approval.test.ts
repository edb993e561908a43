import { describe, expect, test } from 'vitest'
import {
  approverRuling,
  breakGlassRuling,
  involvedRuling,
  isForLackOfAnswer,
  type Membership,
  noRule,
  ownerRuling,
  type Person,
  type Place,
  type Ruling,
  readerRuling,
  requesterOfKindRuling,
  requesterRuling,
} from '../../../src/domain/approval.ts'
import { type PolicyRule, toGroup } from '../../../src/domain/policy.ts'
import { groups, ops, person, rule, terms } from '../../given/people.ts'

const oncall = groups({ SONCALL: ['UCHI'] })
const unreadable = groups({ SONCALL: 'unknown' })
const stranger: Person = { userId: 'UBEN', standing: 'member', teamIds: [] }

const move = { kind: 'ip.move', hasProject: true }
const newKey = { kind: 'key.create', hasProject: false }

/** Somebody acts on a request of Ada, under the usual rule. */
const actor = (who: Person, more: Partial<Parameters<typeof approverRuling>[0]> = {}) => ({
  person: who,
  place: ops,
  requesterId: 'UADA',
  rule,
  membership: oncall,
  ...more,
})
const ask = (userId: string, more: Partial<PolicyRule> = {}, membership: Membership = new Map()) =>
  verdict(requesterRuling({ person: person(userId), place: ops, membership }, { ...rule, ...more }))
const askOfKind = (userId: string, rules: PolicyRule[], change = move, place = ops) =>
  verdict(requesterOfKindRuling({ person: person(userId), place, membership: new Map() }, change, { rules }))

/** `APPROVERS via UBEN`, or the code of the denial. */
function verdict(ruling: Ruling): string {
  return ruling.allowed ? `${ruling.grant.rule ?? 'no rule'} via ${ruling.grant.via}` : ruling.denial.code
}

describe('who may decide', () => {
  test.each<[string, Person, Membership, string]>([
    ['an approver by name', person('UBEN'), oncall, 'APPROVERS via UBEN'],
    ['an approver by group', person('UCHI'), oncall, 'APPROVERS via SONCALL'],
    ['another person', person('UDOV'), oncall, 'not-an-approver'],
    ['an approver by name while groups cannot be read', person('UBEN'), unreadable, 'APPROVERS via UBEN'],
    ['a member of a group that cannot be read', person('UCHI'), unreadable, 'group-unknown'],
    ['a member of a group that was not read', person('UCHI'), new Map(), 'group-unknown'],
    ['a person who was removed from the group', person('UCHI'), groups({ SONCALL: [] }), 'not-an-approver'],
    ['an approver who became a guest', person('UBEN', 'guest'), oncall, 'guest'],
    ['an approver who was deactivated', person('UBEN', 'deleted'), oncall, 'deactivated'],
    ['a bot', person('UBEN', 'bot'), oncall, 'bot'],
    ['a machine', person('UBEN', 'machine'), oncall, 'bot'],
    ['a person of another workspace', person('UBEN', 'member', 'T2'), oncall, 'other-workspace'],
    ['a person whose workspace is unknown', stranger, oncall, 'other-workspace'],
    ['a person shared from elsewhere', person('UBEN', 'stranger'), oncall, 'other-workspace'],
    ['a person whom Slack did not report', person('UBEN', 'unknown'), oncall, 'person-unknown'],
  ])('%s', (_, who, membership, expected) => {
    expect(verdict(approverRuling(actor(who, { membership })))).toBe(expected)
  })

  test.each<[string, Partial<Parameters<typeof approverRuling>[0]>, string]>([
    ['never the requester, even as an approver', { requesterId: 'UBEN' }, 'own-request'],
    ['nor by a rule for emergencies', { requesterId: 'UBEN', rule: { ...rule, breakGlass: true } }, 'own-request'],
    ['nobody, if the rule names nobody', { rule: { ...rule, approve: terms([]) } }, 'not-an-approver'],
    ['nobody if no rule matches any more', { rule: undefined }, 'rule-gone'],
    ['nobody if the rule no longer needs an approval', { rule: { ...rule, approve: undefined } }, 'rule-gone'],
  ])('%s', (_, more, expected) => {
    expect(verdict(approverRuling(actor(person('UBEN'), more)))).toBe(expected)
  })

  test('also the people of all_of, whether or not any_of names them', () => {
    const both = { ...rule, approve: terms(['UBEN'], { allOf: ['SNET', 'UEVE'] }) }
    const more = { rule: both, membership: groups({ SNET: ['UCHI'] }) }
    expect(['UBEN', 'UCHI', 'UEVE', 'UDOV'].map((id) => approverRuling(actor(person(id), more)).allowed)).toEqual([true, true, true, false])
  })

  test('also the people who are only escalated to, from the start, and alone in an emergency', () => {
    const escalating = { ...rule, breakGlass: true, approve: terms(['UBEN'], { escalate: { afterMs: 1, to: toGroup(['SLEADS']) } }) }
    const more = { rule: escalating, membership: groups({ SLEADS: ['UCHI'] }) }
    expect(verdict(approverRuling(actor(person('UCHI'), more)))).toBe('APPROVERS via SLEADS')
    expect(verdict(breakGlassRuling(actor(person('UCHI'), { ...more, requesterId: 'UCHI' })))).toBe('APPROVERS via SLEADS')
  })

  test('a denial has the approvers', () => {
    expect(approverRuling(actor(person('UDOV')))).toEqual({ allowed: false, denial: { code: 'not-an-approver', approvers: rule.approve } })
  })
})

describe('who may request', () => {
  test('every full member, or only the named people and the members of named groups that can be read', () => {
    const operators = { request: toGroup(['SOPERATORS']) }
    expect(ask('UDOV')).toBe('APPROVERS via member')
    expect(ask('UADA', { request: toGroup(['UADA']) })).toBe('APPROVERS via UADA')
    expect(ask('UDOV', { request: toGroup(['UADA']) })).toBe('not-a-requester')
    expect(ask('UADA', operators, groups({ SOPERATORS: ['UADA'] }))).toBe('APPROVERS via SOPERATORS')
    expect(ask('UADA', operators, groups({ SOPERATORS: 'unknown' }))).toBe('group-unknown')
  })

  test('only in the channels of the rule, which a denial names once each', () => {
    const rules = [
      { ...rule, channels: ['C2', 'C3'] },
      { ...rule, channels: ['C3'] },
    ]
    expect(noRule({ rules }, move)).toEqual({ code: 'no-rule', kind: 'ip.move', channels: ['C2', 'C3'] })
    expect(askOfKind('UADA', rules)).toBe('no-rule')
    expect(askOfKind('UADA', rules, move, { ...ops, channelId: 'C2' })).toBe('APPROVERS via member')
    expect(askOfKind('UADA', [rule], newKey)).toBe('no-rule')
  })

  test('a denial names no channel whose rule is for projects, if changes of the kind belong to none', () => {
    const projects = { ids: ['proj_1oNqx62cx6bn0'], names: [] }
    const rules = [
      { ...rule, changes: ['key.create'], channels: ['C2'], projects },
      { ...rule, changes: ['key.create'], channels: ['C3'] },
    ]
    expect(noRule({ rules }, newKey)).toEqual({ code: 'no-rule', kind: 'key.create', channels: ['C3'] })
    expect(noRule({ rules: [{ ...rule, projects }] }, move)).toEqual({ code: 'no-rule', kind: 'ip.move', channels: [] })
  })

  test('everybody whom one of the rules of this kind allows, unless an earlier one keeps it from being reached', () => {
    const projects = { ids: ['proj_1oNqx62cx6bn0'], names: [] }
    const [forAda, forBen] = [
      { ...rule, request: toGroup(['UADA']) },
      { ...rule, request: toGroup(['UBEN']) },
    ]
    const may = (rules: PolicyRule[]) => ['UADA', 'UBEN', 'UDOV'].filter((id) => askOfKind(id, rules).includes(' via '))
    expect(may([{ ...forAda, projects }, forBen])).toEqual(['UADA', 'UBEN'])
    expect(may([forBen, forAda])).toEqual(['UBEN'])
  })

  test('alerts only if it names them, and only if people have to approve', () => {
    const judge = (more: Partial<PolicyRule>, standing: Place['standing'] = 'usual') => {
      const alerts = { person: person('alerts', 'machine'), place: { ...ops, standing }, membership: new Map() }
      return verdict(requesterRuling(alerts, { ...rule, ...more }))
    }
    expect(judge({ alerts: true })).toBe('APPROVERS via alerts')
    expect(judge({ alerts: true, request: toGroup(['UADA']) })).toBe('APPROVERS via alerts')
    expect(judge({ request: undefined })).toBe('not-named-by-rule')
    expect(judge({ alerts: true, approve: undefined })).toBe('alerts-need-approval')
    const standings = ['shared', 'unknown', 'direct'] as const
    expect(standings.map((each) => judge({ alerts: true }, each))).toEqual(['shared-channel', 'channel-unknown', 'direct-message'])
  })

  test('a bundle that no rule names to whoever may request its parts, with the channels of these rules', () => {
    const policy = { rules: [{ ...rule, channels: ['C1'] }], bundles: new Map([['ip.evacuate', 'ip.move']]) }
    const evacuation = { kind: 'ip.evacuate', hasProject: true }
    const at = (channelId: string) => ({ person: person('UADA'), place: { ...ops, channelId }, membership: new Map() })

    expect(requesterOfKindRuling(at('C1'), evacuation, policy).allowed).toBe(true)
    const denial = { code: 'no-rule', kind: 'ip.evacuate', channels: ['C1'] }
    expect(requesterOfKindRuling(at('C2'), evacuation, policy)).toEqual({ allowed: false, denial })
  })
})

describe('the kind of channel', () => {
  test.each<[Place['standing'], reads: boolean, requests: boolean, decides: boolean]>([
    ['usual', true, true, true],
    ['unreadable', true, true, true],
    ['none', true, true, true],
    ['direct', true, false, true],
    ['group-direct', true, false, true],
    ['shared', false, false, false],
    ['unknown', false, false, false],
  ])('%s: reading %s, requesting %s, deciding %s', (standing, reads, requests, decides) => {
    const place = { ...ops, standing }
    const own = { place, requesterId: 'UBEN', rule: { ...rule, breakGlass: true } }
    expect(readerRuling(person('UADA'), place).allowed).toBe(reads)
    expect(requesterRuling({ person: person('UADA'), place, membership: oncall }, rule).allowed).toBe(requests)
    expect(askOfKind('UADA', [rule], move, place).includes(' via ')).toBe(requests)
    expect(approverRuling(actor(person('UBEN'), { place })).allowed).toBe(decides)
    expect(breakGlassRuling(actor(person('UBEN'), own)).allowed).toBe(decides)
  })

  test.each<[string, Person, Place]>([
    ['person-unknown', person('UADA', 'unknown'), ops],
    ['guest', person('UADA', 'guest'), ops],
    ['bot', person('UADA', 'bot'), ops],
    ['deactivated', person('UADA', 'deleted'), ops],
    ['other-workspace', person('UADA', 'stranger'), ops],
    ['shared-channel', person('UADA'), { ...ops, standing: 'shared' }],
    ['channel-unknown', person('UADA'), { ...ops, standing: 'unknown' }],
  ])('a denial has its reason and the action that was denied: %s', (code, who, place) => {
    const denied = (action: string) => ({ allowed: false, denial: { code, action } })
    expect(readerRuling(who, place)).toEqual(denied('read'))
    expect(requesterRuling({ person: who, place, membership: oncall }, rule)).toEqual(denied('request'))
    expect(approverRuling(actor(who, { place, requesterId: 'UBEN' }))).toEqual(denied('decide'))
  })

  test('a missing answer of Slack differs from a denial by a rule', () => {
    const isUnknown = (who: Person, more: Parameters<typeof actor>[1] = {}) => {
      const ruling = approverRuling(actor(who, more))
      return !ruling.allowed && isForLackOfAnswer(ruling.denial)
    }
    expect(isUnknown(person('UCHI', 'unknown'))).toBe(true)
    expect(isUnknown(person('UCHI'), { place: { ...ops, standing: 'unknown' } })).toBe(true)
    expect(isUnknown(person('UCHI'), { membership: unreadable })).toBe(true)
    expect(isUnknown(person('UCHI', 'guest'), { membership: unreadable })).toBe(false)
    expect(isUnknown(person('UDOV'))).toBe(false)
  })

  test('a person of another workspace is denied, unless the workspace of the app is unknown', () => {
    expect(readerRuling(person('UEVE', 'member', 'T2'), ops).allowed).toBe(false)
    expect(readerRuling(person('UEVE', 'member', 'T2'), { ...ops, teamId: undefined }).allowed).toBe(true)
    expect(readerRuling(person('UEVE', 'member', 'E1', 'T2', 'T1'), ops).allowed).toBe(true)
    expect(readerRuling(person('UEVE', 'stranger', 'E1', 'T2', 'T1'), ops).allowed).toBe(false)
  })
})

describe('break-glass', () => {
  const breakable = { ...rule, breakGlass: true }

  test.each<[string, Person, Partial<Parameters<typeof approverRuling>[0]>, string]>([
    ['is allowed to an approver', person('UBEN'), {}, 'APPROVERS via UBEN'],
    ['is allowed to a member of a group', person('UCHI'), {}, 'APPROVERS via SONCALL'],
    ['is refused for the request of another person', person('UBEN'), { requesterId: 'UADA' }, 'only-requester-may-break-glass'],
    ['is refused if the rule does not allow it', person('UBEN'), { rule }, 'own-request'],
    ['is refused to a person who is not an approver, as without emergency approvals', person('UADA'), {}, 'own-request'],
    ['is refused to a member of a group that cannot be read', person('UCHI'), { membership: unreadable }, 'group-unknown'],
    ['is refused to a guest', person('UBEN', 'guest'), {}, 'guest'],
    ['is refused to a person whom Slack did not report', person('UBEN', 'unknown'), {}, 'person-unknown'],
    ['is refused if the rule needs no approval', person('UBEN'), { rule: { ...breakable, approve: undefined } }, 'rule-gone'],
    ['is refused if no rule matches any more', person('UBEN'), { rule: undefined }, 'own-request'],
    [
      'is refused to an approver under only one of two rules',
      person('UBEN'),
      { rule: { ...breakable, approve: { ...terms(['UBEN']), also: [terms(['UEVE'])] } } },
      'own-request',
    ],
  ])('%s', (_, who, more, expected) => {
    expect(verdict(breakGlassRuling(actor(who, { requesterId: who.userId, rule: breakable, ...more })))).toBe(expected)
  })
})

test.each<[string, Person, owner: string, tracker: string]>([
  ['the requester', person('UADA'), 'no rule via requester', 'no rule via requester'],
  ['an approver', person('UCHI'), 'only-requester-may-issue', 'APPROVERS via SONCALL'],
  ['another person', person('UDOV'), 'only-requester-may-issue', 'not-involved'],
  ['a requester who became a guest', person('UADA', 'guest'), 'guest', 'guest'],
])('who may take a secret, and stop the tracking: %s', (_, who, owner, tracker) => {
  expect(verdict(ownerRuling(actor(who), 'issue'))).toBe(owner)
  expect(verdict(ownerRuling(actor(who), 'withdraw'))).toBe(owner.replace('issue', 'withdraw'))
  expect(verdict(involvedRuling(actor(who), 'track'))).toBe(tracker)
})
