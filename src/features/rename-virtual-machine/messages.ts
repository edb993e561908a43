import type { VirtualMachine } from '../../domain/account/virtual-machine.ts'
import { hostnameProblem } from '../../domain/text/hostname.ts'
import { choiceWords, type TypedChoice, whichOne } from '../../requests/messages/forms/which-one.ts'
import { placeOf } from '../../slack/blocks/picker.ts'
import { wrongUsage } from '../../slack/commands/help/help.ts'
import { didYouMean, type WholeCommand } from '../../slack/commands/help/whole-command.ts'
import { isBetween } from '../../slack/commands/read-pair.ts'
import { code, type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'
import type { Message } from '../../slack/web-api/messenger.ts'
import type { RenameInput } from './change.ts'

export const renameThisOne = 'rename-this-one'

/** Says how the command is used. `rest` are the words that are too many, after `args`. */
export function usage(name: string, args: string[], rest: string[]): Mrkdwn {
  const words = mrkdwn`Usage: ${code(`${name} vm rename <vm> <new name>`)}, or leave the new name out to open a form. Put names with spaces in quotes.`
  return wrongUsage(name, words, rest, { words: 'vm rename', args })
}

/** Returns the hostname that a name with spaces stands for. Undefined without a space, or if the words do not make a hostname. */
export function hyphenated(name: string, rest: string[]): string | undefined {
  const words = [name, ...rest].flatMap((word) => word.split(/\s+/))
  const joined = words.filter((word) => word !== '').join('-')
  // With a `to` among them, the first words are the machine's name without its quotes.
  const isName = words.length > 1 && !words.some(isBetween) && hostnameProblem(joined) === undefined
  return isName ? joined : undefined
}

/** Refuses a name with spaces, and suggests the rename that was probably meant. */
export function noSpaces(command: string, meant: Omit<WholeCommand, 'words'>): Mrkdwn {
  return mrkdwn`Nothing was requested. A name can't contain spaces. ${didYouMean(command, [{ words: 'vm rename', ...meant }])}`
}

/** Asks which of the virtual machines with the typed name is meant, with a button for each. */
export function whichMachine(machines: VirtualMachine[], { typed, name, ...call }: TypedChoice & { typed: string; name: string }): Message {
  return whichOne({
    question: mrkdwn`${machines.length} virtual machines are called ${code(typed)}. Which one should be renamed to ${code(name)}?`,
    choices: machines.map((machine) => ({ words: describe(machine), input: { virtualMachineId: machine.id, name } satisfies RenameInput })),
    actionId: renameThisOne,
    byId: `${call.command} vm rename <id> ${name}`,
    ...call,
  })
}

function describe({ id, name, project, site, primaryIpv4, status }: VirtualMachine): Mrkdwn {
  return choiceWords({ name: name ?? id, id }, [placeOf(project, site), primaryIpv4, status])
}
