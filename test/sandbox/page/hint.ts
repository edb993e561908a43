import { html, nothing, type TemplateResult } from 'lit-html'
import type { Person } from './api.ts'
import { icons } from './icons.ts'

export interface HintOptions {
  /** Writes a text into the composer. */
  fill(text: string): void
  update(): void
}

const storageKey = 'lockkeeper-sandbox-hint'

/** Shows what a newcomer can do as this person. Once closed, it stays closed until it is opened again. */
export function createHint({ fill, update }: HintOptions) {
  let open = localStorage.getItem(storageKey) !== 'closed'

  function setOpen(next: boolean) {
    open = next
    localStorage.setItem(storageKey, next ? 'open' : 'closed')
    update()
  }

  const command = (text: string) => html`<button type="button" class="hint-command" @click=${() => fill(text)}>${text}</button>`

  function words({ name, role }: Person): TemplateResult {
    const first = name.split(' ')[0]
    if (role === 'requester') {
      return html`<strong>You are ${first} and may request changes.</strong> Type ${command('/infra ip move')} below and press Enter, fill in the
        form, then switch to <strong>Ben</strong> at the top right to approve it.`
    }
    if (role === 'approver') {
      return html`<strong>You are ${first}, an approver.</strong> Approve or reject a request of somebody else; you can't approve your
        own. No card yet? Switch to <strong>Ada</strong> at the top right and request a move.`
    }
    return html`<strong>You are ${first}, a guest.</strong> Guests can read the channel but not use Lockkeeper: type ${command('/infra ip move')}
      or press a button on a card, and read the answer.`
  }

  return {
    isOpen: () => open,
    toggle: () => setOpen(!open),

    render(person: Person): TemplateResult | typeof nothing {
      if (!open) return nothing
      return html`<aside class="hint" aria-label="How to start">
        <span class="hint-icon">${icons.idea}</span>
        <p>${words(person)}</p>
        <button type="button" class="icon-button" aria-label="Close this hint" @click=${() => setOpen(false)}>${icons.close}</button>
      </aside>`
    },
  }
}

export type Hint = ReturnType<typeof createHint>
