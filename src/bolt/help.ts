import type { Button } from '@slack/web-api'
import type { z } from 'zod'
import type { App } from '../app.ts'
import type { Origin } from '../domain/approval.ts'
import { freezing } from '../domain/policy.ts'
import { suggestNames } from '../domain/text.ts'
import { may } from '../rights/judge.ts'
import { actionsFor, button, meantButtons, message, wholeSection } from '../slack/blocks.ts'
import { type Command, findCommand, groups, type Need } from '../slack/commands.ts'
import { longestButtonValue } from '../slack/fit.ts'
import { type PageButton, pageActionIds } from '../slack/listing.ts'
import { alternatives, capitalised, code, joinMrkdwn, type Mrkdwn, mrkdwn, truncate } from '../slack/text.ts'
import { withoutMention } from '../slack/typed-words.ts'
import type { Message } from '../slack/web-api.ts'
import { formButtons, openMeantForm } from './open-forms.ts'

export async function showHelp(app: App, commands: Command[], topic: string[], origin: Origin): Promise<Message> {
  const needs = commands.map(({ need }) => need)
  const help = { name: origin.command, allowed: await may(app, origin, needs) }
  const words = topic.filter((word) => !isHelpWord(word))
  const [first] = words
  if (first === undefined) return helpMessage(commands, help)
  const found = findCommand(commands, words)?.command
  const members = commands.filter((command) => command.words.startsWith(`${found?.words ?? first.toLowerCase()} `))
  if (found) return commandHelp(found, members, help)
  if (members.length === 0) return unknownCommand(commands, words, help.name)
  const usable = members.filter(({ need }) => help.allowed.includes(need))
  return withButtons([...linesOf(usable, help.name), ...notOpen(members, help)], usable, help.name)
}

/** `ip move --help`, `ip move 203.0.113.10 ?`, `ip move help`. Next to other words and in a search, `help` counts as a name. */
export function asksForHelp(args: string[], command: Command | undefined): boolean {
  if (command?.form && args.length === 1 && isHelpWord(args[0] ?? '')) return true
  return [args.at(0), args.at(-1)].some((word) => word !== undefined && word.toLowerCase() !== 'help' && isHelpWord(word))
}

/** Phones turn `--help` into `—help`, which is read as `-help`. */
export function isHelpWord(word: string): boolean {
  return /^(?:help|\?|--?h(?:elp)?)$/i.test(word)
}

interface HelpFor {
  name: string
  allowed: Need[]
}

/** Lists the commands in groups, a line each, with the buttons that open forms. Those that the person may not use are only named. */
function helpMessage(commands: Command[], help: HelpFor): Message {
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
    ...(command.need === 'read' || command.need === freezing ? [] : [command.takesNoStart ? withReason : withStart]),
    ...(more.length > 0 ? [joinMrkdwn([mrkdwn`*More*`, ...linesOf(more, name)], '\n')] : []),
    ...(isUsable ? [] : [mrkdwn`_Not available to you here._`]),
  ]
  return withButtons(parts, isUsable ? [command] : [], name)
}

const withReason = mrkdwn`To give a reason, end the command with ${code('because')} and the reason. Approvers see it.`
const withStart = mrkdwn`To start later, add ${code('at 22:00')} or ${code('in 2h')}. To give a reason, end the command with ${code('because')} and the reason. Approvers see it.`

function notOpen(commands: Command[], { name, allowed }: HelpFor): Mrkdwn[] {
  const named = commands.filter(({ need }) => !allowed.includes(need)).map(({ words }) => code(`${name} ${words}`))
  return named.length === 0 ? [] : [mrkdwn`_Not available to you here:_ ${joinMrkdwn(named, ', ')}`]
}

function linesOf(commands: Command[], name: string): Mrkdwn[] {
  return commands.map((command) => mrkdwn`${code(synopsis(command, name))} ${command.summary}`)
}

function closing(usable: Command[], name: string): Mrkdwn {
  const [first] = usable
  const approval = mrkdwn`Changes need another person's approval, unless a rule says otherwise. To start later, add ${code('at 22:00')} or ${code('in 2h')} to a change. To give a reason, end it with ${code('because')} and the reason.`
  const lookUp = mrkdwn`To look up an address, a server, a key or a request, type only its name or id: ${code(`${name} web-1`)}.`
  return first ? mrkdwn`${approval}\n${lookUp} Details and examples of a command: ${code(`${name} help ${first.words}`)}` : approval
}

function withButtons(parts: Mrkdwn[], usable: Command[], name: string): Message {
  return message([...parts.flatMap(wholeSection), ...actionsFor(name, 'forms', formButtons(usable))])
}

function synopsis({ words, usage }: Command, name: string): string {
  return `${name} ${words}${usage ? ` ${usage}` : ''}`
}

/** `usage`: how the command is used. `rest`: the words that are too many. */
export function wrongUsage(usage: Mrkdwn, rest: string[]): Mrkdwn {
  return mrkdwn`Not requested: ${rest.length > 0 ? mrkdwn`couldn't read ${quoted(rest)}` : 'a name is missing'}. ${usage}`
}

export function quoted(words: string[]): Mrkdwn {
  return code(truncate(words.map(argument).join(' '), 80, 'plain'))
}

/** Writes an argument as it can be typed: a mention by its name, and a name with spaces in quotes. */
export function argument(word: string): string {
  const named = withoutMention(word)
  const typed = named === word ? word : `${word.startsWith('<#') ? '#' : '@'}${named}`
  return /\s/.test(typed) || typed === '' ? `"${typed.replaceAll('"', '')}"` : typed
}

export function unknownCommand(commands: Command[], words: string[], name: string): Message {
  const { names, taken } = meantBy(commands, words)
  const all = [...commands, helpItself]
  const meant = isDecision(words) ? [] : names.flatMap((name) => all.find((command) => command.words === name) ?? [])
  const buttons = meant.flatMap((command) => {
    const label = `${command.form ? 'Open' : 'Run'} ${command.words}`
    return buttonOf(command, words.slice(taken), meant.length > 1 ? label : undefined)
  })
  return message([...wholeSection(unknownWords(commands, words, name)), ...meantButtons(name, buttons)])
}

function unknownWords(commands: Command[], words: string[], name: string): Mrkdwn {
  const asTyped = (command: string) => code(`${name} ${command}`)
  const first = words[0]?.toLowerCase() ?? ''
  const group = commands.filter((command) => command.words.startsWith(`${first} `))
  if (group.length > 0 && words.length === 1) {
    const choices = group.map((command) => mrkdwn`${asTyped(command.words)}: ${command.summary}`)
    return joinMrkdwn([mrkdwn`${asTyped(first)} needs one more word:`, ...choices], '\n')
  }
  if (isDecision(words))
    return mrkdwn`${asTyped(first)} isn't a command. Press *${capitalised(first)}* on the request message. ${asTyped('pending')} lists the requests that need approval, with links.`
  const { names: near, taken } = meantBy(commands, words)
  const next = near.length > 0 ? mrkdwn`Did you mean ${alternatives(near.map(asTyped))}?` : mrkdwn`See ${asTyped('help')}.`
  return mrkdwn`${asTyped(truncate(words.slice(0, taken).join(' '), 80, 'plain'))} isn't a command. ${next}`
}

/** What people decide with the buttons of a request message. */
function isDecision([first = '']: string[]): boolean {
  return ['approve', 'reject', 'withdraw'].includes(first.toLowerCase())
}

type Meant = Pick<Command, 'words' | 'need' | 'form' | 'button'>

/** Not among the commands, because it lists them. */
export const helpItself: Meant = { words: 'help', need: 'read' }
/** What words do that are no command: they are looked up. */
export const bareWords: Meant = { words: '', need: 'read' }

/** Runs what was meant, if it only reads, or opens its form with what was typed. */
export function buttonOf(
  { words, need, form, button: own }: Meant,
  args: string[],
  text = form ? (own?.text ?? 'Open form') : 'Run it',
): Button[] {
  if (!form && need !== 'read') return []
  const value = JSON.stringify({ version: 1, command: words, args, page: 0 } satisfies z.infer<typeof PageButton>)
  return value.length > longestButtonValue ? [] : [button({ text, actionId: form ? openMeantForm : pageActionIds.run, value })]
}

/** Names the commands that were probably meant. `taken`: how many of the words were meant as the command, before its arguments. */
export function meantBy(commands: Command[], words: string[]): { names: string[]; taken: number } {
  const [synonym] = commands.filter(({ synonyms }) => synonyms?.includes(typedWords(words, 2)))
  if (synonym) return { names: [synonym.words], taken: 2 }
  const names = [...commands.map((command) => command.words), 'help']
  const [whole, first] = [suggestNames(names, typedWords(words, 2)), typedWords(words, 1)]
  if (typedWords(words, 2) === `${first} list` && names.includes(`${first}s`)) return { names: [`${first}s`], taken: 2 }
  const isGroup = commands.some((command) => command.words.startsWith(`${first} `))
  if (whole.length > 0 || isGroup) return { names: whole.length > 0 ? whole : suggestNames(names, first), taken: 2 }
  const takers = words.length > 1 ? takersOf(commands, first) : []
  return { names: takers.length > 0 ? takers : suggestNames(names, first), taken: 1 }
}

/** Finds commands that take arguments, a change also by its last word: `moev 203.0.113.10 web-1` means `ip move` and not `moves`. */
function takersOf(commands: Command[], typed: string): string[] {
  const takers = commands.filter(({ usage }) => usage !== '')
  const changes = takers.filter(({ need }) => need !== 'read').map(({ words }) => [words.split(' ').at(-1) ?? words, words] as const)
  const byName = new Map([...changes, ...takers.map(({ words }) => [words, words] as const)])
  return [...new Set(suggestNames([...byName.keys(), 'help'], typed).map((name) => byName.get(name) ?? name))]
}

function typedWords(words: string[], count: number): string {
  return truncate(words.slice(0, count).join(' ').toLowerCase(), 80, 'plain')
}
