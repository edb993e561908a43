import type { App } from '../app.ts'
import { notice } from './blocks.ts'
import { type Command, findCommand, findMeant, limitWords } from './commands.ts'
import { nothingRequested, outdatedButton, Refusal } from './errors.ts'
import { formOf } from './forms.ts'
import { isHelpWord, notACommand, showHelp, takesNone, unknownCommand } from './help.ts'
import type { Click, FormHandler, Handler, SlashCommand } from './interactions.ts'
import { type Listing, type ListPlace, listAnswer, listingMessage, PageButton, pageActionIds } from './listing.ts'
import { readJson } from './payloads.ts'
import { withoutMention } from './typed-words.ts'
import type { Message } from './web-api.ts'

/** The command for the log and the audit: `ip move`, `help`, `unknown`. `takesReason`: in others *because* is an ordinary word. */
export function commandNamed(commands: Command[], words: string[]): { name: string; takesReason: boolean } {
  if (words[0] === undefined || isHelpWord(words[0])) return { name: 'help', takesReason: false }
  const command = findCommand(commands, words)?.command
  return { name: command?.words ?? 'unknown', takesReason: command !== undefined && command.need !== 'read' }
}

/** Finds what handles the words after the slash command's name: the form or the run of a command, the help, or a suggestion. */
export function handlerFor(app: App, commands: Command[], words: string[]): Handler<SlashCommand> | FormHandler<SlashCommand> {
  const help = (topic: string[]): Handler<SlashCommand> => {
    return async ({ origin, answer }) => answer.ephemeral(await showHelp(app, commands, topic, origin))
  }
  const [first, ...others] = words
  if (first === undefined || isHelpWord(first)) return help(others)
  const meant = findMeant(commands, words)
  if (meant) return ({ origin, answer }) => answer.ephemeral(notice(notACommand(words, [{ words: meant.words, typed: 2 }], origin.command)))
  const found = findCommand(commands, words)
  if (asksForHelp(found ? found.args : words, found?.command)) return help(found ? found.command.words.split(' ') : words.slice(0, -1))
  if (!found) return ({ origin, answer }) => answer.ephemeral(notice(unknownCommand(commands, words, origin.command)))
  const { command } = found
  if (found.args.length > 0 && command.usage === '') {
    return async ({ origin }) => {
      throw new Refusal(takesNone(command, found.args, origin.command))
    }
  }
  const args = command.takesMentions ? found.args : found.args.map(withoutMention)
  return (
    formOf(app, command, args) ??
    ((slashCommand) => {
      const { ephemeral } = slashCommand.answer
      const list: ListView['list'] = (listing, at) => ephemeral(listAnswer(listing, { ...at, page: 0 }))
      return runCommand(app, command, slashCommand, args, { list, say: ephemeral })
    })
  )
}

/** `ip move --help`, `ip move 203.0.113.10 ?`, `ip move help`. Next to other words and in a search, `help` counts as a name. */
function asksForHelp(args: string[], command: Command | undefined): boolean {
  if (command?.form && args.length === 1 && isHelpWord(args[0] ?? '')) return true
  return [args.at(0), args.at(-1)].some((word) => word !== undefined && word.toLowerCase() !== 'help' && isHelpWord(word))
}

/** How a list is shown: as the answer to a command, or in place of the page that was clicked. */
interface ListView {
  list(listing: Listing, at: Omit<ListPlace, 'page'>): Promise<void>
  say(message: Message): Promise<void>
}

async function runCommand(app: App, command: Command, slashCommand: SlashCommand, args: string[], view: ListView): Promise<void> {
  const { need, words, run } = command
  if (need === 'read') limitWords(args)
  const requester = need === 'read' ? undefined : await app.access.gate(slashCommand.origin, need)
  try {
    await run({
      slashCommand,
      args,
      requester,
      list: (listing) => view.list(listing, { name: slashCommand.origin.command, command: words, args }),
      say: (text) => view.say(notice(text)),
    })
  } catch (error) {
    throw need === 'read' ? error : nothingRequested(error)
  }
}

/**
 * The buttons of lists. Each runs the list's command again, and the page that it names replaces the page that was clicked. Only commands that
 * read have pages: a button that names another one is forged, and would request a change that nobody typed.
 */
export function pageButtons(app: App, commands: Command[]): Record<string, Handler<Click>> {
  async function showPage(click: Click): Promise<void> {
    const button = readJson(PageButton, click.value)
    const found = commands.find(({ words, need }) => words === button?.command && need === 'read')
    if (!button || !found) throw new Refusal(outdatedButton)
    const { replace } = click.answer
    const { page, args } = button
    await runCommand(app, found, { ...click, responseUrl: undefined }, args, {
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

  return Object.fromEntries(Object.values(pageActionIds).map((id) => [id, showPage]))
}
