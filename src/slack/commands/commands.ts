import type { ModalView } from '@slack/web-api'
import type { ChangeKind } from '../../domain/change-kind.ts'
import type { Requester } from '../../domain/people.ts'
import { type Listing, listingMessage, PageButton, pageActionIds } from '../blocks/listing.ts'
import { notice } from '../blocks/notice.ts'
import { readJson, writeMetadata } from '../receive/payloads.ts'
import { truncate } from '../text/cut-text.ts'
import { code, joinMrkdwn, type Mrkdwn, mrkdwn } from '../text/text.ts'
import type { Message } from '../web-api/messenger.ts'
import type { Click, FormHandler, SlashCommand } from './handlers.ts'
import { parseWords } from './parse-words.ts'
import { suggestCommands } from './suggest-commands.ts'

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

/** Throws a Refusal if the person may not request this kind of change. That they may read was seen when the command arrived. */
export type Gate = (origin: SlashCommand['origin'], kind: ChangeKind) => Promise<Requester>
/** Returns those of the needs for which the person has the right, for the help page. */
export type May = (origin: SlashCommand['origin'], needs: Need[]) => Promise<Need[]>

/** Routes the one slash command, whatever its name, to the command that its words name. */
export function createCommandRouter({ commands, gate, may }: { commands: Command[]; gate: Gate; may: May }) {
  async function pass(origin: SlashCommand['origin'], need: Need): Promise<Requester | undefined> {
    return need === 'read' ? undefined : gate(origin, need)
  }

  /** Returns the form of a command that has one and is typed without arguments. */
  function formFor(slashCommand: SlashCommand): FormHandler<SlashCommand> | undefined {
    const found = findCommand(commands, parseWords(slashCommand.text))
    if (!found || found.args.length > 0) return undefined
    const { form, need, prepare } = found.command
    if (!form) return undefined
    return {
      form: () => form(metadataOf(slashCommand)),
      allow: async () => {
        await pass(slashCommand.origin, need)
        prepare?.()
      },
    }
  }

  async function runCommand(slashCommand: SlashCommand): Promise<void> {
    const { origin, answer } = slashCommand
    const words = parseWords(slashCommand.text)
    if (words.length === 0 || words[0]?.toLowerCase() === 'help') {
      const needs = commands.map(({ need }) => need)
      await answer.ephemeral(helpMessage(commands, origin.command, await may(origin, needs)))
      return
    }
    const found = findCommand(commands, words)
    if (!found) {
      await answer.ephemeral(notice(unknownCommand(commands, words, origin.command)))
      return
    }
    await run(found.command, slashCommand, found.args, 0, answer.ephemeral)
  }

  async function run(
    found: Command,
    slashCommand: SlashCommand,
    args: string[],
    page: number,
    show: (message: Message) => Promise<void>,
  ): Promise<void> {
    const requester = await pass(slashCommand.origin, found.need)
    await found.run({
      slashCommand,
      args,
      requester,
      list: (listing) => show(listingMessage(listing, { page, command: found.words, args })),
      say: (words) => show(notice(words)),
    })
  }

  /** Runs the command of a page button again. The page that the button names replaces the page that was clicked. */
  async function showPage(click: Click): Promise<void> {
    const button = readJson(PageButton, click.value)
    const found = commands.find((candidate) => candidate.words === button?.command)
    if (!button || !found) {
      await click.answer.ephemeral(notice(mrkdwn`This list is from another version of me. Ask for it again with the command.`))
      return
    }
    await run(found, { ...click, text: '', responseUrl: undefined }, button.args, button.page, click.answer.replace)
  }

  return { command: { formFor, run: runCommand }, clicks: { [pageActionIds.previous]: showPage, [pageActionIds.next]: showPage } }
}

function metadataOf({ origin, responseUrl }: SlashCommand): string {
  return writeMetadata({ origin, ...(responseUrl ? { responseUrl } : {}) })
}

/** Finds the command that matches the most words. The words after it are its arguments. */
export function findCommand(commands: Command[], words: string[]): { command: Command; args: string[] } | undefined {
  const fits = (command: Command) => command.words.split(' ').every((word, index) => words[index]?.toLowerCase() === word)
  const [longest] = commands.filter(fits).sort((a, b) => b.words.length - a.words.length)
  return longest && { command: longest, args: words.slice(longest.words.split(' ').length) }
}

/** Says that there is no such command, and suggests those that were probably meant. */
export function unknownCommand(commands: Command[], words: string[], name: string): Mrkdwn {
  const asTyped = (command: string) => code(`${name} ${command}`)
  const typed = truncate(words.slice(0, 2).join(' ').toLowerCase(), 80, 'plain')
  const group = commands.filter((command) => command.words.startsWith(`${words[0]?.toLowerCase()} `))
  if (group.length > 0 && words.length === 1) {
    const choices = group.map((command) => mrkdwn`${asTyped(command.words)}: ${command.summary}`)
    return mrkdwn`${asTyped(typed)} needs one more word:\n${joinMrkdwn(choices, '\n')}`
  }
  const near = suggestCommands(wordsOf(commands), words)
  const meant = (near.length > 0 ? near : wordsOf(group)).map(asTyped)
  const suggestion = meant.length > 0 ? mrkdwn` Did you mean ${joinMrkdwn(meant, ' or ')}?` : mrkdwn``
  return mrkdwn`I do not know ${asTyped(typed)}.${suggestion} ${asTyped('help')} shows everything that can be asked.`
}

function wordsOf(commands: Command[]): string[] {
  return commands.map((command) => command.words)
}

/** Lists the commands with examples. The commands that this person may not use are listed apart, by name only. */
export function helpMessage(commands: Command[], name: string, allowed: Need[]): Message {
  const line = (command: Command) =>
    mrkdwn`${code(`${name} ${command.words}${command.usage ? ` ${command.usage}` : ''}`)}\n${command.summary}${example(command)}`
  const example = (command: Command) =>
    command.example ? mrkdwn` Example: ${code(`${name} ${command.words} ${command.example}`)}` : mrkdwn``
  const usable = commands.filter((command) => allowed.includes(command.need))
  const others = commands.filter((command) => !allowed.includes(command.need))
  const parts = [
    mrkdwn`*What you can ask me*`,
    ...usable.map(line),
    ...(usable.length === 0 ? [mrkdwn`Nothing: only full members of this workspace can use me.`] : []),
    ...(others.length > 0
      ? [
          mrkdwn`_Not open to you here:_ ${joinMrkdwn(
            others.map((command) => code(`${name} ${command.words}`)),
            ', ',
          )}`,
        ]
      : []),
    mrkdwn`Every change is approved by another person with a button, and followed until it has really happened.`,
  ]
  return notice(joinMrkdwn(parts, '\n\n'))
}
