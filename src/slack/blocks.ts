import type {
  Button,
  Checkboxes,
  ExternalSelect,
  KnownBlock,
  PlainTextElement,
  PlainTextInput,
  PlainTextOption,
  RadioButtons,
  StaticSelect,
} from '@slack/web-api'
import { charactersIn, mostCharacters } from './characters.ts'
import { splitMrkdwn, truncate } from './cut-text.ts'
import type { Message } from './messenger.ts'
import { type Mrkdwn, mrkdwn } from './text.ts'
import { exact, nothing, plain, verbatim } from './text-objects.ts'

/**
 * Block Kit, with every limit of Slack's kept whatever is given (docs.slack.dev, "Blocks" and "Block elements"). Names from outside
 * are plain text, everything else is Mrkdwn. What must be cut is cut visibly; ids and values are not cut but refused (RangeError).
 */
const limits = {
  blocksPerMessage: 50,
  tablesPerMessage: 1,
  messageText: 4_000,
  sectionText: 3_000,
  fieldText: 2_000,
  fields: 10,
  headerText: 150,
  contextElements: 10,
  contextText: 3_000,
  actionsElements: 25,
  buttonText: 75,
  buttonValue: 2_000,
  confirm: { title: 100, text: 300, button: 30 },
  id: 255,
  // 75, and Slack asks to stay below.
  option: 74,
  placeholder: 150,
  label: 2_000,
  inputLength: 3_000,
} as const

export function header(text: string): KnownBlock {
  return { type: 'header', text: plain(text, limits.headerText) }
}

/** A text of any length, whole: over several sections where one does not hold it. For what people decide by. */
export function wholeSection(text: Mrkdwn): KnownBlock[] {
  const parts = splitMrkdwn(text.text.trim() || nothing, limits.sectionText)
  return parts.map((part) => ({ type: 'section', text: verbatim({ text: part }, limits.sectionText) }))
}

/** A text with a button beside it; what does not fit into one section is cut. */
export function sectionWithButton(text: Mrkdwn, accessory: Button): KnownBlock {
  return { type: 'section', text: verbatim(text, limits.sectionText), accessory }
}

/** Short facts in two columns, over several blocks where they are many; one that is too long for a column gets sections of its own. */
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
    if (text.text.trim().length <= limits.fieldText) {
      column.push(text)
      continue
    }
    close()
    blocks.push(...wholeSection(text))
  }
  close()
  return blocks
}

/** Small print, over several blocks where it is much. */
export function context(texts: Mrkdwn[]): KnownBlock[] {
  return chunks(texts, limits.contextElements).map((some) => ({
    type: 'context',
    elements: some.map((text) => verbatim(text, limits.contextText)),
  }))
}

export function divider(): KnownBlock {
  return { type: 'divider' }
}

export function actions(buttons: Button[], blockId?: string): KnownBlock[] {
  return chunks(buttons, limits.actionsElements).map((some, index) => ({
    type: 'actions',
    elements: some,
    ...(blockId === undefined ? {} : { block_id: id('a block id', index === 0 ? blockId : `${blockId}-${index}`) }),
  }))
}

export interface ButtonParts {
  text: string
  actionId: string
  value: string
  style?: 'primary' | 'danger'
  /** Asked before the press counts. */
  confirm?: { title: string; text: Mrkdwn; confirm: string; deny: string }
}

export function button({ text, actionId, value, style, confirm }: ButtonParts): Button {
  const { title: titleLimit, text: textLimit, button: buttonLimit } = limits.confirm
  return {
    type: 'button',
    text: plain(text, limits.buttonText),
    action_id: id('an action id', actionId),
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

/** An option of a picker or of a list of choices. */
export function option({ text, value, description }: { text: string; value: string; description?: string }): PlainTextOption {
  return {
    text: plain(text, limits.option),
    value: exact("an option's value", value, limits.option),
    ...(description ? { description: plain(description, limits.option) } : {}),
  }
}

export interface InputParts {
  blockId: string
  label: string
  hint?: string
  optional?: boolean
  /** Tells the bot of every change, as a click, while the form stays open. */
  dispatchAction?: boolean
  element: PlainTextInput | ExternalSelect | StaticSelect | Checkboxes | RadioButtons
}

export function input({ blockId, label, hint, optional = false, dispatchAction = false, element }: InputParts): KnownBlock {
  return {
    type: 'input',
    block_id: id('a block id', blockId),
    label: plain(label, limits.label),
    element,
    optional,
    ...(dispatchAction ? { dispatch_action: true } : {}),
    ...(hint ? { hint: plain(hint, limits.label) } : {}),
  }
}

export interface PlainTextInputParts {
  actionId: string
  multiline?: boolean
  maxLength?: number
  initialValue?: string | undefined
  placeholder?: string
}

export function plainTextInput({ actionId, multiline = false, maxLength, initialValue, placeholder }: PlainTextInputParts): PlainTextInput {
  const length = Math.min(Math.max(1, maxLength ?? limits.inputLength), limits.inputLength)
  return {
    type: 'plain_text_input',
    action_id: id('an action id', actionId),
    multiline,
    max_length: length,
    ...(initialValue ? { initial_value: truncate(initialValue.toWellFormed(), length, 'plain') } : {}),
    ...placeholderOf(placeholder),
  }
}

export interface ExternalSelectParts {
  actionId: string
  placeholder: string
  minQueryLength?: number
  initialOption?: PlainTextOption | undefined
}

/** A picker whose options the bot gives while the person types. */
export function externalSelect({ actionId, placeholder, minQueryLength = 0, initialOption }: ExternalSelectParts): ExternalSelect {
  return {
    type: 'external_select',
    action_id: id('an action id', actionId),
    min_query_length: minQueryLength,
    ...(initialOption ? { initial_option: initialOption } : {}),
    ...placeholderOf(placeholder),
  }
}

export function placeholderOf(text: string | undefined): { placeholder?: PlainTextElement } {
  return text ? { placeholder: plain(text, limits.placeholder) } : {}
}

/** A message of these blocks; `text` is all of it in words, for notifications and screen readers. */
export function message({ text, blocks }: { text: Mrkdwn; blocks: KnownBlock[] }): Message {
  return {
    text: truncate(text.text.trim() || nothing, limits.messageText, 'mrkdwn'),
    blocks: limitBlocks(blocks, { most: limits.blocksPerMessage, tables: limits.tablesPerMessage, characters: mostCharacters }),
  }
}

export interface BlockLimits {
  most: number
  tables: number
  /** In all of them together. */
  characters: number
}

/** The words about what was left out are shorter than this. */
const noteCharacters = 100

/** As many blocks from the beginning as these limits allow; where some were left out, the last block says how many. */
export function limitBlocks(blocks: KnownBlock[], { most, tables, characters }: BlockLimits): KnownBlock[] {
  let tablesSeen = 0
  const allowed = blocks.filter((block) => block.type !== 'table' || ++tablesSeen <= tables)
  if (allowed.length === blocks.length && blocks.length <= most && charactersIn(blocks) <= characters) return blocks
  const kept = firstWithin(allowed.slice(0, most - 1), characters - noteCharacters)
  return [...kept, ...context([mrkdwn`:warning: ${blocks.length - kept.length} more parts do not fit in here and are not shown.`])]
}

function firstWithin(blocks: KnownBlock[], characters: number): KnownBlock[] {
  let left = characters
  const end = blocks.findIndex((block) => {
    left -= charactersIn(block)
    return left < 0
  })
  return end === -1 ? blocks : blocks.slice(0, end)
}

function id(name: string, text: string): string {
  return exact(name, text, limits.id)
}

function chunks<T>(all: T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, index) => all.slice(index * size, (index + 1) * size))
}
