/** See `Mrkdwn`. Not exported as a value: only the functions here make it. */
class Words {
  readonly text: string
  /** Makes the type nominal: another object with a `text` is not taken for it. */
  readonly #escaped = true

  constructor(text: string) {
    this.text = text
  }

  toString(): string {
    return this.text
  }

  static is(value: unknown): value is Words {
    return typeof value === 'object' && value !== null && #escaped in value
  }
}

/**
 * Text that Slack may read as mrkdwn: everything in it that came from outside is escaped. It is made by the `mrkdwn` tag and the
 * functions here alone, and is an object, so that text which merely looks like it is never taken for it.
 */
export type Mrkdwn = Words

/**
 * Control characters except newline and tab, and invisible characters that turn text round or make one name look like another.
 * The joiners that emoji and several scripts are written with stay.
 */
const unwanted =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufdd0-\ufdef\ufeff\ufff9-\ufffb\ufffe\uffff]/g

/**
 * Text from outside without control and direction marks; every kind of line end becomes `\n`, lone surrogates the replacement
 * character. `oneLine` makes each run of white space one space.
 */
export function cleanText(text: string, { oneLine = false } = {}): string {
  const clean = text
    .replace(/\r\n?|[\v\f\u0085\u2028\u2029]/g, '\n')
    .replace(unwanted, '')
    .toWellFormed()
  return oneLine ? clean.replace(/\s+/g, ' ').trim() : clean
}

/** `&`, `<` and `>` are all that Slack reads as mentions, links and dates (docs.slack.dev, "Formatting message text"). */
export function escapeMrkdwn(text: string): Mrkdwn {
  return new Words(escaped(text))
}

/**
 * Template tag for everything the bot says: what is interpolated is escaped and put on one line, unless it is Mrkdwn already. A
 * list is not: join it with `joinMrkdwn` first.
 */
export function mrkdwn(strings: TemplateStringsArray, ...values: (Mrkdwn | string | number)[]): Mrkdwn {
  const parts = strings.map((part, index) => {
    if (index >= values.length) return part
    const value = values[index]
    return part + (Words.is(value) ? value.text : escaped(String(value)))
  })
  return new Words(parts.join(''))
}

export function joinMrkdwn(parts: Mrkdwn[], separator: string): Mrkdwn {
  return new Words(parts.map((part) => part.text).join(separator))
}

/** A value as inline code, in which `*`, `_` and `~` stay as they are. A backtick cannot be escaped there, so it becomes an apostrophe. */
export function code(text: string): Mrkdwn {
  const flat = cleanText(text, { oneLine: true }).replaceAll('`', '’')
  return flat === '' ? new Words('(empty)') : mrkdwn`\`${flat}\``
}

/** What a person wrote, on one line and in quotation marks, so that it cannot pass for something that the bot says. */
export function quote(text: string): Mrkdwn {
  return mrkdwn`“${cleanText(text, { oneLine: true }).replaceAll(/[“”]/g, '"')}”`
}

/** A link to a page of Slack's own, or the text alone where the address is none. */
export function link(address: string | undefined, text: string): Mrkdwn {
  return address !== undefined && /^https:\/\/[\w.-]+\/[\w./-]*$/.test(address)
    ? new Words(`<${address}|${escaped(text).replaceAll('|', '/')}>`)
    : mrkdwn`${text}`
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
  return new Words(text)
}

/** A moment in the reader's own time zone, with UTC where that cannot be shown. `at` is in ms since 1970. */
export function dateTime(at: number): Mrkdwn {
  const date = new Date(at)
  if (Number.isNaN(date.getTime())) return new Words('an unknown time')
  const fallback = `${date.toISOString().slice(0, 16).replace('T', ' ')} UTC`
  return new Words(`<!date^${Math.floor(at / 1000)}^{date_short_pretty} {time}|${fallback}>`)
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

/** On one line, so that it cannot pass for another line of the bot's. Our own spaces around it stay. */
function escaped(text: string): string {
  return cleanText(text).replaceAll(/\n\s*/g, ' ').replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function reference(mark: string, id: string): Mrkdwn {
  return /^[A-Z0-9]{2,30}$/.test(id) ? new Words(`<${mark}${id}>`) : code(id)
}
