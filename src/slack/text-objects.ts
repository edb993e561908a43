import type { MrkdwnElement, PlainTextElement } from '@slack/web-api'
import { truncate } from './cut-text.ts'
import { cleanText, type Mrkdwn } from './text.ts'

/** Slack refuses empty text. */
export const nothing = '–'

/** Text on one line, shown as it is: no mentions, and `:names:` do not turn into emoji. */
export function plain(text: string, max: number): PlainTextElement {
  return { type: 'plain_text', text: truncate(cleanText(text, { oneLine: true }) || nothing, max, 'plain'), emoji: false }
}

/** Verbatim: Slack makes no links and mentions of its own out of it. */
export function verbatim({ text }: Pick<Mrkdwn, 'text'>, max: number): MrkdwnElement {
  return { type: 'mrkdwn', text: truncate(text.trim() || nothing, max, 'mrkdwn'), verbatim: true }
}

/** An id or a value that comes back to us. Throws when it does not fit: cut, it would mean something else. */
export function exact(name: string, text: string, max: number): string {
  if (text.length >= 1 && text.length <= max) return text
  throw new RangeError(`${name} has ${text.length} characters, and Slack takes 1 to ${max}`)
}
