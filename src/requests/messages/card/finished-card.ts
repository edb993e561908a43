import type { KnownBlock } from '@slack/web-api'
import type { Request, StoredState } from '../../../domain/request/request.ts'
import { context, wholeSection } from '../../../slack/blocks/blocks.ts'
import { reasonBlocks } from '../../../slack/blocks/reason.ts'
import { truncate } from '../../../slack/text/cut-text.ts'
import { phraseWords } from '../../../slack/text/phrase-words.ts'
import { code, type Mrkdwn, mrkdwn } from '../../../slack/text/text.ts'
import { notesOnDone } from '../items/item-outcomes.ts'
import type { ItemView } from '../items/item-view.ts'
import { doubtOf, isOne, isPartlyDone, itemBlocks, itemLines, movedCount, othersMayFinish, unsentOf, unsentWords } from '../items/items.ts'
import { endingWords } from '../refusals/causes.ts'
import { isDistrusted } from '../refusals/unverified.ts'
import type { CardView } from './card-view.ts'
import { emergencyLabel, emergencyReason, prefixOf } from './open-card.ts'
import { whoAndWhen } from './who-and-when.ts'

type Finished = Exclude<StoredState, 'waiting' | 'approved' | 'starting' | 'tracking' | 'unknown'>

/** The mark and the name of each end. */
const ends: Record<Finished, { mark: string; name: string }> = {
  done: { mark: ':large_green_circle:', name: 'Done' },
  failed: { mark: ':red_circle:', name: 'Failed' },
  'not-started': { mark: ':red_circle:', name: 'Not started' },
  superseded: { mark: ':large_orange_circle:', name: 'Superseded' },
  untracked: { mark: ':large_orange_circle:', name: 'No longer tracked' },
  voided: { mark: ':large_orange_circle:', name: 'Canceled' },
  rejected: { mark: ':no_entry:', name: 'Rejected' },
  withdrawn: { mark: ':leftwards_arrow_with_hook:', name: 'Withdrawn' },
  expired: { mark: ':alarm_clock:', name: 'Expired' },
}

/** The change is done, but something keeps it from being of use, such as a server that is off. */
const doneWithNotes = { mark: ':warning:', name: 'Done' }

/** Some items are done, and others are not. */
const partlyDone = { mark: ':large_orange_circle:', name: 'Partly done' }

/** Whether only the outcome of a request has to be shown. */
export function isFinished({ request }: Pick<CardView, 'request'>): boolean {
  return Object.hasOwn(ends, request.state)
}

/** Renders a finished request in two lines: what happened to what, and who requested and decided it, when, and how long it took. */
export function finishedBlocks(view: CardView): KnownBlock[] {
  const left = notMoved(view)
  return [
    ...wholeSection(whatHappened(view)),
    ...itemBlocks(left, { hasBegun: true, doubt: doubtOf(view.request) }),
    ...rejectionBlocks(view.request),
    ...context([whoAndWhen(view)]),
    ...reasonLines(view.request).flatMap((line) => context([line])),
  ]
}

/** Says the same without blocks. */
export function finishedText(view: CardView): Mrkdwn[] {
  return [...outcomeText(view), ...reasonLines(view.request)]
}

/** Says the same without the reason of the request, which the details have elsewhere. */
export function outcomeText(view: CardView): Mrkdwn[] {
  const { state, decision } = view.request
  const reason = state === 'rejected' && decision?.reason ? [mrkdwn`${rejectionLabel}: ${code(decision.reason)}`] : []
  const left = notMoved(view)
  return [
    whatHappened(view),
    ...(left.length > 0 ? [itemLines(left, { hasBegun: true, doubt: doubtOf(view.request) })] : []),
    ...reason,
    whoAndWhen(view),
  ]
}

/** The items that are not done, of a request that was sent. Why a single one is not done follows the title. */
function notMoved({ request, items }: CardView): ItemView[] {
  return request.items === undefined || isOne(items) ? [] : items.filter(({ state }) => state !== 'done')
}

/** `:large_green_circle: *Done*  ·  Move 203.0.113.10: web-1 → web-2` */
export function whatHappened(view: CardView): Mrkdwn {
  const { description, environment } = view
  const { mark, name } = endOf(view)
  const title = mrkdwn`${mark} *${name}*  ·  ${prefixOf(environment)}${phraseWords(description.title)}`
  const more = consequence(view)
  return more.text === '' ? title : mrkdwn`${title}. ${more}`
}

function endOf(view: CardView): { mark: string; name: string } {
  const { request, items } = view
  if (request.state === 'failed' && isPartlyDone(items)) return partlyDone
  return request.state === 'done' && notesOf(view).text !== '' ? doneWithNotes : ends[request.state as Finished]
}

/** What people should know of a change that is done. */
function notesOf({ request, items, ending }: CardView): Mrkdwn {
  return request.items === undefined ? endingWords(ending) : notesOnDone(items)
}

/** Says why it ended, and what that means for the account. */
function consequence({ request, items, ending }: CardView): Mrkdwn {
  const why = endingWords(ending)
  if (request.items !== undefined && (request.state === 'done' || request.state === 'failed')) return consequenceForItems(items)
  switch (request.state) {
    case 'voided':
      return mrkdwn`The account changed since the request. Nothing was done. ${why}`
    case 'untracked':
      return isDistrusted(request) ? mrkdwn`${why} It may still finish. Check the account.` : untrackedWords(items)
    case 'expired':
      return why.text === '' ? mrkdwn`Nothing was done.` : mrkdwn`${why} Nothing was done.`
    case 'rejected':
      return mrkdwn``
    default:
      return why
  }
}

function consequenceForItems(items: ItemView[]): Mrkdwn {
  const [first] = items
  if (first && isOne(items)) return endingWords(first.ending)
  const notes = notesOnDone(items)
  return notes.text === '' ? mrkdwn`${movedCount(items)}.` : mrkdwn`${movedCount(items)}. ${notes}`
}

function untrackedWords(items: ItemView[]): Mrkdwn {
  const unsent = unsentWords(items)
  return unsent === undefined
    ? mrkdwn`The account API had accepted it. It may still finish.`
    : mrkdwn`${unsent}${othersMayFinish(items)} *Track again* sends ${unsentOf(items)}.`
}

/** Details show the requester's reason as well, so this one has another name. */
const rejectionLabel = 'Rejected because'

/** Shows the reason of a rejection. */
export function rejectionBlocks({ state, decision }: Request): KnownBlock[] {
  return state === 'rejected' ? reasonBlocks(rejectionLabel, decision?.reason) : []
}

/** The most of a reason that the small print shows. The details show it whole. */
const mostOfReason = 150

function reasonLines(request: Request): Mrkdwn[] {
  const line = (label: string, text: string | undefined) => (text ? [mrkdwn`${label}: ${code(truncate(text, mostOfReason, 'plain'))}`] : [])
  // The reason of a rejection stands above.
  const label = request.state === 'rejected' ? 'Requested because' : 'Reason'
  return [...line(label, request.reason), ...line(emergencyLabel, emergencyReason(request))]
}
