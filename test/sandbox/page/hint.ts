import { html, nothing, type TemplateResult } from 'lit-html'
import type { Person } from './api.ts'
import { icons } from './icons.ts'

export interface HintOptions {
  /** Puts a text into the composer. */
  fill(text: string): void
  update(): void
}

const storageKey = 'lockkeeper-sandbox-hint'

/** What a newcomer can do here as this person; closed once, it stays closed until asked for. */
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
      return html`<strong>You are ${first}, who may ask for changes.</strong> Type ${command('/infra ip move')} below and press Enter, fill in the
        form, then switch to <strong>Ben</strong> at the top right to approve it.`
    }
    if (role === 'approver') {
      return html`<strong>You are ${first}, an approver.</strong> Decide on a card that somebody else has asked for; your own you cannot
        approve. No card yet? Switch to <strong>Ada</strong> at the top right and ask for a move.`
    }
    return html`<strong>You are ${first}, a guest.</strong> Guests may look but not ask: type ${command('/infra ip move')} or press a button on a
      card and see what Lockkeeper answers.`
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
