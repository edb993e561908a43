import { countMistakes } from '../../../domain/text/nearest.ts'
import { type Mrkdwn, mrkdwn } from '../../text/text.ts'
import type { Command } from '../commands.ts'
import { didYouMean } from './whole-command.ts'

/** Two letters that changed places count as two mistakes. */
const mostMistakes = 2

interface Typed {
  args: string[]
  /** The slash command's name. */
  name: string
  /** The text after *because*, if it was typed, too. */
  reason?: string | undefined
}

/**
 * Finds a mistyped *because* between an argument and a reason. Without this, the words of the reason would be arguments, and a key could be
 * named after them. The word itself, in quotes, is a name.
 */
export function findMistypedBecause(args: string[]): number | undefined {
  const found = args.findIndex((word, index) => index > 0 && index < args.length - 1 && isMistyped(word))
  return found < 0 ? undefined : found
}

/** Suggests the command with *because* in place of the mistyped word. */
export function mistypedReason({ words }: Command, at: number, { args, name, reason }: Typed): Mrkdwn {
  const typed = [args.slice(at + 1).join(' '), ...(reason ? [`because ${reason}`] : [])].join(' ')
  return mrkdwn`Nothing was requested. ${didYouMean(name, [{ words, args: args.slice(0, at), reason: typed }])}`
}

function isMistyped(word: string): boolean {
  const mistakes = countMistakes(word.replace(/[,:]$/, ''), 'because')
  return mistakes > 0 && mistakes <= mostMistakes
}
