import { longestReason } from '../../../domain/policy/reason.ts'
import type { Request } from '../../../domain/request/request.ts'
import { type Phrase, withoutOwner } from '../../../domain/text/phrase.ts'
import { phraseWords } from '../../../slack/text/phrase-words.ts'
import { channelMention, code, dateTime, joinMrkdwn, link, type Mrkdwn, mention, mrkdwn } from '../../../slack/text/text.ts'
import { stateWords } from '../words.ts'

/** `card-delayed`: the request is recorded, and Slack has not confirmed its message yet. */
export interface SubmitOutcome {
  is: 'posted' | 'card-delayed'
  requestId: string
  /** What it changes. */
  title: Mrkdwn
  /** Where its message is posted. */
  channelId: string
  /** Who is asked for approval, and until when. Undefined if no approval is needed. */
  asked: { approvers: Mrkdwn; until: Mrkdwn } | undefined
  /** The label of the requester's button, for a change whose result only the requester gets. */
  handoverLabel: string | undefined
}

/** Says to the requester that the request is recorded, and what follows. */
export function submittedWords(outcome: SubmitOutcome): Mrkdwn {
  return outcome.is === 'posted'
    ? mrkdwn`Request posted in ${channelMention(outcome.channelId)}: “${outcome.title}”. ${whatFollows(outcome)}`
    : mrkdwn`Request recorded: “${outcome.title}”. Slack hasn't confirmed its message yet. It will appear in the channel. ${whatHoldsIt(outcome)}`
}

/** Says to a person that they have as many undecided requests as one may have. */
export function tooManyUndecided(most: number): Mrkdwn {
  const many = most === 1 ? '1 request' : `${most} requests`
  return mrkdwn`Nothing was requested. You already have ${many} waiting for approval, which is the limit. Withdraw one, or wait for a decision. Your Home tab shows them.`
}

/** Says to a person that they made as many requests in 10 minutes as one may make. `retryAt` is in ms since 1970. */
export function tooManyLately(most: number, retryAt: number): Mrkdwn {
  const minute = Math.ceil(retryAt / 60_000) * 60_000
  return mrkdwn`Nothing was requested. You made ${most} requests in the last 10 minutes, which is the limit. Try again at ${dateTime(minute)}.`
}

interface OpenRequest {
  viewerId: string
  /** What people call the resource that both requests change. */
  subject: string
  link: string | undefined
  /** What the open request changes. */
  title: Phrase
}

/** Says that another request for the same resource is open. It can be a request for another change, and its requester can be the viewer. */
export function otherIsOpen(holder: Request, { viewerId, subject, link: address, title }: OpenRequest): Mrkdwn {
  const { userId, channelId } = holder.origin
  const isOwn = userId === viewerId
  const who = isOwn ? mrkdwn`you have` : mrkdwn`${mention(userId)} has`
  const where = address === undefined ? [] : [mrkdwn`${link(address, 'Open it')}.`]
  const then = isOwn
    ? 'Wait until it ends, or withdraw it.'
    : holder.state === 'waiting'
      ? 'Have it approved or rejected there, or wait until it ends.'
      : 'Wait until it ends.'
  const requested = phraseWords(withoutOwner(title, userId))
  const what = mrkdwn`Nothing was requested, because ${who} an open request for ${code(subject)} in ${channelMention(channelId)}: “${requested}” (${stateWords(holder)}).`
  return joinMrkdwn([what, ...where, mrkdwn`${then}`], ' ')
}

/** Says which items other open requests hold, for a request of several. `holds`: the names of the items. */
export function othersAreOpen(held: { holder: Request; link: string | undefined; holds: string[] }[], viewerId: string): Mrkdwn {
  const lines = held.map(({ holder, link: address, holds }) => {
    const { userId, channelId } = holder.origin
    const who = userId === viewerId ? mrkdwn`your request` : mrkdwn`a request of ${mention(userId)}`
    const where = address === undefined ? channelMention(channelId) : link(address, 'open it')
    return mrkdwn`•  ${joinMrkdwn(holds.map(code), ', ')}: ${who} (${stateWords(holder)}), ${where}`
  })
  const before = mrkdwn`Nothing was requested, because other requests are open for some of these addresses:`
  return joinMrkdwn(
    [
      before,
      ...lines,
      mrkdwn`Wait until these requests end, or have them withdrawn or rejected. To leave these addresses out, name only the server: the form opens.`,
    ],
    '\n',
  )
}

export const otherWasOpen: Mrkdwn = mrkdwn`Another request for this was open until now. Nothing was requested. Try again.`

export function tooLongReason(length: number): Mrkdwn {
  return mrkdwn`A reason can have up to ${longestReason} characters. This one has ${length}.`
}

/** Only the requester reads this, so the mentions in it notify nobody. */
function whatFollows({ asked, handoverLabel }: SubmitOutcome): Mrkdwn {
  const handover =
    handoverLabel && mrkdwn`press *${handoverLabel}* on the request message. Only then is the token created, and only you see it.`
  if (!asked) return handover ? mrkdwn`No approval needed: ${handover}` : mrkdwn`No approval needed. The result will be in its thread.`
  return mrkdwn`It needs approval from ${asked.approvers} by ${asked.until}. ${handover ? mrkdwn`After that, ${handover}` : "Nothing changes until it's approved."}`
}

function whatHoldsIt({ asked, handoverLabel }: SubmitOutcome): Mrkdwn {
  const needsApproval = asked !== undefined
  if (handoverLabel) return mrkdwn`Nothing is created until ${needsApproval ? "it's approved and " : ''}you press *${handoverLabel}* on it.`
  return needsApproval ? mrkdwn`Nothing happens until it's approved.` : mrkdwn`It starts then. No approval needed.`
}
