import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  judgeApprover,
  judgeBreakGlass,
  judgeReader,
  judgeRequester,
  judgeRequesterOfKind,
  type Membership,
  noRule,
  type Person,
  type Place,
  tallyApprovals,
  whoApproves,
  whoIsIn,
} from '../../src/domain/approval.ts'
import { type ApproveTerms, type PolicyRule, toGroup } from '../../src/domain/policy.ts'

const rule: PolicyRule = {
  name: 'APPROVERS',
  changes: ['ip.move'],
  projects: undefined,
  channels: undefined,
  request: undefined,
  approve: terms(['UBEN', 'SONCALL']),
  breakGlass: false,
  expiresMs: 3_600_000,
  mention: undefined,
}
const move = { kind: 'ip.move', label: 'moving an Elastic IP' }
const oncall: Membership = new Map([['SONCALL', new Set(['UCHI'])]])
const untold: Membership = new Map([['SONCALL', 'unknown']])
const ops: Place = { channelId: 'C1', teamId: 'T1', standing: 'usual' }

function person(userId: string, standing: Person['standing'] = 'member', teamId: string | undefined = 'T1'): Person {
  return { userId, standing, teamId }
}

function terms(anyOf: string[], more: Partial<ApproveTerms> = {}): ApproveTerms {
  return { anyOf: toGroup(anyOf), allOf: [], approvals: 1, ...more }
}

function groups(members: Record<string, string[] | 'unknown'>): Membership {
  return new Map(Object.entries(members).map(([id, users]) => [id, users === 'unknown' ? users : new Set(users)]))
}

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
    const ruling = judgeApprover(person('UBEN'), ops, 'UBEN', rule, oncall)
    expect(ruling).toEqual({ allowed: false, why: 'You asked for this yourself, so another person has to decide it. You can withdraw it.' })
  })

  test('with nobody named, nobody', () => {
    const nobody = { ...rule, approve: terms([]) }
    expect(judgeApprover(person('UBEN'), ops, 'UADA', nobody, oncall).allowed).toBe(false)
  })

  test.each([
    ['where no rule covers it any more', undefined],
    ['where the rule asks for no approval any more', { ...rule, approve: undefined }],
  ])('nobody %s', (_, without) => {
    expect(judgeApprover(person('UBEN'), ops, 'UADA', without, oncall)).toEqual({
      allowed: false,
      why: 'No rule of the policy says who may decide this any more, so nobody may. It can be withdrawn and asked for again.',
    })
  })

  test('also those who must be heard, whether or not they are among the others', () => {
    const both = { ...rule, approve: terms(['UBEN'], { allOf: ['SNET', 'UEVE'] }) }
    const membership = groups({ SNET: ['UCHI'] })
    const allowed = ['UBEN', 'UCHI', 'UEVE', 'UDOV'].map((id) => judgeApprover(person(id), ops, 'UADA', both, membership).allowed)
    expect(allowed).toEqual([true, true, true, false])
  })

  test('the rule that allowed it is named', () => {
    expect(judgeApprover(person('UCHI'), ops, 'UADA', rule, oncall)).toEqual({ allowed: true, rule: 'APPROVERS: SONCALL' })
  })

  test('a refusal names who can', () => {
    expect(judgeApprover(person('UDOV'), ops, 'UADA', rule, oncall)).toEqual({
      allowed: false,
      why: 'You are not an approver of this. <@UBEN> or <!subteam^SONCALL> can decide it.',
    })
  })

  test('a refusal because a group cannot be read does not say that they are no approver', () => {
    expect(judgeApprover(person('UCHI'), ops, 'UADA', rule, untold)).toEqual({
      allowed: false,
      why: 'Slack did not tell who is in the user group just now, so this cannot be checked. Nothing was done: try again in a minute.',
      unknown: true,
    })
  })
})

describe('who may ask', () => {
  test('every full member, where nobody is named', () => {
    expect(judgeRequester(person('UDOV'), ops, rule, new Map())).toEqual({ allowed: true, rule: 'APPROVERS: every full member may ask' })
  })

  test.each(['guest', 'bot', 'deleted', 'stranger', 'unknown'] as const)('never: %s', (standing) => {
    expect(judgeRequester(person('UDOV', standing), ops, rule, new Map()).allowed).toBe(false)
    expect(judgeReader(person('UDOV', standing), ops).allowed).toBe(false)
  })

  test('only those who are named, where somebody is', () => {
    const named = { ...rule, request: toGroup(['UADA']) }
    expect(judgeRequester(person('UADA'), ops, named, new Map()).allowed).toBe(true)
    expect(judgeRequester(person('UDOV'), ops, named, new Map())).toEqual({
      allowed: false,
      why: 'You are not among the people who may ask for this here (<@UADA>). Ask one of them, or the people who run this bot.',
    })
  })

  test('nobody of a group that Slack does not tell of', () => {
    const named = { ...rule, request: toGroup(['SOPERATORS']) }
    expect(judgeRequester(person('UADA'), ops, named, groups({ SOPERATORS: 'unknown' })).allowed).toBe(false)
    expect(judgeRequester(person('UADA'), ops, named, groups({ SOPERATORS: ['UADA'] })).allowed).toBe(true)
  })

  test('only in the channels that are named', () => {
    const policy = { rules: [{ ...rule, channels: ['C2'] }] }
    expect(judgeRequesterOfKind(person('UADA'), ops, move, policy, new Map())).toEqual({
      allowed: false,
      why: 'No rule of the policy lets anybody ask for moving an Elastic IP in this channel, so it is refused. Ask in <#C2>.',
    })
    expect(judgeRequesterOfKind(person('UADA'), { ...ops, channelId: 'C2' }, move, policy, new Map()).allowed).toBe(true)
  })

  test('never in a direct message, not even in one of several people', () => {
    const why = 'Changes cannot be asked for in a direct message, because nobody else could approve them there. Ask in a channel.'
    for (const standing of ['direct', 'group-direct'] as const) {
      const place: Place = { channelId: 'D1', teamId: 'T1', standing }
      expect(judgeRequester(person('UADA'), place, rule, new Map())).toEqual({ allowed: false, why })
      expect(judgeRequesterOfKind(person('UADA'), place, move, { rules: [rule] }, new Map())).toEqual({ allowed: false, why })
    }
  })

  test('whoever one of the rules for this kind lets, because the project decides which of them holds', () => {
    const policy = {
      rules: [
        { ...rule, projects: ['proj_1oNqx62cx6bn0'], request: toGroup(['UADA']) },
        { ...rule, request: toGroup(['UBEN']) },
      ],
    }
    const ask = (userId: string) => judgeRequesterOfKind(person(userId), ops, move, policy, new Map()).allowed
    expect([ask('UADA'), ask('UBEN'), ask('UDOV')]).toEqual([true, true, false])
  })

  test('nobody where there is no rule for the kind', () => {
    expect(judgeRequesterOfKind(person('UADA'), ops, { kind: 'key.create', label: 'a new API key' }, { rules: [rule] }, new Map())).toEqual(
      {
        allowed: false,
        why: 'No rule of the policy lets anybody ask for a new API key in this channel, so it is refused. The people who run this bot can add a rule for it.',
      },
    )
  })

  test('each channel where it can be asked for is named once', () => {
    const policy = {
      rules: [
        { ...rule, channels: ['C2', 'C3'] },
        { ...rule, channels: ['C3'] },
      ],
    }
    expect(noRule(policy, move)).toContain('Ask in <#C2> or <#C3>.')
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
    expect(judgeBreakGlass(person('UBEN'), place, { ...rule, breakGlass: true }, oncall).allowed).toBe(allowed)
  })

  test('each refusal says what to do, in words of its own', () => {
    const standings: [Person, Place][] = [
      [person('UADA', 'unknown'), ops],
      [person('UADA', 'guest'), ops],
      [person('UADA', 'bot'), ops],
      [person('UADA', 'deleted'), ops],
      [person('UADA', 'stranger'), ops],
      [ada, { ...ops, standing: 'shared' }],
      [ada, { ...ops, standing: 'unknown' }],
    ]
    const whys = standings.map(([who, place]) => judgeReader(who, place)).map((ruling) => (ruling.allowed ? 'allowed' : ruling.why))

    expect(whys).toMatchInlineSnapshot(`
      [
        "Slack did not tell who you are just now, and without that nobody may use this bot. Nothing was done: try again in a minute.",
        "Guests may not use this bot. Ask a full member of this workspace.",
        "Bots may not use this bot.",
        "Deactivated accounts may not use this bot.",
        "People of other workspaces may not use this bot. Ask a member of this one.",
        "This channel is shared with another organisation (Slack Connect), and nobody may use this bot in one. Use a channel of this workspace alone.",
        "Slack did not tell just now whether this channel is shared with another organisation, and without that nobody may use this bot here. Nothing was done: try again in a minute.",
      ]
    `)
  })

  test('what is refused because Slack did not tell is known from what the rules refuse', () => {
    const isUnknown = (who: Person, place: Place, membership: Membership) => {
      const ruling = judgeApprover(who, place, 'UADA', rule, membership)
      return !ruling.allowed && ruling.unknown === true
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

  test('lets an approver approve what they asked for, and says so in the rule', () => {
    expect(judgeBreakGlass(person('UBEN'), ops, breakable, oncall)).toEqual({ allowed: true, rule: 'APPROVERS: UBEN (break-glass)' })
    expect(judgeBreakGlass(person('UCHI'), ops, breakable, oncall)).toEqual({ allowed: true, rule: 'APPROVERS: SONCALL (break-glass)' })
  })

  test.each([
    ['where the rule does not say so', person('UBEN'), rule, oncall],
    ['for somebody who could not approve it for others', person('UADA'), breakable, oncall],
    ['for a member of a group that cannot be read', person('UCHI'), breakable, untold],
    ['for a guest', person('UBEN', 'guest'), breakable, oncall],
    ['for somebody of whom Slack does not tell', person('UBEN', 'unknown'), breakable, oncall],
    ['where nobody has to approve', person('UBEN'), { ...breakable, approve: undefined }, oncall],
  ])('is refused %s', (_, who, under, membership) => {
    expect(judgeBreakGlass(who, ops, under, membership).allowed).toBe(false)
  })

  test('is no way for others to approve their own: the usual decision stays refused', () => {
    expect(judgeApprover(person('UBEN'), ops, 'UBEN', breakable, oncall).allowed).toBe(false)
  })
})

describe('whether approvals are enough', () => {
  test('any of: one of them is', () => {
    expect(tallyApprovals(terms(['UBEN', 'SONCALL']), ['UCHI'], oncall)).toEqual({ enough: true, missing: 0 })
    expect(tallyApprovals(terms(['UBEN', 'SONCALL']), [], oncall)).toEqual({ enough: false, missing: 1 })
  })

  test('several: so many different people, of whom one twice is one', () => {
    const two = terms(['UBEN', 'UCHI', 'UDOV'], { approvals: 2 })
    expect(tallyApprovals(two, ['UBEN'], new Map())).toEqual({ enough: false, missing: 1 })
    expect(tallyApprovals(two, ['UBEN', 'UBEN'], new Map())).toEqual({ enough: false, missing: 1 })
    expect(tallyApprovals(two, ['UBEN', 'UDOV'], new Map())).toEqual({ enough: true, missing: 0 })
  })

  test('all of: each by another person', () => {
    const both = terms([], { allOf: ['SNET', 'SSEC'] })
    const membership = groups({ SNET: ['UBEN', 'UCHI'], SSEC: ['UCHI', 'UDOV'] })
    expect(tallyApprovals(both, ['UBEN'], membership)).toEqual({ enough: false, missing: 1 })
    expect(tallyApprovals(both, ['UBEN', 'UDOV'], membership)).toEqual({ enough: true, missing: 0 })
  })

  test('one who is in both groups stands for one of them only', () => {
    const both = terms([], { allOf: ['SNET', 'SSEC'] })
    const membership = groups({ SNET: ['UBEN', 'UCHI'], SSEC: ['UCHI'] })
    expect(tallyApprovals(both, ['UCHI'], membership)).toEqual({ enough: false, missing: 1 })
    expect(tallyApprovals(both, ['UCHI', 'UBEN'], membership)).toEqual({ enough: true, missing: 0 })
    expect(tallyApprovals(both, ['UBEN', 'UCHI'], membership)).toEqual({ enough: true, missing: 0 })
  })

  test('two of the same group do not stand for the other', () => {
    const both = terms([], { allOf: ['SNET', 'SSEC'] })
    const membership = groups({ SNET: ['UBEN', 'UCHI'], SSEC: ['UDOV'] })
    expect(tallyApprovals(both, ['UBEN', 'UCHI'], membership)).toEqual({ enough: false, missing: 1 })
  })

  test('all of and more: those who must be heard count among the number', () => {
    const three = terms(['UBEN', 'UCHI', 'UDOV'], { allOf: ['UEVE'], approvals: 3 })
    expect(tallyApprovals(three, ['UBEN', 'UCHI', 'UDOV'], new Map())).toEqual({ enough: false, missing: 1 })
    expect(tallyApprovals(three, ['UEVE', 'UCHI'], new Map())).toEqual({ enough: false, missing: 1 })
    expect(tallyApprovals(three, ['UEVE', 'UCHI', 'UDOV'], new Map())).toEqual({ enough: true, missing: 0 })
  })

  test('whoever has left the group no longer counts', () => {
    const two = terms(['SONCALL'], { approvals: 2 })
    expect(tallyApprovals(two, ['UBEN', 'UCHI'], groups({ SONCALL: ['UBEN', 'UCHI'] }))).toEqual({ enough: true, missing: 0 })
    expect(tallyApprovals(two, ['UBEN', 'UCHI'], groups({ SONCALL: ['UCHI'] }))).toEqual({ enough: false, missing: 1 })
  })

  test('nobody counts by a group that Slack does not tell of', () => {
    expect(tallyApprovals(terms(['SONCALL']), ['UCHI'], untold)).toEqual({ enough: false, missing: 1 })
    expect(tallyApprovals(terms([], { allOf: ['SONCALL'] }), ['UCHI'], untold)).toEqual({ enough: false, missing: 1 })
    expect(tallyApprovals(terms(['SONCALL']), ['UCHI'], new Map())).toEqual({ enough: false, missing: 1 })
  })

  test('nothing is enough where nobody is named, and no number below one is taken', () => {
    expect(tallyApprovals(terms([]), ['UBEN'], new Map()).enough).toBe(false)
    expect(tallyApprovals(terms(['UBEN'], { approvals: 0 }), [], new Map())).toEqual({ enough: false, missing: 1 })
  })
})

describe('whatever the terms and the groups', () => {
  const users = ['UA', 'UB', 'UC', 'UD', 'UE']
  const userGroups = ['SX', 'SY', 'SZ']
  const anyUser = fc.constantFrom(...users)
  const anyTerms = fc.record({
    anyOf: fc.subarray([...users, ...userGroups]).map(toGroup),
    allOf: fc.subarray([...users, ...userGroups]),
    approvals: fc.integer({ min: 1, max: 4 }),
  })
  const anyMembership = fc
    .tuple(
      ...userGroups.map(() =>
        fc.oneof({ weight: 4, arbitrary: fc.subarray(users) }, { weight: 1, arbitrary: fc.constant('unknown' as const) }),
      ),
    )
    .map((members) => groups(Object.fromEntries(userGroups.map((id, index) => [id, members[index] ?? []]))))
  const anyPeople = fc.array(anyUser, { maxLength: 7 })

  /** Every way to give each party a person of their own, tried one by one. */
  function canAllBeHeard(parties: string[], people: string[], membership: Membership): boolean {
    const [party, ...others] = parties
    if (party === undefined) return true
    return people.some((userId) => {
      const members = membership.get(party)
      const speaks = party === userId || (members instanceof Set && members.has(userId))
      return (
        speaks &&
        canAllBeHeard(
          others,
          people.filter((other) => other !== userId),
          membership,
        )
      )
    })
  }

  test('never are fewer different people who may enough, or is one of those who must be heard left out', () => {
    fc.assert(
      fc.property(anyTerms, anyPeople, anyMembership, (each, people, membership) => {
        const under = { ...rule, approve: each }
        const may = [...new Set(people)].filter((userId) => judgeApprover(person(userId), ops, 'UADA', under, membership).allowed)
        const enough = may.length >= Math.max(each.approvals, each.allOf.length) && canAllBeHeard(each.allOf, may, membership)

        expect(tallyApprovals(each, people, membership).enough).toBe(enough)
      }),
      { numRuns: 500 },
    )
  })

  test('one approval more never makes it less, and lessens what is missing by one at most', () => {
    fc.assert(
      fc.property(anyTerms, anyPeople, anyUser, anyMembership, (each, people, another, membership) => {
        const before = tallyApprovals(each, people, membership)
        const after = tallyApprovals(each, [...people, another], membership)

        expect(after.missing).toBeLessThanOrEqual(before.missing)
        expect(before.missing - after.missing).toBeLessThanOrEqual(1)
      }),
      { numRuns: 500 },
    )
  })

  test('in which order they came does not matter', () => {
    fc.assert(
      fc.property(anyTerms, anyPeople, anyMembership, (each, people, membership) => {
        expect(tallyApprovals(each, people.toReversed(), membership)).toEqual(tallyApprovals(each, people, membership))
      }),
    )
  })

  test('a group that Slack does not tell of never helps', () => {
    fc.assert(
      fc.property(anyTerms, anyPeople, anyMembership, fc.constantFrom(...userGroups), (each, people, membership, silent) => {
        const without: Membership = new Map(membership).set(silent, 'unknown')

        expect(tallyApprovals(each, people, without).missing).toBeGreaterThanOrEqual(tallyApprovals(each, people, membership).missing)
      }),
    )
  })
})

describe('who approves, in words', () => {
  test.each([
    ['<@UBEN>', terms(['UBEN'])],
    ['<@UBEN> or <!subteam^SONCALL>', terms(['UBEN', 'SONCALL'])],
    ['<@UBEN>, <@UCHI> or <!subteam^SONCALL>', terms(['SONCALL', 'UBEN', 'UCHI'])],
    ['2 of <@UBEN>, <@UCHI> or <!subteam^SONCALL>', terms(['UBEN', 'UCHI', 'SONCALL'], { approvals: 2 })],
    ['<!subteam^SNET> and <!subteam^SSEC>', terms([], { allOf: ['SNET', 'SSEC'] })],
    ['<!subteam^SNET>, <!subteam^SSEC> and <@UBEN>', terms([], { allOf: ['SNET', 'SSEC', 'UBEN'] })],
    ['<!subteam^SNET>, and 1 more of <@UCHI> or <@UDOV>', terms(['UCHI', 'UDOV'], { allOf: ['SNET'], approvals: 2 })],
    ['Nobody', terms([])],
  ])('%s', (words, each) => {
    expect(whoApproves(each)).toBe(words)
  })

  test('by name, where a mention would call somebody', () => {
    const names = new Map([['UBEN', '@ben']])
    expect(whoApproves(terms(['UBEN', 'SONCALL']), (id) => names.get(id) ?? id)).toBe('@ben or SONCALL')
  })

  test('a group of people is listed with each of them', () => {
    expect(whoIsIn(toGroup(['UBEN', 'SONCALL', 'UCHI']))).toBe('<@UBEN>, <@UCHI> and <!subteam^SONCALL>')
    expect(whoIsIn(toGroup([]))).toBe('')
  })
})
