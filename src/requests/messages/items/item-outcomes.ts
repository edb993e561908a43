import type { KnownBlock } from '@slack/web-api'
import { wholeSection } from '../../../slack/blocks/blocks.ts'
import type { Columns } from '../../../slack/lists/columns.ts'
import { itemRows } from '../../../slack/lists/columns.ts'
import { dataTable } from '../../../slack/lists/data-table.ts'
import { code, joinMrkdwn, type Mrkdwn, mrkdwn } from '../../../slack/text/text.ts'
import { endingWords } from '../refusals/causes.ts'
import { span } from '../words.ts'
import type { ItemView } from './item-view.ts'
import { itemStateWords, stateLine, whyNotDone } from './items.ts'

const columns: Columns<ItemView> = [
  { header: 'Address', cell: ({ name }) => code(name) },
  { header: 'Outcome', cell: ({ state }) => itemStateWords(state) },
  { header: 'Took', cell: timeTaken, ifAny: true },
]

/** A narrow screen cuts this column off. */
const why: Columns<ItemView>[number] = { header: 'Why', cell: whyNotDone, ifAny: true }

/** The most reasons that are listed above the table, where a phone shows them whole. Further ones are only in the table. */
const mostReasonsAbove = 5

/** Shows the outcome of every item as a table, those that are not done first. Returns undefined if the table exceeds a limit of Slack. */
export function outcomeTable(items: ItemView[]): KnownBlock[] | undefined {
  const notDone = items.filter(({ state }) => state !== 'done')
  const areAbove = notDone.length <= mostReasonsAbove
  const { table } = itemRows(worstFirst(items), { columns: areAbove ? columns : [...columns, why] })
  const block = table && dataTable('What became of each address', table)
  return block && [...(areAbove ? outcomeBlocks(notDone) : []), block]
}

/** Shows the same as text. */
export function outcomeBlocks(items: ItemView[]): KnownBlock[] {
  return items.length === 0 ? [] : wholeSection(outcomeLines(items))
}

/** Says the same without blocks. Does not repeat words that apply to all items. */
export function outcomeLines(items: ItemView[]): Mrkdwn {
  return joinMrkdwn(worstFirst(items).map(outcomeLine), '\n')
}

/** Says once what people should know of the items that are done. */
export function notesOnDone(items: ItemView[]): Mrkdwn {
  const notes = items.filter(({ state }) => state === 'done').map(({ ending }) => endingWords(ending))
  const distinct = new Map(notes.filter(({ text }) => text !== '').map((note) => [note.text, note]))
  return joinMrkdwn([...distinct.values()], ' ')
}

function outcomeLine(item: ItemView): Mrkdwn {
  const took = item.state === 'done' ? timeTaken(item) : undefined
  const reason = whyNotDone(item)
  return mrkdwn`${stateLine(item)}${took === undefined ? '' : ` in ${took}`}${reason ? mrkdwn`. ${reason}` : ''}`
}

function worstFirst(items: ItemView[]): ItemView[] {
  return items.toSorted((a, b) => Number(a.state === 'done') - Number(b.state === 'done'))
}

/** Says how long an item took that was sent and has ended. Less than a second says nothing. */
function timeTaken({ sentAt, endedAt }: ItemView): string | undefined {
  return sentAt === undefined || endedAt === undefined || endedAt - sentAt < 1_000 ? undefined : span(endedAt - sentAt)
}
