import type { Notification } from '../slack/message-store.ts'
import { api, followEvents } from './api.ts'
import type { Channel, Message, OpenView, PageState, Person, Workspace } from './shapes.ts'

/**
 * Everything that the page shows. There is one page, so every part of it reads this object, and calls `update` after a change. `startPage`
 * sets the workspace and the person before anything is rendered.
 */
export const page = {
  workspace: undefined as unknown as Workspace,
  me: undefined as unknown as Person,
  /** The id of a channel, or a tab of the app. */
  place: '',
  /** The stamp of the message whose thread is open. */
  thread: undefined as string | undefined,
  state: undefined as PageState | undefined,
  isConnected: true,
  /** Whether the next connection is to a sandbox that has started over. */
  startsOver: false,
  isSideOpen: false,
  /** What the phones of people show. */
  toasts: [] as Notification[],
  /** What Slack itself or the page reports. */
  notices: [] as { sentence: string; about: string }[],
}

let paint = () => {}
let isDue = false

export function update() {
  if (isDue) return
  isDue = true
  queueMicrotask(() => {
    isDue = false
    paint()
  })
}

const shownMs = 9_000

export function notify(sentence: string, about = sentence) {
  const notice = { sentence, about }
  page.notices = [...page.notices.filter((one) => one.about !== about), notice]
  setTimeout(() => removeNotice(notice), shownMs)
  update()
}

export function removeNotice(notice: object) {
  page.notices = page.notices.filter((one) => one !== notice)
  update()
}

/** Shows a new message on the phones of these people. Beside another person it is only one's own. */
function showToast(shown: Notification) {
  const people = shown.people.filter((id) => (isBeside ? id === page.me.id : page.workspace.people.some((person) => person.id === id)))
  if (people.length === 0) return
  const toast = { ...shown, people }
  // On a narrow page toasts take room from the messages.
  const most = matchMedia('(max-width: 760px)').matches ? 1 : 2
  page.toasts = [...page.toasts, toast].slice(-most)
  setTimeout(() => removeToast(toast), shownMs)
  update()
}

export function removeToast(toast: Notification) {
  page.toasts = page.toasts.filter((one) => one !== toast)
  update()
}

/** Whether this page is one of two side by side. */
export const isBeside = window.parent !== window

const opened = Date.now() / 1000
/** The latest message that a person has seen, by person and channel. */
const readUpTo = new Map<string, number>()
let stopFollowing = () => {}

/** Returns the tab of the app's own place, if that is shown. */
export function tabHere(): 'home' | 'messages' | undefined {
  return page.place === 'home' || page.place === 'messages' ? page.place : undefined
}

/** Returns the channel, or the direct messages from the app. */
export function channelHere(): Channel {
  const { channels, bot } = page.workspace
  return channels.find(({ id }) => id === page.place) ?? { id: page.state?.channel ?? '', name: bot.name, topic: '' }
}

/** Returns the channel in which Lockkeeper takes commands from the beginning. */
export function mainChannel(): Channel | undefined {
  return page.workspace.channels[0]
}

export const messagesIn = (channel: string): Message[] => page.state?.messages[channel] ?? []

/** The stack of open modals. */
export const openViews = (): OpenView[] => page.state?.views ?? []

export function messagesInChannels(): Message[] {
  return page.workspace.channels.flatMap(({ id }) => messagesIn(id)).sort((a, b) => Number(a.ts) - Number(b.ts))
}

export function isUnread(channel: string): boolean {
  const since = readUpTo.get(`${page.me.id}/${channel}`) ?? opened
  return messagesIn(channel).some(({ ts, user }) => Number(ts) > since && user !== page.me.id)
}

function markRead() {
  const { id } = channelHere()
  const last = messagesIn(id).at(-1)
  if (last && page.place !== 'home') readUpTo.set(`${page.me.id}/${id}`, Number(last.ts))
}

async function read(): Promise<void> {
  const as = page.me.id
  const state = await api.state(as)
  // Another person has been chosen meanwhile.
  if (as !== page.me.id) return
  if (state.ok) page.state = state
  markRead()
  update()
}

let reading = Promise.resolve()
let isWaiting = false

/** Reads everything, once at a time. Changes meanwhile cause one more read. */
export function refresh(): Promise<void> {
  if (!isWaiting) {
    isWaiting = true
    reading = reading.then(() => {
      isWaiting = false
      return read()
    })
  }
  return reading
}

function follow() {
  stopFollowing()
  stopFollowing = followEvents(page.me.id, {
    change: () => void refresh(),
    notice: notify,
    notification: showToast,
    connected(live) {
      if (live && page.startsOver) return location.assign(location.pathname)
      page.isConnected = live
      update()
    },
  })
}

type Move = { as?: string; place?: string; thread?: string | undefined }

function addressHere(): string {
  const { me, place, thread } = page
  return `?${new URLSearchParams({ as: me.id, channel: place, ...(thread && { thread }) })}`
}

/** What is not named or not known stays, or is the first one. */
function show({ as, place = '', thread }: Move) {
  const { people, channels } = page.workspace
  const person = people.find(({ id }) => id === as) ?? page.me ?? people[0]
  const isKnown = place === 'home' || place === 'messages' || channels.some(({ id }) => id === place)
  const next = isKnown ? place : page.place || (channels[0]?.id ?? '')
  const isMove = person !== page.me || next !== page.place
  if (person !== page.me) {
    Object.assign(page, { me: person, state: undefined })
    follow()
  }
  page.place = next
  page.thread = thread
  page.isSideOpen = false
  if (isMove) void openApp()
  markRead()
  update()
}

/** Goes to a person, a channel, a tab of the app or a thread. The browser's Back returns. */
export function goTo(move: Move) {
  show({ thread: page.thread, ...move })
  if (addressHere() !== location.search) history.pushState({}, '', addressHere())
}

export const actAs = (as: string) => goTo({ as })
export const goToChannel = (place: string) => goTo({ place, thread: undefined })

/** Reports to the bot that this person opens the app's tab, so that the bot updates it. */
async function openApp(): Promise<void> {
  const tab = tabHere()
  const answer = tab && (await api.openApp(page.me.id, tab))
  if (answer && !answer.ok) notify(answer.error)
}

function showAddress() {
  const query = new URLSearchParams(location.search)
  show({ as: query.get('as') ?? '', place: query.get('channel') ?? '', thread: query.get('thread') ?? undefined })
}

/** Starts at the person and the place that the address names. */
export function startPage(workspace: Workspace, render: () => void) {
  paint = render
  page.workspace = workspace
  showAddress()
  history.replaceState({}, '', addressHere())
  addEventListener('popstate', showAddress)
}
