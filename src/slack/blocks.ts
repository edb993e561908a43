import type {
  Button,
  Checkboxes,
  ConversationsSelect,
  ExternalSelect,
  KnownBlock,
  ModalView,
  PlainTextElement,
  PlainTextInput,
  PlainTextOption,
  RadioButtons,
  StaticSelect,
} from '@slack/web-api'
import type { ListLimit, Missing } from '../domain/errors.ts'
import { longestReason } from '../domain/policy.ts'
import { formatDuration } from '../domain/text.ts'
import { toUserMessage } from './errors.ts'
import type { Values } from './interactions.ts'
import {
  charactersIn,
  cleanText,
  code,
  dateTime,
  emptyText,
  escapeMrkdwn,
  exact,
  isPlainAddress,
  type Mrkdwn,
  mention,
  mostCharacters,
  mrkdwn,
  plain,
  splitMrkdwn,
  truncate,
  verbatim,
} from './text.ts'
import type { Message } from './web-api.ts'

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

/** Slack's limits for the parts that many elements have (docs.slack.dev, "Block elements"), in characters. */
const mostActionId = 255
const mostPlaceholder = 150

export function actionIdOf(actionId: string): { action_id: string } {
  return { action_id: exact('an action id', actionId, mostActionId) }
}

/** Returns the text that an empty element shows. */
export function placeholderOf(text: string | undefined): { placeholder?: PlainTextElement } {
  return text ? { placeholder: plain(text, mostPlaceholder) } : {}
}

/** Slack's limits (docs.slack.dev, "Input block" and "Plain-text input element"), in characters. */
const limitsInputs = { blockId: 255, label: 2_000, inputLength: 3_000 } as const

interface InputParts {
  blockId: string
  label: string
  hint?: string
  optional?: boolean
  /** Makes Slack send every change as a click while the form stays open. */
  dispatchAction?: boolean
  element: PlainTextInput | ExternalSelect | ConversationsSelect | RadioButtons | Checkboxes
}

export function input({ blockId, label, hint, optional = false, dispatchAction = false, element }: InputParts): KnownBlock {
  return {
    type: 'input',
    block_id: exact('a block id', blockId, limitsInputs.blockId),
    label: plain(label, limitsInputs.label),
    element,
    optional,
    ...(dispatchAction ? { dispatch_action: true } : {}),
    ...(hint ? { hint: plain(hint, limitsInputs.label) } : {}),
  }
}

interface PlainTextInputParts {
  actionId: string
  multiline?: boolean
  maxLength?: number
  initialValue?: string | undefined
  placeholder?: string
}

export function plainTextInput({ actionId, multiline = false, maxLength, initialValue, placeholder }: PlainTextInputParts): PlainTextInput {
  const length = Math.min(Math.max(1, maxLength ?? limitsInputs.inputLength), limitsInputs.inputLength)
  return {
    type: 'plain_text_input',
    ...actionIdOf(actionId),
    multiline,
    max_length: length,
    ...(initialValue ? { initial_value: truncate(initialValue.toWellFormed(), length, 'plain') } : {}),
    ...placeholderOf(placeholder),
  }
}

/** The limit of Slack is 75 characters, and it asks to stay below it (docs.slack.dev, "Option object"). */
export const mostOption = 74

/** Slack does not accept longer values, and a cut id could be the id of another resource. */
export const longestOptionValue = mostOption

/** Makes an option of a picker or of radio buttons. */
export function option({ text, value, description }: { text: string; value: string; description?: string }): PlainTextOption {
  return {
    text: plain(text, mostOption),
    value: exact("an option's value", value, mostOption),
    ...(description ? { description: plain(description, mostOption) } : {}),
  }
}

/** The words for each limit that kept a list of the account API from being read to its end. */
const because: Record<ListLimit, string> = {
  items: 'it has too many items',
  'items of a page': 'it has too many items in one answer',
  pages: 'it has too many pages',
  bytes: 'it has too many bytes',
  'bytes of a page': 'it has too many bytes in one answer',
  time: 'the account API took too long',
}

/**
 * Says that a list is incomplete, and why, and counts the items that are left out. Empty if it is complete. `words` filter the list: items
 * that are being provisioned have no facts yet that these words could match, so a filtered list does not mention them.
 */
export function cutNotes(missing: Missing, count: number, words: string[]): Mrkdwn[] {
  const { cut, unreadable = 0, unready = 0 } = missing
  const limit =
    cut === undefined
      ? []
      : [mrkdwn`:warning: *This list is incomplete:* ${because[cut]}. The first ${count} were read and searched. Others may exist.`]
  return [
    ...oldNotes(missing),
    ...limit,
    ...(unreadable > 0 ? [mrkdwn`:warning: Not listed: ${unreadable} that couldn't be read.`] : []),
    ...(unready > 0 && words.length === 0
      ? [mrkdwn`Not listed: ${unready} still being provisioned. Run the command again in a few minutes.`]
      : []),
  ]
}

/** Says how old an earlier copy of a list is, and why it could not be read again: `As of 40 s ago. The account allows 60 reads a minute. …` */
export function oldNotes({ old }: Missing): Mrkdwn[] {
  if (!old) return []
  const why = old.because === undefined ? 'The account API takes longer than usual.' : toUserMessage(old.because)
  return [mrkdwn`:hourglass: *As of ${formatDuration(old.agoMs)} ago.* ${why ?? ''}`]
}

/** docs.slack.dev, "Blocks" (50 in a message) and "chat.postMessage method" (4,000 characters of text). */
const limitsMessage = { blocks: 50, text: 4_000 } as const

/**
 * Makes a message of these blocks. Its text says the same in words, because notifications and screen readers use it instead of the blocks.
 * `early`: blocks whose words come right after the first one, because a phone shows only the beginning.
 */
export function message(blocks: KnownBlock[], early: KnownBlock[] = []): Message {
  const [first, ...others] = blocks
  const lines = new Set([...(first ? [first] : []), ...early, ...others].map(wordsIn).filter((words) => words !== ''))
  return {
    text: truncate([...lines].join('\n') || emptyText, limitsMessage.text, 'mrkdwn'),
    blocks: limitBlocks(blocks, { most: limitsMessage.blocks, characters: mostCharacters }),
  }
}

/** Returns the words of a block as mrkdwn. Elements that people use have none. */
function wordsIn(block: KnownBlock): string {
  switch (block.type) {
    case 'header':
      return escapeMrkdwn(block.text.text).text
    case 'section':
      return block.text?.text ?? (block.fields ?? []).map(({ text }) => text.replace('*\n', ':* ')).join('\n')
    case 'context':
      return block.elements.map((element) => ('text' in element ? element.text : '')).join('  ·  ')
    case 'rich_text': {
      // Nothing that a person wrote may look like a word of Lockkeeper's.
      const [label = '', ...written] = textsIn(block.elements, String)
      return mrkdwn`${label}${code(written.join(''))}`.text
    }
    case 'data_table':
      return block.rows
        .slice(1)
        .map((row) => row.map((cell) => textsIn(cell, (text) => escapeMrkdwn(text).text).join('')).join('  ·  '))
        .join('\n')
    default:
      return ''
  }
}

/** Returns the texts in the elements of a rich text or in a cell of a table. */
function textsIn(element: unknown, show: (text: string) => string): string[] {
  if (Array.isArray(element)) return element.flatMap((each) => textsIn(each, show))
  if (typeof element !== 'object' || element === null) return []
  if ('elements' in element) return textsIn(element.elements, show)
  if ('user_id' in element) return [mention(String(element.user_id)).text]
  if ('timestamp' in element) return [dateTime(Number(element.timestamp) * 1_000).text]
  return [show(String('text' in element ? element.text : 'url' in element ? element.url : ''))]
}

interface BlockLimits {
  most: number
  /** In all blocks together. */
  characters: number
}

/** The longest note about what was left out is shorter than this. */
const noteCharacters = 100

/** Keeps as many blocks from the beginning as the limits allow. If it leaves some out, the last block says how many. */
export function limitBlocks(blocks: KnownBlock[], { most, characters }: BlockLimits): KnownBlock[] {
  if (blocks.length <= most && charactersIn(blocks) <= characters) return blocks
  const kept = firstWithin(blocks.slice(0, most - 1), characters - noteCharacters)
  const left = blocks.length - kept.length
  const words = left === 1 ? "1 more part doesn't fit here and isn't shown." : `${left} more parts don't fit here and aren't shown.`
  return [...kept, ...context([mrkdwn`:warning: ${words}`])]
}

function firstWithin(blocks: KnownBlock[], characters: number): KnownBlock[] {
  let left = characters
  const end = blocks.findIndex((block) => {
    left -= charactersIn(block)
    return left < 0
  })
  return end === -1 ? blocks : blocks.slice(0, end)
}

// Slack limits the characters of all blocks together only in messages, not in modals.
const limitsModal = {
  blocks: { most: 100, characters: Number.POSITIVE_INFINITY },
  title: 24,
  privateMetadata: 3_000,
  callbackId: 255,
} as const

interface ModalParts {
  title: string
  blocks: KnownBlock[]
  /** Without it the modal can only be read and closed. */
  submit?: string
  close?: string
  callbackId?: string
  metadata?: string
}

/** Makes a modal within Slack's limits. Throws a RangeError if an id or the metadata is too long: cut, it would mean something else. */
export function modal({ title, blocks, submit, close = submit ? 'Cancel' : 'Close', callbackId, metadata }: ModalParts): ModalView {
  return {
    type: 'modal',
    title: plain(title, limitsModal.title),
    close: plain(close, limitsModal.title),
    blocks: limitBlocks(blocks, limitsModal.blocks),
    ...(submit ? { submit: plain(submit, limitsModal.title) } : {}),
    ...(callbackId === undefined ? {} : { callback_id: exact('a callback id', callbackId, limitsModal.callbackId) }),
    ...(metadata ? { private_metadata: exact("a modal's metadata", metadata, limitsModal.privateMetadata) } : {}),
  }
}

/** Makes a message that is only text. */
export function notice(words: Mrkdwn): Message {
  return message(wholeSection(words))
}

/** Puts what a message is about above it. */
export function withSubject(subject: Mrkdwn, { blocks }: Message): Message {
  return message([...wholeSection(subject), ...blocks])
}

/** Makes a modal that is only text. */
export function noticeView(words: Mrkdwn, title = 'Lockkeeper'): ModalView {
  return modal({ title, close: 'Close', blocks: wholeSection(words) })
}

type RichText = Extract<KnownBlock, { type: 'rich_text' }>
type Section = Extract<RichText['elements'][number], { type: 'rich_text_section' }>
type Element = Extract<Section['elements'][number], { type: 'text' | 'link' }>

/**
 * Shows the reason that a person gave, exactly as it was written: without markup, and `:names:` do not become emoji. Web addresses become
 * links. Empty without a reason.
 */
export function reasonBlocks(label: string, reason: string | undefined): KnownBlock[] {
  const shown = reasonElements(reason ?? '')
  if (shown.length === 0) return []
  const elements: Element[] = [{ type: 'text', text: `${label}: `, style: { bold: true } }, ...shown]
  return [{ type: 'rich_text', elements: [{ type: 'rich_text_section', elements }] }]
}

/** Splits a text into links, for http and https alone, and text. */
export function reasonElements(reason: string): Element[] {
  const line = cleanText(reason, { oneLine: true })
  const elements: Element[] = []
  let end = 0
  for (const { 0: found, index } of line.matchAll(/(?<![\w/.-])https?:\/\/[^\s<>|"`]+/gi)) {
    const url = withoutPunctuation(found)
    if (!isPlainAddress(url)) continue
    if (index > end) elements.push({ type: 'text', text: line.slice(end, index) })
    elements.push({ type: 'link', url })
    end = index + url.length
  }
  return end < line.length ? [...elements, { type: 'text', text: line.slice(end) }] : elements
}

/** Removes what ends the sentence around an address, and a bracket that was opened before it. */
function withoutPunctuation(found: string): string {
  const url = found.replace(/[.,;:!?'”’…*_~\]}]+$/u, '')
  const isClosedTooOften = url.endsWith(')') && url.split(')').length > url.split('(').length
  return isClosedTooOften ? withoutPunctuation(url.slice(0, -1)) : url
}

interface ReasonParts {
  entered: string | undefined
  hint: string
  optional?: boolean
  multiline?: boolean
}

export const reasonBlockId = 'reason'

/** Makes the field for a reason. */
export function reasonInput({ entered, hint, optional = true, multiline = false }: ReasonParts) {
  const element = plainTextInput({ actionId: reasonBlockId, multiline, maxLength: longestReason, initialValue: entered })
  return input({ blockId: reasonBlockId, label: 'Reason', hint, optional, element })
}

/** Returns the reason that was entered, or undefined if there is none. */
export function reasonIn(values: Values): string | undefined {
  return values[reasonBlockId]?.trim() || undefined
}
