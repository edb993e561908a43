import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Logger, LogLevel, WebClient } from '@slack/web-api'
import { onTestFinished } from 'vitest'
import { readBody } from './http.ts'
import { type Json, objectOf, parseJson, stringOf } from './json.ts'
import type { SlackOptions } from './slack.ts'
import { startSlack } from './start-slack.ts'

/** The library prints every refusal as an error. A test that expects one needs silence. */
const quietLogger: Logger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  setLevel: () => {},
  getLevel: () => LogLevel.ERROR,
  setName: () => {},
}

export function quietClient(slack: { apiUrl: string; botToken: string }, token = slack.botToken): WebClient {
  return new WebClient(token, { slackApiUrl: slack.apiUrl, retryConfig: { retries: 0 }, rejectRateLimitedCalls: true, logger: quietLogger })
}

/** What the bot of a test answers: a body (JSON, text or nothing), a status, or `hold` to let Slack wait. */
export type Script = (payload: Json) => Answer | Promise<Answer>

interface Answer {
  status?: number
  body?: unknown
  hold?: boolean
}

/** Events are JSON, commands are forms, and interactions are JSON within a form. */
function payloadOf(contentType: string, body: string): Json {
  if (contentType === 'application/json') return objectOf(parseJson(body))
  const form = Object.fromEntries(new URLSearchParams(body))
  return form.payload === undefined ? form : objectOf(parseJson(stringOf(form.payload)))
}

/** A bot without a library, to test what Slack sends and does with answers. */
export async function startScriptedBot(script: Script = () => ({})) {
  let current = script
  const received: { headers: Record<string, unknown>; payload: Json }[] = []

  const server = createServer((request, response) => {
    void (async () => {
      const payload = payloadOf(request.headers['content-type'] ?? '', await readBody(request))
      received.push({ headers: request.headers, payload })
      const { status = 200, body, hold } = await current(payload)
      if (hold) return
      response.writeHead(status)
      response.end(body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body))
    })()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/slack/events`,
    received,
    answer(next: Script): void {
      current = next
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

export const ada = 'U0ADA00001'
export const ben = 'U0BEN00001'
export const chiara = 'U0CHI00001'
export const dov = 'U0DOV00001'
export const ops = 'C0OPS00001'
export const general = 'C0GENERAL1'

/**
 * Starts the stand-in with a scripted bot and Slack's own client. Closes it when the test ends. Its clock only changes when `clock` is set.
 */
export async function startScripted(options: SlackOptions = {}) {
  const clock = { now: 1_763_700_000_000 }
  const bot = await startScriptedBot()
  const slack = await startSlack({ botUrl: bot.url, now: () => clock.now, ackDeadlineMs: 1_000, ...options })
  onTestFinished(async () => {
    await bot.close()
    await slack.close()
  })
  return { bot, slack, clock, client: quietClient(slack) }
}

export async function outcomeOf(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => 'ok',
    (error: { data?: { error?: string } }) => {
      if (error.data?.error === undefined) throw error
      return error.data.error
    },
  )
}

export const plain = (text: string) => ({ type: 'plain_text' as const, text })
export const mrkdwn = (text: string) => ({ type: 'mrkdwn' as const, text })
export const section = (more: Json = {}) => ({ type: 'section' as const, text: mrkdwn('Hello'), ...more })
export const button = (more: Json = {}) => ({ type: 'button' as const, action_id: 'go', value: 'r1', text: plain('Go'), ...more })
export const actions = (...elements: Json[]) => ({ type: 'actions' as const, block_id: 'buttons', elements })
export const input = (label: string, element: Json = { type: 'plain_text_input' }, more: Json = {}) => ({
  type: 'input' as const,
  block_id: label,
  label: plain(label),
  element: { action_id: 'a', ...element },
  ...more,
})

/** Returns a modal with the type that the client expects. The stand-in checks its content. */
export function modal(title: string, more: Json = {}) {
  return { type: 'modal', callback_id: title, title: plain(title), submit: plain('Send'), blocks: [input('Name')], ...more } as never
}
