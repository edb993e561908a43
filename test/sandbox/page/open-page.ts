import { readAddress } from './address.ts'
import type { Api, Workspace } from './api.ts'
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
import { createHint } from './hint.ts'
import { createLayout } from './layout.ts'
import { createMenus } from './menus.ts'
import { createMessageLinks } from './message-links.ts'
import { createMessageTools } from './message-tools.ts'
import { createMessages } from './messages.ts'
import { createModal } from './modal.ts'
import { createNavigation, isTab } from './navigation.ts'
import { createNotices } from './notices.ts'
import { createPainter } from './painter.ts'
import { createPickers } from './pickers.ts'
import { createPlaces } from './places.ts'
import { placePopups } from './popup.ts'
import { createPresses } from './presses.ts'
import { createScrolling } from './scrolling.ts'
import { createSending } from './sending.ts'
import { isBeside } from './side-by-side.ts'
import { createToasts } from './toasts.ts'

/** Creates every part of the page, and renders it for one person at a time. */
export function openPage(api: Api, workspace: Workspace) {
  const { update, start } = createPainter()
  const wanted = readAddress()
  const person = workspace.people.find(({ id }) => id === wanted.as) ?? workspace.people[0]
  const channel = workspace.channels.find(({ id }) => id === wanted.channel) ?? workspace.channels[0]
  if (!person || !channel) throw new Error('A workspace needs a person and a channel.')

  const notices = createNotices({ update })
  const notify = notices.show
  const me = () => desk.me().id
  const toasts = createToasts({ workspace, me, onlyMe: isBeside, open: (as, shown) => links.openAs(as, shown), update })
  const tab = isTab(wanted.channel) ? wanted.channel : undefined
  const desk = createDesk({ api, workspace, person, channel, tab, notify, onNotification: toasts.show, update })

  const forms = createForms({ here: () => (desk.tab() ? undefined : desk.channel().id) })
  const confirm = createConfirm({ update })
  const pickers = createPickers({ update })
  const menus = createMenus({ update })
  const presses = createPresses({ api, forms, confirm, me, notify, update })
  const elements = createElements({ api, forms, pickers, presses, channels: workspace.channels, me })
  const blocks = createBlocks({ elements, tables: createDataTables({ update }) })
  const modal = createModal({ api, forms, blocks, pickers, me, refresh: desk.refresh, update })

  const scrolls = {
    channel: createScrolling({ selector: '.messages', update }),
    thread: createScrolling({ selector: '.thread-list', update }),
  }
  const sending = createSending({ api, desk, scrolls, notify })
  const closeForm = () => confirm.cancel() || modal.closeTop(navigation.formsOf(desk.views()))
  const navigation = createNavigation({ workspace, desk, closeForm, moved, update })
  const { goTo, actAs } = navigation
  const links = createMessageLinks({ workspace, desk, navigation, uncover })

  const history = createCommandHistory(sessionStorage)
  const composer = createComposer({ id: 'composer', commands: workspace.commands, history, send: sending.send, update })
  const reply = createComposer({ id: 'reply', commands: [], send: (text) => sending.send(text, navigation.thread()), update })
  const tools = createMessageTools({ menus, shortcuts: workspace.shortcuts?.message ?? [], run: sending.runMessageShortcut })
  const messages = createMessages({ blocks, tools, person: (id) => workspace.people.find((one) => one.id === id) })
  const app = createAppView({ api, workspace, desk, blocks, goTo, notify, update })
  const drawer = createDrawer({ api, notify, update })
  const hint = createHint({ fill: composer.fill, actAs, goTo, open: links.openThread, show: links.show, beside: isBeside, update })
  const places = createPlaces({ app, messages, scroll: scrolls.channel, workspace, fill: composer.fill })
  const settleDialogs = createDialogs()
  const page = createLayout({
    ...{ workspace, desk, navigation, sending, messages, places, hint, composer, reply },
    ...{ menus, drawer, modal, confirm, toasts, notices },
  })

  function moved() {
    scrolls.channel.toEnd()
    const tab = desk.tab()
    if (tab) void app.open(tab)
    update()
  }

  function uncover() {
    confirm.cancel()
    navigation.setAside(desk.views())
  }

  function settle() {
    scrolls.channel.settle()
    scrolls.thread.settle()
    settleDialogs()
    placePopups()
    navigation.settleForm(navigation.formsOf(desk.views()).length > 0 || confirm.isOpen())
    document.title = `${desk.tab() ? '' : '#'}${desk.channel().name} · ${workspace.team.name} · ${desk.me().name}`
  }

  links.follow()
  navigation.follow()
  document.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || event.defaultPrevented || document.querySelector('dialog[open]')) return
    if (drawer.isOpen()) drawer.close()
    else navigation.closeTop()
  })
  addEventListener('resize', placePopups)
  addEventListener('scroll', placePopups, { capture: true, passive: true })
  // Names of days and "5 minutes ago" become outdated.
  setInterval(update, 60_000)
  start(page, settle)
  navigation.restore(wanted.thread)
  void drawer.read()
  if (tab) void app.open(tab)
  update()
  composer.focus()
}
