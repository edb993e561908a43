import { z } from 'zod'
import type { VirtualMachine } from '../../domain/account/virtual-machine.ts'
import { hostnameProblem } from '../../domain/text/hostname.ts'
import { button, longestButtonValue, sectionWithButton, wholeSection } from '../../slack/blocks/blocks.ts'
import { message } from '../../slack/blocks/message.ts'
import { placeOf } from '../../slack/blocks/picker.ts'
import { wrongUsage } from '../../slack/commands/help/help.ts'
import { didYouMean, type WholeCommand } from '../../slack/commands/help/whole-command.ts'
import { isBetween } from '../../slack/commands/read-pair.ts'
import { code, joinMrkdwn, type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'
import type { Message } from '../../slack/web-api/messenger.ts'

export const renameThisOne = 'rename-this-one'

/** The value of a choice button: the arguments, which anybody could type as a command, and the command's name. */
export const RenameButton = z.object({
  version: z.literal(1),
  id: z.string(),
  name: z.string(),
  command: z.string(),
  reason: z.string().optional(),
})
export type RenameButton = z.infer<typeof RenameButton>

/** Each choice takes one of the 50 blocks of a message, and a line of its 4,000 characters of text. */
const mostChoices = 30

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

/** A rename as it was typed, without the virtual machine. */
type Typed = Pick<RenameButton, 'name' | 'command' | 'reason'>

/** Asks which of the virtual machines with the typed name is meant, with a button for each. */
export function whichOne(machines: VirtualMachine[], call: Typed & { typed: string }): Message {
  const heading = mrkdwn`${machines.length} virtual machines are called ${code(call.typed)}. Which one should be renamed to ${code(call.name)}?`
  const choices = machines
    .map((machine) => ({ words: describe(machine), value: valueFor(machine.id, call) }))
    .filter(({ value }) => value.length <= longestButtonValue)
    .slice(0, mostChoices)
  const left = machines.length - choices.length
  const rest = left > 0 ? [mrkdwn`${left === 1 ? "1 more isn't" : `${left} more aren't`} shown. Use the id: ${code(byId(call))}.`] : []
  return message({
    text: joinMrkdwn([heading, ...choices.map(({ words }) => words), ...rest], '\n'),
    blocks: [
      ...wholeSection(heading),
      ...choices.map(({ words, value }) => sectionWithButton(words, button({ text: 'This one', actionId: renameThisOne, value }))),
      ...rest.flatMap(wholeSection),
    ],
  })
}

function valueFor(id: string, { name, command, reason }: Typed): string {
  return JSON.stringify({ version: 1, id, name, command, reason } satisfies RenameButton)
}

function byId({ name, command }: Typed): string {
  return `${command} vm rename <id> ${name}`
}

function describe({ id, name, project, site, primaryIpv4, status }: VirtualMachine): Mrkdwn {
  const details = [placeOf(project, site), primaryIpv4, status].filter((part) => part !== undefined && part !== '')
  return mrkdwn`*${code(name ?? id)}*  ·  ${code(id)}\n${joinMrkdwn(
    details.map((part) => mrkdwn`${part ?? ''}`),
    '  ·  ',
  )}`
}
