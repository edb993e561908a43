import type { Button, KnownBlock } from '@slack/web-api'
import { actions, context, divider, header, wholeSection } from '../slack/blocks.ts'
import { dateTime, joinMrkdwn, link, type Mrkdwn, mention, mrkdwn } from '../slack/text.ts'
import { cardButtons } from './buttons.ts'
import { type CardView, cardActions, cardBody } from './card.ts'
import { stateWords, timeTaken } from './words.ts'

export interface HomeEntry {
  card: CardView
  link: string | undefined
}

export interface HomeContent {
  waitsForMe: HomeEntry[]
  mine: HomeEntry[]
  moving: HomeEntry[]
  now: number
}

/** A Home tab holds 100 blocks. */
const mostBlocks = 100

/** What a person sees who opens the bot's Home tab. What is to be decided is shown whole, as on its card. Pure. */
export function homeBlocks({ waitsForMe, mine, moving, now }: HomeContent): KnownBlock[] {
  const blocks: KnownBlock[] = []
  add(
    blocks,
    `Waits for you (${waitsForMe.length})`,
    waitsForMe.map((entry) => wholeEntry(entry)),
    'Nothing waits for your decision.',
    60,
  )
  add(
    blocks,
    `You asked for (${mine.length})`,
    mine.map((entry) => shortEntry(entry, 'mine', now)),
    'You have not asked for anything lately.',
    80,
  )
  add(
    blocks,
    `Moving now (${moving.length})`,
    moving.map((entry) => shortEntry(entry, 'moving', now)),
    'Nothing else is under way.',
    mostBlocks - 2,
  )
  const refreshed = mrkdwn`As of ${dateTime(now)}. It is shown anew whenever you open this tab or press one of its buttons.`
  return [...blocks, ...context([refreshed])]
}

/** Where somebody may not use the bot. Pure. */
export function refusedHome(words: Mrkdwn): KnownBlock[] {
  return [header('Lockkeeper'), ...wholeSection(words)]
}

/** One part of the page, with as many entries as fit below `upTo` blocks; what does not is counted. */
function add(blocks: KnownBlock[], title: string, entries: KnownBlock[][], empty: string, upTo: number): void {
  blocks.push(header(title))
  if (entries.length === 0) blocks.push(...context([mrkdwn`${empty}`]))
  let shown = 0
  for (const entry of entries) {
    if (blocks.length + entry.length + 1 > upTo) break
    blocks.push(...entry)
    shown += 1
  }
  if (shown < entries.length)
    blocks.push(...context([mrkdwn`${entries.length - shown} more do not fit in here: see *pending* and *moves*.`]))
}

function wholeEntry({ card, link: address }: HomeEntry): KnownBlock[] {
  return [
    ...wholeSection(joinMrkdwn([mrkdwn`*${titleOf(card)}*`, link(address, 'Open the card')], '  ·  ')),
    ...cardBody(card),
    ...actions(cardActions(card), `home-waiting-${card.request.id}-${card.request.revision}`),
    divider(),
  ]
}

function shortEntry({ card, link: address }: HomeEntry, part: string, now: number): KnownBlock[] {
  const { request, description, handoverLabel } = card
  const underway = request.endedAt === undefined && request.sentAt !== undefined
  const state = stateWords(request, description.underway)
  const toTake = request.state === 'approved' && handoverLabel
  const how = underway
    ? mrkdwn`${state} for ${timeTaken(request, now)}`
    : toTake
      ? mrkdwn`${state}: press *${toTake}* on the card until ${dateTime(request.expiresAt)}`
      : mrkdwn`${state}, ${dateTime(request.endedAt ?? request.createdAt)}`
  const who = part === 'mine' ? [] : [mrkdwn`asked for by ${mention(request.origin.userId)}`]
  const line = joinMrkdwn([how, ...who, mrkdwn`in <#${request.origin.channelId}>`, link(address, 'Open the card')], '  ·  ')
  return [
    ...wholeSection(mrkdwn`*${titleOf(card)}*\n${line}`),
    ...actions(shortActions(card, part), `home-${part}-${request.id}-${request.revision}`),
  ]
}

/**
 * Whoever asked for it does not decide it, unless the rules let them break the glass. Nothing is handed over here, because a message that
 * one person alone sees needs a channel.
 */
function shortActions(card: CardView, part: string): Button[] {
  const own: string[] = part === 'mine' ? [...(card.rule?.breakGlass ? [] : [cardButtons.approve]), cardButtons.reject] : []
  const elsewhere = [cardButtons.take, ...own]
  return cardActions(card).filter(({ action_id: id }) => !elsewhere.includes(id ?? ''))
}

function titleOf({ environment, description }: CardView): string {
  return `${environment ? `[${environment}] ` : ''}${description.sentence}`
}
