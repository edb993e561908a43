import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { CDPSession, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { linkIn, listPasskeys, onlyMove, pressForLink, runTrust, startPasskeyWorld, usual } from '../journeys/passkeys-world.ts'
import { type PolicyWorld, writesOf } from '../journeys/policy-world.ts'
import { people, requestMove, untilCard, untilReport, untilShown } from '../journeys/world.ts'
import { type Browser, openBrowser, phone } from './open-browser.ts'

let browser: Browser
beforeAll(async () => {
  browser = await openBrowser()
})
afterAll(() => browser.close())

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** A bot whose page is at `localhost`, which browsers take for safe. */
async function start(policy = usual): Promise<PolicyWorld> {
  const port = String(await freePort())
  return startPasskeyWorld(policy, { env: { PORT: port, PUBLIC_URL: `http://localhost:${port}` } })
}

/** A device of its own: a browser with a virtual authenticator. */
async function startDevice(options = {}): Promise<{ page: Page; cdp: CDPSession; authenticatorId: string }> {
  const page = await browser.newPage(options)
  onTestFinished(() => page.context().close())
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('WebAuthn.enable')
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: { protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true, isUserVerified: true },
  })
  return { page, cdp, authenticatorId }
}

/** Adds a passkey of this device, and lets the operators trust it. */
async function addPasskey(world: PolicyWorld, page: Page, by = world.ben, id = people.ben): Promise<void> {
  const list = await listPasskeys(world, by, id)
  await page.goto(await pressForLink(world, by, id, list, 'Add a passkey'))
  await page.getByRole('textbox', { name: 'Name of this passkey' }).fill('Laptop')
  await browser.shoot(page, 'passkeys-add')
  await page.getByRole('button', { name: 'Create passkey' }).click()
  const code = (await page.getByRole('status').getByRole('heading').textContent()) ?? ''
  if (code === 'Requested') return
  await browser.shoot(page, 'passkeys-code')
  expect(await runTrust(world, ['trust', code, '--yes'])).toMatchObject({ exitCode: 0 })
}

/** The title, and what happened. */
const status = async (page: Page) => (await page.locator('[role=alert] > *, [role=status] > *').allTextContents()).join(' ')
const focused = (page: Page) => page.locator(':focus').evaluate((element) => element.role ?? element.tagName)

test('a person adds a passkey, has it trusted, and approves with it: at desktop and at phone width, in both colors', async () => {
  const world = await start(usual.replace('approvals: 1', 'approvals: 2'))
  const [laptop, mobile] = [await startDevice(), await startDevice({ viewport: phone, colorScheme: 'dark' })]
  await addPasskey(world, laptop.page)
  await addPasskey(world, mobile.page, world.chiara, people.chiara)
  expect(await status(mobile.page)).toMatch(/^Requested (?:Posted in|Recorded: )/)
  const adding = await untilCard(world.slack, /Add passkey[\s\S]*needs approval from/)
  await laptop.page.goto(await pressForLink(world, world.ben, people.ben, adding, 'Approve'))
  await browser.shoot(laptop.page, 'passkeys-adding')
  await laptop.page.getByRole('button', { name: 'Approve' }).click()
  await untilReport(world.slack, adding.ts, /Done/)
  const { card } = await requestMove(world)

  await laptop.page.goto(await pressForLink(world, world.ben, people.ben, card, 'Approve'))
  await browser.shoot(laptop.page, 'passkeys-desktop')
  expect(await laptop.page.getByRole('heading').textContent()).toMatch(/^Approve: Move 203\./)
  await laptop.page.getByRole('button', { name: 'Approve' }).click()
  await expect.poll(() => status(laptop.page)).toMatch(/^Approved\s+Approved \(1 of 2\)\. One more needed\./)

  await mobile.page.goto(await pressForLink(world, world.chiara, people.chiara, card, 'Approve'))
  await browser.shoot(mobile.page, 'passkeys-phone')
  const widths = await mobile.page.evaluate(() => [document.documentElement.scrollWidth, innerWidth])
  expect(widths[0]).toBeLessThanOrEqual(widths[1] ?? 0)
  await mobile.page.getByRole('button', { name: 'Approve' }).press('Enter')
  await expect.poll(() => status(mobile.page)).toMatch(/^Approved/)
  await browser.shoot(mobile.page, 'passkeys-phone-done')
  await untilReport(world.slack, card.ts, /Done/)
  expect(writesOf(world)).toHaveLength(1)

  // A page from the browser's history is read again, and its link is over.
  await mobile.page.goto('about:blank')
  await mobile.page.goBack()
  await expect.poll(() => mobile.page.getByRole('heading').textContent()).toBe('This link has expired')
  expect(browser.troubles.filter((trouble) => !/404/.test(trouble))).toEqual([])
})

test('a ceremony that fails, or a device without the passkey, approves nothing and says what to do; then the same link works', async () => {
  const world = await start()
  const { page, cdp, authenticatorId } = await startDevice()
  await addPasskey(world, page)
  const { card } = await requestMove(world)
  const url = await pressForLink(world, world.ben, people.ben, card, 'Approve')
  await page.goto(url)

  await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false })
  await page.getByRole('button', { name: 'Approve' }).click()
  await expect
    .poll(() => status(page), { timeout: 20_000 })
    .toMatch(/^Nothing was approved\s+You canceled, the time was over, or this device has no passkey of yours\. Try again/)
  await browser.shoot(page, 'passkeys-canceled')
  expect([await page.getByRole('alert').count(), await focused(page)]).toEqual([1, 'BUTTON'])

  const stranger = await startDevice()
  await stranger.page.goto(url)
  await stranger.page.getByRole('button', { name: 'Approve' }).click()
  await expect.poll(() => status(stranger.page), { timeout: 20_000 }).toMatch(/^Nothing was approved/)
  expect(await onlyMove(world)).toMatchObject({ state: 'waiting', approvals: [] })

  await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true })
  await page.getByRole('button', { name: 'Approve' }).click()
  await expect.poll(() => status(page)).toMatch(/^Approved/)
  expect([await page.title(), await focused(page)]).toEqual(['Approved · Lockkeeper', 'status'])
  await untilReport(world.slack, card.ts, /Done/)
})

test('no other page can show it in a frame', async () => {
  const world = await start()
  const { page } = await startDevice()
  await addPasskey(world, page)
  const { card } = await requestMove(world)
  await world.ben.click(card, 'Approve')
  const url = linkIn(await untilShown(world.slack, people.ben, /Not approved yet/))
  const other = createServer((_, response) => response.setHeader('content-type', 'text/html').end(`<iframe src="${url}"></iframe>`))
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void other.close())

  await page.goto(`http://127.0.0.1:${(other.address() as AddressInfo).port}/`)

  await expect.poll(() => browser.troubles.join()).toMatch(/frame-ancestors/)
  expect(await page.frameLocator('iframe').getByRole('button').count()).toBe(0)
  browser.troubles.length = 0
})
