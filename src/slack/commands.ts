import type { ModalView } from '@slack/web-api'
import type { ChangeKind } from '../domain/change.ts'
import { truncate } from './cut-text.ts'
import type { Click, FormHandler, SlashCommand } from './interaction.ts'
import { type Listing, listingMessage, PageButton, pageActionIds } from './listing.ts'
import type { Message } from './messenger.ts'
import { notice } from './notice.ts'
import { readJson, writeMetadata } from './payloads.ts'
import { suggestCommands } from './suggest-commands.ts'
import { code, joinMrkdwn, type Mrkdwn, mrkdwn } from './text.ts'
import { parseWords } from './words.ts'

/** What a command takes: looking, or asking for a change of this kind. Help shows who may use what. */
export type Need = 'read' | ChangeKind

export interface Command {
  /** The words after the command name: `ip move`. */
  words: string
  /** What may follow them: `[<elastic ip> <server>]`. */
  usage: string
  summary: string
  /** One example of what may follow. */
  example: string
  need: Need
  /** The form that opens when the command is typed without arguments. Pure. */
  form?: (metadata: string) => ModalView
  /** Starts to read what the form will need, once it is open. */
  prepare?: () => void
  run(call: CommandCall): Promise<void>
}

export interface CommandCall {
  asked: SlashCommand
  /** What followed the command's own words. */
  args: string[]
  /** Shows a list, a page at a time; the buttons for the other pages run the command again. */
  list(listing: Listing): Promise<void>
  say(words: Mrkdwn): Promise<void>
}

/** Throws a Refusal, in words, where the person may not. */
export type Gate = (origin: SlashCommand['origin'], need: Need) => Promise<void>
/** Which of these needs a person meets, for the help page. */
export type May = (origin: SlashCommand['origin'], needs: Need[]) => Promise<Need[]>

/** The router below the one slash command, whatever its name. */
export function createCommandRouter({ commands, gate, may }: { commands: Command[]; gate: Gate; may: May }) {
  /** A command that is typed without arguments, and has a form for them. */
  function formFor(asked: SlashCommand): FormHandler<SlashCommand> | undefined {
    const found = findCommand(commands, parseWords(asked.text))
    if (!found || found.args.length > 0) return undefined
    const { form, need, prepare } = found.command
    if (!form) return undefined
    return {
      form: () => form(metadataOf(asked)),
      allow: async () => {
        await gate(asked.origin, need)
        prepare?.()
      },
    }
  }

  async function runCommand(asked: SlashCommand): Promise<void> {
    const words = parseWords(asked.text)
    if (words.length === 0 || words[0]?.toLowerCase() === 'help') {
      const needs = commands.map(({ need }) => need)
      await asked.answer.whisper(helpMessage(commands, asked.origin.command, await may(asked.origin, needs)))
      return
    }
    const found = findCommand(commands, words)
    if (!found) {
      await asked.answer.whisper(notice(unknownCommand(commands, words, asked.origin.command)))
      return
    }
    await run(found.command, asked, found.args, 0, asked.answer.whisper)
  }

  async function run(
    found: Command,
    asked: SlashCommand,
    args: string[],
    page: number,
    show: (message: Message) => Promise<void>,
  ): Promise<void> {
    await gate(asked.origin, found.need)
    await found.run({
      asked,
      args,
      list: (listing) => show(listingMessage(listing, { page, command: found.words, args })),
      say: (words) => show(notice(words)),
    })
  }

  /** A page button: runs its command again, for the page that it names, in place of the page that was clicked. */
  async function turnPage(click: Click): Promise<void> {
    const button = readJson(PageButton, click.value)
    const found = commands.find((candidate) => candidate.words === button?.command)
    if (!button || !found) {
      await click.answer.whisper(notice(mrkdwn`This list is from another version of me. Ask for it again with the command.`))
      return
    }
    await run(found, { ...click, text: '', responseUrl: undefined }, button.args, button.page, click.answer.replace)
  }

  return { command: { formFor, run: runCommand }, clicks: { [pageActionIds.previous]: turnPage, [pageActionIds.next]: turnPage } }
}

function metadataOf({ origin, responseUrl }: SlashCommand): string {
  return writeMetadata({ origin, ...(responseUrl ? { responseUrl } : {}) })
}

/** The command with the most words that fit. Pure. */
export function findCommand(commands: Command[], words: string[]): { command: Command; args: string[] } | undefined {
  const fits = (command: Command) => command.words.split(' ').every((word, index) => words[index]?.toLowerCase() === word)
  const [longest] = commands.filter(fits).sort((a, b) => b.words.length - a.words.length)
  return longest && { command: longest, args: words.slice(longest.words.split(' ').length) }
}

/** A command that there is not, and what was probably meant. Pure. */
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

/** What can be asked, with examples; what this person may not use is said to be so. Pure. */
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
