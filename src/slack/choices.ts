import type { Checkboxes, PlainTextOption, RadioButtons, StaticSelect } from '@slack/web-api'
import { option, placeholderOf } from './blocks.ts'
import { notAChoice } from './interaction.ts'
import { exact } from './text-objects.ts'

const limits = { id: 255, selectOptions: 100, listedOptions: 10 } as const

interface ChoiceParts {
  actionId: string
  options: PlainTextOption[]
}

/** A picker of a few known options; `externalSelect` is for those that have to be looked up. */
export function staticSelect({
  actionId,
  options,
  placeholder,
  initialOption,
}: ChoiceParts & { placeholder?: string; initialOption?: PlainTextOption | undefined }): StaticSelect {
  const offered = limitOptions(options, limits.selectOptions)
  const [initial] = amongOffered(offered, initialOption ? [initialOption] : [])
  return {
    type: 'static_select',
    action_id: exact('an action id', actionId, limits.id),
    options: offered,
    ...(initial ? { initial_option: initial } : {}),
    ...placeholderOf(placeholder),
  }
}

export function checkboxes({ actionId, options, initialOptions = [] }: ChoiceParts & { initialOptions?: PlainTextOption[] }): Checkboxes {
  const offered = limitOptions(options, limits.listedOptions)
  const initial = amongOffered(offered, initialOptions)
  return {
    type: 'checkboxes',
    action_id: exact('an action id', actionId, limits.id),
    options: offered,
    ...(initial.length > 0 ? { initial_options: initial } : {}),
  }
}

export function radioButtons({
  actionId,
  options,
  initialOption,
}: ChoiceParts & { initialOption?: PlainTextOption | undefined }): RadioButtons {
  const offered = limitOptions(options, limits.listedOptions)
  const [initial] = amongOffered(offered, initialOption ? [initialOption] : [])
  return {
    type: 'radio_buttons',
    action_id: exact('an action id', actionId, limits.id),
    options: offered,
    ...(initial ? { initial_option: initial } : {}),
  }
}

/** At most so many, and at least the one that Slack asks for; the last says how many were left out, and is no choice. */
function limitOptions(options: PlainTextOption[], most: number): PlainTextOption[] {
  if (options.length === 0) return [option({ text: 'There is nothing to choose from', value: notAChoice })]
  if (options.length <= most) return options
  const left = options.length - (most - 1)
  return [...options.slice(0, most - 1), option({ text: `${left} more are not shown`, value: notAChoice })]
}

/** Slack refuses an initial option that is not one of the options. */
function amongOffered(offered: PlainTextOption[], initial: PlainTextOption[]): PlainTextOption[] {
  return offered.filter((one) => initial.some((other) => other.value === one.value))
}
