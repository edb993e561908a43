import { html, type TemplateResult } from 'lit-html'
import { type Names, renderParagraph } from './inline.ts'
import { wordsOf } from './inline-words.ts'
import type { Inline, Paragraph } from './mrkdwn.ts'

type Style = 'bold' | 'italic' | 'strike' | 'code'

/** An element of a line of rich text. */
export type RichTextPiece = { style?: Partial<Record<Style, boolean>> } & (
  | { type: 'text'; text: string }
  | { type: 'link'; url: string; text?: string }
  | { type: 'user'; user_id: string }
  | { type: 'usergroup'; usergroup_id: string }
  | { type: 'channel'; channel_id: string }
  | { type: 'broadcast'; range: string }
  | { type: 'emoji'; name: string }
  | { type: 'date'; timestamp: number; format: string; url?: string; fallback?: string }
)

export type RichTextPart =
  | { type: 'rich_text_section' | 'rich_text_quote' | 'rich_text_preformatted'; elements: RichTextPiece[] }
  | { type: 'rich_text_list'; style: 'bullet' | 'ordered'; elements: { elements: RichTextPiece[] }[] }

/** Renders the parts of a `rich_text` block. Source: https://docs.slack.dev/reference/block-kit/blocks/rich-text-block. */
export function renderRichText(parts: RichTextPart[], names: Names): TemplateResult {
  return html`${parts.map((part) => (part.type === 'rich_text_list' ? list(part, names) : renderParagraph(paragraphOf(part, names), names)))}`
}

/** Returns rich text as plain words, to sort and filter by. */
export function richTextWords(parts: RichTextPart[], names: Names): string {
  const lines = parts.flatMap((part) => (part.type === 'rich_text_list' ? part.elements : [part]))
  return lines.map(({ elements }) => wordsOf(elements.map(inlineOf), names)).join(' ')
}

function list({ style, elements }: Extract<RichTextPart, { type: 'rich_text_list' }>, names: Names): TemplateResult {
  const items = elements.map(
    (item) => html`<li>${renderParagraph({ type: 'paragraph', children: item.elements.map(inlineOf) }, names)}</li>`,
  )
  return style === 'ordered' ? html`<ol class="rich-list">${items}</ol>` : html`<ul class="rich-list">${items}</ul>`
}

function paragraphOf({ type, elements }: Exclude<RichTextPart, { type: 'rich_text_list' }>, names: Names): Paragraph {
  const children = elements.map(inlineOf)
  if (type === 'rich_text_preformatted') return { type: 'preformatted', text: wordsOf(children, names) }
  return { type: type === 'rich_text_quote' ? 'quote' : 'paragraph', children }
}

function inlineOf(piece: RichTextPiece): Inline {
  const { style = {} } = piece
  const styles = (['bold', 'italic', 'strike'] as const).filter((name) => style[name])
  const plain: Inline = style.code && piece.type === 'text' ? { type: 'code', text: piece.text } : unstyled(piece)
  return styles.reduce<Inline>((inner, type) => ({ type, children: [inner] }), plain)
}

function unstyled(piece: RichTextPiece): Inline {
  switch (piece.type) {
    case 'text':
      return { type: 'text', text: piece.text }
    case 'link':
      return { type: 'link', url: piece.url, text: piece.text ?? piece.url }
    case 'user':
      return { type: 'user', id: piece.user_id }
    case 'usergroup':
      return { type: 'group', id: piece.usergroup_id }
    case 'channel':
      return { type: 'channel', id: piece.channel_id }
    case 'broadcast':
      return { type: 'broadcast', range: piece.range }
    case 'emoji':
      return { type: 'emoji', name: piece.name }
    case 'date':
      return {
        type: 'date',
        seconds: piece.timestamp,
        format: piece.format,
        fallback: piece.fallback ?? '',
        ...(piece.url ? { url: piece.url } : {}),
      }
  }
}
