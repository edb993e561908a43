import type { Button, KnownBlock } from '@slack/web-api'
import { isMachine } from '../domain/approval.ts'
import type { Description, Fact, Left, Words } from '../domain/change.ts'
import { approvalsNeeded, type PolicyRule, toGroup } from '../domain/policy.ts'
import { holdOf, isHeld, type Request, restOf, type Waits } from '../domain/request.ts'
import { cleanText, formatDuration, type Phrase, phraseText } from '../domain/text.ts'
import { actions, type ButtonParts, button, context, header, message, reasonBlocks, wholeSection } from '../slack/blocks.ts'
import { fit, longestHeader } from '../slack/fit.ts'
import {
  boldPhrase,
  capitalised,
  charactersIn,
  code,
  dateTime,
  dayAndTime,
  exactTime,
  joinMrkdwn,
  link,
  type Mrkdwn,
  mention,
  mostCharacters,
  mrkdwn,
  nameWords,
  outsideLink,
  ownWords,
  phraseWords,
  truncate,
  unlinked,
} from '../slack/text.ts'
import type { Message } from '../slack/web-api.ts'
import { buttonValue, type CardButton, cardButtons, retryLabel } from './button-ids.ts'
import { type ItemView, isPartlyDone, itemBlocks, movedCount, notesOnDone, progress, unsentWords } from './items.ts'
import { endingWords, isDistrusted } from './refusals.ts'
import {
  alertWords,
  approvedBy,
  emergenciesIn,
  emergencyReason,
  endMarks,
  heldBriefly,
  heldWords,
  type LinkedRequest,
  pastWords,
  relatedWords,
  ruleWords,
  shortId,
  stateWords,
  timeTakenWords,
  whoIsAsked,
  whoIsIn,
} from './request-words.ts'

/** What the messages about a request are made from: its message, details, reports, and the Home tab. */
export interface CardView {
  request: Request
  /** False if another version of Lockkeeper wrote the request and this one cannot read its kind or state, or if it cannot be verified. The card then has no buttons. */
  isKnown: boolean
  description: Description
  /** Each item of a change of several. Empty for a change of a single resource. */
  items: ItemView[]
  /** What the change leaves as it is although people may expect otherwise. */
  leaves?: Left | undefined
  /** The checks that got no answer, each as a phrase. */
  unchecked: Mrkdwn[]
  /** What approvers should check before they approve, each as one or two sentences. */
  checks: Mrkdwn[]
  notes: Mrkdwn[]
  ending: Words
  done: Phrase
  /** An unexpected fact about the account at the write, which did not prevent it. */
  remark?: string | undefined
  /** The requester's button of a change whose result only the requester gets, and what they must confirm after a press. */
  handover?: { label: string; warning?: string | undefined } | undefined
  reverseLabel?: string | undefined
  undoes?: LinkedRequest | undefined
  repeats?: LinkedRequest | undefined
  rule: PolicyRule | undefined
  environment: string | undefined
  /** What would keep it from starting, if it were approved now or its requester started it now. */
  held?: Waits | undefined
  /** How long it takes until the last write of several is sent, in ms: all of them, or those that are left. */
  sendingMs?: number | undefined
  /** The address of the message that it was requested from, if the request message may link it. */
  fromMessage?: string | undefined
}

function checkBlocks(view: CardView): KnownBlock[] {
  const lines = checkLines(view)
  // Later they say what the account showed then, in the present tense.
  const heading = mrkdwn`:warning: *${view.request.state === 'waiting' ? 'Check first' : 'Warnings at the time of the request'}*`
  return lines.length === 0 ? [] : wholeSection(joinMrkdwn([heading, ...lines.map((line) => mrkdwn`•  ${line}`)], '\n'))
}

/** Once it is approved, they are in its details. */
function checksToApprove(view: CardView): KnownBlock[] {
  return view.request.state === 'waiting' ? checkBlocks(view) : []
}

function checkLines({ checks, unchecked }: CardView): Mrkdwn[] {
  return unchecked.length > 0 ? [...checks, mrkdwn`Not checked: ${joinMrkdwn(unchecked, '; ')}.`] : checks
}

const mostInDialog = 300

function confirmation(title: string, text: Mrkdwn, confirm: string, deny = 'Cancel') {
  return { title, text, confirm, deny }
}

/** The change first, because the dialog hides the message. Undefined if there is nothing to confirm, unless it is shown `always`. */
function approveConfirmation(view: CardView, always: boolean) {
  const lines = checkLines(view).map(unlinked)
  const count = view.items.length
  if (lines.length === 0 && !view.rule?.confirm && !always && count <= mostAbove) return undefined
  const change = phraseWords(view.description.title)
  const all = joinMrkdwn([change, ...lines], '\n')
  const short = mrkdwn`${change}\n${lines.length} to check: press Cancel and read the message.`
  return confirmation(
    count > mostAbove ? `Approve ${count} moves?` : 'Approve this change?',
    lines.length > 0 && all.text.length > mostInDialog ? short : all,
    'Approve',
  )
}

export function cardActions(view: CardView, { confirmsApproval = false } = {}): Button[] {
  const { request, description, items, isKnown, ending, reverseLabel, handover } = view
  const make = (name: CardButton, text: string, more: Partial<ButtonParts> = {}) =>
    button({ text, actionId: cardButtons[name], value: buttonValue(request), ...more })
  const title = phraseWords(description.title)
  const reverse = reverseLabel ? [make('reverse', reverseLabel)] : []
  const details = make('details', 'Details')

  if (!isKnown) return []
  switch (request.state) {
    case 'waiting':
      return request.needsApproval
        ? [
            make('approve', 'Approve', { style: 'primary', confirm: approveConfirmation(view, confirmsApproval) }),
            make('reject', 'Reject', { style: 'danger' }),
            // Approvers reject what an alert requested, so that they say why.
            ...(isMachine(request.origin) ? [] : [make('withdraw', 'Withdraw')]),
            details,
          ]
        : [details]
    case 'approved': {
      const hold = holdOf(request)
      const lost = mrkdwn`${title}\nNothing was sent yet.`
      return [
        ...(handover ? [make('handOver', handover.label, { style: 'primary', confirm: handoverConfirmation(view) })] : []),
        ...(hold?.for === 'start' ? [make('startNow', 'Start now', { confirm: startNowConfirmation(view, hold) })] : []),
        make('withdraw', 'Withdraw', { confirm: confirmation('Withdraw this request?', lost, 'Withdraw') }),
        details,
      ]
    }
    case 'tracking': {
      const unsent = unsentWords(items) === undefined ? '' : ' The rest is not sent.'
      const text = mrkdwn`${title}\nWhat was sent may still finish.${unsent} No result will be posted.`
      return [
        make('stopTracking', 'Stop tracking', { confirm: confirmation('Stop tracking?', text, 'Stop tracking', 'Keep tracking') }),
        details,
      ]
    }
    case 'untracked':
      return [
        // Looking for a secret deletes it, and somebody may use it by now.
        ...(handover ? [] : [make('trackAgain', 'Track again', { confirm: trackAgainConfirmation(view) })]),
        details,
      ]
    case 'done':
      return [...reverse, details]
    case 'failed':
      // If no item was moved, the same change can be requested again.
      if (request.items && items.some(({ state }) => state === 'done'))
        return [...(restOf(items).length > 0 ? [make('retry', retryLabel)] : []), ...reverse, details]
      break
    case 'starting':
    case 'unknown':
      return [details]
  }
  return [...(ending.next === undefined ? [make('again', 'Request again')] : []), details]
}

function startNowConfirmation({ description }: CardView, hold: Waits) {
  const text = mrkdwn`${phraseWords(description.title)}\n${heldWords(hold)}`
  return confirmation('Start now?', text, 'Start now')
}

function handoverConfirmation({ description, handover }: CardView) {
  if (handover?.warning === undefined) return undefined
  const text = mrkdwn`${handover.warning} Only you see the new one, once.`
  return confirmation(`${phraseText(description.title)}?`, text, handover.label)
}

/** The dialog before the tracking of an evacuation goes on, if that changes more on the account. */
function trackAgainConfirmation({ items }: CardView) {
  const unsent = unsentWords(items)
  if (unsent === undefined) return undefined
  const text = mrkdwn`${unsent} This sends the rest now.`
  return confirmation('Send the rest?', text, 'Track again')
}

/** As counted at the last approval, because people can leave a group. Empty while one approval is enough and none was given. */
function approvalLines({ request, rule }: CardView): KnownBlock[] {
  const { approvals, missing, needsApproval, state } = request
  const needed = rule?.approve ? approvalsNeeded(rule.approve) : 1
  if (state !== 'waiting' || !needsApproval || (needed === 1 && approvals.length === 0)) return []
  const by = approvals.map(
    ({ by: userId, at, emergency, passed }) =>
      mrkdwn`${mention(userId)}, ${dateTime(at)}${emergency ? mrkdwn` (:rotating_light: emergency${pastWords(passed)})` : ''}`,
  )
  const count = `${missing === undefined ? approvals.length : needed - missing} of ${needed} approvals`
  return wholeSection(mrkdwn`:ballot_box_with_check: *${count}*${by.length > 0 ? mrkdwn`: ${joinMrkdwn(by, '; ')}` : ''}`)
}

export function statusLine(view: CardView): Mrkdwn {
  const { request, description, items, rule, handover, isKnown, held, sendingMs = 0 } = view
  const requester = mention(request.origin.userId)
  switch (request.state) {
    case 'waiting': {
      if (!isKnown) return mrkdwn`${requester} needs approval, but another version of Lockkeeper made this. Nobody can approve it here.`
      if (!request.needsApproval) return mrkdwn`${requester} requested this. No approval needed. Starting.`
      const cc = rule?.mention && !request.isQuiet ? whoIsIn(rule.mention) : mrkdwn``
      // What must be confirmed after the press is among what to check first, which names the button.
      const then = handover && handover.warning === undefined ? mrkdwn` ${requester} then presses *${handover.label}*.` : ''
      return mrkdwn`${neededApproval(view)}${held && (held.for !== 'start' || held.name) ? mrkdwn` ${heldWords(held)}` : ''}${cc.text === '' ? '' : mrkdwn` cc ${cc}`}${sendingMs === 0 ? '' : ` Takes about ${formatDuration(sendingMs)}.`}${then}`
    }
    case 'approved': {
      const hold = holdOf(request)
      return handover
        ? mrkdwn`:white_check_mark: *Approved.* ${requester}, press *${handover.label}* by ${dateTime(request.expiresAt)}.${held ? mrkdwn` ${heldWords(held)}` : ''} Only you see the token, once.`
        : mrkdwn`:white_check_mark: *Approved.* ${hold ? heldWords(hold) : waitWords(request.waits)}`
    }
    case 'starting':
    case 'tracking': {
      if (request.unansweredSince !== undefined) return unseenStatus(items, request.unansweredSince)
      if (request.state === 'starting') return mrkdwn`:arrow_forward: *Sent.* Waiting for the account API.`
      const usually = request.usualMs === undefined || request.usualMs < 1_000 ? '' : ` Usually takes ${formatDuration(request.usualMs)}.`
      const expected = sendingMs > 0 ? ` The rest takes about ${formatDuration(sendingMs)}.` : usually
      const late = request.lateAt === undefined ? expected : ' Slower than usual.'
      const unsent = heldItemsWords(request)
      const count = items.length === 0 ? mrkdwn`` : mrkdwn`\n${progress(items)}`
      return mrkdwn`:arrows_counterclockwise: *${capitalised(stateWords(request, description.underway))}* since ${dateTime(request.sentAt ?? request.createdAt)}.${unsent ?? late}${count}`
    }
    default:
      return mrkdwn`:grey_question: *${capitalised(stateWords(request))}.*`
  }
}

/** What holds one of its items holds all that were not sent. */
function heldItemsWords({ items = [] }: Request): Mrkdwn | undefined {
  const unsent = items.filter(({ state }) => state === 'waiting')
  const waits = unsent.find(isHeld)?.waits
  return waits && mrkdwn` ${unsent.length} not sent yet: ${heldBriefly(waits)}.`
}

/** While the account API does not answer, the change may have ended, so nothing says that it is under way. */
function unseenStatus(items: ItemView[], since: number): Mrkdwn {
  const before =
    items.length === 0 ? mrkdwn`It was sent, and may be done.` : mrkdwn`*${movedCount(items)}* before that. More may have moved since.`
  return mrkdwn`:grey_question: *Status unknown:* the account API hasn't answered since ${dateTime(since)}. ${before} Still checking.`
}

function waitWords(waits: Waits | undefined): string {
  if (waits === undefined) return 'Starting.'
  if (waits.for === 'account') return "Waiting for the account API, which isn't answering. Nothing has changed."
  if (waits.for === 'worker') return "Waiting: no worker is running. Lockkeeper's operators were told."
  const limit = `${waits.perMinute ?? ''} ${waits.for === 'writes' ? 'changes' : 'reads'} a minute`
  return `Starts in about ${formatDuration(Math.max(1_000, waits.ms ?? 0))}: the account allows ${limit}.`
}

/** Until when it can be approved. A window or a freeze may hold it longer. */
export function deadlineWords({ request: { start, expiresAt }, held }: CardView): Mrkdwn {
  if (start === undefined) return dateTime(expiresAt)
  return mrkdwn`${dayAndTime(expiresAt)}${held?.for === 'start' ? ', when it starts' : ''}`
}

function neededApproval(view: CardView): Mrkdwn {
  const { request, rule } = view
  const requester = mention(request.origin.userId)
  const approvers = whoIsAsked(request, rule)
  return approvers
    ? mrkdwn`${requester} needs approval from ${approvers} by ${deadlineWords(view)}.`
    : mrkdwn`${requester} needs approval, but no policy rule covers this anymore.`
}

/** Links the message, the alert or the job that it was requested from. Not on the Home tab, which is outside of the channel. */
function sourceBlocks({ fromMessage, request: { alert, link: given } }: CardView): KnownBlock[] {
  const outside = outsideLink(given, 'open it')
  const words = [
    ...(fromMessage ? [mrkdwn`Requested from ${link(fromMessage, 'a message')}`] : []),
    ...(alert ? [mrkdwn`${alertWords(alert)}`] : []),
    ...(outside ? [mrkdwn`Unchecked link: ${outside}`] : []),
  ]
  return words.length > 0 ? context(words) : []
}

/** While it waits, what an alert requested begins with the alert's own words, as it is the news. They are untrusted, and plain text. */
function titleBlocks(view: CardView): KnownBlock[] {
  const { description, environment, request } = view
  const news = isNews(view) ? `🚨 ${newsOf(request)}. ${phraseText(description.short ?? description.title)}?` : undefined
  const title = `${prefixOf(environment)}${news ?? phraseText(description.title)}`
  return [header(title), ...(title.length <= longestHeader ? [] : wholeSection(boldPhrase(description.title)))]
}

function isNews({ request: { alert, state } }: CardView): boolean {
  return alert !== undefined && state === 'waiting'
}

const mostOfNews = 70

/** A title shows no links. */
function isInNews({ reason = '' }: Request): boolean {
  return reason.length <= mostOfNews && !reason.includes('://')
}

/** A time span in the words of an alert: `for 2 minutes`, `5m0s`. */
const spanInWords = /\b\d+ ?(?:[smhd]|sec|min|seconds?|minutes?|hours?|days?)(?![a-z])/i

/** `web-1 is down (NodeDown, 2 min)`, or `NodeDown on web-1 (2 min)` for an alert without a summary. */
function newsOf({ alert: { name, startsAt = Number.POSITIVE_INFINITY } = { name: '' }, reason = name, createdAt }: Request): string {
  const short = (text: string, max: number) => truncate(cleanText(text, { oneLine: true }), max, 'plain')
  const ms = createdAt - startsAt
  const since = ms < 60_000 || spanInWords.test(reason) ? [] : [formatDuration(Math.floor(ms / 60_000) * 60_000)]
  const facts = [...(reason.startsWith(name) ? [] : [short(name, 30)]), ...since].join(', ')
  return `${short(reason, mostOfNews).replace(/[.!?]+$/, '')}${facts === '' ? '' : ` (${facts})`}`
}

/** The most items above the buttons, so that a phone shows the buttons without scrolling. Those of more stand below. */
const mostAbove = 5

/** What people need before they press a button. */
export function cardBody(view: CardView, status: Mrkdwn = statusLine(view)): KnownBlock[] {
  return [
    ...wholeSection(status),
    ...approvalLines(view),
    ...contentBlocks(view),
    ...itemBlocks(view.items, view.request, mostAbove),
    ...checksToApprove(view),
  ]
}

/** What stands below the buttons: all of many items, or the rest of those that were sent, what stays as it is, and small print. */
export function cardRest(view: CardView): KnownBlock[] {
  const { items, request } = view
  const people = request.state === 'waiting' ? [] : [who(request)]
  const small = joinMrkdwn([...people, code(shortId(request)), ...view.notes], '  ·  ')
  const below = items.length <= mostAbove ? [] : request.items ? items.slice(mostAbove) : items
  return [...itemBlocks(below, request), ...leftBlocks(view), ...context([small])]
}

function contentBlocks(view: CardView): KnownBlock[] {
  const { request, description } = view
  return [
    ...relatedWords(view).flatMap((words) => wholeSection(mrkdwn`${words}.`)),
    ...(isNews(view) && isInNews(request) ? [] : reasonBlocks('Reason', request.reason, view.rule?.reason)),
    ...reasonBlocks('Emergency reason', emergencyReason(request), view.rule?.reason),
    ...factBlocks(description.facts),
  ]
}

function leftBlocks({ leaves }: CardView): KnownBlock[] {
  return leaves ? wholeSection(phraseWords(leaves.words)) : []
}

export function prefixOf(environment: string | undefined): string {
  return environment ? `[${environment}] ` : ''
}

function idsAnd({ description, notes }: CardView, more: Mrkdwn[]): Mrkdwn {
  const ids = description.ids.map(({ label, value }) => mrkdwn`${label} ${code(value)}`)
  return joinMrkdwn([...ids, ...notes, ...more], '  ·  ')
}

function factBlocks(facts: Fact[]): KnownBlock[] {
  return facts.length === 0 ? [] : wholeSection(joinMrkdwn(facts.map(factWords), '  ·  '))
}

function factWords({ label, value, isPerson }: Fact): Mrkdwn {
  const words = typeof value !== 'string' ? phraseWords(value) : isPerson ? mention(value) : nameWords(value)
  return label === '' ? words : mrkdwn`${label} ${words}`
}

function who(request: Request): Mrkdwn {
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

export function isFinished({ request }: Pick<CardView, 'request'>): boolean {
  return Object.hasOwn(endMarks, request.state)
}

function finishedBlocks(view: CardView): KnownBlock[] {
  return [...wholeSection(whatHappened(view)), ...rejectionBlocks(view), ...context([whoAndWhen(view)])]
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
    who(request),
    state === 'untracked' && stoppedBy !== undefined ? mrkdwn`stopped by ${mention(stoppedBy)}, ${ended}` : ended,
    ...(took === undefined ? [] : [mrkdwn`${took}`]),
    code(shortId(request)),
    ...relatedWords(related),
  ]
  return joinMrkdwn(parts, '  ·  ')
}

/** `:large_green_circle: *Done*  ·  Move 203.0.113.10: web-1 → web-2` */
function whatHappened(view: CardView): Mrkdwn {
  const { mark, name, consequence } = outcomeOf(view)
  const { title: whole, short } = view.description
  const title = mrkdwn`${mark} *${name}*  ·  ${prefixOf(view.environment)}${phraseWords((isCounted(view.request) && short) || whole)}`
  return consequence.text === '' ? title : mrkdwn`${title}. ${consequence}`
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
  return { mark, name: isMissed(request) ? 'Missed' : capitalised(stateWords(request)), notes, consequence }
}

/** Whether it was approved, and its time was over before it could start. */
function isMissed({ state, causes }: Request): boolean {
  return state === 'not-started' && causes.some(({ code }) => missed.includes(code))
}

const missed = ['approved-too-long-ago', 'account-unread', 'limit-used-up', 'rights-unknown']

function isCounted({ items, state }: Request): boolean {
  return items !== undefined && (state === 'done' || state === 'failed')
}

function consequenceOf({ request, items, ending, leaves }: CardView, notes: Mrkdwn): Mrkdwn {
  const why = endingWords(ending)
  if (isCounted(request)) {
    const count = [movedCount(items), ...(leaves ? [leaves.brief] : [])].join(', ')
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

/** Details show the requester's reason as well, so that of a rejection has another name. */
function rejectionBlocks({ request: { state, decision }, rule }: CardView): KnownBlock[] {
  return state === 'rejected' ? reasonBlocks('Rejected because', decision?.reason, rule?.reason) : []
}

export function requestDetails(view: CardView): Message {
  return message(detailsBlocks(view))
}

function detailsBlocks(view: CardView): KnownBlock[] {
  const { request } = view
  const rules = [request.rule, ...(request.otherRules ?? []).map(({ name }) => name)].map(ruleWords)
  return [
    ...(isFinished(view) ? wholeSection(whatHappened(view)) : [...titleBlocks(view), ...wholeSection(statusLine(view))]),
    ...rejectionBlocks(view),
    ...contentBlocks(view),
    ...itemBlocks(view.items, request),
    ...leftBlocks(view),
    ...checkBlocks(view),
    ...wholeSection(joinMrkdwn(timeline(view), '\n')),
    ...context([idsAnd(view, [joinMrkdwn(rules, ' and '), code(request.id)])]),
    ...sourceBlocks(view),
  ]
}

function timeline(view: CardView): Mrkdwn[] {
  const { request } = view
  const { decision, decidedAt, sentAt, lateAt, endedAt, state, unansweredSince, start, startNow } = request
  const events = [
    { time: request.createdAt, what: by('Requested', request.origin.userId) },
    ...request.approvals.map((approval) => ({ time: approval.at, what: by('Approved', approval.by) })),
    ...(request.approvals.some((approval) => approval.by === decision?.by) ? [] : [{ time: decidedAt, what: decisionWords(request) }]),
    { time: start, what: 'Scheduled start' },
    { time: startNow?.at, what: by('Started now', startNow?.by) },
    { time: sentAt, what: 'Sent' },
    // A request with items is tracked before its writes are accepted.
    { time: request.items ? undefined : request.acceptedAt, what: 'Accepted' },
    { time: lateAt, what: 'Late' },
    { time: unansweredSince, what: 'The account API stopped answering' },
    ...(state === 'rejected' ? [] : [{ time: endedAt, what: endWords(view) }]),
  ]
  const known = events.flatMap(({ time, what }) => (time === undefined ? [] : [{ time, what }])).toSorted((a, b) => a.time - b.time)
  return known.map(({ time, what }) => mrkdwn`${exactTime(time)}  ${what}`)
}

function endWords(view: CardView): Mrkdwn {
  const { state, stoppedBy, withdrawnBy } = view.request
  return state === 'untracked' ? by('Tracking stopped', stoppedBy) : by(outcomeOf(view).name, withdrawnBy)
}

function decisionWords({ state, decision, needsApproval }: Request): string | Mrkdwn {
  if (state === 'rejected') return by('Rejected', decision?.by)
  if (!needsApproval) return 'No approval needed'
  if (!decision?.breakGlass) return by('Approved', decision?.by)
  return mrkdwn`${by(':rotating_light: *Emergency approval:* approved alone', decision.by)}${pastWords(decision.passed)}`
}

function by(what: string, userId: string | undefined): Mrkdwn {
  return userId === undefined ? mrkdwn`${ownWords(what)}` : mrkdwn`${ownWords(what)} by ${mention(userId)}`
}

/** All of an open request, because approvers approve what they see. Once it is finished, two lines are left, and *Details* shows the rest. */
export function approvalCard(view: CardView): Message {
  return message(cardBlocks(view), checksToApprove(view))
}

function cardBlocks(view: CardView): KnownBlock[] {
  const { request, items } = view
  // Slack keeps what was entered in a block whose id stays, so each revision has another id.
  const buttons = actions(cardActions(view), `card-${request.id}-${request.revision}`)
  if (!isFinished(view)) return [...titleBlocks(view), ...cardBody(view), ...buttons, ...cardRest(view), ...sourceBlocks(view)]
  const notDone = request.items ? items.filter(({ state }) => state !== 'done') : []
  return [...finishedBlocks(view), ...buttons, ...itemBlocks(notDone, request)]
}

/** Whether 50 blocks can show it in every later state. Those add three blocks, and 5,000 characters: the outcome, and a reason (escaped). */
export function fitsOnCard(view: CardView): boolean {
  return [cardBlocks(view), detailsBlocks(view)].every(
    (blocks) => blocks.length <= 50 - 3 && charactersIn(fit(blocks)) <= mostCharacters - 5_000,
  )
}
