import type { Directory } from './directory.ts'
import { elementsOf } from './elements.ts'
import { type Json, objectOf, objectsOf, stringOf, textOf } from './json.ts'
import type { Message } from './slack.ts'

/** Slack's markup as a person reads it: names for mentions, words for links, `*` and the like as they were written. */
export function readable(text: string, directory: Directory): string {
  return text
    .replaceAll(/<@(\w+)(?:\|[^>]*)?>/g, (_all, id: string) => `@${directory.findPerson(id)?.name ?? id}`)
    .replaceAll(/<#(\w+)(?:\|([^>]*))?>/g, (_all, id: string, name?: string) => `#${name || (directory.findChannel(id)?.name ?? id)}`)
    .replaceAll(/<!subteam\^(\w+)(?:\|[^>]*)?>/g, (_all, id: string) => `@${directory.userGroup(id)?.handle ?? id}`)
    .replaceAll(/<!date\^[^|>]*\|([^>]*)>/g, '$1')
    .replaceAll(/<!(here|channel|everyone)(?:\|[^>]*)?>/g, '@$1')
    .replaceAll(/<(?:https?|mailto)[^|>]*\|([^>]*)>/g, '$1')
    .replaceAll(/<((?:https?|mailto)[^>]*)>/g, '$1')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
}

function elementInWords({ type, element, label }: ReturnType<typeof elementsOf>[number]): string {
  if (type === 'button' || type === 'workflow_button') return `[${label}]`
  if (type === 'overflow')
    return `[⋯ ${objectsOf(element.options)
      .map((option) => textOf(option.text))
      .join(' | ')}]`
  return `[${label || type} ▾]`
}

/** Of rich text, in any depth. */
function wordsIn(value: Json, directory: Directory): string {
  if (value.type === 'user') return `@${directory.findPerson(stringOf(value.user_id))?.name ?? stringOf(value.user_id)}`
  if (value.type === 'usergroup') return `@${directory.userGroup(stringOf(value.usergroup_id))?.handle ?? stringOf(value.usergroup_id)}`
  if (value.type === 'channel') return `#${directory.findChannel(stringOf(value.channel_id))?.name ?? stringOf(value.channel_id)}`
  if (value.type === 'emoji') return `:${stringOf(value.name)}:`
  if (value.type === 'date') return stringOf(value.fallback)
  if (value.type === 'link') return stringOf(value.text) || stringOf(value.url)
  if (value.type === 'rich_text_list') {
    return objectsOf(value.elements)
      .map((item) => `• ${wordsIn(item, directory)}`)
      .join('\n')
  }
  if (value.elements === undefined) return stringOf(value.text)
  const between = value.type === 'rich_text' ? '\n' : ''
  return objectsOf(value.elements)
    .map((one) => wordsIn(one, directory))
    .join(between)
}

function blockInWords(block: Json, directory: Directory): string[] {
  const text = (value: unknown) => readable(textOf(value), directory)
  const controls = elementsOf([block]).map(elementInWords).join(' ')
  switch (block.type) {
    case 'header':
      return [text(block.text)]
    case 'section':
      return [text(block.text), ...objectsOf(block.fields).map((field) => text(field)), controls]
    case 'context':
      return [
        objectsOf(block.elements)
          .map((element) => (element.type === 'image' ? `[image: ${stringOf(element.alt_text)}]` : text(element)))
          .join(' '),
      ]
    case 'divider':
      return ['———']
    case 'image':
      return [`[image: ${stringOf(block.alt_text)}]`]
    case 'actions':
    case 'context_actions':
      return [controls]
    case 'input':
      return [`${text(block.label)}: ${controls}`]
    case 'rich_text':
      return [wordsIn(block, directory)]
    case 'markdown':
      return [stringOf(block.text)]
    case 'table':
    case 'data_table':
      return (Array.isArray(block.rows) ? block.rows : []).map((row) =>
        objectsOf(row)
          .map((cell) => wordsIn(cell, directory))
          .join(' | '),
      )
    case 'card':
      return [text(block.title), text(block.subtitle), text(block.body), controls]
    case 'container':
      return [text(block.title), ...objectsOf(block.child_blocks).flatMap((child) => blockInWords(child, directory))]
    default:
      return [`[${stringOf(block.type)} block: ${textOf(objectOf(block)) || '…'}]`]
  }
}

function linesOf(message: Message, directory: Directory): string[] {
  const shown = message.blocks ? message.blocks.flatMap((block) => blockInWords(block, directory)) : [readable(message.text, directory)]
  return shown.flatMap((part) => part.split('\n')).filter((line) => line !== '')
}

function firstName(userId: string, directory: Directory): string {
  return directory.person(userId).name.split(' ')[0] ?? userId
}

function inWords(message: Message, indent: string, directory: Directory): string[] {
  const alone = message.visibleTo ? ` (only visible to ${firstName(message.visibleTo, directory)})` : ''
  const mark = message.broadcast && indent === '' ? ' (also sent to the channel)' : alone
  const [first = '', ...rest] = linesOf(message, directory)
  const edited = message.edited ? ' (edited)' : ''
  return [`${indent}${message.userName}${mark}: ${first}`, ...rest.map((line) => `${indent}  ${line}`)].map((line, at, all) =>
    at === all.length - 1 ? `${line}${edited}` : line,
  )
}

/** A channel as text: one message after the other, each with its thread below it. Nothing in it depends on the time. */
export function transcriptOf(messages: Message[], directory: Directory): string {
  const replies = (ts: string) => messages.filter((message) => message.threadTs === ts)
  const parents = new Set(messages.map((message) => message.ts))
  return messages
    .filter((message) => message.threadTs === undefined || message.broadcast || !parents.has(message.threadTs))
    .flatMap((message) => [
      ...inWords(message, '', directory),
      ...replies(message.ts).flatMap((reply) => inWords(reply, '    ', directory)),
    ])
    .join('\n')
}
