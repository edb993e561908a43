import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { type Sandbox, type SandboxOptions, startSandbox } from '../sandbox/sandbox.ts'
import { type Browser, openBrowser } from './open-browser.ts'

export interface SandboxPages {
  sandbox: Sandbox
  browser: Browser
}

/**
 * Starts a sandbox and a browser for all tests of a file, and returns a function that returns both. Lockkeeper looks at moves more often than
 * usual. A trouble inside a page fails the test.
 */
export function sandboxPages(options: Pick<SandboxOptions, 'moveTakes'> = {}): () => SandboxPages {
  let sandbox: Sandbox
  let browser: Browser

  beforeAll(async () => {
    // A test does in seconds what people do in minutes, which is more than the account API allows.
    sandbox = await startSandbox({ moveTakes: { min: 1_500, max: 2_000 }, limits: {}, env: { MOVE_POLL_INTERVAL: '200ms' }, ...options })
    browser = await openBrowser()
  }, 600_000)
  afterEach(() => expect(browser.troubles.splice(0)).toEqual([]))
  afterAll(async () => {
    await browser?.close()
    await sandbox?.close()
  })
  return () => ({ sandbox, browser })
}
