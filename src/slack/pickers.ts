import type { Checkboxes, ExternalSelect, PlainTextOption, RadioButtons, StaticSelect } from '@slack/web-api'
import { AccountLimitError } from '../domain/errors.ts'
import type { List } from '../domain/list.ts'
import { formatDuration } from '../domain/text.ts'
import { option } from './blocks.ts'
import { longestOptionValue } from './fit.ts'
import { type Choices, notAChoice } from './interactions.ts'
import { mostWords, plain, searchText } from './text.ts'
import { parseWords } from './typed-words.ts'

/** Slack accepts at most 100 options (docs.slack.dev, "block_suggestion payloads"). */
const mostOptions = 100

export interface Candidate {
  value: string
  text: string
  description?: string | undefined
  /** Words that find it, in addition to the texts that are shown. */
  terms: (string | undefined)[]
}

/** Those that contain every typed word. An id that is too long for Slack is not offered, and can still be typed as an argument. */
export function offer(candidates: Candidate[], typed: string, { old, cut }: Pick<List<unknown>, 'old' | 'cut'> = {}): Choices {
  const words = parseWords(typed.toLowerCase())
  if (words.length > mostWords) return noticeOptions(`Too many words: use up to ${mostWords}.`)
  const fits = candidates.filter(({ value, text, description, terms }) => {
    const searched = searchText([text, description, value, ...terms])
    return value.length <= longestOptionValue && words.every((word) => searched.includes(word))
  })
  const age = old && oldWords(old)
  if (fits.length === 0 && age) return noticeOptions(`Nothing matches. ${age}`)
  if (fits.length === 0 && cut) return noticeOptions(`${incomplete} Run the command with the id instead of the form.`)
  const most = fits.length > mostOptions ? `First ${mostOptions} of ${fits.length}. Type to narrow it down.` : undefined
  const note = age ?? (cut && incomplete) ?? most
  return { options: fits.slice(0, mostOptions).map(option), ...(note && fits.length > 0 && { note }) }
}

/** Says how old an earlier list is, in as few words as the label of a group of options has room for. */
function oldWords({ agoMs, because }: NonNullable<List<unknown>['old']>): string {
  const as = `As of ${formatDuration(agoMs)} ago.`
  if (!(because instanceof AccountLimitError)) return as
  return `${as} ${because.share === undefined ? "The account's" : 'Your'} limit is over in ${formatDuration(because.waitMs)}.`
}

const incomplete = 'Incomplete: not all were read.'

/** Makes the options of a picker that shows only text. The second sentence is small print below the first. There is no room for more. */
export function noticeOptions(text: string): Choices {
  const [first = text, second] = text.split(/(?<=[.!?])\s+/)
  return { options: [option({ text: first, value: notAChoice, description: second })] }
}

/** Whether a value is that of a chosen option. False for an option that is only text, and if there is none. */
export function isChoice(value: string | undefined): value is string {
  return value !== undefined && value !== '' && value !== notAChoice
}

/** Returns the chosen option, to be chosen again in the next form. Undefined if it is only text. */
export function keepChoice(chosen: PlainTextOption | undefined): PlainTextOption | undefined {
  return isChoice(chosen?.value) ? chosen : undefined
}

/** Makes the option that is already chosen when a form opens. Undefined if its id is too long for Slack: the person then chooses again. */
export function preset(candidate: Omit<Candidate, 'terms'>): PlainTextOption | undefined {
  return candidate.value.length <= longestOptionValue ? option(candidate) : undefined
}

export function placeOf(project: { name?: string | undefined } | undefined, site: string | undefined): string {
  return [project?.name, site].filter((part) => part !== undefined && part !== '').join(', ')
}

interface Picker {
  actionId: string
  placeholder: string
}

export function externalSelect({ actionId, placeholder, initialOption }: Picker & { initialOption?: PlainTextOption }): ExternalSelect {
  const initial = initialOption && { initial_option: initialOption }
  return { type: 'external_select', action_id: actionId, min_query_length: 0, ...initial, placeholder: plain(placeholder) }
}

export function staticSelect({ actionId, placeholder, options }: Picker & { options: PlainTextOption[] }): StaticSelect {
  return { type: 'static_select', action_id: actionId, options, placeholder: plain(placeholder) }
}

export function radioButtons(actionId: string, options: PlainTextOption[], chosen: PlainTextOption): RadioButtons {
  return { type: 'radio_buttons', action_id: actionId, options, initial_option: chosen }
}

export function checkboxes(actionId: string, options: PlainTextOption[], ticked: PlainTextOption[]): Checkboxes {
  return { type: 'checkboxes', action_id: actionId, options, ...(ticked.length > 0 && { initial_options: ticked }) }
}
