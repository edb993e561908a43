import { notice } from '../../blocks/notice.ts'
import type { Message } from '../../web-api/messenger.ts'
import { type Command, commandsOfGroup, findCommand } from '../commands.ts'
import type { Handler, SlashCommand } from '../handlers.ts'
import type { May } from '../rights.ts'
import { commandHelp, groupHelp, helpMessage } from './help.ts'
import { unknownCommand } from './unknown-command.ts'

const helpWords = ['help', '?', '-h', '--help']

export function isHelpWord(word: string): boolean {
  return helpWords.includes(word.toLowerCase())
}

/** Creates the function that returns the help on a topic: on everything, one command, or the commands of a group. */
export function createShowHelp({ commands, may }: { commands: Command[]; may: May }) {
  return function helpOn(topic: string[]): Handler<SlashCommand> {
    return async ({ origin, answer }) => {
      const allowed = await may(
        origin,
        commands.map(({ need }) => need),
      )
      await answer.ephemeral(messageOn(topic, { name: origin.command, allowed }))
    }
  }

  function messageOn(topic: string[], help: Parameters<typeof helpMessage>[1]): Message {
    const [first, ...others] = topic.filter((word) => !isHelpWord(word))
    if (first === undefined) return helpMessage(commands, help)
    const words = [first, ...others]
    const found = findCommand(commands, words)
    if (found) {
      const more = commands.filter((each) => each.words.startsWith(`${found.command.words} `))
      return commandHelp(found.command, { ...help, more, unknown: found.args })
    }
    const members = commandsOfGroup(commands, first)
    if (members.length > 0) return groupHelp(members, { ...help, unknown: others })
    return notice(unknownCommand(commands, words, help.name))
  }
}
