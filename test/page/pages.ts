import type { WebClient } from '@slack/web-api'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import { type Sandbox, startSandbox } from '../sandbox/sandbox.ts'
import { serveSandbox } from '../sandbox/serve-page.ts'
import type { Slack } from '../sandbox/slack/slack.ts'
import { quietClient, type ScriptedBot, startScriptedBot } from '../sandbox/slack/slack-for-test.ts'
import { startSlack } from '../sandbox/slack/start-slack.ts'
import { type Browser, openBrowser } from './open-browser.ts'

/** The first start of a browser may install it. */
const patienceMs = 600_000

/**
 * Starts a sandbox and a browser for all tests of a file, and returns a function that returns both. Lockkeeper looks at moves more often
 * than usual. A trouble inside a page fails the test.
 */
export function sandboxPages(): () => { sandbox: Sandbox; browser: Browser } {
  let sandbox: Sandbox
  let browser: Browser

  beforeAll(async () => {
    // A test does in seconds what people do in minutes, which is more than the account API allows.
    sandbox = await startSandbox({ moveTakes: { min: 1_500, max: 2_000 }, limits: {}, env: { MOVE_POLL_INTERVAL: '200ms' } })
    browser = await openBrowser()
  }, patienceMs)
  afterEach(() => expect(browser.troubles.splice(0)).toEqual([]))
  afterAll(async () => {
    await browser?.close()
    await sandbox?.close()
  })
  return () => ({ sandbox, browser })
}

const commands = [
  { command: '/infra ip move', usage: '[<elastic ip> <server>]', description: 'Moves an Elastic IP' },
  { command: '/infra ip list', usage: '[word…]', description: 'Lists Elastic IPs' },
]

const shortcuts = [
  { type: 'message' as const, callbackId: 'look-up', name: 'Look up in Lockkeeper', description: 'Finds addresses' },
  { type: 'global' as const, callbackId: 'move', name: 'Move an Elastic IP', description: 'Opens the form' },
]

/** The page as Ada sees it. Stand-in Slack and scripted bot are new for each test. */
export interface ScriptedPage {
  page: Page
  slack: Slack
  bot: ScriptedBot
  client: WebClient
}

/** Starts them before each test of a file. Returns a function that returns the current ones. A trouble inside the page fails the test. */
export function scriptedPages(): () => ScriptedPage {
  let browser: Browser
  let current: ScriptedPage

  beforeAll(async () => {
    browser = await openBrowser()
  }, patienceMs)
  afterAll(() => browser?.close())

  beforeEach(async () => {
    const bot = await startScriptedBot()
    const slack = await startSlack({ botUrl: bot.url, ackDeadlineMs: 1_500, commands, shortcuts, serve: serveSandbox() })
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
