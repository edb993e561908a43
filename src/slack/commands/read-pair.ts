/** The words that may stand between two names: `ip move 203.0.113.10 to web-2`. */
const between = ['to', '->', '→']

export function isBetween(word: string | undefined): boolean {
  return word !== undefined && between.includes(word.toLowerCase())
}

export interface Pair {
  first: string | undefined
  second: string | undefined
  /** The words after both. */
  rest: string[]
}

/** Reads `<first> [to] <second>`. To name a thing that is called `to`, write it first, or after another `to`. */
export function readPair(words: string[]): Pair {
  const [first, ...others] = words
  const [second, ...rest] = isBetween(others[0]) ? others.slice(1) : others
  return { first, second, rest }
}
