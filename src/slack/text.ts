import type { MrkdwnElement, PlainTextElement } from '@slack/web-api'
import { isMachine, machineNameOf } from '../domain/approval.ts'
import { cleanText, type Phrase, someOf, utcTime, withoutOwner } from '../domain/text.ts'

export function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** Slack refuses longer messages with `msg_blocks_too_long`, undocumented, from about 11,000 on (bolt-js, issues 2509 and 2867). */
export const mostCharacters = 10_000

/** Members of blocks that nobody reads: what a block is, and what Slack sends back when it is used. */
const unread = new Set(['type', 'style', 'block_id', 'action_id', 'value'])

/** Counts the characters that people read in blocks, or in parts of them. It counts UTF-16 units, which is the strictest way to count. */
export function charactersIn(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 0
  return Object.entries(value).reduce((sum, [name, part]) => sum + (unread.has(name) ? 0 : charactersIn(part)), 0)
}

/** Every word is compared with every item, so a search with thousands of words would block the process for everybody. */
export const mostWords = 20

export function searchText(parts: readonly unknown[]): string {
  return parts.join(' ').toLowerCase()
}

export function containsWords(parts: readonly unknown[], words: string[]): boolean {
  const text = searchText(parts)
  return words.every((word) => text.includes(word.toLowerCase()))
}

/** Matches what must not be cut in two: mentions, links, dates and entities of mrkdwn, and characters of two UTF-16 units. */
const units = { mrkdwn: /<[^<>]{1,500}>|&(?:amp|lt|gt);|[\s\S]/gu, plain: /[\s\S]/gu }

/** `max` is in UTF-16 units, the strictest way to count. No mention and no entity is cut in two, so the text before `…` keeps its meaning. */
export function truncate(text: string, max: number, format: keyof typeof units): string {
  if (text.length <= max) return text
  return max < 1 ? '' : `${beginningOf(text, max - 1, format)}…`
}

function beginningOf(text: string, max: number, format: keyof typeof units): string {
  let length = 0
  for (const [unit] of text.matchAll(units[format])) {
    if (length + unit.length > max) break
    length += unit.length
  }
  return text.slice(0, length)
}

/** In parts of at most `max` UTF-16 units that end at a line end or a space, if their second half has one. Only white space is lost. */
export function splitMrkdwn(text: string, max: number): string[] {
  const whole = text.trim()
  if (whole.length <= max) return whole === '' ? [] : [whole]
  const most = beginningOf(whole, max, 'mrkdwn')
  // Text between angle brackets is one unit. Lines never end there.
  const end = [most.lastIndexOf('\n'), most.search(/ [^ <>]*$/)].find((at) => at > max / 2) ?? Math.max(1, most.length)
  return [whole.slice(0, end).trimEnd(), ...splitMrkdwn(whole.slice(end), max)]
}

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

/** Everything from outside is escaped in it. It is an object, so that a string that looks like mrkdwn never passes for it. */
export type Mrkdwn = MrkdwnText

/** Escapes `&`, `<` and `>`: mentions, links and dates need one of them (docs.slack.dev, "Formatting message text"). */
export function escapeMrkdwn(text: string): Mrkdwn {
  return new MrkdwnText(escaped(text))
}

/** Strings and numbers are escaped and put on one line. `Mrkdwn` is inserted as it is. A list must be joined with `joinMrkdwn` first. */
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

export function alternatives(parts: Mrkdwn[]): Mrkdwn {
  const last = parts.slice(-1)
  return joinMrkdwn(parts.length > 1 ? [joinMrkdwn(parts.slice(0, -1), ', '), ...last] : last, ' or ')
}

/** Markup and `:names:` have no effect in it, so it cannot pass for a status of Lockkeeper's. A backtick cannot be escaped: it becomes `’`. */
export function code(text: string): Mrkdwn {
  const flat = cleanText(text, { oneLine: true }).replaceAll('`', '’')
  return flat === '' ? new MrkdwnText('(empty)') : mrkdwn`\`${flat}\``
}

/** Words without any character that could be markup, an emoji, an address or an id, or be read from right to left. */
const plainName = /^(?![\d.-]+$)[\p{Script=Latin}\d]+(?:(?: |[.-]+)[\p{Script=Latin}\d]+)*$/u

/** Shows a name from outside as text. Several words are quoted, so that they pass for no part of a sentence. Anything but words is code. */
export function nameWords(text: string): Mrkdwn {
  const name = factName(text)
  return /^[^`]* /.test(name.text) ? mrkdwn`“${name}”` : name
}

/** The same without quotes, for a list of facts that has no sentences. */
export function factName(text: string): Mrkdwn {
  const flat = cleanText(text, { oneLine: true })
  return plainName.test(flat) ? mrkdwn`${flat}` : code(text)
}

/** Puts text on one line and in quotation marks, so that it cannot pass for a sentence of Lockkeeper's. Markup in it keeps its effect. */
export function quotation(text: string): Mrkdwn {
  return mrkdwn`“${cleanText(text, { oneLine: true }).replaceAll(/[“”]/g, '"')}”`
}

export function link(address: string | undefined, text: string): Mrkdwn {
  return address !== undefined && /^https:\/\/[\w.-]+\/[\w./-]*(\?thread_ts=[\d.]+&cid=\w+|#[\w-]+)?$/.test(address)
    ? new MrkdwnText(`<${address.replaceAll('&', '&amp;')}|${escaped(text).replaceAll('|', '/')}>`)
    : mrkdwn`${text}`
}

export function mention(userId: string): Mrkdwn {
  const machine = machineNameOf({ userId })
  if (machine !== undefined) return mrkdwn`${machine} (machine)`
  if (isMachine({ userId })) return new MrkdwnText('Alertmanager')
  return reference('@', userId)
}

/** Shows a person without notifying them: a link to their profile, or the text with the id, which no chosen name can change. */
export function profileLink(userId: string, profile: string | undefined, text: string = userId): Mrkdwn {
  if (profile !== undefined) return link(profile, text)
  return text === userId ? code(userId) : mrkdwn`${text} (${code(userId)})`
}

export function unlinked(words: Mrkdwn): Mrkdwn {
  return new MrkdwnText(words.text.replace(/<https:[^|>]*\|([^>]*)>/g, '$1'))
}

export function channelMention(channelId: string): Mrkdwn {
  return reference('#', channelId)
}

export function userGroupMention(groupId: string): Mrkdwn {
  return reference('!subteam^', groupId)
}

/** Takes a text of Lockkeeper's own as mrkdwn, unescaped, so that mentions in it work. It must never get text from outside. */
export function ownWords(text: string): Mrkdwn {
  return new MrkdwnText(text)
}

/** In the reader's time zone, or in UTC where Slack cannot do that: `6:12 AM today`, `2:02 PM Nov 20, 2026`. `at`: ms since 1970. */
export function dateTime(at: number): Mrkdwn {
  const fallback = utcTime(at)
  return Number.isNaN(new Date(at).getTime())
    ? new MrkdwnText(fallback)
    : new MrkdwnText(`<!date^${Math.floor(at / 1000)}^{time} {date_short_pretty}|${fallback}>`)
}

/** The same with the weekday, for what is ahead: `10:00 PM today`, `6:00 AM Tuesday, December 1st, 2026`. */
export function dayAndTime(at: number): Mrkdwn {
  return new MrkdwnText(dateTime(at).text.replace('{date_short_pretty}', '{date_long_pretty}'))
}

export function exactTime(at: number): Mrkdwn {
  return new MrkdwnText(dateTime(at).text.replace('{time}', '{time_secs}'))
}

/** Removes the markup, for places that show plain text only. Code loses its backticks alone. A mention becomes its name or id, a date its fallback in UTC. */
export function toPlainText(words: Mrkdwn, nameOf: (id: string) => string | undefined = () => undefined): string {
  return unescaped(
    words.text
      .replace(/<!date\^[^|>]*\|([^>]*)>/g, '$1')
      .replace(/<(?:[@#]|!subteam\^)([A-Z0-9]+)(?:\|[^>]*)?>/g, (_, id) => escaped(nameOf(id) ?? id))
      .replace(/`([^`]*)`|[*`]/g, '$1'),
  )
}

export function unescaped(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
}

/** Escapes text and puts it on one line, so that it cannot pass for a line of Lockkeeper's. Spaces at its ends stay. */
function escaped(text: string): string {
  return cleanText(text).replaceAll(/\n\s*/g, ' ').replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** Anything that is not an id of Slack is shown as code. */
function reference(mark: string, id: string): Mrkdwn {
  return /^[A-Z0-9]{2,30}$/.test(id) ? new MrkdwnText(`<${mark}${id}>`) : code(id)
}

/** What Lockkeeper's sentences only describe. Code and quotations are matched first and left unchanged: people wrote what is in them. */
const described = /`[^`]*`|“[^“”]*”|\bLockkeeper's operators\b|\bthe (?:doctor|unfreeze) command\b/gi

/** Texts that would be longer than Slack's strictest limit stay as they are. */
const longestText = 2_000

/** Names the operators' channel and writes out commands where words are sent: pure functions do not know the configuration. */
export function nameInWords(config: Names, words: Mrkdwn): Mrkdwn {
  return ownWords(nameInText(config, words.text))
}

/** In the text of a message, and in every mrkdwn text of blocks and views. Plain text cannot mention a channel, and stays as it is. */
export function nameInAll<T extends object>(config: Names, sent: T): T {
  const named = nameInPart(config, sent) as T
  return 'text' in sent && typeof sent.text === 'string' ? { ...named, text: nameInText(config, sent.text) } : named
}

function nameInPart(config: Names, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((part) => nameInPart(config, part))
  if (typeof value !== 'object' || value === null) return value
  if ('type' in value && value.type === 'mrkdwn' && 'text' in value) return { ...value, text: nameInText(config, String(value.text)) }
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, nameInPart(config, member)]))
}

function nameInText({ opsChannel, slack }: Names, text: string): string {
  const named = text.replace(described, (found) => {
    if (/^[`“]/.test(found)) return found
    if (found.toLowerCase().endsWith('command')) return code(`${slack.command} ${found.split(' ')[1]}`).text
    return opsChannel === undefined ? found : `${found} (${channelMention(opsChannel)})`
  })
  return named.length <= longestText ? named : text
}

interface Names {
  opsChannel: string | undefined
  slack: { command: string }
}

const longestAddress = 1_500

/** Whether an address leads to the host that it appears to. A name before `@` and letters of other scripts can imitate another host. */
export function isPlainAddress(url: string): boolean {
  if (!/^[\x21-\x7e]+$/.test(url) || !URL.canParse(url)) return false
  const { hostname, username, password } = new URL(url)
  return hostname !== '' && username === '' && password === ''
}

/** `text` is Lockkeeper's own. The host stands beside it, so that nobody follows an address without seeing where it leads. */
export function outsideLink(address: string | undefined, text: string): Mrkdwn | undefined {
  if (address === undefined || address.length > longestAddress || !/^https?:\/\//i.test(address) || !isPlainAddress(address))
    return undefined
  const url = new URL(address)
  const escaped = url.href.replaceAll('&', '&amp;').replace(/[<>|`]/g, encodeURIComponent)
  return mrkdwn`${ownWords(`<${escaped}|${text}>`)} (${code(url.host)})`
}

/** Returns the text for a person: a mention, or a name where a mention would notify somebody who should not be. */
export type ShowPerson = (userId: string) => Mrkdwn

export function phraseWords(phrase: Phrase, showPerson: ShowPerson = mention, showName = nameWords): Mrkdwn {
  const parts = phrase.map((part) => {
    if (typeof part === 'string') return mrkdwn`${part}`
    if ('time' in part) return dateTime(part.time)
    if ('owner' in part) return mrkdwn`, for ${showPerson(part.owner)}`
    if ('linked' in part) return mrkdwn`“${link(part.address, part.linked)}”`
    return 'person' in part ? showPerson(part.person) : showName(part.name)
  })
  return joinMrkdwn(parts, '')
}

/** Quotes a title, without for whom it is: a mention in a thread rings that person's phone, each time. */
export function quotedTitle(title: Phrase): Mrkdwn {
  return mrkdwn`“${phraseWords(withoutOwner(title))}”`
}

export function boldPhrase(phrase: Phrase): Mrkdwn {
  return mrkdwn`*${phraseWords(phrase)}*`
}

export function someTexts(texts: readonly Mrkdwn[], most = 10): Mrkdwn {
  return ownWords(someOf(texts.map(String), { most }))
}

/** Stands in for empty text, which Slack refuses. */
export const emptyText = '–'

/** Makes text on one line that is shown as it is: without mentions, and `:names:` do not become emoji. */
export function plain(text: string): PlainTextElement {
  return { type: 'plain_text', text: cleanText(text, { oneLine: true }) || emptyText, emoji: false }
}

/** Makes mrkdwn in which Slack does not turn addresses into links or names into mentions (`verbatim`). */
export function verbatim({ text }: Mrkdwn): MrkdwnElement {
  return { type: 'mrkdwn', text: text.trim() || emptyText, verbatim: true }
}
