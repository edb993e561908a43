import { isMachine } from '../../domain/approval/origin.ts'
import { withoutInvisible } from '../../domain/text/invisible.ts'
import { utcTime } from '../../domain/text/phrase.ts'

/** Holds the text of `Mrkdwn`. The class is not exported, so that only the functions of this file can create one. */
class MrkdwnText {
  readonly text: string
  /** Makes the type nominal, so that no other object with a `text` is accepted. */
  readonly #escaped = true

  constructor(text: string) {
    this.text = text
  }

  toString(): string {
    return this.text
  }

  static is(value: unknown): value is MrkdwnText {
    return typeof value === 'object' && value !== null && #escaped in value
  }
}

/**
 * Text that Slack may read as mrkdwn, because everything from outside is escaped in it. Only the `mrkdwn` tag and the functions of this
 * file create it. It is an object, so a string that looks like mrkdwn never passes for it.
 */
export type Mrkdwn = MrkdwnText

/** Matches control characters except newline and tab, marks of annotations, and code points that are no characters. */
const unwanted =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are removed
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\ufdd0-\ufdef\ufff9-\ufffb\ufffe\uffff]/g

/**
 * Removes control characters and characters that show nothing from text from outside. Every kind of line end becomes `\n`, and a lone surrogate becomes
 * the replacement character. `oneLine` turns each run of white space into one space.
 */
export function cleanText(text: string, { oneLine = false } = {}): string {
  const clean = withoutInvisible(text)
    .replace(/\r\n?|[\v\f\u0085\u2028\u2029]/g, '\n')
    .replace(unwanted, '')
    .toWellFormed()
  return oneLine ? clean.replace(/\s+/g, ' ').trim() : clean
}

/** Escapes `&`, `<` and `>`: mentions, links and dates need one of them (docs.slack.dev, "Formatting message text"). */
export function escapeMrkdwn(text: string): Mrkdwn {
  return new MrkdwnText(escaped(text))
}

/**
 * Builds everything that Lockkeeper says. Strings and numbers are escaped and put on one line when they are interpolated. `Mrkdwn` is
 * inserted as it is. A list must be joined with `joinMrkdwn` first.
 */
export function mrkdwn(strings: TemplateStringsArray, ...values: (Mrkdwn | string | number)[]): Mrkdwn {
  const parts = strings.map((part, index) => {
    if (index >= values.length) return part
    const value = values[index]
    return part + (MrkdwnText.is(value) ? value.text : escaped(String(value)))
  })
  return new MrkdwnText(parts.join(''))
}

export function joinMrkdwn(parts: Mrkdwn[], separator: string): Mrkdwn {
  return new MrkdwnText(parts.map((part) => part.text).join(separator))
}

/** Joins alternatives: `a`, `a or b`, `a, b or c`. */
export function alternatives(parts: Mrkdwn[]): Mrkdwn {
  const last = parts.slice(-1)
  return joinMrkdwn(parts.length > 1 ? [joinMrkdwn(parts.slice(0, -1), ', '), ...last] : last, ' or ')
}

/**
 * Shows a value, or a person's reason, as inline code: `*`, `_` and `~` have no effect there, and `:names:` do not become emoji, so that it
 * cannot pass for a status of Lockkeeper's. A backtick cannot be escaped there: it becomes an apostrophe.
 */
export function code(text: string): Mrkdwn {
  const flat = cleanText(text, { oneLine: true }).replaceAll('`', '’')
  return flat === '' ? new MrkdwnText('(empty)') : mrkdwn`\`${flat}\``
}

/** Puts text on one line and in quotation marks, so that it cannot pass for a sentence of Lockkeeper's. Markup in it keeps its effect. */
export function quotation(text: string): Mrkdwn {
  return mrkdwn`“${cleanText(text, { oneLine: true }).replaceAll(/[“”]/g, '"')}”`
}

/** Links to a page of Slack. Without an address, or with one of another form, it returns the text alone. */
export function link(address: string | undefined, text: string): Mrkdwn {
  return address !== undefined && /^https:\/\/[\w.-]+\/[\w./-]*(\?thread_ts=[\d.]+&cid=\w+)?$/.test(address)
    ? new MrkdwnText(`<${address.replaceAll('&', '&amp;')}|${escaped(text).replaceAll('|', '/')}>`)
    : mrkdwn`${text}`
}

/** Mentions a person by their Slack id, and names a machine. Anything that is not an id of Slack is shown as code. */
export function mention(userId: string): Mrkdwn {
  if (isMachine({ userId })) return new MrkdwnText('Alertmanager')
  return reference('@', userId)
}

/**
 * Shows a person without notifying them: a link to their profile, which the id decides and no chosen name changes. Without the address of
 * the profile, the id stands beside the text.
 */
export function profileLink(userId: string, profile: string | undefined, text: string = userId): Mrkdwn {
  if (profile !== undefined) return link(profile, text)
  return text === userId ? code(userId) : mrkdwn`${text} (${code(userId)})`
}

/** Keeps the texts of links without their addresses, for places with little room. */
export function unlinked(words: Mrkdwn): Mrkdwn {
  return new MrkdwnText(words.text.replace(/<https:[^|>]*\|([^>]*)>/g, '$1'))
}

/** Returns the first sentence. A full stop within code ends none. */
export function firstSentence(words: Mrkdwn): Mrkdwn {
  return new MrkdwnText(/^(?:`[^`]*`|[^`])*?\.(?=\s)/.exec(words.text)?.[0] ?? words.text)
}

/** Mentions a channel by its Slack id. Anything that is not an id of Slack is shown as code. */
export function channelMention(channelId: string): Mrkdwn {
  return reference('#', channelId)
}

/** Mentions a user group by its Slack id. Anything that is not an id of Slack is shown as code. */
export function userGroupMention(groupId: string): Mrkdwn {
  return reference('!subteam^', groupId)
}

/** Takes a text of Lockkeeper's own as mrkdwn, unescaped, so that mentions in it work. It must never get text from outside. */
export function ownWords(text: string): Mrkdwn {
  return new MrkdwnText(text)
}

/**
 * Shows a time in the reader's time zone, or in UTC where Slack cannot do that: `6:12 AM today`, `2:02 PM Nov 20, 2026`. Slack keeps the
 * word true after midnight. `at` is in milliseconds since 1970.
 */
export function dateTime(at: number): Mrkdwn {
  const fallback = utcTime(at)
  return Number.isNaN(new Date(at).getTime())
    ? new MrkdwnText(fallback)
    : new MrkdwnText(`<!date^${Math.floor(at / 1000)}^{time} {date_short_pretty}|${fallback}>`)
}

/** Shows a time with its seconds, where several are compared. `at` is in milliseconds since 1970. */
export function exactTime(at: number): Mrkdwn {
  return new MrkdwnText(dateTime(at).text.replace('{time}', '{time_secs}'))
}

/** Removes the markup, for places that show plain text only. A mention becomes its id, and a date becomes its fallback in UTC. */
export function toPlainText(words: Mrkdwn): string {
  return words.text
    .replace(/<!date\^[^|>]*\|([^>]*)>/g, '$1')
    .replace(/<(?:[@#]|!subteam\^)([A-Z0-9]+)(?:\|[^>]*)?>/g, '$1')
    .replace(/[*`]/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
}

/** Escapes text and puts it on one line, so that it cannot pass for a line of Lockkeeper's. Spaces at its ends stay. */
function escaped(text: string): string {
  return cleanText(text).replaceAll(/\n\s*/g, ' ').replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function reference(mark: string, id: string): Mrkdwn {
  return /^[A-Z0-9]{2,30}$/.test(id) ? new MrkdwnText(`<${mark}${id}>`) : code(id)
}
