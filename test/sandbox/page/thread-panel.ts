import { html, nothing, type TemplateResult } from 'lit-html'
import { icons } from './icons.ts'

interface ThreadPanelProps {
  /** The channel of the thread, in words. */
  where: string
  messages: TemplateResult
  /** The field for a reply. Absent where nobody can write. */
  reply: TemplateResult | undefined
  close(): void
}

export function threadPanel({ where, messages, reply, close }: ThreadPanelProps): TemplateResult {
  return html`<aside class="thread" aria-label="Thread">
    <header class="thread-head">
      <h2>Thread</h2>
      <span class="thread-channel">${where}</span>
      <button type="button" class="icon-button" aria-label="Close thread" @click=${close}>${icons.close}</button>
    </header>
    <div class="thread-list" role="log" aria-label="Thread messages" tabindex="0">${messages}</div>
    ${reply ?? nothing}
  </aside>`
}
