import { WebAPIHTTPError, WebAPIPlatformError, WebAPIRateLimitedError, WebAPIRequestError } from '@slack/web-api'
import { describe, expect, it } from 'vitest'
import { classifySlackFailure, unreachableChannelErrors } from '../../src/slack/web-api.ts'

const platform = (error: string) => new WebAPIPlatformError({ ok: false, error })

describe('a call that Slack did not carry out', () => {
  it.each(['not_in_channel', 'channel_not_found', 'invalid_blocks', 'trigger_expired', 'token_revoked'])(
    'is a refusal with its code: %s',
    (error) => {
      expect(classifySlackFailure(platform(error))).toEqual({ is: 'refused', error })
    },
  )

  it('can be tried again after the time that Slack gives', () => {
    expect(classifySlackFailure(new WebAPIRateLimitedError(30))).toEqual({ is: 'rate-limited', retryInMs: 30_000 })
  })

  it.each([0, -1, Number.NaN])('can be tried again after a second if Slack gives %d', (retryAfter) => {
    expect(classifySlackFailure(new WebAPIRateLimitedError(retryAfter))).toEqual({ is: 'rate-limited', retryInMs: 1_000 })
  })

  it.each(['ratelimited', 'rate_limited'])('can be tried again after a second if Slack gives only the code %s', (error) => {
    expect(classifySlackFailure(platform(error))).toEqual({ is: 'rate-limited', retryInMs: 1_000 })
  })
})

describe('a call with an unknown outcome', () => {
  it.each([
    ['an internal error of Slack', platform('internal_error'), 'internal_error'],
    ['a fatal error of Slack', platform('fatal_error'), 'fatal_error'],
    ['an unavailable service', platform('service_unavailable'), 'service_unavailable'],
    ['a page of a proxy', platform('<html>502 Bad Gateway</html>'), 'an answer that is not from Slack'],
    ['a code that is too long', platform('x'.repeat(61)), 'an answer that is not from Slack'],
    ['a status of a proxy', new WebAPIHTTPError(502, 'Bad Gateway', {}, 'lk_9f2c1b7e4d'), 'HTTP status 502'],
    ['no answer', new WebAPIRequestError(new TypeError('fetch failed')), 'no answer'],
    ['a body that did not end in time', new DOMException('The operation was aborted due to timeout', 'TimeoutError'), 'TimeoutError'],
  ])('is neither refused nor rate-limited: %s', (_, thrown, problem) => {
    expect(classifySlackFailure(thrown)).toEqual({ is: 'unknown', problem })
  })

  it.each([undefined, null, 'timeout', 0, {}, { code: 'slack_webapi_platform_error' }])(
    'is assumed for anything else that is thrown: %j',
    (thrown) => {
      expect(classifySlackFailure(thrown).is).toBe('unknown')
    },
  )

  it('passes on no other texts of the error', () => {
    const thrown = [
      new WebAPIHTTPError(500, 'Internal Server Error', { 'set-cookie': 'lk_9f2c1b7e4d' }, 'lk_9f2c1b7e4d'),
      new WebAPIPlatformError({ ok: false, error: 'LK 9f2c1b7e4d', echo: 'lk_9f2c1b7e4d' } as never),
      new WebAPIRequestError(new Error('lk_9f2c1b7e4d')),
    ]

    expect(JSON.stringify(thrown.map(classifySlackFailure))).not.toContain('9f2c1b7e4d')
  })
})

describe('a channel that takes no messages', () => {
  it.each(['not_in_channel', 'channel_not_found', 'is_archived', 'restricted_action'])('is recognized by %s', (error) => {
    expect(unreachableChannelErrors.has(error)).toBe(true)
  })

  it.each(['invalid_blocks', 'token_revoked', 'msg_too_long'])('is not the reason for %s, which can happen in every channel', (error) => {
    expect(unreachableChannelErrors.has(error)).toBe(false)
  })
})
