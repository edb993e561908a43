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
