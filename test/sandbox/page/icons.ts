import { html, type TemplateResult } from 'lit-html'
import type { Person } from './shapes.ts'

/** Line drawings on a 20 × 20 grid. They are next to words or inside something with a name, and so hidden from screen readers. */
function icon(path: string): TemplateResult {
  return html`<svg class="icon" viewBox="0 0 20 20" aria-hidden="true"><path d=${path} /></svg>`
}

export const icons = {
  hash: icon('M7.5 3 6 17M14 3l-1.5 14M3.5 7.5h14M2.5 12.5h14'),
  menu: icon('M3 5.5h14M3 10h14M3 14.5h14'),
  close: icon('m5 5 10 10M15 5 5 15'),
  back: icon('m11.5 4.5-5.5 5.5 5.5 5.5'),
  forward: icon('m8 4.5 5.5 5.5L8 15.5'),
  bolt: icon('M11 2.5 4.5 11.5H9L8 17.5l7-9.5h-4.6L11 2.5Z'),
  more: icon('M4.5 10h.01M10 10h.01M15.5 10h.01'),
  reply: icon('M4 4h12v9H9.5L6 16v-3H4Z'),
  columns: icon('M2.5 4h15v12h-15zM10 4v12'),
  hammer: icon('m3 17 7.5-7.5M9 4.5l6.5 6.5M8 5.5l3-3 6.5 6.5-3 3'),
  phone: icon('M6 2h8v16H6zM9.2 15.3h1.6'),
  eye: icon('M1.8 10S4.8 4.5 10 4.5 18.2 10 18.2 10 15.2 15.5 10 15.5 1.8 10 1.8 10ZM10 12.4a2.4 2.4 0 1 0 0-4.8 2.4 2.4 0 0 0 0 4.8Z'),
  send: icon('M3 10 2.5 3.2 18 10 2.5 16.8 3 10Zm0 0h7.5'),
  slash: icon('M3 3.5h14v13H3zM11.8 6.8 8.2 13.2'),
  idea: icon('M7.4 14.6c0-2-2.4-2.8-2.4-6a5 5 0 0 1 10 0c0 3.2-2.4 4-2.4 6ZM8 17.4h4'),
}

/** The bot's picture: the gates of a canal lock over water. */
export const botPicture = html`<img class="avatar" src="/page/lock-gate.svg" alt="" />`

/** Renders a person's initials on their color, or the bot's picture. */
export function avatar(name: string, person: Person | undefined, isBot = false): TemplateResult {
  if (isBot) return botPicture
  const initials = name.split(/\s+/, 2).map((word) => word.charAt(0))
  return html`<span class="avatar" aria-hidden="true" .style=${`background: ${person?.color ?? '#616061'}`}>${initials}</span>`
}

export function iconButton(label: string, drawing: TemplateResult, act: () => unknown, isDisabled = false): TemplateResult {
  return html`<button type="button" class="icon-button" aria-label=${label} title=${label} ?disabled=${isDisabled} @click=${act}>
    ${drawing}
  </button>`
}
