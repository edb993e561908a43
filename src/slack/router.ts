import type { App } from '../app.ts'
import type { Origin } from '../domain/approval.ts'
import { UnknownName } from '../domain/errors.ts'
import { countMistakes, suggestNames } from '../domain/text.ts'
import { withinOr } from '../domain/within.ts'
import { actionsFor, message, notice, wholeSection } from './blocks.ts'
import { type Command, findCommand, findMeant, groups, limitWords, type Need } from './commands.ts'
import { nothingRequested, outdatedButton, Refusal } from './errors.ts'
import { formButtons, formOf } from './forms.ts'
import type { Click, FormHandler, Handler, SlashCommand } from './interactions.ts'
import { type Listing, type ListPlace, listAnswer, listingMessage, PageButton, pageActionIds } from './listing.ts'
import { readJson } from './payloads.ts'
import { alternatives, capitalised, code, joinMrkdwn, type Mrkdwn, mrkdwn, truncate } from './text.ts'
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

/** A command that is cut could not be copied, so a longer one is shown without its arguments. */
const longest = 500

/** Shows a whole command as code, to copy. `name` is the slash command's name. */
export function wholeCommand(name: string, { words, args }: { words: string; args: string[] }): Mrkdwn {
  const whole = [name, words, ...args.map(argument)].join(' ')
  return code(whole.length > longest ? truncate(`${name} ${words}`, longest, 'plain') : whole)
}

/** Writes an argument as it can be typed: a mention by its name, and a name with spaces in quotes. */
function argument(word: string): string {
  const named = withoutMention(word)
  const typed = named === word ? word : `${word.startsWith('<#') ? '#' : '@'}${named}`
  return /\s/.test(typed) || typed === '' ? `"${typed.replaceAll('"', '')}"` : typed
}

interface HelpFor {
  name: string
  allowed: Need[]
}

/** Lists the commands in groups, a line each, with the buttons that open forms. Those that the person may not use are only named. */
export function helpMessage(commands: Command[], help: HelpFor): Message {
  const { name, allowed } = help
  const usable = commands.filter(({ need }) => allowed.includes(need))
  const byGroup = groups.map((group) => ({ title: mrkdwn`*${group}*`, members: usable.filter((command) => command.group === group) }))
  const parts = [
    mrkdwn`*What you can do*`,
    ...byGroup
      .filter(({ members }) => members.length > 0)
      .map(({ title, members }) => joinMrkdwn([title, ...linesOf(members, name)], '\n')),
    ...(usable.length === 0 ? [mrkdwn`Nothing: only full members of this workspace can use Lockkeeper.`] : []),
    ...notOpen(commands, help),
    closing(usable, name),
  ]
  return withButtons(parts, usable, name)
}

function commandHelp(command: Command, more: Command[], { name, allowed }: HelpFor): Message {
  const isUsable = allowed.includes(command.need)
  const { summary, details, examples } = command
  const shown = examples.map((one) => code(`${name} ${command.words} ${one}`))
  const parts = [
    mrkdwn`*${code(synopsis(command, name))}*\n${summary}.${details ? mrkdwn`\n${details}` : ''}`,
    ...(shown.length > 0 ? [joinMrkdwn([mrkdwn`*Examples*`, ...shown], '\n')] : []),
    ...(command.need === 'read' ? [] : [withReason]),
    ...(more.length > 0 ? [joinMrkdwn([mrkdwn`*More*`, ...linesOf(more, name)], '\n')] : []),
    ...(isUsable ? [] : [mrkdwn`_Not available to you here._`]),
  ]
  return withButtons(parts, isUsable ? [command] : [], name)
}

const withReason = mrkdwn`To give a reason, end the command with ${code('because')} and the reason. Approvers see it.`

function notOpen(commands: Command[], { name, allowed }: HelpFor): Mrkdwn[] {
  const named = commands.filter(({ need }) => !allowed.includes(need)).map(({ words }) => code(`${name} ${words}`))
  return named.length === 0 ? [] : [mrkdwn`_Not available to you here:_ ${joinMrkdwn(named, ', ')}`]
}

function notUnderstood(words: string[]): Mrkdwn[] {
  return words.length === 0 ? [] : [mrkdwn`Not understood: ${code(truncate(words.map(argument).join(' '), 80, 'plain'))}.`]
}

/** Says that nothing was requested, and how the command is used. `rest`: the words that are too many. */
export function wrongUsage(usage: Mrkdwn, rest: string[]): Mrkdwn {
  return joinMrkdwn([mrkdwn`Nothing was requested.`, ...notUnderstood(rest), usage], ' ')
}

function takesNone({ words }: Command, args: string[], name: string): Mrkdwn {
  return joinMrkdwn([mrkdwn`${code(`${name} ${words}`)} takes no arguments.`, ...notUnderstood(args)], ' ')
}

function linesOf(commands: Command[], name: string): Mrkdwn[] {
  return commands.map((command) => mrkdwn`${code(synopsis(command, name))} ${command.summary}`)
}

function closing(usable: Command[], name: string): Mrkdwn {
  const [first] = usable
  const approval = mrkdwn`Changes need another person's approval, unless a rule says otherwise. To give a reason, end a change with ${code('because')} and the reason.`
  return first ? mrkdwn`${approval} Details and examples of a command: ${code(`${name} help ${first.words}`)}` : approval
}

function withButtons(parts: Mrkdwn[], usable: Command[], name: string): Message {
  return message([...parts.flatMap(wholeSection), ...actionsFor(name, 'forms', formButtons(usable))])
}

function synopsis({ words, usage }: Command, name: string): string {
  return `${name} ${words}${usage ? ` ${usage}` : ''}`
}

/** Says that there is no such command, and suggests those that were probably meant, with the arguments that were typed. */
function unknownCommand(commands: Command[], words: string[], name: string): Mrkdwn {
  const asTyped = (command: string) => code(`${name} ${command}`)
  const first = words[0]?.toLowerCase() ?? ''
  const group = commands.filter((command) => command.words.startsWith(`${first} `))
  if (group.length > 0 && words.length === 1) {
    const choices = group.map((command) => mrkdwn`${asTyped(command.words)}: ${command.summary}`)
    return joinMrkdwn([mrkdwn`${asTyped(typedWords(words))} needs one more word:`, ...choices], '\n')
  }
  if (['approve', 'reject', 'withdraw'].includes(first))
    return mrkdwn`${asTyped(first)} isn't a command. Press *${capitalised(first)}* on the request message. ${asTyped('pending')} lists the requests that need approval, with links.`
  // If the first word is right, probably only the second one is mistyped.
  const inGroup = meantCommands(group, words)
  return notACommand(words, inGroup.length > 0 ? inGroup : meantCommands([...commands, { words: 'help' }], words), name)
}

/** A command that was probably meant, and how many of the typed words stand for it. The others are its arguments. */
interface Meant {
  words: string
  typed: number
}

/** Finds the command with the fewest mistakes, or two. A last word without the words before it (`move`) stands for a command, too. */
function meantCommands(commands: Pick<Command, 'words'>[], typed: string[]): Meant[] {
  const readings = commands.flatMap(({ words }) => {
    const own = words.split(' ')
    const whole = { words, typed: own.length, mistakes: countMistakes(typed.slice(0, own.length).join(' '), words) }
    const short = { words, typed: 1, mistakes: countMistakes(typed[0] ?? '', own.at(-1) ?? '') + own.length - 1 }
    // As many letters may be wrong as half of the longest word has, because two that changed places count twice. Of three, one may be.
    const longest = Math.max(...own.map((word) => word.length))
    const most = longest > 3 ? Math.ceil(longest / 2) : 1
    return [whole.mistakes <= short.mistakes ? whole : short].filter(({ mistakes }) => mistakes <= most)
  })
  const fewest = Math.min(...readings.map(({ mistakes }) => mistakes))
  return readings.filter(({ mistakes }) => mistakes === fewest).slice(0, 2)
}

/** Says that there is no such command, and which ones exist instead. Each takes over the words after those that stand for it. */
function notACommand(words: string[], meant: Meant[], name: string): Mrkdwn {
  const whole = meant.map((one) => wholeCommand(name, { words: one.words, args: words.slice(one.typed) }))
  // `keys` with the argument `create` reads like `keys create`.
  const distinct = [...new Map(whole.map((one) => [one.text, one])).values()]
  const isOneWord = meant.length > 0 && meant.every(({ typed }) => typed === 1)
  const sentences = [
    mrkdwn`${code(`${name} ${typedWords(words.slice(0, isOneWord ? 1 : 2))}`)} isn't a command.`,
    ...(distinct.length > 0 ? [mrkdwn`Did you mean ${alternatives(distinct)}?`] : []),
    ...(meant.some((one) => one.words === 'help') ? [] : [mrkdwn`See ${code(`${name} help`)}.`]),
  ]
  return joinMrkdwn(sentences, ' ')
}

function typedWords(words: string[]): string {
  return truncate(words.slice(0, 2).join(' ').toLowerCase(), 80, 'plain')
}

const helpWords = ['help', '?', '-h', '--help']

function isHelpWord(word: string): boolean {
  return helpWords.includes(word.toLowerCase())
}

async function showHelp(app: Pick<App, 'access'>, commands: Command[], topic: string[], origin: Origin): Promise<Message> {
  const needs = commands.map(({ need }) => need)
  const help = { name: origin.command, allowed: await app.access.may(origin, needs) }
  const words = topic.filter((word) => !isHelpWord(word))
  const [first] = words
  if (first === undefined) return helpMessage(commands, help)
  const found = findCommand(commands, words)?.command
  const members = commands.filter((command) => command.words.startsWith(`${found?.words ?? first.toLowerCase()} `))
  if (found) return commandHelp(found, members, help)
  if (members.length === 0) return notice(unknownCommand(commands, words, help.name))
  const usable = members.filter(({ need }) => help.allowed.includes(need))
  return withButtons([...linesOf(usable, help.name), ...notOpen(members, help)], usable, help.name)
}

/** Where the names for suggestions come from, and the command that lists them: `/infra keys`. */
export interface NameSource {
  names: () => Promise<(string | undefined)[]>
  list: string
}

/** The longest wait for suggestions. The answer is right without them. */
const suggestWithinMs = 2_000

/** Says that nothing has this name, and suggests names that were probably meant. */
function unknownName({ what, typed }: UnknownName, names: (string | undefined)[], list: string): Mrkdwn {
  const known = names.filter((name) => name !== undefined)
  const near = suggestNames(known, typed).map(code)
  const shown = code(truncate(typed, 80, 'plain'))
  return mrkdwn`No ${what} ${shown}.${near.length > 0 ? mrkdwn` Did you mean ${alternatives(near)}?` : ''} See ${code(list)}.`
}

/** Waits for work that looks up typed names. If one is unknown, throws a Refusal with suggestions. `sources`: by kind of thing. */
export async function withSuggestions<T>(work: Promise<T>, sources: Record<string, NameSource>): Promise<T> {
  try {
    return await work
  } catch (error) {
    const source = error instanceof UnknownName ? sources[error.what] : undefined
    if (!(error instanceof UnknownName) || !source) throw error
    const names = await withinOr(suggestWithinMs, source.names(), []).catch(() => [])
    throw new Refusal(unknownName(error, names, source.list))
  }
}
