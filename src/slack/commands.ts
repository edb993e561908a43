import type { ModalView } from '@slack/web-api'
import type { Requester } from '../domain/approval.ts'
import type { ChangeKind } from '../domain/policy.ts'
import { countMistakes } from '../domain/text.ts'
import { Refusal } from './errors.ts'
import type { SlashCommand } from './interactions.ts'
import type { Listing } from './listing.ts'
import { type Mrkdwn, mostWords, mrkdwn } from './text.ts'
import { isTypedStart, splitLate, splitStart } from './typed-words.ts'

/** The right that a command needs: to read, to request a change of this kind, or to freeze all of them. Help lists the commands by it. */
export type Need = 'read' | ChangeKind

export const groups = ['Change', 'View', 'Keys', 'You'] as const
type Group = (typeof groups)[number]

export interface Command {
  words: string
  /** Other words that people try: they are answered with this command. */
  synonyms?: string[]
  group: Group
  /** The arguments, as help shows them: `[<elastic ip> <server>]`. Empty if the command takes none. */
  usage: string
  /** One line without a full stop, for the list of all commands. */
  summary: string
  details?: Mrkdwn
  examples: string[]
  need: Need
  /** Set for what starts on a click of its requester, right after the approval, or at once. */
  takesNoStart?: true | undefined
  /** Set if mentions are arguments of the command. Other commands get them as the names that were typed. */
  takesMentions?: true
  /** Whether words at the end of a reason are a time of this command that `args` lack. Default: a start. */
  isLateTime?: (typed: string, args: string[]) => boolean
  /** Makes the form that opens if the command is incomplete, filled with what was given. It may read what was named. */
  form?: (metadata: string, given: GivenWords) => ModalView | Promise<ModalView>
  /** Whether the command runs without a form. Default: with any argument. */
  isComplete?: (args: string[]) => boolean
  /** The button that opens the form, on the Home tab and in help. `opens`: the title of the form. */
  button?: { text: string; actionId: string; opens: string }
  /** The callback id of the global shortcut that opens the form. The manifest names it. */
  shortcut?: string
  /** Reads what the pickers of the form will need. Called once the form is open and the person may use it. */
  prepare?: () => Promise<unknown>
  run(call: CommandCall): Promise<void>
}

export interface GivenWords {
  args: string[]
  command: string
  /** The start that was typed after *because*. */
  late?: string | undefined
}

export interface CommandCall {
  slashCommand: SlashCommand
  args: string[]
  /** The result of the gate. Undefined if the command only reads. */
  requester?: Requester | undefined
  /** Whether it takes the place of an answer to the same command, and nobody asked for a new one. */
  isAgain?: boolean
  list(listing: Listing): Promise<void>
  say(words: Mrkdwn): Promise<void>
}

/** Whether it runs without a form. */
export function isComplete({ command, args }: { command: Command; args: string[] }): boolean {
  return command.isComplete?.(args) ?? args.length > 0
}

/** Splits off a time after *because*: it was meant for the command, and not as a part of the reason. */
export function splitLateTime({ command, args }: { command: Command; args: string[] }, text: string) {
  const isStart = (typed: string) => !command.takesNoStart && isTypedStart(typed) && !splitStart(args.join(' '))
  return splitLate(text, (typed) => (command.isLateTime ?? isStart)(typed, args))
}

export function findCommand(commands: Command[], words: string[]): { command: Command; args: string[] } | undefined {
  for (const length of [3, 2, 1]) {
    const typed = words.slice(0, length).join(' ').toLowerCase()
    const command = commands.find((each) => each.words === typed)
    if (command) return { command, args: words.slice(length) }
  }
}

/** Whether words such as `keys rotat` were meant as a command, which another command would take as its arguments. */
export function isMistyped(commands: Command[], words: string[]): boolean {
  const typed = words.slice(0, 2).join(' ').toLowerCase()
  const [group = ''] = typed.split(' ')
  const isMeant = ({ words, synonyms }: Command) =>
    synonyms?.includes(typed) || (words.startsWith(`${group} `) && countMistakes(typed, words) === 1)
  return commands.some(isMeant)
}

/** Slack's own clients send less. If a text has many quotes, the time to split it into words grows with the square of its length. */
export const longestCommand = 3_000

/** Pages are named by a button's value, which has room for this much. */
const longestSearch = 1_000

export function limitWords(words: string[]): void {
  if (words.length > mostWords)
    throw new Refusal(
      'wrong-usage',
      mrkdwn`Too many words: a search can have up to ${mostWords}. This one has ${words.length}. Use fewer words.`,
    )
  if (JSON.stringify(words).length > longestSearch)
    throw new Refusal('wrong-usage', mrkdwn`The words of this search are too long. Use fewer or shorter ones.`)
}
