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

/** Whether a move is complete. One with too many words is, too: it is refused. */
export function isWholeMove(args: string[]): boolean {
  const { first, second } = readMove(args)
  return first !== undefined && second !== undefined
}
