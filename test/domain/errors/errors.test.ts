import { describe, expect, test } from 'vitest'
import { ApiError, certainlyNotApplied, isFeatureMissing, isKeyRefused, isRefusal } from '../../../src/domain/errors.ts'

const refused = (status: number, ...codes: string[]) => new ApiError({ operation: 'elasticIps.move', status, codes })

describe('a feature that the team lacks', () => {
  test.each(['FEATURE_NOT_ENABLED', 'feature_not_enabled', 'Feature_Not_Enabled'])('is a refusal and not a refused key: 403 %s', (code) => {
    const error = refused(403, 'SOMETHING', code)

    expect(isFeatureMissing(error)).toBe(true)
    expect(isKeyRefused(error)).toBe(false)
    expect(isRefusal(error)).toBe(true)
    expect(certainlyNotApplied(error)).toBe(true)
  })

  test.each([
    ['without a code', refused(403)],
    ['with another code', refused(403, 'IP_NOT_ALLOWED')],
    ['with a code that only looks like it', refused(403, 'FEATURE_NOT_ENABLED_FOR_KEY')],
    ['401 with its code', refused(401, 'FEATURE_NOT_ENABLED')],
  ])('differs from a refused key: %s', (_, error) => {
    expect(isFeatureMissing(error)).toBe(false)
    expect(isKeyRefused(error)).toBe(true)
    expect(isRefusal(error)).toBe(false)
  })

  test.each([refused(422, 'FEATURE_NOT_ENABLED'), refused(500, 'FEATURE_NOT_ENABLED'), new Error('FEATURE_NOT_ENABLED'), undefined])(
    'needs the status 403: %s',
    (error) => {
      expect(isFeatureMissing(error)).toBe(false)
    },
  )
})
