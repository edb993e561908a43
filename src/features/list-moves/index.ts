import type { Catalog } from '../../changes/catalog.ts'
import type { Store } from '../../changes/store.ts'
import { stateWords, timeTaken } from '../../changes/words.ts'
import type { Request } from '../../domain/request.ts'
import type { Listing } from '../../slack/listing.ts'
import { dateTime, joinMrkdwn, type Mrkdwn, mention, mrkdwn } from '../../slack/text.ts'
import type { Feature } from '../feature.ts'

interface Move {
  request: Request
  sentence: string
  underway: string
}

/** `/infra moves`: the moves in flight, and the latest that ended. */
export function listMoves({ store, catalog }: { store: Pick<Store, 'open' | 'ended' | 'now'>; catalog: Catalog }): Feature {
  return {
    commands: [
      {
        words: 'moves',
        usage: '',
        summary: 'Shows the moves in flight, with how long they have taken, and the latest that ended.',
        example: '',
        need: 'read',
        run: async (call) => {
          const [open, ended, now] = await Promise.all([store.open(500), store.ended(100), store.now()])
          const moves = [...open, ...ended]
            .filter((request) => request.kind === 'ip.move')
            .flatMap((request) => describe(request, catalog) ?? [])
          await call.list(moveListing(moves, now))
        },
      },
    ],
  }
}

function describe(request: Request, catalog: Catalog): Move | undefined {
  const opened = catalog.openIfFit(request)
  if (!opened) return undefined
  const { sentence, underway } = opened.change.describe(opened.latest)
  return { request, sentence, underway }
}

/** Moves in flight first, the longest first; then those that wait; then the latest that ended. Pure. */
export function moveListing(moves: Move[], now: number): Listing {
  const inFlight = moves.filter(({ request }) => ['approved', 'starting', 'following'].includes(request.state))
  const waiting = moves.filter(({ request }) => request.state === 'waiting')
  const ended = moves
    .filter(({ request }) => request.endedAt !== undefined && !['approved', 'starting', 'following'].includes(request.state))
    .slice(0, 10)
  return {
    title: mrkdwn`${inFlight.length} in flight, ${waiting.length} waiting for approval, ${ended.length} that ended lately`,
    rows: [...inFlight.map((move) => flightRow(move, now)), ...waiting.map(waitingRow), ...ended.map(endedRow)],
    empty: mrkdwn`No moves: none in flight, and none in the last 30 days.`,
  }
}

function flightRow({ request, sentence, underway }: Move, now: number): Mrkdwn {
  const late = request.lateAt === undefined ? '' : ', *late*'
  return row(
    ':arrows_counterclockwise:',
    sentence,
    mrkdwn`${stateWords(request, underway)} for ${timeTaken(request, now)}${mrkdwnOf(late)}`,
    request,
  )
}

function waitingRow({ request, sentence }: Move): Mrkdwn {
  return row(':hourglass_flowing_sand:', sentence, mrkdwn`waiting for approval until ${dateTime(request.expiresAt)}`, request)
}

function endedRow({ request, sentence }: Move): Mrkdwn {
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

function mrkdwnOf(text: ', *late*' | ''): Mrkdwn {
  return text === '' ? mrkdwn`` : mrkdwn`, *late*`
}
