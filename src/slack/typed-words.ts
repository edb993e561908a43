import { unescaped } from './text.ts'

/**
 * The characters that can enclose one argument: backticks, straight, typographic, German or French quotes. Phones mix straight and
 * typographic quotes, so a pair is one of each kind. Single quotes must end before white space or a comma, because `'` is also an
 * apostrophe.
 */
const wrappings = [/```([^`]*)```/, /`([^`]*)`/, /["“”„]([^"“”]*)["“”]/, /«([^«»]*)»/, /['‘’‚]([^'‘’]*)['‘’](?=[\s,]|$)/]

const oneWord = new RegExp(`(?:${wrappings.map(({ source }) => source).join('|')}),*|(\\S+)`, 'g')

/** Most commands have none of these, and are only split at white space, which takes a fifth of the time. */
const special = /[`"“”„«»'‘’‚,<>&]/

/**
 * Splits the text after a command into words. Quotes and backticks keep a name with spaces together, and are taken off like commas around a
 * word. Slack turns host names into links (`<http://web-2.example.com|web-2.example.com>`) and escapes `&`, `<` and `>`: both become what
 * was typed. Mentions stay as Slack sends them.
 */
export function parseWords(text: string): string[] {
  if (!special.test(text)) return text.split(/\s+/).filter((word) => word !== '')
  const typed = text.replace(/<(?:https?:\/\/|mailto:|tel:)[^<>|]*\|([^<>]*)>/g, '$1').replace(/<(?:https?:\/\/)([^<>|]*)>/g, '$1')
  return [...typed.matchAll(oneWord)].flatMap((match) => {
    const bare = match.at(-1)
    if (bare === undefined) return [unescaped(match.slice(1, -1).find((part) => part !== undefined) ?? '')]
    const word = withoutCommas(bare)
    return word === '' ? [] : [unescaped(word)]
  })
}

/** Matches what Slack sends for a mention of a person, a channel or a user group: `<@U0ADA00001|ada>`, `<!subteam^S0ONCALL01|@oncall>`. */
const mention = /^<(?:@|#|!subteam\^)([A-Z0-9]+)(?:\|([^>]*))?>$/

/** Returns a mention as the name that was typed, for commands that look for names. Without a name it is the id. */
export function withoutMention(word: string): string {
  const [, id, name] = mention.exec(word) ?? []
  return name?.replace(/^@/, '') || id || word
}

function withoutCommas(word: string): string {
  let [start, end] = [0, word.length]
  while (word[start] === ',') start += 1
  while (end > start && word[end - 1] === ',') end -= 1
  return word.slice(start, end)
}

/** The words that may stand between two names: `ip move 203.0.113.10 to web-2`. */
const between = ['to', '->', '→']

function isBetween(word: string | undefined): boolean {
  return word !== undefined && between.includes(word.toLowerCase())
}

export interface Pair {
  first: string | undefined
  second: string | undefined
  rest: string[]
}

/** Reads `<first> [to] <second>`. To name a thing that is called `to`, write it first, or after another `to`. */
export function readPair(words: string[]): Pair {
  const [first, ...others] = words
  const [second, ...rest] = isBetween(others[0]) ? others.slice(1) : others
  return { first, second, rest }
}

/** Names of servers and addresses contain no comma, so a comma without a space separates them too. */
export function readPairWithCommas(words: string[]): Pair {
  return readPair(words.flatMap((word) => word.split(',')).filter((word) => word !== ''))
}

/** Matches mentions as Slack sends them: `<@U0ADA00001|ada>`, `<#C0OPS00001|ops>`, `<!subteam^S0ONCALL01|@oncall>`, `<!here>`. */
const mentions = /<([@#]|!subteam\^|!)([\w]+)(?:\|@?([^<>]*))?>/g

/** Matches links as Slack sends them: `<https://example.com/1>`, `<http://web-2.example.com|web-2.example.com>`. */
const link = /<((?:https?:\/\/|mailto:|tel:)[^<>|]*)(?:\|([^<>]*))?>/g

/**
 * Splits `ip move 203.0.113.10 web-2 because OPS-123` before the first *because*. The reason is what the person typed after it, with mentions
 * as names, so that it notifies nobody. Returns undefined if the text has no *because*.
 */
export function splitReason(text: string): { command: string; reason: string } | undefined {
  if (!/because/i.test(text)) return undefined
  const because = [...text.matchAll(oneWord)].find(([word]) => /^because[,:]?$/i.test(word))
  if (!because) return undefined
  const sent = text.slice(because.index + because[0].length)
  const typed = unescaped(
    sent
      .replaceAll(mentions, (_, kind, id, name) => `${kind === '#' ? '#' : '@'}${name || id}`)
      .replaceAll(link, (_, address, shown) => shown || address),
  )
  return {
    command: text.slice(0, because.index).replace(/[\s,]+$/, ''),
    reason: typed
      .trim()
      .replace(/^["“”„]([^"“”]*)["“”]$/, '$1')
      .trim(),
  }
}
