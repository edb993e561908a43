import { expect, test } from 'vitest'
import type { Json } from './json.ts'
import { actions, button, input, modal, mrkdwn, option, plain, section } from './slack-for-test.ts'
import { problemsWithBlocks, problemsWithOptions, problemsWithView } from './validate-blocks.ts'

const a = (length: number) => 'a'.repeat(length)
const many = <Item>(count: number, one: (at: number) => Item) => Array.from({ length: count }, (_none, at) => one(at))
const options = (count: number) => many(count, (at) => option(`Option ${at}`))
const confirm = (more: Json) => ({ title: plain('T'), text: mrkdwn('x'), confirm: plain('Y'), deny: plain('N'), ...more })
const select = (more: Json) => ({ type: 'external_select', ...more })
const text = (more: Json) => ({ type: 'plain_text_input', ...more })
const raw = (words: string) => ({ type: 'raw_text', text: words })
const rich = (...elements: Json[]) => ({ type: 'rich_text', elements: [{ type: 'rich_text_section', elements }] })
const rows = (count: number, columns = 1, words = 'x') => many(count, () => many(columns, () => raw(words)))
const table = (more: Json = {}) => ({ type: 'data_table', caption: 'Elastic IPs', rows: rows(2), ...more })

const problems = (...blocks: Json[]) => problemsWithBlocks(blocks)
const inModal = (more: Json) => problemsWithView(modal('Title', more), 'modal')

test.each([
  ['section text', (n: number) => problems(section({ text: mrkdwn(a(n)) })), 3000],
  ['field text', (n: number) => problems(section({ fields: [mrkdwn(a(n))] })), 2000],
  ['fields', (n: number) => problems(section({ fields: many(n, () => mrkdwn('x')) })), 10],
  ['header text', (n: number) => problems({ type: 'header', text: plain(a(n)) }), 150],
  ['context elements', (n: number) => problems({ type: 'context', elements: many(n, () => mrkdwn('x')) }), 10],
  ['context text', (n: number) => problems({ type: 'context', elements: [mrkdwn(a(n))] }), 3000],
  ['actions elements', (n: number) => problems(actions(...many(n, (at) => button({ action_id: `a${at}` })))), 25],
  ['button text', (n: number) => problems(actions(button({ text: plain(a(n)) }))), 75],
  ['button value', (n: number) => problems(actions(button({ value: a(n) }))), 2000],
  ['block_id', (n: number) => problems(section({ block_id: a(n) })), 255],
  ['action_id', (n: number) => problems(actions(button({ action_id: a(n) }))), 255],
  ['confirm title', (n: number) => problems(actions(button({ confirm: confirm({ title: plain(a(n)) }) }))), 100],
  ['confirm text', (n: number) => problems(actions(button({ confirm: confirm({ text: mrkdwn(a(n)) }) }))), 300],
  ['confirm button', (n: number) => problems(actions(button({ confirm: confirm({ deny: plain(a(n)) }) }))), 30],
  ['placeholder', (n: number) => problems(actions(select({ placeholder: plain(a(n)) }))), 150],
  ['blocks of a message', (n: number) => problems(...many(n, () => section())), 50],
  ['blocks of a modal', (n: number) => inModal({ blocks: many(n, () => section()) }), 100],
  ['blocks of a Home tab', (n: number) => problemsWithView({ type: 'home', blocks: many(n, () => section()) }, 'home'), 100],
  ['title', (n: number) => inModal({ title: plain(a(n)) }), 24],
  ['submit', (n: number) => inModal({ submit: plain(a(n)) }), 24],
  ['close', (n: number) => inModal({ close: plain(a(n)) }), 24],
  ['private_metadata', (n: number) => inModal({ private_metadata: a(n) }), 3000],
  ['callback_id', (n: number) => inModal({ callback_id: a(n) }), 255],
  ['label', (n: number) => inModal({ blocks: [input('L', text({}), { label: plain(a(n)) })] }), 2000],
  ['hint', (n: number) => inModal({ blocks: [input('L', text({}), { hint: plain(a(n)) })] }), 2000],
  ['max_length', (n: number) => inModal({ blocks: [input('L', text({ max_length: n }))] }), 3000],
  ['initial_value', (n: number) => inModal({ blocks: [input('L', text({ initial_value: a(n) }))] }), 3000],
  ['radio buttons', (n: number) => inModal({ blocks: [input('L', { type: 'radio_buttons', options: options(n) })] }), 10],
  ['rows of a table, with its header', (n: number) => problems(table({ rows: rows(n) })), 101],
  ['columns of a table', (n: number) => problems(table({ rows: rows(2, n), row_header_column_index: 0 })), 20],
  ['characters of a table', (n: number) => problems(table({ rows: rows(1, 1, a(n - 1)).concat(rows(1)) })), 10_000],
  ['rows of a page', (n: number) => problems(table({ page_size: n })), 100],
  ['options', (n: number) => problemsWithOptions({ options: options(n) }), 100],
  ['option text', (n: number) => problemsWithOptions({ options: [option(a(n))] }), 75],
  ['option value', (n: number) => problemsWithOptions({ options: [option('One', { value: a(n) })] }), 75],
  ['option description', (n: number) => problemsWithOptions({ options: [option('One', { description: plain(a(n)) })] }), 75],
])('%s: the limit is accepted and one more is not', (_what, problemsAt, limit) => {
  expect(problemsAt(limit)).toEqual([])
  expect(problemsAt(limit + 1)).not.toEqual([])
})

test('problems are reported in the words of Slack, each with its place', () => {
  const found = [
    ...problems(section({ text: mrkdwn(a(3001)) }), { type: 'header' }, { type: 'header', text: mrkdwn('x') }, { type: 'section' }),
    ...problems(section({ block_id: 'b' }), section({ block_id: 'b' }), actions(button(), button())),
    ...inModal({ submit: undefined }),
    ...problemsWithOptions({}),
    ...problems(table({ rows: rows(1) })),
    ...problems(table({ rows: [...rows(2, 2), ...rows(1)] })),
    ...problems(table({ rows: [[raw('Server')], [raw('')]], caption: '' })),
    ...problems(table({ rows: [[rich({ type: 'text', text: 'x' })], [rich()]] })),
    ...problems(table(), table()),
    ...inModal({ blocks: [table()] }),
  ]

  expect(found).toMatchInlineSnapshot(`
    [
      "must be less than 3001 characters [json-pointer:/blocks/0/text/text]",
      "missing required field: text [json-pointer:/blocks/1/text]",
      "unsupported type: mrkdwn [json-pointer:/blocks/2/text/type]",
      "must define either \`text\` or \`fields\` [json-pointer:/blocks/3]",
      "block_id needs to be unique [json-pointer:/blocks]",
      "action_id "go" already exists in this block [json-pointer:/blocks]",
      "missing required field: submit [json-pointer:/view]",
      "missing required field: options [json-pointer:/answer]",
      "no fewer than 2 items allowed [json-pointer:/blocks/0/rows]",
      "all rows must have the same number of cells [json-pointer:/blocks/0]",
      "must be more than 0 characters [json-pointer:/blocks/0/rows/1/0/text]",
      "must be more than 0 characters [json-pointer:/blocks/0/caption]",
      "no fewer than 1 items allowed [json-pointer:/blocks/0/rows/1/0/elements/0/elements]",
      "rich_text is not allowed in the header [json-pointer:/blocks/0]",
      "only one table is allowed [json-pointer:/blocks]",
      "unsupported type: data_table [json-pointer:/view/blocks]",
    ]
  `)
  const cells = [raw('x'), { type: 'raw_number', value: 1, text: '1' }, rich({ type: 'text', text: 'x' })]
  expect(problems(table({ rows: [...rows(1, 3), cells] }))).toEqual([])
  expect(() => problems(actions(button({ url: 'https://example.com' })))).toThrow(
    'The stand-in Slack does not describe the member "url" at /blocks/0/elements/0. If Slack takes it, add it to test/sandbox/slack.',
  )
})
