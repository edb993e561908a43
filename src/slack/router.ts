import type { App } from '../app.ts'
import type { Requester } from '../domain/approval.ts'
import { notice } from './blocks.ts'
import {
  type Command,
  type CommandCall,
  findCommand,
  findMeant,
  type Gate,
  type GateForm,
  limitWords,
  type May,
  type Need,
  type RuleWithReason,
} from './commands.ts'
import { nothingRequested, outdatedButton, Refusal } from './errors.ts'
import { formOf } from './forms.ts'
import { createShowHelp, isHelpWord, notACommand, takesNone, unknownCommand } from './help.ts'
import type { Click, FormHandler, Handler, SlashCommand } from './interactions.ts'
import { type Listing, type ListPlace, listAnswer, listingMessage, PageButton, pageActionIds } from './listing.ts'
import { readJson } from './payloads.ts'
import { withoutMention } from './typed-words.ts'
import type { Message } from './web-api.ts'

interface RouterParts {
  commands: Command[]
  gate: Gate
  /** Checks what `gate` checks, and whether the request could be posted in the channel. Default: `gate`. */
  gateForm?: GateForm
  ruleWithReason: RuleWithReason
  may: May
}

/** Routes the slash command, whatever its name is, to the command that its words name. */
export function createCommandRouter({ commands, gate, gateForm = gate, may, ruleWithReason }: RouterParts) {
  const helpOn = createShowHelp({ commands, may })
  const app = {
    access: { gateForm, gateChosen: gateForm, ruleWithReason } as Pick<App['access'], 'gateForm' | 'gateChosen' | 'ruleWithReason'>,
  }

  async function pass(origin: SlashCommand['origin'], need: Need): Promise<Requester | undefined> {
    return need === 'read' ? undefined : gate(origin, need)
  }

  /** Finds what handles the words after the slash command's name: the form or the run of a command, the help, or a suggestion. */
  function handlerFor(words: string[]): Handler<SlashCommand> | FormHandler<SlashCommand> {
    const [first, ...others] = words
    if (first === undefined || isHelpWord(first)) return helpOn(others)
    const meant = findMeant(commands, words)
    if (meant)
      return ({ origin, answer }) => answer.ephemeral(notice(notACommand(words, [{ command: meant.words, typed: 2 }], origin.command)))
    const found = findCommand(commands, words)
    if (asksForHelp(found ? found.args : words, found?.command)) return helpOn(found ? found.command.words.split(' ') : words.slice(0, -1))
    if (!found) return ({ origin, answer }) => answer.ephemeral(notice(unknownCommand(commands, words, origin.command)))
    const { command } = found
    if (found.args.length > 0 && command.usage === '') return refuseArguments(command, found.args)
    const args = command.takesMentions ? found.args : found.args.map(withoutMention)
    return formOf(app, command, args) ?? ((slashCommand) => run(command, slashCommand, args, firstPage(slashCommand)))
  }

  async function run(found: Command, slashCommand: SlashCommand, args: string[], view: ListView): Promise<void> {
    if (found.need === 'read') limitWords(args)
    const requester = await pass(slashCommand.origin, found.need)
    const call: CommandCall = {
      slashCommand,
      args,
      requester,
      list: (listing) => view.list(listing, { name: slashCommand.origin.command, command: found.words, args }),
      say: (words) => view.say(notice(words)),
    }
    try {
      await found.run(call)
    } catch (error) {
      throw found.need === 'read' ? error : nothingRequested(error)
    }
  }

  /**
   * Runs the command of a page button again. The page that the button names replaces the page that was clicked. Only commands that read have
   * pages: a button that names another one is forged, and would request a change that nobody typed.
   */
  async function showPage(click: Click): Promise<void> {
    const button = readJson(PageButton, click.value)
    const found = commands.find(({ words, need }) => words === button?.command && need === 'read')
    if (!button || !found) {
      await click.answer.ephemeral(notice(outdatedButton))
      return
    }
    const { replace } = click.answer
    const { page, args } = button
    await run(found, { ...click, responseUrl: undefined }, args, {
      // A list that was refreshed is a table again, where one fits.
      list: (listing, at) =>
        replace(
          click.actionId === pageActionIds.refresh && page === 0
            ? listAnswer(listing, { ...at, page })
            : listingMessage(listing, { ...at, page }),
        ),
      say: replace,
    })
  }

  function commandNamed([first, ...others]: string[]): { name: string; takesReason: boolean } {
    if (first === undefined || isHelpWord(first)) return { name: 'help', takesReason: false }
    const command = findCommand(commands, [first, ...others])?.command
    return { name: command?.words ?? 'unknown', takesReason: command !== undefined && command.need !== 'read' }
  }

  return { command: handlerFor, commandNamed, clicks: Object.fromEntries(Object.values(pageActionIds).map((id) => [id, showPage])) }
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

/**
 * Whether arguments ask for help: `ip move --help`, `ip move 203.0.113.10 ?`, `ip move help`. A thing can be named `help`, so next to other
 * words and in a search it counts as a name.
 */
function asksForHelp(args: string[], command: Command | undefined): boolean {
  if (command?.form && args.length === 1 && isHelpWord(args[0] ?? '')) return true
  return [args.at(0), args.at(-1)].some((word) => word !== undefined && word.toLowerCase() !== 'help' && isHelpWord(word))
}

function refuseArguments(command: Command, args: string[]): Handler<SlashCommand> {
  return async ({ origin }) => {
    throw new Refusal(takesNone(command, args, origin.command))
  }
}
