import type { ModalView } from '@slack/web-api'
import type { ChangeKind } from '../../domain/change-kind.ts'
import type { Requester } from '../../domain/people.ts'
import type { Listing } from '../blocks/listing.ts'
import type { Mrkdwn } from '../text/text.ts'
import type { SlashCommand } from './handlers.ts'

/** The right that a command needs: to read, or to request a change of this kind. Help lists the commands by it. */
export type Need = 'read' | ChangeKind

export interface Command {
  /** The words after the slash command's name: `ip move`. */
  words: string
  /** The arguments, as help shows them: `[<elastic ip> <server>]`. */
  usage: string
  summary: string
  /** An example of the arguments. */
  example: string
  need: Need
  /** Makes the form that opens if the command is typed without arguments. */
  form?: (metadata: string) => ModalView
  /** The button that opens the form, on the Home tab and in help. */
  button?: { text: string; actionId: string }
  /** The callback id of the global shortcut that opens the form. The manifest names it. */
  shortcut?: string
  /** Starts to read what the form will need. Called once the form is open and the person may use it. */
  prepare?: () => void
  run(call: CommandCall): Promise<void>
}

export interface CommandCall {
  slashCommand: SlashCommand
  /** The words after the command's own words. */
  args: string[]
  /** What the gate found out about the person. Undefined if the command only reads. */
  requester?: Requester | undefined
  /** Shows a page of a list. The buttons for the other pages run the command again. */
  list(listing: Listing): Promise<void>
  say(words: Mrkdwn): Promise<void>
}

/** Finds the command that matches the most words. The words after it are its arguments. */
export function findCommand(commands: Command[], words: string[]): { command: Command; args: string[] } | undefined {
  const fits = (command: Command) => command.words.split(' ').every((word, index) => words[index]?.toLowerCase() === word)
  const [longest] = commands.filter(fits).sort((a, b) => b.words.length - a.words.length)
  return longest && { command: longest, args: words.slice(longest.words.split(' ').length) }
}
