import { isIP } from 'node:net'
import { addressProblem } from '../../domain/text/address-problem.ts'
import { isBetween, isFrom, type Pair, readPair } from '../../slack/commands/read-pair.ts'

export interface TypedMove extends Pair {
  /** The server that the Elastic IP is on, as the person thinks. */
  from?: string
}

/**
 * Reads `<elastic ip> [from <server>] [to] <server>`. None of them contains a comma, so a comma without a space separates them too. No Elastic
 * IP is called `to`, so `to web-2` names a server only.
 */
export function readMove(args: string[]): TypedMove {
  const words = args.flatMap((word) => word.split(',')).filter((word) => word !== '')
  if (isBetween(words[0])) return { first: undefined, second: words[1], rest: words.slice(2) }
  if (isFrom(words[0])) {
    const { from, rest } = takeFrom(words)
    if (from !== undefined) return { ...readMove(rest), from }
  }
  const [first, ...others] = words
  const { from, rest } = takeFrom(others)
  return { ...readPair([...(first === undefined ? [] : [first]), ...rest]), ...(from === undefined ? {} : { from }) }
}

/** Takes out the server after `from`, or the one before `to`: `web-1 to web-2`. The words that are left name the target. */
function takeFrom(words: string[]): { from?: string | undefined; rest: string[] } {
  const at = words.findIndex((word, index) => isFrom(word) && !isBetween(words[index - 1]))
  const named = words[at + 1]
  if (at >= 0 && named !== undefined && !isBetween(named)) return { from: named, rest: words.toSpliced(at, 2) }
  const [from, to, ...others] = words
  return !isBetween(from) && isBetween(to) && others.length > 0 ? { from, rest: others } : { rest: words }
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

/** Whether two Elastic IPs were typed, where one goes. */
export function areElasticIps(first: string | undefined, second: string): boolean {
  return first !== undefined && looksLikeElasticIp(first) && looksLikeElasticIp(second)
}

function looksLikeElasticIp(word: string): boolean {
  return isIP(word.replace(/\/\d{1,3}$/, '')) !== 0 || /^u?eip_\w+$/.test(word) || addressProblem(word) !== undefined
}
