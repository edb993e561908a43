import type {
  Button,
  Checkboxes,
  ConversationsSelect,
  ExternalSelect,
  KnownBlock,
  ModalView,
  PlainTextInput,
  PlainTextOption,
  RadioButtons,
  StaticSelect,
} from '@slack/web-api'
import { longestReason, type ReasonTerms } from '../domain/policy.ts'
import { type Linked, linkedIn } from '../domain/reason.ts'
import { cleanText } from '../domain/text.ts'
import { divided, fit, fitBlocks, longestInput, longestLabel } from './fit.ts'
import type { Entered } from './interactions.ts'
import { code, dateTime, emptyText, escapeMrkdwn, isPlainAddress, type Mrkdwn, mention, mrkdwn, plain, truncate, verbatim } from './text.ts'
import type { Message } from './web-api.ts'

// Texts of any length can be given to these functions. `message` and `modal` cut those that are longer than Slack takes.

export function header(text: string): KnownBlock {
  return { type: 'header', text: plain(text) }
}

export function wholeSection(text: Mrkdwn): KnownBlock[] {
  return divided({ type: 'section', text: verbatim(text) })
}

export function problemBlocks(problem: Mrkdwn | undefined): KnownBlock[] {
  return problem ? wholeSection(mrkdwn`:warning: ${problem}`) : []
}

export function sectionWithButton(text: Mrkdwn, accessory: Button): KnownBlock {
  return { type: 'section', text: verbatim(text), accessory }
}

export function context(texts: Mrkdwn[]): KnownBlock[] {
  return divided({ type: 'context', elements: texts.map(verbatim) })
}

export function divider(): KnownBlock {
  return { type: 'divider' }
}

/** Slack takes 1 to 25 elements. */
export function actions(elements: (Button | StaticSelect)[], blockId?: string): KnownBlock[] {
  return elements.length === 0 ? [] : [{ type: 'actions', elements, block_id: blockId }]
}

const commandInBlockId = /^[a-z\d]+ (\/\S{1,40})/

/** Puts the name of the slash command into the block id, because Slack does not send it with a click. `part` distinguishes the blocks of a message. */
export function actionsFor(command: string, part: string, elements: (Button | StaticSelect)[]): KnownBlock[] {
  const blockId = `${part} ${command}`
  return actions(elements, commandInBlockId.test(blockId) ? blockId : undefined)
}

/** What was probably meant. A row for each, because a block can have an action id only once. */
export function meantButtons(command: string, buttons: Button[]): KnownBlock[] {
  return buttons.flatMap((each, index) => actionsFor(command, `meant${index}`, [each]))
}

export function commandOf(blockId: string): string {
  return commandInBlockId.exec(blockId)?.[1] ?? ''
}

export interface ButtonParts {
  text: string
  actionId: string
  value: string
  /** What it acts on, by the first line, for screen readers, where several of a message have one label. */
  about?: string | undefined
  style?: 'primary' | 'danger'
  confirm?: { title: string; text: Mrkdwn; confirm: string; deny: string } | undefined
}

export function button({ text, actionId, value, about, style, confirm }: ButtonParts): Button {
  return {
    type: 'button',
    text: plain(text),
    action_id: actionId,
    value,
    ...(about && {
      accessibility_label: truncate(cleanText(`${text}: ${about.split('\n')[0]}`, { oneLine: true }), longestLabel, 'plain'),
    }),
    ...(style && { style }),
    ...(confirm && {
      confirm: {
        title: plain(confirm.title),
        text: verbatim(confirm.text),
        confirm: plain(confirm.confirm),
        deny: plain(confirm.deny),
      },
    }),
  }
}

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
    block_id: blockId,
    label: plain(label),
    element,
    optional,
    ...(dispatchAction && { dispatch_action: true }),
    ...(hint && { hint: plain(hint) }),
  }
}

interface PlainTextInputParts {
  actionId: string
  multiline?: boolean
  maxLength?: number
  initialValue?: string | undefined
}

export function plainTextInput({
  actionId,
  multiline = false,
  maxLength = longestInput,
  initialValue: entered,
}: PlainTextInputParts): PlainTextInput {
  const initial = entered && { initial_value: truncate(entered.toWellFormed(), maxLength, 'plain') }
  return { type: 'plain_text_input', action_id: actionId, multiline, max_length: maxLength, ...initial }
}

export function option({ text, value, description }: { text: string; value: string; description?: string }): PlainTextOption {
  return { text: plain(text), value, ...(description && { description: plain(description) }) }
}

const longestMessageText = 4_000

/**
 * Notifications on phones and screen readers use the text, those on desktops the blocks. `early`: blocks whose words come second, as a phone shows
 * only the beginning. `lead`: begins the text.
 */
export function message(blocks: KnownBlock[], early: KnownBlock[] = [], lead = ''): Message {
  const [first, ...others] = blocks
  const lines = new Set([...(first ? [first] : []), ...early, ...others].map(wordsIn).filter((words) => words !== ''))
  return {
    text: truncate(`${lead}${[...lines].join('\n')}` || emptyText, longestMessageText, 'mrkdwn'),
    blocks: fitBlocks(blocks, 'message'),
  }
}

/** The words of a block without its layout, in mrkdwn. */
export function wordsIn(block: KnownBlock): string {
  switch (block.type) {
    case 'header':
      return escapeMrkdwn(block.text.text).text
    case 'section':
      return block.text?.text ?? ''
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

function textsIn(element: unknown, show: (text: string) => string): string[] {
  if (Array.isArray(element)) return element.flatMap((each) => textsIn(each, show))
  if (typeof element !== 'object' || element === null) return []
  if ('elements' in element) return textsIn(element.elements, show)
  if ('user_id' in element) return [mention(String(element.user_id)).text]
  if ('timestamp' in element) return [dateTime(Number(element.timestamp) * 1_000).text]
  return [show(String('text' in element ? element.text : 'url' in element ? element.url : ''))]
}

interface ModalParts {
  title: string
  blocks: KnownBlock[]
  submit?: string
  close?: string
  callbackId?: string
  metadata?: string
}

export function modal({ title, blocks, submit, close = submit ? 'Cancel' : 'Close', callbackId, metadata }: ModalParts): ModalView {
  return fit({
    type: 'modal',
    title: plain(title),
    close: plain(close),
    blocks: fitBlocks(blocks, 'view'),
    ...(submit && { submit: plain(submit) }),
    ...(callbackId && { callback_id: callbackId }),
    ...(metadata && { private_metadata: metadata }),
  })
}

export function notice(words: Mrkdwn): Message {
  return message(wholeSection(words))
}

export function noticeView(words: Mrkdwn, title = 'Lockkeeper'): ModalView {
  return modal({ title, blocks: wholeSection(words) })
}

type RichText = Extract<KnownBlock, { type: 'rich_text' }>
type Section = Extract<RichText['elements'][number], { type: 'rich_text_section' }>
type Element = Extract<Section['elements'][number], { type: 'text' | 'link' }>

/** Shows a reason exactly as it was written: no markup, no emoji, and links for web addresses, and for what its rule links. Empty without a reason. */
export function reasonBlocks(label: string, reason: string | undefined, terms: ReasonTerms[] | undefined): KnownBlock[] {
  const shown = reasonElements(reason ?? '', terms)
  if (shown.length === 0) return []
  const elements: Element[] = [{ type: 'text', text: `${label}: `, style: { bold: true } }, ...shown]
  return [{ type: 'rich_text', elements: [{ type: 'rich_text_section', elements }] }]
}

export function reasonElements(reason: string, terms: ReasonTerms[] = []): Element[] {
  const line = cleanText(reason, { oneLine: true })
  const addresses = [...line.matchAll(/(?<![\w/.-])https?:\/\/[^\s<>|"`]+/gi)].flatMap(({ 0: found, index: start }) => {
    const url = withoutPunctuation(found)
    return isPlainAddress(url) ? [{ start, text: url, url }] : []
  })
  const links: Linked[] = []
  // An address with a match in it is text: the match leads where the rule says.
  for (const link of [...linkedIn(terms, line), ...addresses]) {
    const isFree = ({ start, text }: Linked) => start >= link.start + link.text.length || link.start >= start + text.length
    if (links.every(isFree)) links.push(link)
  }
  const elements: Element[] = []
  let end = 0
  for (const { start, text, url } of links.toSorted((one, other) => one.start - other.start)) {
    if (start > end) elements.push({ type: 'text', text: line.slice(end, start) })
    elements.push({ type: 'link', url, ...(text !== url && { text }) })
    end = start + text.length
  }
  return end < line.length ? [...elements, { type: 'text', text: line.slice(end) }] : elements
}

function withoutPunctuation(found: string): string {
  const url = found.replace(/[.,;:!?'”’…*_~\]}]+$/u, '')
  const isClosedTooOften = url.endsWith(')') && url.split(')').length > url.split('(').length
  return isClosedTooOften ? withoutPunctuation(url.slice(0, -1)) : url
}

export const reasonBlockId = 'reason'

export function reasonInput(entered: string | undefined, hint: string, { optional = true, multiline = false } = {}) {
  const element = plainTextInput({ actionId: reasonBlockId, multiline, maxLength: longestReason, initialValue: entered })
  return input({ blockId: reasonBlockId, label: 'Reason', hint, optional, element })
}

export const startBlockId = 'start'
export const longestStart = 100

/** Its block has the label as its id. */
export function startInput(entered: string | undefined, hint: string, label: 'Start' | 'From' | 'Until' = 'Start') {
  const blockId = label.toLowerCase()
  const element = plainTextInput({ actionId: blockId, maxLength: longestStart, initialValue: entered })
  return input({ blockId, label, hint, optional: true, element })
}

const textIn = (blockId: string) => (values: Entered['values']) => values[blockId]?.trim() || undefined
export const reasonIn = textIn(reasonBlockId)
export const startIn = textIn(startBlockId)
