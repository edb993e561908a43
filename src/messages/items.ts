import type { KnownBlock } from '@slack/web-api'
import type { Item, Words } from '../domain/change.ts'
import { isItemUnderway, isOpen, type Request, type RequestItem } from '../domain/request.ts'
import { formatAge } from '../domain/text.ts'
import type { Catalog, Opened } from '../requests/catalog.ts'
import { wholeSection } from '../slack/blocks.ts'
import { type Columns, dataTable, itemRows } from '../slack/table.ts'
import { code, joinMrkdwn, type Mrkdwn, mrkdwn, ownWords } from '../slack/text.ts'
import { endingWords, explainAll, whyWords } from './refusals.ts'
import { span, stateWords } from './words.ts'

/** One item of a request with several, as messages show it. */
export interface ItemView extends Pick<RequestItem, 'state' | 'sentAt' | 'lateAt' | 'endedAt'> {
  id: string
  /** What people call it: `203.0.113.10`. */
  name: string
  /** Where Lockkeeper saw it last, if the account did not show where it is. */
  lastSeen: Item['lastSeen']
  /** Why it ended, and what to do next. */
  ending: Words
}

/** Gathers the items of a request. All are waiting until the first write may be sent. Empty for a change of a single resource. */
export function itemViews(request: Request, opened: Opened, { itemsOf }: Pick<Catalog, 'itemsOf'>): ItemView[] {
  const stored = new Map(request.items?.map((item) => [item.id, item]))
  const all = itemsOf(opened)
  return all.map(({ id, name, lastSeen }) => {
    const item = stored.get(id)
    const { state = 'waiting', sentAt, lateAt, endedAt, causes = [] } = item ?? {}
    const ending = explainAll(opened.change, causes, all.length > 1 ? name : undefined)
    return { id, name, lastSeen, state, sentAt, lateAt, endedAt, ending }
  })
}

/** The most reasons beside the items, or above the table. A message has room for few, and the table has them all. */
const mostReasons = 5

const states: Record<ItemView['state'], { mark: string; words: string }> = {
  waiting: { mark: ':white_circle:', words: 'waiting' },
  starting: { mark: ':arrow_forward:', words: 'sending' },
  tracking: { mark: ':arrows_counterclockwise:', words: 'moving' },
  done: { mark: ':large_green_circle:', words: 'moved' },
  failed: { mark: ':red_circle:', words: 'failed' },
  superseded: { mark: ':large_orange_circle:', words: 'superseded' },
  'not-started': { mark: ':red_circle:', words: 'not started' },
  untracked: { mark: ':grey_question:', words: 'sent, not tracked' },
  unknown: { mark: ':grey_question:', words: 'unknown' },
}

/** Stand for the state of an item that was sent while nobody knows it: its request is no longer tracked, or the account API does not answer. */
const inDoubt = {
  untracked: states.untracked,
  unanswered: { mark: ':grey_question:', words: 'sent, status unknown' },
}

/** A request by its state and those of its items. */
interface WithItems extends Pick<Request, 'state'> {
  items?: Pick<ItemView, 'state'>[] | undefined
}

/** Whether a request of several has only one item. It is then shown like a request with a single change, without counts and lists. */
export function isOne(items: unknown[]): boolean {
  return items.length === 1
}

/** `12 of 14 moved` */
export function movedCount(items: Pick<ItemView, 'state'>[]): string {
  return `${items.filter(({ state }) => state === 'done').length} of ${items.length} moved`
}

/**
 * Says the state of a request, and how many of several items are done where others are not: `moving, 12 of 14 moved`.
 */
export function stateWithCount({ state, items = [] }: WithItems, underway?: string): string {
  const words = state === 'failed' && isPartlyDone(items) ? 'partly done' : stateWords({ state }, underway)
  if (items.length < 2 || state === 'done') return words
  return state === 'untracked' ? `${words}, ${movedCount(items)} before` : `${words}, ${movedCount(items)}`
}

/** Says how many items were not sent when the tracking was stopped: `7 of 12 weren't sent.` Undefined if all were. */
export function unsentWords(items: Pick<ItemView, 'state'>[]): string | undefined {
  const unsent = items.filter(({ state }) => state === 'waiting').length
  if (unsent === 0) return undefined
  return isOne(items) ? "It wasn't sent." : `${unsent} of ${items.length} ${unsent === 1 ? "wasn't" : "weren't"} sent.`
}

/** What *Track again* sends: `the rest`. */
export function unsentOf(items: unknown[]): string {
  return isOne(items) ? 'it' : 'the rest'
}

/** Goes after `unsentWords` where the outcome of other items is open. */
export function othersMayFinish(items: Pick<ItemView, 'state'>[]): string {
  return items.some(isItemUnderway) ? ' The others may still finish.' : ''
}

export function isPartlyDone(items: Pick<ItemView, 'state'>[]): boolean {
  const done = items.filter(({ state }) => state === 'done').length
  return done > 0 && done < items.length
}

interface ShownItems {
  /** Whether the first may have been sent. */
  hasBegun: boolean
  /** Why nobody knows the state of what was sent. The message must not say then that an item is moving. */
  doubt?: keyof typeof inDoubt | undefined
}

/** Lists every item: for approvers with its id and what is known of it, and with its state once the first may have been sent. */
export function itemBlocks(items: ItemView[], { hasBegun, doubt }: ShownItems): KnownBlock[] {
  const seen = items.map(seenWords)
  // What holds for all of them is said once, under *Check first*.
  const isSame = new Set(seen.map(String)).size === 1
  const tellsWhy = items.filter((item) => whyNotDone(item)).length <= mostReasons
  const lines = items.map((item, index) =>
    hasBegun ? stateLine(item, { tellsWhy, doubt }) : requestedLine(item, isSame ? undefined : seen[index]),
  )
  return lines.length === 0 ? [] : wholeSection(joinMrkdwn(lines, '\n'))
}

/** Names the items that are still under way: `203.0.113.10, 203.0.113.11`. */
export function underwayNames(items: ItemView[]): Mrkdwn {
  return joinMrkdwn(
    items.filter(isItemUnderway).map(({ name }) => code(name)),
    ', ',
  )
}

function requestedLine({ id, name }: ItemView, seen: Mrkdwn | undefined): Mrkdwn {
  const after = seen === undefined ? '' : mrkdwn`  ·  ${seen}`
  return id === name ? mrkdwn`•  ${code(name)}${after}` : mrkdwn`•  ${code(name)}  ${id}${after}`
}

function seenWords({ lastSeen }: ItemView): Mrkdwn | undefined {
  return lastSeen && mrkdwn`last seen on ${code(lastSeen.server)} ${formatAge(lastSeen.agoMs)} before the request`
}

/** Returns why nobody knows the state of what a request has sent. Undefined if Lockkeeper knows it. */
export function doubtOf(request: Pick<Request, 'state' | 'unansweredSince'>): ShownItems['doubt'] {
  if (request.state === 'untracked') return 'untracked'
  return request.unansweredSince === undefined || !isOpen(request.state) ? undefined : 'unanswered'
}

function stateLine(item: ItemView, { tellsWhy, doubt }: { tellsWhy: boolean; doubt?: ShownItems['doubt'] }): Mrkdwn {
  const { name, state, lateAt, endedAt } = item
  const { mark, words } = doubt !== undefined && isItemUnderway(item) ? inDoubt[doubt] : states[state]
  const late = lateAt !== undefined && endedAt === undefined ? ', late' : ''
  const why = tellsWhy ? whyNotDone(item) : undefined
  return mrkdwn`${ownWords(mark)} ${code(name)}  ${words}${late}${why ? mrkdwn`. ${why}` : ''}`
}

function whyNotDone({ state, ending }: ItemView): Mrkdwn | undefined {
  const words = state === 'done' ? mrkdwn`` : whyWords(ending)
  return words.text === '' ? undefined : words
}

const columns: Columns<ItemView> = [
  { header: 'Address', cell: ({ name }) => code(name) },
  { header: 'Outcome', cell: ({ state }) => states[state].words },
  { header: 'Took', cell: timeTaken, ifAny: true },
]

/** A narrow screen cuts this column off. */
const why: Columns<ItemView>[number] = { header: 'Why', cell: whyNotDone, ifAny: true }

/** Shows the outcome of every item as a table, those that are not done first. Returns undefined if the table exceeds a limit of Slack. */
export function outcomeTable(items: ItemView[]): KnownBlock[] | undefined {
  const notDone = items.filter(({ state }) => state !== 'done')
  const areAbove = notDone.length <= mostReasons
  const { table } = itemRows(worstFirst(items), { columns: areAbove ? columns : [...columns, why] })
  const block = table && dataTable('What became of each address', table)
  return block && [...(areAbove ? outcomeBlocks(notDone) : []), block]
}

export function outcomeBlocks(items: ItemView[]): KnownBlock[] {
  return items.length === 0 ? [] : wholeSection(joinMrkdwn(worstFirst(items).map(outcomeLine), '\n'))
}

/** Says once what people should know of the items that are done. */
export function notesOnDone(items: ItemView[]): Mrkdwn {
  const notes = items.filter(({ state }) => state === 'done').map(({ ending }) => endingWords(ending))
  const distinct = new Map(notes.filter(({ text }) => text !== '').map((note) => [note.text, note]))
  return joinMrkdwn([...distinct.values()], ' ')
}

function outcomeLine(item: ItemView): Mrkdwn {
  const took = item.state === 'done' ? timeTaken(item) : undefined
  return mrkdwn`${stateLine(item, { tellsWhy: true })}${took === undefined ? '' : ` in ${took}`}`
}

function worstFirst(items: ItemView[]): ItemView[] {
  return items.toSorted((a, b) => Number(a.state === 'done') - Number(b.state === 'done'))
}

/** Says how long an item took that was sent and has ended. Less than a second says nothing. */
function timeTaken({ sentAt, endedAt }: ItemView): string | undefined {
  return sentAt === undefined || endedAt === undefined || endedAt - sentAt < 1_000 ? undefined : span(endedAt - sentAt)
}
