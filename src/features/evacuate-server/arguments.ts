import { type Pair, readPair } from '../../slack/commands/read-pair.ts'

/** Reads `<server> [to] <target>`. Neither contains a comma, so a comma without a space separates them too. */
export function readEvacuation(args: string[]): Pair {
  return readPair(args.flatMap((word) => word.split(',')).filter((word) => word !== ''))
}

/** Whether an evacuation is complete. One with too many words counts as complete, so that it is refused. */
export function isWholeEvacuation(args: string[]): boolean {
  const { first, second } = readEvacuation(args)
  return first !== undefined && second !== undefined
}
