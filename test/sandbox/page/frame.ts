import { html, nothing, type TemplateResult } from 'lit-html'
import { keyed } from 'lit-html/directives/keyed.js'
import { live } from 'lit-html/directives/live.js'
import { repeat } from 'lit-html/directives/repeat.js'
import type { Notification } from '../slack/message-store.ts'
import { renderBlocks } from './blocks.ts'
import { composer, replyComposer } from './composer.ts'
import { renderModal, renderQuestion } from './dialogs.ts'
import { drawerToggle, isDrawerOpen, renderDrawer, setDrawerOpen } from './drawer.ts'
import { commandButton, hintToggle, renderHint } from './hint.ts'
import { avatar, botPicture, iconButton, icons } from './icons.ts'
import { showMessage } from './message-links.ts'
import { renderMessages, renderThread, shortcutMenu } from './messages.ts'
import {
  actAs,
  channelHere,
  goTo,
  goToChannel,
  isBeside,
  isUnread,
  mainChannel,
  messagesIn,
  messagesInChannels,
  page,
  removeNotice,
  removeToast,
  tabHere,
  update,
} from './page.ts'
import { requestsIn, type ShownRequest, waitingFor, waitingWords } from './requests.ts'
import type { Person } from './shapes.ts'
import { renderMrkdwn } from './text.ts'
import { openTwoPeople } from './two-people.ts'

/** Renders the whole page: bars, the current place, an open thread, and what is above them. */
export function renderPage(): TemplateResult {
  const requests = requestsIn(messagesInChannels())
  const thread = renderThread()
  // Behind an open side bar nothing is pressed by accident: a press there closes it.
  const closeSide = ({ target, currentTarget }: Event) => page.isSideOpen && target === currentTarget && toggleSide()
  return html`<div class="desk" @click=${closeSide}>
      ${topBar(requests)}
      <div class="side-column column">${sideBar(requests)} ${renderToasts()}</div>
      <main class="column" .inert=${page.isSideOpen}>${tabHere() ? appTab() : channel(requests)}</main>
      ${thread ? threadPanel(thread) : nothing} ${renderDrawer()}
    </div>
    ${renderModal()} ${renderQuestion()} ${renderNotices()}`
}

/** Closes what covers the channel, one thing at a time. */
export function closeOnEscape(event: KeyboardEvent) {
  if (event.key !== 'Escape' || event.defaultPrevented || document.querySelector('dialog[open], :popover-open')) return
  if (isDrawerOpen()) setDrawerOpen(false)
  else if (page.isSideOpen) toggleSide()
  else if (page.thread) closeThread()
}

function toggleSide() {
  page.isSideOpen = !page.isSideOpen
  update()
}

function topBar(requests: ShownRequest[]): TemplateResult {
  const { people } = page.workspace
  const optionOf = (person: Person) => {
    const waiting = person === page.me ? '' : waitingWords(requests, person)
    return html`<option value=${person.id} .selected=${live(person === page.me)}>
      ${person.name} (${person.role})${waiting && `, ${waiting}`}
    </option>`
  }
  return html`<header class="top-bar row">
    <div class="only-narrow">${iconButton('Channels and people', icons.menu, toggleSide)}</div>
    <strong class="only-wide">${page.workspace.team.name} sandbox</strong>
    <div class="switcher row">
      ${avatar(page.me.name, page.me)}
      <select aria-label="Acting as" title="Acting as" @change=${(event: Event) => actAs((event.target as HTMLSelectElement).value)}>
        ${people.map(optionOf)}
      </select>
    </div>
    ${drawerToggle()}
    ${
      isBeside
        ? nothing
        : html`<button type="button" class="bar-button row only-wide" @click=${openTwoPeople}>${icons.columns}<span>Two people</span></button>`
    }
  </header>`
}

function sideBar(requests: ShownRequest[]): TemplateResult {
  const { channels, people, bot, team } = page.workspace
  return html`<nav class="side-bar column ${page.isSideOpen ? 'is-open' : ''}" aria-label="Workspace">
    <h2>Channels</h2>
    ${channels.map(({ id, name }) => placeLink(icons.hash, name, id === page.place, id))}
    <h2>People</h2>
    ${people.map((person) => personLink(person, requests))}
    <h2>Apps</h2>
    ${placeLink(botPicture, bot.name, tabHere() !== undefined, page.state?.channel ?? '', 'home')}
    <p class="small">${team.name} is invented. Nothing typed here leaves this machine.</p>
  </nav>`
}

interface SideLink {
  icon: TemplateResult
  name: string
  isCurrent?: boolean
  isMarked: boolean
  /** Its name for screen readers, if that says more. */
  label?: string
  more?: TemplateResult
  go(): void
}

function sideLink({ icon, name, isCurrent = false, isMarked, label, more, go }: SideLink): TemplateResult {
  const [mark, current] = [isMarked && !isCurrent ? 'is-unread' : '', isCurrent ? 'page' : nothing]
  return html`<button type="button" class="side-link row ${mark}" aria-label=${label ?? nothing} aria-current=${current} @click=${go}>
    ${icon} ${name} ${more ?? nothing}
  </button>`
}

function placeLink(icon: TemplateResult, name: string, isCurrent: boolean, channel: string, place = channel): TemplateResult {
  const isMarked = isUnread(channel) && !isCurrent
  return sideLink({ icon, name, isCurrent, isMarked, ...(isMarked && { label: `${name}, unread` }), go: () => goToChannel(place) })
}

function personLink(person: Person, requests: ShownRequest[]): TemplateResult {
  const isMe = person === page.me
  const waiting = waitingWords(requests, person)
  const label = isMe ? `${person.name} (you)` : `Act as ${person.name}`
  const badge = waiting ? html`<span class="badge">${waitingFor(requests, person).length}</span>` : nothing
  return sideLink({
    icon: avatar(person.name, person),
    name: person.name,
    isMarked: isMe,
    label: waiting ? `${label}, ${waiting}` : label,
    more: html`<span class="side-role">${isMe ? 'you' : person.role}</span> ${badge}`,
    go: () => actAs(person.id),
  })
}

function lostConnection(): TemplateResult | typeof nothing {
  if (page.isConnected) return nothing
  return html`<div class="lost" role="alert">The connection to the sandbox is lost. Is it still running? Trying again…</div>`
}

function channel(requests: ShownRequest[]): TemplateResult {
  const { id, name, topic } = channelHere()
  const { shortcuts } = page.workspace
  const commands = page.state?.commands ?? []
  const tools = html`${iconButton('Commands', icons.slash, listCommands)}
    ${shortcutMenu('shortcuts', 'Shortcuts', icons.bolt, shortcuts.global, { channel: id })}`
  const beginning = html`<div class="welcome">
    <h2># ${name}</h2>
    <p>This is the very beginning of <strong>#${name}</strong>. ${topic ? `It is about: ${topic}.` : nothing}</p>
    ${id === mainChannel()?.id ? html`<p>Try ${commands.slice(0, 4).map(({ command }) => commandButton(command))}</p>` : nothing}
  </div>`
  return html`<header class="head row">
      <h1 class="row">${icons.hash}${name}</h1>
      <span class="topic small">${topic}</span>
      ${hintToggle()}
    </header>
    ${lostConnection()} ${renderHint(requests)} ${log(`Messages in #${name}`, beginning)}
    ${composer.render({ label: 'Message', placeholder: `Message #${name}, or type / for a command`, tools })}`
}

function listCommands() {
  composer.write('/')
  composer.focus()
}

function log(label: string, beginning: TemplateResult): TemplateResult {
  const { id } = channelHere()
  return html`${keyed(
    id,
    html`<div class="messages" role="log" aria-label=${label} tabindex="0">
      <div>${page.state ? [beginning, renderMessages(messagesIn(id))] : html`<p class="loading" role="status">Loading messages…</p>`}</div>
    </div>`,
  )}`
}

/** The app's own place as in Slack: its Home tab, and the direct messages from it. */
function appTab(): TemplateResult {
  const { bot } = page.workspace
  const beginning = html`<div class="welcome">
    <h2>${bot.name}</h2>
    <p>Only <strong>you</strong> see these messages. ${bot.name} sends them here if it can't post in the channel.</p>
  </div>`
  return html`<header class="head row">
      <h1 class="row">${botPicture}${bot.name}</h1>
      <nav class="tabs" aria-label=${bot.name}>
        ${tab('home', 'Home', false)} ${tab('messages', 'Messages', isUnread(page.state?.channel ?? ''))}
      </nav>
    </header>
    ${lostConnection()}
    ${
      page.place === 'home'
        ? html`<section class="home" aria-label="Home" tabindex="0">${home()}</section>`
        : html`${log(`Messages from ${bot.name}`, beginning)}
            <p class="read-only small">Sending messages to this app has been turned off.</p>`
    }`
}

function tab(place: string, name: string, isMarked: boolean): TemplateResult {
  const isCurrent = place === page.place
  return html`<button type="button" class="tab" aria-current=${isCurrent ? 'page' : nothing} @click=${() => goToChannel(place)}>
    ${name}${isMarked && !isCurrent ? html`<span class="visually-hidden">, unread</span> •` : nothing}
  </button>`
}

function home(): TemplateResult {
  const published = page.state?.home
  if (!published) {
    return html`<p class="loading">${page.workspace.bot.name} has not shown anything here.</p>`
  }
  const { id, view } = published
  return renderBlocks(view.blocks, { key: `${page.me.id}/${id}`, place: { viewId: id }, seen: { view } })
}

function threadPanel(messages: TemplateResult): TemplateResult {
  const threadTs = page.thread
  return html`<aside class="thread column" aria-label="Thread">
    <header class="head row">
      <h2>Thread</h2>
      <span class="topic small">${tabHere() ? '' : '#'}${channelHere().name}</span>
      ${iconButton('Close thread', icons.close, closeThread)}
    </header>
    <div class="thread-list" role="log" aria-label="Thread messages" tabindex="0"><div>${messages}</div></div>
    ${tabHere() ? nothing : replyComposer.render({ label: 'Reply', placeholder: 'Reply…', threadTs })}
  </aside>`
}

/** The focus goes to the bar of the thread, unless it is elsewhere, such as in a half-typed message. */
function closeThread() {
  const bar = document.querySelector<HTMLElement>(`.messages [data-ts="${page.thread}"] .thread-bar`)
  const wasInside = document.activeElement === document.body || document.activeElement?.closest('.thread')
  goTo({ thread: undefined })
  if (wasInside) bar?.focus()
}

function renderToasts(): TemplateResult {
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
  return html`<div class="toast row">
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

function renderNotices(): TemplateResult {
  return html`<div class="notices" role="status">
    ${page.notices.map(
      (notice) => html`<div class="notice row">
        <span>${notice.sentence}</span>
        ${iconButton('Dismiss', icons.close, () => removeNotice(notice))}
      </div>`,
    )}
  </div>`
}
