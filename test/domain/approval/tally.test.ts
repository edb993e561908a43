import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { approverRuling, type Membership, tallyApprovals } from '../../../src/domain/approval.ts'
import { toGroup } from '../../../src/domain/policy.ts'
import { groups, ops, person, rule, terms } from '../../given/people.ts'

const oncall = groups({ SONCALL: ['UCHI'] })
const unreadable = groups({ SONCALL: 'unknown' })

describe('whether approvals are enough', () => {
  const escalating = { approvals: 2, escalate: { afterMs: 1, to: toGroup(['UDOV']) } }
  const both = terms([], { allOf: ['SNET', 'SSEC'] })
  const three = terms(['UBEN', 'UCHI', 'UDOV'], { allOf: ['UEVE'], approvals: 3 })
  const shared = groups({ SNET: ['UBEN', 'UCHI'], SSEC: ['UCHI'] })

  test.each<[string, Parameters<typeof terms>, string[], Membership, missing: number]>([
    ['one of any_of', [['UBEN', 'SONCALL']], ['UCHI'], oncall, 0],
    ['none', [['UBEN', 'SONCALL']], [], oncall, 1],
    ['one of two, twice', [['UBEN', 'UCHI'], { approvals: 2 }], ['UBEN', 'UBEN'], new Map(), 1],
    ['two of two', [['UBEN', 'UCHI'], { approvals: 2 }], ['UBEN', 'UCHI'], new Map(), 0],
    ['one whom the terms only escalate to', [['UBEN'], escalating], ['UDOV'], new Map(), 1],
    ['one of any_of, and one whom the terms only escalate to', [['UBEN'], escalating], ['UBEN', 'UDOV'], new Map(), 0],
    ['a person in both groups of all_of alone', [[], both], ['UCHI'], shared, 1],
    ['a person in both groups of all_of and another', [[], both], ['UCHI', 'UBEN'], shared, 0],
    ['the same in the opposite order', [[], both], ['UBEN', 'UCHI'], shared, 0],
    ['two people of one group', [[], both], ['UBEN', 'UCHI'], groups({ SNET: ['UBEN', 'UCHI'], SSEC: ['UDOV'] }), 1],
    ['a number without the person of all_of', [[], three], ['UBEN', 'UCHI', 'UDOV'], new Map(), 1],
    ['a number with the person of all_of', [[], three], ['UEVE', 'UCHI', 'UDOV'], new Map(), 0],
    ['a person who left the group', [['SONCALL'], { approvals: 2 }], ['UBEN', 'UCHI'], oncall, 1],
    ['a member of a group that cannot be read', [['SONCALL']], ['UCHI'], unreadable, 1],
    ['a member of a group of all_of that cannot be read', [[], { allOf: ['SONCALL'] }], ['UCHI'], unreadable, 1],
    ['a member of a group that was not read', [['SONCALL']], ['UCHI'], new Map(), 1],
    ['anybody, if the terms name nobody', [[]], ['UBEN'], new Map(), 1],
    ['nobody, if the terms need none', [['UBEN'], { approvals: 0 }], [], new Map(), 1],
  ])('%s', (_, of, people, membership, missing) => {
    expect(tallyApprovals(terms(...of), people, membership)).toMatchObject({ enough: missing === 0, missing })
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
})
