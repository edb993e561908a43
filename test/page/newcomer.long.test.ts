import type { Page } from 'playwright-core'
import { test } from 'vitest'
import { actAs, openDrawer, phone, send } from './open-browser.ts'
import { sandboxPages } from './pages.ts'

const current = sandboxPages()

const hintOf = (page: Page) => page.getByRole('complementary', { name: 'How to start' })
const phones = (page: Page) => page.getByRole('status', { name: 'Phones' })
const people = (page: Page) => page.getByRole('navigation', { name: 'Workspace' })
const threadOf = (page: Page) => page.getByRole('complementary', { name: 'Thread' })
/** The newest message with buttons to decide. */
const waiting = (page: Page) =>
  page
    .getByRole('article')
    .filter({ has: page.getByRole('button', { name: 'Approve' }) })
    .last()

let moves = 0

/** Returns the command for another possible move, because an address with an open request is taken. */
function nextMove(): string {
  moves += 1
  const { elasticIp, target } = current().sandbox.accountApi.world.movable(moves)
  return `/infra ip move ${elasticIp.address} ${target.hostname}`
}

test('a newcomer is led from the request to the report, and the phones of those who are needed show it', async () => {
  const { sandbox, browser } = current()
  const page = await browser.open(sandbox.url)
  const hint = hintOf(page)
  await page.getByRole('button', { name: 'general' }).click()
  await hint.getByRole('button', { name: '#ops' }).click()
  await hint.getByText('/infra ip move').waitFor()
  await send(page, nextMove())

  await phones(page)
    .getByText(/Ben's,? and Chiara's phones/)
    .waitFor()
  await people(page).getByRole('button', { name: 'Act as Ben Laurent, 1 to decide' }).waitFor()
  await browser.shoot(page, '10-next-step')
  await hint.getByRole('button', { name: 'Now switch to Ben' }).click()
  await hint.getByText('needs your approval').waitFor()
  await waiting(page).getByRole('button', { name: 'Approve' }).click()
  await hint.getByText('Lockkeeper makes the change').waitFor()

  await phones(page).getByRole('button', { name: 'Open as Ada' }).click({ timeout: 20_000 })
  await threadOf(page).getByText('@ada').last().waitFor()
  await hint.getByText('The result is in the').waitFor()
})

test('the Home tab shows the requests that wait for a person', async () => {
  const { sandbox, browser } = current()
  const page = await browser.open(sandbox.url)
  await send(page, nextMove())
  await waiting(page).waitFor()
  await actAs(page, 'Chiara Conti (approver)')
  await people(page).getByRole('button', { name: 'Lockkeeper' }).click()
  const home = page.getByRole('region', { name: 'Home' })
  await home.getByText(/Needs your approval \([1-9]/).waitFor()
  await browser.shoot(page, '11-home')
})

test('the drawer breaks the account API until it is turned off, and says what its acts have done', async () => {
  const { sandbox, browser } = current()
  const page = await browser.open(sandbox.url)
  const drawer = await openDrawer(page)
  const away = drawer.getByRole('switch', { name: 'The account API is away' })
  await away.check()
  await browser.shoot(page, '12-drawer')
  await page.keyboard.press('Escape')
  await drawer.waitFor({ state: 'detached' })

  await send(page, '/infra keys')
  await page
    .getByRole('article')
    .getByText(/account API/)
    .last()
    .waitFor({ timeout: 15_000 })
  await openDrawer(page)
  await away.uncheck()
  await drawer.getByRole('button', { name: 'Skip 2 hours' }).click()
  await drawer.getByText('it is 2 hours later').waitFor()
})

test('a list has pages, and a form says at the field what it misses', async () => {
  const { sandbox, browser } = current()
  const page = await browser.open(sandbox.url)
  await send(page, '/infra ip list')
  const list = page
    .getByRole('article')
    .filter({ has: page.getByRole('table') })
    .last()
  const first = (await list.getByRole('rowheader').first().textContent()) ?? ''
  await list.getByRole('button', { name: 'Next rows' }).click()
  await list.getByRole('rowheader', { name: first, exact: true }).waitFor({ state: 'detached' })

  await send(page, '/infra ip move')
  const dialog = page.getByRole('dialog', { name: 'Move an Elastic IP' })
  await dialog.getByRole('button', { name: 'Request approval' }).click()
  await dialog.getByRole('alert').getByText('Please complete this required field.').first().waitFor()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
})

test('on a phone the notification, the next step and the side bar are there, too', async () => {
  const { sandbox, browser } = current()
  const page = await browser.open(sandbox.url, { viewport: phone, hasTouch: true, isMobile: true })
  await send(page, nextMove())
  await phones(page).getByText('Lockkeeper in #ops').waitFor()
  await browser.shoot(page, '13-phone')
  await phones(page).getByRole('button', { name: 'Dismiss' }).first().click()
  await hintOf(page).getByRole('button', { name: 'Now switch to Ben' }).click()
  await hintOf(page).getByText('needs your approval').waitFor()

  await page.getByRole('button', { name: 'Channels and people' }).click()
  await people(page).getByRole('button', { name: 'general' }).click()
  await page.getByRole('heading', { name: 'general', level: 1 }).waitFor()
})
