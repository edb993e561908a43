import { type EvacuationFacts, mostEvacuated } from '../../domain/evacuation/evacuation.ts'
import { wrongUsage } from '../../slack/commands/help/help.ts'
import { code, type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'

/** `14 Elastic IPs` */
export function addressCount(count: number): string {
  return count === 1 ? '1 Elastic IP' : `${count} Elastic IPs`
}

/** Says how the command is used. `rest` are the words that are too many, after `args`. */
export function usage(name: string, args: string[], rest: string[]): Mrkdwn {
  const words = mrkdwn`Usage: ${code(`${name} evacuate <server> <target>`)}, or leave the target out to open a form. Put names with spaces in quotes.`
  return wrongUsage(name, words, rest, { words: 'evacuate', args })
}

/** Refuses a form with more addresses than one request moves. */
export function tooManyTicked(count: number): Mrkdwn {
  return mrkdwn`One request moves up to ${mostEvacuated} addresses. You chose ${count}.`
}

/** Names in the thread what came to the server after the request, and is not moved. */
export function remarkWords({ from, came = [] }: EvacuationFacts): string | undefined {
  if (came.length === 0) return undefined
  const listed = came.map(({ address }) => address).join(', ')
  const [were, areNot] = came.length === 1 ? ['was', "it isn't"] : ['were', "they aren't"]
  return `${listed} ${were} assigned to ${from.name} after the request, so ${areNot} moved.`
}
