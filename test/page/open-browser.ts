import { mkdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright-core'
import { findOrInstall, findProgram } from '../sandbox/programs.ts'

const results = fileURLToPath(new URL('../results/', import.meta.url))

const desktop = { width: 1280, height: 860 }
export const phone = { width: 390, height: 844 }

const emptyPage = 'about:blank'

/** Starts a headless Chromium. `troubles` collects what goes wrong inside a page. */
export async function openBrowser() {
  const browser = await chromium.launch({ executablePath: await findChromium(), args: browserArgs })
  const pages = new Map<string, Page>()
  const troubles: string[] = []

  async function newPage(options: BrowserContextOptions): Promise<Page> {
    const context = await browser.newContext({ viewport: desktop, colorScheme: 'light', locale: 'en-GB', ...options })
    context.setDefaultTimeout(30_000)
    const page = await context.newPage()
    page.on('pageerror', (error) => troubles.push(error.stack ?? error.message))
    page.on('console', (message) => message.type() === 'error' && troubles.push(message.text()))
    return page
  }

  return {
    troubles,
    newPage,

    /** Opens the address as a new visitor. Tests share one page, because each new one costs a second of computing. */
    async open(url: string, options: BrowserContextOptions = {}): Promise<Page> {
      const key = JSON.stringify(options)
      const page = pages.get(key) ?? (await newPage(options))
      pages.set(key, page)
      if (page.url() !== emptyPage) await page.evaluate(() => localStorage.clear())
      await page.setViewportSize(options.viewport ?? desktop)
      await page.emulateMedia({ colorScheme: options.colorScheme ?? 'light' })
      await page.goto(url)
      await composer(page).waitFor()
      return page
    },

    /** Leaves all pages, before what they show is closed. */
    async leave(): Promise<void> {
      for (const page of pages.values()) await page.goto(emptyPage)
    },

    /** Saves a screenshot of the page in `test/results` if the environment has `SCREENSHOTS`. */
    async shoot(page: Page, name: string): Promise<void> {
      if (!process.env.SCREENSHOTS) return
      await mkdir(results, { recursive: true })
      await page.screenshot({ path: `${results}${name}.png` })
    },

    close: () => browser.close(),
  }
}
export type Browser = Awaited<ReturnType<typeof openBrowser>>

export function composer(page: Page) {
  return page.getByRole('textbox', { name: 'Message', exact: true })
}

/** Types into the composer and presses Enter. */
export async function send(page: Page, text: string): Promise<void> {
  await composer(page).fill(text)
  await composer(page).press('Enter')
}

export async function actAs(page: Page, name: string): Promise<void> {
  const switcher = page.getByRole('combobox', { name: 'Acting as' })
  const value = await switcher.getByRole('option', { name, includeHidden: true }).getAttribute('value')
  await switcher.selectOption(value)
}

/** Opens the drawer in which things can be broken. */
export async function openDrawer(page: Page): Promise<Locator> {
  await page.getByRole('button', { name: 'Break something' }).click()
  return page.getByRole('complementary', { name: 'Break something' })
}

const onPath = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']
const onMac = ['Google Chrome', 'Chromium'].map((name) => `/Applications/${name}.app/Contents/MacOS/${name}`)
const names = [...onPath, ...onMac, 'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe']

const advice = [
  "There is no Chromium on this machine, and the page's tests need one. Do one of these and run the command again:",
  '  Debian:  sudo apt-get install chromium fonts-noto-color-emoji',
  '  macOS:   brew install --cask google-chrome',
  'Or set CHROMIUM_PATH to the program of a Chromium or a Chrome that you have.',
].join('\n')

/** For a browser in a container without a screen, which connects to nothing but the page. */
const browserArgs = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-background-networking']

/** Returns the path of a Chromium. Installs one first if that needs no permission. Throws with advice if there is none. */
async function findChromium(): Promise<string> {
  const given = process.env.CHROMIUM_PATH
  if (given) return findProgram([given]) ?? Promise.reject(new Error(`CHROMIUM_PATH is ${given}, and there is no program of that name.`))
  // Without the second package emoji are empty boxes on the screenshots.
  const packages = ['chromium', 'fonts-noto-color-emoji']
  return findOrInstall({ names, packages, missing: 'There is no Chromium on this machine.', advice })
}
