/** A piece of a text. Content from outside is only text here, never markup. */
export type Inline =
  | { type: 'text' | 'code'; text: string }
  | { type: 'bold' | 'italic'; children: Inline[] }
  | { type: 'link'; url: string; text: string }
  | { type: 'user' | 'channel' | 'group'; id: string; label?: string | undefined }
  | { type: 'date'; seconds: number; format: string }
  | { type: 'emoji'; name: string }

const word = '[\\p{L}\\p{N}]'

/** A mark opens after a character that is no word character, and closes on its line before one. */
const emphasis = (mark: string, name: string) =>
  `(?<!${word}|${mark})${mark}(?!\\s)(?<${name}>(?:<[^>\\n]*>|[^\\n<])+?)(?<!\\s)${mark}(?!${word})`

const token = new RegExp(
  [
    '<(?<control>[^<>\\n]+)>',
    '```(?<block>[^`]+)```',
    '`(?<code>[^`\\n]*[^`\\s][^`\\n]*)`',
    ":(?<emoji>[a-z0-9_+'-]+):",
    `(?<!${word})(?<address>https?:\\/\\/[^\\s<>|]*[^\\s<>|.,;:!?'")\\]}*_~])`,
    emphasis('\\*', 'bold'),
    emphasis('_', 'italic'),
  ].join('|'),
  'gu',
)

/**
 * Reads Slack's mrkdwn as Slack's own clients do, as far as bots use it. With `verbatim`, an address is a link only if written as one.
 * Source: https://docs.slack.dev/messaging/formatting-message-text.
 */
export function parseMrkdwn(text: string, verbatim = false): Inline[] {
  const pieces: Inline[] = []
  let end = 0
  const addTextUntil = (at: number) => {
    if (at > end) pieces.push({ type: 'text', text: decode(text.slice(end, at)) })
  }
  for (const { 0: found, index, groups = {} } of text.matchAll(token)) {
    const piece = pieceOf(groups, verbatim)
    if (!piece) continue
    addTextUntil(index)
    pieces.push(piece)
    end = index + found.length
  }
  addTextUntil(text.length)
  return pieces
}

function pieceOf(groups: Record<string, string | undefined>, verbatim: boolean): Inline | undefined {
  const { control, block, code = block, emoji, address, bold, italic } = groups
  if (control) return parseControl(control)
  if (code) return { type: 'code', text: plainOf(code) }
  if (emoji) return { type: 'emoji', name: emoji }
  if (address) return verbatim ? undefined : { type: 'link', url: decode(address), text: decode(address) }
  if (bold) return { type: 'bold', children: parseMrkdwn(bold, verbatim) }
  return { type: 'italic', children: parseMrkdwn(italic ?? '', verbatim) }
}

/** Parses what is between `<` and `>`. Returns nothing if it has no meaning, and so is text. */
function parseControl(inside: string): Inline | undefined {
  const [, target = '', written] = /^([^|]*)(?:\|(.*))?$/.exec(inside) ?? []
  const label = written === undefined ? undefined : decode(written)
  if (/^@[UW][A-Z0-9]+$/.test(target)) return { type: 'user', id: target.slice(1), label }
  if (/^#[CG][A-Z0-9]+$/.test(target)) return { type: 'channel', id: target.slice(1), label }
  if (/^!subteam\^S[A-Z0-9]+$/.test(target)) return { type: 'group', id: target.slice('!subteam^'.length), label }
  const date = /^!date\^(-?\d+)\^([^^]+)/.exec(target)
  if (date) return { type: 'date', seconds: Number(date[1]), format: decode(date[2] ?? '') }
  if (/^(https?:\/\/|mailto:)/i.test(target)) return { type: 'link', url: decode(target), text: label ?? decode(target) }
  return undefined
}

/** Slack decodes these three and no others. */
function decode(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
}

/** Inside code only links are replaced, by their text. */
function plainOf(text: string): string {
  return decode(text.replace(/<((?:https?:\/\/|mailto:)[^>|]*)(?:\|([^>]*))?>/g, (_, url: string, label?: string) => label ?? url))
}

/**
 * Formats a date like Slack: `{time} {date_short_pretty}` in the reader's time zone and language. Source:
 * https://docs.slack.dev/messaging/formatting-message-text, "Date formatting".
 */
export function formatSlackDate(seconds: number, format: string, now: Date, locale?: string): string {
  const date = new Date(seconds * 1000)
  const write = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(locale, options).format(date)
  const two = (number: number) => String(number).padStart(2, '0')
  const words: Record<string, () => string> = {
    date_num: () => `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`,
    date_short: () => write({ year: 'numeric', month: 'short', day: 'numeric' }),
    date_long: () => write({ weekday: 'long', year: 'numeric', month: 'long', day: 'numeric' }),
    time: () => write({ hour: 'numeric', minute: '2-digit' }),
    time_secs: () => write({ hour: 'numeric', minute: '2-digit', second: '2-digit' }),
  }
  return format.replace(/\{(\w+?)(_pretty)?\}/g, (token, name: string, pretty?: string) => {
    return (pretty && dayNearby(date, now)) || (words[name]?.() ?? token)
  })
}

/** Returns `today`, `yesterday` or `tomorrow`. */
function dayNearby(date: Date, now: Date): string | undefined {
  const midnight = (day: Date) => new Date(day.getFullYear(), day.getMonth(), day.getDate()).getTime()
  const days = Math.round((midnight(date) - midnight(now)) / 86_400_000)
  return { [-1]: 'yesterday', 0: 'today', 1: 'tomorrow' }[days]
}

/** The emoji that the bot writes. An unknown name is shown as text. */
const glyphs: Record<string, string> = {
  alarm_clock: '⏰',
  arrow_backward: '◀️',
  arrow_forward: '▶️',
  arrows_counterclockwise: '🔄',
  ballot_box_with_check: '☑️',
  bell: '🔔',
  clock3: '🕒',
  eyes: '👀',
  fast_forward: '⏩',
  grey_question: '❔',
  hourglass: '⌛',
  hourglass_flowing_sand: '⏳',
  information_source: 'ℹ️',
  key: '🔑',
  large_green_circle: '🟢',
  large_orange_circle: '🟠',
  leftwards_arrow_with_hook: '↩️',
  no_entry: '⛔',
  no_entry_sign: '🚫',
  point_right: '👉',
  red_circle: '🔴',
  rotating_light: '🚨',
  see_no_evil: '🙈',
  small_blue_diamond: '🔹',
  snail: '🐌',
  snowflake: '❄️',
  speech_balloon: '💬',
  sunny: '☀️',
  warning: '⚠️',
  wastebasket: '🗑️',
  white_check_mark: '✅',
  white_small_square: '▫️',
  x: '❌',
}

export function emojiNamed(name: string): string | undefined {
  return Object.hasOwn(glyphs, name) ? glyphs[name] : undefined
}
