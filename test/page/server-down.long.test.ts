import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { actAs, openDrawer, phone, send } from './open-browser.ts'
import { sandboxPages } from './sandbox-pages.ts'

const wide = { width: 1440, height: 900 }

const current = sandboxPages({ moveTakes: { min: 4_000, max: 5_000 } })

test('a server goes down: the alert proposes to evacuate it, somebody approves, its addresses move, and the thread says that the alert resolved', {
  timeout: 60_000,
}, async () => {
  const { sandbox, browser } = current()
  const page = await browser.open(sandbox.url, { viewport: wide })
  const { world } = sandbox.accountApi
  const [web1, web2] = ['web-1', 'web-2'].map((hostname) => world.data.servers.find((server) => server.hostname === hostname)?.id)
  const own = world.elasticIps().filter(({ serverId }) => serverId === web1)
  expect(own.length).toBeGreaterThan(2)

  // Lockkeeper remembers which server an address was on. Otherwise the switch waits until it has listed them by itself.
  await send(page, '/infra ip list')
  await page.getByRole('article').filter({ hasText: 'Only visible to you' }).getByText('203.0.113.14').first().waitFor()
  await turnServer(page, 'down')
  await browser.shoot(page, '40-server-down-drawer')
  await page.keyboard.press('Escape')
  const card = page.getByRole('article').filter({ hasText: 'Alertmanager' }).filter({ hasText: 'Evacuate' }).first()
  await card.getByText('web-1 has been down for 2 minutes').waitFor()
  for (const { address } of own) await card.getByText(address, { exact: true }).waitFor()
  await shootBoth(page, '41-server-down-request')

  await actAs(page, 'Ben Laurent (approver)')
  await card.getByRole('button', { name: 'Approve' }).click()
  const dialog = page.getByRole('dialog')
  await Promise.race([dialog.waitFor(), card.getByText('Moving').first().waitFor()])
  if (await dialog.isVisible()) {
    await shootBoth(page, '42-server-down-confirm')
    await dialog.getByRole('button', { name: 'Approve' }).click()
  }
  await card.getByText('Moving').first().waitFor()

  await turnServer(page, 'up')
  await page.keyboard.press('Escape')
  await card.getByText('Done', { exact: true }).waitFor({ timeout: 20_000 })
  expect(own.map(({ id }) => world.elasticIp(id)?.serverId)).toEqual(own.map(() => web2))
  await shootBoth(page, '43-server-down-done')
  await card.getByRole('button', { name: /replies/ }).click()
  const thread = page.getByRole('complementary', { name: 'Thread' })
  await thread.getByText('The alert resolved.').waitFor()
  await shootBoth(page, '44-server-down-thread')
})

/** Uses the switch of the drawer, and waits until it says that the alert was sent. */
async function turnServer(page: Page, to: 'down' | 'up'): Promise<void> {
  const drawer = await openDrawer(page)
  await drawer.getByRole('switch', { name: 'Server web-1 goes down' }).click()
  await drawer.getByText(to === 'down' ? 'web-1 is off, and Alertmanager' : 'web-1 is on again, and Alertmanager').waitFor()
}

async function shootBoth(page: Page, name: string): Promise<void> {
  const { browser } = current()
  await browser.shoot(page, name)
  await page.setViewportSize(phone)
  await browser.shoot(page, `${name}-phone`)
  await page.setViewportSize(wide)
}
