import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { ops } from '../sandbox/slack/slack-for-test.ts'
import { composer, send } from './open-browser.ts'
import { type ScriptedPage, scriptedPages } from './scripted-page.ts'

const current = scriptedPages()

const threadOf = (page: Page) => page.getByRole('complementary', { name: 'Thread' })

/** Posts a message with a reply, and opens its thread. */
async function openThread({ page, client }: ScriptedPage): Promise<string> {
  const { ts = '' } = await client.chat.postMessage({ channel: ops, text: 'A request' })
  await client.chat.postMessage({ channel: ops, thread_ts: ts, text: 'Done.' })
  await page.getByRole('button', { name: /1 reply/ }).click()
  await threadOf(page).waitFor()
  return ts
}

test('Esc closes the thread and leaves the focus in the composer, and Enter then sends what was typed', async () => {
  const { page, slack } = current()
  await openThread(current())
  await composer(page).click()
  await composer(page).fill('Who has rebooted web-1?')

  await page.keyboard.press('Escape')
  await threadOf(page).waitFor({ state: 'detached' })
  await page.keyboard.press('Enter')

  await page.getByRole('article').getByText('Who has rebooted web-1?').waitFor()
  expect(await threadOf(page).count()).toBe(0)
  expect(slack.messages(ops).at(-1)?.threadTs).toBeUndefined()
})

test('Esc in the composer closes the list of commands first, and Enter then sends the text as it is', async () => {
  const { page, bot } = current()
  await openThread(current())
  await composer(page).fill('/inf')
  await page.getByRole('listbox', { name: 'Commands' }).waitFor()

  await composer(page).press('Escape')
  expect(await threadOf(page).count()).toBe(1)
  await composer(page).press('Enter')

  await expect.poll(() => bot.received.at(-1)?.payload).toMatchObject({ command: '/inf' })
})

test('Esc in the thread closes it, and the focus goes back to its bar', async () => {
  const { page } = current()
  await openThread(current())
  await page.keyboard.press('Escape')
  await expect.poll(() => page.evaluate(() => document.activeElement?.className)).toBe('thread-bar')
})

test('ArrowUp repeats the last command, also after a message and a reload, and ArrowDown goes forward', async () => {
  const { page } = current()
  for (const text of ['/infra ip list fra', '/infra ip list ash', 'thanks']) {
    await send(page, text)
    await expect.poll(() => composer(page).inputValue()).toBe('')
  }

  await composer(page).press('ArrowUp')
  await expect.poll(() => composer(page).inputValue()).toBe('/infra ip list ash')
  await composer(page).press('ArrowUp')
  await expect.poll(() => composer(page).inputValue()).toBe('/infra ip list fra')
  await composer(page).press('ArrowDown')
  await expect.poll(() => composer(page).inputValue()).toBe('/infra ip list ash')

  await page.reload()
  await composer(page).press('ArrowUp')
  await expect.poll(() => composer(page).inputValue()).toBe('/infra ip list ash')
})

test('a thread has a field for a reply, and a message without replies can get its first one', async () => {
  const { page, slack, client } = current()
  const { ts = '' } = await client.chat.postMessage({ channel: ops, text: 'A request' })
  await page.getByRole('article').filter({ hasText: 'A request' }).hover()
  await page.getByRole('button', { name: 'Reply in thread' }).click()
  const reply = threadOf(page).getByRole('textbox', { name: 'Reply' })

  await reply.fill('Why now?')
  await reply.press('Enter')

  await threadOf(page).getByText('Why now?').waitFor()
  expect(slack.thread(ops, ts).map(({ text }) => text)).toEqual(['A request', 'Why now?'])
  await reply.fill('/infra ip move')
  await reply.press('Enter')
  await page.getByText('Slash commands cannot be used in threads.').waitFor()
  await expect.poll(() => reply.inputValue()).toBe('/infra ip move')
})
