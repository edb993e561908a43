import { type Phrase, withoutOwner } from '../text/phrase.ts'

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
  /** What people call the change wherever it is named: `Move 203.0.113.10: web-1 → web-2`. */
  title: Phrase
  /** What approvers decide by and the title does not say. */
  facts: Fact[]
  /** Ids and other small print, which distinguish things of one name. */
  ids: Fact[]
  /** The status word while the change takes effect: `moving`. */
  underway: string
}

/** Leaves out that something is for the requester, because every message names the requester anyway. */
export function withoutRequester({ title, facts, ...rest }: Description, requesterId: string): Description {
  return {
    ...rest,
    title: withoutOwner(title, requesterId),
    facts: facts.filter(({ isPerson, value }) => !(isPerson && value === requesterId)),
  }
}
