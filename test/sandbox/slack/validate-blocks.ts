import { z } from 'zod'
import { elementsOf } from './elements.ts'
import { isObject, type Json, NotDescribed, objectsOf, stringOf } from './json.ts'

/**
 * What the bot sends, with Slack's limits (docs.slack.dev/reference/block-kit). Add a block or an element here before the bot sends it, in
 * `elements.ts` if it has a value, and in `test/sandbox/page`, which shows it.
 */

const kind = <Shape extends z.ZodRawShape>(type: string, shape: Shape) => z.strictObject({ type: z.literal(type), ...shape })
const words = (max?: number) => (max === undefined ? z.string().min(1) : z.string().min(1).max(max))
const list = <Item extends z.ZodType>(item: Item, max: number, min = 1) => z.array(item).min(min).max(max)
const flag = z.boolean().optional()
const blockId = z.string().max(255).optional()
const actionId = words(255).optional()

const plain = (max: number) => kind('plain_text', { text: words(max), emoji: flag })
const anyText = (max: number) => z.discriminatedUnion('type', [plain(max), kind('mrkdwn', { text: words(max), verbatim: flag })])

const richTextElement = z.discriminatedUnion('type', [
  kind('text', { text: words(), style: z.strictObject({ bold: z.literal(true).optional(), code: z.literal(true).optional() }).optional() }),
  kind('user', { user_id: words() }),
  kind('channel', { channel_id: words() }),
  kind('usergroup', { usergroup_id: words() }),
  kind('link', { url: z.url({ protocol: /^https?$/ }), text: words().optional() }),
  kind('date', { timestamp: z.int().min(0), format: words() }),
])
const richTextSection = kind('rich_text_section', { elements: list(richTextElement, 1_000) })

const cell = z.discriminatedUnion('type', [
  kind('raw_text', { text: words() }),
  kind('raw_number', { value: z.number(), text: words() }),
  kind('rich_text', { elements: list(richTextSection, 1) }),
])

const mostInCells = 10_000

/** By the rules of docs.slack.dev/reference/block-kit/blocks/data-table-block. Messages and Home tabs take one, modals do not. */
const dataTable = kind('data_table', {
  rows: list(list(cell, 20), 101, 2),
  caption: words(),
  block_id: blockId,
  page_size: z.int().min(1).max(100).optional(),
  row_header_column_index: z.int().min(0).optional(),
}).superRefine(({ rows, row_header_column_index: named = 0 }, { addIssue }) => {
  const columns = rows[0]?.length ?? 0
  const characters = rows.flat().reduce((sum, one) => sum + cellCharacters(one), 0)
  if (rows[0]?.some(({ type }) => type === 'rich_text')) addIssue('rich_text is not allowed in the header')
  if (rows.some(({ length }) => length !== columns)) addIssue('all rows must have the same number of cells')
  if (characters > mostInCells) addIssue(`must be less than ${mostInCells + 1} characters in all cells`)
  if (named >= columns) addIssue('must be the index of a column')
})

/** Counts the characters that people read in a cell. Dates are counted as they are shown, mentions by their ids. */
function cellCharacters(one: Json): number {
  if (one.type !== 'rich_text') return stringOf(one.text).length
  const elements = objectsOf(one.elements).flatMap((part) => objectsOf(part.elements))
  return elements.reduce((sum, { type, text, user_id, channel_id, usergroup_id }) => {
    if (type === 'date') return sum + '2026-11-22 12:00 PM'.length
    return sum + stringOf(text ?? user_id ?? channel_id ?? usergroup_id).length
  }, 0)
}

/** Which new blocks the stand-in refuses. Slack rolls them out in phases, and documents nothing for response URLs. */
export const newBlocks = {
  taken: { inMessages: [], inResponses: [] },
  'refused in response URLs': { inMessages: [], inResponses: ['data_table'] },
  refused: { inMessages: ['data_table'], inResponses: ['data_table'] },
} as const satisfies Record<string, Record<'inMessages' | 'inResponses', string[]>>
export type NewBlocksAre = keyof typeof newBlocks

export const isTable = ({ type }: Json) => type === 'data_table'

const confirm = z.strictObject({ title: plain(100), text: anyText(300), confirm: plain(30), deny: plain(30) })
const button = kind('button', {
  text: plain(75),
  action_id: actionId,
  value: z.string().max(2000).optional(),
  url: z.url().max(3000).optional(),
  style: z.enum(['primary', 'danger']).optional(),
  accessibility_label: words(75).optional(),
  confirm: confirm.optional(),
})

// Slack's newest reference allows 150 characters of value. 75 was the limit for years and works everywhere.
const option = z.strictObject({ text: plain(75), value: words(75), description: plain(75).optional() })
type Option = z.infer<typeof option>

const field = { action_id: actionId, placeholder: plain(150).optional() }
const externalSelect = kind('external_select', {
  ...field,
  initial_option: option.optional(),
  min_query_length: z.int().min(0).optional(),
})
const staticSelect = kind('static_select', { ...field, options: list(option, 100) })
const conversationsSelect = kind('conversations_select', {
  ...field,
  initial_conversation: words().optional(),
  default_to_current_conversation: flag,
  filter: z
    .strictObject({
      include: list(z.enum(['public', 'private', 'im', 'mpim']), 4).optional(),
      exclude_external_shared_channels: flag,
      exclude_bot_users: flag,
    })
    .optional(),
})
const plainTextInput = kind('plain_text_input', {
  ...field,
  initial_value: z.string().max(3000).optional(),
  multiline: flag,
  max_length: z.int().min(1).max(3000).optional(),
})
const radioButtons = kind('radio_buttons', {
  action_id: actionId,
  options: list(option, 10),
  initial_option: option.optional(),
}).refine(({ options, initial_option: one }) => !one || isOffered(one, options), 'initial option was not found in the options')
const checkboxes = kind('checkboxes', {
  action_id: actionId,
  options: list(option, 10),
  initial_options: list(option, 10).optional(),
}).refine(
  ({ options, initial_options: some = [] }) => some.every((one) => isOffered(one, options)),
  'initial option was not found in the options',
)

function isOffered(wanted: Option, options: Option[]): boolean {
  return options.some(({ value, text }) => value === wanted.value && text.text === wanted.text.text)
}

const input = kind('input', {
  label: plain(2000),
  element: z.discriminatedUnion('type', [plainTextInput, externalSelect, conversationsSelect, radioButtons, checkboxes]),
  block_id: blockId,
  hint: plain(2000).optional(),
  optional: flag,
  dispatch_action: flag,
}).superRefine(({ dispatch_action: dispatches, element: { type } }) => {
  // Text inputs follow other rules for dispatching (`dispatch_action_config`), which are not described here.
  if (dispatches && !['external_select', 'radio_buttons'].includes(type))
    throw new NotDescribed(`"dispatch_action" with the type "${type}"`)
})

const section = kind('section', {
  text: anyText(3000).optional(),
  fields: list(anyText(2000), 10).optional(),
  accessory: z.discriminatedUnion('type', [button]).optional(),
  block_id: blockId,
}).refine(({ text, fields }) => text || fields, 'must define either `text` or `fields`')

const block = z.discriminatedUnion('type', [
  kind('header', { text: plain(150), block_id: blockId }),
  section,
  kind('context', { elements: list(anyText(3000), 10), block_id: blockId }),
  kind('divider', { block_id: blockId }),
  kind('rich_text', { elements: list(richTextSection, 100), block_id: blockId }),
  dataTable,

  kind('actions', {
    elements: list(z.discriminatedUnion('type', [button, externalSelect, staticSelect]), 25),
    block_id: blockId,
  }),
  input,
])

const mostBlocks = { message: 50, modal: 100, home: 100 }

const blocksOf = (surface: keyof typeof mostBlocks) =>
  list(block, mostBlocks[surface], 0).superRefine((blocks, { addIssue }) => {
    const ids = new Set<string>()
    for (const one of blocks) {
      if (one.block_id && ids.has(one.block_id)) addIssue('block_id needs to be unique')
      if (one.block_id) ids.add(one.block_id)
      const actions = elementsOf([one]).map((placed) => placed.actionId)
      const twice = actions.find((action, place) => action !== '' && actions.indexOf(action) !== place)
      if (twice !== undefined) addIssue(`action_id "${twice}" already exists in this block`)
    }
    const tables = blocks.filter(isTable).length
    if (tables > 1) addIssue('only one table is allowed')
    if (tables > 0 && surface === 'modal') addIssue('unsupported type: data_table')
  })

const message = blocksOf('message')
const home = kind('home', { blocks: blocksOf('home') })
const modal = kind('modal', {
  title: plain(24),
  blocks: blocksOf('modal'),
  close: plain(24).optional(),
  submit: plain(24).optional(),
  callback_id: z.string().max(255).optional(),
  private_metadata: z.string().max(3000).optional(),
}).refine(({ blocks, submit }) => submit || !blocks.some(({ type }) => type === 'input'), 'missing required field: submit')

const options = list(option, 100, 0)
const optionGroups = list(z.strictObject({ label: plain(75), options }), 100, 0)
const optionsAnswer = z
  .strictObject({ options: options.optional(), option_groups: optionGroups.optional() })
  .refine((answer) => answer.options ?? answer.option_groups, 'missing required field: options')

/** Says an issue of zod in Slack's own words. */
const inSlacksWords: z.core.$ZodErrorMap = (issue) => {
  const name = issue.path?.at(-1)
  const characters = 'origin' in issue && issue.origin === 'string' ? ' characters' : ''
  const counts = 'origin' in issue && issue.origin === 'array'
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? `missing required field: ${String(name)}` : `must be a ${issue.expected}`
    case 'too_big':
      return counts ? `no more than ${issue.maximum} items allowed` : `must be less than ${Number(issue.maximum) + 1}${characters}`
    case 'too_small':
      return counts ? `no fewer than ${issue.minimum} items allowed` : `must be more than ${Number(issue.minimum) - 1}${characters}`
    case 'invalid_union':
      return `the type "${isObject(issue.input) ? String(issue.input.type) : ''}"`
    case 'unrecognized_keys':
      return `the member "${issue.keys[0]}"`
    default:
      return `unsupported ${String(name)}: ${String(issue.input)}`
  }
}

/**
 * Returns problems as in Slack's `response_metadata.messages`, without the leading `[ERROR] `: `… [json-pointer:/blocks/0/text]`. Throws if
 * something is not described.
 */
function problemsOf(schema: z.ZodType, value: unknown, at: string): string[] {
  const issues = schema.safeParse(value, { error: inSlacksWords }).error?.issues ?? []
  return issues.map(({ code, path, message: problem }) => {
    const where = [at, ...(code === 'invalid_union' ? path.slice(0, -1) : path)].join('/')
    if (code === 'invalid_union' || code === 'unrecognized_keys') throw new NotDescribed(`${problem} at ${where}`)
    return `${problem} [json-pointer:${where}]`
  })
}

export const problemsWithBlocks = (blocks: unknown): string[] => problemsOf(message, blocks, '/blocks')

export const problemsWithView = (view: unknown, surface: 'modal' | 'home'): string[] =>
  problemsOf(surface === 'modal' ? modal : home, view, '/view')

/** Returns the problems of an answer to an option load: `{ options }` or `{ option_groups }`. */
export const problemsWithOptions = (answer: object): string[] => problemsOf(optionsAnswer, answer, '/answer')

/** Counts the characters that people read in blocks: every `text`, at any depth. Independent of the bot's own count. */
export function charactersIn(value: unknown): number {
  if (Array.isArray(value)) return value.reduce((sum: number, each) => sum + charactersIn(each), 0)
  if (typeof value !== 'object' || value === null) return 0
  return Object.entries(value).reduce(
    (sum, [name, part]) => sum + (name === 'text' && typeof part === 'string' ? part.length : charactersIn(part)),
    0,
  )
}
