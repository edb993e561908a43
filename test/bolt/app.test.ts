import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { WebClient } from '@slack/web-api'
import { afterEach, describe, expect, test } from 'vitest'
import { webClientOptions } from '../../src/bolt/app.ts'
import { classifySlackFailure, type SlackCall } from '../../src/slack/web-api.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {}, setLevel() {}, getLevel: () => 'info', setName() {} }

const stops: (() => void)[] = []
afterEach(() => {
  for (const stop of stops.splice(0)) stop()
})

/** A client as Lockkeeper creates it, with a Slack that answers so. `received` are the requests that arrived, `calls` what is measured. */
async function clientOf(answer: (response: ServerResponse) => void, timeout = 5_000) {
  const received: { headers: IncomingMessage['headers']; form: URLSearchParams }[] = []
  const calls: SlackCall[] = []
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString()
    received.push({ headers: request.headers, form: new URLSearchParams(body) })
    answer(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stops.push(() => {
    server.close()
    server.closeAllConnections()
  })
  const slackApiUrl = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/api`)
  const options = webClientOptions(slackApiUrl, silent as never, (call) => calls.push(call))
  const client = new WebClient('xoxb-1', { ...options, timeout })
  return { received, calls, post: () => client.chat.postMessage({ channel: 'C1', text: 'Grüße & mehr' }) }
}

/** Returns what is known of a call that failed. */
const failureOf = (call: Promise<unknown>) => call.then(() => 'no failure', classifySlackFailure)

describe('a call to Slack', () => {
  test('waits at most 5 s for the whole answer', () => {
    expect(webClientOptions(new URL('https://slack.test/api/'), silent as never)).toMatchObject({ timeout: 5_000 })
  })

  test('sends the form and the token', async () => {
    const { received, post } = await clientOf((response) => response.end('{"ok":true,"ts":"1.2"}'))

    expect(await post()).toMatchObject({ ok: true, ts: '1.2' })
    expect(Object.fromEntries(received[0]?.form ?? [])).toMatchObject({ channel: 'C1', text: 'Grüße & mehr' })
    expect(received[0]?.headers).toMatchObject({ authorization: 'Bearer xoxb-1', 'content-type': 'application/x-www-form-urlencoded' })
  })

  test('that is rate-limited fails at once, and says how long to wait', async () => {
    const { received, post } = await clientOf((response) => response.writeHead(429, { 'retry-after': '7' }).end('{"ok":false}'))
    expect(await failureOf(post())).toEqual({ is: 'rate-limited', retryInMs: 7_000 })
    expect(received).toHaveLength(1)
  })

  test.each<[string, (response: ServerResponse) => void]>([
    ['a redirect, which would take the token elsewhere', (response) => response.writeHead(307, { location: '/elsewhere' }).end()],
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
    const { received, calls, post } = await clientOf(answer, 1_000)
    expect(await failureOf(post())).toMatchObject({ is: expect.stringMatching(/^(unknown|timed-out)$/) })
    expect(received).toHaveLength(1)
    expect(calls).toMatchObject([{ method: 'chat.postMessage', status: 'unreachable' }])
  })
})
