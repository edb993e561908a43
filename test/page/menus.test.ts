import { expect, test } from 'vitest'
import { ada, general, input, modal, ops } from '../sandbox/slack/slack-for-test.ts'
import { composer } from './open-browser.ts'
import { scriptedPages } from './scripted-page.ts'

const current = scriptedPages({
  shortcuts: [
    { type: 'message', callbackId: 'look-up', name: 'Look up in Lockkeeper', description: 'Finds addresses' },
    { type: 'global', callbackId: 'move', name: 'Move an Elastic IP', description: 'Opens the form' },
  ],
})

test('the menu of a message has the shortcut of the app, by mouse and by keyboard', async () => {
  const { page, client, bot } = current()
  const { ts } = await client.chat.postMessage({ channel: ops, text: '203.0.113.10 does not answer' })
  const message = page.getByRole('article').filter({ hasText: 'does not answer' })
  await message.hover()

  await message.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: /Look up in Lockkeeper/ }).click()
  await expect
    .poll(() => bot.received.at(-1)?.payload)
    .toMatchObject({ type: 'message_action', callback_id: 'look-up', message: { ts }, channel: { id: ops }, user: { id: ada } })

  await message.getByRole('button', { name: 'More actions' }).focus()
  await page.keyboard.press('Enter')
  await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toContain('Look up')
  await page.keyboard.press('Escape')
  await expect.poll(() => page.getByRole('menu').count()).toBe(0)
  await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('More actions')
})

test('an ephemeral message has no menu, unlike the others', async () => {
  const { page, client } = current()
  await client.chat.postMessage({ channel: ops, text: 'For all' })
  await client.chat.postEphemeral({ channel: ops, user: ada, text: 'For you' })
  await page.getByText('For you').waitFor()

  expect(await page.getByRole('article').filter({ hasText: 'For you' }).getByRole('button').count()).toBe(0)
  await page.getByRole('article').filter({ hasText: 'For all' }).getByRole('button', { name: 'More actions' }).waitFor()
})

test('the menu at the composer has the global shortcut, and its form asks for the channel, first the one on the screen', async () => {
  const { page, client, bot, slack } = current()
  bot.answer(async (payload) => {
    if (payload.type === 'shortcut') await client.views.open({ trigger_id: String(payload.trigger_id), view: form })
    return {}
  })
  await page.getByRole('button', { name: 'Shortcuts' }).click()
  await page.getByRole('menuitem', { name: /Move an Elastic IP/ }).click()
  const dialog = page.getByRole('dialog', { name: 'A form' })
  const channel = dialog.getByRole('combobox', { name: 'Channel' })
  await expect.poll(() => channel.inputValue()).toBe('#ops')

  await channel.fill('o')
  await dialog.getByRole('option', { name: '#ops' }).waitFor()
  expect(await dialog.getByRole('option', { name: 'partner-ops' }).count()).toBe(0)
  await channel.fill('gen')
  await dialog.getByRole('option', { name: '#general' }).click()
  await dialog.getByRole('button', { name: 'Send' }).click()

  await dialog.waitFor({ state: 'detached' })
  expect(slack.deliveries.findLast(({ kind }) => kind === 'view_submission')?.payload).toMatchObject({
    view: { state: { values: { Channel: { a: { type: 'conversations_select', selected_conversation: general } } } } },
  })
  await composer(page).waitFor()
})

const form = modal('A form', {
  blocks: [
    input('Channel', {
      type: 'conversations_select',
      default_to_current_conversation: true,
      filter: { include: ['public', 'private'], exclude_external_shared_channels: true },
    }),
  ],
})
