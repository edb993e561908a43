import { describe, expect, test } from 'vitest'
import { ApiError, certainlyNotApplied, isFeatureMissing, isKeyRefused, isRefusal } from '../../src/domain/api-errors.ts'

const refused = (status: number, ...codes: string[]) => new ApiError({ operation: 'elasticIps.move', status, codes })

describe('a feature that the team lacks', () => {
  test.each(['FEATURE_NOT_ENABLED', 'feature_not_enabled', 'Feature_Not_Enabled'])(
    'is no refused key, and a refusal like others: 403 %s',
    (code) => {
      const error = refused(403, 'SOMETHING', code)

      expect(isFeatureMissing(error)).toBe(true)
      expect(isKeyRefused(error)).toBe(false)
      expect(isRefusal(error)).toBe(true)
      expect(certainlyNotApplied(error)).toBe(true)
    },
  )

  test.each([
    ['without a code', refused(403)],
    ['with the code of something else', refused(403, 'IP_NOT_ALLOWED')],
    ['with a code that only looks like it', refused(403, 'FEATURE_NOT_ENABLED_FOR_KEY')],
    ['401 with its code', refused(401, 'FEATURE_NOT_ENABLED')],
  ])('is not what any other refused key means: %s', (_, error) => {
    expect(isFeatureMissing(error)).toBe(false)
    expect(isKeyRefused(error)).toBe(true)
    expect(isRefusal(error)).toBe(false)
  })

  test.each([refused(422, 'FEATURE_NOT_ENABLED'), refused(500, 'FEATURE_NOT_ENABLED'), new Error('FEATURE_NOT_ENABLED'), undefined])(
    'is told by a 403 alone: %s',
    (error) => {
      expect(isFeatureMissing(error)).toBe(false)
    },
  )
})
