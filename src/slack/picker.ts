import type { PlainTextOption } from '@slack/web-api'
import { option } from './blocks.ts'
import { type Choices, notAChoice } from './interaction.ts'

/** Slack takes no more (docs.slack.dev, "block_suggestion payloads"). */
const mostOptions = 100

const inOrder = new Intl.Collator('en', { numeric: true })

/** Slack takes no longer values, and one that was cut would be another's. Such ids can be typed as arguments. */
const longestValue = 74

export interface Candidate {
  /** The id that comes back. */
  value: string
  text: string
  /** Small print below. */
  description?: string | undefined
  /** What it is found by, besides what is shown. */
  terms: (string | undefined)[]
}

export interface Offered {
  /** What one of them is called: `virtual machine`. */
  one: string
  many: string
  /** Said in small print where nothing fits, when not everything is offered. */
  note?: string
}

/**
 * What a picker offers for what was typed: those in which every word occurs somewhere, in the order of their texts. Where more fit than
 * Slack shows, the last option says how many; where none does, the only one says so. Pure.
 */
export function offer(candidates: Candidate[], typed: string, { one, many, note }: Offered): Choices {
  const pickable = candidates.filter(({ value }) => value.length <= longestValue)
  if (pickable.length === 0) return { options: [remark(`There are no ${many} to choose from.`, note)] }
  const fits = pickable.filter((candidate) => matches(candidate, typed))
  if (fits.length === 0) return { options: [remark(`No ${one} fits what you typed.`, note)] }
  const sorted = fits.toSorted((a, b) => inOrder.compare(a.text, b.text))
  if (sorted.length <= mostOptions) return { options: sorted.map(toOption) }
  const shown = sorted.slice(0, mostOptions - 1)
  return { options: [...shown.map(toOption), remark(`${sorted.length - shown.length} more fit: type more to narrow it down`)] }
}

/** An answer of a picker that is a sentence: what comes after its first full stop stands below in small print. Pure. */
export function sentence(text: string): Choices {
  const [, first, rest] = /^(.+?[.!?])\s+(.+)$/s.exec(text) ?? []
  return { options: [remark(first ?? text, rest)] }
}

/** Whether something was chosen, and not a sentence that stood among the options. */
export function isChoice(value: string | undefined): value is string {
  return value !== undefined && value !== '' && value !== notAChoice
}

export function keepChoice(chosen: PlainTextOption | undefined): PlainTextOption | undefined {
  return isChoice(chosen?.value) ? chosen : undefined
}

/** What is chosen already when a form opens; undefined where Slack does not take it, so that it is chosen anew. */
export function preset(candidate: Omit<Candidate, 'terms'>): PlainTextOption | undefined {
  return candidate.value.length <= longestValue ? toOption(candidate) : undefined
}

/** `Storefront, ASH`: where something is, as far as it is known. */
export function placeOf(project: { name?: string | undefined } | undefined, site: string | undefined): string {
  return [project?.name, site].filter((part) => part !== undefined && part !== '').join(', ')
}

function toOption({ text, value, description }: Omit<Candidate, 'terms'>): PlainTextOption {
  return option({ text, value, ...(description ? { description } : {}) })
}

function remark(text: string, description?: string): PlainTextOption {
  return option({ text, value: notAChoice, ...(description ? { description } : {}) })
}

function matches({ value, text, description, terms }: Candidate, typed: string): boolean {
  const found = [text, description, value, ...terms].join(' ').toLowerCase()
  return typed
    .toLowerCase()
    .split(/\s+/)
    .every((word) => found.includes(word))
}
