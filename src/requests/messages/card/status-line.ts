import { isMachine } from '../../../domain/approval/origin.ts'
import type { PolicyRule } from '../../../domain/policy/policy.ts'
import type { Request, Waits } from '../../../domain/request/request.ts'
import { unansweredSince } from '../../../domain/request/unanswered.ts'
import { formatDuration } from '../../../domain/text/duration.ts'
import { capitalised } from '../../../slack/text/capitalised.ts'
import { dateTime, type Mrkdwn, mention, mrkdwn } from '../../../slack/text/text.ts'
import { whoIsAsked, whoIsIn } from '../approvers.ts'
import type { ItemView } from '../items/item-view.ts'
import { movedCount } from '../items/items.ts'
import { stateWords } from '../words.ts'
import type { CardView } from './card-view.ts'

/** Says in one line what happens next with a request that is not finished, and who has to act until when. */
export function statusLine({ request, description, items, rule, handoverLabel, isKnown, sendingMs = 0 }: CardView): Mrkdwn {
  const requester = mention(request.origin.userId)
  switch (request.state) {
    case 'waiting':
      if (!isKnown) return mrkdwn`${requester} needs approval, but this message has no buttons. Nobody can approve it here.`
      return request.needsApproval
        ? mrkdwn`${neededApproval(request, rule)}${cc(rule)}${takesWords(sendingMs)}${handoverLabel ? mrkdwn` Approval changes nothing yet: ${requester} then presses *${handoverLabel}*.` : ''}`
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

/** Says before the approval how long the writes of a bundle take. */
function takesWords(sendingMs: number): string {
  return sendingMs === 0 ? '' : ` Takes about ${formatDuration(sendingMs)}.`
}

/** Says when a change under way is expected to end, if that is known. */
function progressWords({ usualMs }: Request, sendingMs: number): string {
  if (sendingMs > 0) return ` The rest takes about ${formatDuration(sendingMs)}.`
  return usualMs === undefined || usualMs < 1_000 ? '' : ` Usually takes ${formatDuration(usualMs)}.`
}

/** Undefined if the account API answers. The change may have ended since, so nothing says that it is under way. */
function unseenStatus(request: Request, items: ItemView[]): Mrkdwn | undefined {
  const since = unansweredSince(request)
  if (since === undefined) return undefined
  const before =
    items.length < 2 ? mrkdwn`It was sent, and may be done.` : mrkdwn`*${movedCount(items)}* before that. More may have moved since.`
  return mrkdwn`:grey_question: *Status unknown:* the account API hasn't answered since ${dateTime(since)}. ${before} Still checking.`
}

/** Says what an approved request waits for. */
function waitWords(waits: Waits | undefined): string {
  if (waits === undefined) return 'Starting.'
  if (waits.for === 'account') return waitsForAccount
  if (waits.for === 'worker')
    return 'Not started yet: no worker of Lockkeeper is running. The people who run Lockkeeper were told. It starts when one runs.'
  const limit = `the account's limit of ${waits.perMinute ?? ''} ${waits.for === 'writes' ? 'changes' : 'reads'} a minute`
  return `Waits for ${limit}, about ${formatDuration(Math.max(1_000, waits.ms ?? 0))}.`
}

const waitsForAccount =
  "Waiting for the account API, which isn't answering. Nothing has changed yet. It starts when the account API answers. To stop it, the requester or an approver can press *Withdraw*."

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
