import { describe, expect, test } from 'vitest'
import {
  judgeApprover,
  judgeBreakGlass,
  judgeOwner,
  judgeReader,
  judgeRequester,
  judgeRequesterOfKind,
  judgeTracker,
  noRule,
} from '../../src/domain/approval.ts'
import { isForLackOfAnswer } from '../../src/domain/denial.ts'
import type { Membership, Person, Place } from '../../src/domain/people.ts'
import { toGroup } from '../../src/domain/policy.ts'
import type { Ruling } from '../../src/domain/ruling.ts'
import { groups, ops, person, rule, terms } from './people-for-test.ts'

const oncall = groups({ SONCALL: ['UCHI'] })
const untold = groups({ SONCALL: 'unknown' })

const denied = (denial: object) => ({ allowed: false, denial })
const codeOf = (ruling: Ruling) => (ruling.allowed ? 'allowed' : ruling.denial.code)

describe('who may decide', () => {
  test.each([
    ['an approver by name', person('UBEN'), oncall, true],
    ['an approver by group', person('UCHI'), oncall, true],
    ['somebody else', person('UDOV'), oncall, false],
    ['an approver by name while groups cannot be read', person('UBEN'), untold, true],
    ['a member of a group that cannot be read', person('UCHI'), untold, false],
    ['a member of a group that was not looked up', person('UCHI'), new Map() as Membership, false],
    ['somebody who was taken out of the group', person('UCHI'), groups({ SONCALL: [] }), false],
    ['an approver who became a guest', person('UBEN', 'guest'), oncall, false],
    ['an approver who was deactivated', person('UBEN', 'deleted'), oncall, false],
    ['a bot', person('UBEN', 'bot'), oncall, false],
    ['a person of another workspace', person('UBEN', 'member', 'T2'), oncall, false],
    ['a person whose workspace Slack does not tell', { userId: 'UBEN', standing: 'member', teamId: undefined } as Person, oncall, false],
    ['a person shared from elsewhere', person('UBEN', 'stranger'), oncall, false],
    ['somebody of whom Slack does not tell', person('UBEN', 'unknown'), oncall, false],
  ])('%s', (_, who, membership, allowed) => {
    expect(judgeApprover(who, ops, 'UADA', rule, membership).allowed).toBe(allowed)
  })

  test('the requester never, even as an approver', () => {
    expect(judgeApprover(person('UBEN'), ops, 'UBEN', rule, oncall)).toEqual(denied({ code: 'own-request' }))
  })

  test('with nobody named, nobody', () => {
    const nobody = { ...rule, approve: terms([]) }
    expect(judgeApprover(person('UBEN'), ops, 'UADA', nobody, oncall).allowed).toBe(false)
  })

  test.each([
    ['where no rule covers it any more', undefined],
    ['where the rule asks for no approval any more', { ...rule, approve: undefined }],
  ])('nobody %s', (_, without) => {
    expect(judgeApprover(person('UBEN'), ops, 'UADA', without, oncall)).toEqual(denied({ code: 'rule-gone' }))
  })

  test('also those who must be heard, whether or not they are among the others', () => {
    const both = { ...rule, approve: terms(['UBEN'], { allOf: ['SNET', 'UEVE'] }) }
    const membership = groups({ SNET: ['UCHI'] })
    const allowed = ['UBEN', 'UCHI', 'UEVE', 'UDOV'].map((id) => judgeApprover(person(id), ops, 'UADA', both, membership).allowed)
    expect(allowed).toEqual([true, true, true, false])
  })

  test('the rule that allowed it is named, and the person or the group that it names', () => {
    const grantOf = (userId: string) => judgeApprover(person(userId), ops, 'UADA', rule, oncall)
    expect(grantOf('UCHI')).toEqual({ allowed: true, grant: { rule: 'APPROVERS', via: 'SONCALL' } })
    expect(grantOf('UBEN')).toEqual({ allowed: true, grant: { rule: 'APPROVERS', via: 'UBEN' } })
  })

  test('a refusal names who can', () => {
    expect(judgeApprover(person('UDOV'), ops, 'UADA', rule, oncall)).toEqual(denied({ code: 'not-an-approver', approvers: rule.approve }))
  })

  test('a refusal because a group cannot be read does not say that they are no approver', () => {
    expect(judgeApprover(person('UCHI'), ops, 'UADA', rule, untold)).toEqual(denied({ code: 'group-unknown' }))
  })
})

describe('who may ask', () => {
  test('every full member, where nobody is named', () => {
    expect(judgeRequester(person('UDOV'), ops, rule, new Map())).toEqual({
      allowed: true,
      grant: { rule: 'APPROVERS', via: 'member' },
    })
  })

  test.each(['guest', 'bot', 'deleted', 'stranger', 'unknown'] as const)('never: %s', (standing) => {
    expect(judgeRequester(person('UDOV', standing), ops, rule, new Map()).allowed).toBe(false)
    expect(judgeReader(person('UDOV', standing), ops).allowed).toBe(false)
  })

  test('only those who are named, where somebody is', () => {
    const named = { ...rule, request: toGroup(['UADA']) }
    expect(judgeRequester(person('UADA'), ops, named, new Map()).allowed).toBe(true)
    expect(judgeRequester(person('UDOV'), ops, named, new Map())).toEqual(denied({ code: 'not-a-requester', requesters: named.request }))
  })

  test('nobody of a group that Slack does not tell of', () => {
    const named = { ...rule, request: toGroup(['SOPERATORS']) }
    expect(judgeRequester(person('UADA'), ops, named, groups({ SOPERATORS: 'unknown' })).allowed).toBe(false)
    expect(judgeRequester(person('UADA'), ops, named, groups({ SOPERATORS: ['UADA'] })).allowed).toBe(true)
  })

  test('only in the channels that are named', () => {
    const policy = { rules: [{ ...rule, channels: ['C2'] }] }
    expect(judgeRequesterOfKind(person('UADA'), ops, 'ip.move', policy, new Map())).toEqual(
      denied({ code: 'no-rule', kind: 'ip.move', channels: ['C2'] }),
    )
    expect(judgeRequesterOfKind(person('UADA'), { ...ops, channelId: 'C2' }, 'ip.move', policy, new Map()).allowed).toBe(true)
  })

  test('never in a direct message, not even in one of several people', () => {
    for (const standing of ['direct', 'group-direct'] as const) {
      const place: Place = { channelId: 'D1', teamId: 'T1', standing }
      expect(judgeRequester(person('UADA'), place, rule, new Map())).toEqual(denied({ code: 'direct-message' }))
      expect(judgeRequesterOfKind(person('UADA'), place, 'ip.move', { rules: [rule] }, new Map())).toEqual(
        denied({ code: 'direct-message' }),
      )
    }
  })

  test('whoever one of the rules for this kind lets, because the project decides which of them holds', () => {
    const policy = {
      rules: [
        { ...rule, projects: { ids: ['proj_1oNqx62cx6bn0'], names: [] }, request: toGroup(['UADA']) },
        { ...rule, request: toGroup(['UBEN']) },
      ],
    }
    const ask = (userId: string) => judgeRequesterOfKind(person(userId), ops, 'ip.move', policy, new Map()).allowed
    expect([ask('UADA'), ask('UBEN'), ask('UDOV')]).toEqual([true, true, false])
  })

  test('nobody where there is no rule for the kind', () => {
    expect(judgeRequesterOfKind(person('UADA'), ops, 'key.create', { rules: [rule] }, new Map())).toEqual(
      denied({ code: 'no-rule', kind: 'key.create', channels: [] }),
    )
  })

  test('each channel where it can be asked for is named once', () => {
    const policy = {
      rules: [
        { ...rule, channels: ['C2', 'C3'] },
        { ...rule, channels: ['C3'] },
      ],
    }
    expect(noRule(policy, 'ip.move')).toEqual({ code: 'no-rule', kind: 'ip.move', channels: ['C2', 'C3'] })
  })
})

describe('where', () => {
  const ada = person('UADA')

  test.each([
    ['usual', true],
    ['direct', true],
    ['group-direct', true],
    ['none', true],
    ['unreadable', true],
    ['shared', false],
    ['unknown', false],
  ] as const)('looking in a channel of the standing %s: %s', (standing, allowed) => {
    expect(judgeReader(ada, { ...ops, standing }).allowed).toBe(allowed)
  })

  test.each([
    ['usual', true],
    ['direct', false],
    ['group-direct', false],
    ['unreadable', true],
    ['shared', false],
    ['unknown', false],
  ] as const)('asking in a channel of the standing %s: %s', (standing, allowed) => {
    expect(judgeRequester(ada, { ...ops, standing }, rule, oncall).allowed).toBe(allowed)
  })

  test.each([
    ['usual', true],
    ['unreadable', true],
    ['shared', false],
    ['unknown', false],
  ] as const)('deciding in a channel of the standing %s: %s', (standing, allowed) => {
    const place: Place = { ...ops, standing }
    expect(judgeApprover(person('UBEN'), place, 'UADA', rule, oncall).allowed).toBe(allowed)
    expect(judgeBreakGlass(person('UBEN'), place, 'UBEN', { ...rule, breakGlass: true }, oncall).allowed).toBe(allowed)
  })

  test('each reason is denied with a code of its own, and with what was wanted', () => {
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

    expect(standings.map(([who, place]) => judgeReader(who, place))).toEqual(codes.map((code) => denied({ code, action: 'read' })))
    expect(standings.map(([who, place]) => judgeRequester(who, place, rule, oncall))).toEqual(
      codes.map((code) => denied({ code, action: 'ask' })),
    )
    expect(standings.map(([who, place]) => judgeApprover(who, place, 'UBEN', rule, oncall))).toEqual(
      codes.map((code) => denied({ code, action: 'decide' })),
    )
  })

  test('what is refused because Slack did not tell is known from what the rules refuse', () => {
    const isUnknown = (who: Person, place: Place, membership: Membership) => {
      const ruling = judgeApprover(who, place, 'UADA', rule, membership)
      return !ruling.allowed && isForLackOfAnswer(ruling.denial)
    }
    expect(isUnknown(person('UCHI', 'unknown'), ops, oncall)).toBe(true)
    expect(isUnknown(person('UCHI'), { ...ops, standing: 'unknown' }, oncall)).toBe(true)
    expect(isUnknown(person('UCHI'), ops, untold)).toBe(true)
    expect(isUnknown(person('UCHI', 'guest'), ops, untold)).toBe(false)
    expect(isUnknown(person('UDOV'), ops, oncall)).toBe(false)
  })

  test('somebody of another workspace is refused by the workspace of the bot, and the workspace of whoever clicks does not matter', () => {
    expect(judgeReader(person('UEVE', 'member', 'T2'), ops).allowed).toBe(false)
    expect(judgeReader(person('UEVE', 'member', 'T2'), { ...ops, teamId: undefined }).allowed).toBe(true)
  })
})

describe('break-glass', () => {
  const breakable = { ...rule, breakGlass: true }

  test('lets an approver approve what they asked for', () => {
    const grantOf = (userId: string) => judgeBreakGlass(person(userId), ops, userId, breakable, oncall)
    expect(grantOf('UBEN')).toEqual({ allowed: true, grant: { rule: 'APPROVERS', via: 'UBEN' } })
    expect(grantOf('UCHI')).toEqual({ allowed: true, grant: { rule: 'APPROVERS', via: 'SONCALL' } })
  })

  test('lets nobody approve alone what another person asked for', () => {
    const denial = { code: 'not-yours-to-break-glass', requester: 'UADA' }
    expect(judgeBreakGlass(person('UBEN'), ops, 'UADA', breakable, oncall)).toEqual(denied(denial))
  })

  test.each([
    ['where the rule does not say so', person('UBEN'), rule, oncall],
    ['for somebody who could not approve it for others', person('UADA'), breakable, oncall],
    ['for a member of a group that cannot be read', person('UCHI'), breakable, untold],
    ['for a guest', person('UBEN', 'guest'), breakable, oncall],
    ['for somebody of whom Slack does not tell', person('UBEN', 'unknown'), breakable, oncall],
    ['where nobody has to approve', person('UBEN'), { ...breakable, approve: undefined }, oncall],
    ['where no rule covers it any more', person('UBEN'), undefined, oncall],
  ])('is refused %s', (_, who, under, membership) => {
    expect(judgeBreakGlass(who, ops, who.userId, under, membership).allowed).toBe(false)
  })

  test('is no way for others to approve their own: the usual decision stays refused', () => {
    expect(judgeApprover(person('UBEN'), ops, 'UBEN', breakable, oncall).allowed).toBe(false)
  })
})

describe('what only the requester may do', () => {
  test('the requester may', () => {
    expect(judgeOwner(person('UADA'), ops, 'UADA', 'withdraw')).toEqual({ allowed: true, grant: { via: 'requester' } })
  })

  test.each(['take', 'withdraw'] as const)('nobody else may %s it', (wants) => {
    expect(judgeOwner(person('UBEN'), ops, 'UADA', wants)).toEqual(denied({ code: `not-yours-to-${wants}`, requester: 'UADA' }))
  })

  test('a requester who became a guest may not', () => {
    expect(codeOf(judgeOwner(person('UADA', 'guest'), ops, 'UADA', 'take'))).toBe('guest')
  })
})

describe('who may stop the tracking', () => {
  const track = (who: Person) => judgeTracker(who, ops, 'UADA', rule, oncall)

  test('the requester and the approvers', () => {
    expect(track(person('UADA'))).toEqual({ allowed: true, grant: { via: 'requester' } })
    expect(track(person('UCHI'))).toEqual({ allowed: true, grant: { rule: 'APPROVERS', via: 'SONCALL' } })
  })

  test('nobody else, and no requester who became a guest', () => {
    expect(codeOf(track(person('UDOV')))).toBe('not-an-approver')
    expect(codeOf(track(person('UADA', 'guest')))).toBe('guest')
  })
})
