import { describe, expect, test } from 'vitest'
import {
  approverRuling,
  breakGlassRuling,
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
  trackerRuling,
} from '../../../src/domain/approval.ts'
import { type PolicyRule, toGroup } from '../../../src/domain/policy.ts'
import { groups, ops, person, rule, terms } from '../people-for-test.ts'

const oncall = groups({ SONCALL: ['UCHI'] })
const unreadable = groups({ SONCALL: 'unknown' })

const move = { kind: 'ip.move', hasProject: true }
const newKey = { kind: 'key.create', hasProject: false }

const denied = (denial: object) => ({ allowed: false, denial })
const codeOf = (ruling: Ruling) => (ruling.allowed ? 'allowed' : ruling.denial.code)

describe('who may decide', () => {
  test.each([
    ['an approver by name', person('UBEN'), oncall, true],
    ['an approver by group', person('UCHI'), oncall, true],
    ['another person', person('UDOV'), oncall, false],
    ['an approver by name while groups cannot be read', person('UBEN'), unreadable, true],
    ['a member of a group that cannot be read', person('UCHI'), unreadable, false],
    ['a member of a group that was not read', person('UCHI'), new Map() as Membership, false],
    ['a person who was removed from the group', person('UCHI'), groups({ SONCALL: [] }), false],
    ['an approver who became a guest', person('UBEN', 'guest'), oncall, false],
    ['an approver who was deactivated', person('UBEN', 'deleted'), oncall, false],
    ['a bot', person('UBEN', 'bot'), oncall, false],
    ['a person of another workspace', person('UBEN', 'member', 'T2'), oncall, false],
    ['a person whose workspace is unknown', { userId: 'UBEN', standing: 'member', teamId: undefined } as Person, oncall, false],
    ['a person shared from elsewhere', person('UBEN', 'stranger'), oncall, false],
    ['a person whom Slack did not report', person('UBEN', 'unknown'), oncall, false],
  ])('%s', (_, who, membership, allowed) => {
    expect(approverRuling({ person: who, place: ops, requesterId: 'UADA', rule, membership }).allowed).toBe(allowed)
  })

  test('never the requester, even as an approver', () => {
    expect(approverRuling({ person: person('UBEN'), place: ops, requesterId: 'UBEN', rule, membership: oncall })).toEqual(
      denied({ code: 'own-request' }),
    )
  })

  test('nobody, if the rule names nobody', () => {
    const nobody = { ...rule, approve: terms([]) }
    expect(approverRuling({ person: person('UBEN'), place: ops, requesterId: 'UADA', rule: nobody, membership: oncall }).allowed).toBe(
      false,
    )
  })

  test.each([
    ['if no rule matches any more', undefined],
    ['if the rule no longer needs an approval', { ...rule, approve: undefined }],
  ])('nobody %s', (_, without) => {
    expect(approverRuling({ person: person('UBEN'), place: ops, requesterId: 'UADA', rule: without, membership: oncall })).toEqual(
      denied({ code: 'rule-gone' }),
    )
  })

  test('also the people of all_of, whether or not any_of names them', () => {
    const both = { ...rule, approve: terms(['UBEN'], { allOf: ['SNET', 'UEVE'] }) }
    const membership = groups({ SNET: ['UCHI'] })
    const allowed = ['UBEN', 'UCHI', 'UEVE', 'UDOV'].map(
      (id) => approverRuling({ person: person(id), place: ops, requesterId: 'UADA', rule: both, membership }).allowed,
    )
    expect(allowed).toEqual([true, true, true, false])
  })

  test('a grant has the rule, and the person or the group that the rule names', () => {
    const grantOf = (userId: string) =>
      approverRuling({ person: person(userId), place: ops, requesterId: 'UADA', rule, membership: oncall })
    expect(grantOf('UCHI')).toEqual({ allowed: true, grant: { rule: 'APPROVERS', via: 'SONCALL' } })
    expect(grantOf('UBEN')).toEqual({ allowed: true, grant: { rule: 'APPROVERS', via: 'UBEN' } })
  })

  test('a denial has the approvers', () => {
    expect(approverRuling({ person: person('UDOV'), place: ops, requesterId: 'UADA', rule, membership: oncall })).toEqual(
      denied({ code: 'not-an-approver', approvers: rule.approve }),
    )
  })

  test('a group that cannot be read has its own denial', () => {
    expect(approverRuling({ person: person('UCHI'), place: ops, requesterId: 'UADA', rule, membership: unreadable })).toEqual(
      denied({ code: 'group-unknown' }),
    )
  })
})

describe('who may request', () => {
  test('every full member, if the rule names nobody', () => {
    expect(requesterRuling({ person: person('UDOV'), place: ops, membership: new Map() }, rule)).toEqual({
      allowed: true,
      grant: { rule: 'APPROVERS', via: 'member' },
    })
  })

  test.each(['guest', 'bot', 'deleted', 'stranger', 'unknown'] as const)('never: %s', (standing) => {
    expect(requesterRuling({ person: person('UDOV', standing), place: ops, membership: new Map() }, rule).allowed).toBe(false)
    expect(readerRuling(person('UDOV', standing), ops).allowed).toBe(false)
  })

  test('only the named people, if the rule names some', () => {
    const named = { ...rule, request: toGroup(['UADA']) }
    expect(requesterRuling({ person: person('UADA'), place: ops, membership: new Map() }, named).allowed).toBe(true)
    expect(requesterRuling({ person: person('UDOV'), place: ops, membership: new Map() }, named)).toEqual(
      denied({ code: 'not-a-requester', requesters: named.request }),
    )
  })

  test('no member of a group that cannot be read', () => {
    const named = { ...rule, request: toGroup(['SOPERATORS']) }
    expect(requesterRuling({ person: person('UADA'), place: ops, membership: groups({ SOPERATORS: 'unknown' }) }, named).allowed).toBe(
      false,
    )
    expect(requesterRuling({ person: person('UADA'), place: ops, membership: groups({ SOPERATORS: ['UADA'] }) }, named).allowed).toBe(true)
  })

  test('only in the channels of the rule', () => {
    const policy = { rules: [{ ...rule, channels: ['C2'] }] }
    expect(requesterOfKindRuling({ person: person('UADA'), place: ops, membership: new Map() }, move, policy)).toEqual(
      denied({ code: 'no-rule', kind: 'ip.move', channels: ['C2'] }),
    )
    expect(
      requesterOfKindRuling({ person: person('UADA'), place: { ...ops, channelId: 'C2' }, membership: new Map() }, move, policy).allowed,
    ).toBe(true)
  })

  test('nobody in a direct message, also not in one with several people', () => {
    for (const standing of ['direct', 'group-direct'] as const) {
      const place: Place = { channelId: 'D1', teamId: 'T1', standing }
      expect(requesterRuling({ person: person('UADA'), place, membership: new Map() }, rule)).toEqual(denied({ code: 'direct-message' }))
      expect(requesterOfKindRuling({ person: person('UADA'), place, membership: new Map() }, move, { rules: [rule] })).toEqual(
        denied({ code: 'direct-message' }),
      )
    }
  })

  test('everybody whom one of the rules of this kind allows, because the project decides later which rule applies', () => {
    const policy = {
      rules: [
        { ...rule, projects: { ids: ['proj_1oNqx62cx6bn0'], names: [] }, request: toGroup(['UADA']) },
        { ...rule, request: toGroup(['UBEN']) },
      ],
    }
    const ask = (userId: string) =>
      requesterOfKindRuling({ person: person(userId), place: ops, membership: new Map() }, move, policy).allowed
    expect([ask('UADA'), ask('UBEN'), ask('UDOV')]).toEqual([true, true, false])
  })

  test('nobody, if the kind has no rule', () => {
    expect(requesterOfKindRuling({ person: person('UADA'), place: ops, membership: new Map() }, newKey, { rules: [rule] })).toEqual(
      denied({ code: 'no-rule', kind: 'key.create', channels: [] }),
    )
  })

  test('alerts only if it names them, and only if people have to approve', () => {
    const alerts = person('alerts', 'machine')
    const judge = (more: Partial<PolicyRule>) =>
      requesterRuling({ person: alerts, place: ops, membership: new Map() }, { ...rule, ...more })

    expect(judge({ alerts: true })).toEqual({ allowed: true, grant: { rule: 'APPROVERS', via: 'alerts' } })
    expect(judge({ alerts: true, request: toGroup(['UADA']) }).allowed).toBe(true)
    expect(judge({ request: undefined })).toEqual(denied({ code: 'alerts-not-named', rule: 'APPROVERS' }))
    expect(judge({ alerts: true, approve: undefined })).toEqual(denied({ code: 'alerts-need-approval', rule: 'APPROVERS' }))
  })

  test('no alerts in a channel that is shared or cannot be read', () => {
    for (const standing of ['shared', 'unknown', 'direct'] as const)
      expect(
        requesterRuling(
          { person: person('alerts', 'machine'), place: { ...ops, standing }, membership: new Map() },
          { ...rule, alerts: true },
        ).allowed,
      ).toBe(false)
  })

  test('a bundle that no rule names to whoever may request its parts, with the channels of these rules', () => {
    const policy = { rules: [{ ...rule, channels: ['C1'] }], bundles: new Map([['ip.evacuate', 'ip.move']]) }

    expect(
      requesterOfKindRuling(
        { person: person('UADA'), place: ops, membership: new Map() },
        { kind: 'ip.evacuate', hasProject: true },
        policy,
      ).allowed,
    ).toBe(true)
    expect(
      requesterOfKindRuling(
        { person: person('UADA'), place: { ...ops, channelId: 'C2' }, membership: new Map() },
        { kind: 'ip.evacuate', hasProject: true },
        policy,
      ),
    ).toEqual(denied({ code: 'no-rule', kind: 'ip.evacuate', channels: ['C1'] }))
  })

  test('a denial names each channel with a rule once', () => {
    const policy = {
      rules: [
        { ...rule, channels: ['C2', 'C3'] },
        { ...rule, channels: ['C3'] },
      ],
    }
    expect(noRule(policy, move)).toEqual({ code: 'no-rule', kind: 'ip.move', channels: ['C2', 'C3'] })
  })

  test('a denial names no channel whose rule is for projects, if changes of the kind belong to none', () => {
    const policy = {
      rules: [
        { ...rule, changes: ['key.create'], channels: ['C2'], projects: { ids: ['proj_1oNqx62cx6bn0'], names: [] } },
        { ...rule, changes: ['key.create'], channels: ['C3'] },
      ],
    }
    expect(noRule(policy, newKey)).toEqual({ code: 'no-rule', kind: 'key.create', channels: ['C3'] })
  })

  test('nobody by a rule that an earlier one keeps from being reached', () => {
    const policy = {
      rules: [
        { ...rule, request: toGroup(['UBEN']) },
        { ...rule, request: toGroup(['UADA']) },
      ],
    }
    expect(requesterOfKindRuling({ person: person('UADA'), place: ops, membership: new Map() }, move, policy).allowed).toBe(false)
  })
})

describe('the kind of channel', () => {
  const ada = person('UADA')

  test.each([
    ['usual', true],
    ['direct', true],
    ['group-direct', true],
    ['none', true],
    ['unreadable', true],
    ['shared', false],
    ['unknown', false],
  ] as const)('reading in a channel with the standing %s: %s', (standing, allowed) => {
    expect(readerRuling(ada, { ...ops, standing }).allowed).toBe(allowed)
  })

  test.each([
    ['usual', true],
    ['direct', false],
    ['group-direct', false],
    ['unreadable', true],
    ['shared', false],
    ['unknown', false],
  ] as const)('requesting in a channel with the standing %s: %s', (standing, allowed) => {
    expect(requesterRuling({ person: ada, place: { ...ops, standing }, membership: oncall }, rule).allowed).toBe(allowed)
  })

  test.each([
    ['usual', true],
    ['unreadable', true],
    ['shared', false],
    ['unknown', false],
  ] as const)('deciding in a channel with the standing %s: %s', (standing, allowed) => {
    const place: Place = { ...ops, standing }
    expect(approverRuling({ person: person('UBEN'), place, requesterId: 'UADA', rule, membership: oncall }).allowed).toBe(allowed)
    expect(
      breakGlassRuling({ person: person('UBEN'), place, requesterId: 'UBEN', rule: { ...rule, breakGlass: true }, membership: oncall })
        .allowed,
    ).toBe(allowed)
  })

  test('each reason has its own code, and the action that was denied', () => {
    const standings: [Person, Place][] = [
      [person('UADA', 'unknown'), ops],
      [person('UADA', 'guest'), ops],
      [person('UADA', 'bot'), ops],
      [person('UADA', 'deleted'), ops],
      [person('UADA', 'stranger'), ops],
      [ada, { ...ops, standing: 'shared' }],
      [ada, { ...ops, standing: 'unknown' }],
    ]
    const codes = ['person-unknown', 'guest', 'bot', 'deactivated', 'other-workspace', 'shared-channel', 'channel-unknown']

    expect(standings.map(([who, place]) => readerRuling(who, place))).toEqual(codes.map((code) => denied({ code, action: 'read' })))
    expect(standings.map(([who, place]) => requesterRuling({ person: who, place, membership: oncall }, rule))).toEqual(
      codes.map((code) => denied({ code, action: 'request' })),
    )
    expect(standings.map(([who, place]) => approverRuling({ person: who, place, requesterId: 'UBEN', rule, membership: oncall }))).toEqual(
      codes.map((code) => denied({ code, action: 'decide' })),
    )
  })

  test('a missing answer of Slack differs from a denial by a rule', () => {
    const isUnknown = (who: Person, place: Place, membership: Membership) => {
      const ruling = approverRuling({ person: who, place, requesterId: 'UADA', rule, membership })
      return !ruling.allowed && isForLackOfAnswer(ruling.denial)
    }
    expect(isUnknown(person('UCHI', 'unknown'), ops, oncall)).toBe(true)
    expect(isUnknown(person('UCHI'), { ...ops, standing: 'unknown' }, oncall)).toBe(true)
    expect(isUnknown(person('UCHI'), ops, unreadable)).toBe(true)
    expect(isUnknown(person('UCHI', 'guest'), ops, unreadable)).toBe(false)
    expect(isUnknown(person('UDOV'), ops, oncall)).toBe(false)
  })

  test('a person of another workspace is denied, unless the workspace of the app is unknown', () => {
    expect(readerRuling(person('UEVE', 'member', 'T2'), ops).allowed).toBe(false)
    expect(readerRuling(person('UEVE', 'member', 'T2'), { ...ops, teamId: undefined }).allowed).toBe(true)
  })
})

describe('break-glass', () => {
  const breakable = { ...rule, breakGlass: true }

  test('lets an approver approve their own request', () => {
    const grantOf = (userId: string) =>
      breakGlassRuling({ person: person(userId), place: ops, requesterId: userId, rule: breakable, membership: oncall })
    expect(grantOf('UBEN')).toEqual({ allowed: true, grant: { rule: 'APPROVERS', via: 'UBEN' } })
    expect(grantOf('UCHI')).toEqual({ allowed: true, grant: { rule: 'APPROVERS', via: 'SONCALL' } })
  })

  test('lets nobody approve the request of another person alone', () => {
    const denial = { code: 'only-requester-may-break-glass', requester: 'UADA' }
    expect(breakGlassRuling({ person: person('UBEN'), place: ops, requesterId: 'UADA', rule: breakable, membership: oncall })).toEqual(
      denied(denial),
    )
  })

  test.each([
    ['if the rule does not allow it', person('UBEN'), rule, oncall],
    ['for a person who is not an approver', person('UADA'), breakable, oncall],
    ['for a member of a group that cannot be read', person('UCHI'), breakable, unreadable],
    ['for a guest', person('UBEN', 'guest'), breakable, oncall],
    ['for a person whom Slack did not report', person('UBEN', 'unknown'), breakable, oncall],
    ['if the rule needs no approval', person('UBEN'), { ...breakable, approve: undefined }, oncall],
    ['if no rule matches any more', person('UBEN'), undefined, oncall],
  ])('is refused %s', (_, who, under, membership) => {
    expect(breakGlassRuling({ person: who, place: ops, requesterId: who.userId, rule: under, membership }).allowed).toBe(false)
  })

  test('tells a requester who is not an approver that others approve it, as without emergency approvals', () => {
    const denial = { code: 'own-request' }
    expect(breakGlassRuling({ person: person('UADA'), place: ops, requesterId: 'UADA', rule: breakable, membership: oncall })).toEqual(
      denied(denial),
    )
  })

  test('does not allow the normal approval of an own request', () => {
    expect(approverRuling({ person: person('UBEN'), place: ops, requesterId: 'UBEN', rule: breakable, membership: oncall }).allowed).toBe(
      false,
    )
  })
})

describe('an action of the requester alone', () => {
  test('is allowed to the requester', () => {
    expect(ownerRuling({ person: person('UADA'), place: ops, requesterId: 'UADA' }, 'withdraw')).toEqual({
      allowed: true,
      grant: { via: 'requester' },
    })
  })

  test.each(['issue', 'withdraw'] as const)('is denied to others: %s', (wants) => {
    expect(ownerRuling({ person: person('UBEN'), place: ops, requesterId: 'UADA' }, wants)).toEqual(
      denied({ code: `only-requester-may-${wants}`, requester: 'UADA' }),
    )
  })

  test('is denied to a requester who became a guest', () => {
    expect(codeOf(ownerRuling({ person: person('UADA', 'guest'), place: ops, requesterId: 'UADA' }, 'issue'))).toBe('guest')
  })
})

describe('who may stop the tracking', () => {
  const track = (who: Person) => trackerRuling({ person: who, place: ops, requesterId: 'UADA', rule, membership: oncall })

  test('the requester and the approvers', () => {
    expect(track(person('UADA'))).toEqual({ allowed: true, grant: { via: 'requester' } })
    expect(track(person('UCHI'))).toEqual({ allowed: true, grant: { rule: 'APPROVERS', via: 'SONCALL' } })
  })

  test('no other person, and no requester who became a guest', () => {
    expect(codeOf(track(person('UDOV')))).toBe('not-involved')
    expect(codeOf(track(person('UADA', 'guest')))).toBe('guest')
  })
})
