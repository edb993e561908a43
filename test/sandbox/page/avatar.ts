import { html, type TemplateResult } from 'lit-html'
import type { Person } from './api.ts'
import { lockGate } from './icons.ts'

/** Renders a person's initials on their color, or the bot's picture. */
export function avatar(isBot: boolean, name: string, known: Person | undefined): TemplateResult {
  if (isBot) return html`<span class="avatar avatar-bot">${lockGate}</span>`
  const initials = name
    .split(/\s+/)
    .map((word) => word.charAt(0))
    .slice(0, 2)
    .join('')
  return html`<span class="avatar" aria-hidden="true" .style=${`--tint: ${known?.color ?? '#616061'}`}>${initials}</span>`
}
