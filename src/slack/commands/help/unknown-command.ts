import { truncate } from '../../text/cut-text.ts'
import { code, joinMrkdwn, type Mrkdwn, mrkdwn } from '../../text/text.ts'
import type { Command } from '../commands.ts'
import { type Suggestion, suggestCommands, suggestGroup } from './suggest-commands.ts'
import { didYouMean } from './whole-command.ts'

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
  const ofGroup = group.length > 0 ? group.map((command) => ({ command: command.words, typed: 2 })) : suggestGroup(known, words)
  return notACommand(words, fitting(commands, near.length > 0 ? near : ofGroup, words), name)
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
