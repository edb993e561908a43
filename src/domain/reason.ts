import { RE2JS } from 're2js'
import { type ReasonTerms, visibleReason } from './policy.ts'
import { withoutInvisible } from './text.ts'

// What rules require of a reason, and what they link in it. RE2 reads a text once, whatever the pattern is.

/** The worst pattern of this size took 25 ms for a reason of 500 characters, one of 5,000 took 290 ms, and one of 26,000 took 5 s. */
const mostInstructions = 500

/** A match is not linked if it makes the address longer. No reference to a ticket does. */
const longestAddress = 400

const compiled = new Map<string, RE2JS>()

function matcherOf(pattern: string, text: string) {
  const program = compiled.get(pattern) ?? RE2JS.compile(pattern)
  compiled.set(pattern, program)
  return program.matcher(text)
}

/** Returns what is wrong with a pattern, as the end of a sentence about it. */
export function patternProblem(pattern: string): string | undefined {
  try {
    const size = RE2JS.compile(pattern).programSize()
    if (size > mostInstructions) return `must repeat less: it compiles to ${size} instructions, and at most ${mostInstructions} are allowed`
  } catch (error) {
    // The rest quotes the pattern, which can be a token in the wrong place.
    const [why] = String((error as Error).message)
      .replace('error parsing regexp: ', '')
      .split(': `')
    return `must be a pattern of RE2, which has no lookaround and no backreferences: ${why}`
  }
  const matchesNothing = ['', 'a', ' a '].some((text) => {
    const matcher = matcherOf(pattern, text)
    return matcher.find() && matcher.end() === matcher.start()
  })
  return matchesNothing ? 'must not match an empty text, which every reason contains' : undefined
}

/** Whether every match leads to the same origin, because it can only stand behind the host. */
export function isLinkTemplate(link: string): boolean {
  if (!/^https:\/\/[!-~]+$/.test(link) || /[<>|"`\\]/.test(link) || !URL.canParse(link)) return false
  const { host, username, password } = new URL(link)
  return username === '' && password === '' && !host.includes('$') && link.includes('$0') && !/\$(?!0(?!\d))/.test(link)
}

export function linkTo(template: string, match: string): string {
  return template.replaceAll('$0', () => encodeURIComponent(match.toWellFormed()))
}

/** Returns those terms of a rule that a reason does not meet. `reason`: as it is shown. */
export function unmetTerms(terms: ReasonTerms[], reason: string | undefined): ReasonTerms[] {
  const shown = visibleReason(reason)
  return shown === undefined ? terms : terms.filter(({ pattern }) => pattern !== undefined && !firstMatch(pattern, shown))
}

export const fewestWords = 3
const fewestLetters = 8

/** Whether a reason says something: three different words of eight letters together, in any script. `ok` and `asap asap asap` do not. */
export function isSentence(reason: string): boolean {
  const segments = [...new Intl.Segmenter(undefined, { granularity: 'word' }).segment(withoutInvisible(reason).toLowerCase())]
  const words = new Set(segments.flatMap(({ segment, isWordLike }) => (isWordLike ? [segment] : [])))
  return words.size >= fewestWords && [...words].join('').length >= fewestLetters
}

/** A part of a text, and the address that it leads to. */
export interface Linked {
  start: number
  text: string
  url: string
}

/** Returns the first match of each pattern with a link. `reason`: as it is shown. */
export function linkedIn(terms: ReasonTerms[], reason: string): Linked[] {
  return terms.flatMap(({ pattern, link }) => {
    const match = pattern === undefined || link === undefined ? undefined : firstMatch(pattern, reason)
    const url = match && linkTo(link ?? '', match.text)
    return match && url && url.length <= longestAddress ? [{ ...match, url }] : []
  })
}

function firstMatch(pattern: string, text: string): Omit<Linked, 'url'> | undefined {
  const matcher = matcherOf(pattern, text)
  return matcher.find() && matcher.end() > matcher.start() ? { start: matcher.start(), text: matcher.group() ?? '' } : undefined
}
