import { WebAPIHTTPError, WebAPIPlatformError, WebAPIRateLimitedError, WebAPIRequestError } from '@slack/web-api'
import { describe, expect, it } from 'vitest'
import { classifySlackFailure, unreachableChannelErrors } from '../../../src/slack/web-api/failure.ts'

const platform = (error: string) => new WebAPIPlatformError({ ok: false, error })

describe('a call that Slack did not carry out', () => {
  it.each(['not_in_channel', 'channel_not_found', 'invalid_blocks', 'trigger_expired', 'token_revoked'])(
    'is a refusal, by its name: %s',
    (error) => {
      expect(classifySlackFailure(platform(error))).toEqual({ is: 'refused', error })
    },
  )

  it('is to be tried again when Slack says', () => {
    expect(classifySlackFailure(new WebAPIRateLimitedError(30))).toEqual({ is: 'rate-limited', retryInMs: 30_000 })
  })

  it.each([0, -1, Number.NaN])('is to be tried again after a second when Slack says %d', (retryAfter) => {
    expect(classifySlackFailure(new WebAPIRateLimitedError(retryAfter))).toEqual({ is: 'rate-limited', retryInMs: 1_000 })
  })

  it.each(['ratelimited', 'rate_limited'])('is to be tried again after a second when Slack says only %s', (error) => {
    expect(classifySlackFailure(platform(error))).toEqual({ is: 'rate-limited', retryInMs: 1_000 })
  })
})

describe('a call whose outcome is not known', () => {
  it.each([
    ['an error of Slack’s own', platform('internal_error'), 'internal_error'],
    ['an error in the middle', platform('fatal_error'), 'fatal_error'],
    ['a service that is away', platform('service_unavailable'), 'service_unavailable'],
    ['a page of a proxy', platform('<html>502 Bad Gateway</html>'), 'an answer that is not from Slack'],
    ['a name that goes on and on', platform('x'.repeat(61)), 'an answer that is not from Slack'],
    ['a status of a proxy', new WebAPIHTTPError(502, 'Bad Gateway', {}, 'lk_9f2c1b7e4d'), 'HTTP status 502'],
    ['no answer', new WebAPIRequestError(new TypeError('fetch failed')), 'no answer'],
    ['a body that did not end in time', new DOMException('The operation was aborted due to timeout', 'TimeoutError'), 'TimeoutError'],
  ])('is none of the other two: %s', (_, thrown, problem) => {
    expect(classifySlackFailure(thrown)).toEqual({ is: 'unknown', problem })
  })

  it.each([undefined, null, 'timeout', 0, {}, { code: 'slack_webapi_platform_error' }])(
    'is so for whatever else is thrown: %j',
    (thrown) => {
      expect(classifySlackFailure(thrown).is).toBe('unknown')
    },
  )

  it('never passes on what else is on an error', () => {
    const thrown = [
      new WebAPIHTTPError(500, 'Internal Server Error', { 'set-cookie': 'lk_9f2c1b7e4d' }, 'lk_9f2c1b7e4d'),
      new WebAPIPlatformError({ ok: false, error: 'LK 9f2c1b7e4d', echo: 'lk_9f2c1b7e4d' } as never),
      new WebAPIRequestError(new Error('lk_9f2c1b7e4d')),
    ]

    expect(JSON.stringify(thrown.map(classifySlackFailure))).not.toContain('9f2c1b7e4d')
  })
})

describe('a channel that takes no messages', () => {
  it.each(['not_in_channel', 'channel_not_found', 'is_archived', 'restricted_action'])('is known by %s', (error) => {
    expect(unreachableChannelErrors.has(error)).toBe(true)
  })

  it.each(['invalid_blocks', 'token_revoked', 'msg_too_long'])('is not known by %s, which another channel would bring too', (error) => {
    expect(unreachableChannelErrors.has(error)).toBe(false)
  })
})
