import { html, nothing, type TemplateResult } from 'lit-html'
import { repeat } from 'lit-html/directives/repeat.js'
import type { Notification } from '../slack/notifications.ts'
import type { Workspace } from './api.ts'
import { avatar } from './avatar.ts'
import { icons } from './icons.ts'
import { mrkdwnWords } from './inline-words.ts'
import { namesOf } from './names.ts'
import { unbrokenWords } from './unbroken-words.ts'

export interface ToastsOptions {
  workspace: Workspace
  me(): string
  /** Whether only this person's phone is shown, because another one is on the page beside. */
  onlyMe: boolean
  /** Opens the message as one of the notified people. */
  open(as: string, shown: Notification): void
  update(): void
}

/** On a narrow page a toast takes room from the messages, so that there is one at a time, and for a shorter time. Two leave the side bar room. */
const limits = () => (matchMedia('(max-width: 760px)').matches ? { most: 1, shownMs: 7_000 } : { most: 2, shownMs: 12_000 })

/** Shows what the phones of people show: the notification of a new message, with the text that Slack puts there. */
export function createToasts({ workspace, me, onlyMe, open, update }: ToastsOptions) {
  let toasts: Notification[] = []

  function remove(toast: Notification) {
    toasts = toasts.filter((one) => one !== toast)
    update()
  }

  function firstNameOf(personId: string): string {
    return workspace.people.find(({ id }) => id === personId)?.name.split(' ')[0] ?? personId
  }

  function whose(people: string[]): string {
    if (people.length === 1 && people[0] === me()) return 'Your phone'
    const owners = people.map((id) => `${firstNameOf(id)}'s`)
    return `${new Intl.ListFormat('en').format(owners)} ${people.length === 1 ? 'phone' : 'phones'}`
  }

  function render(toast: Notification): TemplateResult {
    const { people, channel, user, text } = toast
    const names = namesOf(workspace, me())
    const as = people.includes(me()) ? me() : (people[0] ?? me())
    const isBot = user === workspace.bot.id
    const known = workspace.people.find(({ id }) => id === user)
    const from = isBot ? workspace.bot.name : (known?.name ?? user)
    const where = workspace.channels.find(({ id }) => id === channel)?.name
    const act = () => {
      remove(toast)
      open(as, toast)
    }
    return html`<div class="toast">
      <div class="toast-phone">${icons.phone}<span>${whose(people)}</span></div>
      <button type="button" class="icon-button toast-close" aria-label="Dismiss" @click=${() => remove(toast)}>${icons.close}</button>
      <button type="button" class="toast-body" @click=${act}>
        ${avatar(isBot, from, known)}
        <span class="toast-words">
          <span class="toast-from">${from}${where ? ` in #${where}` : nothing}</span>
          <span class="toast-text">${unbrokenWords(mrkdwnWords(text, names))}</span>
          <span class="toast-open">${as === me() ? 'Open' : `Open as ${firstNameOf(as)}`}</span>
        </span>
      </button>
    </div>`
  }

  return {
    show(shown: Notification) {
      const people = shown.people.filter((id) => workspace.people.some((person) => person.id === id) && (!onlyMe || id === me()))
      if (people.length === 0) return
      const toast = { ...shown, people }
      const { most, shownMs } = limits()
      toasts = [...toasts, toast].slice(-most)
      setTimeout(() => remove(toast), shownMs)
      update()
    },

    render(): TemplateResult {
      return html`<div class="toasts" role="status" aria-label="Phones">
        ${repeat(
          toasts,
          ({ channel, ts }) => `${channel}/${ts}`,
          (toast) => render(toast),
        )}
      </div>`
    },
  }
}

export type Toasts = ReturnType<typeof createToasts>
