import { html, nothing, render, type TemplateResult } from 'lit-html'
import { address } from './address.ts'
import type { Api, Notification, Shortcut, Workspace } from './api.ts'
import { createAppView } from './app-view.ts'
import { createBlocks } from './blocks.ts'
import { createCommandHistory } from './command-history.ts'
import { createComposer } from './composer.ts'
import { createConfirm } from './confirm.ts'
import { createDataTables } from './data-table.ts'
import { createDesk } from './desk.ts'
import { createDialogs } from './dialogs.ts'
import { createDrawer } from './drawer.ts'
import { createElements } from './elements.ts'
import { createForms } from './forms.ts'
import { type FrameProps, sideBar, topBar } from './frame.ts'
import { createHint } from './hint.ts'
import { icons } from './icons.ts'
import { createMenus } from './menus.ts'
import { createMessageTools } from './message-tools.ts'
import { createMessages, type MessageListProps } from './messages.ts'
import { createModal } from './modal.ts'
import { namesOf } from './names.ts'
import { createNavigation, isTab } from './navigation.ts'
import { nextStep } from './next-step.ts'
import { createNotices } from './notices.ts'
import { placeOf, pointAt } from './permalinks.ts'
import { createPickers } from './pickers.ts'
import { createPlaces } from './places.ts'
import { placePopups } from './popup.ts'
import { createPresses } from './presses.ts'
import { requestsIn, waitingFor, waitingWords } from './requests.ts'
import { createScrolling } from './scrolling.ts'
import { isBeside, openSideBySide } from './side-by-side.ts'
import { threadPanel } from './thread-panel.ts'
import { createToasts } from './toasts.ts'

/** Creates every part of the page, and renders it for one person at a time. */
export function openPage(api: Api, workspace: Workspace) {
  let painting = false
  let sideOpen = false

  const wanted = address.read()
  const person = workspace.people.find(({ id }) => id === wanted.as) ?? workspace.people[0]
  const channel = workspace.channels.find(({ id }) => id === wanted.channel) ?? workspace.channels[0]
  if (!person || !channel) throw new Error('A workspace needs a person and a channel.')

  const notices = createNotices({ update })
  const notify = notices.show
  const me = () => desk.me().id
  const toasts = createToasts({ workspace, me, onlyMe: isBeside, open: openAs, update })
  const tab = isTab(wanted.channel) ? wanted.channel : undefined
  const desk = createDesk({ api, workspace, person, channel, tab, notify, onNotification: toasts.show, update })
  const forms = createForms({ here: () => (desk.tab() ? undefined : desk.channel().id) })
  const confirm = createConfirm({ update })
  const pickers = createPickers({ update })
  const menus = createMenus({ update })
  const presses = createPresses({ api, forms, confirm, me, notify, update })
  const elements = createElements({ api, forms, pickers, presses, channels: workspace.channels, me })
  const blocks = createBlocks({ elements, tables: createDataTables({ update }) })
  const tools = createMessageTools({
    menus,
    shortcuts: workspace.shortcuts?.message ?? [],
    run: (shortcut, { channel, ts }) => void runShortcut(shortcut, { channel, ts }),
  })
  const messages = createMessages({ blocks, tools, person: (id) => workspace.people.find((one) => one.id === id) })
  const modal = createModal({ api, forms, blocks, pickers, me, refresh: desk.refresh, update })
  const history = createCommandHistory(sessionStorage)
  const composer = createComposer({ id: 'composer', commands: workspace.commands, history, send, update })
  const reply = createComposer({ id: 'reply', commands: [], send: (text) => send(text, navigation.thread()), update })
  const scrolls = [createScrolling({ selector: '.messages', update }), createScrolling({ selector: '.thread-list', update })] as const
  const navigation = createNavigation({ workspace, desk, moved, update })
  const { goTo, actAs, openThread, closeThread } = navigation
  const app = createAppView({ api, workspace, desk, blocks, goTo, notify, update })
  const drawer = createDrawer({ api, update })
  const hint = createHint({ fill: composer.fill, actAs, open: openRequest, show: showRequest, beside: isBeside, update })
  const places = createPlaces({ app, messages, scroll: scrolls[0], tries: workspace.commands.slice(0, 4), fill: composer.fill })
  const settleDialogs = createDialogs()

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
      navigation.settleForm(desk.views().length > 0 || confirm.isOpen())
      document.title = `${desk.tab() ? '' : '#'}${desk.channel().name} · ${workspace.team.name} · ${desk.me().name}`
    })
  }

  async function send(text: string, threadTs?: string): Promise<boolean> {
    scrolls[threadTs ? 1 : 0].toEnd()
    const answer = await api.say(me(), desk.channel().id, text, threadTs)
    if (!answer.ok) notify(answer.error)
    return answer.ok
  }

  async function runShortcut({ callbackId }: Shortcut, at: { channel?: string; ts?: string }) {
    const answer = await api.shortcut(me(), callbackId, at)
    if (!answer.ok) notify(answer.error)
  }

  function moved() {
    sideOpen = false
    scrolls[0].toEnd()
    const tab = desk.tab()
    if (tab) void app.open(tab)
    update()
  }

  function goToMessage({ channel, ts, threadTs }: { channel: string; ts: string; threadTs?: string | undefined }) {
    if (channel !== desk.channel().id || desk.tab()) goTo(workspace.channels.some(({ id }) => id === channel) ? channel : 'messages')
    if (threadTs) openThread(threadTs)
    setTimeout(() => pointAt(threadTs ?? ts), 100)
  }

  function openAs(as: string, shown: Notification) {
    if (as !== me()) actAs(as)
    goToMessage(shown)
  }

  function openRequest({ channel, ts }: { channel: string; ts: string }) {
    goToMessage({ channel, ts, threadTs: ts })
  }

  function showRequest({ channel, ts }: { channel: string; ts: string }) {
    goToMessage({ channel, ts })
  }

  function barTools(): TemplateResult {
    const two = () => openSideBySide(me(), workspace, desk.tab() ?? desk.channel().id)
    return html`${drawer.toggle()}
    ${
      isBeside
        ? nothing
        : html`<button type="button" class="bar-button only-wide" @click=${two}>
            ${icons.columns}<span class="bar-words">Two people</span>
          </button>`
    }`
  }

  function page(): TemplateResult {
    const requests = requestsIn(desk.inChannels())
    const frame: FrameProps = {
      workspace,
      desk,
      sideOpen,
      hintOpen: hint.isOpen(),
      waiting: (one) => ({ count: waitingFor(requests, one).length, words: waitingWords(requests, one) }),
      tools: barTools(),
      toggleSide(open) {
        sideOpen = open
        update()
      },
      toggleHint: hint.toggle,
      actAs,
      goTo,
      goToApp: () => goTo(workspace.bot.homeTab ? 'home' : 'messages'),
    }
    const here = desk.channel()
    const list: MessageListProps = {
      channel: here,
      messages: desk.messages() ?? [],
      names: namesOf(workspace, me()),
      unseen: desk.unseen(),
      hasUnreadReplies: desk.hasUnreadReplies,
      canReply: desk.tab() === undefined,
      openThread,
    }
    const thread = threadOf(list)
    return html`<div class="desk ${thread ? 'has-thread' : ''}">
        ${topBar(frame)} ${sideBar(frame)}
        ${places.render({ frame, list, hint: hint.render(desk.me(), nextStep(desk.me(), workspace.people, requests)), composer: channelComposer() })}
        ${thread ?? nothing}
      </div>
      ${drawer.render()} ${modal.render(desk.views(), list.names)} ${confirm.render()} ${toasts.render()} ${notices.render()}`
  }

  function threadOf(list: MessageListProps): TemplateResult | undefined {
    const ts = navigation.thread()
    if (ts === undefined) return undefined
    desk.readThread(ts)
    const content = messages.thread(ts, list)
    return (
      content &&
      threadPanel({
        where: `${desk.tab() ? '' : '#'}${list.channel.name}`,
        messages: content,
        reply: list.canReply ? reply.render({ label: 'Reply', placeholder: 'Reply…' }) : undefined,
        close: closeThread,
      })
    )
  }

  function channelComposer(): TemplateResult {
    const items = (workspace.shortcuts?.global ?? []).map((shortcut) => ({
      name: shortcut.name,
      description: workspace.bot.name,
      pick: () => void runShortcut(shortcut, { channel: desk.channel().id }),
    }))
    const tools = items.length > 0 ? menus.render({ id: 'shortcuts', label: 'Shortcuts', icon: icons.bolt, items }) : nothing
    return composer.render({ label: 'Message', placeholder: `Message #${desk.channel().name}, or type / for a command`, tools })
  }

  // Links to messages of this workspace have no Slack behind them, so the page opens them itself.
  document.addEventListener('click', (event) => {
    const place = event.target instanceof Element ? placeOf(event.target.closest('a')?.href ?? '') : undefined
    if (!place) return
    event.preventDefault()
    goToMessage(place)
  })
  document.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || event.defaultPrevented || document.querySelector('dialog[open]')) return
    if (drawer.isOpen()) drawer.close()
    else if (sideOpen) sideOpen = false
    else if (navigation.thread() !== undefined) closeThread()
    update()
  })
  navigation.follow(() => confirm.cancel() || modal.closeTop(desk.views()))
  addEventListener('resize', placePopups)
  addEventListener('scroll', placePopups, { capture: true, passive: true })
  // Names of days and "5 minutes ago" become outdated.
  setInterval(update, 60_000)
  navigation.restore(wanted.thread)
  void drawer.read()
  if (tab) void app.open(tab)
  update()
  composer.focus()
}
