import { describe, expect, test } from 'vitest'
import type { Json } from './json.ts'
import { problemsWithBlocks, problemsWithView } from './validate-blocks.ts'

const raw = (text: string) => ({ type: 'raw_text', text })
const rich = (...elements: Json[]) => ({ type: 'rich_text', elements: [{ type: 'rich_text_section', elements }] })
const rows = (count: number, columns = 1, text = 'x') =>
  Array.from({ length: count }, () => Array.from({ length: columns }, () => raw(text)))
const table = (more: Json = {}) => ({ type: 'data_table', caption: 'Elastic IPs', rows: rows(2), ...more })

describe('a data table', () => {
  test.each<[string, Json]>([
    [
      'of every kind of cell',
      table({ rows: [[raw('Server')], [{ type: 'raw_number', value: 1, text: '1' }], [rich({ type: 'text', text: 'x' })]] }),
    ],
    ['of 100 rows and 20 columns', table({ rows: rows(101, 20), page_size: 100, row_header_column_index: 19 })],
    ['of 10,000 characters', table({ rows: rows(2, 1, 'x'.repeat(5_000)) })],
  ])('%s is taken', (_, block) => {
    expect(problemsWithBlocks([block])).toEqual([])
  })

  test.each<[string, Json, RegExp]>([
    ['without rows', table({ rows: rows(1) }), /no fewer than 2/],
    ['of 101 rows', table({ rows: rows(102) }), /no more than 101/],
    ['of 21 columns', table({ rows: rows(2, 21) }), /no more than 20/],
    ['of rows of unequal length', table({ rows: [...rows(2, 2), ...rows(1)] }), /same number of cells/],
    ['with an empty cell', table({ rows: [[raw('Server')], [raw('')]] }), /more than 0 characters/],
    ['with an empty rich text', table({ rows: [[raw('Server')], [rich()]] }), /no fewer than 1/],
    ['with a number that is none', table({ rows: [[raw('Price')], [{ type: 'raw_number', value: '1', text: '1' }]] }), /must be a number/],
    ['with rich text in its header', table({ rows: [[rich({ type: 'text', text: 'x' })], [raw('x')]] }), /not allowed in the header/],
    ['of 10,001 characters', table({ rows: rows(2, 1, 'x'.repeat(5_001)) }), /less than 10001/],
    ['without a caption', table({ caption: '' }), /more than 0 characters/],
    ['with no page size', table({ page_size: 0 }), /more than 0/],
    ['with a page size of 101', table({ page_size: 101 }), /less than 101/],
    ['whose row header is no column', table({ row_header_column_index: 1 }), /index of a column/],
  ])('%s is refused', (_, block, problem) => {
    expect(problemsWithBlocks([block]).join('\n')).toMatch(problem)
  })

  test('is refused beside another one, and in a modal', () => {
    const modal = { type: 'modal', title: { type: 'plain_text', text: 'Details' }, blocks: [table()] }

    expect(problemsWithBlocks([table(), table()])).toEqual([expect.stringContaining('only one table')])
    expect(problemsWithView(modal, 'modal')).toEqual([expect.stringContaining('unsupported type: data_table')])
  })
})
