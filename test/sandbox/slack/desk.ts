import type { IncomingMessage, ServerResponse } from 'node:http'
import { createHands, type Hands, type Target } from './hands.ts'
import { addressOf, readBody, sendJson } from './http.ts'
import { type Json, objectOf, parseJson, stringOf } from './json.ts'
import type { Message, OpenView, ShortcutSuggestion } from './slack.ts'
import type { Parts } from './start-slack.ts'
import type { StoredView } from './view-store.ts'
import type { Channel } from './workspace.ts'

/** The routes of the web page. Each one acts as the person `as`, with the same hands as tests. */
export function createDesk(parts: Parts) {
  const { state, directory, messages, views, app } = parts
  const streams = new Set<ServerResponse>()
  const channels = () => directory.workspace.channels.filter(({ isGroupDirect }) => !isGroupDirect)

  function workspace(): Json {
    const { team, bot, workspace } = directory
    return {
      team: { id: team.id, name: team.name },
      people: workspace.people
        .filter(({ isStranger, deleted }) => !isStranger && !deleted)
        .map(({ id, name, handle, title, role, color }) => ({ id, name, handle, title, role, color })),
      // Messages name people as whom nobody acts on the page, too.
      handles: [...workspace.people, ...workspace.userGroups].map(({ id, handle }) => ({ id, handle })),
      channels: channels().map(({ id, name, topic, isShared = false }) => ({ id, name, topic, isShared })),
      bot: { id: bot.userId, name: bot.name },
      shortcuts: { message: shortcutsOf('message'), global: shortcutsOf('global') },
    }
  }

  const shortcutsOf = (type: ShortcutSuggestion['type']) => app.shortcuts.filter((each) => each.type === type)

  /** Returns what this person sees: the messages of each channel and those from the app, the app's Home tab, the open modals, and the bot's commands. */
  function stateOf(userId: string): Json {
    const shown = (view: StoredView) => ({ id: view.id, view: views.toSlack(view) })
    const home = views.homeOf(userId)
    const direct = directory.directChannel(userId)
    const seen = ({ id }: Channel) => messages.seen(id, userId).map((message) => messages.toMessage(message))
    return {
      channel: direct.id,
      home: home ? shown(home) : null,
      messages: Object.fromEntries([...channels(), direct].map((channel) => [channel.id, seen(channel)])),
      views: views.stackOf(userId).map(shown),
      // A switch of the sandbox can bring more.
      commands: app.commands,
    }
  }

  /** Returns the place of an element: as it was on the screen, if the page says that. */
  function targetOf({ viewId, channel, ts, seen }: Json): Target {
    const { message, view } = objectOf(seen)
    if (message) return message as Message
    if (!viewId) return { channel: stringOf(channel), ts: stringOf(ts) }
    return { id: stringOf(viewId), ...(view ? { view, hash: objectOf(view).hash } : {}) } as OpenView
  }

  /** Keeps the values of the page's form. Fields that the view no longer has are ignored. */
  function keepValues({ viewId, values }: Json): void {
    const view = views.find(stringOf(viewId))
    for (const [blockId, elements] of Object.entries(objectOf(values))) {
      for (const [actionId, value] of Object.entries(objectOf(elements))) {
        if (view?.values[blockId]?.[actionId]) views.setValue(view, blockId, actionId, objectOf(value))
      }
    }
  }

  /**
   * Sends server-sent events: `{ rev }` after every visible change, `{ notice }` for what Slack itself shows this person, and
   * `{ notification }` for what the phones of all people show.
   */
  function events(userId: string, response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store', connection: 'keep-alive' })
    const send = (data: Json) => response.write(`data: ${JSON.stringify(data)}\n\n`)
    send({ rev: state.rev() })
    streams.add(response)
    const stop = state.subscribe((change) => {
      if (change.visible) send({ rev: change.rev })
      if (change.notice?.userId === userId) send({ notice: change.notice.text })
      if (change.notification) send({ notification: change.notification })
    })
    response.on('close', () => {
      stop()
      streams.delete(response)
    })
  }

  const routes: Record<string, (given: Json, hands: Hands) => Promise<unknown>> = {
    'GET state': async (_, { person }) => stateOf(person.id),
    'GET options': (given, hands) =>
      hands.search(targetOf(given), stringOf(given.actionId), stringOf(given.value), { blockId: stringOf(given.blockId) }),
    'POST say': ({ channel, text, threadTs }, hands) => hands.send(stringOf(channel), stringOf(text), stringOf(threadTs) || undefined),
    'POST open': ({ tab }, hands) => hands.openHome({ tab: tab === 'messages' ? 'messages' : 'home' }),
    'POST click': (given, hands) => {
      // A click carries the current values of its modal, as in Slack.
      keepValues(given)
      const { type: _, ...action } = objectOf(given.action)
      return hands.click(targetOf(given), stringOf(given.actionId), { blockId: stringOf(given.blockId), action })
    },
    'POST shortcut': ({ callbackId, channel, ts }, hands) =>
      ts
        ? hands.messageShortcut({ channel: stringOf(channel), ts: stringOf(ts) }, stringOf(callbackId))
        : hands.globalShortcut(stringOf(callbackId), { channel: stringOf(channel) }),
    'POST submit': (given, hands) => {
      keepValues(given)
      return hands.submit({ id: stringOf(given.viewId) })
    },
    'POST close': ({ viewId, clear }, hands) => hands.close(clear ? hands.openViews()[0] : { id: stringOf(viewId) }),
  }

  return {
    async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
      const url = addressOf(request)
      const route = `${request.method} ${url.pathname.replace(/^\/desk\//, '')}`
      const given: Json = request.method === 'GET' ? Object.fromEntries(url.searchParams) : objectOf(parseJson(await readBody(request)))
      try {
        if (route === 'GET workspace') return sendJson(response, 200, { ok: true, ...workspace() })
        const hands = createHands(stringOf(given.as), parts)
        if (route === 'GET events') return events(hands.person.id, response)
        const answer = routes[route]?.(given, hands) ?? Promise.reject(new Error(`The desk has no ${route}.`))
        sendJson(response, 200, { ok: true, ...objectOf(await answer) })
      } catch (error) {
        sendJson(response, 200, { ok: false, error: error instanceof Error ? error.message : String(error) })
      }
    },

    close(): void {
      for (const stream of streams) stream.end()
    },
  }
}
