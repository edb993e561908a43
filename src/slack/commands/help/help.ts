import { actions, button, wholeSection } from '../../blocks/blocks.ts'
import { message } from '../../blocks/message.ts'
import { truncate } from '../../text/cut-text.ts'
import { code, joinMrkdwn, type Mrkdwn, mrkdwn } from '../../text/text.ts'
import type { Message } from '../../web-api/messenger.ts'
import { type Command, groups, type Need } from '../commands.ts'
import { formButtonValue } from '../forms/form-button.ts'
import { argument, type WholeCommand, wholeCommand } from './whole-command.ts'

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
export function commandHelp(command: Command, { name, allowed, more, unknown }: HelpFor & { more: Command[]; unknown: string[] }): Message {
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
export function groupHelp(commands: Command[], { name, allowed, unknown }: HelpFor & { unknown: string[] }): Message {
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
export function notUnderstood(words: string[]): Mrkdwn[] {
  return words.length === 0 ? [] : [mrkdwn`Not understood: ${code(truncate(words.map(argument).join(' '), 80, 'plain'))}.`]
}

/**
 * Says that nothing was requested, and how the command is used. `rest`: the words that are too many. They may be a reason, so `meant` is the
 * command without them, and is shown with them as its reason.
 */
export function wrongUsage(name: string, usage: Mrkdwn, rest: string[], meant: Pick<WholeCommand, 'words' | 'args'>): Mrkdwn {
  const asReason = wholeCommand(name, { ...meant, reason: rest.join(' ') })
  const reason = rest.length > 0 ? [mrkdwn`If ${code(truncate(rest.join(' '), 80, 'plain'))} is the reason, send ${asReason}.`] : []
  return joinMrkdwn([mrkdwn`Nothing was requested.`, ...notUnderstood(rest), usage, ...reason], ' ')
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
  return message({ text: joinMrkdwn(parts, '\n\n'), blocks: [...parts.flatMap(wholeSection), ...actions(buttons)] })
}

function synopsis({ words, usage }: Command, name: string): string {
  return `${name} ${words}${usage ? ` ${usage}` : ''}`
}
