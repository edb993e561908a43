import { describe, expect, test } from 'vitest'
import { approvalsNeeded, approverGroupsOf, approversOf, firstApproversOf, toGroup, visibleReason } from '../../../src/domain/policy.ts'
import { rule } from '../../given/people.ts'

describe('the people of a rule', () => {
  test('are user groups if their ids begin with S', () => {
    expect(toGroup(['S0ONCALL01', 'U0BEN00001', 'W0CHI00001'])).toEqual({
      users: ['U0BEN00001', 'W0CHI00001'],
      userGroups: ['S0ONCALL01'],
    })
  })

  test('are approvers if the terms name them, each once', () => {
    const terms = { anyOf: toGroup(['UBEN', 'SONCALL']), allOf: ['UBEN', 'SNET', 'SONCALL', 'UCHI'], approvals: 1 }
    expect(approversOf(terms)).toEqual({ users: ['UBEN', 'UCHI'], userGroups: ['SONCALL', 'SNET'] })
    expect(approverGroupsOf({ ...rule, approve: terms })).toEqual(['SONCALL', 'SNET'])
    expect(approverGroupsOf({ ...rule, approve: undefined })).toEqual([])
  })

  test('are approvers from the start if they are escalated to, but not the first ones', () => {
    const terms = {
      anyOf: toGroup(['SONCALL']),
      allOf: ['UBEN'],
      approvals: 1,
      escalate: { afterMs: 1, to: toGroup(['SLEADS', 'UCHI']) },
    }
    expect(approversOf(terms)).toEqual({ users: ['UBEN', 'UCHI'], userGroups: ['SONCALL', 'SLEADS'] })
    expect(approverGroupsOf({ ...rule, approve: terms })).toEqual(['SONCALL', 'SLEADS'])
    expect(firstApproversOf(terms)).toEqual({ users: ['UBEN'], userGroups: ['SONCALL'] })
  })

  test.each([
    [1, [], 1],
    [3, [], 3],
    [1, ['SNET', 'SSEC'], 2],
    [3, ['SNET', 'SSEC'], 3],
    [0, [], 1],
  ])('needs as many as the terms require: approvals %s, all_of %j, needed %s', (approvals, allOf, needed) => {
    expect(approvalsNeeded({ anyOf: toGroup(['UBEN']), allOf, approvals })).toBe(needed)
  })
})

test.each([undefined, '', '  \n', '\u200b', '\u2800 \u00ad', '\u0001\u0007', '\ufff9\u0301'])(
  'a reason that shows nothing is none: %j',
  (reason) => {
    expect(visibleReason(reason)).toBeUndefined()
  },
)

test('a reason has no white space around it', () => {
  expect(visibleReason('  OPS-123\n')).toBe('OPS-123')
})
