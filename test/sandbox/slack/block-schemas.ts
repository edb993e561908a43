import { dataTable } from './data-table-schema.ts'
import { isObject, type Json, objectOf, objectsOf, textOf } from './json.ts'
import { richTextSection } from './rich-text-schema.ts'
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
  string,
  wholeNumber,
} from './schema.ts'

/**
 * What the bot sends, with Slack's limits (docs.slack.dev/reference/block-kit). Add a block or an element here before the bot sends it, in
 * `elements.ts` if it has a value, and in `test/sandbox/page` and `transcript.ts`, which show it.
 */

const id = string({ max: 255, min: 1 })
const type = anything

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

/** The answer to an option load. */
export const options = array(option, { max: 100 })

/** The other answer to an option load. */
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

/** The elements of a `rich_text_section` that the bot sends. */
/** A block of a message, of a modal or of a Home tab. */
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
