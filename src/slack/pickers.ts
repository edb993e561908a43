import type { Checkboxes, ExternalSelect, PlainTextOption, RadioButtons, StaticSelect } from '@slack/web-api'
import { AccountLimitError, type Missing } from '../domain/errors.ts'
import { formatDuration, inNaturalOrder } from '../domain/text.ts'
import { option } from './blocks.ts'
import { longestOptionValue } from './fit.ts'
import { type Choices, notAChoice } from './interactions.ts'
import { mostWords, plain, searchText } from './text.ts'

/** Slack accepts at most 100 options (docs.slack.dev, "block_suggestion payloads"). */
const mostOptions = 100

export interface Candidate {
  /** The id that Slack sends back when it is chosen. */
  value: string
  text: string
  /** Small print below the text. */
  description?: string | undefined
  /** Words that find it, in addition to the texts that are shown. */
  terms: (string | undefined)[]
}

const candidatesByList = new WeakMap<unknown[], Map<unknown, Candidate>>()

/** Kept as long as the list: Slack requests options at every keystroke, and a list can hold 20,000 items. */
export function candidatesOf<T>(all: T[], toCandidate: (item: T) => Candidate): Map<T, Candidate> {
  const kept = candidatesByList.get(all) as Map<T, Candidate> | undefined
  if (kept) return kept
  const made = all.map((item): [T, Candidate] => [item, toCandidate(item)])
  const candidates = new Map(made.toSorted(([, a], [, b]) => inNaturalOrder(a.text, b.text)))
  candidatesByList.set(all, candidates)
  return candidates
}

/**
 * Lists the candidates that contain every typed word, in the order of their texts. A note above them says what is not offered. If there are
 * none, Slack shows that there are no results, unless the list was not read to its end.
 */
export function offer(candidates: Candidate[], typed: string, missing: Missing = {}): Choices {
  const words = typed.toLowerCase().split(/\s+/)
  if (words.length > mostWords) return noticeOptions(`Too many words: use up to ${mostWords}.`)
  // Longer ids can still be typed as arguments.
  const pickable = candidates.filter(({ value }) => value.length <= longestOptionValue)
  const fits = pickable.filter((candidate) => matches(candidate, words)).toSorted((a, b) => inNaturalOrder(a.text, b.text))
  const unusable = candidates.length - pickable.length + (missing.unreadable ?? 0)
  if (fits.length === 0 && missing.old) return noticeOptions(`Nothing matches. ${oldWords(missing.old)}`)
  if (fits.length === 0 && missing.cut !== undefined) return noticeOptions(`${incomplete} Run the command with the id instead of the form.`)
  const note = noteOf([
    missing.old !== undefined && oldWords(missing.old),
    missing.cut !== undefined && incomplete,
    fits.length > mostOptions && `First ${mostOptions} of ${fits.length}. Type to narrow it down.`,
    typed.trim() === '' && (missing.unready ?? 0) > 0 && `Not offered: ${missing.unready} still being provisioned.`,
    unusable > 0 && `Not offered: ${unusable} more. Run the command with an id.`,
  ])
  return { options: fits.slice(0, mostOptions).map(option), ...(note === '' || fits.length === 0 ? {} : { note }) }
}

/** Says how old an earlier list is, in as few words as the label of a group of options has room for. */
function oldWords({ agoMs, because }: NonNullable<Missing['old']>): string {
  const as = `As of ${formatDuration(agoMs)} ago.`
  if (!(because instanceof AccountLimitError)) return as
  return `${as} ${because.share === undefined ? "The account's" : 'Your'} limit is over in ${formatDuration(because.waitMs)}.`
}

const incomplete = 'Incomplete: not all were read.'

/** Joins as many sentences as the label of a group of options has room for, the first ones first. */
function noteOf(sentences: (string | false)[]): string {
  return sentences.reduce<string>((note, sentence) => {
    if (sentence === false) return note
    const longer = note === '' ? sentence : `${note} ${sentence}`
    return longer.length <= longestNote ? longer : note
  }, '')
}

/** The label of a group of options has up to 75 characters (docs.slack.dev, "Option group object"). */
export const longestNote = 75

/** Makes the options of a picker that shows only text. What follows the first sentence is small print below it. */
export function noticeOptions(text: string): Choices {
  const [first = text, ...rest] = text.split(/(?<=[.!?])\s+/)
  // Slack's limit for a description is that of a label. A first sentence that is longer is cut off.
  return { options: [option({ text: first, value: notAChoice, description: noteOf(rest) || rest[0] })] }
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

/** Names the project and the site of a resource, as far as they are known: `Storefront, ASH`. */
export function placeOf(project: { name?: string | undefined } | undefined, site: string | undefined): string {
  return [project?.name, site].filter((part) => part !== undefined && part !== '').join(', ')
}

const searchTexts = new WeakMap<Candidate, string>()

/** Keeps the text that is searched with its candidate, for the next keystroke. */
function matches(candidate: Candidate, words: string[]): boolean {
  const { value, text, description, terms } = candidate
  const held = searchTexts.get(candidate) ?? searchText([text, description, value, ...terms])
  searchTexts.set(candidate, held)
  return words.every((word) => held.includes(word))
}

interface Picker {
  actionId: string
  placeholder: string
}

/** Makes a picker that loads its options from Lockkeeper while the person types, and before. */
export function externalSelect({ actionId, placeholder, initialOption }: Picker & { initialOption?: PlainTextOption }): ExternalSelect {
  const initial = initialOption && { initial_option: initialOption }
  return { type: 'external_select', action_id: actionId, min_query_length: 0, ...initial, placeholder: plain(placeholder) }
}

/** Makes a picker whose options are part of the message. Only the first 100 are offered. */
export function staticSelect({ actionId, placeholder, options }: Picker & { options: PlainTextOption[] }): StaticSelect {
  return { type: 'static_select', action_id: actionId, options, placeholder: plain(placeholder) }
}

export function radioButtons(actionId: string, options: PlainTextOption[], chosen: PlainTextOption): RadioButtons {
  return { type: 'radio_buttons', action_id: actionId, options, initial_option: chosen }
}

interface CheckboxesParts {
  actionId: string
  options: PlainTextOption[]
  ticked: PlainTextOption[]
}

/** Makes checkboxes, of which some are ticked. Only the first 10 are shown. */
export function checkboxes({ actionId, options, ticked }: CheckboxesParts): Checkboxes {
  return { type: 'checkboxes', action_id: actionId, options, ...(ticked.length > 0 && { initial_options: ticked }) }
}
