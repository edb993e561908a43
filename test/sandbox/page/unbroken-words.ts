import { html, type TemplateResult } from 'lit-html'

/** A word with a hyphen inside, such as `web-1`, after which browsers break lines. */
const hyphenated = /\S*[\p{L}\p{N}]-[\p{L}\p{N}]\S*/gu

/** The most characters that fit a line of a phone and a cell of a table. */
const fitting = 24

/** Renders text whose words with hyphens move to the next line whole, because people read and copy them as names. */
export function unbrokenWords(text: string): TemplateResult {
  const parts: (string | TemplateResult)[] = []
  let end = 0
  for (const { 0: word, index } of text.matchAll(hyphenated)) {
    parts.push(text.slice(end, index), html`<span class=${unbrokenClass(word)}>${word}</span>`)
    end = index + word.length
  }
  parts.push(text.slice(end))
  return html`${parts}`
}

/** Returns the class of a word. A long one is broken only where a line does not hold it. */
export function unbrokenClass(word: string): string {
  return word.length <= fitting ? 'unbroken' : 'unbroken is-long'
}
