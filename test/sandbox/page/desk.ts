import type { Api, AppState, Channel, Follower, Message, OpenView, Person, Workspace } from './api.ts'

/** The two tabs of the app's own place. */
export type AppTab = 'home' | 'messages'

export interface DeskOptions {
  api: Api
  workspace: Workspace
  person: Person
  channel: Channel
  /** Set in the app's own place. Undefined in a channel. */
  tab: AppTab | undefined
  notify(sentence: string): void
  onNotification: Follower['notification']
  update(): void
}

/** What the current person can see. Every event causes a new read of all channels. */
export function createDesk({ api, workspace, person, channel, tab: firstTab, notify, onNotification, update }: DeskOptions) {
  const messages = new Map<string, Message[]>()
  /** The latest message that a person has seen, by person and channel or thread. */
  const readUpTo = new Map<string, string>()
  const opened = String(Date.now() / 1000)
  let me = person
  let channelHere = channel
  let tab = firstTab
  let app: AppState | undefined
  let views: OpenView[] = []
  let connected = true
  /** The messages between these stamps were unseen when the channel was opened. The line "New" is above them. */
  let unseen = { after: opened, until: opened }
  let reading: Promise<void> | undefined
  let readAgain = false
  let stop = () => {}

  /** Returns the channel, or the direct messages from the app. */
  function here(): Channel {
    return tab ? { id: appChannel(), name: workspace.bot.name, topic: '' } : channelHere
  }

  const appChannel = () => app?.channel ?? ''

  async function read() {
    const as = me.id
    const [appAnswer, ...answers] = await Promise.all([api.app(as), ...workspace.channels.map(({ id }) => api.state(as, id))])
    // Another person has been chosen meanwhile.
    if (as !== me.id) return
    answers.forEach((answer, index) => {
      const id = workspace.channels[index]?.id ?? ''
      if (answer.ok) messages.set(id, answer.messages)
    })
    if (appAnswer.ok) {
      app = appAnswer
      views = appAnswer.views
      messages.set(appAnswer.channel, appAnswer.messages)
    }
    markRead()
    update()
  }

  /** Reads once at a time. A change meanwhile causes one more read. */
  function refresh(): Promise<void> {
    if (reading) {
      readAgain = true
      return reading
    }
    reading = read().finally(() => {
      reading = undefined
      const again = readAgain
      readAgain = false
      if (again) return refresh()
    })
    return reading
  }

  function follow() {
    stop()
    stop = api.follow(me.id, {
      change: () => void refresh(),
      notice: notify,
      notification: onNotification,
      connected(live) {
        connected = live
        update()
      },
    })
  }

  const readKey = (channelOrThread: string) => `${me.id}/${channelOrThread}`

  function markRead() {
    const { id } = here()
    const last = messages.get(id)?.at(-1)
    if (last && tab !== 'home' && !document.hidden) readUpTo.set(readKey(id), last.ts)
  }

  function enter() {
    unseen = { after: readUpTo.get(readKey(here().id)) ?? opened, until: String(Date.now() / 1000) }
    markRead()
    update()
  }

  /** Whether there are unseen messages of others, and how many of them mention this person. */
  function unread(channelId: string): { any: boolean; mentions: number } {
    const since = Number(readUpTo.get(readKey(channelId)) ?? opened)
    const fresh = (messages.get(channelId) ?? []).filter(({ ts, user }) => Number(ts) > since && user !== me.id)
    return { any: fresh.length > 0, mentions: fresh.filter(({ text }) => text.includes(`<@${me.id}>`)).length }
  }

  document.addEventListener('visibilitychange', markRead)
  follow()

  return {
    me: () => me,
    channel: here,
    tab: () => tab,
    home: () => app?.home,
    messages: () => messages.get(here().id),
    /** All messages of all channels, each channel oldest first. */
    inChannels: () => workspace.channels.flatMap(({ id }) => messages.get(id) ?? []).sort((a, b) => Number(a.ts) - Number(b.ts)),
    views: () => views,
    connected: () => connected,
    unseen: () => unseen,
    refresh,

    unread,
    unreadInApp: () => unread(appChannel()),

    hasUnreadReplies: (parentTs: string, lastTs: string) => Number(lastTs) > Number(readUpTo.get(readKey(parentTs)) ?? opened),

    readThread(parentTs: string) {
      const last = messages.get(here().id)?.findLast(({ threadTs }) => threadTs === parentTs)
      if (last) readUpTo.set(readKey(parentTs), last.ts)
    },

    async actAs(id: string) {
      me = workspace.people.find((person) => person.id === id) ?? me
      views = []
      app = undefined
      messages.clear()
      enter()
      follow()
      await refresh()
    },

    goTo(id: string) {
      tab = undefined
      channelHere = workspace.channels.find((channel) => channel.id === id) ?? channelHere
      enter()
    },

    goToApp(to: AppTab) {
      tab = to
      enter()
    },
  }
}

export type Desk = ReturnType<typeof createDesk>
