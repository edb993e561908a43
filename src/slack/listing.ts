import type { KnownBlock } from '@slack/web-api'
import { z } from 'zod'
import type { List } from '../domain/list.ts'
import { formatDuration, inNaturalOrder, someOf } from '../domain/text.ts'
import { actionsFor, button, context, message, wholeSection } from './blocks.ts'
import { toUserMessage } from './errors.ts'
import { fitBlocks } from './fit.ts'
import type { Answerable } from './interactions.ts'
import { choicesBlocks, dataTable, type ItemChoices, type ItemRows, itemRows, rowsPerPage, type Table } from './table.ts'
import {
  charactersIn,
  code,
  containsWords,
  joinMrkdwn,
  type Mrkdwn,
  mostCharacters,
  mrkdwn,
  ownWords,
  toPlainText,
  truncate,
} from './text.ts'
import type { Message } from './web-api.ts'

export interface Listing {
  title: Mrkdwn
  rows: Mrkdwn[]
  /** Shown in place of the rows, with buttons. */
  cards?: KnownBlock[][]
  /** Stands in place of the title and the rows if there are no rows. */
  empty: Mrkdwn
  notes?: Mrkdwn[]
  /** The same rows as a table. `itemRows` makes both from one description. */
  table?: Table
  /** Whether it shows an earlier list of the account. It then has a button that reads the list again. */
  isOld?: boolean
  choices?: ItemChoices
}

/** Where a list is shown. `name` is the name of the slash command; `command`, the words after it. */
export interface ListPlace {
  name: string
  command: string
  args: string[]
  page: number
}

export const pageActionIds = { previous: 'page-previous', next: 'page-next', refresh: 'page-refresh', run: 'page-run' } as const

/** The value of a page button. It holds only what a person could type as a command, so a forged value gains nothing. */
export const PageButton = z.object({
  version: z.literal(1),
  command: z.string(),
  args: z.array(z.string()),
  page: z.number().int().nonnegative(),
})

/** How many characters the rows of a page may have. The rest is for the title, the notes, the picker and the buttons. */
const longestRows = 6_000

/** Slack truncates longer text, and advises against more than 4,000 characters, which the words of a table need for screen readers. */
const mostTableText = 40_000

export function listAnswer(listing: Listing, at: ListPlace): Answerable {
  const table = tableMessage(listing, at)
  const instead = listingMessage(listing, at)
  return table ? { table, instead } : instead
}

function tableMessage({ title, rows, notes = [], table, isOld, choices }: Listing, at: ListPlace): Message | undefined {
  const block = table && dataTable(toPlainText(title), table)
  if (!block) return undefined
  const blocks = [block, ...choicesBlocks(choices, at.name), ...context(notes), ...pageButtons(at, { page: 0, pages: 1, isOld })]
  const text = joinMrkdwn([mrkdwn`*${title}*`, ...rows, ...notes], '\n').text.trim()
  const fits = charactersIn(blocks) <= mostCharacters && text.length <= mostTableText
  return fits ? { text, blocks: fitBlocks(blocks, 'message') } : undefined
}

/** Shows one page of a list, with buttons to the page before and after it. A page number past the end shows the last page. */
export function listingMessage({ title, cards, rows: words, empty, notes = [], isOld, choices }: Listing, at: ListPlace): Message {
  const rows: Row[] = cards ?? words
  const pages = paginate(rows.length > 0 ? rows : [empty])
  const page = Math.min(at.page, pages.length - 1)
  const lines = pages[page] ?? []
  const start = pages.slice(0, page).flat().length
  const heading = mrkdwn`*${title}*${pages.length > 1 ? ` (page ${page + 1} of ${pages.length})` : ''}`
  return message([
    ...[...(rows.length > 0 ? [heading] : []), ...lines].flatMap(blocksOf),
    ...context(notes),
    ...choicesBlocks(choices, at.name, start, start + lines.length),
    ...pageButtons(at, { page, pages: pages.length, isOld }),
  ])
}

type Row = Mrkdwn | KnownBlock[]
const blocksOf = (row: Row) => (Array.isArray(row) ? row : wholeSection(row))

/** A message has at most 50. The others are for the title, the notes and the buttons. */
const mostBlocks = 44

/** Depends on the list alone and not on the page shown, so that page numbers in buttons stay right. A row longer than a page is cut. */
function paginate(rows: Row[]): Row[][] {
  const pages: Row[][] = []
  let page: Row[] = []
  let left = longestRows
  for (const whole of rows) {
    const row = Array.isArray(whole) ? whole : ownWords(truncate(whole.text.trim(), longestRows, 'mrkdwn'))
    const length = Array.isArray(row) ? charactersIn(row) : row.text.length
    const blocks = [...page, row].flatMap(blocksOf).length
    if (page.length === rowsPerPage || (page.length > 0 && (length > left || blocks > mostBlocks))) {
      pages.push(page)
      page = []
      left = longestRows
    }
    page.push(row)
    left -= length
  }
  return [...pages, page]
}

function pageButtons(
  { name, command, args }: ListPlace,
  { page, pages, isOld }: { page: number; pages: number; isOld?: boolean },
): KnownBlock[] {
  const to = (text: string, actionId: string, target: number) =>
    button({ text, actionId, value: JSON.stringify({ version: 1, command, args, page: target } satisfies z.infer<typeof PageButton>) })
  return actionsFor(name, 'pages', [
    ...(page > 0 ? [to('Previous', pageActionIds.previous, page - 1)] : []),
    ...(page < pages - 1 ? [to('Next', pageActionIds.next, page + 1)] : []),
    ...(isOld ? [to('Refresh', pageActionIds.refresh, page)] : []),
  ])
}

/** `words` filter the list: items being provisioned have no facts yet that these could match, so a filtered list does not mention them. */
export function cutNotes(list: List<unknown>, words: string[]): Mrkdwn[] {
  const { items, cut, unreadable = 0, unready = 0 } = list
  const notes = oldNotes(list)
  if (cut !== undefined)
    notes.push(
      mrkdwn`:warning: *This list is incomplete:* ${cut === 'time' ? 'the account API took too long' : "the account's list is too long"}. The first ${items.length} were read and searched. Others may exist.`,
    )
  if (unreadable > 0) notes.push(mrkdwn`:warning: Not listed: ${unreadable} that couldn't be read.`)
  if (unready > 0 && words.length === 0)
    notes.push(mrkdwn`Not listed: ${unready} still being provisioned. Run the command again in a few minutes.`)
  return notes
}

/** Says how old an earlier copy of a list is, and why it could not be read again: `As of 40 s ago. The account allows 60 reads a minute. …` */
export function oldNotes({ old }: Pick<List<unknown>, 'old'>): Mrkdwn[] {
  if (!old) return []
  const why = old.because === undefined ? 'The account API takes longer than usual.' : toUserMessage(old.because)
  return [mrkdwn`:hourglass: *As of ${formatDuration(old.agoMs)} ago.* ${why ?? ''}`]
}

interface Filter<T> extends Pick<Listing, 'notes'>, Counted {
  list: List<T>
  textsOf: (item: T) => unknown[]
  /** The code of an item's site, which an answer without rows names. */
  siteOf?: (item: T) => string | undefined
  order: (a: T, b: T) => number
  /** Stands in place of the rows if there are no items at all. */
  none: Mrkdwn
}

/** Items with columns can be shown as a table. `row` is for items that are too large for one. */
type FilterParts<T> = Filter<T> & (ItemRows<T> | { row: (item: T) => Mrkdwn })

/** Making the rows of a very long list would block the process for everybody. */
export const mostRows = 1_000

export function filteredListing<T>(given: FilterParts<T>): Listing {
  const { list, words, textsOf, siteOf, order, none, notes = [] } = given
  const all = list.items
  const found = all.filter((item) => containsWords(textsOf(item), words)).toSorted(order)
  const listed = found.slice(0, mostRows)
  return {
    title: filteredTitle(found.length, given),
    ...('row' in given ? { rows: listed.map(given.row) } : itemRows(listed, given)),
    notes: [...cutNotes(list, words), ...notes, ...unlisted(found.length)],
    isOld: list.old !== undefined,
    empty:
      words.length > 0 && all.length > 0
        ? mrkdwn`${noneFits(all.length, given)} Use other words.${siteOf ? sitesInList(all.map(siteOf)) : ''}`
        : none,
  }
}

/** Names the codes of the sites, because a city that matches nothing may have one: ` Sites in this list: ASH, DAL.` Empty without sites. */
export function sitesInList(sites: (string | undefined)[]): string {
  const codes = [...new Set(sites.filter((site) => site !== undefined))].toSorted(inNaturalOrder)
  return codes.length === 0 ? '' : ` Sites in this list: ${someOf(codes, { most: 20 })}.`
}

export function unlisted(count: number): Mrkdwn[] {
  if (count <= mostRows) return []
  return [mrkdwn`The first ${mostRows} of ${count} are listed. Use more words to see others.`]
}

interface Counted {
  one: string
  many: string
  /** The words of the command. An item is listed if its texts contain all of them. */
  words: string[]
}

export function filteredTitle(count: number, { one, many, words }: Counted): Mrkdwn {
  const filter = words.length > 0 ? mrkdwn` matching ${code(words.join(' '))}` : mrkdwn``
  return mrkdwn`${count} ${count === 1 ? one : many}${filter}`
}

export function noneFits(count: number, { one, many, words }: Counted): Mrkdwn {
  const typed = code(words.join(' '))
  return count === 1 ? mrkdwn`The only ${one} doesn't match ${typed}.` : mrkdwn`None of the ${count} ${many} match ${typed}.`
}
