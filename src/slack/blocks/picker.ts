import type { PlainTextOption } from '@slack/web-api'
import { type Choices, notAChoice } from '../commands/handlers.ts'
import { containsWords } from '../text/contains-words.ts'
import { option } from './inputs.ts'

/** Slack accepts at most 100 options (docs.slack.dev, "block_suggestion payloads"). */
const mostOptions = 100

const collator = new Intl.Collator('en', { numeric: true })

/** Slack accepts no longer values, and a cut id could be that of another resource. Longer ids can still be typed as arguments. */
const longestValue = 74

export interface Candidate {
  /** The id that Slack sends back when it is chosen. */
  value: string
  text: string
  /** Small print below the text. */
  description?: string | undefined
  /** Words that find it, in addition to the texts that are shown. */
  terms: (string | undefined)[]
}

interface Offered {
  /** The name of one candidate: `virtual machine`. */
  one: string
  many: string
  /** Small print for a search without a match, if not everything is offered. */
  note?: string
}

/**
 * Lists the candidates that contain every typed word, in the order of their texts. If there are more than Slack shows, the last option says
 * how many more. If there are none, the only option says so.
 */
export function offer(candidates: Candidate[], typed: string, { one, many, note }: Offered): Choices {
  const pickable = candidates.filter(({ value }) => value.length <= longestValue)
  if (pickable.length === 0) return { options: [unchoosable(`There are no ${many} to choose from.`, note)] }
  const fits = pickable.filter((candidate) => matches(candidate, typed))
  if (fits.length === 0) return { options: [unchoosable(`No ${one} fits what you typed.`, note)] }
  const sorted = fits.toSorted((a, b) => collator.compare(a.text, b.text))
  if (sorted.length <= mostOptions) return { options: sorted.map(toOption) }
  const shown = sorted.slice(0, mostOptions - 1)
  return { options: [...shown.map(toOption), unchoosable(`${sorted.length - shown.length} more fit: type more to narrow it down`)] }
}

/** Makes the options of a picker that shows only text. What follows the first sentence is small print below it. */
export function noticeOptions(text: string): Choices {
  const [, first, rest] = /^(.+?[.!?])\s+(.+)$/s.exec(text) ?? []
  return { options: [unchoosable(first ?? text, rest)] }
}

/** Whether a value is that of a chosen option. False for an option that is only text, and for none. */
export function isChoice(value: string | undefined): value is string {
  return value !== undefined && value !== '' && value !== notAChoice
}

/** Returns the chosen option, to be chosen again in the next form. Undefined if it is only text. */
export function keepChoice(chosen: PlainTextOption | undefined): PlainTextOption | undefined {
  return isChoice(chosen?.value) ? chosen : undefined
}

/** Makes the option that is already chosen when a form opens. Undefined if its id is too long for Slack: the person then chooses again. */
export function preset(candidate: Omit<Candidate, 'terms'>): PlainTextOption | undefined {
  return candidate.value.length <= longestValue ? toOption(candidate) : undefined
}

/** Names the project and the site of a resource, as far as they are known: `Storefront, ASH`. */
export function placeOf(project: { name?: string | undefined } | undefined, site: string | undefined): string {
  return [project?.name, site].filter((part) => part !== undefined && part !== '').join(', ')
}

function toOption({ text, value, description }: Omit<Candidate, 'terms'>): PlainTextOption {
  return option({ text, value, ...(description ? { description } : {}) })
}

/** Makes an option that is only text. Choosing it is answered with an error at the field. */
function unchoosable(text: string, description?: string): PlainTextOption {
  return option({ text, value: notAChoice, ...(description ? { description } : {}) })
}

function matches({ value, text, description, terms }: Candidate, typed: string): boolean {
  return containsWords([text, description, value, ...terms], typed.split(/\s+/))
}
