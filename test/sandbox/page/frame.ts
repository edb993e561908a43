import { html, nothing, type TemplateResult } from 'lit-html'
import { keyed } from 'lit-html/directives/keyed.js'
import { live } from 'lit-html/directives/live.js'
import { renderBlocks } from './blocks.ts'
import { composer, replyComposer } from './composer.ts'
import { renderModal, renderQuestion } from './dialogs.ts'
import { drawerToggle, isDrawerOpen, renderDrawer, setDrawerOpen } from './drawer.ts'
import { commandButton, hintToggle, renderHint } from './hint.ts'
import { avatar, botPicture, iconButton, icons } from './icons.ts'
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
  tabHere,
  update,
} from './page.ts'
import { requestsIn, type ShownRequest, waitingFor, waitingWords } from './requests.ts'
import type { Person } from './shapes.ts'
import { renderNotices, renderToasts } from './toasts.ts'
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
    ${renderModal()} ${renderQuestion()} ${renderNotices()}
    ${
      page.isFormAside ? html`<button type="button" class="button primary to-form" @click=${backToForm}>Back to the form</button>` : nothing
    }`
}

function backToForm() {
  page.isFormAside = false
  update()
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
  const isAppUnread = page.place !== 'messages' && isUnread(page.state?.channel ?? '')
  return html`<nav class="side-bar column ${page.isSideOpen ? 'is-open' : ''}" aria-label="Workspace">
    <h2>Channels</h2>
    ${channels.map(({ id, name }) =>
      sideLink(icons.hash, name, { isCurrent: id === page.place, isUnread: isUnread(id), go: () => goToChannel(id) }),
    )}
    <h2>People</h2>
    ${people.map((person) => personLink(person, requests))}
    <h2>Apps</h2>
    ${sideLink(botPicture, bot.name, {
      isCurrent: tabHere() !== undefined,
      isUnread: isAppUnread,
      go: () => goToChannel('home'),
    })}
    <p class="small">${team.name} is invented. Nothing typed here leaves this machine.</p>
  </nav>`
}

interface SideLink {
  isCurrent: boolean
  isUnread: boolean
  go(): void
}

function sideLink(icon: TemplateResult, name: string, { isCurrent, isUnread, go }: SideLink): TemplateResult {
  const isMarked = isUnread && !isCurrent
  const [mark, current] = [isMarked ? 'is-unread' : '', isCurrent ? 'page' : nothing]
  return html`<button type="button" class="side-link row ${mark}" aria-current=${current} @click=${go}>
    ${icon} ${name}${isMarked ? html`<span class="visually-hidden">, unread</span>` : nothing}
  </button>`
}

function personLink(person: Person, requests: ShownRequest[]): TemplateResult {
  const isMe = person === page.me
  const waiting = waitingWords(requests, person)
  const label = isMe ? `${person.name} (you)` : `Act as ${person.name}`
  return html`<button
    type="button"
    class="side-link row ${isMe ? 'is-unread' : ''}"
    aria-label=${waiting ? `${label}, ${waiting}` : label}
    title=${person.title}
    @click=${() => actAs(person.id)}
  >
    ${avatar(person.name, person)} ${person.name} <span class="side-role">${isMe ? 'you' : person.role}</span>
    ${waiting ? html`<span class="badge">${waitingFor(requests, person).length}</span>` : nothing}
  </button>`
}

function lostConnection(): TemplateResult | typeof nothing {
  if (page.isConnected) return nothing
  return html`<div class="lost" role="alert">The connection to the sandbox is lost. Is it still running? Trying again…</div>`
}

function channel(requests: ShownRequest[]): TemplateResult {
  const { id, name, topic } = channelHere()
  const { commands, shortcuts } = page.workspace
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
