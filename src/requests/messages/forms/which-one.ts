import { z } from 'zod'
import type { Server } from '../../../domain/account/server.ts'
import { button, longestButtonValue, sectionWithButton, wholeSection } from '../../../slack/blocks/blocks.ts'
import { message } from '../../../slack/blocks/message.ts'
import { placeOf } from '../../../slack/blocks/picker.ts'
import { code, joinMrkdwn, type Mrkdwn, mrkdwn } from '../../../slack/text/text.ts'
import type { Message } from '../../../slack/web-api/messenger.ts'

/** The value of a choice's button: the input of the change, which anybody could type as a command, and the rest of the command. */
export const ChoiceButton = z.object({
  version: z.literal(2),
  input: z.unknown(),
  command: z.string(),
  reason: z.string().optional(),
})
type ChoiceButton = z.infer<typeof ChoiceButton>

/** What a person typed that fits several things of one name. */
export type TypedChoice = Pick<ChoiceButton, 'command' | 'reason'>

/** One of several things of the same name. */
export interface Choice {
  words: Mrkdwn
  /** The input of the change if this one is meant. */
  input: unknown
}

interface Question extends TypedChoice {
  question: Mrkdwn
  choices: Choice[]
  actionId: string
  /** The command that names the thing by its id, for those that are not shown. */
  byId: string
}

/** Each choice takes one of the 50 blocks of a message, and a line of its 4,000 characters of text. */
const mostChoices = 30

/** Asks which of several things of one name is meant, with a button for each. */
export function whichOne({ question, choices, actionId, byId, command, reason }: Question): Message {
  const shown = choices
    .map(({ words, input }) => ({ words, value: JSON.stringify({ version: 2, input, command, reason } satisfies ChoiceButton) }))
    .filter(({ value }) => value.length <= longestButtonValue)
    .slice(0, mostChoices)
  const left = choices.length - shown.length
  const rest = left > 0 ? [mrkdwn`${left === 1 ? "1 more isn't" : `${left} more aren't`} shown. Use the id: ${code(byId)}.`] : []
  return message({
    text: joinMrkdwn([question, ...shown.map(({ words }) => words), ...rest], '\n'),
    blocks: [
      ...wholeSection(question),
      ...shown.map(({ words, value }) => sectionWithButton(words, button({ text: 'This one', actionId, value }))),
      ...rest.flatMap(wholeSection),
    ],
  })
}

/** Describes a thing that can be chosen: its name and id, and below them what distinguishes it. */
export function choiceWords({ name, id }: { name: string; id: string }, details: (string | undefined)[]): Mrkdwn {
  const known = details.filter((part) => part !== undefined && part !== '')
  return mrkdwn`*${code(name)}*  ·  ${code(id)}\n${joinMrkdwn(
    known.map((part) => mrkdwn`${part ?? ''}`),
    '  ·  ',
  )}`
}

export function serverWords({ id, hostname, label, project, site, primaryIpv4, status }: Server): Mrkdwn {
  return choiceWords({ name: hostname ?? id, id }, [label, placeOf(project, site?.slug ?? site?.name), primaryIpv4, status])
}

/** Says above a form that the typed name fits several servers. */
export function chooseBelow(typed: string, count: number): Mrkdwn {
  return mrkdwn`${count} servers are called ${code(typed)}. Choose one below.`
}
