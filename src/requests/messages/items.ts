import type { KnownBlock } from '@slack/web-api'
import { isItemUnderway } from '../../domain/request-item.ts'
import { wholeSection } from '../../slack/blocks/blocks.ts'
import { code, joinMrkdwn, type Mrkdwn, mrkdwn, ownWords } from '../../slack/text/text.ts'
import { endingWords, whyWords } from './causes.ts'
import type { ItemView } from './item-view.ts'
import { span } from './words.ts'

/** The mark and the words of each state of an item. */
const states: Record<ItemView['state'], { mark: string; words: string }> = {
  waiting: { mark: ':white_circle:', words: 'waiting' },
  sending: { mark: ':arrow_forward:', words: 'sending' },
  moving: { mark: ':arrows_counterclockwise:', words: 'moving' },
  done: { mark: ':large_green_circle:', words: 'moved' },
  failed: { mark: ':red_circle:', words: 'failed' },
  superseded: { mark: ':large_orange_circle:', words: 'superseded' },
  'not-started': { mark: ':red_circle:', words: 'not started' },
  unknown: { mark: ':grey_question:', words: 'unknown' },
}

/** `12 of 14 moved` */
export function movedCount(items: Pick<ItemView, 'state'>[]): string {
  return `${items.filter(({ state }) => state === 'done').length} of ${items.length} moved`
}

/** Whether some items are done, and others are not. */
export function isPartlyDone(items: Pick<ItemView, 'state'>[]): boolean {
  const done = items.filter(({ state }) => state === 'done').length
  return done > 0 && done < items.length
}

/** Lists every item: for approvers with its id and what is known of it, and with its state once the first may have been sent. */
export function itemBlocks(items: ItemView[], { hasBegun }: { hasBegun: boolean }): KnownBlock[] {
  return items.length === 0 ? [] : wholeSection(itemLines(items, { hasBegun }))
}

/** Says the same without blocks. */
export function itemLines(items: ItemView[], { hasBegun }: { hasBegun: boolean }): Mrkdwn {
  return joinMrkdwn(items.map(hasBegun ? stateLine : requestedLine), '\n')
}

/** Lists what became of every item, and why. What holds for all of them is not repeated. */
export function outcomeBlocks(items: ItemView[]): KnownBlock[] {
  return items.length === 0 ? [] : wholeSection(outcomeLines(items))
}

export function outcomeLines(items: ItemView[]): Mrkdwn {
  return joinMrkdwn(items.map(outcomeLine), '\n')
}

/** Says once what people should know of the items that are done. */
export function notesOnDone(items: ItemView[]): Mrkdwn {
  const notes = items.filter(({ state }) => state === 'done').map(({ ending }) => endingWords(ending))
  const distinct = new Map(notes.filter(({ text }) => text !== '').map((note) => [note.text, note]))
  return joinMrkdwn([...distinct.values()], ' ')
}

/** Names the items that are still under way: `203.0.113.10, 203.0.113.11`. */
export function underwayNames(items: ItemView[]): Mrkdwn {
  return joinMrkdwn(
    items.filter(isItemUnderway).map(({ name }) => code(name)),
    ', ',
  )
}

function requestedLine({ id, name, lastSeen }: ItemView): Mrkdwn {
  const seen = lastSeen ? mrkdwn`  ·  last seen on ${code(lastSeen.server)} ${span(lastSeen.agoMs)} before the request` : mrkdwn``
  return id === name ? mrkdwn`•  ${code(name)}${seen}` : mrkdwn`•  ${code(name)}  ${id}${seen}`
}

function stateLine({ name, state, lateAt, endedAt }: ItemView): Mrkdwn {
  const { mark, words } = states[state]
  const late = lateAt !== undefined && endedAt === undefined ? ', late' : ''
  return mrkdwn`${ownWords(mark)} ${code(name)}  ${words}${late}`
}

function outcomeLine(item: ItemView): Mrkdwn {
  const { state, sentAt, endedAt, ending } = item
  if (state === 'done') {
    const took = sentAt === undefined || endedAt === undefined || endedAt - sentAt < 1_000 ? '' : ` in ${span(endedAt - sentAt)}`
    return mrkdwn`${stateLine(item)}${took}`
  }
  const why = whyWords(ending)
  return why.text === '' ? stateLine(item) : mrkdwn`${stateLine(item)}. ${why}`
}
