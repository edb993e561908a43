import { isOpen, type Outline, type Request } from '../../domain/request.ts'
import type { Catalog } from '../../requests/catalog.ts'
import { stateWords, timeApproved, timeTaken } from '../../requests/messages/words.ts'
import type { Store } from '../../requests/store/store.ts'
import type { Listing } from '../../slack/blocks/listing.ts'
import { dateTime, joinMrkdwn, type Mrkdwn, mention, mrkdwn } from '../../slack/text/text.ts'
import type { Feature, FeatureDefinition } from '../feature.ts'

/** The most moves in flight, and the most that wait, on the list. Nobody turns more pages. */
const mostOpen = 500
const mostEnded = 10

interface ListedMove {
  request: Request
  sentence: string
  underway: string
}

/** How many moves are left out of the list. */
interface Unlisted {
  inFlight: number
  waiting: number
}

interface ListMovesParts {
  store: Pick<Store, 'open' | 'ended' | 'findMany' | 'now'>
  catalog: Catalog
}

/** `/infra moves`: lists the moves in flight, those that wait for approval, and the last that ended. */
export const listMoves = { create } satisfies FeatureDefinition

function create({ store, catalog }: ListMovesParts): Feature {
  const isMove = ({ kind }: Outline) => catalog.changeIfKnown(kind)?.takesTime ?? false

  return {
    commands: [
      {
        words: 'moves',
        usage: '',
        group: 'Look',
        summary: 'Moves in progress, and the latest that ended',
        examples: [],
        need: 'read',
        run: async (call) => {
          const [open, ended, now] = await Promise.all([store.open(), store.ended(mostEnded, isMove), store.now()])
          const moves = open.filter(isMove)
          const waiting = moves.filter(({ state }) => state === 'waiting')
          const inFlight = moves.filter(({ state }) => state !== 'waiting')
          const listed = [...inFlight.slice(0, mostOpen), ...waiting.slice(0, mostOpen)]
          const read = await store.findMany(listed.map(({ id }) => id))
          // A move that ended between the reads is in both results.
          const requests = [...read, ...ended.filter(({ id }) => !listed.some((each) => each.id === id))]
          const unlisted = { inFlight: Math.max(0, inFlight.length - mostOpen), waiting: Math.max(0, waiting.length - mostOpen) }
          await call.list(
            moveListing(
              requests.flatMap((request) => describe(request, catalog) ?? []),
              unlisted,
              now,
            ),
          )
        },
      },
    ],
  }
}

function describe(request: Request, catalog: Catalog): ListedMove | undefined {
  const opened = catalog.openIfFit(request)
  if (!opened) return undefined
  const { sentence, underway } = opened.change.describe(opened.latest)
  return { request, sentence, underway }
}

/** Lists moves in flight, longest first, then those that wait, then the last that ended. `now` is in ms since 1970. */
export function moveListing(moves: ListedMove[], unlisted: Unlisted, now: number): Listing {
  const inFlight = moves.filter(({ request: { state } }) => isOpen(state) && state !== 'waiting')
  const waiting = moves.filter(({ request }) => request.state === 'waiting')
  const ended = moves.filter(({ request }) => !isOpen(request.state))
  const counts = { inFlight: inFlight.length + unlisted.inFlight, waiting: waiting.length + unlisted.waiting }
  return {
    title: mrkdwn`${counts.inFlight} in flight, ${counts.waiting} waiting for approval, ${ended.length} that ended lately`,
    rows: [...inFlight.map((move) => flightRow(move, now)), ...waiting.map(waitingRow), ...ended.map(endedRow)],
    empty: mrkdwn`No moves: none in flight, and none in the last 30 days.`,
    notes: [
      ...(unlisted.inFlight > 0 ? [mrkdwn`Of those in flight, the ${inFlight.length} longest under way are listed.`] : []),
      ...(unlisted.waiting > 0 ? [mrkdwn`Of those that wait, the ${waiting.length} that have waited longest are listed.`] : []),
    ],
  }
}

function flightRow({ request, sentence, underway }: ListedMove, now: number): Mrkdwn {
  const late = request.lateAt === undefined ? mrkdwn`` : mrkdwn`, *late*`
  const state =
    request.state === 'approved'
      ? mrkdwn`approved ${timeApproved(request, now)} ago, not sent yet`
      : mrkdwn`${stateWords(request, underway)} for ${timeTaken(request, now)}${late}`
  return row(':arrows_counterclockwise:', sentence, state, request)
}

function waitingRow({ request, sentence }: ListedMove): Mrkdwn {
  return row(':hourglass_flowing_sand:', sentence, mrkdwn`waiting for approval until ${dateTime(request.expiresAt)}`, request)
}

function endedRow({ request, sentence }: ListedMove): Mrkdwn {
  const took = request.state === 'done' ? mrkdwn` in ${timeTaken(request)}` : mrkdwn``
  const mark =
    request.state === 'done'
      ? ':large_green_circle:'
      : ['failed', 'not-started'].includes(request.state)
        ? ':red_circle:'
        : ':white_circle:'
  return row(mark, sentence, mrkdwn`${stateWords(request)}${took}, ${dateTime(request.endedAt ?? request.createdAt)}`, request)
}

function row(mark: string, sentence: string, state: Mrkdwn, { origin }: Request): Mrkdwn {
  return joinMrkdwn(
    [mrkdwn`${mark} *${sentence}*`, mrkdwn`${state}  ·  asked for by ${mention(origin.userId)} in <#${origin.channelId}>`],
    '\n',
  )
}
