import { expect, test } from 'vitest'
import { lacksReason, visibleReason } from '../../../src/domain/policy.ts'
import { ruleFor } from '../../requests/request-for-test.ts'

test('a reason has no white space around it', () => {
  expect(visibleReason('  OPS-123\n')).toBe('OPS-123')
})

test.each([undefined, '', '  \n', '\u200b', '\u2800 \u00ad', '\u0001\u0007', '\ufff9\u0301'])(
  'a reason that shows nothing is none: %j',
  (reason) => {
    expect(visibleReason(reason)).toBeUndefined()
    expect(lacksReason(ruleFor({ needsReason: true }), reason)).toBe(true)
  },
)

test('a reason lacks only where the rule requires one', () => {
  expect(lacksReason(ruleFor({ needsReason: true }), 'OPS-123')).toBe(false)
  expect(lacksReason(ruleFor(), undefined)).toBe(false)
})
