import { notUnderstood } from '../../slack/commands/help/help.ts'
import { code, joinMrkdwn, type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'

/** Says how the command is used. `rest` are the words that are too many. */
export function usage(name: string, rest: string[]): Mrkdwn {
  const words = mrkdwn`Usage: ${code(`${name} ip move <elastic ip> <server>`)}, or leave one out for a form. Put names with spaces in quotes.`
  return joinMrkdwn([...notUnderstood(rest), words], ' ')
}

/** Says that the server was typed first. `asMeant`: the whole command with both in their order. */
export function swapped(asMeant: string): Mrkdwn {
  return mrkdwn`The Elastic IP comes first, then the server. Nothing was requested. Did you mean ${code(asMeant)}?`
}
