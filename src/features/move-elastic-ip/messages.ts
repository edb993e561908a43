import { wrongUsage } from '../../slack/commands/help/help.ts'
import { didYouMean, type WholeCommand, wholeCommand } from '../../slack/commands/help/whole-command.ts'
import { truncate } from '../../slack/text/cut-text.ts'
import { code, type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'

/** Says how the command is used. `rest` are the words that are too many, after `args`. */
export function usage(name: string, args: string[], rest: string[]): Mrkdwn {
  const words = mrkdwn`Usage: ${code(`${name} ip move <elastic ip> <server>`)}, or leave the server out to open a form. Put names with spaces in quotes.`
  return wrongUsage(name, words, rest, { words: 'ip move', args })
}

/** Refuses a command with several Elastic IPs. */
export function oneAtATime(name: string): Mrkdwn {
  return mrkdwn`Nothing was requested. One request moves one Elastic IP. Send a command for each, or move all Elastic IPs of a server with ${code(`${name} evacuate`)}.`
}

type Corrected = Pick<WholeCommand, 'args' | 'reason'>

/** Says that the server was typed first. `meant`: the command with both in their order. */
export function swapped(name: string, meant: Corrected): Mrkdwn {
  return mrkdwn`Nothing was requested. The Elastic IP comes first, then the server. ${didYouMean(name, [{ words: 'ip move', ...meant }])}`
}

interface Elsewhere {
  address: string
  /** Where the person thinks it is. */
  from: string
  /** The server that the account shows. */
  on: string
}

/** Says that the Elastic IP is not on the server after `from`. `meant`: the command with the server that it is on. */
export function elsewhere({ address, from, on }: Elsewhere, name: string, meant: Corrected): Mrkdwn {
  const whole = wholeCommand(name, { words: 'ip move', ...meant })
  return mrkdwn`Nothing was requested. ${isElsewhere({ address, from, on })} To move it from there: ${whole}`
}

export function isElsewhere({ address, from, on }: Elsewhere): Mrkdwn {
  return mrkdwn`${code(address)} is on ${code(on)}, not on ${code(truncate(from, 80, 'plain'))}.`
}
