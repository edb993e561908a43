import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { approverRuling, type Membership, tallyApprovals } from '../../../src/domain/approval.ts'
import { toGroup } from '../../../src/domain/policy.ts'
import { groups, ops, person, rule, terms } from '../people-for-test.ts'

const oncall = groups({ SONCALL: ['UCHI'] })
const unreadable = groups({ SONCALL: 'unknown' })

describe('whether approvals are enough', () => {
  test('with any_of, one of the people is enough', () => {
    expect(tallyApprovals(terms(['UBEN', 'SONCALL']), ['UCHI'], oncall)).toMatchObject({ enough: true, missing: 0 })
    expect(tallyApprovals(terms(['UBEN', 'SONCALL']), [], oncall)).toMatchObject({ enough: false, missing: 1 })
  })

  test('with a number, that many different people are enough', () => {
    const two = terms(['UBEN', 'UCHI', 'UDOV'], { approvals: 2 })
    expect(tallyApprovals(two, ['UBEN'], new Map())).toMatchObject({ enough: false, missing: 1 })
    expect(tallyApprovals(two, ['UBEN', 'UBEN'], new Map())).toMatchObject({ enough: false, missing: 1 })
    expect(tallyApprovals(two, ['UBEN', 'UDOV'], new Map())).toMatchObject({ enough: true, missing: 0 })
  })

  test('with all_of, each member needs a different person', () => {
    const both = terms([], { allOf: ['SNET', 'SSEC'] })
    const membership = groups({ SNET: ['UBEN', 'UCHI'], SSEC: ['UCHI', 'UDOV'] })
    expect(tallyApprovals(both, ['UBEN'], membership)).toMatchObject({ enough: false, missing: 1 })
    expect(tallyApprovals(both, ['UBEN', 'UDOV'], membership)).toMatchObject({ enough: true, missing: 0 })
  })

  test('a person in two groups counts for one of them', () => {
    const both = terms([], { allOf: ['SNET', 'SSEC'] })
    const membership = groups({ SNET: ['UBEN', 'UCHI'], SSEC: ['UCHI'] })
    expect(tallyApprovals(both, ['UCHI'], membership)).toMatchObject({ enough: false, missing: 1 })
    expect(tallyApprovals(both, ['UCHI', 'UBEN'], membership)).toMatchObject({ enough: true, missing: 0 })
    expect(tallyApprovals(both, ['UBEN', 'UCHI'], membership)).toMatchObject({ enough: true, missing: 0 })
  })

  test('two people of one group do not count for the other group', () => {
    const both = terms([], { allOf: ['SNET', 'SSEC'] })
    const membership = groups({ SNET: ['UBEN', 'UCHI'], SSEC: ['UDOV'] })
    expect(tallyApprovals(both, ['UBEN', 'UCHI'], membership)).toMatchObject({ enough: false, missing: 1 })
  })

  test('with all_of and a number, the people of all_of count among the number', () => {
    const three = terms(['UBEN', 'UCHI', 'UDOV'], { allOf: ['UEVE'], approvals: 3 })
    expect(tallyApprovals(three, ['UBEN', 'UCHI', 'UDOV'], new Map())).toMatchObject({ enough: false, missing: 1 })
    expect(tallyApprovals(three, ['UEVE', 'UCHI'], new Map())).toMatchObject({ enough: false, missing: 1 })
    expect(tallyApprovals(three, ['UEVE', 'UCHI', 'UDOV'], new Map())).toMatchObject({ enough: true, missing: 0 })
  })

  test('a person who left the group no longer counts', () => {
    const two = terms(['SONCALL'], { approvals: 2 })
    expect(tallyApprovals(two, ['UBEN', 'UCHI'], groups({ SONCALL: ['UBEN', 'UCHI'] }))).toMatchObject({ enough: true, missing: 0 })
    expect(tallyApprovals(two, ['UBEN', 'UCHI'], groups({ SONCALL: ['UCHI'] }))).toMatchObject({ enough: false, missing: 1 })
  })

  test('no person counts as a member of a group that cannot be read', () => {
    expect(tallyApprovals(terms(['SONCALL']), ['UCHI'], unreadable)).toMatchObject({ enough: false, missing: 1 })
    expect(tallyApprovals(terms([], { allOf: ['SONCALL'] }), ['UCHI'], unreadable)).toMatchObject({ enough: false, missing: 1 })
    expect(tallyApprovals(terms(['SONCALL']), ['UCHI'], new Map())).toMatchObject({ enough: false, missing: 1 })
  })

  test('no approvals are enough if the terms name nobody, and at least one approval is needed', () => {
    expect(tallyApprovals(terms([]), ['UBEN'], new Map()).enough).toBe(false)
    expect(tallyApprovals(terms(['UBEN'], { approvals: 0 }), [], new Map())).toMatchObject({ enough: false, missing: 1 })
  })
})

describe('for any terms and groups', () => {
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

  /** Tries every way to assign a different person to each member of `allOf`. */
  function canAllBeSatisfied(allOf: string[], people: string[], membership: Membership): boolean {
    const [id, ...others] = allOf
    if (id === undefined) return true
    return people.some((userId) => {
      const members = membership.get(id)
      const countsForId = id === userId || (members instanceof Set && members.has(userId))
      return (
        countsForId &&
        canAllBeSatisfied(
          others,
          people.filter((other) => other !== userId),
          membership,
        )
      )
    })
  }

  test('enough approvals always have enough different approvers, and one for each member of all_of', () => {
    fc.assert(
      fc.property(anyTerms, anyPeople, anyMembership, (each, people, membership) => {
        const under = { ...rule, approve: each }
        const may = [...new Set(people)].filter(
          (userId) => approverRuling({ person: person(userId), place: ops, requesterId: 'UADA', rule: under, membership }).allowed,
        )
        const enough = may.length >= Math.max(each.approvals, each.allOf.length) && canAllBeSatisfied(each.allOf, may, membership)

        expect(tallyApprovals(each, people, membership).enough).toBe(enough)
      }),
      { numRuns: 500 },
    )
  })

  test('one more approval never increases the missing number, and lowers it by one at most', () => {
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

  test('the order of the approvals does not matter', () => {
    fc.assert(
      fc.property(anyTerms, anyPeople, anyMembership, (each, people, membership) => {
        expect(tallyApprovals(each, people.toReversed(), membership)).toMatchObject(tallyApprovals(each, people, membership))
      }),
    )
  })

  test('a group that cannot be read never helps', () => {
    fc.assert(
      fc.property(anyTerms, anyPeople, anyMembership, fc.constantFrom(...userGroups), (each, people, membership, silent) => {
        const without: Membership = new Map(membership).set(silent, 'unknown')

        expect(tallyApprovals(each, people, without).missing).toBeGreaterThanOrEqual(tallyApprovals(each, people, membership).missing)
      }),
    )
  })
})
