import type { KnownBlock } from '@slack/web-api'
import { z } from 'zod'
import { actions, button, context, limitBlocks, message, wholeSection } from './blocks.ts'
import type { Message } from './messenger.ts'
import { joinMrkdwn, type Mrkdwn, mrkdwn } from './text.ts'

export interface Listing {
  /** What is listed, with how many: `14 Elastic IPs`. */
  title: Mrkdwn
  /** One entry each, in order. */
  rows: Mrkdwn[]
  /** Said instead of rows when there are none. */
  empty: Mrkdwn
  /** Something that holds for the whole list. */
  notes?: Mrkdwn[]
  /** Fewer where each is long. Default: 10. */
  rowsPerPage?: number
}

export const pageActionIds = { previous: 'page-previous', next: 'page-next' } as const

/** What a page button carries: enough to ask for another page of the same list, as anybody could by typing. */
export const PageButton = z.object({ command: z.string(), args: z.array(z.string()), page: z.number().int().nonnegative() })

const usualRowsPerPage = 10

// One block of a message is for the buttons.
const limits = { contentBlocks: { most: 49, tables: 1 }, buttonValue: 2_000 } as const

/** One page of a list, with buttons to the others. Pure. */
export function listingMessage(
  { title, rows, empty, notes = [], rowsPerPage = usualRowsPerPage }: Listing,
  at: { command: string; args: string[]; page: number },
): Message {
  const pages = Math.max(1, Math.ceil(rows.length / rowsPerPage))
  const page = Math.min(at.page, pages - 1)
  const shown = rows.slice(page * rowsPerPage, (page + 1) * rowsPerPage)
  const heading = mrkdwn`*${title}*${pages > 1 ? ` (page ${page + 1} of ${pages})` : ''}`
  const lines = shown.length > 0 ? shown : [empty]
  const content = [...wholeSection(heading), ...lines.flatMap((line) => wholeSection(line)), ...context(notes)]
  const blocks = [...limitBlocks(content, limits.contentBlocks), ...turning(at, page, pages)]
  return message({ text: joinMrkdwn([heading, ...lines, ...notes], '\n'), blocks })
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
