import { emojiNamed } from './emoji.ts'
import type { Names } from './inline.ts'
import { type Inline, type Paragraph, parseMrkdwn } from './mrkdwn.ts'
import { formatSlackDate } from './slack-date.ts'

/** Returns mrkdwn as the plain words of a notification: names for mentions, no markup. */
export function mrkdwnWords(text: string, names: Names): string {
  return parseMrkdwn(text)
    .map((paragraph: Paragraph) => (paragraph.type === 'preformatted' ? paragraph.text : wordsOf(paragraph.children, names)))
    .join('\n')
}

export function wordsOf(pieces: Inline[], names: Names): string {
  return pieces.map((piece) => wordOf(piece, names)).join('')
}

function wordOf(piece: Inline, names: Names): string {
  switch (piece.type) {
    case 'text':
    case 'code':
    case 'link':
      return piece.text
    case 'break':
      return '\n'
    case 'bold':
    case 'italic':
    case 'strike':
      return wordsOf(piece.children, names)
    case 'user':
      return mentionWords(piece, '@', names)
    case 'channel':
      return mentionWords(piece, '#', names)
    case 'group':
      return mentionWords(piece, '@', names)
    case 'broadcast':
      return `@${piece.range}`
    case 'date':
      return formatSlackDate(piece.seconds, piece.format, new Date())
    case 'emoji':
      return emojiNamed(piece.name) ?? `:${piece.name}:`
  }
}

/** Returns the name of a mentioned person, channel or group, with its sign. */
export function mentionWords({ type, id, label }: Extract<Inline, { id: string }>, sign: '@' | '#', names: Names): string {
  return `${sign}${names[type](id) ?? label?.replace(/^@/, '') ?? id}`
}
