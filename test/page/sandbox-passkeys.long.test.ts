import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { actAs, openDrawer, send } from './open-browser.ts'
import { sandboxPages } from './pages.ts'

const current = sandboxPages()
const [ben, chiara] = ['Ben Laurent (approver)', 'Chiara Conti (approver)'] as const

test('passkeys on the page: two people add one each on the virtual authenticator, the first is trusted, and both approve', async () => {
  const { sandbox, browser } = current()
  const page = await browser.open(sandbox.url)
  const shown = page.getByRole('article').filter({ hasText: 'Only visible to you' })
  const drawer = await openDrawer(page)
  await drawer.getByRole('switch', { name: 'Approvals need a passkey' }).check()
  await drawer.getByText('As Ben, type /infra passkeys and add one.').waitFor()

  /** Presses what opens the confirmation, and resolves with its page, whose virtual authenticator agrees. */
  async function follow(link: Locator): Promise<Page> {
    const [confirmation] = await Promise.all([page.waitForEvent('popup'), link.click()])
    confirmation.on('dialog', (dialog) => dialog.accept())
    expect(new URL(confirmation.url()).hostname).toBe('localhost')
    await expect.poll(() => confirmation.getByRole('checkbox', { name: "Use the sandbox's virtual authenticator" }).isChecked()).toBe(true)
    return confirmation
  }
  async function add(person: string): Promise<string | null> {
    await actAs(page, person)
    await send(page, '/infra passkeys')
    await shown.getByRole('button', { name: 'Add a passkey' }).last().click()
    const adding = await follow(shown.getByRole('link', { name: 'Add a passkey' }).last())
    await adding.getByRole('button', { name: 'Create passkey' }).click()
    return adding.locator('[role=status] h2, [role=alert]:not(:empty)').first().textContent({ timeout: 60_000 })
  }
  /** `asks`: whether its message has something to check first. */
  async function approve(title: string, asks = false): Promise<Page> {
    const links = shown.getByRole('link', { name: 'Confirm' })
    const before = await links.count()
    await page.getByRole('article').filter({ hasText: title }).last().getByRole('button', { name: 'Approve' }).click()
    if (asks) await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click()
    const approving = await follow(links.nth(before))
    await approving.getByRole('button', { name: 'Approve' }).click()
    return approving
  }
  const untilDone = (title: string) => page.getByRole('article').filter({ hasText: title }).filter({ hasText: 'Done' }).last().waitFor()

  expect(await add(ben)).toMatch(/^\w{4}-\w{4}$/)
  await drawer.getByRole('button', { name: 'Trust it' }).click()
  await drawer.getByText('Trusted. Slack shows it soon.').waitFor()
  expect(await add(chiara)).toMatch(/^Requested: /)
  await actAs(page, ben)
  await approve('Add passkey', true)
  await untilDone('Add passkey')

  const { elasticIp, target } = sandbox.accountApi.world.movable()
  await actAs(page, 'Ada Okafor (requester)')
  await send(page, `/infra ip move ${elasticIp.address} ${target.hostname}`)
  await actAs(page, chiara)
  const approved = await approve(`Move ${elasticIp.address}`)
  await approved.getByRole('status').getByRole('heading', { name: 'Approved' }).waitFor()
  await untilDone(`Move ${elasticIp.address}`)
})
