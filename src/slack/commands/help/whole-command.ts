import { truncate } from '../../text/cut-text.ts'
import { alternatives, code, type Mrkdwn, mrkdwn } from '../../text/text.ts'
import { withoutMention } from '../parse-words.ts'

/** A command as a person should have typed it. */
export interface WholeCommand {
  /** `ip move` */
  words: string
  args: string[]
  /** Undefined without one. `because` stands before it. */
  reason?: string | undefined
}

/** A command that is cut could not be copied, so a longer one is shown without its arguments. */
const longest = 500

/** Shows a whole command as code, to copy. `name` is the slash command's name. */
export function wholeCommand(name: string, { words, args, reason }: WholeCommand): Mrkdwn {
  const start = `${name} ${words}`
  const whole = [start, ...args.map(argument), ...(reason ? ['because', reason] : [])].join(' ')
  return code(whole.length > longest ? truncate(start, longest, 'plain') : whole)
}

/** Suggests whole commands in place of what was typed. */
export function didYouMean(name: string, meant: WholeCommand[]): Mrkdwn {
  // `keys` with the argument `create` reads like `keys create`.
  const distinct = new Map(meant.map((one) => wholeCommand(name, one)).map((whole) => [whole.text, whole]))
  return mrkdwn`Did you mean ${alternatives([...distinct.values()])}?`
}

/** Writes an argument as it can be typed: a mention by its name, and a name with spaces in quotes. */
export function argument(word: string): string {
  const named = withoutMention(word)
  const typed = named === word ? word : `${word.startsWith('<#') ? '#' : '@'}${named}`
  return /\s/.test(typed) || typed === '' ? `"${typed.replaceAll('"', '')}"` : typed
}
