import { html, nothing, type TemplateResult } from 'lit-html'
import { live } from 'lit-html/directives/live.js'
import type { Channel, Person, Workspace } from './api.ts'
import { avatar } from './avatar.ts'
import type { Desk } from './desk.ts'
import type { Hint } from './hint.ts'
import { icons, lockGate } from './icons.ts'
import type { Navigation } from './navigation.ts'

export interface FrameProps {
  workspace: Workspace
  desk: Desk
  navigation: Navigation
  hint: Hint
  /** The requests that wait for this person: how many, and in words. */
  waiting(person: Person): { count: number; words: string }
  /** The button of the drawer, and the one for two people side by side. */
  tools: TemplateResult
}

const roleWords: Record<Person['role'], string> = { requester: 'requester', approver: 'approver', outsider: 'outsider' }

export function topBar({ workspace, desk, navigation, tools, waiting }: FrameProps): TemplateResult {
  const me = desk.me()
  const sideOpen = navigation.isSideOpen()
  return html`<header class="top-bar">
    <button
      type="button"
      class="icon-button side-toggle"
      aria-label="Channels and people"
      aria-expanded=${sideOpen ? 'true' : 'false'}
      aria-controls="side-bar"
      @click=${() => navigation.toggleSide(!sideOpen)}
    >
      ${icons.menu}
    </button>
    ${team(workspace)}
    <div class="bar-tools">${tools}</div>
    <div class="switcher">
      <label for="acting-as">Acting as</label>
      <span class="switcher-frame">
        ${avatar(false, me.name, me)}
        <select id="acting-as" .value=${live(me.id)} @change=${(event: Event) => navigation.actAs((event.target as HTMLSelectElement).value)}>
          ${workspace.people.map(
            (person) =>
              html`<option value=${person.id} ?selected=${person.id === me.id}>
                ${person.name} (${roleWords[person.role]})${person.id !== me.id && waiting(person).count > 0 ? `, ${waiting(person).words}` : ''}
              </option>`,
          )}
        </select>
        ${icons.down}
      </span>
    </div>
  </header>`
}

function team({ team: { name } }: Workspace): TemplateResult {
  return html`<div class="team">
    <span class="team-tile" aria-hidden="true">${name.charAt(0)}</span><span class="team-name">${name}</span><span class="sandbox-badge">Sandbox</span>
  </div>`
}

export function sideBar(props: FrameProps): TemplateResult {
  const { workspace, navigation } = props
  const sideOpen = navigation.isSideOpen()
  return html`${sideOpen ? html`<div class="scrim" @click=${() => navigation.toggleSide(false)}></div>` : nothing}
    <nav class="side-bar ${sideOpen ? 'is-open' : ''}" id="side-bar" aria-label="Workspace">
      ${team(workspace)}
      <h2 class="side-title">Channels</h2>
      <ul>
        ${workspace.channels.map((channel) => channelLink(channel, props))}
      </ul>
      <h2 class="side-title">People</h2>
      <ul>
        ${workspace.people.map((person) => personLink(person, props))}
      </ul>
      <h2 class="side-title">Apps</h2>
      <ul>
        ${appLink(props)}
      </ul>
      <p class="side-foot">
        ${workspace.team.name} is invented. Nothing typed here leaves this machine.
      </p>
    </nav>`
}

function channelLink({ id, name }: Channel, { desk, navigation }: FrameProps): TemplateResult {
  const unread = desk.unread(id)
  const current = desk.tab() === undefined && id === desk.channel().id
  const marked = unread.any && !current
  return html`<li>
    <button
      type="button"
      class="side-link ${current ? 'is-current' : ''} ${marked ? 'is-unread' : ''}"
      aria-current=${current ? 'page' : nothing}
      @click=${() => navigation.goTo(id)}
    >
      ${icons.hash}<span class="side-name">${name}</span>
      ${marked ? html`<span class="visually-hidden">, unread</span>` : nothing}
      ${marked && unread.mentions > 0 ? html`<span class="badge" aria-label=${`${unread.mentions} mentions`}>${unread.mentions}</span>` : nothing}
    </button>
  </li>`
}

function appLink({ workspace, desk, navigation }: FrameProps): TemplateResult {
  const tab = desk.tab()
  const marked = tab !== 'messages' && desk.unreadInApp().any
  return html`<li>
    <button
      type="button"
      class="side-link ${tab ? 'is-current' : ''} ${marked ? 'is-unread' : ''}"
      aria-current=${tab ? 'page' : nothing}
      @click=${() => navigation.goTo(workspace.bot.homeTab ? 'home' : 'messages')}
    >
      <span class="avatar avatar-bot">${lockGate}</span><span class="side-name">${workspace.bot.name}</span>
      ${marked ? html`<span class="visually-hidden">, unread</span>` : nothing}
    </button>
  </li>`
}

function personLink(person: Person, { desk, waiting, navigation }: FrameProps): TemplateResult {
  const isMe = person.id === desk.me().id
  const { count, words } = waiting(person)
  const label = isMe ? `${person.name} (you)` : `Act as ${person.name}`
  return html`<li>
    <button
      type="button"
      class="side-link side-person ${isMe ? 'is-me' : ''}"
      aria-current=${isMe ? 'true' : nothing}
      aria-label=${count > 0 ? `${label}, ${words}` : label}
      title=${`${person.title}.${count > 0 ? ` ${words}.` : ''} ${isMe ? 'You act as this person.' : `Click to act as ${person.name}.`}`}
      @click=${() => navigation.actAs(person.id)}
    >
      ${avatar(false, person.name, person)}<span class="side-name">${person.name}</span>
      ${isMe ? html`<span class="side-role you">you</span>` : html`<span class="side-role">${roleWords[person.role]}</span>`}
      ${count > 0 ? html`<span class="badge">${count}</span>` : nothing}
    </button>
  </li>`
}

export function channelHead({ desk, hint }: FrameProps): TemplateResult {
  const { name, topic } = desk.channel()
  return html`<header class="channel-head">
    <h1>${icons.hash}<span>${name}</span></h1>
    <p class="topic">${topic}</p>
    <button type="button" class="icon-button" aria-pressed=${hint.isOpen() ? 'true' : 'false'} aria-label="How to start" title="How to start" @click=${hint.toggle}>
      ${icons.idea}
    </button>
  </header>`
}

export function lostConnection(desk: Desk): TemplateResult | typeof nothing {
  return desk.connected()
    ? nothing
    : html`<div class="lost" role="alert"><span class="spinner"></span>The connection to the sandbox is lost. Is it still running? Trying again…</div>`
}
