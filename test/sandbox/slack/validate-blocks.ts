import { elementsOf } from './elements.ts'
import { isObject, type Json, objectOf, objectsOf, stringOf, textOf } from './json.ts'
import {
  anyText,
  anything,
  array,
  boolean,
  byType,
  type Check,
  NotDescribed,
  object,
  plain,
  type Report,
  refuseOthers,
  string,
  wholeNumber,
} from './schema.ts'

const type = anything
const oneOrMore = string({ min: 1 })

const isTrue: Check = (value, at, report) => {
  if (value !== true) report('must be true', at)
}

/** The bot sends links to web pages alone. */
const webAddress: Check = (value, at, report) => {
  if (typeof value !== 'string' || !/^https?:\/\/[^\s]+$/.test(value) || !URL.canParse(value)) report('must be a valid URL', at)
}

const element = byType({
  text: object({ required: { type, text: oneOrMore }, optional: { style: object({ optional: { bold: isTrue, code: isTrue } }) } }),
  user: object({ required: { type, user_id: oneOrMore } }),
  channel: object({ required: { type, channel_id: oneOrMore } }),
  usergroup: object({ required: { type, usergroup_id: oneOrMore } }),
  link: object({ required: { type, url: webAddress }, optional: { text: oneOrMore } }),
  date: object({ required: { type, timestamp: wholeNumber({ min: 0 }), format: oneOrMore } }),
})

/** A section of a rich text, in a rich text block or in a cell of a table. */
export const richTextSection = byType({
  rich_text_section: object({ required: { type, elements: array(element, { min: 1, max: 1_000 }) } }),
})

/**
 * A data table, by the rules of docs.slack.dev/reference/block-kit/blocks/data-table-block. Messages and Home tabs take one, modals do not.
 */
const limits = { rows: 101, columns: 20, characters: 10_000, pageSize: 100 }

const number: Check = (value, at, report) => {
  if (typeof value !== 'number' || !Number.isFinite(value)) report('must be a number', at)
}

const rawText = object({ required: { type, text: oneOrMore } })

const cell = byType({
  raw_text: rawText,
  raw_number: object({ required: { type, value: number, text: oneOrMore } }),
  rich_text: object({ required: { type, elements: array(richTextSection, { min: 1, max: 1 }) } }),
})

const header: Check = (value, at, report) => {
  if (objectsOf([value])[0]?.type === 'rich_text') return report('rich_text is not allowed in the header', at)
  cell(value, at, report)
}

const rows: Check = (value, at, report) => {
  if (!Array.isArray(value)) return report('must be an array', at)
  if (value.length < 2) report('no fewer than 2 items allowed', at)
  if (value.length > limits.rows) report(`no more than ${limits.rows} items allowed`, at)
  for (const [index, row] of value.entries()) {
    array(index === 0 ? header : cell, { min: 1, max: limits.columns })(row, `${at}/${index}`, report)
    if (Array.isArray(row) && row.length !== value[0]?.length) report('all rows must have the same number of cells', `${at}/${index}`)
  }
}

/** Counts the characters that people read in a cell. Dates are counted as they are shown, mentions by their ids. */
export function cellCharacters(one: Json): number {
  if (one.type !== 'rich_text') return stringOf(one.text).length
  const elements = objectsOf(one.elements).flatMap((part) => objectsOf(part.elements))
  return elements.reduce((sum, element) => sum + elementCharacters(element), 0)
}

function elementCharacters({ type: kind, text, user_id, channel_id, usergroup_id }: Json): number {
  if (kind === 'date') return '2026-11-22 12:00 PM'.length
  return stringOf(text ?? user_id ?? channel_id ?? usergroup_id).length
}

function fits({ rows: all, row_header_column_index: named }: Json, at: string, report: Report): void {
  const cells = Array.isArray(all) ? all.flat().filter((one): one is Json => typeof one === 'object' && one !== null) : []
  const characters = cells.reduce((sum, one) => sum + cellCharacters(one), 0)
  if (characters > limits.characters) report(`must be less than ${limits.characters + 1} characters in all cells`, `${at}/rows`)
  const columns = Array.isArray(all) && Array.isArray(all[0]) ? all[0].length : 0
  if (typeof named === 'number' && named >= columns) report('must be the index of a column', `${at}/row_header_column_index`)
}

export const dataTable = object({
  required: { type, rows, caption: oneOrMore },
  optional: {
    block_id: string({ max: 255 }),
    page_size: wholeNumber({ min: 1, max: limits.pageSize }),
    row_header_column_index: wholeNumber({ min: 0 }),
  },
  also: fits,
})

/** Where the stand-in takes tables. Slack rolls new blocks out in phases, and documents nothing for response URLs. */
export type TablesAre = 'taken' | 'refused in response URLs' | 'refused'

export function isTable({ type: kind }: Json): boolean {
  return kind === 'data_table'
}

/**
 * What the bot sends, with Slack's limits (docs.slack.dev/reference/block-kit). Add a block or an element here before the bot sends it, in
 * `elements.ts` if it has a value, and in `test/sandbox/page` and `transcript.ts`, which show it.
 */

const id = string({ max: 255, min: 1 })

const confirm = object({ required: { title: plain(100), text: anyText(300), confirm: plain(30), deny: plain(30) } })

const button = object({
  required: { type, text: plain(75) },
  optional: { action_id: id, value: string({ max: 2000 }), style: string({ oneOf: ['primary', 'danger'] }), confirm },
})

// Slack's newest reference allows 150 characters of value. 75 was the limit for years and works everywhere.
const option = object({
  required: { text: plain(75), value: string({ max: 75, min: 1 }) },
  optional: { description: plain(75) },
})

export const options = array(option, { max: 100 })

export const optionGroups = array(object({ required: { label: plain(75), options } }), { max: 100 })

const field = { action_id: id, placeholder: plain(150) }

const externalSelect = object({
  required: { type },
  optional: { ...field, initial_option: option, min_query_length: wholeNumber({ min: 0 }) },
})

const conversationsSelect = object({
  required: { type },
  optional: {
    ...field,
    initial_conversation: string({ min: 1 }),
    default_to_current_conversation: boolean,
    filter: object({
      required: {},
      optional: {
        include: array(string({ oneOf: ['public', 'private', 'im', 'mpim'] }), { min: 1, max: 4 }),
        exclude_external_shared_channels: boolean,
        exclude_bot_users: boolean,
      },
    }),
  },
})

const staticSelect = object({
  required: { type, options: array(option, { max: 100, min: 1 }) },
  optional: field,
})

const plainTextInput = object({
  required: { type },
  optional: { ...field, initial_value: string({ max: 3000 }), multiline: boolean, max_length: wholeNumber({ min: 1, max: 3000 }) },
})

const radioButtons = object({
  required: { type, options: array(option, { max: 10, min: 1 }) },
  optional: { action_id: id, initial_option: option },
  also: initialIsOffered,
})

const checkboxes = object({
  required: { type, options: array(option, { max: 10, min: 1 }) },
  optional: { action_id: id, initial_options: array(option, { max: 10, min: 1 }) },
  also: initialsAreOffered,
})

function initialsAreOffered({ initial_options: initials, options: offered }: Json, at: string, report: Report): void {
  for (const initial of objectsOf(initials)) initialIsOffered({ initial_option: initial, options: offered }, at, report)
}

function initialIsOffered({ initial_option: initial, options: offered }: Json, at: string, report: Report): void {
  const isInitial = (one: Json) => one.value === objectOf(initial).value && textOf(one.text) === textOf(objectOf(initial).text)
  if (isObject(initial) && !objectsOf(offered).some(isInitial)) report('initial option was not found in the options', at)
}

/** Text inputs follow other rules for dispatching (`dispatch_action_config`), which are not described here. */
function onlyPickersDispatch({ dispatch_action: dispatches, element }: Json, at: string): void {
  const { type: kind } = objectOf(element)
  if (dispatches && kind !== 'external_select') throw new NotDescribed(`"dispatch_action" with the type "${String(kind)}" at ${at}`)
}

function textOrFields(value: Json, at: string, report: Report): void {
  if (value.text === undefined && objectsOf(value.fields).length === 0) report('must define either `text` or `fields`', at)
}

const always = { type }
const everywhere = { block_id: string({ max: 255 }) }

export const block: Check = byType({
  header: object({ required: { ...always, text: plain(150) }, optional: everywhere }),
  section: object({
    required: always,
    optional: { ...everywhere, text: anyText(3000), fields: array(anyText(2000), { max: 10, min: 1 }), accessory: byType({ button }) },
    also: textOrFields,
  }),
  context: object({
    required: { ...always, elements: array(anyText(3000), { max: 10, min: 1 }) },
    optional: everywhere,
  }),
  divider: object({ required: always, optional: everywhere }),
  rich_text: object({
    required: { ...always, elements: array(richTextSection, { min: 1, max: 100 }) },
    optional: everywhere,
  }),
  data_table: dataTable,
  actions: object({
    required: {
      ...always,
      elements: array(byType({ button, external_select: externalSelect, static_select: staticSelect }), { max: 25, min: 1 }),
    },
    optional: everywhere,
  }),
  input: object({
    required: {
      ...always,
      label: plain(2000),
      element: byType({
        plain_text_input: plainTextInput,
        external_select: externalSelect,
        conversations_select: conversationsSelect,
        radio_buttons: radioButtons,
        checkboxes,
      }),
    },
    optional: { ...everywhere, hint: plain(2000), optional: boolean, dispatch_action: boolean },
    also: onlyPickersDispatch,
  }),
})

const mostBlocks = { message: 50, modal: 100, home: 100 }
type Surface = keyof typeof mostBlocks

/** Returns problems as in Slack's `response_metadata.messages`, without the leading `[ERROR] `: `… [json-pointer:/blocks/0/text]`. */
function problemsOf(check: Check, value: unknown, at: string): string[] {
  const problems = new Set<string>()
  check(value, at, (problem, where) => problems.add(`${problem} [json-pointer:${where}]`))
  return [...problems]
}

function checkIds(blocks: Json[], at: string, report: Report): void {
  const seen = new Set<string>()
  for (const [index, one] of blocks.entries()) {
    const id = stringOf(one.block_id)
    if (id !== '' && seen.has(id)) report('block_id needs to be unique', `${at}/${index}/block_id`)
    seen.add(id)
    const actions = elementsOf([one]).map((placed) => placed.actionId)
    const twice = actions.find((action, place) => action !== '' && actions.indexOf(action) !== place)
    if (twice !== undefined) report(`action_id "${twice}" already exists in this block`, `${at}/${index}/elements`)
  }
}

function checkTables(blocks: Json[], surface: Surface, at: string, report: Report): void {
  const tables = [...blocks.entries()].filter(([, one]) => isTable(one))
  const [, second] = tables
  if (second) report('only one table is allowed', `${at}/${second[0]}`)
  for (const [index] of surface === 'modal' ? tables : []) report('unsupported type: data_table', `${at}/${index}/type`)
}

const blocksOf =
  (surface: Surface): Check =>
  (value, at, report) => {
    if (!Array.isArray(value)) return report('must be an array', at)
    if (value.length > mostBlocks[surface]) report(`no more than ${mostBlocks[surface]} items allowed`, at)
    for (const [index, one] of value.entries()) block(one, `${at}/${index}`, report)
    checkIds(objectsOf(value), at, report)
    checkTables(objectsOf(value), surface, at, report)
  }

const modal = object({
  required: { type: anything, title: plain(24), blocks: blocksOf('modal') },
  optional: { close: plain(24), submit: plain(24), callback_id: string({ max: 255 }), private_metadata: string({ max: 3000 }) },
  also: (view, at, report) => {
    const hasInput = objectsOf(view.blocks).some((one) => one.type === 'input')
    if (hasInput && (view.submit === undefined || view.submit === null)) report('missing required field: submit', at)
  },
})
const home = object({ required: { type: anything, blocks: blocksOf('home') } })

export function problemsWithBlocks(blocks: unknown): string[] {
  return problemsOf(blocksOf('message'), blocks, '/blocks')
}

export function problemsWithView(view: unknown, surface: 'modal' | 'home'): string[] {
  if (isObject(view) && view.type !== surface) return [`unsupported type: ${String(view.type)} [json-pointer:/view/type]`]
  return problemsOf(surface === 'modal' ? modal : home, view, '/view')
}

/** Returns the problems of an answer to an option load: `{ options }` or `{ option_groups }`. */
export function problemsWithOptions(answer: { options?: unknown; option_groups?: unknown }): string[] {
  refuseOthers(answer, ['options', 'option_groups'], 'in an answer to a request for options')
  if (answer.option_groups !== undefined) return problemsOf(optionGroups, answer.option_groups, '/option_groups')
  return answer.options === undefined ? ['missing required field: options'] : problemsOf(options, answer.options, '/options')
}

/** Counts the characters that people read in blocks: every `text`, at any depth. Independent of the bot's own count. */
export function charactersIn(value: unknown): number {
  if (Array.isArray(value)) return value.reduce((sum: number, each) => sum + charactersIn(each), 0)
  if (typeof value !== 'object' || value === null) return 0
  return Object.entries(value).reduce(
    (sum, [name, part]) => sum + (name === 'text' && typeof part === 'string' ? part.length : charactersIn(part)),
    0,
  )
}
