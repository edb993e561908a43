import type { KnownBlock } from '@slack/web-api'
import type { Words } from '../domain/change.ts'
import { isItemUnderway, type Request, type RequestItem } from '../domain/request.ts'
import type { Catalog, Opened } from '../record/catalog.ts'
import { wholeSection } from '../slack/blocks.ts'
import { type Columns, dataTable, itemRows } from '../slack/table.ts'
import { capitalised, code, joinMrkdwn, type Mrkdwn, mrkdwn } from '../slack/text.ts'
import { isUnseen, span, stateWords } from './request-words.ts'
import { endingWords, whyWords, wordsOfFindings } from './why-not.ts'

export interface ItemView extends Pick<RequestItem, 'state' | 'sentAt' | 'lateAt' | 'endedAt'> {
  id: string
  /** What people call it: `203.0.113.10`. */
  name: string
  /** Why it ended, and what to do next. */
  ending: Words
}

/** Gathers the items of a request. All are waiting until the first write may be sent. Empty for a change of a single resource. */
export function itemViews(request: Request, opened: Opened, { itemsOf }: Pick<Catalog, 'itemsOf'>): ItemView[] {
  const stored = new Map(request.items?.map((item) => [item.id, item]))
  return itemsOf(opened).map(({ id, name }) => {
    const { state = 'waiting', sentAt, lateAt, endedAt, causes = [] } = stored.get(id) ?? {}
    return { id, name, state, sentAt, lateAt, endedAt, ending: wordsOfFindings(opened.change, causes) }
  })
}

/** The most reasons beside the items of a request message. The table in the thread has them all. */
const mostReasons = 5

const states: Record<ItemView['state'] | 'unsure', string> = {
  waiting: 'waiting',
  starting: 'sending',
  tracking: 'moving',
  done: 'moved',
  failed: 'failed',
  superseded: 'superseded',
  'not-started': 'not started',
  untracked: 'sent, not tracked',
  unknown: 'unknown',
  // Stands for one that was sent while nobody knows its state: its request is no longer tracked, or the account API does not answer.
  unsure: 'sent, status unknown',
}

interface WithItems extends Pick<Request, 'state'> {
  unansweredSince?: number | undefined
  items?: Pick<ItemView, 'state'>[] | undefined
}

/** `left`: how many the request left out. *3 of 3 moved* would read as if none stayed. */
export function movedCount(items: Pick<ItemView, 'state'>[], left = 0): string {
  const done = items.filter(({ state }) => state === 'done').length
  const all = left > 0 && done === items.length ? '' : ` of ${items.length}`
  return `${done}${all} moved${left > 0 ? `, ${left} left out` : ''}`
}

/** `*12 of 14 moved, 1 failed*` */
export function progress(items: Pick<ItemView, 'state'>[]): Mrkdwn {
  const others = (['failed', 'not-started', 'superseded'] as const).flatMap((state) => {
    const count = items.filter((item) => item.state === state).length
    return count > 0 ? [`${count} ${state.replace('-', ' ')}`] : []
  })
  return mrkdwn`*${[movedCount(items), ...others].join(', ')}*`
}

export function stateWithCount({ state, items = [], unansweredSince }: WithItems, underway?: string): string {
  const words = state === 'failed' && isPartlyDone(items) ? 'partly done' : stateWords({ state, unansweredSince }, underway)
  return items.length === 0 || state === 'done' || isUnseen({ state, unansweredSince }) ? words : `${words}, ${movedCount(items)}`
}

export function unsentWords(items: Pick<ItemView, 'state'>[]): string | undefined {
  const unsent = items.filter(({ state }) => state === 'waiting').length
  if (unsent === 0) return undefined
  const others = items.some(isItemUnderway) ? ' The others may finish.' : ''
  return `${unsent} of ${items.length} not sent.${others}`
}

export function isPartlyDone(items: Pick<ItemView, 'state'>[]): boolean {
  const done = items.filter(({ state }) => state === 'done').length
  return done > 0 && done < items.length
}

/** Returns the items that can be tried again. One that somebody else moved is left as it is, and one that is gone, too. */
export function restOf(items: ItemView[]): ItemView[] {
  return items.filter(({ state, ending }) => (state === 'failed' || state === 'not-started') && ending.next !== '')
}

/** Of more than `most`, it counts the others. Until the first is sent, all are on one line. */
export function itemBlocks(
  items: ItemView[],
  request: Pick<Request, 'state' | 'items' | 'unansweredSince'>,
  most = items.length,
): KnownBlock[] {
  if (items.length === 0) return []
  const shown = items.slice(0, most)
  const more = items.length > most ? [mrkdwn`${items.length - most} more below`] : []
  if (request.items === undefined) {
    const names = joinMrkdwn(
      shown.map(({ name }) => code(name)),
      ', ',
    )
    return wholeSection(joinMrkdwn([names, ...more], ', '))
  }
  const tellsWhy = items.filter((item) => whyNotDone(item)).length <= mostReasons
  const nobodyKnows = request.state === 'untracked' || isUnseen(request)
  // The answer to the write was lost.
  const isUnsure = (item: ItemView) => (nobodyKnows && isItemUnderway(item)) || (item.state === 'starting' && item.lateAt !== undefined)
  const lines = shown.map((item) => stateLine(isUnsure(item) ? 'unsure' : item.state, item, tellsWhy))
  return wholeSection(joinMrkdwn([...lines, ...more], '\n'))
}

export function underwayNames(items: ItemView[]): Mrkdwn {
  return joinMrkdwn(
    items.filter(isItemUnderway).map(({ name }) => code(name)),
    ', ',
  )
}

function stateLine(state: keyof typeof states, item: ItemView, tellsWhy = true): Mrkdwn {
  const late = item.lateAt !== undefined && item.endedAt === undefined ? ', late' : ''
  const why = tellsWhy ? whyNotDone(item) : undefined
  // Most reasons begin with the address.
  if (why?.text.startsWith(item.name) || why?.text.startsWith(code(item.name).text)) return mrkdwn`${capitalised(states[state])}: ${why}`
  return mrkdwn`${code(item.name)}  ${states[state]}${late}${why ? mrkdwn`. ${why}` : ''}`
}

function whyNotDone({ state, ending }: ItemView): Mrkdwn | undefined {
  const words = state === 'done' ? mrkdwn`` : whyWords(ending)
  return words.text === '' ? undefined : words
}

const columns: Columns<ItemView> = [
  { header: 'Address', cell: ({ name }) => code(name) },
  { header: 'Outcome', cell: ({ state }) => states[state] },
  { header: 'Took', cell: timeTaken },
  { header: 'Why', cell: whyNotDone },
]

export function outcomeTable(items: ItemView[]): KnownBlock | undefined {
  const { table } = itemRows(worstFirst(items), { columns })
  return table && dataTable('Result for each address', table)
}

export function outcomeBlocks(items: ItemView[]): KnownBlock[] {
  const lines = worstFirst(items).map((item) => {
    const took = item.state === 'done' ? timeTaken(item) : undefined
    return mrkdwn`${stateLine(item.state, item)}${took === undefined ? '' : ` in ${took}`}`
  })
  return lines.length === 0 ? [] : wholeSection(joinMrkdwn(lines, '\n'))
}

export function notesOnDone(items: ItemView[]): Mrkdwn {
  const notes = items.filter(({ state }) => state === 'done').map(({ ending }) => endingWords(ending))
  const distinct = new Map(notes.filter(({ text }) => text !== '').map((note) => [note.text, note]))
  return joinMrkdwn([...distinct.values()], ' ')
}

function worstFirst(items: ItemView[]): ItemView[] {
  return items.toSorted((a, b) => Number(a.state === 'done') - Number(b.state === 'done'))
}

function timeTaken({ sentAt, endedAt }: ItemView): string | undefined {
  return sentAt === undefined || endedAt === undefined || endedAt - sentAt < 1_000 ? undefined : span(endedAt - sentAt)
}
