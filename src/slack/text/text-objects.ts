import type { MrkdwnElement, PlainTextElement } from '@slack/web-api'
import { truncate } from './cut-text.ts'
import { cleanText, type Mrkdwn } from './text.ts'

/** Stands in for empty text, which Slack refuses. */
export const emptyText = '–'

/** Makes text on one line that is shown as it is: without mentions, and `:names:` do not become emoji. */
export function plain(text: string, max: number): PlainTextElement {
  return { type: 'plain_text', text: truncate(cleanText(text, { oneLine: true }) || emptyText, max, 'plain'), emoji: false }
}

/** Makes mrkdwn in which Slack does not turn addresses into links or names into mentions (`verbatim`). */
export function verbatim({ text }: Pick<Mrkdwn, 'text'>, max: number): MrkdwnElement {
  return { type: 'mrkdwn', text: truncate(text.trim() || emptyText, max, 'mrkdwn'), verbatim: true }
}

/** Returns an id or a value that Slack sends back. Throws a RangeError if its length does not fit: cut, it would mean something else. */
export function exact(name: string, text: string, max: number): string {
  if (text.length >= 1 && text.length <= max) return text
  throw new RangeError(`${name} has ${text.length} characters, and Slack takes 1 to ${max}`)
}
