import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { actions, ada, ben, ops, option, plain } from '../sandbox/slack/slack-for-test.ts'
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
  await message.getByText('@Ben Laurent').waitFor()

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
  const message = await post([table])

  await message.getByRole('searchbox', { name: 'Filter rows' }).fill('ben')
  await expect.poll(() => firstColumn(page)).toEqual(['web-1'])
  await message.getByRole('searchbox', { name: 'Filter rows' }).fill('mainframe')
  await message.getByText('No rows').waitFor()

  expect(await page.evaluate(() => document.querySelector('.messages')?.scrollWidth)).toBeLessThanOrEqual(phone.width)
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
