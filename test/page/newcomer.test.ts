import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { actAs, composer, openDrawer, phone, send } from './open-browser.ts'
import { sandboxPages } from './sandbox-pages.ts'

const patience = { timeout: 60_000 }

const current = sandboxPages()

const hintOf = (page: Page) => page.getByRole('complementary', { name: 'How to start' })
const phones = (page: Page) => page.getByRole('status', { name: 'Phones' })
const people = (page: Page) => page.getByRole('navigation', { name: 'Workspace' })
/** The newest message with buttons to decide. */
const waiting = (page: Page) =>
  page
    .getByRole('article')
    .filter({ has: page.getByRole('button', { name: 'Approve' }) })
    .last()

let moves = 0

/** Returns another possible move for each test, because an address with an open request is taken. */
function nextMove() {
  moves += 1
  return current().sandbox.accountApi.world.movable(moves)
}

async function requestMove(page: Page): Promise<void> {
  const { elasticIp, target } = nextMove()
  await send(page, `/infra ip move ${elasticIp.address} ${target.hostname}`)
  await waiting(page).getByText(elasticIp.address).waitFor()
}

test('a guest reads that a command is refused, and is sent to a button only where there is one', patience, async () => {
  const { sandbox, browser } = current()
  const page = await browser.open(sandbox.url)
  await actAs(page, 'Dov Meyer (outsider)')
  const hint = hintOf(page)
  await hint.getByText('You are Dov, a guest').waitFor()
  expect(await hint.innerText()).not.toMatch(/press/)

  await hint.getByRole('button', { name: '/infra ip move' }).click()
  await composer(page).press('Enter')

  await page.getByRole('article').getByText('Guests').waitFor()
})

test('a newcomer is led from the request to the report, and the phones of those who are needed show it', patience, async () => {
  const { sandbox, browser } = current()
  const page = await browser.open(sandbox.url)
  const hint = hintOf(page)
  await page.getByRole('button', { name: 'general' }).click()
  await hint.getByRole('button', { name: '#ops' }).click()
  await hint.getByText('/infra ip move').waitFor()
  await requestMove(page)

  await phones(page)
    .getByText(/Ben's and Chiara's phones|Ben's, and Chiara's phones/)
    .waitFor()
  await people(page).getByRole('button', { name: 'Act as Ben Laurent, 1 to decide' }).waitFor()
  await people(page).getByRole('button', { name: 'Act as Chiara Conti, 1 to decide' }).waitFor()
  expect(await people(page).getByRole('button', { name: 'Act as Dov Meyer', exact: true }).count()).toBe(1)
  const [sideBar, toast] = [await people(page).boundingBox(), await phones(page).boundingBox()]
  expect(sideBar && toast && sideBar.y + sideBar.height <= toast.y).toBe(true)
  await browser.shoot(page, '30-next-step')

  await hint.getByRole('button', { name: 'Now switch to Ben' }).click()
  await hint.getByText('needs your approval').waitFor()
  await waiting(page).getByRole('button', { name: 'Approve' }).click()
  await hint.getByText('Lockkeeper makes the change').waitFor()

  await phones(page)
    .getByText(/now answers from|assigned to|moved/)
    .waitFor({ timeout: 20_000 })
  await browser.shoot(page, '31-report-on-the-phone')
  await phones(page).getByRole('button', { name: 'Open as Ada' }).click()
  await page.getByRole('complementary', { name: 'Thread' }).getByText('@ada').last().waitFor()
  await hint.getByText('The result is in the').waitFor()
  expect(await people(page).getByText('1', { exact: true }).count()).toBe(0)
})

test('a guest can press the button of a request, and reads that guests are refused', patience, async () => {
  const { sandbox, browser } = current()
  const page = await browser.open(sandbox.url)
  await requestMove(page)
  await actAs(page, 'Dov Meyer (outsider)')

  await hintOf(page).getByRole('button', { name: 'the request' }).click()
  await waiting(page).getByRole('button', { name: 'Approve' }).click()

  await page.getByRole('article').getByText('Guests').last().waitFor()
  expect(
    await people(page)
      .getByRole('button', { name: /Dov Meyer \(you\)$/ })
      .count(),
  ).toBe(1)
})

test('the side bar shows the whole names, and who is you', patience, async () => {
  const { sandbox, browser } = current()
  const page = await browser.open(sandbox.url)
  for (const name of ['Ada Okafor (requester)', 'Ben Laurent (approver)', 'Chiara Conti (approver)', 'Dov Meyer (outsider)']) {
    await actAs(page, name)
    const me = people(page).locator('.side-person.is-me')
    await me.getByText(name.split(' (')[0] ?? '').waitFor()
    await me.getByText('you', { exact: true }).waitFor()
    const cut = await people(page)
      .locator('.side-person .side-name, .side-person .you')
      .evaluateAll((parts) => parts.filter((part) => part.scrollWidth > part.clientWidth).map((part) => part.textContent))
    expect(cut).toEqual([])
  }
})

test('the drawer breaks the account API until it is turned off, and says what its acts have done', patience, async () => {
  const { sandbox, browser } = current()
  const page = await browser.open(sandbox.url)
  const drawer = await openDrawer(page)
  const away = drawer.getByRole('switch', { name: 'The account API is away' })
  await away.click()
  await expect.poll(() => away.getAttribute('aria-checked')).toBe('true')
  await browser.shoot(page, '32-drawer')
  await page.keyboard.press('Escape')
  await drawer.waitFor({ state: 'detached' })

  await send(page, '/infra keys')
  await page
    .getByRole('article')
    .filter({ hasText: /account API/ })
    .last()
    .waitFor({ timeout: 20_000 })
  await openDrawer(page)
  await away.click()
  await expect.poll(() => away.getAttribute('aria-checked')).toBe('false')
  await drawer.getByRole('button', { name: 'Skip 4 hours' }).click()
  await drawer.getByText(/hours older now|No request is open/).waitFor()
})

test('on a phone the next step, the badges and the notification are there, too', patience, async () => {
  const { sandbox, browser } = current()
  const page = await browser.open(sandbox.url, { viewport: phone, hasTouch: true, isMobile: true })
  await requestMove(page)

  await phones(page).getByText('Lockkeeper in #ops').waitFor()
  await browser.shoot(page, '34-phone-notification')
  await phones(page).getByRole('button', { name: 'Dismiss' }).click()
  expect(await page.getByRole('combobox', { name: 'Acting as' }).locator('option').allInnerTexts()).toContainEqual(
    expect.stringMatching(/Ben Laurent \(approver\), \d to decide/),
  )
  await browser.shoot(page, '35-phone-next-step')
  await hintOf(page).getByRole('button', { name: 'Now switch to Ben' }).click()
  await hintOf(page).getByText('needs your approval').waitFor()
})
