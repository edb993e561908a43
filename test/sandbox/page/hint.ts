import { html, nothing, type TemplateResult } from 'lit-html'
import { composer } from './composer.ts'
import { iconButton, icons } from './icons.ts'
import { showMessage } from './message-links.ts'
import { actAs, channelHere, goToChannel, isBeside, mainChannel, page, update } from './page.ts'
import { type NextStep, nextStep, type ShownRequest } from './requests.ts'
import type { Person } from './shapes.ts'

const storageKey = 'lockkeeper-sandbox-hint'

/** Once closed, the hint stays closed until it is opened again. */
let isOpen = localStorage.getItem(storageKey) !== 'closed'

function setOpen(next: boolean) {
  isOpen = next
  localStorage.setItem(storageKey, next ? 'open' : 'closed')
  update()
}

export function hintToggle(): TemplateResult {
  return html`<button type="button" class="icon-button" aria-pressed=${isOpen} aria-label="How to start" title="How to start"
    @click=${() => setOpen(!isOpen)}>
    ${icons.idea}
  </button>`
}

/** Shows what a newcomer can do next as this person. */
export function renderHint(requests: ShownRequest[]): TemplateResult | typeof nothing {
  if (!isOpen) return nothing
  return html`<aside class="hint row" aria-label="How to start">
    <p aria-live="polite"><strong>You are ${who(page.me)}.</strong> ${words(nextStep(page.me, page.workspace.people, requests))}</p>
    ${iconButton('Close this hint', icons.close, () => setOpen(false))}
  </aside>`
}

function who(me: Person): string {
  const roles = { requester: ' and may request changes', approver: ', an approver', outsider: ', a guest' }
  return `${firstName(me)}${roles[me.role]}`
}

function words(step: NextStep): TemplateResult {
  const main = mainChannel()
  if (main && channelHere().id !== main.id && (step.is === 'request' || step.is === 'explore')) {
    return html`Lockkeeper takes requests in ${link(`#${main.name}`, () => goToChannel(main.id))}.`
  }
  switch (step.is) {
    case 'request':
      return html`Type ${commandButton('/infra ip move')} below, send it and fill in the form.`
    case 'ask-for-request':
      return html`There is no request yet. ${switchTo(step.to, 'Request a move as')}`
    case 'switch-to-approver':
      return html`The request needs ${page.me.role === 'approver' ? 'another' : 'an'} approver. ${switchTo(step.to, 'Now switch to')}`
    case 'decide':
      return html`${link('A request', () => showMessage(step.request))} needs your approval: press <strong>Approve</strong> or
        <strong>Reject</strong>.`
    case 'create-key':
      return html`${link('Your request', () => showMessage(step.request))} is approved: press <strong>${step.request.next}</strong>.`
    case 'switch-to-requester':
      return html`${step.request.isReported ? 'The result is in the thread.' : `Only its requester can press ${step.request.next}.`}
      ${switchTo(step.to, 'Now switch to')}`
    case 'later':
      return html`${link('The request', () => showMessage(step.request))} says what it waits for. With <strong>Break something</strong>, let two
        hours pass or lift a freeze.`
    case 'wait':
      return html`Lockkeeper makes the change and reports in the ${threadOf(step.request)}. A move takes about ten seconds.`
    case 'explore':
      return html`${
        step.request.isReported
          ? html`The result is in the ${threadOf(step.request)}.`
          : html`${link('The request', () => showMessage(step.request))} has ended.`
      }
      Next, try ${commandButton('/infra evacuate')}, open Lockkeeper's Home, or break something.`
    case 'outside': {
      const { request } = step
      return html`Guests can read the channel, but they can't use Lockkeeper. Type ${commandButton('/infra ip move')}
      ${request ? html`or press <strong>Approve</strong> on ${link('the request', () => showMessage(request))}` : nothing} and read the
      answer.`
    }
  }
}

/** A command that a press writes into the composer. */
export function commandButton(text: string): TemplateResult {
  return html`<button type="button" class="command" @click=${() => composer.fill(text)}>${text}</button>`
}

function link(text: string, act: () => void): TemplateResult {
  return html`<button type="button" class="link-button" @click=${act}>${text}</button>`
}

const threadOf = (request: ShownRequest) => link('thread', () => showMessage({ ...request, threadTs: request.ts }))

function switchTo(person: Person, text: string): TemplateResult {
  if (isBeside) return html`<strong>Now it is ${firstName(person)}'s turn.</strong>`
  return html`<button type="button" class="button" @click=${() => actAs(person.id)}>${text} ${firstName(person)} →</button>`
}

const firstName = ({ name }: Person) => name.split(' ')[0] ?? name
