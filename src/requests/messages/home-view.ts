import type { Button, KnownBlock } from '@slack/web-api'
import { actions, context, divider, header, wholeSection } from '../../slack/blocks/blocks.ts'
import { dateTime, joinMrkdwn, link, type Mrkdwn, mention, mrkdwn } from '../../slack/text/text.ts'
import { cardButtons } from './buttons.ts'
import { cardActions } from './card/card-actions.ts'
import type { CardView } from './card/card-view.ts'
import { cardBody } from './card/open-card.ts'
import { stateWords, timeApproved, timeTaken } from './words.ts'

export interface HomeEntry {
  card: CardView
  link: string | undefined
}

export interface HomeContent {
  waitsForMe: HomeEntry[]
  mine: HomeEntry[]
  underway: HomeEntry[]
  /** How many further requests were not read. It is not checked whom the waiting ones among them need. */
  unread: { waiting: number; mine: number; underway: number }
  now: number
}

/** The most blocks that a Home tab can have. */
const mostBlocks = 100

/** Renders the Home tab of a person. Requests that wait for their decision are shown whole, as on their cards. */
export function homeBlocks({ waitsForMe, mine, underway, unread, now }: HomeContent): KnownBlock[] {
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
    `Moving now (${underway.length + unread.underway})`,
    underway.map((entry) => shortEntry(entry, 'underway', now)),
    'Nothing else is under way.',
    mostBlocks - 2,
    unread.underway,
  )
  const refreshed = mrkdwn`As of ${dateTime(now)}. It is shown anew whenever you open this tab or press one of its buttons.`
  return [...blocks, ...context([refreshed])]
}

/** Renders the Home tab of a person who may not use Lockkeeper. */
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

/** Adds one part of the page, up to `upTo` blocks in all. Counts the entries that do not fit, and the `unread` ones. */
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
  const how = stateLine(card, now)
  const who = part === 'mine' ? [] : [mrkdwn`asked for by ${mention(request.origin.userId)}`]
  const line = joinMrkdwn([how, ...who, mrkdwn`in <#${request.origin.channelId}>`, link(address, 'Open the card')], '  ·  ')
  return [
    ...wholeSection(mrkdwn`*${titleOf(card)}*\n${line}`),
    ...actions(shortActions(card, part), `home-${part}-${request.id}-${request.revision}`),
  ]
}

/** Says the state of a request, and since when. A request that ended can be under way again, so only the state decides. */
function stateLine({ request, description, handoverLabel }: CardView, now: number): Mrkdwn {
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
 * Leaves out buttons that the viewer cannot use: requesters decide nothing unless the rule allows break-glass, and only they can withdraw.
 * A token is shown in an ephemeral message, which needs a channel, so no button hands over here.
 */
function shortActions(card: CardView, part: string): Button[] {
  if (part !== 'mine') return without(card, [cardButtons.handOver, cardButtons.withdraw])
  return without(card, [cardButtons.handOver, cardButtons.reject, ...(card.rule?.breakGlass ? [] : [cardButtons.approve])])
}

function without(card: CardView, buttons: string[]): Button[] {
  return cardActions(card).filter(({ action_id: id }) => ![cardButtons.details, ...buttons].includes(id ?? ''))
}

function titleOf({ environment, description }: CardView): string {
  return `${environment ? `[${environment}] ` : ''}${description.sentence}`
}
