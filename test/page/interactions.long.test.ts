import { expect, test } from 'vitest'
import { actions, ada, button, general, input, modal, ops, option, plain } from '../sandbox/slack/slack-for-test.ts'
import { composer, send } from './open-browser.ts'
import { scriptedPages } from './scripted-page.ts'

const current = scriptedPages({
  shortcuts: [
    { type: 'message', callbackId: 'look-up', name: 'Look up in Lockkeeper', description: 'Finds addresses' },
    { type: 'global', callbackId: 'move', name: 'Move an Elastic IP', description: 'Opens the form' },
  ],
})

test('a button with a confirmation asks first, and is busy until the bot has answered', async () => {
  const { page, bot, client } = current()
  const answered = Promise.withResolvers<object>()
  bot.answer(() => answered.promise)
  const confirm = { title: plain('Revoke it?'), text: plain('This cannot be undone.'), confirm: plain('Revoke'), deny: plain('Keep') }
  const revoke = button({ action_id: 'revoke', text: plain('Revoke the key'), value: 'k1', confirm })
  await client.chat.postMessage({ channel: ops, text: 'x', blocks: [actions(revoke)] as never })
  const shown = page.getByRole('button', { name: 'Revoke the key' })

  await shown.click()
  await page.getByRole('dialog', { name: 'Revoke it?' }).getByRole('button', { name: 'Keep' }).click()
  expect(bot.received).toEqual([])

  await shown.click()
  await page.getByRole('dialog', { name: 'Revoke it?' }).getByRole('button', { name: 'Revoke' }).click()
  await expect.poll(() => shown.getAttribute('aria-busy')).toBe('true')
  answered.resolve({})
  await expect.poll(() => shown.getAttribute('aria-busy')).toBe(null)
  expect(bot.received[0]?.payload).toMatchObject({ actions: [{ action_id: 'revoke', value: 'k1' }] })
})

test('a press answers the message that was on the screen, also if the bot has replaced it while its question was open', async () => {
  const { page, bot, client } = current()
  const confirm = { title: plain('Approve it?'), text: plain('web-2 is off.'), confirm: plain('Approve'), deny: plain('Not yet') }
  const approve = button({ action_id: 'approve', text: plain('Approve'), value: 'r1', confirm })
  const { ts = '' } = await client.chat.postMessage({ channel: ops, text: 'x', blocks: [actions(approve)] as never })
  await page.getByRole('button', { name: 'Approve' }).click()
  const question = page.getByRole('dialog', { name: 'Approve it?' })

  await client.chat.update({ channel: ops, ts, text: 'Withdrawn' })
  await page.getByRole('article').getByText('Withdrawn').waitFor()
  await question.getByRole('button', { name: 'Approve' }).click()

  await expect
    .poll(() => bot.received.at(-1)?.payload)
    .toMatchObject({ actions: [{ action_id: 'approve', value: 'r1' }], message: { ts, blocks: [actions(approve)] } })
  expect(await page.getByText('There is nothing called').count()).toBe(0)
})

test('a press answers the Home tab that was on the screen, too', async () => {
  const { page, bot, client } = current()
  const confirm = { title: plain('Approve it?'), text: plain('web-2 is off.'), confirm: plain('Approve'), deny: plain('Not yet') }
  const publish = (...blocks: object[]) => client.views.publish({ user_id: ada, view: { type: 'home', blocks } as never })
  await publish(actions(button({ action_id: 'approve', text: plain('Approve'), confirm })))
  await page.getByRole('button', { name: 'Lockkeeper' }).click()
  await page.getByRole('button', { name: 'Approve' }).click()

  await publish({ type: 'header', text: plain('Nothing to approve') })
  await page.getByText('Nothing to approve').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click()

  await expect.poll(() => bot.received.at(-1)?.payload).toMatchObject({ type: 'block_actions', actions: [{ action_id: 'approve' }] })
})

test('a form searches, keeps and sends what is entered, and shows errors at the field', async () => {
  const { page, slack, bot, client } = current()
  bot.answer(async (payload) => {
    if (payload.type === 'block_suggestion')
      return { body: { options: ['web-1', 'web-2'].filter((name) => name.includes(String(payload.value))).map((name) => option(name)) } }
    if (payload.type === 'view_submission') return { body: { response_action: 'errors', errors: { Server: 'web-2 is in another site.' } } }
    if (payload.type !== 'block_actions') await client.views.open({ trigger_id: String(payload.trigger_id), view: form })
    return {}
  })
  await send(page, '/infra ip move')
  const dialog = page.getByRole('dialog', { name: 'A form' })
  const server = dialog.getByRole('combobox', { name: 'Server' })

  await dialog.getByRole('button', { name: 'Send' }).click()
  await expect.poll(() => server.getAttribute('aria-invalid')).toBe('true')
  expect(await dialog.getByRole('alert').allInnerTexts()).toEqual(Array(3).fill('Please complete this required field.'))

  await dialog.getByRole('textbox', { name: 'Reason' }).fill('Because')
  await server.fill('nothing')
  await dialog.getByText('No results for “nothing”.').waitFor()
  await server.fill('web')
  await dialog.getByRole('option', { name: 'web-2' }).waitFor()
  await server.press('ArrowDown')
  await server.press('Enter')
  await expect
    .poll(() => bot.received.at(-1)?.payload)
    .toMatchObject({
      type: 'block_actions',
      actions: [{ block_id: 'Server', selected_option: { value: 'web-2' } }],
      view: { state: { values: { Server: { a: { selected_option: { value: 'web-2' } } }, Reason: { a: { value: 'Because' } } } } },
    })
  await dialog.getByRole('radio', { name: 'Daily' }).check()
  await dialog.getByRole('button', { name: 'Send' }).click()

  await dialog.getByText('web-2 is in another site.').waitFor()
  expect(slack.deliveries.findLast(({ kind }) => kind === 'view_submission')?.payload).toMatchObject({
    view: {
      state: {
        values: {
          Server: { a: { type: 'external_select', selected_option: { value: 'web-2' } } },
          Reason: { a: { type: 'plain_text_input', value: 'Because' } },
          Note: { a: { type: 'plain_text_input', value: null } },
          'How often': { a: { type: 'radio_buttons', selected_option: { value: 'Daily' } } },
        },
      },
    },
  })
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
  await page.getByText('For you', { exact: true }).waitFor()

  expect(await page.getByRole('article').filter({ hasText: 'For you' }).getByRole('button').count()).toBe(0)
  await page.getByRole('article').filter({ hasText: 'For all' }).getByRole('button', { name: 'More actions' }).waitFor()
})

test('the menu at the composer has the global shortcut, and its form asks for the channel, first the one on the screen', async () => {
  const { page, client, bot, slack } = current()
  bot.answer(async (payload) => {
    if (payload.type === 'shortcut') await client.views.open({ trigger_id: String(payload.trigger_id), view: channelForm })
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
    input('Server', { type: 'external_select', min_query_length: 0 }, { dispatch_action: true }),
    input('Reason'),
    input('Note', { type: 'plain_text_input', multiline: true }, { optional: true }),
    input('How often', { type: 'radio_buttons', options: ['Once', 'Daily'].map((text) => option(text)) }),
  ],
})

const channelForm = modal('A form', {
  blocks: [
    input('Channel', {
      type: 'conversations_select',
      default_to_current_conversation: true,
      filter: { include: ['public', 'private'], exclude_external_shared_channels: true },
    }),
  ],
})
