import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Place } from './acts.ts'
import { addressOf, readBody, sendJson } from './http.ts'
import { isObject, type Json, objectOf, parseJson, stringOf } from './json.ts'
import type { Message, ShortcutSuggestion } from './slack.ts'
import type { Parts } from './start-slack.ts'
import type { StoredView } from './view-store.ts'
import type { Channel } from './workspace.ts'

/** The routes of the web page. Each one acts as the person `as`, with the same functions as the hands of tests. */
export function createDesk({ state, directory, messages, views, interactions, acts, app }: Parts) {
  const streams = new Set<ServerResponse>()

  function asOf(given: Json): string {
    return directory.person(stringOf(given.as)).id
  }

  function seenPlace(userId: string, given: Json): Place {
    const { message, view } = objectOf(given.seen)
    const place = placeOf(userId, given, isObject(message) ? (message as unknown as Message) : undefined)
    return 'view' in place && isObject(view) ? { view: { ...place.view, hash: stringOf(view.hash), given: view } } : place
  }

  function placeOf(userId: string, given: Json, copy?: Message): Place {
    if (given.viewId) return acts.viewFor(userId, stringOf(given.viewId))
    return acts.messageFor(userId, stringOf(given.channel), stringOf(given.ts), copy)
  }

  function workspace(): Json {
    const { team, bot, workspace } = directory
    return {
      team: { id: team.id, name: team.name },
      people: workspace.people
        .filter(({ isStranger, deleted }) => !isStranger && !deleted)
        .map(({ id, name, handle, title, role, color }) => ({ id, name, handle, title, role, color })),
      // Messages name people as whom nobody acts on the page, too.
      handles: [...workspace.people, ...workspace.userGroups].map(({ id, handle }) => ({ id, handle })),
      channels: channels().map(({ id, name, topic, isPrivate = false, isShared = false }) => ({ id, name, topic, isPrivate, isShared })),
      bot: { id: bot.userId, name: bot.name },
      commands: app.commands,
      shortcuts: { message: shortcutsOf('message'), global: shortcutsOf('global') },
    }
  }

  const channels = () => directory.workspace.channels.filter(({ isGroupDirect }) => !isGroupDirect)

  function shortcutsOf(type: ShortcutSuggestion['type']): Json[] {
    return app.shortcuts
      .filter((each) => each.type === type)
      .map(({ callbackId, name, description }) => ({ callbackId, name, description }))
  }

  function shown(view: StoredView): Json {
    return { id: view.id, view: views.toSlack(view) }
  }

  /** Returns what this person sees: the messages of each channel and those from the app, the app's Home tab, and the open modals. */
  function stateFor(given: Json): Json {
    const userId = asOf(given)
    const home = views.homeOf(userId)
    const direct = directory.directChannel(userId)
    const seen = ({ id }: Channel) => messages.seen(id, userId).map((message) => messages.toMessage(message))
    return {
      channel: direct.id,
      home: home ? shown(home) : null,
      messages: Object.fromEntries([...channels(), direct].map((channel) => [channel.id, seen(channel)])),
      views: views.stackOf(userId).map(shown),
    }
  }

  async function open(given: Json): Promise<Json> {
    await interactions.openHome(asOf(given), given.tab === 'messages' ? 'messages' : 'home')
    return {}
  }

  async function say(given: Json): Promise<Json> {
    const { delivery } = await acts.send(asOf(given), stringOf(given.channel), stringOf(given.text), stringOf(given.threadTs) || undefined)
    return { notice: delivery?.notice }
  }

  /** Keeps the values of the page's form. Fields that the view no longer has are ignored. */
  function take(view: StoredView, values: Json): void {
    for (const [blockId, elements] of Object.entries(values)) {
      for (const [actionId, value] of Object.entries(objectOf(elements))) {
        const isThere = view.values[blockId]?.[actionId] !== undefined
        if (isThere && isObject(value)) views.setValue(view, blockId, actionId, value)
      }
    }
  }

  async function click(given: Json): Promise<Json> {
    const userId = asOf(given)
    const { type: _, ...action } = objectOf(given.action)
    const [blockId, actionId] = [stringOf(given.blockId), stringOf(given.actionId)]
    const place = seenPlace(userId, given)
    // A click carries the current values of its modal, as in Slack.
    if ('view' in place) take(place.view, objectOf(given.values))
    const delivery = await acts.click(userId, place, actionId, { blockId, action })
    return { notice: delivery.notice }
  }

  /** Uses a shortcut: of the message `ts`, or a global one while looking at `channel`. */
  async function shortcut(given: Json): Promise<Json> {
    const userId = asOf(given)
    const [callbackId, ts] = [stringOf(given.callbackId), stringOf(given.ts)]
    const found = app.shortcuts.find((each) => each.callbackId === callbackId)
    if (found === undefined) throw new Error(`The app has no shortcut ${callbackId}.`)
    const delivery =
      found.type === 'message'
        ? await interactions.messageShortcut(userId, callbackId, acts.messageFor(userId, stringOf(given.channel), ts).message)
        : await interactions.globalShortcut(userId, callbackId, stringOf(given.channel) || undefined)
    return { notice: delivery.notice }
  }

  async function optionsFor(given: Json): Promise<Json> {
    const userId = asOf(given)
    const place = placeOf(userId, given)
    const placed = acts.element(place, stringOf(given.actionId), { blockId: stringOf(given.blockId) })
    const found = await acts.suggest(userId, place, placed, stringOf(given.value))
    return { options: found.options, label: found.label, notice: found.notice }
  }

  async function submit(given: Json): Promise<Json> {
    const userId = asOf(given)
    const { view } = acts.modalFor(userId, stringOf(given.viewId))
    take(view, objectOf(given.values))
    const delivery = await interactions.submit(userId, view)
    return { errors: delivery.errors, notice: delivery.notice }
  }

  async function close(given: Json): Promise<Json> {
    const userId = asOf(given)
    const { view } = acts.modalFor(userId, stringOf(given.viewId))
    if (given.clear === true) views.clear(userId)
    else views.close(view)
    return {}
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

  const reads: Record<string, (given: Json) => Json | Promise<Json>> = { workspace, state: stateFor, options: optionsFor }
  const writes: Record<string, (given: Json) => Promise<Json>> = { say, open, click, shortcut, submit, close }

  return {
    async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
      const url = addressOf(request)
      const name = url.pathname.replace(/^\/desk\//, '')
      const isRead = request.method === 'GET'
      const given: Json = isRead ? Object.fromEntries(url.searchParams) : objectOf(parseJson(await readBody(request)))
      try {
        if (isRead && name === 'events') return events(asOf(given), response)
        const route = (isRead ? reads : writes)[name]
        if (route === undefined) return sendJson(response, 404, { ok: false, error: `The desk has no ${request.method} ${name}.` })
        sendJson(response, 200, { ok: true, ...(await route(given)) })
      } catch (error) {
        sendJson(response, 200, { ok: false, error: error instanceof Error ? error.message : String(error) })
      }
    },

    close(): void {
      for (const stream of streams) stream.end()
    },
  }
}
