import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { WebClient } from '@slack/web-api'
import { afterEach, describe, expect, test } from 'vitest'
import { classifySlackFailure } from '../../../src/slack/web-api/failure.ts'
import { createPostForm } from '../../../src/slack/web-api/post-form.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {}, setLevel() {}, getLevel: () => 'info', setName() {} }

const stops: (() => void)[] = []
afterEach(() => {
  for (const stop of stops.splice(0)) stop()
})

/** A Web API client that posts its forms to a Slack that answers so. `received` are the bodies that arrived. */
async function clientOf(answer: (response: ServerResponse, request: IncomingMessage) => void, timeoutMs = 5_000) {
  const received: { headers: IncomingMessage['headers']; form: URLSearchParams }[] = []
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString()
    received.push({ headers: request.headers, form: new URLSearchParams(body) })
    answer(response, request)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stops.push(() => {
    server.close()
    server.closeAllConnections()
  })
  const slackApiUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/`
  const client = new WebClient('xoxb-1', {
    slackApiUrl,
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    logger: silent as never,
    fetch: createPostForm({ timeoutMs }),
  })
  return { received, post: () => client.chat.postMessage({ channel: 'C1', text: 'Grüße & mehr' }) }
}

/** Returns what is known of a call that failed. */
const failureOf = (call: Promise<unknown>) => call.then(() => 'no failure', classifySlackFailure)

describe('a call to Slack', () => {
  test('sends the form and the token, and asks for an answer that is not compressed', async () => {
    const { received, post } = await clientOf((response) => response.end('{"ok":true,"ts":"1.2"}'))

    expect(await post()).toMatchObject({ ok: true, ts: '1.2' })
    expect(Object.fromEntries(received[0]?.form ?? [])).toMatchObject({ channel: 'C1', text: 'Grüße & mehr' })
    expect(received[0]?.headers).toMatchObject({
      authorization: 'Bearer xoxb-1',
      'accept-encoding': 'identity',
      'content-type': 'application/x-www-form-urlencoded',
    })
  })

  test('gives the client the status and the headers of the answer', async () => {
    const { post } = await clientOf((response) => response.writeHead(429, { 'retry-after': '7' }).end('{"ok":false}'))
    expect(await failureOf(post())).toEqual({ is: 'rate-limited', retryInMs: 7_000 })
  })

  test('follows no redirect, because the token would be sent with it', async () => {
    const { received, post } = await clientOf((response) => response.writeHead(307, { location: '/elsewhere' }).end())
    expect(await failureOf(post())).toEqual({ is: 'unknown', problem: 'HTTP status 307' })
    expect(received).toHaveLength(1)
  })

  test.each<[string, (response: ServerResponse) => void]>([
    ['no answer', () => {}],
    ['only the head of an answer', (response) => response.writeHead(200).flushHeaders()],
    ['an answer that does not end', (response) => response.writeHead(200).write('{"ok":true')],
    ['a connection that breaks', (response) => response.destroy()],
    [
      'an answer that is cut off',
      (response) => {
        response.writeHead(200, { 'content-length': '50' }).write('{"ok":true}')
        setTimeout(() => response.destroy(), 20)
      },
    ],
  ])('fails with an unknown result after %s, and is not repeated', async (_, answer) => {
    const { received, post } = await clientOf(answer, 150)
    expect(await failureOf(post())).toEqual({ is: 'unknown', problem: 'no answer' })
    expect(received).toHaveLength(1)
  })
})
