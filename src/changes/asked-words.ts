import { type Mrkdwn, mrkdwn } from '../slack/text.ts'
import type { AskOutcome } from './ask.ts'

/** To the person who asked, once the request is recorded. Pure. */
export function askedWords(outcome: AskOutcome): Mrkdwn {
  return outcome.is === 'posted'
    ? mrkdwn`Asked for. The card is in the channel, and its thread tells how it ends.`
    : mrkdwn`Recorded. Slack has not confirmed the card yet; it appears in the channel as soon as it does, and nothing happens before somebody approves it.`
}
