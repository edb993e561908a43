import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { actAs, composer, desktop, phone, send } from './open-browser.ts'
import { sandboxPages } from './sandbox-pages.ts'

const ada = 'Ada Okafor (requester)'
const ben = 'Ben Laurent (approver)'
const dov = 'Dov Meyer (outsider)'

const current = sandboxPages()

test('a move on the page, from the command to the report: requested with a form, approved by another person', {
  timeout: 60_000,
}, async () => {
  const { sandbox, browser } = current()
  const page = await browser.open(sandbox.url)
  await page.getByText('You are Ada').waitFor()
  await browser.shoot(page, '01-channel')

  await composer(page).fill('/')
  await page.getByRole('option', { name: /\/infra ip move/ }).waitFor()
  await browser.shoot(page, '02-commands')

  await send(page, '/infra ip move')
  await fillForm(page)

  const card = page.getByRole('article').filter({ hasText: 'needs approval from' })
  await card.getByText('web-1 is rebooted at noon').waitFor()
  await browser.shoot(page, '05-card')

  await card.getByRole('button', { name: 'Approve' }).click()
  const refusal = page.getByRole('article').filter({ hasText: 'Only visible to you' }).last()
  await refusal.getByText(/someone else must approve/).waitFor()
  await browser.shoot(page, '06-own-request')

  await actAs(page, ben)
  await page.getByText('You are Ben').waitFor()
  expect(await refusal.count()).toBe(0)
  await card.getByRole('button', { name: 'Approve' }).click()
  await page.getByRole('article').filter({ hasText: 'Moving' }).waitFor()
  await browser.shoot(page, '07-moving')

  const done = page.getByRole('article').filter({ hasText: 'Move 203.0.113.10' }).last()
  await done.getByText('Done', { exact: true }).waitFor({ timeout: 20_000 })
  await done.getByRole('button', { name: /1 reply/ }).click()
  const thread = page.getByRole('complementary', { name: 'Thread' })
  await thread.getByText('is assigned to').waitFor()
  await thread.getByText('@ada').last().waitFor()
  await browser.shoot(page, '08-thread')
  expect(sandbox.accountApi.world.elasticIps().find(({ address }) => address === '203.0.113.10')?.status).toBe('active')

  await page.emulateMedia({ colorScheme: 'dark' })
  await browser.shoot(page, '09-thread-dark')
  await page.getByRole('button', { name: 'Close thread' }).click()
  await browser.shoot(page, '10-channel-dark')

  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize(phone)
  await browser.shoot(page, '11-phone')
  await done.getByRole('button', { name: /1 reply/ }).click()
  await thread.getByText('is assigned to').waitFor()
  await browser.shoot(page, '12-phone-thread')
  await page.getByRole('button', { name: 'Close thread' }).click()
  await page.setViewportSize(desktop)
})

test('the Home tab shows the requests that wait for a person, and an approval there moves the address', { timeout: 60_000 }, async () => {
  const { sandbox, browser } = current()
  const page = await browser.open(sandbox.url)
  const { elasticIp, target } = sandbox.accountApi.world.movable()
  await send(page, `/infra ip move ${elasticIp.address} ${target.hostname}`)
  await page.getByRole('article').filter({ hasText: elasticIp.address }).filter({ hasText: 'needs approval from' }).first().waitFor()

  await openApp(page)
  const home = page.getByRole('region', { name: 'Home' })
  await home.getByText('Your requests (').waitFor()
  await browser.shoot(page, '15-home-requester')

  await actAs(page, ben)
  await home.getByText('Needs your approval (1)').waitFor()
  await browser.shoot(page, '16-home')
  await page.emulateMedia({ colorScheme: 'dark' })
  await browser.shoot(page, '17-home-dark')
  await page.setViewportSize(phone)
  await browser.shoot(page, '18-home-phone-dark')
  await page.emulateMedia({ colorScheme: 'light' })
  await browser.shoot(page, '19-home-phone')
  await page.setViewportSize(desktop)

  await home.getByRole('button', { name: 'Reject' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.waitFor()
  await browser.shoot(page, '20-home-form')
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await dialog.waitFor({ state: 'detached' })
  await home.getByRole('button', { name: 'Approve' }).click()
  // The address was moved a moment ago, which approvers have to confirm.
  await dialog.waitFor()
  await browser.shoot(page, '22-confirm')
  await dialog.getByRole('button', { name: /Approve/ }).click()
  await home.getByText('Needs your approval (0)').waitFor()

  await actAs(page, dov)
  await home.getByText("Guests can't use Lockkeeper").waitFor()
  await page.getByRole('button', { name: 'Messages', exact: true }).click()
  await page.getByText('Sending messages to this app has been turned off.').waitFor()
  await browser.shoot(page, '21-app-messages')
  await actAs(page, ada)
})

test('a list, a mistyped command and a guest get answers that only they can see', { timeout: 60_000 }, async () => {
  const { sandbox, browser } = current()
  const page = await browser.open(sandbox.url)

  await send(page, '/infra plans')
  await page.getByRole('article').filter({ hasText: 'Only visible to you' }).getByText(/vCPU/).first().waitFor()
  await browser.shoot(page, '13-plans')
  await send(page, '/infra ip mvoe')
  await page.getByText('Did you mean').waitFor()
  await actAs(page, dov)
  await send(page, '/infra ip move')
  await page.getByText("Guests can't use Lockkeeper").waitFor()
  await browser.shoot(page, '14-guest')
  await actAs(page, ada)

  await page.getByText('Did you mean').waitFor()
})

test('addresses are left out of an evacuation with the checkboxes of its form', {
  timeout: 60_000,
}, async () => {
  const { sandbox, browser } = current()
  const page = await browser.open(sandbox.url)
  const onEdge = () => sandbox.accountApi.world.elasticIps().filter(({ address }) => ['203.0.113.12', '203.0.113.13'].includes(address))
  const [left] = onEdge()

  await send(page, '/infra evacuate edge-ash-1')
  const dialog = page.getByRole('dialog', { name: 'Evacuate a server' })
  await dialog.getByRole('checkbox', { name: '203.0.113.12' }).waitFor()
  await dialog.getByRole('checkbox', { name: '203.0.113.12' }).click()
  await dialog.getByRole('combobox', { name: 'Target' }).fill('web-3')
  await dialog.getByRole('option', { name: /web-3.*Storefront/ }).click()
  // The addresses are read again for the target, and stay as they were ticked.
  await expect.poll(() => dialog.getByRole('combobox', { name: 'Target' }).inputValue()).toContain('web-3')
  await expect
    .poll(() => dialog.getByRole('checkbox').evaluateAll((all) => all.map((one) => (one as HTMLInputElement).checked)))
    .toEqual([false, true])
  await browser.shoot(page, '23-evacuate-form')
  await dialog.getByRole('button', { name: 'Request approval' }).click()
  await dialog.waitFor({ state: 'detached' })

  await actAs(page, ben)
  const card = page.getByRole('article').filter({ hasText: 'Evacuate edge-ash-1' }).last()
  await card.getByText('part of this request').waitFor()
  await card.getByRole('button', { name: 'Approve' }).click()
  await card.getByText('Done', { exact: true }).waitFor({ timeout: 20_000 })
  await card.getByRole('button', { name: /1 reply/ }).click()
  await page
    .getByRole('complementary', { name: 'Thread' })
    .getByText(/203\.0\.113\.13/)
    .last()
    .waitFor()
  await page.setViewportSize(phone)
  await browser.shoot(page, '24-evacuate-report-phone')
  await page.setViewportSize(desktop)

  expect(onEdge().map(({ serverId }) => serverId === left?.serverId)).toEqual([true, false])
  await actAs(page, ada)
})

async function fillForm(page: Page): Promise<void> {
  const { browser } = current()
  const dialog = page.getByRole('dialog', { name: 'Move an Elastic IP' })
  const elasticIp = dialog.getByRole('combobox', { name: 'Elastic IP' })
  await elasticIp.fill('203.0.113.1')
  await dialog.getByRole('option', { name: /203\.0\.113\.10 / }).waitFor()
  await browser.shoot(page, '03-search')
  await dialog.getByRole('option', { name: /203\.0\.113\.10 / }).click()

  await dialog.getByRole('combobox', { name: 'Server' }).fill('web-2')
  await dialog.getByRole('option', { name: /web-2.*Storefront/ }).click()
  await dialog.getByRole('textbox', { name: 'Reason' }).fill('web-1 is rebooted at noon')
  await browser.shoot(page, '04-form')
  await dialog.getByRole('button', { name: 'Request approval' }).click()
  await dialog.waitFor({ state: 'detached' })
}

async function openApp(page: Page): Promise<void> {
  await page.getByRole('navigation', { name: 'Workspace' }).getByRole('button', { name: 'Lockkeeper' }).click()
}
