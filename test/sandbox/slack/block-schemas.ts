import { elements } from './element-schemas.ts'
import { type Json, objectsOf, stringOf } from './json.ts'
import { anything, array, boolean, byType, type Check, number, object, plain, type Report, string, text } from './schema.ts'

export type Surface = 'message' | 'modal' | 'home'

const id = { block_id: string({ max: 255 }) }
const always = { type: anything }

const image: Check = object({
  required: { ...always, alt_text: string({ max: 2000, min: 1 }) },
  optional: { image_url: string({ max: 3000, min: 1 }), slack_file: anything, ...id, title: plain(2000) },
  also: (value, at, report) => {
    if ((value.image_url === undefined) === (value.slack_file === undefined)) report('must define either `image_url` or `slack_file`', at)
  },
})

const pick = (...names: (keyof typeof elements)[]): Record<string, Check> => Object.fromEntries(names.map((name) => [name, elements[name]]))
const selects = pick('static_select', 'external_select', 'users_select', 'conversations_select', 'channels_select')
const multiSelects = pick(
  'multi_static_select',
  'multi_external_select',
  'multi_users_select',
  'multi_conversations_select',
  'multi_channels_select',
)
const choosers = { ...selects, ...multiSelects, ...pick('checkboxes', 'radio_buttons', 'datepicker', 'timepicker') }
const inActions = { ...choosers, ...pick('button', 'workflow_button', 'overflow', 'datetimepicker', 'rich_text_input') }
const asAccessory = { ...choosers, ...pick('button', 'workflow_button', 'overflow'), image }
const inInput = {
  ...choosers,
  ...pick('datetimepicker', 'plain_text_input', 'number_input', 'email_text_input', 'url_text_input', 'rich_text_input', 'file_input'),
}

const style = object({ open: true })
const richTextElement = byType({
  text: object({ required: { ...always, text: string({ min: 1 }) }, optional: { style } }),
  link: object({ required: { ...always, url: string({ min: 1 }) }, optional: { text: string(), unsafe: boolean, style } }),
  user: object({ required: { ...always, user_id: string({ min: 1 }) }, optional: { style } }),
  usergroup: object({ required: { ...always, usergroup_id: string({ min: 1 }) }, optional: { style } }),
  channel: object({ required: { ...always, channel_id: string({ min: 1 }) }, optional: { style } }),
  emoji: object({ required: { ...always, name: string({ min: 1 }) }, open: true }),
  date: object({ required: { ...always, timestamp: number({ whole: true }), format: string({ min: 1 }) }, open: true }),
  broadcast: object({ required: { ...always, range: string({ oneOf: ['here', 'channel', 'everyone'] }) } }),
  color: object({ required: { ...always, value: string() } }),
  team: object({ required: { ...always, team_id: string() } }),
})
const richTextSection = object({ required: { ...always, elements: array(richTextElement) } })
const bordered = { border: number({ min: 0, max: 1 }) }
const richText: Check = object({
  required: {
    ...always,
    elements: array(
      byType({
        rich_text_section: richTextSection,
        rich_text_list: object({
          required: { ...always, elements: array(richTextSection), style: string({ oneOf: ['bullet', 'ordered'] }) },
          optional: { indent: number({ min: 0, max: 8 }), offset: number({ min: 0 }), ...bordered },
        }),
        rich_text_quote: object({ required: { ...always, elements: array(richTextElement) }, optional: bordered }),
        rich_text_preformatted: object({
          required: { ...always, elements: array(richTextElement) },
          optional: { ...bordered, language: string() },
        }),
      }),
    ),
  },
  optional: id,
})

const cell = byType({
  raw_text: object({ required: { ...always, text: string({ min: 1 }) } }),
  raw_number: object({ required: { ...always, value: number(), text: string({ min: 1 }) } }),
  rich_text: richText,
})

/** All the words of a table's cells, rich text included. */
function lettersIn(value: unknown): number {
  if (Array.isArray(value)) return value.reduce((sum: number, one) => sum + lettersIn(one), 0)
  if (typeof value !== 'object' || value === null) return 0
  const { text: words, ...rest } = value as Json
  return stringOf(words).length + lettersIn(Object.values(rest).filter((one) => typeof one === 'object'))
}

function rowsAreEqual(value: Json, at: string, report: Report): void {
  const rows = Array.isArray(value.rows) ? value.rows : []
  const widths = new Set(rows.map((row) => (Array.isArray(row) ? row.length : 0)))
  if (widths.size > 1) report('all rows must have the same number of cells', `${at}/rows`)
}

const table = object({
  required: { ...always, rows: array(array(cell, { max: 20, min: 1 }), { max: 100, min: 1 }) },
  optional: {
    ...id,
    column_settings: array(object({ optional: { align: string({ oneOf: ['left', 'center', 'right'] }), is_wrapped: boolean } }), {
      max: 20,
    }),
  },
  also: (value, at, report) => {
    rowsAreEqual(value, at, report)
    if (lettersIn(value.rows) > 10_000) report('table cells must have less than 10001 characters', `${at}/rows`)
  },
})

function textOrFields(value: Json, at: string, report: Report): void {
  if (value.text === undefined && objectsOf(value.fields).length === 0) report('must define either `text` or `fields`', at)
}

const light = (required: Record<string, Check> = {}): Check => object({ required: { ...always, ...required }, optional: id, open: true })

interface BlockSchema {
  check: Check
  surfaces: readonly Surface[]
}

const everywhere: readonly Surface[] = ['message', 'modal', 'home']
const notModals: readonly Surface[] = ['message', 'home']
const messages: readonly Surface[] = ['message']

/**
 * Every block type that is known, with its limits and where it may stand (docs.slack.dev/reference/block-kit/blocks).
 * The newest ones are looked at lightly: what they take still changes.
 */
export const blocks: Record<string, BlockSchema> = {
  section: {
    surfaces: everywhere,
    check: object({
      required: always,
      optional: {
        ...id,
        text: text({ max: 3000 }),
        fields: array(text({ max: 2000 }), { max: 10, min: 1 }),
        accessory: byType(asAccessory),
        expand: boolean,
      },
      also: textOrFields,
    }),
  },
  header: { surfaces: everywhere, check: object({ required: { ...always, text: plain(150) }, optional: id }) },
  divider: { surfaces: everywhere, check: object({ required: always, optional: id }) },
  image: { surfaces: everywhere, check: image },
  context: {
    surfaces: everywhere,
    check: object({
      required: {
        ...always,
        elements: array(byType({ image, plain_text: text({ max: 3000 }), mrkdwn: text({ max: 3000 }) }), { max: 10, min: 1 }),
      },
      optional: id,
    }),
  },
  actions: {
    surfaces: everywhere,
    check: object({ required: { ...always, elements: array(byType(inActions), { max: 25, min: 1 }) }, optional: id }),
  },
  input: {
    surfaces: everywhere,
    check: object({
      required: { ...always, label: plain(2000), element: byType(inInput) },
      optional: { ...id, hint: plain(2000), optional: boolean, dispatch_action: boolean },
    }),
  },
  rich_text: { surfaces: everywhere, check: richText },
  video: { surfaces: everywhere, check: light({ video_url: string(), thumbnail_url: string(), alt_text: string(), title: plain(199) }) },
  file: { surfaces: messages, check: light({ external_id: string(), source: string() }) },
  table: { surfaces: notModals, check: table },
  data_table: {
    surfaces: notModals,
    check: light({ caption: string({ min: 1 }), rows: array(array(cell, { max: 20, min: 1 }), { min: 2, max: 201 }) }),
  },
  card: { surfaces: everywhere, check: light() },
  carousel: { surfaces: notModals, check: light({ elements: array(light(), { min: 1, max: 10 }) }) },
  container: { surfaces: notModals, check: light({ child_blocks: array(light(), { min: 1, max: 10 }) }) },
  alert: { surfaces: ['modal'], check: light({ text: text({ max: 3000 }) }) },
  markdown: { surfaces: messages, check: light({ text: string({ max: 12_000, min: 1 }) }) },
  plan: { surfaces: messages, check: light({ title: string({ min: 1 }) }) },
  task_card: { surfaces: messages, check: light({ task_id: string({ min: 1 }), title: string({ min: 1 }), status: string() }) },
  context_actions: {
    surfaces: messages,
    check: object({
      required: { ...always, elements: array(byType(pick('feedback_buttons', 'icon_button')), { max: 5, min: 1 }) },
      optional: id,
    }),
  },
}
