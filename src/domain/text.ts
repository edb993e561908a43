import { distance } from 'fastest-levenshtein'

/** Says why a text is not a hostname (RFC 1123, section 2.1). Undefined if it is one. */
export function hostnameProblem(text: string): string | undefined {
  if (text === '') return 'The new name is empty.'
  if (text.length > 253) return `A hostname has at most 253 characters. This one has ${text.length}.`
  if (/[^A-Za-z0-9.-]/.test(text)) return 'A hostname has only letters (a–z, A–Z), digits, hyphens and dots.'
  if (!text.split('.').every((label) => /^[a-z\d]([a-z\d-]{0,61}[a-z\d])?$/i.test(label))) {
    return 'Each part of a hostname has 1 to 63 characters, and begins and ends with a letter or digit.'
  }
  return /^\d+(\.\d+){3}$/.test(text) ? "A hostname can't look like an IP address." : undefined
}

const unitMs: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Parses `500ms`, `5s`, `15m`, `4h` or `2d` to milliseconds. Returns undefined for anything else. */
export function parseDuration(text: string): number | undefined {
  const [, amount, unit] = /^([1-9]\d{0,8})(ms|s|m|h|d)$/.exec(text.trim()) ?? []
  const factor = unitMs[unit ?? '']
  return factor === undefined ? undefined : Number(amount) * factor
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

function twoParts(large: number, largeUnit: string, small: number, smallUnit: string): string {
  const first = withUnit(large, largeUnit)
  return small === 0 ? first : `${first} ${withUnit(smallUnit === 's' ? String(small).padStart(2, '0') : small, smallUnit)}`
}

/** Joins a number and the sign of its unit by a no-break space, so that no phone breaks the line between them. */
export function withUnit(amount: number | string, unit: string): string {
  return `${amount}\u00a0${unit}`
}

/** Characters that show nothing, by which names can differ and look the same. Unicode does not count the empty Braille pattern among them. */
const invisible = /[\p{Default_Ignorable_Code_Point}\u2800]/gu

export function withoutInvisible(text: string): string {
  return text.replace(invisible, '')
}

export function hasInvisible(text: string): boolean {
  return withoutInvisible(text) !== text
}

/** Matches control characters except newline and tab, marks of annotations, and code points that are no characters. */
const unwanted =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are removed
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\ufdd0-\ufdef\ufff9-\ufffb\ufffe\uffff]/g

/** Removes what shows nothing from text from outside. Line ends become `\n`. `oneLine` turns each run of white space into one space. */
export function cleanText(text: string, { oneLine = false } = {}): string {
  const clean = withoutInvisible(text)
    .replace(/\r\n?|[\v\f\u0085\u2028\u2029]/g, '\n')
    .replace(unwanted, '')
    .toWellFormed()
  return oneLine ? clean.replace(/\s+/g, ' ').trim() : clean
}

/** What word processors and phones write for a hyphen, and turn `--` into. */
const dashes = /[\u2010-\u2015\u2212\ufe58\ufe63]/g

/** Takes what Slack's formatting, code, quotes and the punctuation of a sentence put around a name. `p.m.` keeps its dot. */
function unwrapped(text: string): string {
  const bare = text
    .replace(/^,+|,+$|(?<!(?:^|\.)\p{L})\.$/gu, '')
    .replace(/^([*_~`])(.+)\1$/s, '$2')
    .replace(/^["“”„'‘’‚«](.+)["“”'‘’»]$/s, '$1')
  return bare === text ? text : unwrapped(bare)
}

/** Returns the name that a person meant who pasted it, or typed it on a phone. What only another alphabet can write stays as it is. */
export function typedName(text: string): string {
  if (alreadyPlain.test(text)) return text
  const typed = unwrapped(withSpaces(text).trim())
  const plain = unwrapped(inPlainForms(typed))
  return /^[\n -~]*$/.test(plain) && !typed.includes('…') ? plain : typed
}

/** Whether people may mean the one by the other. As both are read in the same way, a name that really is `_old_` is found, too. */
export function sameName(a: string, b: string): boolean {
  const name = plainName(a)
  return name !== '' && name === plainName(b)
}

/** Nearly all names are as plain as this, and a list can have 20,000 of them. */
const alreadyPlain = /^[a-z\d](?:[\w.:/-]*[a-z\d])?$/i

export function plainName(name: string): string {
  if (alreadyPlain.test(name)) return name.toLowerCase()
  return unwrapped(inPlainForms(withSpaces(name)).trim()).toLowerCase()
}

/** Each other kind of space is an ordinary one in it. */
export function withSpaces(text: string): string {
  return withoutInvisible(text).replace(/\p{Zs}/gu, ' ')
}

/** Full-width letters and digits are ordinary ones in it (Unicode normalization form KC), and dashes are hyphens. */
function inPlainForms(text: string): string {
  return text.normalize('NFKC').replace(dashes, '-')
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

/** `web-2` before `web-10`. One collator is shared, because creating one for every comparison takes most of the time of a sort. */
export const inNaturalOrder = new Intl.Collator('en', { numeric: true }).compare

/** Longer texts are cut before they are compared, because the time of a comparison grows with the square of the length. */
const longestTyped = 100

/** Counts the letters to add, remove or replace until `typed` is `name`. Upper and lower case of `typed` count as the same. */
export function countMistakes(typed: string, name: string): number {
  return distance(typed.toLowerCase().slice(0, longestTyped), name)
}

/** Up to three names with a word that begins with what was typed, or else with at most a third of their letters mistyped. */
export function suggestNames(known: readonly string[], typed: string): string[] {
  const wanted = typed.trim().toLowerCase()
  if (wanted === '') return []
  const names = [...new Set(known)]
  const within = names.filter((name) => ` ${name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, ' ')}`.includes(` ${wanted}`))
  if (within.length > 0) return within.toSorted(inNaturalOrder).slice(0, 3)
  const near = names.map((name) => ({ name, mistakes: countMistakes(wanted, name.toLowerCase()) }))
  const likely = near.filter(({ name, mistakes }) => mistakes <= Math.ceil(name.length / 3))
  const fewest = Math.min(...likely.map(({ mistakes }) => mistakes))
  return likely
    .flatMap(({ name, mistakes }) => (mistakes === fewest ? [name] : []))
    .toSorted(inNaturalOrder)
    .slice(0, 3)
}

/**
 * `owner`: the person that the name before it belongs to, `, for @Ada`. Plain text leaves it out, because it could only show the id.
 * `linked`: a text that leads to a message of Slack, if its address is known.
 */
type Mark = { person: string } | { owner: string } | { time: number } | { linked: string; address: string | undefined }

type Part = string | { name: string } | Mark

/** A text with names from outside and people marked, so that each place shows them in its own way. People are Slack ids, times ms since 1970. */
export type Phrase = readonly Part[]

/** Builds a phrase: `` phrase`Move ${address}: ${from} → ${to}` ``. Interpolated strings are names from outside. A number is Lockkeeper's own. */
export function phrase(strings: TemplateStringsArray, ...values: (string | number | Mark | Phrase)[]): Phrase {
  return strings.flatMap((own, index): Part[] => {
    const value = values[index]
    return [own, ...(value === undefined ? [] : partsOf(value))].filter((part) => part !== '')
  })
}

export const person = (userId: string): Mark => ({ person: userId })
export const owner = (userId: string): Mark => ({ owner: userId })
export const moment = (time: number): Mark => ({ time })
export const linked = (text: string, address: string | undefined): Mark => ({ linked: text, address })

/** Shows a time in UTC: `2026-11-20 14:02 UTC`. `at`: in ms since 1970. */
export function utcTime(at: number): string {
  const date = new Date(at)
  return Number.isNaN(date.getTime()) ? 'an unknown time' : `${date.toISOString().slice(0, 16).replace('T', ' ')} UTC`
}

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
  if ('linked' in part) return `“${part.linked}”`
  return 'person' in part ? part.person : setApart(part.name)
}

function partsOf(value: string | number | Mark | Phrase): readonly Part[] {
  if (typeof value === 'string') return [{ name: value }]
  if (typeof value === 'number') return [String(value)]
  return Array.isArray(value) ? (value as Phrase) : [value as Mark]
}

function setApart(name: string): string {
  return /^[^\s→“”]+$/u.test(name) ? name : `“${name.replaceAll(/[“”]/g, '"')}”`
}

export function someOf(texts: readonly string[], { most = 10, separator = ', ' } = {}): string {
  const more = texts.length - most
  return more > 0 ? `${texts.slice(0, most).join(separator)} and ${more} more` : texts.join(separator)
}
