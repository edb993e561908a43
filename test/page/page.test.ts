import { expect, test } from 'vitest'
import { actAs, composer, phone, send } from './open-browser.ts'
import { sandboxPages } from './pages.ts'

const current = sandboxPages()

test('a move on the page, from the command to the report: requested with a form, approved by another person', async () => {
  const { sandbox, browser } = current()
  const page = await browser.open(sandbox.url)
  await composer(page).fill('/')
  await page.getByRole('option', { name: /\/infra ip move/ }).waitFor()
  await send(page, '/infra ip move')

  const dialog = page.getByRole('dialog', { name: 'Move an Elastic IP' })
  await dialog.getByRole('combobox', { name: 'Elastic IP' }).fill('203.0.113.1')
  await dialog.getByRole('option', { name: /203\.0\.113\.10 / }).click()
  await dialog.getByRole('combobox', { name: 'Server' }).fill('web-2')
  await dialog.getByRole('option', { name: /web-2.*Storefront/ }).click()
  await dialog.getByRole('textbox', { name: 'Reason' }).fill('<b>web-1</b> is rebooted at noon')
  await browser.shoot(page, '01-form')
  await dialog.getByRole('button', { name: 'Request approval' }).click()

  const card = page.getByRole('article').filter({ hasText: 'needs approval from' })
  await card.getByText('<b>web-1</b> is rebooted at noon').waitFor()
  await card.getByRole('button', { name: 'Approve' }).click()
  const refusal = page.getByRole('article').filter({ hasText: 'Only visible to you' }).last()
  await refusal.getByText(/an approver other than you must decide/).waitFor()
  await browser.shoot(page, '02-own-request')

  await actAs(page, 'Ben Laurent (approver)')
  await page.getByText('You are Ben').waitFor()
  expect(await refusal.count()).toBe(0)
  await card.getByRole('button', { name: 'Approve' }).click()
  const done = page.getByRole('article').filter({ hasText: 'Move 203.0.113.10' }).last()
  await done.getByText('Done', { exact: true }).waitFor({ timeout: 20_000 })
  await done.getByRole('button', { name: /1 reply/ }).click()
  await page.getByRole('complementary', { name: 'Thread' }).getByText('is assigned to').waitFor()
  expect(sandbox.accountApi.world.elasticIps().find(({ address }) => address === '203.0.113.10')?.status).toBe('active')

  await page.emulateMedia({ colorScheme: 'dark' })
  await browser.shoot(page, '03-thread-dark')
  await page.setViewportSize(phone)
  await browser.shoot(page, '04-phone-dark')
})
