import { type Json, objectOf, objectsOf } from './json.ts'
import {
  anything,
  array,
  boolean,
  type Check,
  number,
  object,
  offeredOptions,
  plain,
  type Report,
  sameOption,
  string,
  text,
} from './schema.ts'

const id = string({ max: 255, min: 1 })

const confirm = object({
  required: { title: plain(100), text: text({ max: 300 }), confirm: plain(30), deny: plain(30) },
  optional: { style: string({ oneOf: ['primary', 'danger'] }) },
})

// Slack's newest reference allows 150 characters of value; 75 was the limit for years and holds everywhere.
const option = (kinds?: readonly ('plain_text' | 'mrkdwn')[]) =>
  object({
    required: { text: text({ max: 75, ...(kinds ? { kinds } : {}) }), value: string({ max: 75, min: 1 }) },
    optional: { description: text({ max: 75, ...(kinds ? { kinds } : {}) }), url: string({ max: 3000 }) },
  })

const plainOption = option(['plain_text'])
export const options = array(plainOption, { max: 100 })
export const optionGroups = array(object({ required: { label: plain(75), options: array(plainOption, { max: 100, min: 1 }) } }), {
  max: 100,
  min: 1,
})

const always = { type: anything }
const common = { action_id: id, confirm, focus_on_load: boolean }
const placeholder = { placeholder: plain(150) }
const several = { max_selected_items: number({ min: 1, whole: true }) }
const dispatch = {
  dispatch_action_config: object({
    optional: { trigger_actions_on: array(string({ oneOf: ['on_enter_pressed', 'on_character_entered'] }), { min: 1 }) },
  }),
}

function initialIsOffered(element: Json, at: string, report: Report): void {
  const offered = offeredOptions(element)
  const initial = [...objectsOf(element.initial_options), ...(element.initial_option ? [objectOf(element.initial_option)] : [])]
  if (initial.some((one) => !offered.some((other) => sameOption(one, other)))) report('initial option was not found in the options', at)
}

function select(optional: Record<string, Check>, required: Record<string, Check> = {}): Check {
  return object({ required: { ...always, ...required }, optional: { ...common, ...placeholder, ...optional } })
}

function optionsOrGroups(element: Json, at: string, report: Report): void {
  const given = [element.options, element.option_groups].filter((one) => one !== undefined)
  if (given.length !== 1) report('must define either `options` or `option_groups`', at)
  initialIsOffered(element, at, report)
}

const staticSelect = (optional: Record<string, Check>) =>
  object({
    required: always,
    optional: { ...common, ...placeholder, options: array(plainOption, { max: 100, min: 1 }), option_groups: optionGroups, ...optional },
    also: optionsOrGroups,
  })

const choices = (optional: Record<string, Check>) =>
  object({
    required: { ...always, options: array(option(), { max: 10, min: 1 }) },
    optional: { ...common, ...optional },
    also: initialIsOffered,
  })

const button = object({
  required: { ...always, text: plain(75) },
  optional: {
    action_id: id,
    confirm,
    value: string({ max: 2000 }),
    url: string({ max: 3000 }),
    style: string({ oneOf: ['primary', 'danger'] }),
    accessibility_label: string({ max: 75 }),
  },
})

const conversation = { default_to_current_conversation: boolean, filter: anything, response_url_enabled: boolean }
const field = { action_id: id, focus_on_load: boolean, ...placeholder, ...dispatch }

/** Everything that can be clicked, chosen or filled, by type. */
export const elements = {
  button,
  workflow_button: object({ required: { ...always, text: plain(75), workflow: anything }, open: true }),
  overflow: object({ required: { ...always, options: array(plainOption, { max: 5, min: 1 }) }, optional: { action_id: id, confirm } }),
  datepicker: select({ initial_date: string({ matches: /^\d{4}-\d\d-\d\d$/ }) }),
  timepicker: select({ initial_time: string({ matches: /^\d\d:\d\d$/ }), timezone: string() }),
  datetimepicker: object({ required: always, optional: { ...common, initial_date_time: number({ whole: true }) } }),
  checkboxes: choices({ initial_options: array(option(), { min: 1 }) }),
  radio_buttons: choices({ initial_option: option() }),
  static_select: staticSelect({ initial_option: plainOption }),
  multi_static_select: staticSelect({ initial_options: array(plainOption, { min: 1 }), ...several }),
  external_select: select({ initial_option: plainOption, min_query_length: number({ min: 0, whole: true }) }),
  multi_external_select: select({ initial_options: array(plainOption), min_query_length: number({ min: 0, whole: true }), ...several }),
  users_select: select({ initial_user: string() }),
  multi_users_select: select({ initial_users: array(string()), ...several }),
  conversations_select: select({ initial_conversation: string(), ...conversation }),
  multi_conversations_select: select({ initial_conversations: array(string()), ...conversation, ...several }),
  channels_select: select({ initial_channel: string(), response_url_enabled: boolean }),
  multi_channels_select: select({ initial_channels: array(string()), ...several }),
  plain_text_input: object({
    required: always,
    optional: {
      ...field,
      initial_value: string({ max: 3000 }),
      multiline: boolean,
      min_length: number({ min: 0, max: 3000, whole: true }),
      max_length: number({ min: 1, max: 3000, whole: true }),
    },
  }),
  number_input: object({
    required: { ...always, is_decimal_allowed: boolean },
    optional: { ...field, initial_value: string(), min_value: string(), max_value: string() },
  }),
  email_text_input: object({ required: always, optional: { ...field, initial_value: string() } }),
  url_text_input: object({ required: always, optional: { ...field, initial_value: string() } }),
  rich_text_input: object({ required: always, optional: { ...field, initial_value: anything, min_lines: number(), max_lines: number() } }),
  file_input: object({
    required: always,
    optional: { action_id: id, filetypes: array(string()), max_files: number({ min: 1, max: 10, whole: true }) },
  }),
  feedback_buttons: object({ required: { ...always, positive_button: anything, negative_button: anything }, optional: { action_id: id } }),
  icon_button: object({ required: { ...always, icon: string(), text: plain(75) }, open: true }),
} satisfies Record<string, Check>
