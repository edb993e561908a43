import type { Notification } from '../slack/message-store.ts'
import type { Breakage, ElementState, FormValues, Option, PageState, Surface, Workspace } from './shapes.ts'

export type Answer<Content = object> = ({ ok: true } & Content) | { ok: false; error: string }

export interface FoundOptions {
  options?: Option[]
  label?: string
  notice?: string
}

export interface Press {
  blockId: string
  actionId: string
  value?: string | undefined
  /** The choice in Slack's shape, except for buttons. */
  action?: ElementState | undefined
  /** The current values of the form, for an element in a view. */
  values?: FormValues | undefined
}

export interface Follower {
  change(): void
  notice(text: string): void
  notification(shown: Notification): void
  connected(live: boolean): void
}

const patienceMs = 15_000

/** Nothing here throws: errors are answers with a sentence. */
async function call<Content>(path: string, init: RequestInit = {}): Promise<Answer<Content>> {
  try {
    const response = await fetch(path, { ...init, signal: AbortSignal.timeout(patienceMs) })
    const body = await response.json()
    return body.ok ? body : { ok: false, error: body.error ?? `The sandbox answered with ${response.status}.` }
  } catch {
    return { ok: false, error: 'The sandbox does not answer. Is it still running?' }
  }
}

const get = <Content>(path: string, query: Record<string, string> = {}) => call<Content>(`${path}?${new URLSearchParams(query)}`)

const post = <Content>(path: string, body: object) =>
  call<Content>(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })

/** The desk's routes in `test/sandbox/slack/desk.ts`. `as` is the person who acts. */
export const api = {
  workspace: () => get<Workspace>('/desk/workspace'),
  state: (as: string) => get<PageState>('/desk/state', { as }),
  openApp: (as: string, tab: string) => post('/desk/open', { as, tab }),
  say: (as: string, channel: string, text: string, threadTs?: string) => post('/desk/say', { as, channel, text, threadTs }),
  /** `at`: the message whose menu was opened, or for a global shortcut the channel on the screen. */
  shortcut: (as: string, callbackId: string, at: { channel: string; ts?: string }) => post('/desk/shortcut', { as, callbackId, ...at }),
  click: (as: string, { place, seen }: Surface, press: Press) => post('/desk/click', { as, ...place, seen, ...press }),
  submit: (as: string, viewId: string, values: FormValues) =>
    post<{ errors?: Record<string, string>; notice?: string }>('/desk/submit', { as, viewId, values }),
  /** `clear` closes the whole stack. */
  close: (as: string, viewId: string, clear: boolean) => post('/desk/close', { as, viewId, clear }),
  options: (as: string, { place }: Surface, element: { blockId: string; actionId: string }, value: string) =>
    get<FoundOptions>('/desk/options', { as, ...place, ...element, value }),
  breakages: () => get<{ breakages: Breakage[] }>('/sandbox/breakages'),
  /** `on`: for a switch. `said`: what has happened. */
  break: (id: string, on?: boolean) => post<{ breakages: Breakage[]; said?: string }>('/sandbox/breakages', { id, on }),
}

/** Calls back after every change. The browser reconnects by itself. Returns a function that stops it. */
export function followEvents(as: string, on: Follower): () => void {
  const events = new EventSource(`/desk/events?${new URLSearchParams({ as })}`)
  events.onopen = () => on.connected(true)
  events.onerror = () => on.connected(false)
  events.onmessage = ({ data }) => {
    const event: { notice?: string; notification?: Notification } = JSON.parse(data)
    if (event.notification) on.notification(event.notification)
    else if (event.notice) on.notice(event.notice)
    else on.change()
  }
  return () => events.close()
}
