import { escalationOf } from '../domain/policy.ts'
import { holdOf, isHeld, type Request, type Waits } from '../domain/request.ts'
import { formatDuration } from '../domain/text.ts'
import { longestAheadMs } from '../domain/times.ts'
import { alertReminderAfter } from '../record/store.ts'
import { capitalised, dateTime, dayAndTime, type Mrkdwn, mention, mrkdwn } from '../slack/text.ts'
import { type ItemView, movedCount, progress } from './items.ts'
import type { CardView } from './request-content.ts'
import { heldBriefly, heldWords, requestedStart, stateWords, whoIsAsked, whoIsIn } from './request-words.ts'

export function statusLine(view: CardView): Mrkdwn {
  const { request, description, items, rule, handover, isKnown, held, sendingMs = 0 } = view
  const requester = mention(request.origin.userId)
  switch (request.state) {
    case 'waiting': {
      if (!isKnown) return mrkdwn`${requester} needs approval, but another version of Lockkeeper made this. Nobody can approve it here.`
      if (!request.needsApproval) return mrkdwn`${requester} requested this. No approval needed. ${held ? heldWords(held) : 'Starting.'}`
      const cc = rule?.mention && !request.isQuiet ? whoIsIn(rule.mention) : mrkdwn``
      // What must be confirmed after the press is among what to check first, which names the button.
      const late = tooLateWords(view)
      const then = handover && handover.warning === undefined && !late ? mrkdwn` ${requester} then presses *${handover.label}*.` : ''
      return mrkdwn`${neededApproval(view)}${held && held.for !== 'start' ? mrkdwn` ${late ? mrkdwn`${late}.` : heldWords(held)}` : ''}${cc.text === '' ? '' : mrkdwn` cc ${cc}`}${quietWords(view)}${escalationWords(view)}${sendingMs === 0 ? '' : ` Takes about ${formatDuration(sendingMs)}.`}${then}${startLine(view)}`
    }
    case 'approved': {
      const hold = holdShown(view)
      const late = tooLateWords(view)
      if (held && late) return mrkdwn`:white_check_mark: *Approved.* ${late}.${keptWords(view, held, true)}`
      return handover
        ? mrkdwn`:white_check_mark: *Approved.* ${held ? mrkdwn`${heldWords(held)} Then, ` : ''}${requester}, press *${handover.label}*${pressBy(view)}. Only you see the token, once.${held ? soonerWords(rule, held) : ''}`
        : mrkdwn`:white_check_mark: *Approved.* ${hold ? mrkdwn`${heldWords(hold)}${keptWords(view, hold)}${requestedStart(hold, request.start)}` : waitWords(request.waits)}${resolvedWords(request)}`
    }
    case 'starting':
    case 'tracking': {
      if (request.unansweredSince !== undefined) return unseenStatus(items, request.unansweredSince)
      if (request.state === 'starting') return mrkdwn`:arrow_forward: *Sent.* Waiting for the account API.`
      const usually = request.usualMs === undefined || request.usualMs < 1_000 ? '' : ` Usually takes ${formatDuration(request.usualMs)}.`
      const expected = sendingMs > 0 ? ` The rest takes about ${formatDuration(sendingMs)}.` : usually
      const late = request.slowAt === undefined ? expected : ' Slower than usual.'
      const unsent = heldItemsWords(request)
      const count = items.length === 0 ? mrkdwn`` : mrkdwn`\n${progress(items)}`
      return mrkdwn`:arrows_counterclockwise: *${capitalised(stateWords(request, description.underway))}* since ${dateTime(request.sentAt ?? request.createdAt)}.${unsent ?? late}${resolvedWords(request)}${count}`
    }
    default:
      return mrkdwn`:grey_question: *${capitalised(stateWords(request))}.*`
  }
}

const resolvedWords = ({ alertResolved }: Request): string => (alertResolved ? ' The alert resolved.' : '')

/** What holds an approved request. Until a worker has judged its start, what this process knows of freezes and windows. */
export function holdShown({ request, held }: CardView): Waits | undefined {
  return (request.waits ? undefined : held) ?? holdOf(request)
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
  if (waits.for === 'worker') return "Waiting: no worker is running. Lockkeeper's operators were notified."
  const limit = `${waits.perMinute ?? ''} ${waits.for === 'writes' ? 'changes' : 'reads'} a minute`
  return `Starts in about ${formatDuration(Math.max(1_000, waits.ms ?? 0))}: the account allows ${limit}.`
}

function neededApproval(view: CardView): Mrkdwn {
  const { request, rule } = view
  const requester = mention(request.origin.userId)
  const approvers = whoIsAsked(request, rule)
  return approvers
    ? mrkdwn`${requester} needs approval from ${approvers} by ${deadlineWords(view)}${rule?.confirmBy ? `, with a ${rule.confirmBy}` : ''}.`
    : mrkdwn`${requester} needs approval, but no policy rule covers this anymore. Lockkeeper's operators can add one.`
}

/** Until when a button can be pressed. What holds it without an end moves that. */
export function pressBy({ request, held }: CardView): Mrkdwn {
  return held && held.until === undefined ? mrkdwn`` : mrkdwn` by ${dateTime(request.expiresAt)}`
}

/** What holds it until its key has ended, without the full stop. Undefined if it can be pressed before. */
export function tooLateWords({ handover, held, keeps }: CardView): Mrkdwn | undefined {
  const tooLateAt = handover?.tooLateAt ?? keeps?.until
  if (tooLateAt === undefined || held?.until === undefined || held.until < tooLateAt) return undefined
  return mrkdwn`${heldWords(held)} Too late: the key ${keeps ? 'is kept only until' : 'ends'} ${dayAndTime(tooLateAt)}`
}

/** What keeps a key that ends while something holds the extension, and how it can start sooner. Who withdraws it after the end lets the key be deleted. */
function keptWords({ keeps, rule, request: { decidedAt, createdAt } }: CardView, hold: Waits, isTooLate = false): Mrkdwn {
  const sooner = soonerWords(rule, hold)
  // It is held for no longer than that.
  const last = (decidedAt ?? createdAt) + longestAheadMs
  if (!keeps || Math.min(hold.until ?? last, last) <= keeps.endsAt) return mrkdwn`${sooner}`
  const kept = isTooLate ? '' : mrkdwn` It keeps the key meanwhile, until ${dayAndTime(Math.min(keeps.until, last))} at most.`
  const caution = sooner === '' ? '' : ' Not once the key is past its end: that deletes it.'
  return mrkdwn`${kept}${sooner}${caution}`
}

/** Until when it can be approved. A window or a freeze may hold it longer. */
export function deadlineWords({ request: { start, expiresAt } }: CardView): Mrkdwn {
  return start === undefined ? dateTime(expiresAt) : dayAndTime(expiresAt)
}

/** The approvers are called by the first reminder, or by an escalation before it. */
function quietWords({ request: { isQuiet, reminded, escalated, createdAt, ttlMs }, rule }: CardView): Mrkdwn {
  if (!isQuiet || reminded > 0 || escalated) return mrkdwn``
  const { afterMs = Number.POSITIVE_INFINITY } = (rule?.approve && escalationOf(rule.approve)) ?? {}
  const calledAt = createdAt + Math.min(alertReminderAfter(ttlMs), afterMs)
  return mrkdwn` Its alert keeps firing and resolving, so nobody is mentioned before ${dateTime(calledAt)}.`
}

/** When an alert's request calls the next people, without a mention of them. Empty if nobody else is called. */
function escalationWords({ request: { alert, createdAt, escalated, expiresAt }, rule }: CardView): Mrkdwn {
  const next = alert && rule?.approve && !escalated ? escalationOf(rule.approve) : undefined
  return next && createdAt + next.afterMs < expiresAt ? mrkdwn` Escalates at ${dateTime(createdAt + next.afterMs)}.` : mrkdwn``
}

/** Its approval counts, so nobody can give another one. Empty where the rule has no emergency approvals. */
export function soonerWords(rule: CardView['rule'], { for: what, mayStartNow }: Waits): string {
  if (what === 'start' || mayStartNow) return ''
  if (rule?.emergency) return " Can't wait? *Withdraw*, then *Request again* for an emergency approval."
  return rule?.breakGlass ? " Can't wait? *Withdraw*. An approver can then *Request again*, and approve it alone." : ''
}

/** On a line of its own: when it starts, or when it was to start although something else holds it. Empty without a start. */
export function startLine({ held, request: { start } }: CardView): Mrkdwn {
  if (!held) return mrkdwn``
  return held.for === 'start' ? mrkdwn`\n*${heldWords(held)}*` : requestedStart(held, start)
}
