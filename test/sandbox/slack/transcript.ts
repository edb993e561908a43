import { elementsOf } from './elements.ts'
import { type Json, NotDescribed, objectsOf, stringOf, textOf } from './json.ts'
import type { Message } from './slack.ts'
import type { Directory } from './workspace.ts'

/** Returns Slack's markup as people read it: names for mentions, words for links. `*` and the like stay. */
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

function tableRows(block: Json): Json[][] {
  return Array.isArray(block.rows) ? block.rows.map((row) => objectsOf(row)) : []
}

function cellInWords(one: Json, directory: Directory): string {
  return one.type === 'rich_text' ? richTextInWords(one, directory) : stringOf(one.text)
}

function richTextInWords(block: Json, directory: Directory): string {
  const elements = objectsOf(block.elements).flatMap((section) => objectsOf(section.elements))
  return elements.map((element) => elementInWords(element, directory)).join('')
}

/** Returns an element of rich text as people read it. Nothing in its text is markup. */
function elementInWords({ type, text, url, user_id, channel_id, usergroup_id, timestamp }: Json, directory: Directory): string {
  if (type === 'user') return readable(`<@${user_id}>`, directory)
  if (type === 'channel') return readable(`<#${channel_id}>`, directory)
  if (type === 'usergroup') return readable(`<!subteam^${usergroup_id}>`, directory)
  if (type === 'date') return `${new Date(Number(timestamp) * 1_000).toISOString().slice(0, 16).replace('T', ' ')} UTC`
  return stringOf(text ?? url)
}

function blockInWords(block: Json, directory: Directory): string[] {
  const text = (value: unknown) => readable(textOf(value), directory)
  const controls = elementsOf([block])
    .map(({ type, label }) => (type === 'button' ? `[${label}]` : `[${label} ▾]`))
    .join(' ')
  switch (block.type) {
    case 'header':
      return [text(block.text)]
    case 'section':
      return [text(block.text), ...objectsOf(block.fields).map((field) => text(field)), controls]
    case 'context':
      return [
        objectsOf(block.elements)
          .map((element) => text(element))
          .join(' '),
      ]
    case 'data_table':
      return [stringOf(block.caption), ...tableRows(block).map((row) => row.map((one) => cellInWords(one, directory)).join(' | '))]
    case 'rich_text':
      return [richTextInWords(block, directory)]
    case 'divider':
      return ['———']
    case 'actions':
      return [controls]
    default:
      throw new NotDescribed(`how a block of the type "${String(block.type)}" reads in a transcript`)
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

/** Returns a channel as text: one message after the other, each with its thread below it. Nothing in it depends on the time. */
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
