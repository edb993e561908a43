import type { App } from '../app.ts'
import type { Origin } from '../domain/approval.ts'
import { UnknownName } from '../domain/errors.ts'
import { countMistakes, suggestNames } from '../domain/text.ts'
import { withinOr } from '../domain/within.ts'
import { actionsFor, message, notice, wholeSection } from './blocks.ts'
import { type Command, findCommand, groups, type Need } from './commands.ts'
import { Refusal } from './errors.ts'
import { formButtons } from './forms.ts'
import { alternatives, code, joinMrkdwn, type Mrkdwn, mrkdwn, truncate } from './text.ts'
import { withoutMention } from './typed-words.ts'
import type { Message } from './web-api.ts'

interface WholeCommand {
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

export function didYouMean(name: string, meant: WholeCommand[]): Mrkdwn {
  // `keys` with the argument `create` reads like `keys create`.
  const distinct = new Map(meant.map((one) => wholeCommand(name, one)).map((whole) => [whole.text, whole]))
  return mrkdwn`Did you mean ${alternatives([...distinct.values()])}?`
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

/** Explains one command. `more`: the commands that begin with the same words. */
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

export function takesNone({ words }: Command, args: string[], name: string): Mrkdwn {
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

/** The buttons of a request message, by the words that people type in their place. */
const buttonNames: Record<string, string> = { approve: 'Approve', reject: 'Reject', withdraw: 'Withdraw' }

/** Says that there is no such command, and suggests those that were probably meant, with the arguments that were typed. */
export function unknownCommand(commands: Command[], words: string[], name: string): Mrkdwn {
  const asTyped = (command: string) => code(`${name} ${command}`)
  const first = words[0]?.toLowerCase() ?? ''
  const group = commands.filter((command) => command.words.startsWith(`${first} `))
  if (group.length > 0 && words.length === 1) {
    const choices = group.map((command) => mrkdwn`${asTyped(command.words)}: ${command.summary}`)
    return mrkdwn`${asTyped(typedWords(words))} needs one more word:\n${joinMrkdwn(choices, '\n')}`
  }
  const buttonName = buttonNames[first]
  if (buttonName !== undefined)
    return mrkdwn`${asTyped(first)} isn't a command. Press *${buttonName}* on the request message. ${asTyped('pending')} lists the requests that need approval, with links.`
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
export function notACommand(words: string[], meant: Meant[], name: string): Mrkdwn {
  const whole = meant.map((one) => ({ words: one.words, args: words.slice(one.typed) }))
  const isOneWord = meant.length > 0 && meant.every(({ typed }) => typed === 1)
  const sentences = [
    mrkdwn`${code(`${name} ${typedWords(words.slice(0, isOneWord ? 1 : 2))}`)} isn't a command.`,
    ...(whole.length > 0 ? [didYouMean(name, whole)] : []),
    ...(meant.some((one) => one.words === 'help') ? [] : [mrkdwn`See ${code(`${name} help`)}.`]),
  ]
  return joinMrkdwn(sentences, ' ')
}

function typedWords(words: string[]): string {
  return truncate(words.slice(0, 2).join(' ').toLowerCase(), 80, 'plain')
}

const helpWords = ['help', '?', '-h', '--help']

export function isHelpWord(word: string): boolean {
  return helpWords.includes(word.toLowerCase())
}

/** Returns the help on a topic: on everything, one command, or the commands of a group. */
export async function showHelp(app: Pick<App, 'access'>, commands: Command[], topic: string[], origin: Origin): Promise<Message> {
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

/** Says that nothing has this name, or why nothing can have it, and suggests names that were probably meant. */
function unknownName({ what, typed, problem }: UnknownName, names: (string | undefined)[], list: string): Mrkdwn {
  const known = names.filter((name) => name !== undefined)
  const near = suggestNames(known, typed).map(code)
  const shown = code(truncate(typed, 80, 'plain'))
  const unknown = problem === undefined ? mrkdwn`No ${what} ${shown}.` : mrkdwn`${shown} ${truncate(problem, 200, 'plain')}`
  return mrkdwn`${unknown}${near.length > 0 ? mrkdwn` Did you mean ${alternatives(near)}?` : ''} See ${code(list)}.`
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
