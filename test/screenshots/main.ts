import { mkdir, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Locator, Page } from 'playwright-core'
import { actAs, type Browser, openBrowser, send } from '../page/open-browser.ts'
import { type Sandbox, startSandbox } from '../sandbox/sandbox.ts'

/** Takes the pictures of README and docs from the sandbox, in light and dark. They show real messages of the real bot. */

const pictures = fileURLToPath(new URL('../../docs/pictures/', import.meta.url))

/** Narrow enough that the text stays legible where a page shows a picture at half of its size. */
const viewport = { width: 1_120, height: 1_200 }

const sandbox = await startSandbox({ env: { ENVIRONMENT: 'production' } })
try {
  const browser = await openBrowser()
  try {
    await takePictures(sandbox, browser)
  } finally {
    await browser.close()
  }
} finally {
  await sandbox.close()
}

async function takePictures({ url, accountApi }: Sandbox, browser: Browser): Promise<void> {
  await mkdir(pictures, { recursive: true })
  const page = await browser.open(url, { viewport })

  const { elasticIp, target } = accountApi.world.movable(1)
  await send(page, `/infra ip move ${elasticIp.address} ${target.hostname} because new network cards, OPS-123`)
  await actAs(page, 'Ben Laurent (approver)')
  await take(page, await newestWith(page, page.getByRole('button', { name: 'Approve', exact: true })), 'request-message')

  await send(page, '/infra ip list ash')
  await take(page, await newestWith(page, page.getByRole('table')), 'table')

  if (browser.troubles.length > 0) throw new Error(`The page has errors:\n${browser.troubles.join('\n')}`)
}

async function newestWith(page: Page, part: Locator): Promise<Locator> {
  const message = page.getByRole('article').filter({ has: part }).last()
  await message.waitFor()
  return message
}

/** Saves what the page shows of a message, in both colour schemes. WebP is a third of the size of PNG. */
async function take(page: Page, message: Locator, name: string): Promise<void> {
  const session = await page.context().newCDPSession(page)
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    await page.mouse.move(0, 0)
    await message.scrollIntoViewIfNeeded()
    const box = await message.boundingBox()
    if (!box) throw new Error(`There is nothing to see of ${name}.`)
    const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 85, clip: { ...box, scale: 2 } })
    await writeFile(`${pictures}${name}-${colorScheme}.webp`, Buffer.from(data, 'base64'))
    console.log(`docs/pictures/${name}-${colorScheme}.webp`)
  }
  await session.detach()
}
