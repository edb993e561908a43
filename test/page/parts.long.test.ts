import { expect, test } from 'vitest'
import { actions, button, general, input, modal, mrkdwn, ops, option, plain } from '../sandbox/slack/slack-for-test.ts'
import { send } from './open-browser.ts'
import { scriptedPages } from './pages.ts'

const current = scriptedPages()

const text = (words: string) => ({ type: 'raw_text', text: words })
const rich = (...elements: object[]) => ({ type: 'rich_text', elements: [{ type: 'rich_text_section', elements }] })

async function post(...blocks: object[]) {
  await current().client.chat.postMessage({ channel: ops, text: 'Blocks', blocks: blocks as never })
  return current().page.getByRole('article').last()
}

const lastPayload = () => current().bot.received.at(-1)?.payload

test('text from outside is never markup, and nothing is wider than a narrow phone', async () => {
  const { page } = current()
  await page.setViewportSize({ width: 360, height: 700 })
  const hostile = '<img src=x onerror="document.title=1"> & <b>bold</b> *x*'
  const link = { type: 'link', url: 'https://tracker.example/OPS-1', text: 'OPS-1' }
  const message = await post(
    { type: 'section', text: plain(hostile) },
    { type: 'header', text: plain(hostile) },
    rich({ type: 'text', text: hostile }, link),
    { type: 'section', text: mrkdwn(`${'long'.repeat(60)} \`${'code'.repeat(40)}\``) },
    { type: 'data_table', caption: 'Long '.repeat(20), rows: [Array(8).fill(text('Header')), Array(8).fill(text('Cell of a table'))] },
  )

  await expect.poll(() => message.getByText(hostile).count()).toBe(3)
  expect(await message.locator('img:not(.avatar), b, strong:not(.message-head *)').count()).toBe(0)
  expect(await message.getByRole('link', { name: 'OPS-1' }).getAttribute('href')).toBe('https://tracker.example/OPS-1')
  const widths = await page.evaluate(() =>
    [...document.querySelectorAll('html, .messages, .composer, .top-bar')].map((box) => box.scrollWidth),
  )
  expect(Math.max(...widths)).toBeLessThanOrEqual(360)
})

test('a table has a caption, row headers and pages, and what is chosen below it is sent to the bot', async () => {
  const { page } = current()
  const rows = Array.from({ length: 12 }, (_, index) => [text(`web-${index + 1}`), rich({ type: 'text', text: `sv_${index}` })])
  const table = { type: 'data_table', caption: 'Servers (12)', row_header_column_index: 0, rows: [[text('Server'), text('Id')], ...rows] }
  const select = {
    type: 'static_select',
    action_id: 'details',
    placeholder: plain('Details'),
    options: ['web-1', 'web-2'].map((name) => option(name)),
  }
  const message = await post(table, actions(select))
  await message.getByRole('table', { name: 'Servers (12)' }).waitFor()

  await message.getByRole('button', { name: 'Next rows' }).click()
  await message.getByRole('button', { name: 'Next rows' }).click()
  await message.getByText('11–12 of 12').waitFor()
  expect(await message.getByRole('rowheader').allInnerTexts()).toEqual(['web-11', 'web-12'])
  expect(await message.getByRole('button', { name: 'Next rows' }).isDisabled()).toBe(true)

  await page.getByRole('combobox', { name: 'Details' }).selectOption('web-2')
  await expect.poll(lastPayload).toMatchObject({ actions: [{ action_id: 'details', selected_option: { value: 'web-2' } }] })
})

test('a press asks first, and answers the message that was on the screen, also if the bot has replaced it meanwhile', async () => {
  const { page, bot, client } = current()
  const answered = Promise.withResolvers<object>()
  bot.answer(() => answered.promise)
  const confirm = { title: plain('Approve it?'), text: plain('web-2 is off.'), confirm: plain('Approve'), deny: plain('Not yet') }
  const approve = button({ action_id: 'approve', text: plain('Go on'), value: 'r1', confirm })
  const { ts = '' } = await client.chat.postMessage({ channel: ops, text: 'x', blocks: [actions(approve)] as never })
  const question = page.getByRole('dialog', { name: 'Approve it?' })
  const shown = page.getByRole('button', { name: 'Go on' })
  await shown.click()
  await question.getByRole('button', { name: 'Not yet' }).click()
  expect(bot.received).toEqual([])

  await shown.click()
  await client.chat.update({ channel: ops, ts, text: 'Withdrawn' })
  await page.getByRole('article').getByText('Withdrawn').waitFor()
  await question.getByRole('button', { name: 'Approve' }).click()

  await expect
    .poll(lastPayload)
    .toMatchObject({ actions: [{ action_id: 'approve', value: 'r1' }], message: { ts, blocks: [actions(approve)] } })
  answered.resolve({})
})

test('a form searches, keeps and sends what is entered, and shows errors at the field', async () => {
  const { page, slack, bot, client } = current()
  bot.answer(async (payload) => {
    if (payload.type === 'block_suggestion')
      return { body: { options: ['web-1', 'web-2'].filter((name) => name.includes(String(payload.value))).map((name) => option(name)) } }
    if (payload.type === 'view_submission') return { body: { response_action: 'errors', errors: { Server: 'web-2 is in another site.' } } }
    if (payload.type === 'shortcut') await client.views.open({ trigger_id: String(payload.trigger_id), view: form })
    return {}
  })
  await page.getByRole('button', { name: 'Shortcuts' }).click()
  await page.getByRole('button', { name: /Move an Elastic IP/ }).click()
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
  await expect.poll(lastPayload).toMatchObject({
    actions: [{ block_id: 'Server', selected_option: { value: 'web-2' } }],
    view: { state: { values: { Reason: { a: { value: 'Because' } } } } },
  })
  await dialog.getByRole('radio', { name: 'Daily' }).check()
  await dialog.getByRole('checkbox', { name: 'Quietly' }).check()
  // It begins with the channel behind the form.
  await expect.poll(() => dialog.getByRole('combobox', { name: 'Channel' }).inputValue()).toBe(ops)
  expect(await dialog.getByRole('option', { name: 'partner-ops' }).count()).toBe(0)
  await dialog.getByRole('combobox', { name: 'Channel' }).selectOption(general)
  await dialog.getByRole('button', { name: 'Send' }).click()

  await dialog.getByText('web-2 is in another site.').waitFor()
  const values = {
    Server: { a: { type: 'external_select', selected_option: { value: 'web-2' } } },
    Reason: { a: { type: 'plain_text_input', value: 'Because' } },
    Note: { a: { type: 'plain_text_input', value: null } },
    'How often': { a: { type: 'radio_buttons', selected_option: { value: 'Daily' } } },
    How: { a: { type: 'checkboxes', selected_options: [{ value: 'Quietly' }] } },
    Channel: { a: { type: 'conversations_select', selected_conversation: general } },
  }
  expect(slack.deliveries.findLast(({ kind }) => kind === 'view_submission')?.payload).toMatchObject({ view: { state: { values } } })
})

const form = modal('A form', {
  blocks: [
    input('Server', { type: 'external_select', min_query_length: 0 }, { dispatch_action: true }),
    input('Reason'),
    input('Note', { type: 'plain_text_input', multiline: true }, { optional: true }),
    input('How often', { type: 'radio_buttons', options: ['Once', 'Daily'].map((name) => option(name)) }),
    input('How', { type: 'checkboxes', options: [option('Quietly')] }, { optional: true }),
    input('Channel', {
      type: 'conversations_select',
      default_to_current_conversation: true,
      filter: { include: ['public', 'private'], exclude_external_shared_channels: true },
    }),
  ],
})

test('a link in a form shows the message on another page', async () => {
  const { page, client, bot } = current()
  const { ts = '' } = await client.chat.postMessage({ channel: ops, text: 'The request' })
  const link = `<https://nimbus-works.slack.com/archives/${ops}/p${ts.replace('.', '')}|Open it>`
  const view = modal('A form', { blocks: [{ type: 'section', text: mrkdwn(link) }, input('Reason')] })
  bot.answer(async (payload) => {
    if (payload.command) await client.views.open({ trigger_id: String(payload.trigger_id), view })
    return {}
  })
  await send(page, '/infra ip move')
  const reason = page.getByRole('dialog').getByRole('textbox', { name: 'Reason' })
  await reason.fill('web-1 is slow')

  const opened = page.waitForEvent('popup')
  await page.getByRole('dialog').getByRole('link', { name: 'Open it' }).click()

  const other = await opened
  await other.getByRole('complementary', { name: 'Thread' }).getByText('The request').waitFor()
  await other.close()
  expect(await reason.inputValue()).toBe('web-1 is slow')
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
})

test('a message has the shortcut of the app, and a thread that Esc closes, with a field for replies', async () => {
  const { page, client, slack } = current()
  const { ts = '' } = await client.chat.postMessage({ channel: ops, text: 'A request' })
  const message = page.getByRole('article').filter({ hasText: 'A request' }).first()
  await message.hover()
  await message.getByRole('button', { name: 'More actions' }).press('Enter')
  await page.getByRole('button', { name: /Look up in Lockkeeper/ }).click()
  await expect.poll(lastPayload).toMatchObject({ type: 'message_action', callback_id: 'look-up', message: { ts }, channel: { id: ops } })

  await message.getByRole('button', { name: 'Reply in thread' }).click()
  const thread = page.getByRole('complementary', { name: 'Thread' })
  const reply = thread.getByRole('textbox', { name: 'Reply' })
  await reply.fill('Why now?')
  await reply.press('Enter')
  await thread.getByRole('article').getByText('Why now?').waitFor()
  expect(slack.thread(ops, ts).map((each) => each.text)).toEqual(['A request', 'Why now?'])
  await client.chat.postMessage({ channel: ops, text: 'For all to see', thread_ts: ts, reply_broadcast: true })
  await thread.getByText('Also sent to #ops').waitFor()
  await page.getByText('replied to a thread').waitFor()
  await page.keyboard.press('Escape')
  await thread.waitFor({ state: 'detached' })
})
