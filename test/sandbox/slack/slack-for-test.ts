import { onTestFinished } from 'vitest'
import type { Json } from './json.ts'
import { quietClient } from './quiet-client.ts'
import { startScriptedBot } from './scripted-bot.ts'
import type { SlackOptions } from './slack.ts'
import { startSlack } from './start-slack.ts'

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
  const slack = await startSlack({ botUrl: bot.url, now: () => clock.now, ackDeadlineMs: 300, ...options })
  onTestFinished(async () => {
    await bot.close()
    await slack.close()
  })
  return { bot, slack, clock, client: quietClient(slack) }
}

/** Returns Slack's code for a refused call, or `ok`. */
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
export const option = (text = 'One', more: Json = {}) => ({ text: plain(text), value: text.slice(0, 70), ...more })
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
