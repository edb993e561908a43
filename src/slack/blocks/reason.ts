import type { KnownBlock } from '@slack/web-api'
import { isPlainAddress } from '../text/outside-link.ts'
import { cleanText } from '../text/text.ts'

type RichText = Extract<KnownBlock, { type: 'rich_text' }>
type Section = Extract<RichText['elements'][number], { type: 'rich_text_section' }>
type Element = Extract<Section['elements'][number], { type: 'text' | 'link' }>

/**
 * Shows the reason that a person gave, exactly as it was written: without markup, and `:names:` do not become emoji. Web addresses become
 * links. Empty without a reason.
 */
export function reasonBlocks(label: string, reason: string | undefined): KnownBlock[] {
  const shown = reasonElements(reason ?? '')
  if (shown.length === 0) return []
  const elements: Element[] = [{ type: 'text', text: `${label}: `, style: { bold: true } }, ...shown]
  return [{ type: 'rich_text', elements: [{ type: 'rich_text_section', elements }] }]
}

/** Splits a text into links, for http and https alone, and text. */
export function reasonElements(reason: string): Element[] {
  const line = cleanText(reason, { oneLine: true })
  const elements: Element[] = []
  let end = 0
  for (const { 0: found, index } of line.matchAll(/(?<![\w/.-])https?:\/\/[^\s<>|"`]+/gi)) {
    const url = withoutPunctuation(found)
    if (!isPlainAddress(url)) continue
    if (index > end) elements.push({ type: 'text', text: line.slice(end, index) })
    elements.push({ type: 'link', url })
    end = index + url.length
  }
  return end < line.length ? [...elements, { type: 'text', text: line.slice(end) }] : elements
}

/** Removes what ends the sentence around an address, and a bracket that was opened before it. */
function withoutPunctuation(found: string): string {
  const url = found.replace(/[.,;:!?'”’…*_~\]}]+$/u, '')
  const isClosedTooOften = url.endsWith(')') && url.split(')').length > url.split('(').length
  return isClosedTooOften ? withoutPunctuation(url.slice(0, -1)) : url
}
