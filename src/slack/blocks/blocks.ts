import type { Button, KnownBlock, StaticSelect } from '@slack/web-api'
import { splitMrkdwn } from '../text/cut-text.ts'
import { type Mrkdwn, mrkdwn } from '../text/text.ts'
import { emptyText, exact, plain, verbatim } from '../text/text-objects.ts'

/** The longest value of a button, in characters. Values are never cut, because a cut value would mean something else. */
export const longestButtonValue = 2_000

/**
 * Slack's limits for blocks and buttons (docs.slack.dev, "Blocks" and "Block elements"), in characters and in elements. The functions here
 * enforce them for any input. Text that is too long is cut and marked. An id or a value that is too long throws a RangeError.
 */
const limits = {
  sectionText: 3_000,
  fieldText: 2_000,
  fields: 10,
  headerText: 150,
  contextElements: 10,
  contextText: 3_000,
  actionsElements: 25,
  buttonText: 75,
  buttonValue: longestButtonValue,
  confirm: { title: 100, text: 300, button: 30 },
  id: 255,
} as const

export function header(text: string): KnownBlock {
  return { type: 'header', text: plain(text, limits.headerText) }
}

/** Whether a heading shows this text whole. */
export function headerFits(text: string): boolean {
  return text.length <= limits.headerText
}

/** Shows a text whole, over several sections if one cannot hold it. Facts that people decide by must not be cut. */
export function wholeSection(text: Mrkdwn): KnownBlock[] {
  const parts = splitMrkdwn(text.text.trim() || emptyText, limits.sectionText)
  return parts.map((part) => ({ type: 'section', text: verbatim({ text: part }, limits.sectionText) }))
}

/** Shows at the top of a form why it was refused. */
export function problemBlocks(problem: Mrkdwn | undefined): KnownBlock[] {
  return problem ? wholeSection(mrkdwn`:warning: ${problem}`) : []
}

/** Shows a text with a button beside it. A text that does not fit into one section is cut. */
export function sectionWithButton(text: Mrkdwn, accessory: Button): KnownBlock {
  return { type: 'section', text: verbatim(text, limits.sectionText), accessory }
}

/** The longest word of half the width of a phone. Slack breaks longer ones, such as email addresses, inside. */
const longestInColumn = 24

function fitsColumn({ text }: Mrkdwn): boolean {
  const shown = text.replaceAll(/<[^>]*>|`/g, ' ')
  return shown.split(/\s+/).every((word) => word.length <= longestInColumn)
}

/** Shows short facts in two columns, over several blocks if there are many. A fact that is too long for a column gets its own sections. */
export function fields(texts: Mrkdwn[]): KnownBlock[] {
  const blocks: KnownBlock[] = []
  let column: Mrkdwn[] = []
  const close = () => {
    for (const some of chunks(column, limits.fields)) {
      blocks.push({ type: 'section', fields: some.map((text) => verbatim(text, limits.fieldText)) })
    }
    column = []
  }
  for (const text of texts) {
    if (text.text.trim().length <= limits.fieldText && fitsColumn(text)) {
      column.push(text)
      continue
    }
    close()
    blocks.push(...wholeSection(text))
  }
  close()
  return blocks
}

/** Shows small print, over several blocks if there are many texts. */
export function context(texts: Mrkdwn[]): KnownBlock[] {
  return chunks(texts, limits.contextElements).map((some) => ({
    type: 'context',
    elements: some.map((text) => verbatim(text, limits.contextText)),
  }))
}

export function divider(): KnownBlock {
  return { type: 'divider' }
}

export function actions(elements: (Button | StaticSelect)[], blockId?: string): KnownBlock[] {
  return chunks(elements, limits.actionsElements).map((some, index) => ({
    type: 'actions',
    elements: some,
    ...(blockId === undefined ? {} : { block_id: exact('a block id', index === 0 ? blockId : `${blockId}-${index}`, limits.id) }),
  }))
}

const commandInBlockId = /^[a-z]+ (\/\S{1,40})/

/**
 * Makes actions whose block id carries the name of the slash command, because Slack does not send it with a click. `part` distinguishes the
 * blocks of one message.
 */
export function actionsFor(command: string, part: string, elements: (Button | StaticSelect)[]): KnownBlock[] {
  const blockId = `${part} ${command}`
  return actions(elements, commandInBlockId.test(blockId) ? blockId : undefined)
}

/** Returns the name of the slash command that `actionsFor` put into a block id, or an empty text. */
export function commandOf(blockId: string): string {
  return commandInBlockId.exec(blockId)?.[1] ?? ''
}

export interface ButtonParts {
  text: string
  actionId: string
  value: string
  style?: 'primary' | 'danger'
  /** A dialog that Slack shows before it sends the click. */
  confirm?: { title: string; text: Mrkdwn; confirm: string; deny: string } | undefined
}

export function button({ text, actionId, value, style, confirm }: ButtonParts): Button {
  const { title: titleLimit, text: textLimit, button: buttonLimit } = limits.confirm
  return {
    type: 'button',
    text: plain(text, limits.buttonText),
    action_id: exact('an action id', actionId, limits.id),
    value: exact("a button's value", value, limits.buttonValue),
    ...(style ? { style } : {}),
    ...(confirm
      ? {
          confirm: {
            title: plain(confirm.title, titleLimit),
            text: verbatim(confirm.text, textLimit),
            confirm: plain(confirm.confirm, buttonLimit),
            deny: plain(confirm.deny, buttonLimit),
          },
        }
      : {}),
  }
}

function chunks<T>(all: T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, index) => all.slice(index * size, (index + 1) * size))
}
