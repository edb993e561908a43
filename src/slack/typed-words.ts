import { typedName, withSpaces } from '../domain/text.ts'
import { isStart } from '../domain/times.ts'
import { unescaped } from './text.ts'

/** Phones mix straight and typographic quotes, so a pair is one of each kind. As `'` is also an apostrophe, single ones end before a space. */
const wrappings = [/```([^`]*)```/, /`([^`]*)`/, /["“”„]([^"“”]*)["“”]/, /«([^«»]*)»/, /['‘’‚]([^'‘’]*)['‘’](?=[\s,]|$)/]

const oneWord = new RegExp(`(?:${wrappings.map(({ source }) => source).join('|')}),*|(\\S+)`, 'g')

/** Returns a pasted command without what shows nothing, and without the formatting or code that it stood in as a whole. */
export function typedCommand(text: string): string {
  return withSpaces(text).replace(/^\s*([*_~`]+)([^*_~`]*)\1\s*$/, '$2')
}

/** Quotes keep a name with spaces together. Slack links host names and escapes `&`, `<` and `>`: both become what was typed. Mentions stay. */
export function parseWords(text: string): string[] {
  const typed = withSpaces(text)
    .replace(/<(?:https?:\/\/|mailto:|tel:)[^<>|]*\|([^<>]*)>/g, '$1')
    .replace(/<(?:https?:\/\/|mailto:|tel:)([^<>|]*?)\/?>/g, '$1')
  return [...typed.matchAll(oneWord)].flatMap((match) => {
    const bare = match.at(-1)
    if (bare === undefined) return [unescaped(match.slice(1, -1).find((part) => part !== undefined) ?? '')]
    const word = typedName(unescaped(bare))
    return word === '' ? [] : [word]
  })
}

/** Matches what Slack sends for a mention of a person, a channel or a user group: `<@U0ADA00001|ada>`, `<!subteam^S0ONCALL01|@oncall>`. */
const mention = /^<(?:@|#|!subteam\^)([A-Z0-9]+)(?:\|([^>]*))?>$/

/** Returns a mention as the name that was typed, for commands that look for names. Without a name it is the id. */
export function withoutMention(word: string): string {
  const [, id, name] = mention.exec(word) ?? []
  return name?.replace(/^@/, '') || id || word
}

/** What may stand between two names: `ip move 203.0.113.10 to web-2`. */
const between = /^(?:to|[-=]+>|→)$/i

/** Reads up to `count` names, `<one> [to] <other>`. To name a thing that is called `to`, write it first, or after another `to`. */
export function readNames(words: string[], count: number): { names: string[]; rest: string[] } {
  const names = words.slice(0, Math.min(count, 1))
  let rest = words.slice(names.length)
  while (names.length < count && rest.length > 0) {
    const [name, ...others] = between.test(rest[0] ?? '') ? rest.slice(1) : rest
    if (name !== undefined) names.push(name)
    rest = others
  }
  return { names, rest }
}

/** Matches mentions as Slack sends them: `<@U0ADA00001|ada>`, `<#C0OPS00001|ops>`, `<!subteam^S0ONCALL01|@oncall>`, `<!here>`. */
const mentions = /<([@#]|!subteam\^|!)([\w]+)(?:\|@?([^<>]*))?>/g

/** Matches links as Slack sends them: `<https://example.com/1>`, `<http://web-2.example.com|web-2.example.com>`. */
const link = /<((?:https?:\/\/|mailto:|tel:)[^<>|]*)(?:\|([^<>]*))?>/g

/** Returns what was typed, with mentions as names. */
export function asTyped(sent: string): string {
  const named = sent.replaceAll(mentions, (_, kind, id, name) => `${kind === '#' ? '#' : '@'}${name || id}`)
  return unescaped(named.replaceAll(link, (_, address, shown) => shown || address))
}

const isBecause = ([word]: string[]) => /^because[,:]?$/i.test(word ?? '')

/** Splits before the first *because* or *because of*; undefined without one. The reason has mentions as names, so that it notifies nobody. */
export function splitReason(text: string): { command: string; reason: string } | undefined {
  if (!/because/i.test(text)) return undefined
  const because = [...text.matchAll(oneWord)].find(isBecause)
  if (!because) return undefined
  const typed = asTyped(text.slice(because.index + because[0].length))
  return {
    command: text.slice(0, because.index).replace(/[\s,]+$/, ''),
    reason: typed
      .trim()
      .replace(/^of (?=\S)/i, '')
      .replace(/^["“”„]([^"“”]*)["“”]$/, '$1')
      .trim(),
  }
}

const dayOrDigit =
  /^(?:at|in) (?:\d|(?:today|tonight|tomorrow|(?:mon|tue|tues|wed|wednes|thu|thur|thurs|fri|sat|satur|sun)(?:day)?)(?: |$))/i

/** Times have fewer words. */
const mostStartWords = 12

/**
 * Splits off when a change has to start, at the end of its words: `at 22:00`, `in 2h`, `tomorrow at 6am`. Undefined without it. What begins like a
 * start and cannot be read is one too, so that its reader says why. Quoted words belong to no start, and a thing that is called `at` stays a name.
 * After *until*, a time is an end.
 */
export function splitStart(text: string): { command: string; start: string } | undefined {
  const words = [...text.matchAll(oneWord)]
  const quoted = words.findLastIndex((match) => match.at(-1) === undefined)
  const until = words.findLast(([word], index) => index > quoted && /^until$/i.test(word))
  if (until && isStart(parseWords(text.slice(until.index + until[0].length)).join(' '))) return undefined
  const tails = words
    .slice(Math.max(quoted + 1, words.length - mostStartWords))
    .filter(([word]) => /^(?:at|in|today|tonight|tomorrow)$/i.test(word))
    .map(({ index }) => ({ command: text.slice(0, index).replace(/[\s,]+$/, ''), start: parseWords(text.slice(index)).join(' ') }))
  return tails.find(({ start }) => isStart(start)) ?? tails.findLast(({ start }) => dayOrDigit.test(start))
}

/** Whether a change can end with this start. */
export function isTypedStart(typed: string): boolean {
  return /^(?:at|in|today|tonight|tomorrow)\b/i.test(typed) && isStart(typed)
}

/** Splits a time off the end of a reason. Undefined without both. Quoted words belong to no time. */
export function splitLate(text: string, isTime: (typed: string) => boolean): { command: string; late: string } | undefined {
  const words = [...text.matchAll(oneWord)]
  const because = words.findIndex(isBecause)
  if (because < 0) return undefined
  const quoted = words.findLastIndex((match) => match.at(-1) === undefined)
  const tails = words.slice(Math.max(because + 1, quoted + 1, words.length - mostStartWords)).map(({ index }) => ({
    command: text.slice(0, index).replace(/[\s,]+$/, ''),
    late: parseWords(text.slice(index))
      .join(' ')
      .replace(/[.!]+$/, ''),
  }))
  return tails.find(({ late }) => isTime(late))
}
