import { expect, test } from 'vitest'
import type { TableCell } from '../sandbox/page/block-shapes.ts'
import { cellWords, nextSort, shownRows, type TableView } from '../sandbox/page/table-rows.ts'

const names = { me: 'U1', user: (id: string) => (id === 'U1' ? 'Ada' : undefined), channel: () => undefined, group: () => undefined }
const text = (words: string): TableCell => ({ type: 'raw_text', text: words })
const price = (value: number): TableCell => ({ type: 'raw_number', value, text: `$${value.toFixed(2)}` })
const rich = (...elements: object[]) => ({ type: 'rich_text', elements: [{ type: 'rich_text_section', elements }] }) as TableCell

const rows = [
  [text('web-10'), price(9), rich({ type: 'user', user_id: 'U1' })],
  [text('web-2'), price(30), rich({ type: 'link', url: 'https://example.com', text: 'ticket' })],
  [text('db-1'), price(100), rich({ type: 'text', text: 'eip_1', style: { code: true } })],
]

function shown(view: Partial<TableView>, pageSize = 10) {
  const found = shownRows(rows, { sort: undefined, query: '', page: 0, ...view }, { pageSize, names })
  return { ...found, rows: found.rows.map(([first]) => (first ? cellWords(first, names) : '')) }
}

test('numbers are sorted by their values, and everything else by its words', () => {
  expect(shown({ sort: { column: 1, descending: false } }).rows).toEqual(['web-10', 'web-2', 'db-1'])
  expect(shown({ sort: { column: 1, descending: true } }).rows).toEqual(['db-1', 'web-2', 'web-10'])
  expect(shown({ sort: { column: 0, descending: false } }).rows).toEqual(['db-1', 'web-10', 'web-2'])
  expect(shown({ sort: { column: 2, descending: false } }).rows).toEqual(['web-10', 'db-1', 'web-2'])
})

test('a filter finds every typed word in any cell, as it is shown', () => {
  expect(shown({ query: 'WEB ticket' }).rows).toEqual(['web-2'])
  expect(shown({ query: '@ada' }).rows).toEqual(['web-10'])
  expect(shown({ query: '$100' }).rows).toEqual(['db-1'])
  expect(shown({ query: 'nothing' })).toMatchObject({ rows: [], count: 0, pages: 1 })
})

test('rows are paged, and a filter that leaves fewer pages shows the last of them', () => {
  expect(shown({ page: 1 }, 2)).toEqual({ rows: ['db-1'], count: 3, from: 2, pages: 2, page: 1 })
  expect(shown({ page: 1, query: 'web' }, 2)).toEqual({ rows: ['web-10', 'web-2'], count: 2, from: 0, pages: 1, page: 0 })
})

test('a header sorts up, then down, then not at all', () => {
  const up = nextSort(undefined, 1)
  const down = nextSort(up, 1)
  expect([up, down, nextSort(down, 1)]).toEqual([{ column: 1, descending: false }, { column: 1, descending: true }, undefined])
  expect(nextSort(down, 0)).toEqual({ column: 0, descending: false })
})
