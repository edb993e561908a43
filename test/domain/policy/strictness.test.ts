import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { tallyApprovals } from '../../../src/domain/approval.ts'
import { type ApproveTerms, easierMembers, easierTerms, type PolicyRule, toGroup } from '../../../src/domain/policy.ts'
import { rule as usual } from '../people-for-test.ts'

const rule = (more: Partial<PolicyRule>): PolicyRule => ({ ...usual, ...more })
const by = (anyOf: string[], allOf: string[] = [], approvals = 1): ApproveTerms => ({ anyOf: toGroup(anyOf), allOf, approvals })

describe('a rule is easier than another one', () => {
  test.each<[string, Partial<PolicyRule>, Partial<PolicyRule>, string[]]>([
    ['not if they are equal', {}, {}, []],
    ['with no approval', { approve: undefined }, {}, ['approve']],
    ['with fewer approvals', { approve: by(['SONCALL']) }, { approve: by(['SONCALL'], [], 2) }, ['approve']],
    ['with other approvers', { approve: by(['SONCALL', 'UEVE']) }, { approve: by(['SONCALL']) }, ['approve']],
    ['without one who must approve', { approve: by(['SSEC', 'UBEN'], [], 2) }, { approve: by(['UBEN'], ['SSEC'], 2) }, ['approve']],
    ['with more requesters', { request: toGroup(['UADA', 'UBEN']) }, { request: toGroup(['UADA']) }, ['request']],
    ['for everyone', { request: undefined }, { request: toGroup(['UADA']) }, ['request']],
    ['with break-glass', { breakGlass: true }, { breakGlass: false }, ['breakGlass']],
    ['without a confirmation', { confirm: false }, { confirm: true }, ['confirm']],
    ['without a reason', { needsReason: false }, { needsReason: true }, ['needsReason']],
    ['with a later deadline', { expiresMs: 2 }, { expiresMs: 1 }, ['expiresMs']],
    ['not with more approvals', { approve: by(['UBEN', 'SONCALL'], [], 2) }, {}, []],
    ['not with fewer approvers', { approve: by(['SONCALL']) }, {}, []],
    ['not with fewer requesters', { request: toGroup(['UADA']) }, { request: undefined }, []],
    ['not for alerts, which need people', { alerts: true }, { alerts: false }, []],
    ['not with other people to mention', { mention: toGroup([]) }, {}, []],
    ['not if the other needs no approval at all', { breakGlass: true, expiresMs: 2 }, { approve: undefined, expiresMs: 1 }, []],
    ['not by a confirmation of what needs no approval', { confirm: false }, { confirm: true, approve: undefined }, []],
    ['but still by its requesters', { request: undefined }, { approve: undefined, request: toGroup(['UADA']) }, ['request']],
  ])('%s', (_, first, second, members) => {
    expect(easierMembers(rule(first), rule(second))).toEqual(members)
  })
})

test('whoever is enough under terms that are not easier is enough under the others, whoever is in the groups', () => {
  const ids = ['U1', 'U2', 'S1', 'S2']
  const people = ['U1', 'U2', 'U3', 'U4']
  const terms = fc
    .record({ any: fc.subarray(ids), all: fc.subarray(ids), approvals: fc.integer({ min: 1, max: 3 }) })
    .map(({ any, all, approvals }) => by(any, all, approvals))
  let compared = 0

  fc.assert(
    fc.property(terms, terms, fc.subarray(people), fc.subarray(people), fc.subarray(people), (first, second, one, two, approving) => {
      if (easierTerms(first, second).length > 0) return
      compared += 1
      const membership = new Map([
        ['S1', new Set(one)],
        ['S2', new Set(two)],
      ])
      if (tallyApprovals(first, approving, membership).enough) expect(tallyApprovals(second, approving, membership).enough).toBe(true)
    }),
    { numRuns: 2_000 },
  )
  expect(compared).toBeGreaterThan(100)
})
