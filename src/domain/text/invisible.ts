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
