import type { ChangeKind } from '../../domain/change-kind.ts'
import type { Requester } from '../../domain/people.ts'
import { type Listing, type ListPlace, listAnswer, listingMessage, PageButton, pageActionIds } from '../blocks/listing.ts'
import { notice } from '../blocks/notice.ts'
import { readJson, writeMetadata } from '../receive/payloads.ts'
import { mrkdwn } from '../text/text.ts'
import type { Message } from '../web-api/messenger.ts'
import { type Command, findCommand, type Need } from './commands.ts'
import type { Click, FormHandler, Handler, SlashCommand } from './handlers.ts'
import { helpMessage } from './help.ts'
import { limitWords } from './limit-words.ts'
import { unknownCommand } from './unknown-command.ts'

/** Throws a Refusal if the person may not request this kind of change. That they may read was seen when the command arrived. */
export type Gate = (origin: SlashCommand['origin'], kind: ChangeKind) => Promise<Requester>
/** Returns those of the needs for which the person has the right, for the help page. */
export type May = (origin: SlashCommand['origin'], needs: Need[]) => Promise<Need[]>

/** Routes the one slash command, whatever its name, to the command that its words name. */
export function createCommandRouter({ commands, gate, may }: { commands: Command[]; gate: Gate; may: May }) {
  async function pass(origin: SlashCommand['origin'], need: Need): Promise<Requester | undefined> {
    return need === 'read' ? undefined : gate(origin, need)
  }

  /** Finds what handles the words after the slash command's name: the form or the run of a command, the help, or a suggestion. */
  function handlerFor(words: string[]): Handler<SlashCommand> | FormHandler<SlashCommand> {
    if (words.length === 0 || words[0]?.toLowerCase() === 'help') return showHelp
    const found = findCommand(commands, words)
    if (!found) return ({ origin, answer }) => answer.ephemeral(notice(unknownCommand(commands, words, origin.command)))
    const { command, args } = found
    const form = args.length === 0 ? formOf(command) : undefined
    return form ?? ((slashCommand) => run(command, slashCommand, args, firstPage(slashCommand)))
  }

  function formOf({ form, need, prepare }: Command): FormHandler<SlashCommand> | undefined {
    if (!form) return undefined
    return {
      form: (slashCommand) => form(metadataOf(slashCommand)),
      allow: async ({ origin }) => {
        await pass(origin, need)
        prepare?.()
      },
    }
  }

  async function showHelp({ origin, answer }: SlashCommand): Promise<void> {
    const needs = commands.map(({ need }) => need)
    await answer.ephemeral(helpMessage(commands, origin.command, await may(origin, needs)))
  }

  async function run(found: Command, slashCommand: SlashCommand, args: string[], view: ListView): Promise<void> {
    if (found.need === 'read') limitWords(args)
    const requester = await pass(slashCommand.origin, found.need)
    await found.run({
      slashCommand,
      args,
      requester,
      list: (listing) => view.list(listing, { name: slashCommand.origin.command, command: found.words, args }),
      say: (words) => view.say(notice(words)),
    })
  }

  /**
   * Runs the command of a page button again. The page that the button names replaces the page that was clicked. Only commands that read have
   * pages: a button that names another one is forged, and would request a change that nobody typed.
   */
  async function showPage(click: Click): Promise<void> {
    const button = readJson(PageButton, click.value)
    const found = commands.find(({ words, need }) => words === button?.command && need === 'read')
    if (!button || !found) {
      await click.answer.ephemeral(notice(mrkdwn`This list is from another version of me. Ask for it again with the command.`))
      return
    }
    const { replace } = click.answer
    const { page, args } = button
    await run(found, { ...click, responseUrl: undefined }, args, {
      list: (listing, at) => replace(listingMessage(listing, { ...at, page })),
      say: replace,
    })
  }

  return { command: handlerFor, clicks: { [pageActionIds.previous]: showPage, [pageActionIds.next]: showPage } }
}

/** How a list is shown: as the answer to a command, or in place of the page that was clicked. */
interface ListView {
  list(listing: Listing, at: Omit<ListPlace, 'page'>): Promise<void>
  say(message: Message): Promise<void>
}

/** Answers a command with a list as a table where one fits, or else with its first page. */
function firstPage({ answer }: SlashCommand): ListView {
  return { list: (listing, at) => answer.ephemeral(listAnswer(listing, { ...at, page: 0 })), say: answer.ephemeral }
}

function metadataOf({ origin, responseUrl }: SlashCommand): string {
  return writeMetadata({ origin, ...(responseUrl ? { responseUrl } : {}) })
}
