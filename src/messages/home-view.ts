import type { Button, KnownBlock } from '@slack/web-api'
import { isOpen, scheduleOf } from '../domain/request.ts'
import { actions, button, context, divider, header, wholeSection } from '../slack/blocks.ts'
import { capitalised, code, dateTime, joinMrkdwn, link, type Mrkdwn, mention, mrkdwn, ownWords, phraseWords } from '../slack/text.ts'
import { cardButtons, listedBlock, moreOnHome, refreshHome } from './button-ids.ts'
import { stateWithCount } from './items.ts'
import { alertLines, type CardView, newsBlocks, prefixOf } from './request-content.ts'
import { cardActions, cardBody, cardRest } from './request-message.ts'
import { deadlineWords, startLine, statusLine } from './request-status.ts'
import { approvedSoFar, heldBriefly, heldWords, whoIsAsked } from './request-words.ts'
import { unreadableRequests } from './why-not.ts'

export interface HomeEntry {
  card: CardView
  link: string | undefined
}

export interface HomeContent {
  frozen: KnownBlock[]
  /** In the order of the tab, with those that were decided since it was opened. */
  waitsForMe: HomeEntry[]
  /** The ids of those that do not wait for the viewer any more. */
  decided: ReadonlySet<string>
  mine: HomeEntry[]
  /** How many more ended requests of the viewer *Show more* shows. */
  more: number
  underway: HomeEntry[]
  /** What is approved and waits for its start, a window or a freeze, of everybody. The next one first. */
  scheduled: HomeEntry[]
  /** What abilities add below the requests. */
  sections: HomeSection[]
  viewerId: string
  /** The name of the slash command. */
  command: string
  /** The ids of the viewer's requests that the viewer may approve alone, in an emergency. */
  approvableAlone: ReadonlySet<string>
  /** The ids of the requests in progress whose tracking the viewer may stop. */
  stoppable: ReadonlySet<string>
  /** How many further requests were not read, so it is unknown who can approve the waiting ones among them. */
  unread: { waiting: number; mine: number; underway: number; scheduled: number }
  /** How many requests are left out because this version cannot read them. */
  unreadable: number
  buttons: Button[]
  now: number
}

/** `rest`: the command that shows what does not fit. */
export interface HomeSection {
  title: string
  entries: KnownBlock[][]
  rest: string
}

interface Part {
  title: string
  entries: KnownBlock[][]
  /** How many blocks the page may have after this part. It has at most 100. */
  upTo: number
  /** How many further entries exist that were not read. */
  unread?: number
  /** The command that shows what does not fit. */
  rest: string
}

const shortParts = [
  { part: 'mine', title: 'Your requests', upTo: 76, rest: 'audit me' },
  { part: 'underway', title: 'In progress', upTo: 88, rest: 'moves' },
  { part: 'scheduled', title: 'Scheduled or held', upTo: 98, rest: 'pending' },
] as const

export function homeBlocks(content: HomeContent): KnownBlock[] {
  const { frozen, waitsForMe, decided, viewerId, more, sections, unread, unreadable, buttons, now } = content
  const refresh = button({ text: 'Refresh', actionId: refreshHome, value: 'refresh' })
  const asTyped = (words: string) => `${content.command} ${words}`
  const blocks: KnownBlock[] = [...frozen]
  const waiting = waitsForMe.filter(({ card }) => !decided.has(card.request.id)).length
  const title = `Needs your approval (${unread.waiting > 0 ? 'at least ' : ''}${waiting})`
  add(blocks, { title, entries: waitsForMe.map((entry) => wholeEntry(entry, viewerId, decided)), upTo: 58, rest: asTyped('pending') })
  if (unread.waiting > 0) blocks.push(...context([mrkdwn`${unread.waiting} more need approval. Not all were checked.`]))
  blocks.push(...actions([...buttons, refresh], `home-actions-${now}`))
  // Some blocks are kept for what abilities add.
  const added = sections.filter(({ entries }) => entries.length > 0)
  const most = 98 - 6 * added.length
  for (const { part, title, upTo, rest } of shortParts) {
    const entries = content[part].map((entry) => shortEntry(entry, part, content))
    const count = entries.length + unread[part] + (part === 'mine' ? more : 0)
    add(blocks, { title: `${title} (${count})`, entries, upTo: Math.min(upTo, most), unread: unread[part], rest: asTyped(rest) })
    if (part === 'mine' && more > 0)
      blocks.push(...actions([button({ text: 'Show more', actionId: moreOnHome, value: 'more' })], `home-more-${now}`))
  }
  for (const { title, entries, rest } of added) add(blocks, { title, entries, upTo: 98, rest: asTyped(rest) })
  if (blocks.length === frozen.length + 1) blocks.push(...wholeSection(mrkdwn`Nothing needs your approval, and you have no requests.`))
  return [...blocks, ...context([...unreadableRequests(unreadable), mrkdwn`Updated ${dateTime(now)}`])]
}

export function refusedHome(words: Mrkdwn): KnownBlock[] {
  return [header('Lockkeeper'), ...wholeSection(words)]
}

function add(blocks: KnownBlock[], { title, entries, upTo, unread = 0, rest }: Part): void {
  if (entries.length + unread === 0) return
  blocks.push(header(title))
  let shown = 0
  for (const entry of entries) {
    if (blocks.length + entry.length + 1 > upTo) break
    blocks.push(...entry)
    shown += 1
  }
  const left = entries.length - shown + unread
  if (left > 0) blocks.push(...context([mrkdwn`${left} more: ${code(rest)}`]))
}

/** A decided request is as high as before, so that the buttons of the next one do not move to where its buttons were. */
export function wholeEntry({ card, link: address }: HomeEntry, viewerId: string, decided: ReadonlySet<string> = new Set()): KnownBlock[] {
  const { id, revision, state, approvals } = card.request
  // What they approved is here only if their approval no longer counts.
  const isAgain = !decided.has(id) && approvals.some(({ by }) => by === viewerId)
  const again = isAgain ? mrkdwn`\n*Needs your approval again${card.rule?.confirmBy ? `, with a ${card.rule.confirmBy}` : ''}.*` : ''
  const title = wholeSection(mrkdwn`${joinMrkdwn([titleOf(card), link(address, 'Open')], '  ·  ')}${again}`)
  if (!decided.has(id)) {
    const buttons = actions(without(card, [cardButtons.withdraw]), `${listedBlock}waiting-${id}-${revision}`)
    return [...title, ...newsBlocks(card), ...cardBody(card), ...buttons, ...cardRest(card), divider()]
  }
  return [
    ...title,
    ...cardBody(card, isOpen(state) ? statusLine(card) : ownWords(capitalised(stateLine(card, 'mine').text))),
    ...context([mrkdwn`Stays here until *Refresh*.`]),
    ...cardRest(card),
    divider(),
  ]
}

type Viewer = Pick<HomeContent, 'approvableAlone' | 'viewerId'> & Partial<Pick<HomeContent, 'stoppable'>>

export function shortEntry(entry: HomeEntry, part: string, content: Viewer): KnownBlock[] {
  const { id, revision } = entry.card.request
  return [
    ...wholeSection(entryWords(entry, part)),
    ...actions(shortActions(entry.card, content), `${listedBlock}${part}-${id}-${revision}`),
  ]
}

/** How a request stands. `part`: `mine` for one of the viewer. */
export function entryWords({ card, link: address }: HomeEntry, part: string): Mrkdwn {
  const { request } = card
  const how = ownWords(capitalised(stateLine(card, part).text))
  const who = part === 'mine' ? [] : [mrkdwn`by ${mention(request.origin.userId)}`]
  const line = joinMrkdwn([...who, mrkdwn`<#${request.origin.channelId}>`, link(address, 'Open')], '  ·  ')
  return joinMrkdwn([how, titleOf(card), ...alertLines(card), line], '\n')
}

/** Names times and no durations, because the page stays as it was published. An ended request can be under way again, so the state decides. */
function stateLine(card: CardView, part: string): Mrkdwn {
  const { request, description, handover, rule, held } = card
  const state = stateWithCount(request, description.underway)
  if (request.state === 'waiting' && request.needsApproval) {
    const approvers = whoIsAsked(request, rule)
    return mrkdwn`needs approval${approvedSoFar(request, rule)}${approvers ? mrkdwn` from ${approvers}` : ''} by ${deadlineWords(card)}${held && held.for !== 'start' ? mrkdwn`\n${heldWords(held)}` : ''}${startLine(card)}`
  }
  const schedule = scheduleOf(request)
  // A freeze that was lifted is in its record until a worker has judged it, which none does for a press.
  const hold = handover || schedule?.for === 'freeze' ? held : schedule
  if (hold) return heldBriefly(hold)
  if (request.state === 'approved') {
    if (!handover) return mrkdwn`${state}, ${request.waits && !schedule ? 'not sent yet' : 'starting'}`
    const who = part === 'mine' ? 'press' : 'the requester can press'
    return mrkdwn`${state}: ${who} *${handover.label}* by ${dateTime(request.expiresAt)}`
  }
  if (request.state === 'starting' || request.state === 'tracking') {
    const { unansweredSince, items, sentAt = request.createdAt } = request
    return mrkdwn`${state}${items && unansweredSince === undefined ? ',' : ''} since ${dateTime(unansweredSince ?? sentAt)}`
  }
  return request.endedAt === undefined ? mrkdwn`${state}` : mrkdwn`${state}, ${dateTime(request.endedAt)}`
}

/** Without what the viewer cannot use. A token is shown in an ephemeral message, which needs a channel, so no button hands over here. */
function shortActions(card: CardView, { approvableAlone, stoppable, viewerId }: Viewer): Button[] {
  const { id, origin } = card.request
  const { handOver, withdraw, startNow, reject, approve, details, stopTracking } = cardButtons
  const unusable =
    origin.userId === viewerId
      ? [reject, ...(approvableAlone.has(id) ? [] : [approve])]
      : [withdraw, reject, approve, ...(stoppable?.has(id) ? [] : [stopTracking])]
  return without(card, [handOver, startNow, details, ...unusable], { isAlone: true })
}

function without(card: CardView, buttons: string[], options: { isAlone?: boolean } = {}): Button[] {
  // The next request can have moved to where the pointer is.
  return cardActions(card, { inList: true, ...options }).filter(({ action_id: id }) => !buttons.includes(id ?? ''))
}

function titleOf({ environment, description }: CardView): Mrkdwn {
  return mrkdwn`*${prefixOf(environment)}${phraseWords(description.title)}*`
}
