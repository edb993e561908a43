import { WebAPIHTTPError, WebAPIPlatformError, WebAPIRateLimitedError, WebAPIRequestError, WebClient } from '@slack/web-api'
import { describe, expect, it, test } from 'vitest'
import { webClientOptions } from '../../src/bolt/app.ts'
import { AwayError, StartError } from '../../src/domain/errors.ts'
import { NotSentError } from '../../src/http/send-before.ts'
import { notice } from '../../src/slack/blocks.ts'
import { createResponder } from '../../src/slack/respond.ts'
import { mrkdwn } from '../../src/slack/text.ts'
import { classifySlackFailure, createMessenger, fetchIdentity, measuredFetch, type SlackCall } from '../../src/slack/web-api.ts'

const platform = (error: string) => new WebAPIPlatformError({ ok: false, error })

const limitedFor = (retryInMs: number) => ({ is: 'rate-limited', retryInMs })
const unknown = (problem: unknown) => ({ is: 'unknown', problem })

describe('what is known of a call that failed', () => {
  it.each<[string, unknown, object]>([
    ['a refusal', platform('not_in_channel'), { is: 'refused', error: 'not_in_channel' }],
    ['a limit', new WebAPIRateLimitedError(30), limitedFor(30_000)],
    ['a limit of no time', new WebAPIRateLimitedError(-1), limitedFor(1_000)],
    ['a limit of a time that is none', new WebAPIRateLimitedError(Number.NaN), limitedFor(1_000)],
    ['a limit by its code', platform('ratelimited'), limitedFor(1_000)],
    ['a limit by its other code', platform('rate_limited'), limitedFor(1_000)],
    ['an internal error of Slack', platform('internal_error'), unknown('internal_error')],
    ['a fatal error of Slack', platform('fatal_error'), unknown('fatal_error')],
    ['an unavailable service', platform('service_unavailable'), unknown('service_unavailable')],
    ['a page of a proxy', platform('<html>502 Bad Gateway</html>'), unknown('an answer that is not from Slack')],
    ['a code that is too long', platform('x'.repeat(61)), unknown('an answer that is not from Slack')],
    ['a status of a proxy', new WebAPIHTTPError(502, 'Bad Gateway', {}, 'lk_9f2c1b7e4d'), unknown('HTTP status 502')],
    ['a proxy that got no answer in time', new WebAPIHTTPError(504, '', {}, ''), { is: 'timed-out', problem: 'HTTP status 504' }],
    ['no answer', new WebAPIRequestError(new TypeError('fetch failed')), unknown('no answer')],
    ['no answer in time', new WebAPIRequestError(new DOMException('aborted', 'TimeoutError')), { is: 'timed-out', problem: 'no answer' }],
    ['nothing sent', new WebAPIRequestError(new NotSentError('not sent')), { is: 'unsent', problem: 'no answer' }],
    [
      'a body that did not end in time',
      new DOMException('The operation was aborted due to timeout', 'TimeoutError'),
      { is: 'timed-out', problem: 'TimeoutError' },
    ],
    ['nothing', undefined, unknown('no answer')],
    ['a text', 'timeout', unknown('no answer')],
    ['an answer that is missing', { code: 'slack_webapi_platform_error' }, unknown('an answer that is not from Slack')],
  ])('%s', (_, thrown, expected) => {
    expect(classifySlackFailure(thrown)).toEqual(expected)
  })

  it('passes on no other texts of the error', () => {
    const thrown = [
      new WebAPIHTTPError(500, 'Internal Server Error', { 'set-cookie': 'lk_9f2c1b7e4d' }, 'lk_9f2c1b7e4d'),
      new WebAPIPlatformError({ ok: false, error: 'LK 9f2c1b7e4d', echo: 'lk_9f2c1b7e4d' } as never),
      new WebAPIRequestError(new Error('lk_9f2c1b7e4d')),
    ]

    expect(JSON.stringify(thrown.map(classifySlackFailure))).not.toContain('9f2c1b7e4d')
  })
})

const apiUrl = new URL('https://slack.com/api/')

const identityOf = (test: () => Promise<unknown>) => fetchIdentity({ auth: { test } } as unknown as WebClient, apiUrl)

describe("the bot's identity", () => {
  test('is what auth.test answers', async () => {
    const answer = { bot_id: 'B1', user_id: 'U1', team_id: 'T1', url: 'https://nimbus.slack.com/' }
    const identity = { botId: 'B1', botUserId: 'U1', teamId: 'T1', workspaceUrl: 'https://nimbus.slack.com/' }
    expect(await identityOf(async () => answer)).toEqual(identity)
    const ofAll = { ...answer, team_id: 'T2', enterprise_id: 'E1' }
    expect((await identityOf(async () => ({ ...ofAll, is_enterprise_install: true }))).teamId).toBe('E1')
    expect((await identityOf(async () => ({ ...ofAll, is_enterprise_install: false }))).teamId).toBe('T2')
  })

  const noAnswer = (problem: string) => `Slack does not answer at https://slack.com (${problem}). Check that this machine may reach it.`
  test.each<[string, Error, typeof StartError | typeof AwayError, object]>([
    [
      'rejects the token',
      platform('invalid_auth'),
      StartError,
      { message: expect.stringMatching(/^Slack rejects SLACK_BOT_TOKEN \(invalid_auth\)\. /) },
    ],
    ['has a problem', platform('internal_error'), AwayError, { message: noAnswer('internal_error') }],
    ['does not answer', new WebAPIRequestError(new TypeError('fetch failed')), AwayError, { message: noAnswer('no answer') }],
    [
      'limits the calls',
      new WebAPIRateLimitedError(30),
      AwayError,
      { retryInMs: 30_000, message: 'Slack limits requests at https://slack.com.' },
    ],
  ])('is an error of its kind if Slack %s', async (_, thrown, kind, expected) => {
    const error = await identityOf(() => Promise.reject(thrown)).catch((failed: unknown) => failed)
    expect(error).toBeInstanceOf(kind)
    expect(error).toMatchObject(expected)
  })
})

const silent = { debug() {}, info() {}, warn() {}, error() {}, setLevel() {}, getLevel: () => 'info', setName() {} }

/** A Web API client whose calls are recorded, with a Slack that always gives this answer. */
function clientOf(answer: () => Promise<Response>) {
  const calls: SlackCall[] = []
  const options = webClientOptions(new URL('https://slack.test/api/'), silent as never)
  const client = new WebClient('xoxb-1', { ...options, fetch: measuredFetch((call) => calls.push(call), { fetch: answer }) })
  return { client, calls }
}

const json = (body: unknown, status = 200, headers = {}) => Response.json(body, { status, headers })

describe('a call of the Web API', () => {
  it.each<[string, () => Response, SlackCall['status'], error?: string]>([
    ['as ok', () => json({ ok: true, ts: '1.2' }), 'ok'],
    ['as ok, however Slack writes it', () => new Response(' { "ts": "1.2", "ok" : true }'), 'ok'],
    ['as refused, although its HTTP status is 200', () => json({ ok: false, error: 'not_in_channel' }), 'refused', 'not_in_channel'],
    ['as refused if the token is not valid', () => json({ ok: false, error: 'invalid_auth' }), 'refused', 'invalid_auth'],
    ['as rate-limited, by the HTTP status', () => json({ ok: false, error: 'ratelimited' }, 429, { 'retry-after': '1' }), 'rate-limited'],
    ['as rate-limited, by the code', () => json({ ok: false, error: 'rate_limited' }), 'rate-limited'],
    ['as unknown if Slack has an internal error', () => json({ ok: false, error: 'internal_error' }), 'unknown'],
    ['as unknown if a web page answers', () => new Response('<html>Log in to the network</html>'), 'unknown'],
    ['as unknown if the body is null', () => new Response('null'), 'unknown'],
    ['by any other HTTP status', () => new Response('upstream', { status: 503 }), 503],
  ])('is reported once, %s', async (_, answer, status, error) => {
    const { client, calls } = clientOf(async () => answer())
    await client.chat.postMessage({ channel: 'C1', text: 'x' }).catch(() => {})
    expect(calls).toEqual([{ method: 'chat.postMessage', status, ...(error ? { error } : {}), ms: expect.any(Number) }])
  })
})

describe('an answer through a response_url', () => {
  it.each([
    [200, 'ok'],
    [404, 404],
    [429, 'rate-limited'],
  ])('is reported with its HTTP status %d, and without the URL', async (httpStatus, status) => {
    const calls: SlackCall[] = []
    const fetch = measuredFetch((call) => calls.push(call), {
      fetch: async () => new Response('ok', { status: httpStatus }),
      isResponseUrl: true,
    })
    const respond = createResponder({ allowedOrigins: ['https://hooks.slack.com'], fetch })
    await respond('https://hooks.slack.com/commands/T1/397700885554/auth.test', notice(mrkdwn`Done.`))
    expect(calls).toEqual([{ method: 'response_url', status, ms: expect.any(Number) }])
  })
})

/** A messenger for a Slack that limits each method in #ops for 30 s. */
function limited() {
  let now = 1_000_000
  const calls: string[] = []
  const call =
    (method: string) =>
    async ({ channel }: { channel: string }) => {
      calls.push(`${method} ${channel}`)
      if (channel === 'C0OPS' && now < 1_030_000)
        throw Object.assign(new Error('limited'), { code: 'slack_webapi_rate_limited_error', retryAfter: 30 })
      return { ok: true, ts: '1.1', channel }
    }
  const client = { chat: { postMessage: call('post'), update: call('update') } } as unknown as WebClient
  const messenger = createMessenger({ client, botUserId: () => 'U1', now: () => now })
  const pass = (ms: number) => {
    now += ms
  }
  return { messenger, calls, pass }
}

const message = { text: 'x', blocks: [] }

test.each(['post', 'update'] as const)(
  'if Slack limits %s in a channel, no more are tried there until the wait is over',
  async (method) => {
    const { messenger, calls, pass } = limited()
    const send = (channelId: string) => messenger[method]({ channelId, ts: '1.1' }, message)
    expect(await send('C0OPS')).toEqual({ is: 'rate-limited', retryInMs: 30_000 })
    pass(10_000)
    expect(await send('C0OPS')).toEqual({ is: 'rate-limited', retryInMs: 20_000 })
    expect(await send('C0DEV')).toMatchObject({ is: 'sent' })
    pass(20_000)
    expect(await send('C0OPS')).toMatchObject({ is: 'sent' })
    expect(calls).toEqual([`${method} C0OPS`, `${method} C0DEV`, `${method} C0OPS`])
  },
)

test('a message is sent with the arguments that Slack documents for the method, and no others', async () => {
  const sent: Record<string, string[]> = {}
  const record = (method: string) => async (args: object) => {
    sent[method] = Object.keys(args).toSorted()
    return { ok: true, ts: '1.1', channel: 'C0OPS' }
  }
  const chat = { postMessage: record('post'), update: record('update'), postEphemeral: record('ephemeral') }
  const messenger = createMessenger({ client: { chat } as unknown as WebClient, botUserId: () => 'U1' })

  await messenger.post({ channelId: 'C0OPS', threadTs: '1.0', broadcast: true, key: 'r1/card' }, message)
  await messenger.update({ channelId: 'C0OPS', ts: '1.1', key: 'r1/card' }, message)
  await messenger.postEphemeral({ channelId: 'C0OPS', userId: 'U2' }, message)

  expect(sent).toEqual({
    post: ['blocks', 'channel', 'link_names', 'metadata', 'parse', 'reply_broadcast', 'text', 'thread_ts', 'unfurl_links', 'unfurl_media'],
    update: ['blocks', 'channel', 'link_names', 'metadata', 'parse', 'text', 'ts'],
    ephemeral: ['blocks', 'channel', 'link_names', 'parse', 'text', 'user'],
  })
})

describe('the search for a lost message', () => {
  const own = { ts: '7.1', user: 'U1', metadata: { event_payload: { key: 'r1/card' } } }
  const where = { channelId: 'C0OPS', key: 'r1/card', oldestMs: 60_900 }

  /** A channel whose history has these pages. */
  function channelWith(pages: object[][], botUserId = (): string | undefined => 'U1') {
    const calls: { cursor?: string }[] = []
    const history = async (args: { cursor?: string }) => {
      calls.push(args)
      const page = Number(args.cursor ?? 0)
      const has_more = page + 1 < pages.length
      return { ok: true, messages: pages[page], has_more, response_metadata: { next_cursor: has_more ? String(page + 1) : '' } }
    }
    const client = { conversations: { history } } as unknown as WebClient
    return { messenger: createMessenger({ client, botUserId }), calls }
  }

  test('covers the time when it may have been posted, rounded out to whole seconds', async () => {
    const { messenger, calls } = channelWith([[own]])
    expect(await messenger.find({ ...where, latestMs: 120_100 })).toEqual({ is: 'found', ts: '7.1', all: ['7.1'] })
    expect(await messenger.find(where)).toEqual({ is: 'found', ts: '7.1', all: ['7.1'] })
    expect(calls).toMatchObject([{ oldest: '60', latest: '121' }, { oldest: '60' }])
    expect(calls[1]).not.toHaveProperty('latest')
  })

  test('reads five pages, and never reports the message as absent if there are more', async () => {
    const [four, five] = [Array.from({ length: 4 }, () => [{ ts: '1.1', user: 'U2' }]), Array.from({ length: 5 }, () => [])]
    expect(await channelWith([...four, [own]]).messenger.find(where)).toEqual({ is: 'found', ts: '7.1', all: ['7.1'] })
    expect(await channelWith(four).messenger.find(where)).toEqual({ is: 'absent' })
    const tooMany = channelWith([...five, [own]])
    expect(await tooMany.messenger.find(where)).toEqual({ is: 'cannot-search' })
    expect(tooMany.calls).toHaveLength(5)
  })

  test('finds only messages of the bot itself, and none before it knows who it is, because one that is there would be sent again', async () => {
    expect(await channelWith([[{ ...own, user: 'U2' }]]).messenger.find(where)).toEqual({ is: 'absent' })
    expect(await channelWith([[own]], () => undefined).messenger.find(where)).toMatchObject({ is: 'unknown' })
  })
})
