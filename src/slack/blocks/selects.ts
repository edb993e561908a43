import type { Checkboxes, ConversationsSelect, ExternalSelect, PlainTextOption, RadioButtons, StaticSelect } from '@slack/web-api'
import { notAChoice } from '../commands/handlers.ts'
import { actionIdOf, placeholderOf } from './element-parts.ts'
import { option } from './option.ts'

/** The most options that one element has (docs.slack.dev, "Block elements"). */
const mostSelectOptions = 100
const mostRadioButtons = 10
export const mostCheckboxes = 10

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
    ...actionIdOf(actionId),
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
    ...actionIdOf(actionId),
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
    ...actionIdOf(actionId),
    options: options.slice(0, mostSelectOptions),
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
    ...actionIdOf(actionId),
    options: offered,
    ...(initial ? { initial_option: initial } : {}),
  }
}

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
    ...actionIdOf(actionId),
    options: options.slice(0, mostCheckboxes),
    ...(ticked.length > 0 ? { initial_options: ticked } : {}),
  }
}

/** Keeps 1 to 10 options, as Slack asks. If some are left out, the last option says how many, and cannot be chosen. */
function limitOptions(options: PlainTextOption[]): PlainTextOption[] {
  if (options.length === 0) return [option({ text: 'Nothing to choose from', value: notAChoice })]
  if (options.length <= mostRadioButtons) return options
  const left = options.length - (mostRadioButtons - 1)
  return [...options.slice(0, mostRadioButtons - 1), option({ text: `${left} more aren't shown`, value: notAChoice })]
}
