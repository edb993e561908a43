import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { actions, button, input, modal, mrkdwn, ops, plain } from '../sandbox/slack/slack-for-test.ts'
import { actAs, desktop, phone, send } from './open-browser.ts'
import { type ScriptedPage, scriptedPages } from './scripted-page.ts'

const current = scriptedPages()

const threadOf = (page: Page) => page.getByRole('complementary', { name: 'Thread' })
const heading = (page: Page, name: string) => page.getByRole('heading', { name, level: 1 })
const form = (page: Page) => page.getByRole('dialog', { name: 'A form' })

/** Opens a form for each command. */
function answerWithForm({ bot, client }: ScriptedPage, blocks: object[] = [input('Reason')]) {
  bot.answer(async (payload) => {
    if (payload.command) await client.views.open({ trigger_id: String(payload.trigger_id), view: modal('A form', { blocks }) })
    return {}
  })
}

const linkTo = (ts: string) => mrkdwn(`<https://nimbus-works.slack.com/archives/${ops}/p${ts.replace('.', '')}|the request>`)

test('Back returns to the place before and stays on the page: a thread, a channel, a person', async () => {
  const { page, client } = current()
  const { ts = '' } = await client.chat.postMessage({ channel: ops, text: 'A request' })
  await client.chat.postMessage({ channel: ops, thread_ts: ts, text: 'Done.' })
  await page.getByRole('button', { name: /1 reply/ }).click()
  await threadOf(page).waitFor()
  await page.getByRole('button', { name: 'general' }).click()
  await heading(page, 'general').waitFor()
  await actAs(page, 'Ben Laurent (approver)')
  await page.getByText('You are Ben').waitFor()

  await page.goBack()
  await page.getByText('You are Ada').waitFor()
  await heading(page, 'general').waitFor()
  await page.goBack()
  await heading(page, 'ops').waitFor()
  await threadOf(page).getByText('Done.').waitFor()
  await page.goBack()
  await threadOf(page).waitFor({ state: 'detached' })

  await page.goForward()
  await threadOf(page).getByText('Done.').waitFor()
  await page.reload()
  await threadOf(page).getByText('Done.').waitFor()
})

test.each([
  ['desktop', desktop],
  ['phone', phone],
])('Back closes an open form and stays on the page: %s', async (_, size) => {
  const { page, slack } = current()
  await page.setViewportSize(size)
  answerWithForm(current())
  await send(page, '/infra ip move')
  await form(page).waitFor()

  await page.goBack()

  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(page.url().startsWith(slack.url)).toBe(true)
  await heading(page, 'ops').waitFor()
})

test('a form that was closed by its button, by Esc or by a submission leaves no entry: one Back returns to the place before', async () => {
  const { page } = current()
  answerWithForm(current())
  await page.getByRole('button', { name: 'general' }).click()
  await heading(page, 'general').waitFor()
  const ways = [
    () => form(page).getByRole('button', { name: 'Cancel' }).click(),
    () => page.keyboard.press('Escape'),
    async () => {
      await form(page).getByRole('textbox', { name: 'Reason' }).fill('Because')
      await form(page).getByRole('button', { name: 'Send' }).click()
    },
  ]
  for (const close of ways) {
    await send(page, '/infra ip move')
    await form(page).waitFor()
    await close()
    await form(page).waitFor({ state: 'detached' })
  }

  await page.goBack()

  await heading(page, 'ops').waitFor()
})

test('a link in a form shows the message, and Back returns to the form with what was typed', async () => {
  const { page, client } = current()
  await page.setViewportSize(phone)
  const { ts = '' } = await client.chat.postMessage({ channel: ops, text: 'The request' })
  answerWithForm(current(), [{ type: 'section', text: linkTo(ts) }, input('Reason')])
  await send(page, '/infra ip move')
  await form(page).getByRole('textbox', { name: 'Reason' }).fill('web-1 is slow')

  await form(page).getByRole('link', { name: 'the request' }).click()

  await form(page).waitFor({ state: 'detached' })
  await page.locator('.is-pointed-at').getByText('The request').waitFor()
  await page.goBack()
  await expect.poll(() => form(page).getByRole('textbox', { name: 'Reason' }).inputValue()).toBe('web-1 is slow')
  await page.goBack()
  await form(page).waitFor({ state: 'detached' })
  await heading(page, 'ops').waitFor()
})

test('a link in a question shows the message, and nothing is pressed', async () => {
  const { page, client, bot } = current()
  const { ts = '' } = await client.chat.postMessage({ channel: ops, text: 'The request' })
  const confirm = { title: plain('Approve it?'), text: linkTo(ts), confirm: plain('Approve'), deny: plain('Not yet') }
  await client.chat.postMessage({ channel: ops, text: 'x', blocks: [actions(button({ text: plain('Approve'), confirm }))] as never })
  await page.getByRole('button', { name: 'general' }).click()
  await page.getByRole('button', { name: 'ops', exact: true }).click()
  await page.getByRole('button', { name: 'Approve' }).click()

  await page.getByRole('dialog').getByRole('link', { name: 'the request' }).click()

  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.locator('.is-pointed-at').getByText('The request').waitFor()
  expect(bot.received).toEqual([])
})
