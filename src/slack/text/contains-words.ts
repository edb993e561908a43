/** Finds every word in the parts together, in upper or lower case. A part that is undefined has no text. */
export function containsWords(parts: readonly unknown[], words: string[]): boolean {
  const text = parts.join(' ').toLowerCase()
  return words.every((word) => text.includes(word.toLowerCase()))
}
