import { html, nothing, render, type TemplateResult } from 'lit-html'
import { address } from './address.ts'
import { createApi, type Workspace } from './api.ts'
import { createAppView } from './app-view.ts'
import { createBlocks } from './blocks.ts'
import { createComposer } from './composer.ts'
import { createConfirm } from './confirm.ts'
import { type AppTab, createDesk } from './desk.ts'
import { createDialogs } from './dialogs.ts'
import { createElements } from './elements.ts'
import { createForms } from './forms.ts'
import { channelHead, type FrameProps, lostConnection, sideBar, topBar } from './frame.ts'
import { createHint } from './hint.ts'
import { icons } from './icons.ts'
import { createMessages, type MessageListProps } from './messages.ts'
import { createModal } from './modal.ts'
import { namesOf } from './names.ts'
import { createNotices } from './notices.ts'
import { placeOf, pointAt } from './permalinks.ts'
import { createPickers } from './pickers.ts'
import { placePopups } from './popup.ts'
import { createPresses } from './presses.ts'
import { createScrolling } from './scrolling.ts'
import { threadPanel } from './thread-panel.ts'

const api = createApi()
const workspace = await api.workspace()
if (workspace.ok) openPage(workspace)
else render(html`<p class="no-start" role="alert">${workspace.error}</p>`, document.body)

function openPage(workspace: Workspace) {
  let painting = false
  let sideOpen = false
  let threadTs: string | undefined

  const wanted = address.read()
  const person = workspace.people.find(({ id }) => id === wanted.as) ?? workspace.people[0]
  const channel = workspace.channels.find(({ id }) => id === wanted.channel) ?? workspace.channels[0]
  if (!person || !channel) throw new Error('A workspace needs a person and a channel.')

  const notices = createNotices({ update })
  const tab = wanted.channel === 'home' || wanted.channel === 'messages' ? wanted.channel : undefined
  const desk = createDesk({ api, workspace, person, channel, tab, notify: notices.show, update })
  const me = () => desk.me().id
  const forms = createForms()
  const confirm = createConfirm({ update })
  const pickers = createPickers({ update })
  const presses = createPresses({ api, forms, confirm, me, notify: notices.show, update })
  const blocks = createBlocks({ elements: createElements({ api, forms, pickers, presses, me }) })
  const messages = createMessages({ blocks, person: (id) => workspace.people.find((one) => one.id === id) })
  const modal = createModal({ api, forms, blocks, pickers, me, refresh: desk.refresh, update })
  const composer = createComposer({ commands: workspace.commands, send, update })
  const app = createAppView({ api, workspace, desk, blocks, goTo: goToApp, notify: notices.show, update })
  const hint = createHint({ fill: composer.fill, update })
  const scrolls = [createScrolling({ selector: '.messages', update }), createScrolling({ selector: '.thread-list', update })] as const
  const settleDialogs = createDialogs()
  const tries = workspace.commands.slice(0, 4)

  /** Renders once for all changes of one turn. */
  function update() {
    if (painting) return
    painting = true
    queueMicrotask(() => {
      painting = false
      render(page(), document.body)
      for (const scroll of scrolls) scroll.settle()
      settleDialogs()
      placePopups()
      document.title = `${desk.tab() ? '' : '#'}${desk.channel().name} · ${workspace.team.name} · ${desk.me().name}`
    })
  }

  async function send(text: string): Promise<boolean> {
    scrolls[0].toEnd()
    const answer = await api.say(me(), desk.channel().id, text)
    if (!answer.ok) notices.show(answer.error)
    return answer.ok
  }

  function enter(change: () => unknown) {
    sideOpen = false
    change()
    address.write(me(), desk.tab() ?? desk.channel().id)
    scrolls[0].toEnd()
    const tab = desk.tab()
    if (tab) void app.open(tab)
  }

  function goTo(id: string) {
    enter(() => {
      threadTs = undefined
      desk.goTo(id)
    })
  }

  function goToApp(to: AppTab) {
    enter(() => {
      threadTs = undefined
      desk.goToApp(to)
    })
  }

  function page(): TemplateResult {
    const frame: FrameProps = {
      workspace,
      desk,
      sideOpen,
      hintOpen: hint.isOpen(),
      toggleSide(open) {
        sideOpen = open
        update()
      },
      toggleHint: hint.toggle,
      actAs: (id) => enter(() => desk.actAs(id)),
      goTo,
      goToApp: () => goToApp(workspace.bot.homeTab ? 'home' : 'messages'),
    }
    const here = desk.channel()
    const list: MessageListProps = {
      channel: here,
      messages: desk.messages() ?? [],
      names: namesOf(workspace, me()),
      unseen: desk.unseen(),
      hasUnreadReplies: desk.hasUnreadReplies,
      openThread,
    }
    if (threadTs !== undefined) desk.readThread(threadTs)
    const thread = threadTs === undefined ? undefined : messages.thread(threadTs, list)
    return html`<div class="desk ${thread ? 'has-thread' : ''}">
        ${topBar(frame)} ${sideBar(frame)}
        <main class="channel">${desk.tab() ? appPlace(frame, list) : channelPlace(frame, list)}</main>
        ${thread ? threadPanel(`${desk.tab() ? '' : '#'}${here.name}`, thread, closeThread) : nothing}
      </div>
      ${modal.render(desk.views(), list.names)} ${confirm.render()} ${notices.render()}`
  }

  function channelPlace(frame: FrameProps, list: MessageListProps): TemplateResult {
    const here = desk.channel()
    return html`${channelHead(frame)} ${lostConnection(desk)} ${hint.render(desk.me())}
      <div class="messages" role="log" aria-label=${`Messages in #${here.name}`} tabindex="0">
        <div class="messages-inside">${desk.messages() ? html`${welcome(here)}${messages.list(list)}` : loading()}</div>
      </div>
      ${scrolls[0].atEnd() ? nothing : toNewest()} ${composer.render(here)}`
  }

  function appPlace(frame: FrameProps, list: MessageListProps): TemplateResult {
    const head = html`${app.head()} ${lostConnection(frame.desk)}`
    if (desk.tab() === 'home') return html`${head} ${app.home(list.names)}`
    return html`${head}
      <div class="messages" role="log" aria-label=${`Messages from ${desk.channel().name}`} tabindex="0">
        <div class="messages-inside">${desk.messages() ? html`${app.welcome()}${messages.list(list)}` : loading()}</div>
      </div>
      ${scrolls[0].atEnd() ? nothing : toNewest()} ${app.readOnly()}`
  }

  function welcome({ name, topic }: { name: string; topic: string }): TemplateResult {
    return html`<div class="welcome">
      <h2>${icons.hash}${name}</h2>
      <p>This is the very beginning of <strong>#${name}</strong>. ${topic ? html`It is about: ${topic}.` : nothing}</p>
      <p class="welcome-try">
        Try
        ${tries.map(({ command }) => html`<button type="button" class="hint-command" @click=${() => composer.fill(command)}>${command}</button>`)}
      </p>
    </div>`
  }

  function loading(): TemplateResult {
    return html`<div class="loading" role="status"><span class="spinner"></span>Loading messages…</div>`
  }

  function toNewest(): TemplateResult {
    return html`<div class="to-newest-row">
      <button type="button" class="to-newest" @click=${scrolls[0].toEnd}>${icons.arrowDown}To the newest</button>
    </div>`
  }

  function openThread(ts: string) {
    threadTs = ts
    update()
    requestAnimationFrame(() => document.querySelector<HTMLElement>('.thread-list')?.focus())
  }

  function closeThread() {
    const bar = document.querySelector<HTMLElement>(`.messages [data-ts="${threadTs}"] .thread-bar`)
    threadTs = undefined
    update()
    bar?.focus()
  }

  // Links to messages of this workspace have no Slack behind them, so the page opens them itself.
  document.addEventListener('click', (event) => {
    const place = event.target instanceof Element ? placeOf(event.target.closest('a')?.href ?? '') : undefined
    if (!place) return
    event.preventDefault()
    goTo(place.channel)
    if (place.threadTs) openThread(place.threadTs)
    setTimeout(() => pointAt(place.threadTs ?? place.ts), 100)
  })
  document.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || event.defaultPrevented || document.querySelector('dialog[open]')) return
    if (sideOpen) sideOpen = false
    else if (threadTs !== undefined) closeThread()
    update()
  })
  addEventListener('resize', placePopups)
  addEventListener('scroll', placePopups, { capture: true, passive: true })
  // Names of days and "5 minutes ago" become outdated.
  setInterval(update, 60_000)
  address.write(me(), desk.tab() ?? desk.channel().id)
  if (tab) void app.open(tab)
  update()
  composer.focus()
}
