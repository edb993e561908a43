/**
 * The most words of one search. Every word is compared with every item, so a search with thousands of words would block the process for
 * everybody.
 */
export const mostWords = 20

/** Joins the parts of an item to one text to search in, in lower case. A part that is undefined has no text. */
export function searchText(parts: readonly unknown[]): string {
  return parts.join(' ').toLowerCase()
}

/** Finds every word in the parts together, in upper or lower case. */
export function containsWords(parts: readonly unknown[], words: string[]): boolean {
  const text = searchText(parts)
  return words.every((word) => text.includes(word.toLowerCase()))
}
