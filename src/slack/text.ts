/**
 * Text that Slack may read as mrkdwn: everything in it that came from outside is escaped. It is made by the `mrkdwn` tag and the
 * functions here alone, and is an object, so that text which merely looks like it is never taken for it.
 */
export class Mrkdwn {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  toString(): string {
    return this.text
  }
}

// Control characters except newline and tab, and the marks that hide or turn text round: they can make one name look like another.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out
const unwanted = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g

/** Text from outside without control and direction marks; lone surrogates become the replacement character. */
export function cleanText(text: string): string {
  return text.replace(unwanted, '').toWellFormed()
}

/** `&`, `<` and `>` are all that Slack reads as mentions, links and dates (docs.slack.dev, "Formatting message text"). */
export function escapeMrkdwn(text: string): Mrkdwn {
  return new Mrkdwn(escaped(text))
}

/**
 * Template tag for everything the bot says: what is interpolated is escaped, unless it is Mrkdwn already. A list is not: join it
 * with `joinMrkdwn` first.
 */
export function mrkdwn(strings: TemplateStringsArray, ...values: (Mrkdwn | string | number)[]): Mrkdwn {
  const parts = strings.map((part, index) => {
    if (index >= values.length) return part
    const value = values[index]
    return part + (value instanceof Mrkdwn ? value.text : escaped(String(value)))
  })
  return new Mrkdwn(parts.join(''))
}

export function joinMrkdwn(parts: Mrkdwn[], separator: string): Mrkdwn {
  return new Mrkdwn(parts.map((part) => part.text).join(separator))
}

/** A value as inline code, in which `*`, `_` and `~` stay as they are. A backtick cannot be escaped there, so it becomes an apostrophe. */
export function code(text: string): Mrkdwn {
  const flat = cleanText(text).replaceAll('`', '’').replaceAll(/\s+/g, ' ').trim()
  return flat === '' ? new Mrkdwn('(empty)') : mrkdwn`\`${flat}\``
}

/** Ids of people, groups and channels are Slack's own; anything else in their place is shown as text. */
export function mention(userId: string): Mrkdwn {
  return reference('@', userId)
}

export function channelMention(channelId: string): Mrkdwn {
  return reference('#', channelId)
}

export function userGroupMention(groupId: string): Mrkdwn {
  return reference('!subteam^', groupId)
}

/** Words that are our own, with mentions of people and channels by their ids in them. Never for anything from outside. */
export function ownWords(text: string): Mrkdwn {
  return new Mrkdwn(text)
}

/** A moment in the reader's own time zone, with UTC where that cannot be shown. `at` is in ms since 1970. */
export function dateTime(at: number): Mrkdwn {
  const fallback = `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`
  return new Mrkdwn(`<!date^${Math.floor(at / 1000)}^{date_short_pretty} {time}|${fallback}>`)
}

/** The words without markup, for places that show plain text only: mentions become their ids, dates their fallback. */
export function toPlainText(words: Mrkdwn): string {
  return words.text
    .replace(/<!date\^[^|>]*\|([^>]*)>/g, '$1')
    .replace(/<(?:[@#]|!subteam\^)([A-Z0-9]+)(?:\|[^>]*)?>/g, '$1')
    .replace(/[*`]/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
}

/** At most `max` UTF-16 units, cut between characters and never inside an entity or a mention; what was cut is marked with `…`. */
export function truncate(text: string, max: number): string {
  if (text.length <= max) return text
  let cut = text.slice(0, Math.max(0, max - 1)).replace(/[\ud800-\udbff]$/, '')
  cut = cut.replace(/&[a-z]{0,4}$/, '')
  const open = cut.lastIndexOf('<')
  if (open > cut.lastIndexOf('>')) cut = cut.slice(0, open)
  return `${cut}…`
}

function escaped(text: string): string {
  return cleanText(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function reference(mark: string, id: string): Mrkdwn {
  return /^[A-Z0-9]{2,30}$/.test(id) ? new Mrkdwn(`<${mark}${id}>`) : code(id)
}
