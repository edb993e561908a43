import { WebClient } from '@slack/web-api'
import { describe, expect, it } from 'vitest'
import { webClientOptions } from '../../src/slack/app.ts'
import { notice } from '../../src/slack/blocks.ts'
import { createResponder } from '../../src/slack/response-url.ts'
import { mrkdwn } from '../../src/slack/text.ts'
import { measuredFetch, type SlackCall } from '../../src/slack/web-api.ts'

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

  it('is reported as unreachable if no answer or only a part of one comes', async () => {
    const cut = new ReadableStream({ start: (controller) => controller.error(new DOMException('', 'TimeoutError')) })
    const ways = [() => Promise.reject(new TypeError('fetch failed')), async () => new Response(cut)]
    for (const way of ways) {
      const { client, calls } = clientOf(way)
      await expect(client.auth.test()).rejects.toThrow()
      expect(calls).toEqual([{ method: 'auth.test', status: 'unreachable', ms: expect.any(Number) }])
    }
  })

  it('returns the answer unchanged', async () => {
    const { client } = clientOf(async () => json({ ok: true, ts: '1.2', channel: 'C1' }, 200, { 'x-oauth-scopes': 'chat:write' }))
    const answer = await client.chat.postMessage({ channel: 'C1', text: 'x' })
    expect(answer).toMatchObject({ ok: true, ts: '1.2', response_metadata: { scopes: ['chat:write'] } })
  })
})

describe('an answer through a response_url', () => {
  it.each<[number, SlackCall['status']]>([
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
