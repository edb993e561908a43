import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { actions, ada, ben, mrkdwn, ops, option, plain } from '../sandbox/slack/slack-for-test.ts'
import { phone } from './open-browser.ts'
import { scriptedPages } from './scripted-page.ts'

const current = scriptedPages()

const text = (words: string) => ({ type: 'raw_text', text: words })
const number = (value: number) => ({ type: 'raw_number', value, text: `$${value.toFixed(3)}` })
const rich = (...elements: object[]) => ({ type: 'rich_text', elements: [{ type: 'rich_text_section', elements }] })

const servers = Array.from({ length: 12 }, (_, index) => [
  text(`web-${index + 1}`),
  number((12 - index) / 10),
  rich(index === 0 ? { type: 'user', user_id: ben } : { type: 'text', text: `sv_${index}`, style: { code: true } }),
])

const table = {
  type: 'data_table',
  block_id: 'servers',
  caption: 'Servers (12)',
  row_header_column_index: 0,
  rows: [[text('Server'), text('Price'), text('Owner')], ...servers],
}

async function post(blocks: object[]) {
  await current().client.chat.postMessage({ channel: ops, text: 'Servers', blocks: blocks as never })
  return current().page.getByRole('article').last()
}

const firstColumn = (page: Page) => page.getByRole('rowheader').allInnerTexts()

test('a table is paged, has a caption and row headers, and is sorted by its headers', async () => {
  const { page } = current()
  const message = await post([table])
  await message.getByRole('table', { name: 'Servers (12)' }).waitFor()
  await expect.poll(() => firstColumn(page)).toEqual(['web-1', 'web-2', 'web-3', 'web-4', 'web-5'])
  await message.getByText('1–5 of 12').waitFor()
  await message.getByText('@ben').waitFor()

  const price = message.getByRole('columnheader', { name: 'Price' })
  await price.getByRole('button').click()
  await expect.poll(() => firstColumn(page)).toEqual(['web-12', 'web-11', 'web-10', 'web-9', 'web-8'])
  expect(await price.getAttribute('aria-sort')).toBe('ascending')

  await message.getByRole('button', { name: 'Next rows' }).click()
  await message.getByRole('button', { name: 'Next rows' }).click()
  await message.getByText('11–12 of 12').waitFor()
  await expect.poll(() => firstColumn(page)).toEqual(['web-2', 'web-1'])
  expect(await message.getByRole('button', { name: 'Next rows' }).isDisabled()).toBe(true)
})

test('a table is filtered by what its cells show, and the message still fits a phone', async () => {
  const { page } = current()
  await page.setViewportSize(phone)
  const caption = '1 in progress, 2 waiting for approval, 10 ended lately'
  const message = await post([{ ...table, rows: table.rows.map((row) => [...row, ...row]), caption }])
  const box = await page.getByText(caption).boundingBox()
  expect(box && box.x + box.width).toBeLessThanOrEqual(phone.width)

  await message.getByRole('searchbox', { name: 'Filter rows' }).fill('ben')
  await expect.poll(() => firstColumn(page)).toEqual(['web-1'])
  await message.getByRole('searchbox', { name: 'Filter rows' }).fill('mainframe')
  await message.getByText('No rows').waitFor()

  expect(await page.evaluate(() => document.querySelector('.messages')?.scrollWidth)).toBeLessThanOrEqual(phone.width)
})

test('names with hyphens are never broken at a hyphen on a phone: in texts, code, headers, tables and pickers', async () => {
  const { page } = current()
  await page.setViewportSize(phone)
  const names = Array.from({ length: 8 }, (_, index) => `edge-frankfurt-standby-${index}`)
  const move = 'Move 203.0.113.10: edge-frankfurt-standby-1 → edge-frankfurt-standby-2'
  await post([
    { type: 'header', text: plain(move) },
    { type: 'section', text: mrkdwn(`${move} ${names.join(' and ')} and \`${names.join('` or `')}\``) },
    {
      ...table,
      rows: [
        [text('Change'), text('Outcome')],
        [text(`${move} (${names[0]})`), text('Done')],
      ],
    },
    actions({ type: 'static_select', action_id: 'details', placeholder: plain('Details'), options: [option(move)] }),
  ])
  await page.getByRole('combobox', { name: 'Details' }).click()
  await page.getByRole('listbox', { name: 'Options' }).getByRole('option').waitFor()

  const lines = await page.evaluate(linesOfNames)

  expect(lines.length).toBeGreaterThan(20)
  expect(lines.filter((count) => count !== 1)).toEqual([])
})

/** Runs inside the page. Returns on how many lines each name is. */
function linesOfNames(): number[] {
  const found: number[] = []
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    for (const { 0: name, index } of (node.textContent ?? '').matchAll(/edge-frankfurt-standby-\d/g)) {
      const range = document.createRange()
      range.setStart(node, index)
      range.setEnd(node, index + name.length)
      found.push(new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size)
    }
  }
  return found
}

test('a table of a wide page shows all columns, also the links in the last one, beside an open thread too', async () => {
  const { page, client } = current()
  await page.setViewportSize({ width: 1440, height: 900 })
  const link = rich({ type: 'link', url: 'https://example.com', text: 'Open' })
  const date = rich({ type: 'date', timestamp: 1_795_000_000, format: '{date_num} {time}' })
  const row = [text('Move 203.0.113.10: web-1 → web-2'), text('waiting for approval'), date, date, text('@ada'), text('#ops'), link]
  const { ts = '' } = await client.chat.postMessage({ channel: ops, text: 'A request' })
  await client.chat.postMessage({ channel: ops, thread_ts: ts, text: 'Done.' })
  const header = ['Request', 'State', 'Expires', 'Ended', 'Requested by', 'Channel', 'Message'].map(text)
  await post([{ ...table, rows: [header, row] }])
  const isInSight = () =>
    page
      .getByRole('main')
      .getByRole('link', { name: 'Open' })
      .evaluate((shown) => {
        const box = shown.closest('.table-scroll')
        return box !== null && shown.getBoundingClientRect().right <= box.getBoundingClientRect().right
      })

  await expect.poll(isInSight).toBe(true)
  await page.getByRole('button', { name: /1 reply/ }).click()
  await page.getByRole('complementary', { name: 'Thread' }).waitFor()
  await expect.poll(isInSight).toBe(true)
})

test('rich text shows its links, and nothing in its texts is markup', async () => {
  const message = await post([
    {
      type: 'rich_text',
      elements: [
        {
          type: 'rich_text_section',
          elements: [
            { type: 'text', text: 'Because <b>of</b> ' },
            { type: 'link', url: 'https://tracker.example/OPS-123', text: 'OPS-123' },
            { type: 'text', text: ' and *that*' },
          ],
        },
      ],
    },
  ])

  await expect.poll(() => message.getByRole('link', { name: 'OPS-123' }).getAttribute('href')).toBe('https://tracker.example/OPS-123')
  await message.getByText('Because <b>of</b>').waitFor()
  await message.getByText('and *that*').waitFor()
  expect(await message.locator('b, strong').count()).toBe(0)
})

test('a select below a table is searched on the page, and a choice is sent to the bot', async () => {
  const { page, bot } = current()
  const select = { type: 'static_select', action_id: 'details', placeholder: plain('Details of a server') }
  await post([actions({ ...select, options: ['web-1', 'web-2', 'db-1'].map((name) => option(name)) })])
  const field = page.getByRole('combobox', { name: 'Details of a server' })

  await field.fill('web')
  const options = page.getByRole('listbox', { name: 'Options' }).getByRole('option')
  await expect.poll(() => options.allInnerTexts()).toEqual(['web-1', 'web-2'])
  await options.last().click()

  await expect
    .poll(() => bot.received.at(-1)?.payload)
    .toMatchObject({ type: 'block_actions', user: { id: ada }, actions: [{ action_id: 'details', selected_option: { value: 'web-2' } }] })
  expect(bot.received).toHaveLength(1)
})
