import type { KnownBlock } from '@slack/web-api'
import { z } from 'zod'
import { actions, button, context, limitBlocks, message, wholeSection } from './blocks.ts'
import { mostCharacters } from './characters.ts'
import { truncate } from './cut-text.ts'
import type { Message } from './messenger.ts'
import { joinMrkdwn, type Mrkdwn, mrkdwn, ownWords } from './text.ts'

export interface Listing {
  /** What is listed, with how many: `14 Elastic IPs`. */
  title: Mrkdwn
  /** One entry each, in order. */
  rows: Mrkdwn[]
  /** Said instead of rows when there are none. */
  empty: Mrkdwn
  /** Something that holds for the whole list. */
  notes?: Mrkdwn[]
  /** At most; a page has fewer where they are long. Default: 10. */
  rowsPerPage?: number
}

export const pageActionIds = { previous: 'page-previous', next: 'page-next' } as const

/** What a page button carries: enough to ask for another page of the same list, as anybody could by typing. */
export const PageButton = z.object({ command: z.string(), args: z.array(z.string()), page: z.number().int().nonnegative() })

const usualRowsPerPage = 10

/** What stands around the rows is cut to this, in characters, so that there is room for them. `pageNumber` and `turning` are never longer. */
const frame = { title: 1_000, pageNumber: 50, notes: 3_000, turning: 150 } as const

// One block of a message is for the buttons.
const limits = {
  contentBlocks: { most: 49, tables: 1, characters: mostCharacters - frame.turning },
  buttonValue: 2_000,
} as const

/** One page of a list, with buttons to the others. Pure. */
export function listingMessage(
  { title, rows, empty, notes = [], rowsPerPage = usualRowsPerPage }: Listing,
  at: { command: string; args: string[]; page: number },
): Message {
  const name = cut(title, frame.title)
  const remarks = cutNotes(notes)
  const around = lengthOfAll([name, ...remarks]) + frame.pageNumber + frame.turning
  const pages = paginate(rows.length > 0 ? rows : [empty], rowsPerPage, mostCharacters - around)
  const page = Math.min(at.page, pages.length - 1)
  const lines = pages[page] ?? []
  const heading = mrkdwn`*${name}*${pages.length > 1 ? ` (page ${page + 1} of ${pages.length})` : ''}`
  const content = [...wholeSection(heading), ...lines.flatMap((line) => wholeSection(line)), ...context(remarks)]
  const blocks = [...limitBlocks(content, limits.contentBlocks), ...turning(at, page, pages.length)]
  return message({ text: joinMrkdwn([heading, ...lines, ...remarks], '\n'), blocks })
}

/**
 * The rows of each page: at most so many, with so many characters. They depend on the list alone, and not on the page that is asked for, so
 * that the page numbers in buttons stay right. A row without room on a page of its own is cut.
 */
function paginate(rows: Mrkdwn[], mostRows: number, room: number): Mrkdwn[][] {
  const pages: Mrkdwn[][] = []
  let page: Mrkdwn[] = []
  let left = room
  for (const row of rows.map((whole) => cut(whole, room))) {
    if (page.length === mostRows || (page.length > 0 && lengthOf(row) > left)) {
      pages.push(page)
      page = []
      left = room
    }
    page.push(row)
    left -= lengthOf(row)
  }
  return [...pages, page]
}

/** Of what is shown: Slack gets no empty text, and no white space around it. */
function lengthOf({ text }: Mrkdwn): number {
  return Math.max(1, text.trim().length)
}

function lengthOfAll(all: Mrkdwn[]): number {
  return all.reduce((sum, words) => sum + lengthOf(words), 0)
}

/** Whole where there is room for all of them, otherwise each to its share. */
function cutNotes(notes: Mrkdwn[]): Mrkdwn[] {
  if (lengthOfAll(notes) <= frame.notes) return notes
  return notes.map((note) => cut(note, Math.floor(frame.notes / notes.length)))
}

function cut(words: Mrkdwn, most: number): Mrkdwn {
  return words.text.length <= most ? words : ownWords(truncate(words.text.trim(), most, 'mrkdwn'))
}

function turning({ command, args }: { command: string; args: string[] }, page: number, pages: number): KnownBlock[] {
  if (pages === 1) return []
  const valueFor = (target: number) => JSON.stringify({ command, args, page: target })
  if (valueFor(pages).length > limits.buttonValue) {
    return context([mrkdwn`The other pages cannot be turned to, because so many words do not fit into a button. Use fewer.`])
  }
  const to = (text: string, actionId: string, target: number) => button({ text, actionId, value: valueFor(target) })
  return actions([
    ...(page > 0 ? [to('Previous', pageActionIds.previous, page - 1)] : []),
    ...(page < pages - 1 ? [to('Next', pageActionIds.next, page + 1)] : []),
  ])
}
