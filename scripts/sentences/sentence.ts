/** How a text reaches a person. */
export type Sort = 'message' | 'error' | 'log' | 'sandbox' | 'script' | 'page' | 'settings'

/** A text that a person can read, with the line on which it begins. What is filled in stands in braces: `{name}`. */
export interface Sentence {
  path: string
  line: number
  sort: Sort
  text: string
}

export const oneLine = (text: string) => text.replace(/\s+/g, ' ').trim()

export const hasLetters = (text: string) => /\p{L}/u.test(text)

/** Returns a function that returns the line of an offset. */
export function linesOf(text: string): (offset: number) => number {
  const starts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)]
  return (offset) => starts.findLastIndex((start) => start <= offset) + 1
}
