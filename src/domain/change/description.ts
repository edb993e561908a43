import type { Phrase } from '../text/phrase.ts'

/** One fact on a card: the label `Project`, the value `Storefront` and the detail `proj_1`. Values come from outside and are plain text. */
export interface Fact {
  label: string
  value: string
  detail?: string
  /** The value is a person, by Slack's user id. */
  isPerson?: true
}

/** A change in words. It is complete, because people approve what it shows. */
export interface Description {
  /** The change as a heading: `Move 203.0.113.10: web-1 → web-2`. */
  title: Phrase
  /** One plain sentence without a full stop: `Move 203.0.113.10 from web-1 to web-2`. */
  sentence: string
  /** What approvers decide by and the title does not say. */
  facts: Fact[]
  /** Ids and other small print, which distinguish things of one name. */
  ids: Fact[]
  /** The status word while the change takes effect: `moving`. */
  underway: string
}
