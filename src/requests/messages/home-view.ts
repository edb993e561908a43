import type { Button, KnownBlock } from '@slack/web-api'
import { actions, context, divider, header, wholeSection } from '../../slack/blocks/blocks.ts'
import { dateTime, joinMrkdwn, link, type Mrkdwn, mention, mrkdwn } from '../../slack/text/text.ts'
import { cardButtons } from './buttons.ts'
import { type CardView, cardActions, cardBody } from './card.ts'
import { stateWords, timeApproved, timeTaken } from './words.ts'

export interface HomeEntry {
  card: CardView
  link: string | undefined
}

export interface HomeContent {
  waitsForMe: HomeEntry[]
  mine: HomeEntry[]
  moving: HomeEntry[]
  /** How many there are beyond these, because they are so many. Of those that wait it is not known for whom. */
  unread: { waiting: number; mine: number; moving: number }
  now: number
}

/** A Home tab holds 100 blocks. */
const mostBlocks = 100

/** What a person sees who opens the bot's Home tab. What is to be decided is shown whole, as on its card. Pure. */
export function homeBlocks({ waitsForMe, mine, moving, unread, now }: HomeContent): KnownBlock[] {
  const blocks: KnownBlock[] = []
  addWaiting(
    blocks,
    waitsForMe.map((entry) => wholeEntry(entry)),
    unread.waiting,
  )
  add(
    blocks,
    `You asked for (${mine.length + unread.mine})`,
    mine.map((entry) => shortEntry(entry, 'mine', now)),
    'You have not asked for anything lately.',
    80,
    unread.mine,
  )
  add(
    blocks,
    `Moving now (${moving.length + unread.moving})`,
    moving.map((entry) => shortEntry(entry, 'moving', now)),
    'Nothing else is under way.',
    mostBlocks - 2,
    unread.moving,
  )
  const refreshed = mrkdwn`As of ${dateTime(now)}. It is shown anew whenever you open this tab or press one of its buttons.`
  return [...blocks, ...context([refreshed])]
}

/** Where somebody may not use the bot. Pure. */
export function refusedHome(words: Mrkdwn): KnownBlock[] {
  return [header('Lockkeeper'), ...wholeSection(words)]
}

function addWaiting(blocks: KnownBlock[], entries: KnownBlock[][], unread: number): void {
  if (unread === 0) {
    add(blocks, `Waits for you (${entries.length})`, entries, 'Nothing waits for your decision.', 60)
    return
  }
  const empty = 'Of the requests that have waited longest, none waits for your decision.'
  add(blocks, `Waits for you (at least ${entries.length})`, entries, empty, 59)
  blocks.push(...context([mrkdwn`${unread} more wait for somebody. Whether for you is looked at once fewer wait.`]))
}

/** One part of the page, with as many entries as fit below `upTo` blocks; what does not is counted, with the `unread`. */
function add(blocks: KnownBlock[], title: string, entries: KnownBlock[][], empty: string, upTo: number, unread = 0): void {
  blocks.push(header(title))
  if (entries.length === 0) blocks.push(...context([mrkdwn`${empty}`]))
  let shown = 0
  for (const entry of entries) {
    if (blocks.length + entry.length + 1 > upTo) break
    blocks.push(...entry)
    shown += 1
  }
  const left = entries.length - shown + unread
  if (left > 0) blocks.push(...context([mrkdwn`${left} more do not fit in here: see *pending* and *moves*.`]))
}

function wholeEntry({ card, link: address }: HomeEntry): KnownBlock[] {
  return [
    ...wholeSection(joinMrkdwn([mrkdwn`*${titleOf(card)}*`, link(address, 'Open the card')], '  ·  ')),
    ...cardBody(card),
    ...actions(without(card, [cardButtons.withdraw]), `home-waiting-${card.request.id}-${card.request.revision}`),
    divider(),
  ]
}

function shortEntry({ card, link: address }: HomeEntry, part: string, now: number): KnownBlock[] {
  const { request } = card
  const how = standing(card, now)
  const who = part === 'mine' ? [] : [mrkdwn`asked for by ${mention(request.origin.userId)}`]
  const line = joinMrkdwn([how, ...who, mrkdwn`in <#${request.origin.channelId}>`, link(address, 'Open the card')], '  ·  ')
  return [
    ...wholeSection(mrkdwn`*${titleOf(card)}*\n${line}`),
    ...actions(shortActions(card, part), `home-${part}-${request.id}-${request.revision}`),
  ]
}

/** One that was told as ended may be under way again: its state tells, and not when it ended. */
function standing({ request, description, handoverLabel }: CardView, now: number): Mrkdwn {
  const state = stateWords(request, description.underway)
  if (request.state === 'approved') {
    return handoverLabel
      ? mrkdwn`${state}: press *${handoverLabel}* on the card until ${dateTime(request.expiresAt)}`
      : mrkdwn`${state} ${timeApproved(request, now)} ago`
  }
  if (request.state === 'starting' || request.state === 'tracking') return mrkdwn`${state} for ${timeTaken(request, now)}`
  return mrkdwn`${state}, ${dateTime(request.endedAt ?? request.createdAt)}`
}

/**
 * Whoever asked for it does not decide it, unless the rules let them break the glass, and nobody else can withdraw it. Nothing is handed over
 * here, because a message that one person alone sees needs a channel.
 */
function shortActions(card: CardView, part: string): Button[] {
  if (part !== 'mine') return without(card, [cardButtons.handOver, cardButtons.withdraw])
  return without(card, [cardButtons.handOver, cardButtons.reject, ...(card.rule?.breakGlass ? [] : [cardButtons.approve])])
}

function without(card: CardView, buttons: string[]): Button[] {
  return cardActions(card).filter(({ action_id: id }) => !buttons.includes(id ?? ''))
}

function titleOf({ environment, description }: CardView): string {
  return `${environment ? `[${environment}] ` : ''}${description.sentence}`
}
