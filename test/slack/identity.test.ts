import { WebAPIPlatformError, WebAPIRateLimitedError, WebAPIRequestError, type WebClient } from '@slack/web-api'
import { describe, expect, test } from 'vitest'
import { AwayError, StartError } from '../../src/domain/errors.ts'
import { fetchIdentity } from '../../src/slack/web-api.ts'

const apiUrl = new URL('https://slack.com/api/')

function clientThat(test: () => Promise<unknown>): WebClient {
  return { auth: { test } } as unknown as WebClient
}

function errorAfter(error: unknown): Promise<unknown> {
  const client = clientThat(() => Promise.reject(error))
  return fetchIdentity(client, apiUrl).catch((thrown: unknown) => thrown)
}

const platform = (error: string) => new WebAPIPlatformError({ ok: false, error })

describe("the bot's identity", () => {
  test('is what auth.test answers', async () => {
    const answer = { bot_id: 'B1', user_id: 'U1', team_id: 'T1', url: 'https://nimbus.slack.com/' }
    const identity = await fetchIdentity(
      clientThat(async () => answer),
      apiUrl,
    )
    expect(identity).toEqual({ botId: 'B1', botUserId: 'U1', teamId: 'T1', workspaceUrl: 'https://nimbus.slack.com/' })
  })

  test.each(['invalid_auth', 'account_inactive', 'token_revoked', 'not_authed'])(
    'is a StartError if Slack rejects the token: %s',
    async (code) => {
      const error = await errorAfter(platform(code))
      expect(error).toBeInstanceOf(StartError)
      expect((error as Error).message).toMatch(new RegExp(`^Slack rejects SLACK_BOT_TOKEN \\(${code}\\)\\. `))
    },
  )

  test.each<[string, unknown]>([
    ['internal_error', platform('internal_error')],
    ['service_unavailable', platform('service_unavailable')],
    ['no answer', new WebAPIRequestError(new TypeError('fetch failed'))],
    ['TimeoutError', new DOMException('', 'TimeoutError')],
  ])('is an AwayError if Slack does not answer: %s', async (problem, thrown) => {
    const error = await errorAfter(thrown)
    expect(error).toBeInstanceOf(AwayError)
    expect((error as Error).message).toBe(`Slack does not answer at https://slack.com (${problem}). Check that this machine may reach it.`)
  })

  test('is an AwayError with the wait if Slack limits the calls', async () => {
    expect(await errorAfter(new WebAPIRateLimitedError(30))).toMatchObject({
      name: 'AwayError',
      retryInMs: 30_000,
      message: 'Slack limits requests at https://slack.com.',
    })
  })
})
