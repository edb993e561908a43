import { html, nothing, type TemplateResult } from 'lit-html'
import { repeat } from 'lit-html/directives/repeat.js'
import type { Notification } from '../slack/message-store.ts'
import { avatar, iconButton, icons } from './icons.ts'
import { showMessage } from './message-links.ts'
import { actAs, page, removeNotice, removeToast } from './page.ts'
import { renderMrkdwn } from './text.ts'

export function renderToasts(): TemplateResult {
  return html`<div class="toasts" role="status" aria-label="Phones">
    ${repeat(page.toasts, ({ channel, ts }) => `${channel}/${ts}`, renderToast)}
  </div>`
}

function renderToast(toast: Notification): TemplateResult {
  const { people, channel, user, text } = toast
  const { bot, channels } = page.workspace
  const as = people.includes(page.me.id) ? page.me.id : (people[0] ?? page.me.id)
  const author = page.workspace.people.find(({ id }) => id === user)
  const name = author?.name ?? bot.name
  const where = channels.find(({ id }) => id === channel)
  const open = () => {
    removeToast(toast)
    if (as !== page.me.id) actAs(as)
    showMessage(toast)
  }
  return html`<div class="toast">
    ${avatar(name, author, user === bot.id)}
    <div>
      <span class="small">${icons.phone} ${whose(people)}</span>
      <strong>${name}${where ? ` in #${where.name}` : nothing}</strong>
      <div class="toast-text">${renderMrkdwn(text)}</div>
      <button type="button" class="link-button" @click=${open}>${as === page.me.id ? 'Open' : `Open as ${firstNameOf(as)}`}</button>
    </div>
    ${iconButton('Dismiss', icons.close, () => removeToast(toast))}
  </div>`
}

function whose(people: string[]): string {
  if (people.length === 1 && people[0] === page.me.id) return 'Your phone'
  const owners = new Intl.ListFormat('en').format(people.map((id) => `${firstNameOf(id)}'s`))
  return `${owners} ${people.length === 1 ? 'phone' : 'phones'}`
}

function firstNameOf(personId: string): string {
  return page.workspace.people.find(({ id }) => id === personId)?.name.split(' ')[0] ?? personId
}

export function renderNotices(): TemplateResult {
  return html`<div class="notices" role="status">
    ${page.notices.map(
      (notice) => html`<div class="notice row">
        <span>${notice.sentence}</span>
        ${iconButton('Dismiss', icons.close, () => removeNotice(notice))}
      </div>`,
    )}
  </div>`
}
