import type { Missing } from '../../domain/errors/missing.ts'
import { inNaturalOrder } from '../../domain/text/natural-order.ts'
import { someOf } from '../../domain/text/some-of.ts'
import { type ItemRows, itemRows } from '../lists/columns.ts'
import { containsWords } from '../text/contains-words.ts'
import { code, type Mrkdwn, mrkdwn } from '../text/text.ts'
import { cutNotes } from './cut-note.ts'
import type { Listing } from './listing.ts'

interface Filter<T> extends Pick<Listing, 'notes' | 'rowsPerPage'> {
  all: T[]
  /** What is missing in `all`. */
  missing?: Missing | undefined
  /** The words of the command. An item is listed if its texts contain all of them. */
  words: string[]
  textsOf: (item: T) => unknown[]
  /** The code of an item's site, which an answer without rows names. */
  siteOf?: (item: T) => string | undefined
  /** What the items are called: `1 API key`, `3 API keys`. */
  one: string
  many: string
  order: (a: T, b: T) => number
  /** Stands in place of the rows if there are no items at all. */
  none: Mrkdwn
}

/** Items with columns can be shown as a table. `row` is for items that are too large for one. */
type FilterParts<T> = Filter<T> & (ItemRows<T> | { row: (item: T) => Mrkdwn })

/**
 * The most rows of one list. Nobody reads a hundred pages, and making the rows of a very long list would block the process for everybody.
 */
export const mostRows = 1_000

/** Lists the items that contain every word. */
export function filteredListing<T>({
  all,
  missing = {},
  words,
  textsOf,
  siteOf,
  one,
  many,
  order,
  none,
  notes = [],
  rowsPerPage,
  ...body
}: FilterParts<T>): Listing {
  const sorted = all.filter((item) => containsWords(textsOf(item), words)).toSorted(order)
  const listed = sorted.slice(0, mostRows)
  return {
    ...(rowsPerPage === undefined ? {} : { rowsPerPage }),
    title: filteredTitle(sorted.length, { one, many, words }),
    ...('row' in body ? { rows: listed.map(body.row) } : itemRows(listed, body)),
    notes: [...cutNotes(missing, all.length, words), ...notes, ...unlisted(sorted.length)],
    isOld: missing.old !== undefined,
    empty:
      words.length > 0 && all.length > 0
        ? mrkdwn`${noneFits(all.length, { one, many, words })} ${otherWords(words)}${siteOf ? sitesInList(all.map(siteOf)) : ''}`
        : none,
  }
}

/** Suggests what to search for if nothing matches the words. */
export function otherWords(words: string[]): string {
  return words.length > 1 ? 'Use fewer or other words.' : 'Use another word.'
}

/** Names the codes of the sites, because a city that matches nothing may have one: ` Sites in this list: ASH, DAL.` Empty without sites. */
export function sitesInList(sites: (string | undefined)[]): string {
  const codes = [...new Set(sites.filter((site) => site !== undefined))].toSorted(inNaturalOrder)
  return codes.length === 0 ? '' : ` Sites in this list: ${someOf(codes, { most: 20 })}.`
}

/** Says that the rows are not everything that was found. */
export function unlisted(count: number): Mrkdwn[] {
  if (count <= mostRows) return []
  return [mrkdwn`The first ${mostRows} of ${count} are listed. Use more words to see others.`]
}

interface Counted {
  one: string
  many: string
  words: string[]
}

/** Says how many were found, and by which words: `3 plans matching fra`. */
export function filteredTitle(count: number, { one, many, words }: Counted): Mrkdwn {
  const filter = words.length > 0 ? mrkdwn` matching ${code(words.join(' '))}` : mrkdwn``
  return mrkdwn`${count} ${count === 1 ? one : many}${filter}`
}

/** Says that none of so many has these words. */
export function noneFits(count: number, { one, many, words }: Counted): Mrkdwn {
  const typed = code(words.join(' '))
  return count === 1 ? mrkdwn`The only ${one} doesn't match ${typed}.` : mrkdwn`None of the ${count} ${many} match ${typed}.`
}
