import { expect, test } from 'vitest'
import { openDrawer, phone } from './open-browser.ts'
import { sandboxPages } from './sandbox-pages.ts'

const patience = { timeout: 60_000 }

const current = sandboxPages()

let moves = 0

/** Returns another possible move for each test, because an address with an open request is taken. */
function nextMove() {
  moves += 1
  return current().sandbox.accountApi.world.movable(moves)
}

test('the drawer covers no message: it is beside them, and on a phone it closes and says what is broken now', patience, async () => {
  const { sandbox, browser } = current()
  const page = await browser.open(sandbox.url)
  const drawer = await openDrawer(page)
  const [messages, beside] = [await page.getByRole('log').boundingBox(), await drawer.boundingBox()]
  expect(messages && beside && messages.x + messages.width <= beside.x).toBe(true)
  await drawer.getByRole('button', { name: 'Close the drawer' }).click()

  const onPhone = await browser.open(sandbox.url, { viewport: phone, hasTouch: true, isMobile: true })
  const refuses = onPhone.getByRole('switch', { name: 'The account API refuses' })
  await openDrawer(onPhone)
  await refuses.click()
  await onPhone.getByText('Switched on: “The account API refuses 203.0.113.15”.').waitFor()
  expect(await onPhone.getByRole('complementary', { name: 'Break something' }).count()).toBe(0)
  expect(await onPhone.getByRole('button', { name: 'something is broken now' }).innerText()).toBe('1')
  await browser.shoot(onPhone, '36-phone-broken')

  await openDrawer(onPhone)
  await refuses.click()
  await onPhone.getByText('Switched off again: “The account API refuses 203.0.113.15”.').waitFor()
  expect(await onPhone.getByText('Switched on').count()).toBe(0)
})

test('two people are side by side, each with their own page and their own phone', patience, async () => {
  const { sandbox, browser } = current()
  const page = await browser.open(sandbox.url)
  await page.getByRole('button', { name: 'Two people' }).click()
  const ada = page.frameLocator('iframe[title="Ada Okafor"]')
  const ben = page.frameLocator('iframe[title="Ben Laurent"]')
  await ada.getByText('You are Ada').waitFor()
  await ben.getByText('You are Ben').waitFor()

  const { elasticIp, target } = nextMove()
  const field = ada.getByRole('textbox', { name: 'Message', exact: true })
  await field.fill(`/infra ip move ${elasticIp.address} ${target.hostname}`)
  await field.press('Enter')
  await ben.getByText('Your phone').waitFor()
  await ada.getByText("Now it is Ben's turn.").waitFor()
  await browser.shoot(page, '33-two-people')
  await ben.getByRole('article').filter({ hasText: elasticIp.address }).getByRole('button', { name: 'Approve' }).last().click()

  await ada
    .getByRole('button', { name: /repl(y|ies)/ })
    .last()
    .waitFor({ timeout: 20_000 })
  await ada.getByRole('button', { name: 'Break something' }).click()
  await ada.getByRole('switch', { name: 'Slack is slow' }).click()
  await ben.getByRole('button', { name: 'something is broken now' }).waitFor()
  await ada.getByRole('button', { name: 'something is broken now' }).click()
  await ada.getByRole('switch', { name: 'Slack is slow' }).click()
  await ben.getByRole('button', { name: 'Break something', exact: true }).waitFor()
  await page.getByRole('link', { name: 'One person' }).click()
  await page.getByText('You are Ada').waitFor()
})

test('two people in a narrow window are one at a time, with a badge at the one for whom something waits', patience, async () => {
  const { sandbox, browser } = current()
  const page = await browser.open(sandbox.url)
  await page.getByRole('button', { name: 'Two people' }).click()
  await page.setViewportSize(phone)
  const ada = page.frameLocator('iframe[title="Ada Okafor"]')
  const ben = page.frameLocator('iframe[title="Ben Laurent"]')
  await ada.getByText('You are Ada').waitFor()
  await ben.getByText('You are Ben').waitFor({ state: 'attached' })
  expect(await ben.getByText('You are Ben').isVisible()).toBe(false)

  const { elasticIp, target } = nextMove()
  const field = ada.getByRole('textbox', { name: 'Message', exact: true })
  await field.fill(`/infra ip move ${elasticIp.address} ${target.hostname}`)
  await field.press('Enter')
  await page.getByRole('button', { name: /^Ben Laurent, \d+ to decide$/ }).click()

  await ben.getByRole('article').filter({ hasText: elasticIp.address }).getByRole('button', { name: 'Approve' }).last().waitFor()
  expect(await field.isVisible()).toBe(false)
  await browser.shoot(page, '36-two-people-narrow')
})
