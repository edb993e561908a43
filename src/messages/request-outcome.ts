import type { KnownBlock } from '@slack/web-api'
import { toGroup } from '../domain/policy.ts'
import type { Request } from '../domain/request.ts'
import { context, reasonBlocks, wholeSection } from '../slack/blocks.ts'
import { capitalised, code, dateTime, joinMrkdwn, type Mrkdwn, mention, mrkdwn, phraseWords } from '../slack/text.ts'
import { isPartlyDone, movedCount, notesOnDone, unsentWords } from './items.ts'
import { type CardView, prefixOf } from './request-content.ts'
import {
  approvedBy,
  emergenciesIn,
  endMarks,
  pastWords,
  relatedWords,
  shortId,
  stateWords,
  timeTakenWords,
  whoIsIn,
} from './request-words.ts'
import { endingWords, isDistrusted } from './why-not.ts'

export function isFinished({ request }: Pick<CardView, 'request'>): boolean {
  return Object.hasOwn(endMarks, request.state)
}

/** How a request ended, and what that means. `notes`: what people should know of what is done. */
export function outcomeOf(view: CardView): { mark: string; name: string; notes: Mrkdwn; consequence: Mrkdwn } {
  const { request, items, ending } = view
  const notes = request.items === undefined ? endingWords(ending) : notesOnDone(items)
  const consequence = consequenceOf(view, notes)
  if (request.state === 'failed' && isPartlyDone(items)) return { mark: endMarks.partly, name: 'Partly done', notes, consequence }
  // Something keeps a change that is done from being of use, such as a server that is off.
  const isOfUse = request.state !== 'done' || notes.text === ''
  const mark = isOfUse ? endMarks[request.state as keyof typeof endMarks] : ':warning:'
  return { mark, name: capitalised(stateWords(request)), notes, consequence }
}

function consequenceOf({ request, items, ending, left }: CardView, notes: Mrkdwn): Mrkdwn {
  const why = endingWords(ending)
  if (isCounted(request)) {
    const count = movedCount(items, left?.count)
    return notes.text === '' ? mrkdwn`${count}.` : mrkdwn`${count}. ${notes}`
  }
  switch (request.state) {
    case 'voided':
      return mrkdwn`Nothing was done. ${why}`
    case 'untracked': {
      if (isDistrusted(request)) return mrkdwn`${why} It may still finish.`
      return mrkdwn`${unsentWords(items) ?? 'It may still finish.'}`
    }
    case 'expired':
      return mrkdwn`${why.text === '' ? mrkdwn`Not approved.` : why} Nothing was done.`
    case 'withdrawn':
      return why.text === '' ? mrkdwn`Nothing was done.` : why
    case 'rejected':
      return mrkdwn``
    default:
      return why
  }
}

function isCounted({ items, state }: Request): boolean {
  return items !== undefined && ['done', 'failed', 'superseded'].includes(state)
}

export function finishedBlocks(view: CardView): KnownBlock[] {
  return [...wholeSection(whatHappened(view)), ...rejectionBlocks(view), ...context([whoAndWhen(view)])]
}

/** `:large_green_circle: *Done*  ·  Move 203.0.113.10: web-1 → web-2` */
export function whatHappened(view: CardView): Mrkdwn {
  const { mark, name, consequence } = outcomeOf(view)
  const { title: whole, short } = view.description
  const title = mrkdwn`${mark} *${name}*  ·  ${prefixOf(view.environment)}${phraseWords((isCounted(view.request) && short) || whole)}`
  return consequence.text === '' ? title : mrkdwn`${title}. ${consequence}`
}

/** `@Ada, approved by @Ben  ·  2:13 PM  ·  took 43 s  ·  b7e23ec2  ·  Undoes request 80fbcd61` */
function whoAndWhen({ request, ...related }: CardView): Mrkdwn {
  const { state, endedAt, createdAt, stoppedBy, decision } = request
  const ended = dateTime(endedAt ?? createdAt)
  // What an emergency approval passed takes the place.
  const took =
    (state === 'done' || state === 'failed') && !decision?.passed && emergenciesIn(request).length === 0
      ? timeTakenWords(request)
      : undefined
  const parts = [
    peopleOf(request),
    state === 'untracked' && stoppedBy !== undefined ? mrkdwn`stopped by ${mention(stoppedBy)}, ${ended}` : ended,
    ...(took === undefined ? [] : [mrkdwn`${took}`]),
    code(shortId(request)),
    ...relatedWords(related),
  ]
  return joinMrkdwn(parts, '  ·  ')
}

export function peopleOf(request: Request): Mrkdwn {
  const { state, decision, decidedAt, withdrawnBy, needsApproval, origin } = request
  const requester = mention(origin.userId)
  if (decision?.breakGlass && state !== 'withdrawn')
    return mrkdwn`:rotating_light: *Emergency approval* by ${requester}${pastWords(decision.passed)}`
  const isOwn = state === 'withdrawn' && withdrawnBy === origin.userId
  const urgent = emergenciesIn(request)
  const others = approvedBy(request).filter((each) => !urgent.some(({ by }) => by === each))
  const parts = [mrkdwn`${isOwn ? 'Requested and withdrawn by ' : ''}${requester}`]
  if (state === 'rejected') parts.push(mrkdwn`rejected by ${decision?.by ? mention(decision.by) : 'the rules'}`)
  else if (decidedAt !== undefined && !needsApproval) parts.push(mrkdwn`no approval needed`)
  else if (decidedAt !== undefined && !decision?.by) parts.push(mrkdwn`approver not verified`)
  else if (decidedAt !== undefined && others.length > 0) parts.push(mrkdwn`approved by ${whoIsIn(toGroup(others))}`)
  for (const { by, passed } of urgent) parts.push(mrkdwn`:rotating_light: emergency approval by ${mention(by)}${pastWords(passed)}`)
  if (state === 'withdrawn' && !isOwn && withdrawnBy !== undefined) parts.push(mrkdwn`withdrawn by ${mention(withdrawnBy)}`)
  return joinMrkdwn(parts, ', ')
}

/** Details show the requester's reason as well, so that of a rejection has another name. */
export function rejectionBlocks({ request: { state, decision }, rule }: CardView): KnownBlock[] {
  return state === 'rejected' ? reasonBlocks('Rejected because', decision?.reason, rule?.reason) : []
}
