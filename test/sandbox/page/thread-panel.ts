import { html, type TemplateResult } from 'lit-html'
import { icons } from './icons.ts'

/** `where`: the channel of the thread, in words. */
export function threadPanel(where: string, content: TemplateResult, close: () => void): TemplateResult {
  return html`<aside class="thread" aria-label="Thread">
    <header class="thread-head">
      <h2>Thread</h2>
      <span class="thread-channel">${where}</span>
      <button type="button" class="icon-button" aria-label="Close thread" @click=${close}>${icons.close}</button>
    </header>
    <div class="thread-list" role="log" aria-label="Thread messages" tabindex="0">${content}</div>
  </aside>`
}
