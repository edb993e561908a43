import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { type Sandbox, startSandbox } from '../sandbox/sandbox.ts'
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
