import { longestReason } from '../../domain/reason.ts'
import type { Request } from '../../domain/request.ts'
import { channelMention, joinMrkdwn, link, type Mrkdwn, mention, mrkdwn } from '../../slack/text/text.ts'
import { stateWords } from './words.ts'

/** `card-delayed`: the request is recorded, and Slack has not confirmed its card yet. */
export interface SubmitOutcome {
  is: 'posted' | 'card-delayed'
  requestId: string
  needsApproval: boolean
  /** The label of the requester's button, for a change whose result only the requester gets. */
  handoverLabel: string | undefined
}

/** Says to the requester that the request is recorded, and what follows. */
export function submittedWords(outcome: SubmitOutcome): Mrkdwn {
  return outcome.is === 'posted'
    ? mrkdwn`Asked for. ${whatFollows(outcome)}`
    : mrkdwn`Recorded. Slack has not confirmed the card yet; it appears in the channel as soon as it does, and ${whatHoldsIt(outcome)}.`
}

/** Says to a person that they have as many undecided requests as one may have. */
export function tooManyUndecided(most: number): Mrkdwn {
  const many = most === 1 ? 'a request that waits' : `${most} requests that wait`
  return mrkdwn`Nothing was asked for: you have ${many} for approval, and nobody may have more. Withdraw one, or wait until one is decided. Your Home tab shows them.`
}

/** Says that another request for the same resource is open. The viewer can be its requester. */
export function otherIsOpen(holder: Request, { viewerId, link: address }: { viewerId: string; link: string | undefined }): Mrkdwn {
  const { userId, channelId } = holder.origin
  const isOwn = userId === viewerId
  const who = isOwn ? mrkdwn`You have` : mrkdwn`${mention(userId)} has`
  const where = address === undefined ? [] : [mrkdwn`${link(address, 'Open it')}.`]
  const then = isOwn ? 'Wait until it ends, or withdraw it.' : 'Wait until it ends, or have it withdrawn or rejected.'
  const what = mrkdwn`${who} an open request for this (${stateWords(holder)}) in ${channelMention(channelId)}.`
  return joinMrkdwn([what, ...where, mrkdwn`${then} Nothing was requested.`], ' ')
}

export const otherWasOpen: Mrkdwn = mrkdwn`Another request for this was open until now. Nothing was requested: try again.`

export function tooLongReason(length: number): Mrkdwn {
  return mrkdwn`A reason has up to ${longestReason} characters, and this one has ${length}. Nothing was requested.`
}

function whatFollows({ needsApproval, handoverLabel }: SubmitOutcome): Mrkdwn {
  if (!handoverLabel) return mrkdwn`The card is in the channel, and its thread tells how it ends.`
  const press = needsApproval ? 'Once it is approved, press' : 'Press'
  return mrkdwn`${press} *${handoverLabel}* on its card: the token is made on that click, and shown to you alone.`
}

function whatHoldsIt({ needsApproval, handoverLabel }: SubmitOutcome): Mrkdwn {
  if (handoverLabel) return mrkdwn`nothing is made before ${needsApproval ? 'it is approved and ' : ''}you press *${handoverLabel}* on it`
  return needsApproval ? mrkdwn`nothing happens before somebody approves it` : mrkdwn`this starts then: it needs no approval`
}
