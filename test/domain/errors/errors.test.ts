import { expect, test } from 'vitest'
import { ApiError, certainlyNotApplied, isFeatureMissing, isKeyRefused, isRefusal } from '../../../src/domain/errors.ts'

test.each<[what: string, status: number, codes: string[], feature: boolean, key: boolean, refusal: boolean]>([
  ['a feature that the team lacks', 403, ['SOMETHING', 'FEATURE_NOT_ENABLED'], true, false, true],
  ['the same in small letters', 403, ['feature_not_enabled'], true, false, true],
  ['a key that may not do this', 403, [], false, true, false],
  ['an address that the key is not for', 403, ['IP_NOT_ALLOWED'], false, true, false],
  ['a code that only looks like it', 403, ['FEATURE_NOT_ENABLED_FOR_KEY'], false, true, false],
  ['a rejected key', 401, ['FEATURE_NOT_ENABLED'], false, true, false],
  ['another refusal', 422, ['FEATURE_NOT_ENABLED'], false, false, true],
  ['a fault', 500, ['FEATURE_NOT_ENABLED'], false, false, false],
])('%s: %i %j', (_, status, codes, feature, key, refusal) => {
  const error = new ApiError({ operation: 'elasticIps.move', status, codes })
  expect([isFeatureMissing(error), isKeyRefused(error), isRefusal(error)]).toEqual([feature, key, refusal])
  expect(certainlyNotApplied(error)).toBe(status < 500)
})
