import type { Server } from '../../domain/account/server.ts'
import { type EvacuationFacts, type EvacuationInput, mostEvacuated } from '../../domain/evacuation/evacuation.ts'
import { serverWords, type TypedChoice, whichOne } from '../../requests/messages/forms/which-one.ts'
import { wrongUsage } from '../../slack/commands/help/help.ts'
import { code, type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'
import type { Message } from '../../slack/web-api/messenger.ts'

/** The id of the buttons for the targets of one name. */
export const evacuateToThisOne = 'evacuate-to-this-one'

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

/** Asks which of the targets with the typed name is meant, with a button for each. */
export function whichTarget(
  { source, targets }: { source: { id: string; name: string }; targets: Server[] },
  { typed, ...call }: TypedChoice & { typed: string },
): Message {
  return whichOne({
    question: mrkdwn`${targets.length} servers are called ${code(typed)}. Which one should the Elastic IPs of ${code(source.name)} move to?`,
    choices: targets.map((target) => ({
      words: serverWords(target),
      input: { serverId: source.id, targetId: target.id } satisfies EvacuationInput,
    })),
    actionId: evacuateToThisOne,
    byId: `${call.command} evacuate ${source.name} <id>`,
    ...call,
  })
}
