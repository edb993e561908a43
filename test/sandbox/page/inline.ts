import { html, type TemplateResult } from 'lit-html'
import type { TextObject } from './block-shapes.ts'
import { emojiNamed } from './emoji.ts'
import { mentionWords } from './inline-words.ts'
import { type Inline, type MrkdwnOptions, type Paragraph, parseMrkdwn } from './mrkdwn.ts'
import { formatSlackDate } from './slack-date.ts'
import { unbrokenClass, unbrokenWords } from './unbroken-words.ts'

/** The names for ids, and the current person. */
export interface Names {
  me: string
  user(id: string): string | undefined
  channel(id: string): string | undefined
  group(id: string): string | undefined
}

export function renderText(text: TextObject, names: Names): TemplateResult {
  return text.type === 'plain_text' ? renderPlain(text.text) : renderMrkdwn(text.text, names, { verbatim: text.verbatim ?? false })
}

export function renderMrkdwn(text: string, names: Names, options: MrkdwnOptions = {}): TemplateResult {
  return html`${parseMrkdwn(text, options).map((paragraph) => renderParagraph(paragraph, names))}`
}

/** Keeps line breaks of plain text, and replaces `:names:` by emoji. */
export function renderPlain(text: string): TemplateResult {
  return html`<span class="plain">${unbrokenWords(plainWithEmoji(text))}</span>`
}

export function plainWithEmoji(text: string): string {
  return text.replace(/:([a-z0-9_+'-]+):/g, (typed, name: string) => emojiNamed(name) ?? typed)
}

export function renderParagraph(paragraph: Paragraph, names: Names): TemplateResult {
  if (paragraph.type === 'preformatted') return html`<pre class="pre">${paragraph.text}</pre>`
  const children = paragraph.children.map((piece) => renderInline(piece, names))
  return paragraph.type === 'quote' ? html`<blockquote class="quote">${children}</blockquote>` : html`<span class="para">${children}</span>`
}

function renderInline(piece: Inline, names: Names): TemplateResult {
  switch (piece.type) {
    case 'text':
      return unbrokenWords(piece.text)
    case 'break':
      return html`<br />`
    case 'code':
      return html`<code class="code ${unbrokenClass(piece.text)}">${piece.text}</code>`
    case 'bold':
      return html`<strong>${renderAll(piece.children, names)}</strong>`
    case 'italic':
      return html`<em>${renderAll(piece.children, names)}</em>`
    case 'strike':
      return html`<s>${renderAll(piece.children, names)}</s>`
    case 'link':
      return renderLink(piece.url, piece.text)
    case 'user':
      return renderMention(mentionWords(piece, '@', names), piece.id === names.me)
    case 'channel':
      return renderMention(mentionWords(piece, '#', names))
    case 'group':
      return renderMention(mentionWords(piece, '@', names))
    case 'broadcast':
      return renderMention(`@${piece.range}`, true)
    case 'date':
      return renderDate(piece)
    case 'emoji':
      return renderEmoji(piece.name)
  }
}

function renderAll(pieces: Inline[], names: Names): TemplateResult[] {
  return pieces.map((piece) => renderInline(piece, names))
}

/** Links only to addresses that a chat may open. Anything else stays text. */
function renderLink(url: string, text: unknown): TemplateResult {
  if (!/^(https?:|mailto:|tel:)/i.test(url)) return html`${text}`
  return html`<a class="link" href=${url} target="_blank" rel="noopener noreferrer">${text}</a>`
}

function renderMention(text: string, isMe = false): TemplateResult {
  return html`<span class="mention ${isMe ? 'mention-me' : ''}">${text}</span>`
}

function renderDate(date: { seconds: number; format: string; url?: string; fallback: string }): TemplateResult {
  const moment = new Date(date.seconds * 1000)
  if (Number.isNaN(moment.getTime())) return html`${date.fallback}`
  const time = html`<time class="date" datetime=${moment.toISOString()} title=${moment.toLocaleString()}
    >${unbrokenWords(formatSlackDate(date.seconds, date.format, new Date()))}</time
  >`
  return date.url ? renderLink(date.url, time) : time
}

function renderEmoji(name: string): TemplateResult {
  const glyph = emojiNamed(name)
  return glyph ? html`<span class="emoji" title=${`:${name}:`}>${glyph}</span>` : html`:${name}:`
}
