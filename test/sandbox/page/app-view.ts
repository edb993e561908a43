import { html, nothing, type TemplateResult } from 'lit-html'
import { keyed } from 'lit-html/directives/keyed.js'
import type { Api, Workspace } from './api.ts'
import type { Blocks } from './blocks.ts'
import type { AppTab, Desk } from './desk.ts'
import { icons, lockGate } from './icons.ts'
import type { Names } from './inline.ts'
import type { Surface } from './surface.ts'

export interface AppViewOptions {
  api: Api
  workspace: Workspace
  desk: Desk
  blocks: Blocks
  goTo(tab: AppTab): void
  notify(sentence: string): void
  update(): void
}

/** How long the bot may take to show something before the page says that there is nothing. */
const patienceMs = 4_000

/** The app's own place as in Slack: its Home tab, and the direct messages from it. */
export function createAppView({ api, workspace, desk, blocks, goTo, notify, update }: AppViewOptions) {
  const { bot } = workspace
  let waitingUntil = 0

  /** Reports to the bot that this person opens the tab, so that the bot updates it. */
  async function open(tab: AppTab) {
    waitingUntil = Date.now() + patienceMs
    setTimeout(update, patienceMs + 10)
    const answer = await api.open(desk.me().id, tab)
    if (!answer.ok) notify(answer.error)
  }

  function tabButton(tab: AppTab, words: string): TemplateResult {
    const current = desk.tab() === tab
    const unread = tab === 'messages' && !current && desk.unreadInApp().any
    return html`<button type="button" class="app-tab ${unread ? 'is-unread' : ''}" aria-current=${current ? 'page' : nothing} @click=${() => goTo(tab)}>
      ${words}${unread ? html`<span class="visually-hidden">, unread</span>` : nothing}
    </button>`
  }

  function head(): TemplateResult {
    return html`<header class="channel-head app-head">
        <h1><span class="avatar avatar-bot">${lockGate}</span><span>${bot.name}</span></h1>
        <span class="app-badge">APP</span>
      </header>
      <nav class="app-tabs" aria-label=${bot.name}>
        ${bot.homeTab ? tabButton('home', 'Home') : nothing} ${tabButton('messages', 'Messages')}
      </nav>`
  }

  function home(names: Names): TemplateResult {
    const published = desk.home()
    if (!published) return nothingYet()
    const { id, view } = published
    const surface: Surface = { key: `${names.me}/${id}`, place: { viewId: id }, names, seen: { view } }
    return html`<div class="app-home-inside">${keyed(id, html`<div class="blocks">${blocks.render(view.blocks, surface)}</div>`)}</div>`
  }

  function nothingYet(): TemplateResult {
    if (Date.now() < waitingUntil)
      return html`<div class="loading" role="status"><span class="spinner"></span>Waiting for ${bot.name}…</div>`
    return html`<div class="app-empty">
      <span class="avatar avatar-bot">${lockGate}</span>
      <p>${bot.name} has not shown anything here.</p>
      <button type="button" class="button" @click=${() => void open('home').then(update)}>Ask again</button>
    </div>`
  }

  return {
    open,
    head,

    home: (names: Names): TemplateResult => html`<section class="app-home" aria-label="Home" tabindex="0">${home(names)}</section>`,

    /** Shown above the first message of the app. */
    welcome: (): TemplateResult =>
      html`<div class="welcome">
        <h2><span class="avatar avatar-bot">${lockGate}</span>${bot.name}</h2>
        <p>Only <strong>you</strong> see these messages. ${bot.name} sends them here if it can't post in the channel.</p>
      </div>`,

    /** Shown instead of the composer, because the app reads no messages here. */
    readOnly: (): TemplateResult =>
      html`<p class="app-read-only">${icons.eye}<span>Sending messages to this app has been turned off.</span></p>`,
  }
}
export type AppView = ReturnType<typeof createAppView>
