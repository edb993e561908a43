import type { WebClient } from '@slack/web-api'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import { serveSandbox } from '../sandbox/serve-sandbox.ts'
import { quietClient } from '../sandbox/slack/quiet-client.ts'
import { type ScriptedBot, startScriptedBot } from '../sandbox/slack/scripted-bot.ts'
import type { Slack, SlackOptions } from '../sandbox/slack/slack.ts'
import { startSlack } from '../sandbox/slack/start-slack.ts'
import { type Browser, openBrowser } from './open-browser.ts'

const commands = [
  { command: '/infra ip move', usage: '[<elastic ip> <server>]', description: 'Moves an Elastic IP' },
  { command: '/infra ip list', usage: '[word…]', description: 'Lists Elastic IPs' },
]

/** The page as Ada sees it. Stand-in Slack and scripted bot are new for each test. A trouble inside the page fails the test. */
export interface ScriptedPage {
  page: Page
  slack: Slack
  bot: ScriptedBot
  client: WebClient
}

/** Starts them before each test of a file. Returns a function that returns the current ones. */
export function scriptedPages(options: SlackOptions = {}): () => ScriptedPage {
  let browser: Browser
  let current: ScriptedPage

  beforeAll(async () => {
    browser = await openBrowser()
  }, 600_000)
  afterAll(() => browser?.close())

  beforeEach(async () => {
    const bot = await startScriptedBot()
    const slack = await startSlack({ botUrl: bot.url, ackDeadlineMs: 1_500, commands, serve: serveSandbox(), ...options })
    current = { bot, slack, client: quietClient(slack), page: await browser.open(slack.url) }
  })
  afterEach(async () => {
    await browser.leave()
    await current.slack.close()
    await current.bot.close()
    expect(browser.troubles.splice(0)).toEqual([])
  })
  return () => current
}
