import { notice } from '../blocks/notice.ts'
import { code, joinMrkdwn, mrkdwn } from '../text/text.ts'
import type { Message } from '../web-api/messenger.ts'
import type { Command, Need } from './commands.ts'

/** Lists the commands with examples. The commands that this person may not use are listed apart, by name only. */
export function helpMessage(commands: Command[], name: string, allowed: Need[]): Message {
  const line = (command: Command) =>
    mrkdwn`${code(`${name} ${command.words}${command.usage ? ` ${command.usage}` : ''}`)}\n${command.summary}${example(command)}`
  const example = (command: Command) =>
    command.example ? mrkdwn` Example: ${code(`${name} ${command.words} ${command.example}`)}` : mrkdwn``
  const usable = commands.filter((command) => allowed.includes(command.need))
  const others = commands.filter((command) => !allowed.includes(command.need))
  const parts = [
    mrkdwn`*What you can ask me*`,
    ...usable.map(line),
    ...(usable.length === 0 ? [mrkdwn`Nothing: only full members of this workspace can use me.`] : []),
    ...(others.length > 0
      ? [
          mrkdwn`_Not open to you here:_ ${joinMrkdwn(
            others.map((command) => code(`${name} ${command.words}`)),
            ', ',
          )}`,
        ]
      : []),
    mrkdwn`Every change is approved by another person with a button, and followed until it has really happened.`,
  ]
  return notice(joinMrkdwn(parts, '\n\n'))
}
