import type { RichTextElement } from '@slack/web-api'
import type { Mrkdwn } from '../text/text.ts'

/** Sorts by day where Slack sorts the cells of a column alphabetically: 2026-11-22 3:04 PM. */
const sortableDate = '{date_num} {time}'

/** The marks that the functions of `text.ts` make: a date, a mention, a link, and inline code. Anything else is text. */
const marks =
  /<!date\^(?<seconds>\d+)\^[^<>]*>|<(?<kind>[@#]|!subteam\^)(?<id>[A-Z0-9]+)(?:\|[^<>]*)?>|<(?<url>https:[^<>|]+)\|(?<label>[^<>]*)>|`(?<code>[^`]+)`/g

/**
 * Turns mrkdwn into the elements of a rich text. Text from outside becomes a text element, in which nothing is markup. `*` and `_` stay as
 * they are.
 */
export function richTextElements(words: Mrkdwn): RichTextElement[] {
  const elements: RichTextElement[] = []
  let end = 0
  for (const match of words.text.matchAll(marks)) {
    elements.push(...textElement(words.text.slice(end, match.index)), elementOf(match.groups ?? {}))
    end = match.index + match[0].length
  }
  return [...elements, ...textElement(words.text.slice(end))]
}

function elementOf({ seconds, kind, id = '', url, label = '', code = '' }: Record<string, string | undefined>): RichTextElement {
  if (seconds !== undefined) return { type: 'date', timestamp: Number(seconds), format: sortableDate }
  if (kind === '@') return { type: 'user', user_id: id }
  if (kind === '#') return { type: 'channel', channel_id: id }
  if (kind !== undefined) return { type: 'usergroup', usergroup_id: id }
  if (url !== undefined) return { type: 'link', url, text: unescaped(label) }
  return { type: 'text', text: unescaped(code), style: { code: true } }
}

function textElement(mrkdwn: string): RichTextElement[] {
  return mrkdwn === '' ? [] : [{ type: 'text', text: unescaped(mrkdwn) }]
}

function unescaped(mrkdwn: string): string {
  return mrkdwn.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
}
