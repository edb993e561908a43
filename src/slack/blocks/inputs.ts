import type {
  Checkboxes,
  ConversationsSelect,
  ExternalSelect,
  KnownBlock,
  PlainTextElement,
  PlainTextInput,
  PlainTextOption,
  RadioButtons,
  StaticSelect,
} from '@slack/web-api'
import { notAChoice } from '../commands/handlers.ts'
import { truncate } from '../text/cut-text.ts'
import { exact, plain } from '../text/text-objects.ts'

/**
 * Slack's limits for inputs and their elements (docs.slack.dev, "Input block" and "Block elements"), in characters and in options. The
 * functions here keep them as those of `blocks.ts` do.
 */
const limits = {
  id: 255,
  label: 2_000,
  placeholder: 150,
  inputLength: 3_000,
  // The limit is 75, and Slack asks to stay below it.
  option: 74,
  radioButtons: 10,
  selectOptions: 100,
} as const

/** Slack does not accept longer values, and a cut id could be the id of another resource. */
export const longestOptionValue = limits.option

interface InputParts {
  blockId: string
  label: string
  hint?: string
  optional?: boolean
  /** Makes Slack send every change as a click while the form stays open. */
  dispatchAction?: boolean
  element: PlainTextInput | ExternalSelect | ConversationsSelect | RadioButtons | Checkboxes
}

export function input({ blockId, label, hint, optional = false, dispatchAction = false, element }: InputParts): KnownBlock {
  return {
    type: 'input',
    block_id: exact('a block id', blockId, limits.id),
    label: plain(label, limits.label),
    element,
    optional,
    ...(dispatchAction ? { dispatch_action: true } : {}),
    ...(hint ? { hint: plain(hint, limits.label) } : {}),
  }
}

interface PlainTextInputParts {
  actionId: string
  multiline?: boolean
  maxLength?: number
  initialValue?: string | undefined
  placeholder?: string
}

export function plainTextInput({ actionId, multiline = false, maxLength, initialValue, placeholder }: PlainTextInputParts): PlainTextInput {
  const length = Math.min(Math.max(1, maxLength ?? limits.inputLength), limits.inputLength)
  return {
    type: 'plain_text_input',
    action_id: exact('an action id', actionId, limits.id),
    multiline,
    max_length: length,
    ...(initialValue ? { initial_value: truncate(initialValue.toWellFormed(), length, 'plain') } : {}),
    ...placeholderOf(placeholder),
  }
}

interface ExternalSelectParts {
  actionId: string
  placeholder: string
  minQueryLength?: number
  initialOption?: PlainTextOption | undefined
}

/** Makes a picker that loads its options from Lockkeeper while the person types. */
export function externalSelect({ actionId, placeholder, minQueryLength = 0, initialOption }: ExternalSelectParts): ExternalSelect {
  return {
    type: 'external_select',
    action_id: exact('an action id', actionId, limits.id),
    min_query_length: minQueryLength,
    ...(initialOption ? { initial_option: initialOption } : {}),
    ...placeholderOf(placeholder),
  }
}

interface ConversationsSelectParts {
  actionId: string
  placeholder: string
  /** The channel that is chosen already. Default: the one that the person is looking at. */
  initial?: string | undefined
}

/** Makes a picker of channels. It offers no direct messages, and no channel that is shared with another organisation (Slack Connect). */
export function conversationsSelect({ actionId, placeholder, initial }: ConversationsSelectParts): ConversationsSelect {
  return {
    type: 'conversations_select',
    action_id: exact('an action id', actionId, limits.id),
    filter: { include: ['public', 'private'], exclude_external_shared_channels: true, exclude_bot_users: true },
    ...(initial ? { initial_conversation: initial } : { default_to_current_conversation: true }),
    ...placeholderOf(placeholder),
  }
}

interface StaticSelectParts {
  actionId: string
  placeholder: string
  /** At least one. Only the first 100 are offered. */
  options: PlainTextOption[]
}

/** Makes a picker whose options are part of the message. */
export function staticSelect({ actionId, placeholder, options }: StaticSelectParts): StaticSelect {
  return {
    type: 'static_select',
    action_id: exact('an action id', actionId, limits.id),
    options: options.slice(0, limits.selectOptions),
    ...placeholderOf(placeholder),
  }
}

interface RadioButtonsParts {
  actionId: string
  options: PlainTextOption[]
  initialOption?: PlainTextOption | undefined
}

export function radioButtons({ actionId, options, initialOption }: RadioButtonsParts): RadioButtons {
  const offered = limitOptions(options)
  // Slack refuses an initial option that is not one of the options.
  const initial = offered.find((one) => one.value === initialOption?.value)
  return {
    type: 'radio_buttons',
    action_id: exact('an action id', actionId, limits.id),
    options: offered,
    ...(initial ? { initial_option: initial } : {}),
  }
}

/** The most checkboxes that one element has (docs.slack.dev, "Checkboxes element"). */
export const mostCheckboxes = 10

interface CheckboxesParts {
  actionId: string
  /** 1 to 10 options. */
  options: PlainTextOption[]
  /** Those of the options that are ticked at first. */
  ticked: PlainTextOption[]
}

export function checkboxes({ actionId, options, ticked }: CheckboxesParts): Checkboxes {
  return {
    type: 'checkboxes',
    action_id: exact('an action id', actionId, limits.id),
    options: options.slice(0, mostCheckboxes),
    ...(ticked.length > 0 ? { initial_options: ticked } : {}),
  }
}

/** Makes an option of a picker or of radio buttons. */
export function option({ text, value, description }: { text: string; value: string; description?: string }): PlainTextOption {
  return {
    text: plain(text, limits.option),
    value: exact("an option's value", value, limits.option),
    ...(description ? { description: plain(description, limits.option) } : {}),
  }
}

/** Keeps 1 to 10 options, as Slack asks. If some are left out, the last option says how many, and cannot be chosen. */
function limitOptions(options: PlainTextOption[]): PlainTextOption[] {
  if (options.length === 0) return [option({ text: 'Nothing to choose from', value: notAChoice })]
  if (options.length <= limits.radioButtons) return options
  const left = options.length - (limits.radioButtons - 1)
  return [...options.slice(0, limits.radioButtons - 1), option({ text: `${left} more aren't shown`, value: notAChoice })]
}

function placeholderOf(text: string | undefined): { placeholder?: PlainTextElement } {
  return text ? { placeholder: plain(text, limits.placeholder) } : {}
}
