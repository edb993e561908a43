import type { Api, AppState, Channel, Message, OpenView, Person, Workspace } from './api.ts'

/** The two sides of the app's own place. */
export type AppTab = 'home' | 'messages'

export interface DeskOptions {
  api: Api
  workspace: Workspace
  person: Person
  channel: Channel
  /** The app's own place rather than the channel. */
  tab: AppTab | undefined
  tell(sentence: string): void
  update(): void
}

/** What the person whom we act as can see, kept current: every event leads to a fresh look at all channels. */
export function createDesk({ api, workspace, person, channel, tab: firstTab, tell, update }: DeskOptions) {
  const messages = new Map<string, Message[]>()
  /** The latest that a person has had before their eyes, by person and channel or thread. */
  const readUpTo = new Map<string, string>()
  const opened = String(Date.now() / 1000)
  let me = person
  let channelHere = channel
  let tab = firstTab
  let app: AppState | undefined
  let views: OpenView[] = []
  let connected = true
  /** What came in between, in Slack's stamps, had not been seen when this channel was entered: the line "New" is drawn above it. */
  let unseen = { after: opened, until: opened }
  let looking: Promise<void> | undefined
  let lookAgain = false
  let stop = () => {}

  /** The channel, or the direct messages from the app. */
  function here(): Channel {
    return tab ? { id: appChannel(), name: workspace.bot.name, topic: '' } : channelHere
  }

  const appChannel = () => app?.channel ?? ''

  async function look() {
    const as = me.id
    const [appAnswer, ...answers] = await Promise.all([api.app(as), ...workspace.channels.map(({ id }) => api.state(as, id))])
    // Somebody else is at the desk by now.
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

  /** One look at a time; what changes meanwhile is seen by one more. */
  function refresh(): Promise<void> {
    if (looking) {
      lookAgain = true
      return looking
    }
    looking = look().finally(() => {
      looking = undefined
      const again = lookAgain
      lookAgain = false
      if (again) return refresh()
    })
    return looking
  }

  function follow() {
    stop()
    stop = api.follow(me.id, {
      change: () => void refresh(),
      notice: tell,
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

  /** Messages of others that have not been looked at, and how many of them mention this person. */
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
