import { html, type TemplateResult } from 'lit-html'

/** A name with a hyphen inside, such as `web-1`, which browsers break after the hyphen. */
const hyphenated = /[\p{L}\p{N}][\p{L}\p{N}._:]*(?:-[\p{L}\p{N}._:]*[\p{L}\p{N}])+/gu

/** Renders text whose names with hyphens move to the next line whole, as people read and copy them. */
export function unbrokenWords(text: string): TemplateResult {
  const parts: (string | TemplateResult)[] = []
  let end = 0
  for (const { 0: name, index } of text.matchAll(hyphenated)) {
    parts.push(text.slice(end, index), html`<span class="unbroken">${name}</span>`)
    end = index + name.length
  }
  parts.push(text.slice(end))
  return html`${parts}`
}
