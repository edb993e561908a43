/**
 * Characters that show nothing: zero-width characters and joiners, fillers, variation selectors, tags, marks that reverse text, and the empty
 * Braille pattern, which Unicode does not count among them. Two names can differ by them and look the same.
 */
const invisible = /[\p{Default_Ignorable_Code_Point}\u2800]/gu

/** Removes the characters that show nothing. An emoji of several joined ones becomes those that it consists of. */
export function withoutInvisible(text: string): string {
  return text.replace(invisible, '')
}

export function hasInvisible(text: string): boolean {
  return withoutInvisible(text) !== text
}
