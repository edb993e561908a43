import type { Button, ExternalSelect, KnownBlock, MrkdwnElement, PlainTextElement, PlainTextInput, PlainTextOption } from '@slack/web-api'
import type { Message } from './messenger.ts'
import { cleanText, type Mrkdwn, mrkdwn, truncate } from './text.ts'

/**
 * Block Kit, with every limit of Slack's kept whatever is given (docs.slack.dev, "Blocks" and "Block elements"). Names from outside
 * are plain text, everything else is Mrkdwn. What must be cut is cut visibly.
 */
export const limits = {
  blocksPerMessage: 50,
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
  id: 255,
  optionText: 75,
  optionValue: 74,
  placeholder: 150,
  label: 2_000,
  inputLength: 3_000,
} as const

/** Slack refuses empty text. */
const nothing = '–'

export function header(text: string): KnownBlock {
  return { type: 'header', text: plain(text, limits.headerText) }
}

/** A text of any length, whole: over several sections where one does not hold it. For what people decide by. */
export function wholeSection(text: Mrkdwn): KnownBlock[] {
  return splitText(text.text, limits.sectionText).map((part) => ({ type: 'section', text: verbatim(part, limits.sectionText) }))
}

/** Short facts in two columns, over several blocks where they are many. */
export function fields(texts: Mrkdwn[]): KnownBlock[] {
  return chunks(texts, limits.fields).map((some) => ({ type: 'section', fields: some.map(({ text }) => verbatim(text, limits.fieldText)) }))
}

/** Small print, over several blocks where it is much. */
export function context(texts: Mrkdwn[]): KnownBlock[] {
  return chunks(texts, limits.contextElements).map((some) => ({
    type: 'context',
    elements: some.map(({ text }) => verbatim(text, limits.contextText)),
  }))
}

export function divider(): KnownBlock {
  return { type: 'divider' }
}

export function actions(buttons: Button[], blockId?: string): KnownBlock[] {
  return chunks(buttons, limits.actionsElements).map((some, index) => ({
    type: 'actions',
    elements: some,
    ...(blockId ? { block_id: id(index === 0 ? blockId : `${blockId}-${index}`) } : {}),
  }))
}

export interface ButtonParts {
  text: string
  actionId: string
  value: string
  style?: 'primary' | 'danger'
}

/** Throws when the value is too long: a value that was cut would mean something else. */
export function button({ text, actionId, value, style }: ButtonParts): Button {
  if (value.length > limits.buttonValue)
    throw new RangeError(`a button's value has ${value.length} characters, and Slack takes ${limits.buttonValue}`)
  return { type: 'button', text: plain(text, limits.buttonText), action_id: id(actionId), value, ...(style ? { style } : {}) }
}

/** An option of a picker. Throws when the value is too long, as for buttons. */
export function option({ text, value }: { text: string; value: string }): PlainTextOption {
  if (value.length === 0 || value.length > limits.optionValue)
    throw new RangeError(`an option's value has ${value.length} characters, and Slack takes 1 to ${limits.optionValue}`)
  return { text: plain(text, limits.optionText), value }
}

export interface InputParts {
  blockId: string
  label: string
  hint?: string
  optional?: boolean
  element: PlainTextInput | ExternalSelect
}

export function input({ blockId, label, hint, optional = false, element }: InputParts): KnownBlock {
  return {
    type: 'input',
    block_id: id(blockId),
    label: plain(label, limits.label),
    element,
    optional,
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

export function plainTextInput({
  actionId,
  multiline = false,
  maxLength = limits.inputLength,
  initialValue,
  placeholder,
}: PlainTextInputParts): PlainTextInput {
  const length = Math.min(maxLength, limits.inputLength)
  return {
    type: 'plain_text_input',
    action_id: id(actionId),
    multiline,
    max_length: length,
    ...(initialValue ? { initial_value: truncate(initialValue, length) } : {}),
    ...(placeholder ? { placeholder: plain(placeholder, limits.placeholder) } : {}),
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
    action_id: id(actionId),
    placeholder: plain(placeholder, limits.placeholder),
    min_query_length: minQueryLength,
    ...(initialOption ? { initial_option: initialOption } : {}),
  }
}

/** A message of these blocks; `text` is all of it in words, for notifications and screen readers. */
export function message({ text, blocks }: { text: Mrkdwn; blocks: KnownBlock[] }): Message {
  return { text: truncate(text.text.trim() || nothing, limits.messageText), blocks: limitBlocks(blocks, limits.blocksPerMessage) }
}

/** At most so many blocks; the last one says how many were left out. */
export function limitBlocks(blocks: KnownBlock[], most: number): KnownBlock[] {
  if (blocks.length <= most) return blocks
  const left = blocks.length - (most - 1)
  return [...blocks.slice(0, most - 1), ...context([mrkdwn`${left} more parts did not fit into one message of Slack.`])]
}

export function plain(text: string, max: number): PlainTextElement {
  return { type: 'plain_text', text: truncate(cleanText(text).trim() || nothing, max), emoji: false }
}

function verbatim(text: string, max: number): MrkdwnElement {
  return { type: 'mrkdwn', text: truncate(text.trim() || nothing, max), verbatim: true }
}

function id(text: string): string {
  return text.slice(0, limits.id)
}

function chunks<T>(all: T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, index) => all.slice(index * size, (index + 1) * size))
}

/** Parts of at most `max`, broken at line ends or spaces where there are any, and never inside a character, an entity or a mention. */
function splitText(text: string, max: number): string[] {
  const parts: string[] = []
  let rest = text.trim() || nothing
  while (rest.length > max) {
    const end = breakingPoint(rest, max)
    parts.push(rest.slice(0, end))
    rest = rest.slice(end).trimStart()
  }
  return rest === '' ? parts : [...parts, rest]
}

function breakingPoint(text: string, max: number): number {
  const window = text.slice(0, max)
  const space = Math.max(window.lastIndexOf('\n'), window.lastIndexOf(' '))
  if (space > max / 2 && window.lastIndexOf('<', space) <= window.lastIndexOf('>', space)) return space
  // truncate leaves a mark in place of what it cuts, which does not belong here.
  return Math.max(1, truncate(`${window}  `, max).length - 1)
}
