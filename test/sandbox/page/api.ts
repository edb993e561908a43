import type { Notification } from '../slack/notifications.ts'
import type { Block, ElementState, FormValues, ModalView, Option } from './block-shapes.ts'

export interface Person {
  id: string
  name: string
  /** What Slack shows for a mention. */
  handle: string
  title: string
  role: 'requester' | 'approver' | 'outsider'
  color: string
}

export interface Channel {
  id: string
  name: string
  topic: string
  isPrivate?: boolean
  /** Shared with another organization. */
  isShared?: boolean
}

export interface Command {
  command: string
  usage: string
  description: string
}

/** A shortcut of the app: in the menu of a message, or in the menu of the composer. */
export interface Shortcut {
  callbackId: string
  name: string
  description?: string
}

/** Something that the drawer can break: a switch, or an act with the verb of its button. */
export type Breakage = { id: string; name: string; effect: string } & ({ kind: 'switch'; isOn: boolean } | { kind: 'act'; verb: string })

export interface Workspace {
  team: { id: string; name: string }
  people: Person[]
  /** People of other organisations. */
  strangers: { id: string; handle: string }[]
  channels: Channel[]
  bot: { id: string; name: string; homeTab: boolean }
  commands: Command[]
  shortcuts?: { message: Shortcut[]; global: Shortcut[] }
  userGroups?: { id: string; handle: string }[]
}

export interface Message {
  channel: string
  ts: string
  threadTs?: string
  /** A reply that is also shown in the channel. */
  broadcast?: boolean
  user: string
  userName: string
  isBot: boolean
  text: string
  blocks?: Block[]
  ephemeral: boolean
  edited?: boolean
  deleted?: boolean
  replyCount?: number
  metadata?: { event_payload?: { key?: string } }
}

export interface OpenView {
  id: string
  hash: string
  view: ModalView
}

/** The app as one person sees it: its Home tab, and the direct messages from it. */
export interface AppState {
  /** The channel of the direct messages. */
  channel: string
  home: OpenView | null
  messages: Message[]
  views: OpenView[]
}

/** The place of an element: a message of a channel, or a view. */
export type Place = { channel: string; ts: string } | { viewId: string }

/** What the person had on the screen when they pressed. Slack delivers the press even if it has changed since. */
export type Seen = { message: Message } | { view: ModalView }

export interface Press {
  blockId: string
  actionId: string
  value?: string
  /** The state in Slack's shape, except for buttons. */
  action?: ElementState & { action_id: string; block_id: string }
  /** The current values of the form, for an element in a view. */
  values?: FormValues
}

export interface FoundOptions {
  options?: Option[]
  /** The label above the options, which nobody can choose. */
  label?: string
  /** What Slack shows if the bot returned no options. */
  notice?: string
}

export type Answer<Content = object> = ({ ok: true } & Content) | { ok: false; error: string }

export interface Follower {
  change(): void
  notice(text: string): void
  notification(shown: Notification): void
  connected(live: boolean): void
}

const noAnswer = 'The sandbox does not answer. Is it still running?'
const patienceMs = 15_000

/** Calls the desk's routes in `test/sandbox/slack`. Nothing here throws: errors are answers with a sentence. */
export function createApi() {
  async function call<Content>(path: string, init: RequestInit = {}): Promise<Answer<Content>> {
    try {
      const response = await fetch(path, { ...init, signal: AbortSignal.timeout(patienceMs) })
      const body = await response.json()
      if (!response.ok || body.ok === false) return { ok: false, error: body.error ?? `The sandbox answered with ${response.status}.` }
      return { ...body, ok: true }
    } catch {
      return { ok: false, error: noAnswer }
    }
  }

  function get<Content>(path: string, query: Record<string, string> = {}) {
    return call<Content>(`${path}?${new URLSearchParams(query)}`)
  }

  function post<Content>(path: string, body: object) {
    return call<Content>(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
  }

  return {
    workspace: () => get<Workspace>('/desk/workspace'),
    state: (as: string, channel: string) => get<{ rev: number; messages: Message[]; views: OpenView[] }>('/desk/state', { as, channel }),
    app: (as: string) => get<AppState>('/desk/app', { as }),
    /** Reports to the bot that this person opens it. */
    open: (as: string, tab: string) => post('/desk/open', { as, tab }),
    say: (as: string, channel: string, text: string, threadTs?: string) => post('/desk/say', { as, channel, text, threadTs }),
    /** `at`: the message whose menu was opened, or for a global shortcut the channel on the screen. */
    shortcut: (as: string, callbackId: string, at: { channel?: string; ts?: string }) => post('/desk/shortcut', { as, callbackId, ...at }),
    breakages: () => get<{ breakages: Breakage[] }>('/sandbox/breakages'),
    /** `on`: for a switch. `said`: what an act has done. */
    break: (id: string, on?: boolean) => post<{ breakages: Breakage[]; said?: string }>('/sandbox/breakages', { id, on }),
    click: (as: string, place: Place, seen: Seen, press: Press) => post('/desk/click', { as, ...place, seen, ...press }),
    submit: (as: string, viewId: string, values: FormValues) =>
      post<{ errors?: Record<string, string>; notice?: string }>('/desk/submit', { as, viewId, values }),
    /** `clear` closes the whole stack. */
    close: (as: string, viewId: string, clear: boolean) => post('/desk/close', { as, viewId, clear }),
    options: (as: string, place: Place, element: { blockId: string; actionId: string }, value: string) =>
      get<FoundOptions>('/desk/options', { as, ...place, ...element, value }),

    /** Calls back after every change. The browser reconnects by itself. Returns a function that stops it. */
    follow(as: string, on: Follower) {
      const events = new EventSource(`/desk/events?${new URLSearchParams({ as })}`)
      events.onopen = () => on.connected(true)
      events.onerror = () => on.connected(false)
      events.onmessage = ({ data }) => {
        const event: { rev?: number; notice?: string; notification?: Notification } = JSON.parse(data)
        if (event.notification) on.notification(event.notification)
        else if (event.notice) on.notice(event.notice)
        else on.change()
      }
      return () => events.close()
    },
  }
}

export type Api = ReturnType<typeof createApi>
