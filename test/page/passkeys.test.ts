import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { linkIn, onlyMove, pressForLink, usual } from '../journeys/passkeys-world.ts'
import { writesOf } from '../journeys/policy-world.ts'
import { ops, people, requestMove, untilCard, untilReport, untilShown } from '../journeys/world.ts'
import { type Browser, openBrowser, phone } from './open-browser.ts'
import { addPasskey, focused, startAtLocalhost, startDevice, status } from './passkeys-devices.ts'

let browser: Browser
beforeAll(async () => {
  browser = await openBrowser()
})
afterAll(() => browser.close())

test('a person adds a passkey, has it trusted, and approves with it: at desktop and at phone width, in both colors', async () => {
  const world = await startAtLocalhost(usual.replace('approvals: 1', 'approvals: 2'))
  const [laptop, mobile] = [await startDevice(browser), await startDevice(browser, { viewport: phone, colorScheme: 'dark' })]
  await addPasskey(browser, world, laptop.page)
  await addPasskey(browser, world, mobile.page, world.chiara, people.chiara)
  expect(await status(mobile.page)).toMatch(/^Requested: (?:[A-Z0-9]{4}-?){3} Posted in/)
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
  expect(await laptop.page.getByRole('main').textContent()).not.toContain('0 of 2')

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
  const world = await startAtLocalhost()
  const { page, cdp, authenticatorId } = await startDevice(browser)
  await addPasskey(browser, world, page)
  const { card } = await requestMove(world)
  const url = await pressForLink(world, world.ben, people.ben, card, 'Approve')
  await page.goto(url)

  await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false })
  await page.getByRole('button', { name: 'Approve' }).click()
  await expect
    .poll(() => status(page), { timeout: 20_000 })
    .toMatch(/^Not confirmed\s+You canceled, the time was over, or this device has no passkey of yours\. Try again/)
  await browser.shoot(page, 'passkeys-canceled')
  expect([await page.getByRole('alert').count(), await focused(page)]).toEqual([1, 'BUTTON'])

  const stranger = await startDevice(browser)
  await stranger.page.goto(url)
  await stranger.page.getByRole('button', { name: 'Approve' }).click()
  await expect.poll(() => status(stranger.page), { timeout: 20_000 }).toMatch(/^Not confirmed/)
  expect(await onlyMove(world)).toMatchObject({ state: 'waiting', approvals: [] })

  await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true })
  await page.getByRole('button', { name: 'Approve' }).click()
  await expect.poll(() => status(page)).toMatch(/^Approved/)
  expect([await page.title(), await focused(page)]).toEqual(['Approved · Lockkeeper', 'status'])
  await untilReport(world.slack, card.ts, /Done/)
})

test('the doctor says at which host passkeys work', async () => {
  const world = await startAtLocalhost()
  await world.ada.command('/infra doctor', { channel: ops })
  await untilShown(world.slack, people.ada, /They work at `localhost`\./)
})

test('no other page can show it in a frame', async () => {
  const world = await startAtLocalhost()
  const { page } = await startDevice(browser)
  await addPasskey(browser, world, page)
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
