import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { CDPSession, Page } from 'playwright-core'
import { expect, onTestFinished } from 'vitest'
import { listPasskeys, pressForLink, runTrust, startPasskeyWorld, usual } from '../journeys/passkeys-world.ts'
import type { PolicyWorld } from '../journeys/policy-world.ts'
import { people } from '../journeys/world.ts'
import type { Browser } from './open-browser.ts'

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** A bot whose page is at `localhost`, which browsers take for safe. */
export async function startAtLocalhost(policy = usual): Promise<PolicyWorld> {
  const port = String(await freePort())
  return startPasskeyWorld(policy, { env: { PORT: port, PUBLIC_URL: `http://localhost:${port}` } })
}

export interface Device {
  page: Page
  cdp: CDPSession
  authenticatorId: string
}

/** A separate device: a browser with a virtual authenticator. */
export async function startDevice(browser: Browser, options = {}): Promise<Device> {
  const page = await browser.newPage(options)
  onTestFinished(() => page.context().close())
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('WebAuthn.enable')
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: { protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true, isUserVerified: true },
  })
  return { page, cdp, authenticatorId }
}

/** Makes a passkey on this device. Returns what the page says. */
export async function createPasskey(browser: Browser, world: PolicyWorld, page: Page, by = world.ben, id = people.ben): Promise<string> {
  const list = await listPasskeys(world, by, id)
  await page.goto(await pressForLink(world, by, id, list, 'Add a passkey'))
  await page.getByRole('textbox', { name: 'Name of this passkey' }).fill('Laptop')
  await browser.shoot(page, 'passkeys-add')
  await page.getByRole('button', { name: 'Create passkey' }).click()
  return (await page.getByRole('status').getByRole('heading').textContent()) ?? ''
}

/** Adds a passkey of this device, and lets the operators trust it if nobody else has one. */
export async function addPasskey(browser: Browser, world: PolicyWorld, page: Page, by = world.ben, id = people.ben): Promise<void> {
  const code = await createPasskey(browser, world, page, by, id)
  if (code.startsWith('Requested')) return
  await browser.shoot(page, 'passkeys-code')
  expect(await runTrust(world, ['trust', code, '--yes'])).toMatchObject({ exitCode: 0 })
}

/** The title, and what happened. */
export const status = async (page: Page) => (await page.locator('[role=alert] > *, [role=status] > *').allTextContents()).join(' ')

export const focused = (page: Page) => page.locator(':focus').evaluate((element) => element.role ?? element.tagName)
