import type { Block, ElementState, FormValues, ModalView, Option } from './block-shapes.ts'

export interface Person {
  id: string
  name: string
  title: string
  role: 'requester' | 'approver' | 'outsider'
  color: string
}

export interface Channel {
  id: string
  name: string
  topic: string
}

export interface Command {
  command: string
  usage: string
  description: string
}

export interface Workspace {
  team: { id: string; name: string }
  people: Person[]
  /** People of other organisations, of whom only the names are needed. */
  strangers: { id: string; name: string }[]
  channels: Channel[]
  bot: { id: string; name: string; homeTab: boolean }
  commands: Command[]
  userGroups?: { id: string; handle: string }[]
}

export interface Message {
  ts: string
  threadTs?: string
  /** A reply that stands in the channel as well. */
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
}

export interface OpenView {
  id: string
  hash: string
  view: ModalView
}

/** The app as one person sees it: its Home tab and the direct messages from it. */
export interface AppState {
  /** Of the direct messages. */
  channel: string
  home: OpenView | null
  messages: Message[]
  views: OpenView[]
}

/** Where an element stands: on a message of a channel, or in a view. */
export type Place = { channel: string; ts: string } | { viewId: string }

export interface Press {
  blockId: string
  actionId: string
  value?: string
  /** Slack's own shape, for everything but buttons. */
  action?: ElementState & { action_id: string; block_id: string }
  /** Of an element in a view: what its form holds at the moment. */
  values?: FormValues
}

export interface FoundOptions {
  options?: Option[]
  /** What Slack shows when the bot gave no options. */
  notice?: string
}

export type Answer<Content = object> = ({ ok: true } & Content) | { ok: false; error: string }

const noAnswer = 'The sandbox does not answer. Is it still running?'
const patienceMs = 15_000

/** The desk's routes, as `test/sandbox/slack` serves them. Nothing here throws: what goes wrong is an answer with a sentence. */
export function createApi() {
  async function ask<Content>(path: string, init: RequestInit = {}): Promise<Answer<Content>> {
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
    return ask<Content>(`${path}?${new URLSearchParams(query)}`)
  }

  function post<Content>(path: string, body: object) {
    return ask<Content>(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
  }

  return {
    workspace: () => get<Workspace>('/desk/workspace'),
    state: (as: string, channel: string) => get<{ rev: number; messages: Message[]; views: OpenView[] }>('/desk/state', { as, channel }),
    app: (as: string) => get<AppState>('/desk/app', { as }),
    /** Tells the bot that this person looks at it. */
    open: (as: string, tab: string) => post('/desk/open', { as, tab }),
    say: (as: string, channel: string, text: string) => post('/desk/say', { as, channel, text }),
    click: (as: string, place: Place, press: Press) => post('/desk/click', { as, ...place, ...press }),
    submit: (as: string, viewId: string, values: FormValues) =>
      post<{ errors?: Record<string, string>; notice?: string }>('/desk/submit', { as, viewId, values }),
    /** `clear` closes the whole stack. */
    close: (as: string, viewId: string, clear: boolean) => post('/desk/close', { as, viewId, clear }),
    options: (as: string, place: Place, element: { blockId: string; actionId: string }, value: string) =>
      get<FoundOptions>('/desk/options', { as, ...place, ...element, value }),

    /** Calls back on every change; the browser connects again by itself. Returns how to stop. */
    follow(as: string, on: { change(): void; notice(text: string): void; connected(live: boolean): void }) {
      const events = new EventSource(`/desk/events?${new URLSearchParams({ as })}`)
      events.onopen = () => on.connected(true)
      events.onerror = () => on.connected(false)
      events.onmessage = ({ data }) => {
        const event: { rev?: number; notice?: string } = JSON.parse(data)
        if (event.notice) on.notice(event.notice)
        else on.change()
      }
      return () => events.close()
    },
  }
}

export type Api = ReturnType<typeof createApi>
