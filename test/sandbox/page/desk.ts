import type { Api, Channel, Message, OpenView, Person, Workspace } from './api.ts'

export interface DeskOptions {
  api: Api
  workspace: Workspace
  person: Person
  channel: Channel
  tell(sentence: string): void
  update(): void
}

/** What the person whom we act as can see, kept current: every event leads to a fresh look at all channels. */
export function createDesk({ api, workspace, person, channel, tell, update }: DeskOptions) {
  const messages = new Map<string, Message[]>()
  /** The latest that a person has had before their eyes, by person and channel or thread. */
  const readUpTo = new Map<string, string>()
  const opened = String(Date.now() / 1000)
  let me = person
  let here = channel
  let views: OpenView[] = []
  let connected = true
  /** What came in between, in Slack's stamps, had not been seen when this channel was entered: the line "New" is drawn above it. */
  let unseen = { after: opened, until: opened }
  let looking: Promise<void> | undefined
  let lookAgain = false
  let stop = () => {}

  async function look() {
    const as = me.id
    const answers = await Promise.all(workspace.channels.map(({ id }) => api.state(as, id)))
    // Somebody else is at the desk by now.
    if (as !== me.id) return
    answers.forEach((answer, index) => {
      const id = workspace.channels[index]?.id ?? ''
      if (answer.ok) messages.set(id, answer.messages)
      if (answer.ok && id === here.id) views = answer.views
    })
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
    const last = messages.get(here.id)?.at(-1)
    if (last && !document.hidden) readUpTo.set(readKey(here.id), last.ts)
  }

  function enter() {
    unseen = { after: readUpTo.get(readKey(here.id)) ?? opened, until: String(Date.now() / 1000) }
    markRead()
    update()
  }

  document.addEventListener('visibilitychange', markRead)
  follow()

  return {
    me: () => me,
    channel: () => here,
    messages: () => messages.get(here.id),
    views: () => views,
    connected: () => connected,
    unseen: () => unseen,
    refresh,

    /** Messages of others in a channel that have not been looked at, and how many of them mention this person. */
    unread(channelId: string): { any: boolean; mentions: number } {
      const since = Number(readUpTo.get(readKey(channelId)) ?? opened)
      const fresh = (messages.get(channelId) ?? []).filter(({ ts, user }) => Number(ts) > since && user !== me.id)
      return { any: fresh.length > 0, mentions: fresh.filter(({ text }) => text.includes(`<@${me.id}>`)).length }
    },

    hasUnreadReplies: (parentTs: string, lastTs: string) => Number(lastTs) > Number(readUpTo.get(readKey(parentTs)) ?? opened),

    readThread(parentTs: string) {
      const last = messages.get(here.id)?.findLast(({ threadTs }) => threadTs === parentTs)
      if (last) readUpTo.set(readKey(parentTs), last.ts)
    },

    async actAs(id: string) {
      me = workspace.people.find((person) => person.id === id) ?? me
      views = []
      messages.clear()
      enter()
      follow()
      await refresh()
    },

    goTo(id: string) {
      here = workspace.channels.find((channel) => channel.id === id) ?? here
      enter()
    },
  }
}

export type Desk = ReturnType<typeof createDesk>
