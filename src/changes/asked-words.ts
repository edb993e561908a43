import { type Mrkdwn, mrkdwn } from '../slack/text.ts'
import type { AskOutcome } from './ask.ts'

/** To the person who asked, once the request is recorded. Pure. */
export function askedWords(outcome: AskOutcome): Mrkdwn {
  return outcome.is === 'posted'
    ? mrkdwn`Asked for. ${whatFollows(outcome)}`
    : mrkdwn`Recorded. Slack has not confirmed the card yet; it appears in the channel as soon as it does, and ${whatHoldsIt(outcome)}.`
}

function whatFollows({ needsApproval, handoverLabel }: AskOutcome): Mrkdwn {
  if (!handoverLabel) return mrkdwn`The card is in the channel, and its thread tells how it ends.`
  const press = needsApproval ? 'Once it is approved, press' : 'Press'
  return mrkdwn`${press} *${handoverLabel}* on its card: the token is made on that click, and shown to you alone.`
}

function whatHoldsIt({ needsApproval, handoverLabel }: AskOutcome): Mrkdwn {
  if (handoverLabel) return mrkdwn`nothing is made before ${needsApproval ? 'it is approved and ' : ''}you press *${handoverLabel}* on it`
  return needsApproval ? mrkdwn`nothing happens before somebody approves it` : mrkdwn`this starts then: it needs no approval`
}
