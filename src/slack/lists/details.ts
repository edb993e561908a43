import type { Button } from '@slack/web-api'
import { actionsFor, context, wholeSection } from '../blocks/blocks.ts'
import { message } from '../blocks/message.ts'
import { code, joinMrkdwn, type Mrkdwn, mrkdwn } from '../text/text.ts'
import type { Message } from '../web-api/messenger.ts'
import { cellWords } from './cells.ts'
import type { Columns } from './columns.ts'

/** The facts about one item of a list. */
export interface Details {
  title: Mrkdwn
  facts: { label: string; words: Mrkdwn }[]
  notes?: Mrkdwn[]
  /** No change of it is possible now, so its details have no buttons. The notes say why. */
  isFixed?: true
  /** How the item is named in the form of a change: `203.0.113.10`. */
  name: string
}

/** Makes the details of an item from the columns of its list, with the facts that the list leaves out. */
export function detailsOf<T>(item: T, columns: Columns<T>, more: Details['facts'] = []): Pick<Details, 'title' | 'facts'> {
  const [name, ...others] = columns
  const facts = others.map(({ header, cell }) => ({ label: header, words: cellWords(cell(item)) ?? mrkdwn`–` }))
  return { title: cellWords(name.cell(item)) ?? mrkdwn`no name`, facts: [...facts, ...more] }
}

/** Shows the details of an item, one fact on a line, with the buttons of its changes below. `name` is the name of the slash command. */
export function detailsMessage({ title, facts, notes = [] }: Details, buttons: Button[], name: string): Message {
  const heading = mrkdwn`*${title}*`
  const lines = facts.map(({ label, words }) => mrkdwn`${label}: ${words}`)
  const content = joinMrkdwn([heading, ...lines], '\n')
  return message({
    text: joinMrkdwn([content, ...notes], '\n'),
    blocks: [...wholeSection(content), ...context(notes), ...actionsFor(name, 'changes', buttons)],
  })
}

/** The id of an item as a fact. */
export function idFact(id: string): Details['facts'][number] {
  return { label: 'Id', words: code(id) }
}
