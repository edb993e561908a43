import { html, type TemplateResult } from 'lit-html'
import { emojiNamed } from './emoji.ts'
import { type Inline, parseMrkdwn } from './mrkdwn.ts'
import { page } from './page.ts'
import type { RichTextPiece, RichTextSection, TextObject } from './shapes.ts'
import { formatSlackDate } from './slack-date.ts'

export function renderText({ type, text, verbatim }: TextObject): TemplateResult {
  return type === 'plain_text' ? renderPlain(text) : renderMrkdwn(text, verbatim)
}

export function renderMrkdwn(text: string, verbatim?: boolean): TemplateResult {
  return renderPieces(parseMrkdwn(text, verbatim))
}

/** Keeps line breaks of plain text, and replaces `:names:` by emoji. */
export function renderPlain(text: string): TemplateResult {
  return html`<span class="plain">${plainWithEmoji(text)}</span>`
}

export function plainWithEmoji(text: string): string {
  return text.replace(/:([a-z0-9_+'-]+):/g, (typed, name: string) => emojiNamed(name) ?? typed)
}

/** Renders the sections of rich text. Source: https://docs.slack.dev/reference/block-kit/blocks/rich-text-block. */
export function renderRichText(sections: RichTextSection[]): TemplateResult {
  return html`${sections.map(({ elements }) => renderPieces(elements.map(inlineOf)))}`
}

function inlineOf(piece: RichTextPiece): Inline {
  const plain = unstyled(piece)
  return piece.style?.bold ? { type: 'bold', children: [plain] } : plain
}

function unstyled(piece: RichTextPiece): Inline {
  switch (piece.type) {
    case 'text':
      return { type: piece.style?.code ? 'code' : 'text', text: piece.text }
    case 'link':
      return { type: 'link', url: piece.url, text: piece.text ?? piece.url }
    case 'user':
      return { type: 'user', id: piece.user_id }
    case 'usergroup':
      return { type: 'group', id: piece.usergroup_id }
    case 'channel':
      return { type: 'channel', id: piece.channel_id }
    case 'date':
      return { type: 'date', seconds: piece.timestamp, format: piece.format }
  }
}

function renderPieces(pieces: Inline[]): TemplateResult {
  return html`<span class="plain">${pieces.map(renderInline)}</span>`
}

function renderInline(piece: Inline): TemplateResult {
  switch (piece.type) {
    case 'text':
      return html`${piece.text}`
    case 'code':
      return html`<code>${piece.text}</code>`
    case 'bold':
      return html`<strong>${piece.children.map(renderInline)}</strong>`
    case 'italic':
      return html`<em>${piece.children.map(renderInline)}</em>`
    case 'link':
      return html`<a href=${piece.url} target="_blank" rel="noopener noreferrer">${piece.text}</a>`
    case 'user':
    case 'group':
    case 'channel':
      return html`<span class="mention">${nameOf(piece)}</span>`
    case 'date':
      return renderDate(piece)
    case 'emoji':
      return html`<span title=${`:${piece.name}:`}>${emojiNamed(piece.name) ?? `:${piece.name}:`}</span>`
  }
}

function renderDate({ seconds, format }: Extract<Inline, { type: 'date' }>): TemplateResult {
  const date = new Date(seconds * 1000)
  return html`<time datetime=${date.toISOString()} title=${date.toLocaleString()}>${formatSlackDate(seconds, format, new Date())}</time>`
}

/** Returns the name of a mentioned person, group or channel, with its sign. */
function nameOf({ type, id, label }: Extract<Inline, { id: string }>): string {
  const { handles, channels, bot } = page.workspace
  const known = type === 'channel' ? channels : [...handles.map((one) => ({ ...one, name: one.handle })), bot]
  return `${type === 'channel' ? '#' : '@'}${known.find((one) => one.id === id)?.name ?? label?.replace(/^@/, '') ?? id}`
}
