import { isIP } from 'node:net'
import { addressProblem } from '../../domain/text/address-problem.ts'
import { isBetween, type Pair, readPair } from '../../slack/commands/read-pair.ts'

/**
 * Reads `<elastic ip> [to] <server>`. None of them contains a comma, so a comma without a space separates them too. No Elastic IP is called
 * `to`, so `to web-2` names a server only.
 */
export function readMove(args: string[]): Pair {
  const words = args.flatMap((word) => word.split(',')).filter((word) => word !== '')
  return isBetween(words[0]) ? { first: undefined, second: words[1], rest: words.slice(2) } : readPair(words)
}

/** Whether a move is complete. One with too many words counts as complete, so that it is refused. */
export function isWholeMove(args: string[]): boolean {
  const { first, second } = readMove(args)
  return first !== undefined && second !== undefined
}

/** Whether two Elastic IPs were typed, where one goes. */
export function areElasticIps(first: string | undefined, second: string): boolean {
  return first !== undefined && looksLikeElasticIp(first) && looksLikeElasticIp(second)
}

function looksLikeElasticIp(word: string): boolean {
  return isIP(word.replace(/\/\d{1,3}$/, '')) !== 0 || /^u?eip_\w+$/.test(word) || addressProblem(word) !== undefined
}
