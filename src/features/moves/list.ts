import type { App } from '../../app.ts'
import { bySchedule, isOpen, type Request, type Waits } from '../../domain/request.ts'
import { phraseText } from '../../domain/text.ts'
import { listFeature } from '../../kit/list.ts'
import { stateWithCount } from '../../messages/items.ts'
import { heldBriefly, isUnseen, mayHaveEndedBefore, span, timeApproved, timeTaken } from '../../messages/request-words.ts'
import { unreadableRequests } from '../../messages/why-not.ts'
import { holdAhead, holdNow } from '../../outbox/render.ts'
import type { CommandCall } from '../../slack/commands.ts'
import type { Listing } from '../../slack/listing.ts'
import { type Cell, type Columns, itemRows } from '../../slack/table.ts'
import { channelMention, code, dateTime, link, type Mrkdwn, mention, mrkdwn } from '../../slack/text.ts'
import { moveKind } from './move-change.ts'

interface ListedMove {
  request: Request
  /** `Move 203.0.113.10: web-1 → web-2` */
  title: string
  /** `moving` */
  underway: string
  link: string | undefined
  hold: Waits | undefined
}

function columnsAt(now: number): Columns<ListedMove> {
  return [
    // A narrow screen shows the first columns only.
    { header: 'Move', cell: ({ title, link: address }) => link(address, title) },
    { header: 'State', cell: stateOf },
    { header: 'Duration', cell: (move) => timeOf(move, now) },
    { header: 'Ended', cell: ({ request }) => endOf(request) },
    { header: 'Requested by', cell: ({ request }) => mention(request.origin.userId) },
    { header: 'Channel', cell: ({ request }) => channelMention(request.origin.channelId) },
  ]
}

function stateOf({ request, underway, hold }: ListedMove): Mrkdwn {
  if (request.state === 'waiting') {
    const held = hold && hold.for !== 'start' ? mrkdwn`, ${heldBriefly(hold)}` : ''
    return mrkdwn`waiting for approval until ${dateTime(request.expiresAt)}${held}`
  }
  if (hold) return heldBriefly(hold)
  if (request.state === 'approved') return mrkdwn`approved, not sent yet`
  const late = isOpen(request.state) && request.lateAt !== undefined && !isUnseen(request)
  return mrkdwn`${stateWithCount(request, isOpen(request.state) ? underway : undefined)}${late ? ', late' : ''}`
}

/** A number, by which Slack sorts the column. A move that waits for approval, or for its time, has not begun. */
function timeOf({ request, hold }: ListedMove, now: number): Cell {
  const { state, decidedAt, createdAt, sentAt, endedAt } = request
  if (state === 'waiting' || hold) return undefined
  if (state === 'approved') return { value: now - (decidedAt ?? createdAt), words: `${timeApproved(request, now)} so far` }
  if (isOpen(state)) return { value: now - (sentAt ?? createdAt), words: `${timeTaken(request, now)} so far` }
  if (sentAt === undefined || endedAt === undefined || (state !== 'done' && state !== 'failed')) return undefined
  return { value: endedAt - sentAt, words: mayHaveEndedBefore(request) ? `at most ${timeTaken(request)}` : timeTaken(request) }
}

function endOf({ state, endedAt, createdAt }: Request): Mrkdwn | undefined {
  return isOpen(state) ? undefined : dateTime(endedAt ?? createdAt)
}

/** People do not read more pages. */
const mostOpen = 500
const mostEnded = 10

export const listMoves = listFeature({
  words: 'moves',
  group: 'View',
  summary: 'Moves in progress, and the latest that ended',
  list: readMoves,
})

/** Moves in flight, longest first, then those that are scheduled, those that wait for approval, and the last that ended. */
async function readMoves(app: App, { slashCommand }: CommandCall): Promise<Listing> {
  const audit = code(`${slashCommand.origin.command} audit`)
  const { store, catalog } = app
  const takesTime = ({ kind }: Pick<Request, 'kind'>) => catalog.changeIfKnown(kind)?.takesTime ?? false
  const [open, latest, now, times] = await Promise.all([
    store.findOpen(),
    store.ended(mostEnded, takesTime),
    store.now(),
    store.durations(moveKind),
    app.freezes.read(),
  ])
  const moves = open.requests.filter(takesTime)
  const waiting = moves.filter(({ state }) => state === 'waiting')
  const scheduled = moves.filter((each) => holdNow(app, each)).toSorted(bySchedule)
  const inFlight = moves.filter((each) => each.state !== 'waiting' && !scheduled.includes(each))
  const listed = [...inFlight, ...scheduled, ...waiting].slice(0, mostOpen)
  const left = moves.length - listed.length
  // A move that ended between the reads is in both results.
  const requests = [...listed, ...latest.filter(({ id }) => !listed.some((each) => each.id === id))]
  const described = requests.flatMap((request) => describe(app, request) ?? [])
  const ended = described.filter(({ request }) => !isOpen(request.state)).length
  const unreadable = open.unreadable + requests.length - described.length
  return {
    title: mrkdwn`Moves: ${inFlight.length} in progress, ${scheduled.length > 0 ? `${scheduled.length} scheduled, ` : ''}${waiting.length} waiting for approval, ${ended} ended lately`,
    ...itemRows(described, { columns: columnsAt(now) }),
    empty:
      unreadable > 0 ? mrkdwn`No moves can be shown.` : mrkdwn`No moves in progress, and none ended lately. See ${audit} for earlier ones.`,
    notes: [
      ...usualTimes(times),
      ...(left > 0 ? [mrkdwn`${left} more are in progress or waiting. Only the oldest are shown.`] : []),
      ...(ended > 0 ? [mrkdwn`For moves that ended earlier, see ${audit}.`] : []),
      ...unreadableRequests(unreadable),
    ],
  }
}

/** How long the last moves took here, once enough are known. `times`: in ms, ascending. */
function usualTimes(times: number[]): Mrkdwn[] {
  const [median, nineInTen] = [times[Math.floor(times.length / 2)], times[Math.ceil(times.length * 0.9) - 1]]
  if (median === undefined || nineInTen === undefined) return []
  const most = times.length < 10 ? 'All' : 'Nine in ten'
  return [mrkdwn`Moves here usually take ${span(median)}. ${most} of the last ${times.length} took at most ${span(nineInTen)}.`]
}

function describe(app: App, request: Request): ListedMove | undefined {
  const { catalog, slack } = app
  const opened = catalog.openIfFit(request)
  if (!opened) return undefined
  const { title, underway } = opened.change.describe(opened.latest)
  return {
    request,
    title: phraseText(title),
    underway,
    link: slack.identity.linkTo(request),
    hold: holdAhead(app, request),
  }
}
