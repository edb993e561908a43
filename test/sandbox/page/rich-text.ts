import { html, type TemplateResult } from 'lit-html'
import type { RichPart, RichStyle } from './block-shapes.ts'
import { type Names, renderDate, renderEmoji, renderLink, renderMention } from './inline.ts'

export function renderRichText(parts: RichPart[], names: Names): TemplateResult {
  return html`${parts.map((part) => renderContainer(part, names))}`
}

function renderContainer(part: RichPart, names: Names): TemplateResult {
  const children = part.elements ?? []
  switch (part.type) {
    case 'rich_text_section':
      return html`<div class="rich-section">${renderPieces(children, names)}</div>`
    case 'rich_text_preformatted':
      return html`<pre class="pre">${renderPieces(children, names)}</pre>`
    case 'rich_text_quote':
      return html`<blockquote class="quote">${renderPieces(children, names)}</blockquote>`
    case 'rich_text_list':
      return renderList(part, names)
    default:
      return html`${renderPiece(part, names)}`
  }
}

function renderList(list: RichPart, names: Names): TemplateResult {
  const items = (list.elements ?? []).map((item) => html`<li>${renderPieces(item.elements ?? [], names)}</li>`)
  const depth = `rich-list indent-${Math.min(list.indent ?? 0, 4)}`
  return list.style === 'ordered'
    ? html`<ol class=${depth} start=${(list.offset ?? 0) + 1}>${items}</ol>`
    : html`<ul class=${depth}>${items}</ul>`
}

function renderPieces(pieces: RichPart[], names: Names): TemplateResult[] {
  return pieces.map((piece) => renderPiece(piece, names))
}

function renderPiece(piece: RichPart, names: Names): TemplateResult {
  const style = typeof piece.style === 'object' ? piece.style : {}
  return styled(style, pieceContent(piece, names))
}

function pieceContent(piece: RichPart, names: Names): TemplateResult {
  switch (piece.type) {
    case 'text':
      return html`<span class="plain">${piece.text}</span>`
    case 'link':
      return renderLink(piece.url ?? '', piece.text ?? piece.url)
    case 'user':
      return renderMention(`@${names.user(piece.user_id ?? '') ?? piece.user_id}`, piece.user_id === names.me)
    case 'usergroup':
      return renderMention(`@${names.group(piece.usergroup_id ?? '') ?? piece.usergroup_id}`)
    case 'channel':
      return renderMention(`#${names.channel(piece.channel_id ?? '') ?? piece.channel_id}`)
    case 'broadcast':
      return renderMention(`@${piece.range}`, true)
    case 'emoji':
      return renderEmoji(piece.name ?? '')
    case 'date':
      return renderDate({
        seconds: piece.timestamp ?? Number.NaN,
        format: piece.format ?? '{date} {time}',
        fallback: piece.fallback ?? '',
        ...(piece.url && { url: piece.url }),
      })
    case 'color':
      return html`<span class="swatch" .style=${`--swatch: ${piece.value ?? 'transparent'}`}></span>${piece.value}`
    default:
      return html`<span class="unknown-piece">${piece.type}</span>`
  }
}

function styled(style: RichStyle, content: TemplateResult): TemplateResult {
  const layers: [boolean | undefined, (inner: TemplateResult) => TemplateResult][] = [
    [style.code, (inner) => html`<code class="code">${inner}</code>`],
    [style.bold, (inner) => html`<strong>${inner}</strong>`],
    [style.italic, (inner) => html`<em>${inner}</em>`],
    [style.strike, (inner) => html`<s>${inner}</s>`],
    [style.underline, (inner) => html`<u>${inner}</u>`],
  ]
  return layers.reduce((inner, [wanted, wrap]) => (wanted ? wrap(inner) : inner), content)
}
