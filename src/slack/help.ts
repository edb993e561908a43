import type { App } from '../app.ts'
import type { Origin } from '../domain/approval.ts'
import { UnknownName } from '../domain/errors.ts'
import { countMistakes, nearestNames, suggestNames } from '../domain/text.ts'
import { withinOr } from '../domain/within.ts'
import { actions, button, message, notice, wholeSection } from './blocks.ts'
import { type Command, findCommand, groups, type Need } from './commands.ts'
import { Refusal } from './errors.ts'
import { formButtonValue } from './forms.ts'
import { alternatives, code, joinMrkdwn, type Mrkdwn, mrkdwn, truncate } from './text.ts'
import { withoutMention } from './typed-words.ts'
import type { Message } from './web-api.ts'

/** A command as a person should have typed it. */
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

/** Suggests whole commands in place of what was typed. */
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
  /** The slash command's name. */
  name: string
  /** The needs for which the person has the right. */
  allowed: Need[]
}

/** Lists the commands in groups, a line each, with the buttons that open forms. Those that the person may not use are only named. */
export function helpMessage(commands: Command[], { name, allowed }: HelpFor): Message {
  const usable = commands.filter(({ need }) => allowed.includes(need))
  const others = commands.filter((command) => !usable.includes(command))
  const titled = groups.map((group) => ({ group, members: usable.filter((command) => command.group === group) }))
  const parts = [
    mrkdwn`*What you can do*`,
    ...titled.filter(({ members }) => members.length > 0).map(({ group, members }) => groupLines(mrkdwn`*${group}*`, members, name)),
    ...(usable.length === 0 ? [mrkdwn`Nothing: only full members of this workspace can use Lockkeeper.`] : []),
    ...notOpen(others, name),
    closing(usable, name),
  ]
  return withButtons(parts, usable, name)
}

/** Explains one command. `more`: the commands that begin with the same words. `unknown`: words that the help did not understand. */
function commandHelp(command: Command, { name, allowed, more, unknown }: HelpFor & { more: Command[]; unknown: string[] }): Message {
  const isUsable = allowed.includes(command.need)
  const { summary, details, examples } = command
  const parts = [
    ...notUnderstood(unknown),
    mrkdwn`*${code(synopsis(command, name))}*\n${summary}.${details ? mrkdwn`\n${details}` : ''}`,
    ...(examples.length > 0
      ? [
          mrkdwn`*Examples*\n${joinMrkdwn(
            examples.map((one) => code(`${name} ${command.words} ${one}`)),
            '\n',
          )}`,
        ]
      : []),
    ...(command.need === 'read' ? [] : [withReason]),
    ...(more.length > 0 ? [groupLines(mrkdwn`*More*`, more, name)] : []),
    ...(isUsable ? [] : [mrkdwn`_Not available to you here._`]),
  ]
  return withButtons(parts, isUsable ? [command] : [], name)
}

/** Lists the commands that begin with a word, or stand under a heading. */
function groupHelp(commands: Command[], { name, allowed, unknown }: HelpFor & { unknown: string[] }): Message {
  const usable = commands.filter(({ need }) => allowed.includes(need))
  const others = commands.filter((command) => !usable.includes(command))
  const parts = [...notUnderstood(unknown), ...(usable.length > 0 ? [groupLines(undefined, usable, name)] : []), ...notOpen(others, name)]
  return withButtons(parts, usable, name)
}

const withReason = mrkdwn`To give a reason, end the command with ${code('because')} and the reason. Approvers see it.`

function notOpen(commands: Command[], name: string): Mrkdwn[] {
  if (commands.length === 0) return []
  const named = commands.map(({ words }) => code(`${name} ${words}`))
  return [mrkdwn`_Not available to you here:_ ${joinMrkdwn(named, ', ')}`]
}

/** Says which words were not understood, as they were typed. */
function notUnderstood(words: string[]): Mrkdwn[] {
  return words.length === 0 ? [] : [mrkdwn`Not understood: ${code(truncate(words.map(argument).join(' '), 80, 'plain'))}.`]
}

/** Says that nothing was requested, and how the command is used. `rest`: the words that are too many. */
export function wrongUsage(usage: Mrkdwn, rest: string[]): Mrkdwn {
  return joinMrkdwn([mrkdwn`Nothing was requested.`, ...notUnderstood(rest), usage], ' ')
}

/** Says that a command takes no arguments. */
export function takesNone({ words }: Command, args: string[], name: string): Mrkdwn {
  return joinMrkdwn([mrkdwn`${code(`${name} ${words}`)} takes no arguments.`, ...notUnderstood(args)], ' ')
}

function groupLines(title: Mrkdwn | undefined, commands: Command[], name: string): Mrkdwn {
  const lines = commands.map((command) => mrkdwn`${code(synopsis(command, name))} ${command.summary}`)
  return joinMrkdwn([...(title ? [title] : []), ...lines], '\n')
}

function closing(usable: Command[], name: string): Mrkdwn {
  const [first] = usable
  const approval = mrkdwn`Changes need another person's approval, unless a rule says otherwise. To give a reason, end a change with ${code('because')} and the reason.`
  return first ? mrkdwn`${approval} Details and examples of a command: ${code(`${name} help ${first.words}`)}` : approval
}

function withButtons(parts: Mrkdwn[], usable: Command[], name: string): Message {
  const buttons = usable.flatMap((command) =>
    command.button && command.form ? [button({ ...command.button, value: formButtonValue(name) })] : [],
  )
  return message([...parts.flatMap(wholeSection), ...actions(buttons)])
}

function synopsis({ words, usage }: Command, name: string): string {
  return `${name} ${words}${usage ? ` ${usage}` : ''}`
}

const mostSuggestions = 2

/** A command that was probably meant, and how many of the typed words stand for it. The others are its arguments. */
interface Suggestion {
  command: string
  typed: number
}

/**
 * Finds the commands that were probably meant: the nearest one, at most two that are equally near, or none. It recognizes mistyped words,
 * and a last word without the words before it (`move`).
 */
function suggestCommands(known: string[], words: string[]): Suggestion[] {
  const near = nearestNames(known, { mistakesIn: (command) => readingOf(words, command).mistakes, mostMistakes })
  return near.slice(0, mostSuggestions).map((command) => ({ command, typed: readingOf(words, command).typed }))
}

/**
 * Reads the typed words as a command with the fewest mistakes. It compares only as many words as the command has: the others are arguments.
 */
function readingOf(words: string[], command: string): { mistakes: number; typed: number } {
  const own = command.split(' ')
  const first = words[0] ?? ''
  const readings = [
    { mistakes: countMistakes(words.slice(0, own.length).join(' '), command), typed: Math.min(own.length, words.length) },
    { mistakes: countMistakes(first, own.at(-1) ?? '') + own.length - 1, typed: 1 },
  ]
  return readings.reduce((best, reading) => (reading.mistakes < best.mistakes ? reading : best))
}

/**
 * Allows half as many mistakes as the longest word has letters, because two letters that changed places count as two mistakes. Of three letters
 * two must be right: `ips` means `ip list` rather than `vms`.
 */
function mostMistakes(command: string): number {
  const longest = Math.max(...command.split(' ').map((word) => word.length))
  return longest > 3 ? Math.ceil(longest / 2) : 1
}

/** Finds the commands whose first word was probably meant: for `ip` or `ips`, `ip move` and `ip list`. */
function suggestGroup(known: string[], [first = '']: string[]): Suggestion[] {
  const firstWords = [...new Set(known.flatMap((command) => (command.includes(' ') ? (command.split(' ')[0] ?? []) : [])))]
  const [nearest] = nearestNames(firstWords, { mistakesIn: (word) => countMistakes(first, word), mostMistakes: () => 1 })
  const typed = nearest === first.toLowerCase() ? 2 : 1
  return known.filter((command) => nearest !== undefined && command.startsWith(`${nearest} `)).map((command) => ({ command, typed }))
}

/** The buttons of a request message, by the words that people type in their place. */
const buttonNames: Record<string, string> = {
  approve: 'Approve',
  reject: 'Reject',
  withdraw: 'Withdraw',
}

/** Says that there is no such command, and suggests those that were probably meant, with the arguments that were typed. */
export function unknownCommand(commands: Command[], words: string[], name: string): Mrkdwn {
  const asTyped = (command: string) => code(`${name} ${command}`)
  const group = commands.filter((command) => command.words.startsWith(`${words[0]?.toLowerCase()} `))
  if (group.length > 0 && words.length === 1) {
    const choices = group.map((command) => mrkdwn`${asTyped(command.words)}: ${command.summary}`)
    return mrkdwn`${asTyped(typedWords(words))} needs one more word:\n${joinMrkdwn(choices, '\n')}`
  }
  const known = commands.map((command) => command.words)
  const first = words[0]?.toLowerCase() ?? ''
  const buttonName = buttonNames[first]
  if (buttonName !== undefined && known.includes('pending'))
    return mrkdwn`${asTyped(first)} isn't a command. Press *${buttonName}* on the request message. ${asTyped('pending')} lists the requests that need approval, with links.`
  // If the first word is right, probably only the second one is mistyped.
  const inGroup = suggestCommands(
    group.map((command) => command.words),
    words,
  )
  const near = inGroup.length > 0 ? inGroup : suggestCommands([...known, 'help'], words)
  return notACommand(words, fitting(commands, near.length > 0 ? near : suggestGroup(known, words), words), name)
}

/** Says that there is no such command, and which ones exist instead. Each takes over the words after those that stand for it. */
export function notACommand(words: string[], meant: Suggestion[], name: string): Mrkdwn {
  const whole = meant.map(({ command, typed }) => ({ words: command, args: words.slice(typed) }))
  const isOneWord = meant.length > 0 && meant.every(({ typed }) => typed === 1)
  const namesHelp = meant.some(({ command }) => command === 'help')
  const sentences = [
    mrkdwn`${code(`${name} ${typedWords(words.slice(0, isOneWord ? 1 : 2))}`)} isn't a command.`,
    ...(whole.length > 0 ? [didYouMean(name, whole)] : []),
    ...(namesHelp ? [] : [mrkdwn`See ${code(`${name} help`)}.`]),
  ]
  return joinMrkdwn(sentences, ' ')
}

/** Leaves out commands that do not take the arguments that were typed. If none does, all stay, without arguments. */
function fitting(commands: Command[], meant: Suggestion[], words: string[]): Suggestion[] {
  const takesNone = ({ command, typed }: Suggestion) => typed < words.length && commands.find((one) => one.words === command)?.usage === ''
  const taking = meant.filter((one) => !takesNone(one))
  return taking.length > 0 ? taking : meant.map((one) => ({ ...one, typed: words.length }))
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
  const allowed = await app.access.may(
    origin,
    commands.map(({ need }) => need),
  )
  const help = { name: origin.command, allowed }
  const [first, ...others] = topic.filter((word) => !isHelpWord(word))
  if (first === undefined) return helpMessage(commands, help)
  const words = [first, ...others]
  const found = findCommand(commands, words)
  if (found) {
    const more = commands.filter((each) => each.words.startsWith(`${found.command.words} `))
    return commandHelp(found.command, { ...help, more, unknown: found.args })
  }
  const members = commands.filter((command) => command.words.startsWith(`${first.toLowerCase()} `))
  if (members.length > 0) return groupHelp(members, { ...help, unknown: others })
  return notice(unknownCommand(commands, words, help.name))
}

/** Where the names for suggestions come from, and the command that lists them: `/infra keys`. */
export interface NameSource {
  names: () => Promise<(string | undefined)[]>
  list: string
}

/** The longest wait for suggestions. The answer is right without them. */
const suggestWithinMs = 2_000

/** Says that nothing has this name, or why nothing can have it, and suggests names that were probably meant. */
function unknownName({ what, typed, problem }: UnknownName, known: (string | undefined)[], list: string): Mrkdwn {
  const names = known.filter((name) => name !== undefined)
  const near = suggestNames(names, typed).map(code)
  const suggestion = near.length > 0 ? mrkdwn` Did you mean ${alternatives(near)}?` : mrkdwn``
  const shown = code(truncate(typed, 80, 'plain'))
  const unknown = problem === undefined ? mrkdwn`No ${what} ${shown}.` : mrkdwn`${shown} ${truncate(problem, 200, 'plain')}`
  return mrkdwn`${unknown}${suggestion} See ${code(list)}.`
}

/**
 * Waits for work that looks up typed names. If one is unknown, throws a Refusal with suggestions. `sources` has a source for each kind of
 * thing.
 */
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
