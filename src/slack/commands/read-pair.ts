/** The words that may stand between two names: `ip move 203.0.113.10 to web-2`. */
const between = ['to', '->', '→']

export function isBetween(word: string | undefined): boolean {
  return word !== undefined && between.includes(word.toLowerCase())
}

export function isFrom(word: string | undefined): boolean {
  return word?.toLowerCase() === 'from'
}

export interface Pair {
  first: string | undefined
  second: string | undefined
  /** The words after both. */
  rest: string[]
}

/**
 * Reads `<first> <second>` or `from <first> to <second>`, with or without each of these words. To name a thing that is called `to`, write it
 * first, or after another `to`.
 */
export function readPair(words: string[]): Pair {
  const [first, ...others] = isFrom(words[0]) && words.length > 2 && !isBetween(words[1]) ? words.slice(1) : words
  const [second, ...rest] = isBetween(others[0]) ? others.slice(1) : others
  return { first, second, rest }
}
