import type { AskOutcome } from '../../changes/ask.ts'
import { code, type Mrkdwn, mrkdwn } from '../../slack/text.ts'

export function usage(name: string): Mrkdwn {
  return mrkdwn`A move needs an Elastic IP and a server: ${code(`${name} ip move <elastic ip> <server>`)}, for example ${code(`${name} ip move 203.0.113.10 web-2`)}. Put names with spaces in quotes. ${code(`${name} ip move`)} alone opens a form.`
}

export function askedWords(outcome: AskOutcome): Mrkdwn {
  return outcome.is === 'posted'
    ? mrkdwn`Asked for. The card is in the channel, and its thread tells how it ends.`
    : mrkdwn`Recorded. Slack has not confirmed the card yet; it appears in the channel as soon as it does, and nothing happens before somebody approves it.`
}
