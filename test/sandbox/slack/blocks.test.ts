import { expect, test } from 'vitest'
import type { Json } from './json.ts'
import { actions, button, modal, mrkdwn, section } from './slack-for-test.ts'
import { problemsWithBlocks, problemsWithOptions, problemsWithView } from './validate-blocks.ts'

const raw = (words: string) => ({ type: 'raw_text', text: words })
const rich = (...elements: Json[]) => ({ type: 'rich_text', elements: [{ type: 'rich_text_section', elements }] })
const rows = (count: number, columns = 1) => Array.from({ length: count }, () => Array.from({ length: columns }, () => raw('x')))
const table = (more: Json = {}) => ({ type: 'data_table', caption: 'Elastic IPs', rows: rows(2), ...more })

const problems = (...blocks: Json[]) => problemsWithBlocks(blocks)
const inModal = (more: Json) => problemsWithView(modal('Title', more), 'modal')

test('problems are reported in the words of Slack, each with its place', () => {
  const found = [
    ...problems(
      section({ text: mrkdwn('a'.repeat(3_001)) }),
      { type: 'header' },
      { type: 'header', text: mrkdwn('x') },
      { type: 'section' },
    ),
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
  expect(() => problems(actions(button({ icon: 'check' })))).toThrow(
    'The stand-in Slack does not describe the member "icon" at /blocks/0/elements/0. If Slack takes it, add it to test/sandbox/slack.',
  )
})
