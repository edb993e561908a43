import { truncate } from '../../text/cut-text.ts'
import { alternatives, code, joinMrkdwn, type Mrkdwn, mrkdwn } from '../../text/text.ts'
import type { Command } from '../commands.ts'
import { suggestCommands, suggestGroup } from './suggest-commands.ts'

/** Says that there is no such command, and suggests those that were probably meant. */
export function unknownCommand(commands: Command[], words: string[], name: string): Mrkdwn {
  const asTyped = (command: string) => code(`${name} ${command}`)
  const group = commands.filter((command) => command.words.startsWith(`${words[0]?.toLowerCase()} `))
  if (group.length > 0 && words.length === 1) {
    const choices = group.map((command) => mrkdwn`${asTyped(command.words)}: ${command.summary}`)
    return mrkdwn`${asTyped(typedWords(words))} needs one more word:\n${joinMrkdwn(choices, '\n')}`
  }
  const known = commands.map((command) => command.words)
  const near = suggestCommands([...known, 'help'], words)
  const ofGroup = group.length > 0 ? group.map((command) => command.words) : suggestGroup(known, words)
  return notACommand(words, near.length > 0 ? near : ofGroup, name)
}

/** Says that there is no such command, and which ones exist instead. */
export function notACommand(words: string[], meant: string[], name: string): Mrkdwn {
  const asTyped = (command: string) => code(`${name} ${command}`)
  const suggestion = meant.length > 0 ? mrkdwn` Did you mean ${alternatives(meant.map(asTyped))}?` : mrkdwn``
  return mrkdwn`${asTyped(typedWords(words))} isn't a command.${suggestion} See ${asTyped('help')}.`
}

function typedWords(words: string[]): string {
  return truncate(words.slice(0, 2).join(' ').toLowerCase(), 80, 'plain')
}
