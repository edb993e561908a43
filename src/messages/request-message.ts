import type { Button, KnownBlock } from '@slack/web-api'
import { isMachine } from '../domain/approval.ts'
import type { Description, Fact, Words } from '../domain/change.ts'
import { approvalsNeeded, type PolicyRule, toGroup } from '../domain/policy.ts'
import { type Approval, isOpen, type Request, restOf, type Waits } from '../domain/request.ts'
import { formatDuration, type Phrase, phraseText } from '../domain/text.ts'
import { actions, type ButtonParts, button, context, fields, header, message, reasonBlocks, wholeSection } from '../slack/blocks.ts'
import { fit, longestHeader } from '../slack/fit.ts'
import {
  boldPhrase,
  capitalised,
  charactersIn,
  code,
  dateTime,
  exactTime,
  joinMrkdwn,
  link,
  type Mrkdwn,
  mention,
  mostCharacters,
  mrkdwn,
  phraseWords,
  truncate,
  unlinked,
} from '../slack/text.ts'
import type { Message } from '../slack/web-api.ts'
import {
  doubtOf,
  type ItemView,
  isOne,
  isPartlyDone,
  itemBlocks,
  movedCount,
  notesOnDone,
  othersMayFinish,
  unsentOf,
  unsentWords,
} from './items.ts'
import { endingWords, isDistrusted } from './refusals.ts'
import {
  alertWords,
  approversNotListed,
  buttonValue,
  type CardButton,
  cardButtons,
  endMarks,
  type LinkedRequest,
  relatedSentences,
  relatedWords,
  retryLabel,
  ruleWords,
  shortId,
  stateWords,
  timeTakenWords,
  whoIsAsked,
  whoIsIn,
} from './words.ts'

export interface CardView {
  request: Request
  description: Description
  /** What people call the resource. Undefined if it cannot be read. */
  subject?: string | undefined
  /** Each item of a change of several. Empty for a change of a single resource. */
  items: ItemView[]
  /** What the change leaves as it is although people may expect otherwise. */
  leaves?: Phrase | undefined
  /** The checks that got no answer, each as a phrase. */
  unchecked: Mrkdwn[]
  /** What approvers should check before they approve, each as one or two sentences. */
  checks: Mrkdwn[]
  notes: Mrkdwn[]
  ending: Words
  /** False if another version of Lockkeeper wrote the request and this one cannot read its kind or state. The card then has no buttons. */
  isKnown: boolean
  /** The label of the requester's button, for a change whose result only the requester gets. */
  handoverLabel: string | undefined
  /** The sentence that a person must confirm after pressing that button. */
  handoverWarning?: string | undefined
  reverseLabel: string | undefined
  /** The request that this one undoes. */
  undoes: LinkedRequest | undefined
  /** The ended request that this one repeats. */
  repeats?: LinkedRequest | undefined
  rule: PolicyRule | undefined
  environment: string | undefined
  /** How long it takes until the last write of several is sent, in ms: all of them, or those that are left. */
  sendingMs?: number | undefined
  /** The address of the message that it was requested from, if the request message may link it. */
  fromMessage?: string | undefined
}

type Checked = Pick<CardView, 'request' | 'checks' | 'unchecked'>

/** Shows what approvers should check before they approve. */
function checkBlocks(view: Checked): KnownBlock[] {
  const { state } = view.request
  const lines = checkLines(view)
  // Later they say what the account showed then, in the present tense.
  const later = isOpen(state) ? 'Warnings' : 'Warnings at the time of the request'
  const heading = mrkdwn`:warning: *${state === 'waiting' ? 'Check first' : later}*`
  return lines.length === 0 ? [] : wholeSection(joinMrkdwn([heading, ...lines.map((line) => mrkdwn`•  ${line}`)], '\n'))
}

function checkLines({ checks, unchecked }: Checked): Mrkdwn[] {
  return [...checks, ...(unchecked.length > 0 ? [mrkdwn`Not checked: ${joinMrkdwn(unchecked, '; ')}.`] : [])]
}

/** Slack's limit for the text of a confirmation dialog. */
const mostInDialog = 300

/**
 * The dialog that Slack shows after a press on *Approve*: the change first, because it hides the message. Undefined if there is nothing to
 * confirm, unless it is shown `always`.
 */
function approveConfirmation(view: Checked & Pick<CardView, 'rule' | 'description'>, always: boolean) {
  const lines = checkLines(view)
  if (lines.length === 0 && !view.rule?.confirm && !always) return undefined
  return {
    title: 'Approve this change?',
    text: withinDialog(phraseWords(view.description.title), lines),
    confirm: 'Approve',
    deny: 'Cancel',
  }
}

/** Keeps as many lines as fit, because the dialog hides the message, which has them all. */
function withinDialog(change: Mrkdwn, lines: Mrkdwn[]): Mrkdwn {
  const left = (count: number) => mrkdwn`${lines.length - count} more to check: press Cancel and read the message.`
  const first = (count: number) =>
    joinMrkdwn([change, ...lines.slice(0, count).map(unlinked), ...(count < lines.length ? [left(count)] : [])], '\n')
  let count = lines.length
  while (count > 0 && first(count).text.length > mostInDialog) count -= 1
  return first(count)
}

/** Returns the buttons that a request has in its state. `confirmsApproval`: *Approve* always asks once more. */
export function cardActions(view: CardView, { confirmsApproval = false } = {}): Button[] {
  const { request, isKnown, ending, reverseLabel, handoverLabel } = view
  const make = (name: CardButton, text: string, more: Partial<ButtonParts> = {}) =>
    button({ text, actionId: cardButtons[name], value: buttonValue(request), ...more })

  if (!isKnown) return []
  switch (request.state) {
    case 'waiting':
      return request.needsApproval
        ? [
            make('approve', 'Approve', { style: 'primary', confirm: approveConfirmation(view, confirmsApproval) }),
            make('reject', 'Reject', { style: 'danger' }),
            // Approvers reject what an alert requested, so that they say why.
            ...(isMachine(request.origin) ? [] : [make('withdraw', 'Withdraw')]),
          ]
        : []
    case 'approved':
      return [
        ...(handoverLabel ? [make('handOver', handoverLabel, { style: 'primary', confirm: handoverConfirmation(view) })] : []),
        make('withdraw', 'Withdraw', { confirm: withdrawConfirmation(view) }),
      ]
    case 'tracking':
      return [make('stopTracking', 'Stop tracking', { confirm: stopConfirmation(view) })]
    case 'untracked':
      return [
        // Looking for a secret deletes it, and somebody may use it by now.
        ...(handoverLabel ? [] : [make('trackAgain', 'Track again', { confirm: trackAgainConfirmation(view) })]),
        make('details', 'Details'),
      ]
    case 'done':
      return [...(reverseLabel ? [make('reverse', reverseLabel)] : []), make('details', 'Details')]
    case 'failed':
      if (request.items)
        return [...retryButtons(view, make), ...(reverseLabel ? [make('reverse', reverseLabel)] : []), make('details', 'Details')]
      return [...(ending.next === undefined ? [make('again', 'Request again')] : []), make('details', 'Details')]
    case 'not-started':
    case 'superseded':
    case 'voided':
    case 'rejected':
    case 'withdrawn':
    case 'expired':
      return [...(ending.next === undefined ? [make('again', 'Request again')] : []), make('details', 'Details')]
    default:
      return []
  }
}

/** Offers to move the rest. If no item was moved, the button requests the same change again. */
function retryButtons({ items }: CardView, make: (name: CardButton, text: string) => Button): Button[] {
  if (items.every(({ state }) => state !== 'done')) return [make('again', 'Request again')]
  return restOf(items).length > 0 ? [make('retry', retryLabel)] : []
}

/** The dialog after a press that has a cost: a rotated key's old token stops working. */
function handoverConfirmation({ description, handoverLabel = '', handoverWarning }: CardView) {
  if (handoverWarning === undefined) return undefined
  const text = mrkdwn`${handoverWarning} The new one is shown once, only to you.`
  return { title: `${phraseText(description.title)}?`, text, confirm: handoverLabel, deny: 'Cancel' }
}

/** The dialog before an approval is lost. While nobody has approved, withdrawing stays one press. */
function withdrawConfirmation({ description }: CardView) {
  const text = mrkdwn`${phraseWords(description.title)}\nIt's approved, and nothing was sent to the account API yet. A new request needs a new approval.`
  return { title: 'Withdraw this request?', text, confirm: 'Withdraw', deny: 'Cancel' }
}

function stopConfirmation({ description, items }: CardView) {
  const consequence =
    unsentWords(items) === undefined
      ? "It was sent and can't be canceled. It may still finish, but no result will be posted."
      : "What was sent can't be canceled and may still finish. What wasn't sent yet won't be sent. No result will be posted."
  const text = mrkdwn`${phraseWords(description.title)}\n${consequence}`
  return { title: 'Stop tracking?', text, confirm: 'Stop tracking', deny: 'Keep tracking' }
}

/** The dialog before the tracking of an evacuation goes on, if that changes more on the account. */
function trackAgainConfirmation({ items }: CardView) {
  const unsent = unsentWords(items)
  if (unsent === undefined) return undefined
  const text = mrkdwn`${unsent} Tracking again sends ${unsentOf(items)} to the account API now.`
  return { title: `Send ${unsentOf(items)}?`, text, confirm: 'Track again', deny: 'Cancel' }
}

/** Shows how many approvals a waiting request has, and whose. Empty while one approval is enough and none was given. */
function approvalLines(view: CardView): KnownBlock[] {
  const count = countOf(view)
  if (!count) return []
  const by = view.request.approvals.map(({ by: userId, at }) => mrkdwn`${mention(userId)}, ${dateTime(at)}`)
  const who = by.length > 0 ? mrkdwn`: ${joinMrkdwn(by, '; ')}` : mrkdwn``
  return wholeSection(mrkdwn`:ballot_box_with_check: *${count}*${who}`)
}

/** `1 of 2 approvals`, as counted at the last approval. People can leave a group after they approved, so not every approval counts. */
function countOf({ request, rule }: CardView): string | undefined {
  if (request.state !== 'waiting' || !request.needsApproval) return undefined
  const needed = rule?.approve ? approvalsNeeded(rule.approve) : 1
  const { approvals, missing } = request
  if (needed === 1 && approvals.length === 0) return undefined
  return `${missing === undefined ? approvals.length : needed - missing} of ${needed} approvals`
}

function history({ request }: Pick<CardView, 'request'>, showTime = dateTime): Mrkdwn[] {
  const approvedBy = ({ by, at }: Approval) => mrkdwn`Approved by ${mention(by)}, ${showTime(at)}`
  const requested = mrkdwn`Requested by ${mention(request.origin.userId)}, ${showTime(request.createdAt)}`
  if (request.decidedAt === undefined) return [requested, ...request.approvals.map(approvedBy)]
  const decided = showTime(request.decidedAt)
  if (request.state === 'rejected')
    return [requested, ...request.approvals.map(approvedBy), mrkdwn`Rejected by ${decider(request)}, ${decided}`]
  const areSeveral = request.approvals.length > 1 && request.needsApproval && !request.decision?.breakGlass
  return [requested, ...(areSeveral ? request.approvals.map(approvedBy) : [decisionOf(request, decided)])]
}

function decisionOf({ decision, needsApproval }: Request, decided: Mrkdwn): Mrkdwn {
  if (!needsApproval || decision?.by === undefined) return mrkdwn`No approval needed`
  if (decision.breakGlass)
    return mrkdwn`:rotating_light: *Emergency approval:* approved alone by ${mention(decision.by)}, the requester, ${decided}`
  return mrkdwn`Approved by ${mention(decision.by)}, ${decided}`
}

/** `approved by @Ben and @Chi`, or that no approval was needed. A record that cannot be verified is shown without its decision. */
function approversOfRequest({ decision, approvals, needsApproval }: Request): Mrkdwn {
  if (!needsApproval) return mrkdwn`no approval needed`
  if (decision?.by === undefined) return mrkdwn`approver not verified`
  const by = approvals.length > 0 ? approvals.map((approval) => approval.by) : [decision.by]
  return mrkdwn`approved by ${whoIsIn(toGroup([...new Set(by)]))}`
}

function decider(request: Request): Mrkdwn {
  return request.decision?.by ? mention(request.decision.by) : mrkdwn`the rules`
}

/** Says in one line what happens next with a request that is not finished, and who has to act until when. */
export function statusLine({ request, description, items, rule, handoverLabel, isKnown, sendingMs = 0 }: CardView): Mrkdwn {
  const requester = mention(request.origin.userId)
  switch (request.state) {
    case 'waiting':
      if (!isKnown) return mrkdwn`${requester} needs approval, but this message has no buttons. Nobody can approve it here.`
      return request.needsApproval
        ? mrkdwn`${neededApproval(request, rule)}${cc(rule)}${sendingMs === 0 ? '' : ` Takes about ${formatDuration(sendingMs)}.`}${handoverLabel ? mrkdwn` Approval changes nothing yet: ${requester} then presses *${handoverLabel}*.` : ''}`
        : mrkdwn`${requester} requested this. No approval needed. Starting.`
    case 'approved':
      return handoverLabel
        ? mrkdwn`:white_check_mark: *Approved.* ${requester}, press *${handoverLabel}* by ${dateTime(request.expiresAt)}. The token is shown once, and nobody else sees it.`
        : mrkdwn`:white_check_mark: *Approved.* ${waitWords(request.waits)}`
    case 'starting':
      return unseenStatus(request, items) ?? mrkdwn`:arrow_forward: *Sent.* Waiting for the account API.`
    case 'tracking': {
      const unseen = unseenStatus(request, items)
      if (unseen) return unseen
      const late = request.lateAt === undefined ? progressWords(request, sendingMs) : ' Slower than usual. Still tracking.'
      const count = items.length < 2 ? mrkdwn`` : mrkdwn` *${movedCount(items)}.*`
      return mrkdwn`:arrows_counterclockwise: *${capitalised(stateWords(request, description.underway))}* since ${dateTime(request.sentAt ?? request.createdAt)}.${count}${late}`
    }
    default:
      return mrkdwn`:grey_question: *${capitalised(stateWords(request))}.*`
  }
}

/** Says when a change under way is expected to end, if that is known. */
function progressWords({ usualMs }: Request, sendingMs: number): string {
  if (sendingMs > 0) return ` The rest takes about ${formatDuration(sendingMs)}.`
  return usualMs === undefined || usualMs < 1_000 ? '' : ` Usually takes ${formatDuration(usualMs)}.`
}

/** Undefined if the account API answers. The change may have ended since, so nothing says that it is under way. */
function unseenStatus(request: Request, items: ItemView[]): Mrkdwn | undefined {
  const since = request.unansweredSince
  if (since === undefined) return undefined
  const before =
    items.length < 2 ? mrkdwn`It was sent, and may be done.` : mrkdwn`*${movedCount(items)}* before that. More may have moved since.`
  return mrkdwn`:grey_question: *Status unknown:* the account API hasn't answered since ${dateTime(since)}. ${before} Still checking.`
}

function waitWords(waits: Waits | undefined): string {
  if (waits === undefined) return 'Starting.'
  if (waits.for === 'account')
    return "Waiting for the account API, which isn't answering. Nothing has changed yet. It starts when the account API answers. To stop it, the requester or an approver can press *Withdraw*."
  if (waits.for === 'worker')
    return 'Not started yet: no worker of Lockkeeper is running. The people who run Lockkeeper were told. It starts when one runs.'
  const limit = `the account's limit of ${waits.perMinute ?? ''} ${waits.for === 'writes' ? 'changes' : 'reads'} a minute`
  return `Waits for ${limit}, about ${formatDuration(Math.max(1_000, waits.ms ?? 0))}.`
}

/**
 * `@Ada needs approval from @oncall by 6:07 AM today (4 h after the request).` The duration says what it counts from, because Slack keeps
 * showing the message as it was sent: an hour later, `4 h` alone would read as the time that is left.
 */
function neededApproval(request: Request, rule: PolicyRule | undefined): Mrkdwn {
  const { origin, createdAt, expiresAt } = request
  const requester = mention(origin.userId)
  const approvers = whoIsAsked(request, rule)
  if (!approvers)
    return mrkdwn`${requester} needs approval, but nobody can give it. No policy rule covers this anymore.${isMachine(origin) ? '' : ' Withdraw it.'}`
  return mrkdwn`${requester} needs approval from ${approvers} by ${dateTime(expiresAt)} (${formatDuration(expiresAt - createdAt)} after the request).`
}

/** Mentions the people that a rule names besides the approvers. */
function cc(rule: PolicyRule | undefined): Mrkdwn {
  const mentioned = rule?.mention ? whoIsIn(rule.mention) : mrkdwn``
  return mentioned.text === '' ? mentioned : mrkdwn` cc ${mentioned}`
}

/** Links the message or the alert that it was requested from. Not on the Home tab, which is outside of the channel. */
function sourceBlocks({ fromMessage, subject = '', request: { alert, state, origin } }: CardView): KnownBlock[] {
  const evacuate = code(`${origin.command} evacuate ${subject}`.trim())
  const words = [
    ...(fromMessage ? [mrkdwn`Requested from ${link(fromMessage, 'a message')}`] : []),
    ...(alert ? [alertWords(alert)] : []),
    ...(alert && state === 'waiting' ? [mrkdwn`The policy chose the target. For another one, reject this and run ${evacuate}.`] : []),
  ]
  return words.length > 0 ? context(words) : []
}

/** Shows the change as a heading. One that is too long for a heading is shown whole below it. */
function titleBlocks({ description, environment }: CardView): KnownBlock[] {
  const title = `${prefixOf(environment)}${phraseText(description.title)}`
  return [header(title), ...(title.length <= longestHeader ? [] : wholeSection(boldPhrase(description.title)))]
}

export function cardBody(view: CardView, status: Mrkdwn = statusLine(view)): KnownBlock[] {
  return [...wholeSection(status), ...approvalLines(view), ...contentBlocks(view), ...context([smallPrint(view)]), ...checkBlocks(view)]
}

/** Shows the facts of the request that are not in the title, and the reason. */
function contentBlocks(view: CardView): KnownBlock[] {
  const { request, description } = view
  return [
    ...relatedSentences(view).flatMap((words) => wholeSection(words)),
    ...reasonBlocks('Reason', request.reason),
    ...reasonBlocks(emergencyLabel, emergencyReason(request)),
    ...fields(description.facts.map(factField)),
    ...itemBlocks(view.items, shownItems(request)),
    ...(view.leaves ? wholeSection(phraseWords(view.leaves)) : []),
  ]
}

function shownItems(request: Request) {
  return { hasBegun: request.items !== undefined, doubt: doubtOf(request) }
}

const emergencyLabel = 'Reason for the emergency approval'

function emergencyReason({ decision }: Pick<Request, 'decision'>): string | undefined {
  return decision?.breakGlass ? decision.reason : undefined
}

/** Returns the mark of the environment before a title: `[production] `. */
export function prefixOf(environment: string | undefined): string {
  return environment ? `[${environment}] ` : ''
}

/** Shows the ids, what else approvers may want to know, who requested and approved it so far, and the short id of the request. */
function smallPrint(view: CardView): Mrkdwn {
  const { request, description, notes, rule } = view
  const people = request.state === 'waiting' ? approversNotListed(request, rule) : history(view)
  const parts = [...description.ids.map(idWords), ...notes, ...people, mrkdwn`Request ${code(shortId(request))}`]
  return joinMrkdwn(parts, '  ·  ')
}

function idWords({ label, value, detail }: Fact): Mrkdwn {
  return detail ? mrkdwn`${label} ${code(value)} (its own address ${code(detail)})` : mrkdwn`${label} ${code(value)}`
}

function factField({ label, value, detail, isPerson }: Fact): Mrkdwn {
  const shown = isPerson ? mention(value) : code(value)
  return detail ? mrkdwn`*${label}*\n${shown}\n${detail}` : mrkdwn`*${label}*\n${shown}`
}

/** `Requested by @Ada, approved by @Ben  ·  2:13 PM  ·  took 43 s  ·  Request b7e23ec2  ·  Undoes request 80fbcd61` */
function whoAndWhen({ request, ...related }: Pick<CardView, 'request' | 'undoes' | 'repeats'>): Mrkdwn {
  const took = request.state === 'done' || request.state === 'failed' ? timeTakenWords(request) : undefined
  const parts = [
    who(request),
    when(request),
    ...(took === undefined ? [] : [mrkdwn`${took}`]),
    mrkdwn`Request ${code(shortId(request))}`,
    ...relatedWords(related),
  ]
  return joinMrkdwn(parts, '  ·  ')
}

function who(request: Request): Mrkdwn {
  const { state, decision, decidedAt, withdrawnBy } = request
  const requester = mention(request.origin.userId)
  if (state === 'withdrawn') {
    const isOwn = !isMachine(request.origin) && (withdrawnBy ?? request.origin.userId) === request.origin.userId
    const requested = mrkdwn`Requested${isOwn ? ' and withdrawn' : ''} by ${requester}`
    const approved = decidedAt === undefined ? [] : [approversOfRequest(request)]
    const withdrawn = isOwn || withdrawnBy === undefined ? [] : [mrkdwn`withdrawn by ${mention(withdrawnBy)}`]
    return joinMrkdwn([requested, ...approved, ...withdrawn], ', ')
  }
  if (state === 'rejected') return mrkdwn`Requested by ${requester}, rejected by ${decider(request)}`
  if (decision?.breakGlass) return mrkdwn`:rotating_light: *Emergency approval:* requested and approved by ${requester} alone`
  if (decidedAt === undefined) return mrkdwn`Requested by ${requester}`
  return mrkdwn`Requested by ${requester}, ${approversOfRequest(request)}`
}

function when({ state, endedAt, createdAt, expiresAt, decidedAt, stoppedBy }: Request): Mrkdwn {
  if (state === 'expired' && decidedAt === undefined) return mrkdwn`no decision by ${dateTime(expiresAt)}`
  const ended = dateTime(endedAt ?? createdAt)
  return state === 'untracked' && stoppedBy !== undefined ? mrkdwn`stopped by ${mention(stoppedBy)}, ${ended}` : ended
}

export function isFinished({ request }: Pick<CardView, 'request'>): boolean {
  return Object.hasOwn(endMarks, request.state)
}

/** Renders a finished request in two lines: what happened to what, and who requested and decided it, when, and how long it took. */
function finishedBlocks(view: CardView): KnownBlock[] {
  const left = notMoved(view)
  return [
    ...wholeSection(whatHappened(view)),
    ...itemBlocks(left, { hasBegun: true, doubt: doubtOf(view.request) }),
    ...rejectionBlocks(view.request),
    ...context([whoAndWhen(view)]),
    ...reasonLines(view.request).flatMap((line) => context([line])),
  ]
}

/** The items that are not done, of a request that was sent. Why a single one is not done follows the title. */
function notMoved({ request, items }: CardView): ItemView[] {
  return request.items === undefined || isOne(items) ? [] : items.filter(({ state }) => state !== 'done')
}

/** `:large_green_circle: *Done*  ·  Move 203.0.113.10: web-1 → web-2` */
function whatHappened(view: CardView): Mrkdwn {
  const { description, environment } = view
  const { mark, name } = endOf(view)
  const title = mrkdwn`${mark} *${name}*  ·  ${prefixOf(environment)}${phraseWords(description.title)}`
  const more = consequence(view)
  return more.text === '' ? title : mrkdwn`${title}. ${more}`
}

function endOf(view: CardView): { mark: string; name: string } {
  const { request, items } = view
  if (request.state === 'failed' && isPartlyDone(items)) return { mark: endMarks.partly, name: 'Partly done' }
  // Something keeps a change that is done from being of use, such as a server that is off.
  const isOfUse = request.state !== 'done' || notesOf(view).text === ''
  return { mark: isOfUse ? endMarks[request.state as keyof typeof endMarks] : ':warning:', name: capitalised(stateWords(request)) }
}

function notesOf({ request, items, ending }: CardView): Mrkdwn {
  return request.items === undefined ? endingWords(ending) : notesOnDone(items)
}

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

/** Details show the requester's reason as well, so that of a rejection has another name. */
function rejectionBlocks({ state, decision }: Request): KnownBlock[] {
  return state === 'rejected' ? reasonBlocks('Rejected because', decision?.reason) : []
}

/** The most of a reason that the small print shows. The details show it whole. */
const mostOfReason = 150

function reasonLines(request: Request): Mrkdwn[] {
  const line = (label: string, text: string | undefined) => (text ? [mrkdwn`${label}: ${code(truncate(text, mostOfReason, 'plain'))}`] : [])
  // The reason of a rejection stands above.
  const label = request.state === 'rejected' ? 'Requested because' : 'Reason'
  return [...line(label, request.reason), ...line(emergencyLabel, emergencyReason(request))]
}

export function requestDetails(view: CardView): Message {
  return message(detailsBlocks(view))
}

function detailsBlocks(view: CardView): KnownBlock[] {
  const { request } = view
  return [
    ...(isFinished(view) ? wholeSection(whatHappened(view)) : [...titleBlocks(view), ...wholeSection(statusLine(view))]),
    ...rejectionBlocks(request),
    ...contentBlocks(view),
    ...checkBlocks(view),
    ...wholeSection(joinMrkdwn(timeline(view), '\n')),
    ...context([smallPrintDetails(view)]),
    ...sourceBlocks(view),
  ]
}

function timeline({ request }: CardView): Mrkdwn[] {
  const isSeveral = (request.items ?? []).length > 1
  const { sentAt, lateAt, endedAt, stoppedBy, pauses, state, unansweredSince } = request
  const events = [
    { time: sentAt, what: 'Sent to the account API' },
    { time: acceptedAtOf(request), what: isSeveral ? 'First accepted by the account API' : 'Accepted by the account API' },
    { time: lateAt, what: 'Reported as late' },
    { time: unansweredSince, what: 'The account API stopped answering' },
    ...pauses.flatMap((pause) => [
      { time: pause.stoppedAt, what: by('Tracking stopped', pause.stoppedBy) },
      { time: pause.resumedAt, what: by('Tracked again', pause.resumedBy) },
    ]),
    ...(state === 'rejected' ? [] : [{ time: endedAt, what: state === 'untracked' ? by('Tracking stopped', stoppedBy) : 'Ended' }]),
  ]
  const known = events.flatMap(({ time, what }) => (time === undefined ? [] : [{ time, what }]))
  const inOrder = known.toSorted((one, other) => one.time - other.time)
  return [...history({ request }, exactTime), ...inOrder.map(({ time, what }) => mrkdwn`${what}, ${exactTime(time)}`)]
}

/** Returns when the account API accepted the first write. A request with items is tracked before that. */
function acceptedAtOf({ acceptedAt, items }: Request): number | undefined {
  if (!items) return acceptedAt
  const times = items.flatMap((item) => item.acceptedAt ?? [])
  return times.length > 0 ? Math.min(...times) : undefined
}

function by(what: string, userId: string | undefined): Mrkdwn {
  return userId === undefined ? mrkdwn`${what}` : mrkdwn`${what} by ${mention(userId)}`
}

function smallPrintDetails({ request, description, notes }: CardView): Mrkdwn {
  const rules = [request.rule, ...(request.otherRules ?? []).map(({ name }) => name)]
  const by = mrkdwn`By ${joinMrkdwn(rules.map(ruleWords), ' and ')}`
  return joinMrkdwn([...description.ids.map(idWords), ...notes, by, mrkdwn`Request ${code(request.id)}`], '  ·  ')
}

/**
 * Renders the card of a request from its record, anew for every change. While the request is open, the card shows all of it, because
 * approvers approve what they see. Once it is finished, two lines are left, and the button *Details* shows the rest.
 */
export function approvalCard(view: CardView): Message {
  return message(cardBlocks(view), isFinished(view) ? [] : checkBlocks(view))
}

function cardBlocks(view: CardView): KnownBlock[] {
  const { request } = view
  // Slack keeps what was entered in a block whose id stays, so each revision has another id.
  const buttons = actions(cardActions(view), `card-${request.id}-${request.revision}`)
  return [...(isFinished(view) ? finishedBlocks(view) : [...titleBlocks(view), ...cardBody(view), ...sourceBlocks(view)]), ...buttons]
}

/** Returns whether one message can show the whole request, now and in every later state. A request that does not fit is refused. */
export function fitsOnCard(view: CardView): boolean {
  return [cardBlocks(view), detailsBlocks(view)].every(
    (blocks) => blocks.length <= mostBlocks - laterBlocks && charactersIn(fit(blocks)) <= mostCharacters - laterCharacters,
  )
}

const mostBlocks = 50

/** Blocks that later states add: the approvals, and the reason of a decision. */
const laterBlocks = 3

/** Characters that later states add: approvals, the outcome, and a reason of 500 characters, each up to five once escaped. */
const laterCharacters = 5_000
