import type { ElasticIp } from '../../domain/account/elastic-ip.ts'
import type { Server } from '../../domain/account/server.ts'
import type { MoveInput } from '../../domain/elastic-ip-move/elastic-ip-move.ts'
import { serverWords, type TypedChoice, whichOne } from '../../requests/messages/forms/which-one.ts'
import { wrongUsage } from '../../slack/commands/help/help.ts'
import { code, type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'
import type { Message } from '../../slack/web-api/messenger.ts'

/** The id of the buttons for the servers of one name. */
export const moveThisOne = 'move-to-this-one'

/** Says how the command is used. `rest` are the words that are too many, after `args`. */
export function usage(name: string, args: string[], rest: string[]): Mrkdwn {
  const words = mrkdwn`Usage: ${code(`${name} ip move <elastic ip> <server>`)}, or leave the server out to open a form. Put names with spaces in quotes.`
  return wrongUsage(name, words, rest, { words: 'ip move', args })
}

/** Refuses a command with several Elastic IPs. */
export function oneAtATime(name: string): Mrkdwn {
  return mrkdwn`Nothing was requested. One request moves one Elastic IP. Send a command for each, or move all Elastic IPs of a server with ${code(`${name} evacuate`)}.`
}

/** Asks which of the servers with the typed name is meant, with a button for each. */
export function whichServer(
  { elasticIp: { id, address }, servers }: { elasticIp: ElasticIp; servers: Server[] },
  { typed, ...call }: TypedChoice & { typed: string },
): Message {
  return whichOne({
    question: mrkdwn`${servers.length} servers are called ${code(typed)}. Which one should ${code(address)} move to?`,
    choices: servers.map((server) => ({
      words: serverWords(server),
      input: { elasticIpId: id, serverId: server.id } satisfies MoveInput,
    })),
    actionId: moveThisOne,
    byId: `${call.command} ip move ${address} <id>`,
    ...call,
  })
}
