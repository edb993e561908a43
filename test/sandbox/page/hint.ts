import { html, nothing, type TemplateResult } from 'lit-html'
import type { Person } from './api.ts'
import { icons } from './icons.ts'
import type { NextStep } from './next-step.ts'
import type { ShownRequest } from './requests.ts'

export interface HintOptions {
  /** Writes a text into the composer. */
  fill(text: string): void
  actAs(id: string): void
  goTo(channel: string): void
  /** Opens the thread of a request, or shows its message. */
  open(request: ShownRequest): void
  show(request: ShownRequest): void
  /** Whether another person is shown beside this one, so that nobody has to switch. */
  beside: boolean
  update(): void
}

const storageKey = 'lockkeeper-sandbox-hint'

/** Shows what a newcomer can do next as this person. Once closed, it stays closed until it is opened again. */
export function createHint({ fill, actAs, goTo, open, show, beside, update }: HintOptions) {
  let isOpen = localStorage.getItem(storageKey) !== 'closed'

  function setOpen(next: boolean) {
    isOpen = next
    localStorage.setItem(storageKey, next ? 'open' : 'closed')
    update()
  }

  const command = (text: string) => html`<button type="button" class="hint-command" @click=${() => fill(text)}>${text}</button>`
  const link = (text: string, act: () => void) => html`<button type="button" class="link-button" @click=${act}>${text}</button>`

  function switchTo(person: Person, words: string): TemplateResult {
    if (beside) return html`<strong>Now it is ${firstName(person)}'s turn.</strong>`
    return html`<button type="button" class="button hint-switch" @click=${() => actAs(person.id)}>${words} ${firstName(person)} →</button>`
  }

  function words(me: Person, step: NextStep): TemplateResult {
    const who = html`<strong>You are ${firstName(me)}${me.role === 'requester' ? ' and may request changes' : `, ${roles[me.role]}`}.</strong>`
    switch (step.is) {
      case 'request':
        return html`${who} Type ${command('/infra ip move')} below, send it and fill in the form.`
      case 'go-to':
        return html`${who} Lockkeeper takes requests in ${link(`#${step.channel.name}`, () => goTo(step.channel.id))}.`
      case 'ask-for-request':
        return html`${who} There is no request yet. ${switchTo(step.to, 'Request a move as')}`
      case 'switch-to-approver':
        return html`${who} The request needs an approver. ${switchTo(step.to, 'Now switch to')}`
      case 'switch-from-own':
        return html`${who} Your request needs another approver. ${switchTo(step.to, 'Now switch to')} Or approve it alone, as in an emergency:
          press <strong>Approve</strong> on ${link('your request', () => show(step.request))}.`
      case 'decide':
        return html`${who} ${link('A request', () => show(step.request))} needs your approval: press <strong>Approve</strong> or
          <strong>Reject</strong>.`
      case 'create-key':
        return html`${who} ${link('Your request', () => show(step.request))} is approved: press <strong>${step.request.next}</strong>.`
      case 'switch-to-requester':
        return html`${who}
        ${step.why === 'report' ? 'The result is in the thread.' : `It is approved. Only its requester can press ${step.request.next}.`}
        ${switchTo(step.to, 'Now switch to')}`
      case 'wait':
        return html`${who} Lockkeeper makes the change and reports in the ${link('thread', () => open(step.request))}. A move takes about ten
          seconds.`
      case 'explore':
        return html`${who} ${ending(step.request)} Next, try ${command('/infra plans')}, open Lockkeeper's Home, or break something.`
      case 'outside':
        return html`${who} Guests can read the channel, but they can't use Lockkeeper. Type ${command('/infra ip move')}
        ${step.request ? orPress(step.request) : nothing} and read the answer.`
    }
  }

  const ending = (request: ShownRequest) => html`${token(request)} ${result(request)}`

  const token = (request: ShownRequest) =>
    request.tokenTs === undefined
      ? nothing
      : html`Your token is in ${link('the message below', () => show({ ...request, ts: request.tokenTs ?? request.ts }))}. It isn't shown again.`

  const result = (request: ShownRequest) =>
    request.isReported
      ? html`The result is in the ${link('thread', () => open(request))}.`
      : html`${link('The request', () => show(request))} has ended.`

  const orPress = (request: ShownRequest) => html`or press <strong>Approve</strong> on ${link('the request', () => show(request))}`

  return {
    isOpen: () => isOpen,
    toggle: () => setOpen(!isOpen),

    render(me: Person, step: NextStep): TemplateResult | typeof nothing {
      if (!isOpen) return nothing
      return html`<aside class="hint" aria-label="How to start">
        <span class="hint-icon">${icons.idea}</span>
        <p aria-live="polite">${words(me, step)}</p>
        <button type="button" class="icon-button" aria-label="Close this hint" @click=${() => setOpen(false)}>${icons.close}</button>
      </aside>`
    },
  }
}

const roles = { requester: 'a requester', approver: 'an approver', outsider: 'a guest' } as const

function firstName({ name }: Person): string {
  return name.split(' ')[0] ?? name
}

export type Hint = ReturnType<typeof createHint>
