/** A piece of a line. Content from outside is only text here, never markup. */
export type Inline =
  | { type: 'text' | 'code'; text: string }
  | { type: 'bold' | 'italic' | 'strike'; children: Inline[] }
  | { type: 'break' }
  | { type: 'link'; url: string; text: string }
  | { type: 'user' | 'channel' | 'group'; id: string; label?: string }
  | { type: 'broadcast'; range: string }
  | { type: 'date'; seconds: number; format: string; url?: string; fallback: string }
  | { type: 'emoji'; name: string }

export type Paragraph = { type: 'paragraph' | 'quote'; children: Inline[] } | { type: 'preformatted'; text: string }

export interface MrkdwnOptions {
  /** With `verbatim`, an address is a link only if it is written as one. */
  verbatim?: boolean
}

/**
 * Reads Slack's mrkdwn the way Slack's own clients do, as far as bots use it.
 * Source: https://docs.slack.dev/messaging/formatting-message-text.
 */
export function parseMrkdwn(text: string, options: MrkdwnOptions = {}): Paragraph[] {
  return text.split(/\n?```\n?([\s\S]+?)\n?```\n?/).flatMap((part, index): Paragraph[] => {
    if (index % 2 === 1) return [{ type: 'preformatted', text: plainOf(part) }]
    return part === '' ? [] : parseLines(part, options)
  })
}

function parseLines(text: string, options: MrkdwnOptions): Paragraph[] {
  const wholeQuote = /^(?:>|&gt;){3}\s?([\s\S]*)$/.exec(text)
  if (wholeQuote) return [{ type: 'quote', children: parseInline(wholeQuote[1] ?? '', options) }]

  const groups: { type: 'paragraph' | 'quote'; lines: string[] }[] = []
  for (const line of text.split('\n')) {
    const quoted = /^(?:>|&gt;) ?(.*)$/.exec(line)
    const type = quoted ? 'quote' : 'paragraph'
    const last = groups.at(-1)
    if (last?.type === type) last.lines.push(quoted?.[1] ?? line)
    else groups.push({ type, lines: [quoted?.[1] ?? line] })
  }
  return groups.map(({ type, lines }) => ({ type, children: parseInline(lines.join('\n'), options) }))
}

const emphasis = { '*': 'bold', _: 'italic', '~': 'strike' } as const
const emoji = /:([a-z0-9_+'-]+):/y
const address = /https?:\/\/[^\s<>|]*[^\s<>|.,;:!?'")\]}*_~]/y

export function parseInline(text: string, options: MrkdwnOptions = {}): Inline[] {
  const pieces: Inline[] = []
  let plain = ''
  let at = 0

  const flush = () => {
    if (plain !== '') pieces.push({ type: 'text', text: decode(plain) })
    plain = ''
  }
  const add = (piece: Inline, length: number) => {
    flush()
    pieces.push(piece)
    at += length
  }
  const matchHere = (pattern: RegExp) => {
    pattern.lastIndex = at
    return pattern.exec(text)
  }

  while (at < text.length) {
    const character = text.charAt(at)
    const piece = pieceAt(character)
    if (piece) add(piece.inline, piece.length)
    else {
      plain += character
      at += 1
    }
  }
  flush()
  return pieces

  function pieceAt(character: string): { inline: Inline; length: number } | undefined {
    if (character === '\n') return { inline: { type: 'break' }, length: 1 }
    if (character === '<') return control()
    if (character === '`') return code()
    if (character === ':') return emojiName()
    if (character === 'h' && !options.verbatim && !isWord(text.charAt(at - 1))) return bareAddress()
    if (character === '*' || character === '_' || character === '~') return emphasised(character)
    return undefined
  }

  function control() {
    const end = text.indexOf('>', at)
    const inline = end === -1 ? undefined : parseControl(text.slice(at + 1, end))
    return inline && { inline, length: end + 1 - at }
  }

  function code() {
    const end = text.indexOf('`', at + 1)
    const inside = text.slice(at + 1, end)
    if (end === -1 || inside.trim() === '' || inside.includes('\n')) return undefined
    return { inline: { type: 'code' as const, text: plainOf(inside) }, length: end + 1 - at }
  }

  function emojiName() {
    const found = matchHere(emoji)
    return found ? { inline: { type: 'emoji' as const, name: found[1] ?? '' }, length: found[0].length } : undefined
  }

  function bareAddress() {
    const found = matchHere(address)
    return found ? { inline: { type: 'link' as const, url: decode(found[0]), text: decode(found[0]) }, length: found[0].length } : undefined
  }

  function emphasised(mark: '*' | '_' | '~') {
    const before = text.charAt(at - 1)
    if (isWord(before) || before === mark || isSpace(text.charAt(at + 1))) return undefined
    const end = closing(mark)
    if (end === undefined) return undefined
    return { inline: { type: emphasis[mark], children: parseInline(text.slice(at + 1, end), options) }, length: end + 1 - at }
  }

  /** Finds where the mark at `at` closes on its line: after a character that is no space, and before one that is no word character. */
  function closing(mark: string): number | undefined {
    for (let end = at + 1; end < text.length && text.charAt(end) !== '\n'; end += 1) {
      if (text.charAt(end) === '<') end = Math.max(end, text.indexOf('>', end))
      const closes = text.charAt(end) === mark && end > at + 1 && !isSpace(text.charAt(end - 1)) && !isWord(text.charAt(end + 1))
      if (closes) return end
    }
    return undefined
  }
}

/** Parses what is between `<` and `>`. */
function parseControl(inside: string): Inline | undefined {
  const [target = '', label] = splitOnce(inside, '|')
  const named = label === undefined ? {} : { label: decode(label) }
  if (/^@[UW][A-Z0-9]+$/.test(target)) return { type: 'user', id: target.slice(1), ...named }
  if (/^#[CG][A-Z0-9]+$/.test(target)) return { type: 'channel', id: target.slice(1), ...named }
  if (/^!subteam\^S[A-Z0-9]+$/.test(target)) return { type: 'group', id: target.slice('!subteam^'.length), ...named }
  if (/^!(here|channel|everyone)$/.test(target)) return { type: 'broadcast', range: target.slice(1) }
  const date = /^!date\^(-?\d+)\^([^^]+)(?:\^(.+))?$/.exec(target)
  if (date) {
    const [, seconds, format = '', url] = date
    return {
      type: 'date',
      seconds: Number(seconds),
      format: decode(format),
      ...(url && { url: decode(url) }),
      fallback: named.label ?? '',
    }
  }
  if (/^(https?:\/\/|mailto:|tel:)/i.test(target)) return { type: 'link', url: decode(target), text: named.label ?? decode(target) }
  return undefined
}

function splitOnce(text: string, separator: string): [string, string?] {
  const at = text.indexOf(separator)
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)]
}

/** Slack decodes these three and no others. */
function decode(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
}

/** Inside code only links are replaced, by their text. */
function plainOf(text: string): string {
  return decode(text.replace(/<(?:https?:\/\/|mailto:)[^>|]*\|([^>]*)>/g, '$1').replace(/<((?:https?:\/\/|mailto:)[^>|]*)>/g, '$1'))
}

function isWord(character: string): boolean {
  return /[\p{L}\p{N}]/u.test(character)
}

function isSpace(character: string): boolean {
  return character === '' || /\s/.test(character)
}
