import { isIP } from 'node:net'
import { distance } from 'fastest-levenshtein'

/** The names of characters that are invisible, or are markup, in a message. */
const named: Record<string, string> = {
  ' ': 'a space',
  _: 'an underscore',
  '*': 'an asterisk',
  '`': 'a backtick',
  '~': 'a tilde',
}

/**
 * Returns a sentence that says why a text is not a hostname, or undefined if it is one (RFC 1123, section 2.1). A hostname has at most 253
 * characters. It consists of labels with dots between them. A label has 1 to 63 letters, digits and hyphens, with no hyphen at its ends. A
 * hostname does not have the form of an IPv4 address.
 */
export function hostnameProblem(text: string): string | undefined {
  if (text === '') return 'The new name is empty.'
  if (text.length > 253) return `A hostname has at most 253 characters. This one has ${text.length}.`
  const odd = new Set([...text].filter((character) => !/[A-Za-z0-9.-]/.test(character)).map(nameOf))
  if (odd.size > 0) return `A hostname has only letters (a–z, A–Z), digits, hyphens and dots. This one has ${listed([...odd])}.`
  const labels = text.split('.')
  if (labels.includes('')) return 'A hostname has letters or digits before, between and after its dots.'
  const long = labels.find((label) => label.length > 63)
  if (long !== undefined) return `Each part of a hostname has at most 63 characters. One part of this one has ${long.length}.`
  if (labels.some((label) => label.startsWith('-') || label.endsWith('-'))) {
    return `A hostname${labels.length > 1 ? ', and each part of it,' : ''} begins and ends with a letter or digit, not with a hyphen.`
  }
  if (/^\d+(\.\d+){3}$/.test(text)) return "A hostname can't look like an IP address."
  return undefined
}

function nameOf(character: string): string {
  return named[character] ?? (/^[\p{L}\p{N}\p{P}\p{S}]$/u.test(character) ? `“${character}”` : 'an invisible character')
}

const mostNamed = 3

function listed(names: string[]): string {
  const shown = names.length > mostNamed ? [...names.slice(0, mostNamed), 'others'] : names
  return shown.length > 1 ? `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}` : shown.join('')
}

/** Numbers with dots between them, of which the last may have letters: `203.0.113.1O`. */
const likeIpv4 = /^\d+(\.\d*){2,}$|^(\d+\.){3}\d\w*$/

/** At least two colons, which no name of a server has. */
const likeIpv6 = /^[\da-z.]*(:[\da-z.]*){2,}$/i

/**
 * Says what is wrong with a text that plainly tries to be an IP address, with or without a prefix: `isn't an IP address: 999 is more than
 * 255.` Undefined for an address, and for any other text.
 */
export function addressProblem(text: string): string | undefined {
  const [address = '', ...prefixes] = text.split('/')
  const version = likeIpv4.test(address) ? 4 : likeIpv6.test(address) ? 6 : undefined
  if (version === undefined) return undefined
  const problem = (version === 4 ? ipv4Problem(address) : ipv6Problem(address)) ?? prefixProblem(prefixes, version)
  return problem === undefined ? undefined : `isn't an IP address: ${problem}.`
}

/** Says the same of a text that names a server, and what is wrong with one that plainly tries to be a hostname, because it has a dot. */
export function serverNameProblem(text: string): string | undefined {
  const problem = text.includes('.') ? hostnameProblem(text) : undefined
  return addressProblem(text) ?? (problem === undefined || isIP(text) !== 0 ? undefined : `isn't a hostname. ${problem}`)
}

function ipv4Problem(address: string): string | undefined {
  const parts = address.split('.')
  if (parts.includes('')) return 'a number is missing'
  if (parts.length !== 4) return `an IPv4 address has 4 numbers, and this one has ${parts.length}`
  const odd = parts.find((part) => !/^\d+$/.test(part))
  if (odd !== undefined) return `${odd} isn't a number`
  const large = parts.find((part) => Number(part) > 255)
  if (large !== undefined) return `${large} is more than 255`
  const padded = parts.find((part) => /^0\d/.test(part))
  return padded === undefined ? undefined : `${padded} begins with a zero`
}

function ipv6Problem(address: string): string | undefined {
  if (isIP(address) === 6) return undefined
  const groups = address.split(':')
  const odd = groups.find((group) => /[^\da-f.]/i.test(group))
  if (odd !== undefined) return `${odd} has other characters than 0 to 9 and a to f`
  const long = groups.find((group) => group.length > 4 && !group.includes('.'))
  if (long !== undefined) return `${long} has more than 4 digits`
  if (address.split('::').length > 2) return ':: stands in it more than once'
  const count = groups.filter((group) => group !== '').length
  return count === 8 ? 'it has a colon too many' : `an IPv6 address has 8 groups, and this one has ${count}`
}

function prefixProblem([prefix, ...others]: string[], version: 4 | 6): string | undefined {
  if (prefix === undefined) return undefined
  if (others.length > 0) return 'it has more than one slash'
  const longest = version === 4 ? 32 : 128
  if (!/^\d+$/.test(prefix)) return `/${prefix} isn't the length of a prefix`
  return Number(prefix) > longest ? `/${prefix} is longer than /${longest}` : undefined
}

const unitMs: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Parses `500ms`, `5s`, `15m`, `4h` or `2d` to milliseconds. Returns undefined for anything else. */
export function parseDuration(text: string): number | undefined {
  const [, amount, unit] = /^([1-9]\d{0,8})(ms|s|m|h|d)$/.exec(text.trim()) ?? []
  const factor = unitMs[unit ?? '']
  return factor === undefined ? undefined : Number(amount) * factor
}

/** Writes a duration as people write it in the configuration, in the largest unit that needs no rounding: `30m`. */
export function writeDuration(ms: number): string {
  const units = Object.entries(unitMs).toReversed()
  const [unit, factor] = units.find(([, factor]) => ms % factor === 0) ?? ['ms', 1]
  return `${ms / factor}${unit}`
}

/** Formats a duration for people: `43 s`, `2 min 05 s`, `1 h 12 min`, `3 d 4 h`. */
export function formatDuration(ms: number): string {
  const seconds = Math.round(Math.max(0, ms) / 1_000)
  if (seconds < 60) return withUnit(seconds, 's')
  if (seconds < 3_600) return twoParts(Math.floor(seconds / 60), 'min', seconds % 60, 's')
  const minutes = Math.round(seconds / 60)
  if (minutes < 1_440) return twoParts(Math.floor(minutes / 60), 'h', minutes % 60, 'min')
  const hours = Math.round(minutes / 60)
  return twoParts(Math.floor(hours / 24), 'd', hours % 24, 'h')
}

/** Says in whole units how long ago something was: `2 days ago`, `1 hour ago`, `less than a minute ago`. */
export function formatAgo(ms: number): string {
  return `${formatAge(ms)} ago`
}

/** Says an age in whole units: `2 days`, `1 hour`, `less than a minute`. */
export function formatAge(ms: number): string {
  const minutes = Math.floor(Math.max(0, ms) / 60_000)
  if (minutes < 1) return 'less than a minute'
  if (minutes < 60) return counted(minutes, 'minute')
  if (minutes < 1_440) return counted(Math.floor(minutes / 60), 'hour')
  return counted(Math.floor(minutes / 1_440), 'day')
}

function counted(number: number, unit: string): string {
  return `${number} ${unit}${number === 1 ? '' : 's'}`
}

function twoParts(large: number, largeUnit: string, small: number, smallUnit: string): string {
  const first = withUnit(large, largeUnit)
  return small === 0 ? first : `${first} ${withUnit(smallUnit === 's' ? String(small).padStart(2, '0') : small, smallUnit)}`
}

/** Joins a number and the sign of its unit by a no-break space, so that no phone breaks the line between them. */
export function withUnit(amount: number | string, unit: string): string {
  return `${amount}\u00a0${unit}`
}

/**
 * Characters that show nothing: zero-width characters and joiners, fillers, variation selectors, tags, marks that reverse text, and the empty
 * Braille pattern, which Unicode does not count among them. Two names can differ by them and look the same.
 */
const invisible = /[\p{Default_Ignorable_Code_Point}\u2800]/gu

/** Removes the characters that show nothing. A joined emoji falls apart into its parts. */
export function withoutInvisible(text: string): string {
  return text.replace(invisible, '')
}

export function hasInvisible(text: string): boolean {
  return withoutInvisible(text) !== text
}

/** Also white space that is not a space, and other characters without a shape of their own. */
const unseen = /[\p{Default_Ignorable_Code_Point}\p{Cf}\u2800]|(?! )\p{Zs}/u

/** Scripts without spaces between words stand beside other scripts in ordinary texts. They have few letters that look like those of others. */
const words = /[[\p{L}\p{M}\p{N}]--[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}ー]]+/gv

const scripts = 'Latin Greek Cyrillic Armenian Georgian Hebrew Arabic Devanagari Thai Cherokee Coptic'
  .split(' ')
  .map((name) => ({ name, letter: new RegExp(`\\p{Script=${name}}`, 'u') }))

/** Says what can make a text look like another one: `has …`, `mixes …`. Undefined if nothing can. */
export function misleadingPart(text: string): string | undefined {
  const character = unseen.exec(text)?.[0].codePointAt(0)
  if (character !== undefined) return `has the invisible character U+${character.toString(16).toUpperCase().padStart(4, '0')}`
  for (const [word] of text.matchAll(words)) {
    const [one, other] = new Set(Array.from(word.matchAll(/[\p{Lu}\p{Ll}\p{Lt}\p{Lo}]/gu), ([letter]) => scriptOf(letter)))
    if (other !== undefined) return `mixes ${one} and ${other} letters in one word`
  }
  return undefined
}

function scriptOf(letter: string): string {
  return scripts.find((script) => script.letter.test(letter))?.name ?? 'other'
}

/**
 * Sorts texts as people do: `web-2` before `web-10`. One collator is shared, because creating one for every comparison takes most of the
 * time of a sort.
 */
export const inNaturalOrder = new Intl.Collator('en', { numeric: true }).compare

/** Longer texts are cut before they are compared, because the time of a comparison grows with the square of the length. */
const longestTyped = 100

/** Counts the letters to add, remove or replace until `typed` is `name`. Upper and lower case of `typed` count as the same. */
export function countMistakes(typed: string, name: string): number {
  return distance(typed.toLowerCase().slice(0, longestTyped), name)
}

interface MistakeLimits {
  mistakesIn: (name: string) => number
  mostMistakes: (name: string) => number
}

/** Returns the names with the fewest mistakes, in the given order, of those with at most `mostMistakes`. */
export function nearestNames(known: readonly string[], { mistakesIn, mostMistakes }: MistakeLimits): string[] {
  const near = known.map((name) => ({ name, mistakes: mistakesIn(name) })).filter(({ name, mistakes }) => mistakes <= mostMistakes(name))
  const fewest = Math.min(...near.map(({ mistakes }) => mistakes))
  return near.filter(({ mistakes }) => mistakes === fewest).map(({ name }) => name)
}

/** Returns the one known word that was probably meant. Returns undefined if more than a third of every word is mistyped. */
export function nearestWord(known: readonly string[], typed: string): string | undefined {
  const [nearest] = nearestNames(known, {
    mistakesIn: (name) => countMistakes(typed, name),
    mostMistakes: (name) => Math.ceil(name.length / 3),
  })
  return nearest
}

const mostNames = 3

/**
 * Returns up to three names that were probably meant: those that begin with what was typed, else those with a word that does, else those
 * with at most a third of their letters mistyped.
 */
export function suggestNames(known: readonly string[], typed: string): string[] {
  const wanted = typed.trim().toLowerCase()
  if (wanted === '') return []
  const names = [...new Set(known)]
  const beginning = names.filter((name) => name.toLowerCase().startsWith(wanted))
  const within = beginning.length > 0 ? beginning : names.filter((name) => wordsOf(name).some((word) => word.startsWith(wanted)))
  const fitting = within.length > 0 ? within : similarNames(names, wanted)
  return fitting.toSorted(inNaturalOrder).slice(0, mostNames)
}

function similarNames(names: string[], wanted: string): string[] {
  return nearestNames(names, {
    mistakesIn: (name) => countMistakes(wanted, name.toLowerCase()),
    mostMistakes: (name) => Math.ceil(name.length / 3),
  })
}

/** Splits a name such as `laptop of ada` or `edge-fra-1` into its words, in lower case. */
function wordsOf(name: string): string[] {
  return name.toLowerCase().split(/[^\p{L}\p{N}]+/u)
}

/** A person of Slack in a phrase, by user id. */
interface PersonInPhrase {
  person: string
}

/** The person that a name belongs to, by user id: `, for @Ada` after the name. Plain text leaves it out, because it could only show the id. */
interface OwnerInPhrase {
  owner: string
}

/** A time in a phrase, in ms since 1970. A message shows it in the reader's time zone, and plain text in UTC. */
interface TimeInPhrase {
  time: number
}

type Part = string | { name: string } | PersonInPhrase | OwnerInPhrase | TimeInPhrase

/**
 * A text in which names from outside and people are marked, so that each place can show them in its own way: a heading as plain text, a
 * message as code and mentions. The strings in it are Lockkeeper's own words.
 */
export type Phrase = readonly Part[]

type Value = string | number | PersonInPhrase | OwnerInPhrase | TimeInPhrase | Phrase

/** Builds a phrase: `` phrase`Move ${address}: ${from} → ${to}` ``. Interpolated strings are names from outside. A number is Lockkeeper's own. */
export function phrase(strings: TemplateStringsArray, ...values: Value[]): Phrase {
  return strings.flatMap((own, index): Part[] => {
    const value = values[index]
    return [own, ...(value === undefined ? [] : partsOf(value))].filter((part) => part !== '')
  })
}

/** Marks a person. */
export function person(userId: string): PersonInPhrase {
  return { person: userId }
}

/** Marks the person that the name before it belongs to. */
export function owner(userId: string): OwnerInPhrase {
  return { owner: userId }
}

/** Marks a time, in ms since 1970. */
export function moment(time: number): TimeInPhrase {
  return { time }
}

/** Shows a time in UTC: `2026-11-20 14:02 UTC`. `at`: in ms since 1970. */
export function utcTime(at: number): string {
  const date = new Date(at)
  return Number.isNaN(date.getTime()) ? 'an unknown time' : `${date.toISOString().slice(0, 16).replace('T', ' ')} UTC`
}

/** Leaves out that something is for this person, or for anybody. */
export function withoutOwner(phrase: Phrase, userId?: string): Phrase {
  return phrase.filter((part) => typeof part === 'string' || !('owner' in part) || (userId !== undefined && part.owner !== userId))
}

/** Lists the first names, and counts the others: `web-1, web-2 and 3 more`. */
export function someNames(names: readonly string[], most: number): Phrase {
  const shown = names.slice(0, most).flatMap((name, index) => phrase`${[index === 0 ? '' : ', ']}${name}`)
  return names.length > most ? phrase`${shown} and ${names.length - most} more` : shown
}

/** Returns the phrase as plain text. A name that could pass for a part of the sentence is in quotation marks. */
export function phraseText(phrase: Phrase): string {
  return phrase.map(partText).join('')
}

function partText(part: Part): string {
  if (typeof part === 'string') return part
  if ('owner' in part) return ''
  if ('time' in part) return utcTime(part.time)
  return 'person' in part ? part.person : setApart(part.name)
}

function partsOf(value: Value): readonly Part[] {
  if (typeof value === 'string') return [{ name: value }]
  if (typeof value === 'number') return [String(value)]
  return 'person' in value || 'owner' in value || 'time' in value ? [value] : value
}

function setApart(name: string): string {
  return /^[^\s→“”]+$/u.test(name) ? name : `“${name.replaceAll(/[“”]/g, '"')}”`
}

/** Joins the first texts, and counts the others: `web-1, web-2 and 3 more`. */
export function someOf(texts: readonly string[], { most = 10, separator = ', ' } = {}): string {
  const more = texts.length - most
  return more > 0 ? `${texts.slice(0, most).join(separator)} and ${more} more` : texts.join(separator)
}
