import type { App } from '../app.ts'
import { freezing } from '../domain/policy.ts'
import { gate } from '../rights/authorize.ts'
import { notice } from '../slack/blocks.ts'
import { type Command, findCommand, isMistyped, limitWords } from '../slack/commands.ts'
import { nothingRequested, outdatedButton, Refusal, reading } from '../slack/errors.ts'
import type { Click, FormHandler, Handler, SlashCommand } from '../slack/interactions.ts'
import { type Listing, type ListPlace, listAnswer, listingMessage, PageButton, pageActionIds } from '../slack/listing.ts'
import { readJson } from '../slack/payloads.ts'
import { code, mrkdwn } from '../slack/text.ts'
import { withoutMention } from '../slack/typed-words.ts'
import type { Message } from '../slack/web-api.ts'
import { argument, asksForHelp, bareWords, helpItself, isHelpWord, meantBy, quoted, showHelp, unknownCommand } from './help.ts'
import { formOf } from './open-forms.ts'

/** The command for the log and the audit: `ip move`, `help`, `unknown`. `takesReason`: in others *because* is an ordinary word. */
export function commandNamed(commands: Command[], words: string[]): { name: string; takesReason: boolean } {
  if (words[0] === undefined || isHelpWord(words[0])) return { name: 'help', takesReason: false }
  const command = findCommand(commands, words)?.command
  return { name: command?.words ?? 'unknown', takesReason: command !== undefined && command.need !== 'read' }
}

/** Answers words that are no command, such as an address. Undefined if they name nothing. */
export type Bare = (typed: string) => Promise<Message | undefined>

export function handlerFor(
  app: App,
  commands: Command[],
  words: string[],
  { bare = async () => undefined, late }: { bare?: Bare | undefined; late?: string | undefined } = {},
): Handler<SlashCommand> | FormHandler<SlashCommand> {
  const help = (topic: string[]): Handler<SlashCommand> => {
    return async ({ origin, answer }) => answer.ephemeral(await showHelp(app, commands, topic, origin))
  }
  const [first, ...others] = words
  if (first === undefined || isHelpWord(first)) return help(others)
  const found = findCommand(commands, words)
  if (asksForHelp(found ? found.args : words, found?.command)) return help(found ? found.command.words.split(' ') : words.slice(0, -1))
  if (!found || isMistyped(commands, words))
    return async ({ origin, answer }) => {
      const isMeant = meantBy(commands, words).names.length > 0 || commands.some((each) => each.words.startsWith(`${first.toLowerCase()} `))
      const found = isMeant ? undefined : await bare(words.join(' '))
      await answer.ephemeral(found ?? unknownCommand(commands, words, origin.command))
    }
  const { command } = found
  const unread = [...found.args, ...(late?.split(' ') ?? [])]
  if (unread.length > 0 && command.usage === '') {
    return async ({ origin }) => {
      throw new Refusal(
        'wrong-usage',
        mrkdwn`${code(`${origin.command} ${command.words}`)} takes no arguments. Not understood: ${quoted(unread)}.`,
      )
    }
  }
  const args = command.takesMentions ? found.args : found.args.map(withoutMention)
  return (
    formOf(app, command, args, late) ??
    ((slashCommand) => {
      if (late !== undefined && command.takesNoStart) throw endTypedLate(command, args, slashCommand)
      const { ephemeral } = slashCommand.answer
      const list: ListView['list'] = (listing, at) => ephemeral(listAnswer(listing, { ...at, page: 0 }))
      return runCommand(app, command, slashCommand, args, { list, say: ephemeral })
    })
  )
}

function endTypedLate({ words }: Command, args: string[], { origin, late = '', reason }: SlashCommand): Refusal {
  const before = [origin.command, words, ...args.map(argument), late, 'because', reason ?? ''].join(' ')
  return new Refusal(
    'wrong-usage',
    mrkdwn`Not requested: you typed ${code(late)} after ${code('because')}. Write it before: ${code(before)}`,
  )
}

interface ListView {
  isAgain?: boolean
  list(listing: Listing, at: Omit<ListPlace, 'page'>): Promise<void>
  say(message: Message): Promise<void>
}

async function runCommand(app: App, command: Command, slashCommand: SlashCommand, args: string[], view: ListView): Promise<void> {
  const { need, words } = command
  const run = need === 'read' ? reading(command.run) : command.run
  if (need === 'read') limitWords(args)
  const requester = need === 'read' || need === freezing ? undefined : await gate(app, slashCommand.origin, need)
  try {
    await run({
      slashCommand,
      args,
      requester,
      isAgain: view.isAgain ?? false,
      list: (listing) => view.list(listing, { name: slashCommand.origin.command, command: words, args }),
      say: (text) => view.say(notice(text)),
    })
  } catch (error) {
    throw need === 'read' ? error : nothingRequested(error)
  }
}

/** Only commands that read have pages: a button that names another one is forged, and would request a change that nobody typed. */
export function pageButtons(app: App, commands: Command[], bare: Bare = async () => undefined): Record<string, Handler<Click>> {
  async function showPage(click: Click): Promise<void> {
    const button = readJson(PageButton, click.value)
    if (button?.command === helpItself.words) return click.answer.replace(await showHelp(app, commands, button.args, click.origin))
    if (button?.command === bareWords.words)
      return click.answer.replace((await bare(button.args.join(' '))) ?? unknownCommand(commands, button.args, click.origin.command))
    const found = commands.find(({ words, need }) => words === button?.command && need === 'read')
    if (!button || !found) throw new Refusal('out-of-date', outdatedButton)
    const { replace } = click.answer
    const { page, args } = button
    await runCommand(app, found, { ...click, responseUrl: undefined }, args, {
      isAgain: click.actionId !== pageActionIds.refresh,
      // A list that was refreshed is a table again, where one fits.
      list: (listing, at) =>
        replace(
          click.actionId !== pageActionIds.previous && page === 0
            ? listAnswer(listing, { ...at, page })
            : listingMessage(listing, { ...at, page }),
        ),
      say: replace,
    })
  }

  return Object.fromEntries(Object.values(pageActionIds).map((id) => [id, showPage]))
}
