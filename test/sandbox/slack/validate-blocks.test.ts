import { describe, expect, test } from 'vitest'
import type { Json } from './json.ts'
import { validateMessageBlocks, validateOptions, validateView } from './validate-blocks.ts'

const a = (length: number) => 'a'.repeat(length)
const plain = (text: string) => ({ type: 'plain_text', text })
const mrkdwn = (text: string) => ({ type: 'mrkdwn', text })
const section = (more: Json = {}) => ({ type: 'section', text: mrkdwn('Hello'), ...more })
const button = (more: Json = {}) => ({ type: 'button', text: plain('Go'), ...more })
const actions = (...elements: Json[]) => ({ type: 'actions', elements })
const option = (text = 'One', more: Json = {}) => ({ text: plain(text), value: text.slice(0, 70), ...more })
const options = (count: number) => Array.from({ length: count }, (_none, at) => option(`Option ${at}`))
const many = (count: number, one: (at: number) => Json) => Array.from({ length: count }, (_none, at) => one(at))
const select = (more: Json = {}) => ({ type: 'static_select', options: options(1), ...more })
const confirm = (more: Json = {}) => ({ title: plain('T'), text: mrkdwn('x'), confirm: plain('Y'), deny: plain('N'), ...more })
const row = (columns: number) => Array.from({ length: columns }, () => ({ type: 'raw_text', text: 'cell' }))
const table = (rows: number, columns: number) => ({ type: 'table', rows: Array.from({ length: rows }, () => row(columns)) })
const modal = (more: Json = {}) => ({ type: 'modal', title: plain('Title'), blocks: [section()], ...more })
const input = (element: Json = { type: 'plain_text_input' }, more: Json = {}) => ({ type: 'input', label: plain('L'), element, ...more })

const errorsOf = (...blocks: Json[]) => validateMessageBlocks(blocks).errors
const viewErrorsOf = (more: Json) => validateView(modal(more), 'modal').errors

describe('limits of messages', () => {
  test.each([
    ['section text', (n: number) => [section({ text: mrkdwn(a(n)) })], 3000],
    ['field text', (n: number) => [section({ fields: [mrkdwn(a(n))] })], 2000],
    ['fields', (n: number) => [section({ fields: many(n, () => mrkdwn('x')) })], 10],
    ['header text', (n: number) => [{ type: 'header', text: plain(a(n)) }], 150],
    ['context elements', (n: number) => [{ type: 'context', elements: many(n, () => mrkdwn('x')) }], 10],
    ['actions elements', (n: number) => [actions(...many(n, (at) => button({ action_id: `a${at}` })))], 25],
    ['button text', (n: number) => [actions(button({ text: plain(a(n)) }))], 75],
    ['button value', (n: number) => [actions(button({ value: a(n) }))], 2000],
    ['block_id', (n: number) => [section({ block_id: a(n) })], 255],
    ['action_id', (n: number) => [actions(button({ action_id: a(n) }))], 255],
    ['options', (n: number) => [actions(select({ options: options(n) }))], 100],
    ['option text', (n: number) => [actions(select({ options: [option(a(n))] }))], 75],
    ['option value', (n: number) => [actions(select({ options: [option('One', { value: a(n) })] }))], 75],
    ['option description', (n: number) => [actions(select({ options: [option('One', { description: plain(a(n)) })] }))], 75],
    ['placeholder', (n: number) => [actions(select({ placeholder: plain(a(n)) }))], 150],
    ['overflow options', (n: number) => [section({ accessory: { type: 'overflow', options: options(n) } })], 5],
    ['checkboxes', (n: number) => [actions({ type: 'checkboxes', options: options(n) })], 10],
    ['radio buttons', (n: number) => [actions({ type: 'radio_buttons', options: options(n) })], 10],
    ['confirm title', (n: number) => [actions(button({ confirm: confirm({ title: plain(a(n)) }) }))], 100],
    ['confirm text', (n: number) => [actions(button({ confirm: confirm({ text: mrkdwn(a(n)) }) }))], 300],
    ['confirm button', (n: number) => [actions(button({ confirm: confirm({ deny: plain(a(n)) }) }))], 30],
    ['table rows', (n: number) => [table(n, 2)], 100],
    ['table columns', (n: number) => [table(2, n)], 20],
    ['table characters', (n: number) => [{ type: 'table', rows: [[{ type: 'raw_text', text: a(n) }]] }], 10_000],
    ['blocks of a message', (n: number) => many(n, () => section()), 50],
  ])('%s: the limit is taken and one more is not', (_what, blocks, limit) => {
    expect(errorsOf(...blocks(limit))).toEqual([])
    expect(errorsOf(...blocks(limit + 1))).not.toEqual([])
  })
})

describe('limits of modals', () => {
  test.each([
    ['title', (n: number) => ({ title: plain(a(n)) }), 24],
    ['submit', (n: number) => ({ submit: plain(a(n)) }), 24],
    ['close', (n: number) => ({ close: plain(a(n)) }), 24],
    ['private_metadata', (n: number) => ({ private_metadata: a(n) }), 3000],
    ['callback_id', (n: number) => ({ callback_id: a(n) }), 255],
    ['blocks', (n: number) => ({ blocks: many(n, () => section()) }), 100],
    ['max_length', (n: number) => ({ submit: plain('Go'), blocks: [input({ type: 'plain_text_input', max_length: n })] }), 3000],
  ])('%s: the limit is taken and one more is not', (_what, view, limit) => {
    expect(viewErrorsOf(view(limit))).toEqual([])
    expect(viewErrorsOf(view(limit + 1))).not.toEqual([])
  })

  test('inputs need a submit button', () => {
    expect(viewErrorsOf({ blocks: [input()] })).toEqual(['missing required field: submit [json-pointer:/view]'])
    expect(viewErrorsOf({ blocks: [input()], submit: plain('Go') })).toEqual([])
  })

  test('tables, markdown and the like are for messages, alerts for modals', () => {
    expect(viewErrorsOf({ blocks: [table(1, 1)] })).toEqual(['unsupported type: table [json-pointer:/view/blocks/0/type]'])
    expect(viewErrorsOf({ blocks: [{ type: 'markdown', text: 'x' }] })).toHaveLength(1)
    expect(viewErrorsOf({ blocks: [{ type: 'alert', text: plain('x') }] })).toEqual([])
    expect(errorsOf({ type: 'alert', text: plain('x') })).toHaveLength(1)
  })
})

describe('the shape of blocks', () => {
  test('the words are those that Slack uses', () => {
    const errors = errorsOf(
      section({ text: mrkdwn(a(3001)) }),
      actions(button({ disabled: true }), { type: 'slider' }),
      section({ text: plain('') }),
      { type: 'header' },
    )

    expect(errors).toMatchInlineSnapshot(`
      [
        "failed to match all allowed schemas [json-pointer:/blocks/0/text]",
        "must be less than 3001 characters [json-pointer:/blocks/0/text/text]",
        "invalid additional property: disabled [json-pointer:/blocks/1/elements/0]",
        "unsupported type: slider [json-pointer:/blocks/1/elements/1/type]",
        "failed to match all allowed schemas [json-pointer:/blocks/2/text]",
        "must be more than 0 characters [json-pointer:/blocks/2/text/text]",
        "missing required field: text [json-pointer:/blocks/3]",
      ]
    `)
  })

  test('ids are unique: blocks in a message, actions in a block', () => {
    const errors = errorsOf(
      section({ block_id: 'b' }),
      section({ block_id: 'b' }),
      actions(button({ action_id: 'x' }), button({ action_id: 'x' })),
    )

    expect(errors).toMatchInlineSnapshot(`
      [
        "block_id needs to be unique [json-pointer:/blocks/1/block_id]",
        "action_id "x" already exists in this block [json-pointer:/blocks/2/elements]",
      ]
    `)
  })

  test('an unknown type of block is no error and is told', () => {
    expect(validateMessageBlocks([section(), { type: 'hologram', anything: 1 }])).toEqual({ errors: [], unknownBlocks: ['hologram'] })
  })

  test('the initial option must be one of those offered', () => {
    expect(errorsOf(actions(select({ initial_option: option('Two') })))).toHaveLength(1)
    expect(errorsOf(actions(select({ options: [option('Two')], initial_option: option('Two') })))).toEqual([])
  })

  test('a mrkdwn text is refused where only plain text may stand', () => {
    expect(errorsOf({ type: 'header', text: mrkdwn('x') })).toMatchInlineSnapshot(`
      [
        "failed to match all allowed schemas [json-pointer:/blocks/0/text]",
        "unsupported type: mrkdwn [json-pointer:/blocks/0/text/type]",
      ]
    `)
  })

  test('rich text and cells of rich text are looked into', () => {
    const rich = (text: string) => ({ type: 'rich_text', elements: [{ type: 'rich_text_section', elements: [{ type: 'text', text }] }] })

    expect(errorsOf(rich('fine'), { type: 'table', rows: [[rich('fine')]] })).toEqual([])
    expect(errorsOf(rich(''))).toHaveLength(1)
  })

  test('answers to an options load', () => {
    expect(validateOptions({ options: options(100) }).errors).toEqual([])
    expect(validateOptions({ option_groups: [{ label: plain('G'), options: options(2) }] }).errors).toEqual([])
    expect(validateOptions({ options: options(101) }).errors).toHaveLength(1)
    expect(validateOptions({}).errors).toHaveLength(1)
  })
})
