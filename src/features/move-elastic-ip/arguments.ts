import { isIP } from 'node:net'
import { addressProblem } from '../../domain/text/address-problem.ts'
import { isBetween, type Pair, readPair } from '../../slack/commands/read-pair.ts'

/**
 * Reads `<elastic ip> [to] <server>`. Neither contains a comma, so a comma without a space separates them too. No Elastic IP is called `to`,
 * so `to web-2` names a server only.
 */
export function readMove(args: string[]): Pair {
  const words = args.flatMap((word) => word.split(',')).filter((word) => word !== '')
  if (isBetween(words[0])) return { first: undefined, second: words[1], rest: words.slice(2) }
  return readPair(words)
}

/** Whether a move is complete. One with too many words counts as complete, so that it is refused. */
export function isWholeMove(args: string[]): boolean {
  const { first, second } = readMove(args)
  return first !== undefined && second !== undefined
}

/** Whether the server was typed before the Elastic IP. A server can have an address, too, so only one of the two may look like an Elastic IP. */
export function isSwapped(first: string, second: string): boolean {
  return !looksLikeElasticIp(first) && looksLikeElasticIp(second)
}

function looksLikeElasticIp(word: string): boolean {
  return isIP(word.replace(/\/\d{1,3}$/, '')) !== 0 || /^u?eip_\w+$/.test(word) || addressProblem(word) !== undefined
}
