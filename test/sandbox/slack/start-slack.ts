import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Acts, type Composer, createActs, createComposer, type Place } from './acts.ts'
import { createDesk } from './desk.ts'
import { addressOf, sendText } from './http.ts'
import { createEvents, createInteractions, type Events, type Interactions } from './interactions.ts'
import { copyOf } from './json.ts'
import { createMessageStore, type MessageStore, type Notification } from './message-store.ts'
import { createPayloads } from './payloads.ts'
import type { ClickOptions, Delivery, Hands, JournalEntry, Message, OpenView, Slack, SlackOptions, ViewRef } from './slack.ts'
import { createFaults, createState, createTriggers, until } from './state.ts'
import { transcriptOf } from './transcript.ts'
import { createSocketMode, createTransport } from './transport.ts'
import { createViewStore, type StoredView, type ViewStore } from './view-store.ts'
import { appMethods, peopleMethods, serveWebApi, usualScopes, viewMethods } from './web-api.ts'
import { chatMethods, conversationMethods, createResponseUrls } from './web-api-messages.ts'
import { createDirectory, type Directory, nimbusWorks } from './workspace.ts'

/** What people act with: their own hands in tests, and the web page. */
export interface ActingParts {
  directory: Directory
  messages: MessageStore
  views: ViewStore
  interactions: Interactions
  acts: Acts
  composer: Composer
  events: Events
}

export interface HandsOptions extends ActingParts {
  noticesOf: (userId: string) => string[]
  notificationsOf: (userId: string) => Notification[]
}

export function createHands(userId: string, options: HandsOptions): Hands {
  const { directory, messages, views, interactions, acts, composer, events } = options
  const person = directory.person(userId)

  function top(): StoredView {
    const view = views.stackOf(userId).at(-1)
    if (view === undefined) throw new Error(`${person.name} has no modal open.`)
    return view
  }

  function viewOf(ref: ViewRef | undefined): { view: StoredView } {
    if (ref === undefined) return { view: top() }
    return acts.viewFor(userId, typeof ref === 'string' ? ref : ref.id)
  }

  function modalOf(ref: ViewRef | undefined): StoredView {
    return ref === undefined ? top() : acts.modalFor(userId, typeof ref === 'string' ? ref : ref.id).view
  }

  function placeOf(target: Message | OpenView | string, options: ClickOptions = {}): Place {
    if (typeof target !== 'string') {
      if ('ts' in target) return acts.messageFor(userId, target.channel, target.ts, target)
      return target.view.type === 'home' ? acts.homeFor(userId, target) : viewOf(target)
    }
    return options.channel ? acts.messageFor(userId, options.channel, target) : viewOf(target)
  }

  return {
    person,

    async command(text, at) {
      const { delivery } = await composer.send(userId, at.channel, text)
      if (delivery === undefined) throw new Error(`"${text}" is not a command for the bot.`)
      return delivery
    },

    async say(text, at) {
      const { message } = await composer.send(userId, at.channel, text, at.threadTs)
      return message && messages.toMessage(message)
    },

    click: async (target, element, how) => acts.click(userId, placeOf(target, how), element, how),

    messageShortcut: async (target, callbackId, how = {}) => {
      const { message } = acts.messageFor(userId, target.channel, target.ts, target)
      return interactions.messageShortcut(userId, callbackId, message, how.message)
    },
    globalShortcut: (callbackId, how = {}) => interactions.globalShortcut(userId, callbackId, how.channel),

    openHome: (how) => events.appHomeOpened(userId, how?.tab ?? 'home'),
    home() {
      const home = views.homeOf(userId)
      return home && views.toOpenView(home)
    },

    openViews: () => views.stackOf(userId).map((view) => views.toOpenView(view)),
    topView: () => views.toOpenView(top()),

    async fill(view, values) {
      const deliveries: Delivery[] = []
      const { view: stored } = viewOf(view)
      for (const [name, input] of Object.entries(values)) {
        const delivery = await acts.fill(userId, { view: stored }, name, input)
        if (delivery) deliveries.push(delivery)
      }
      return deliveries
    },

    submit: async (view) => interactions.submit(userId, modalOf(view)),
    close: async (view) => views.close(modalOf(view)),

    async search(target, element, query) {
      const place = target !== undefined && typeof target !== 'string' && 'ts' in target ? placeOf(target) : viewOf(target)
      return acts.suggest(userId, place, acts.element(place, element), query)
    },

    sees: (channel) => messages.seen(directory.channel(channel).id, userId).map((message) => messages.toMessage(message)),
    notices: () => options.noticesOf(userId),
    notifications: () => options.notificationsOf(userId),
    redeliver: (delivery) => interactions.redeliver(delivery),
  }
}

/**
 * Starts a stand-in for Slack on one loopback port: the Web API under `/api/`, response URLs under `/response/`, Socket Mode under
 * `/link/`, the routes of the page under `/desk/`, and functions for what people do. The state is in memory.
 */
export async function startSlack(options: SlackOptions = {}): Promise<Slack> {
  const signingSecret = options.signingSecret ?? 'sandbox-signing-secret'
  const botToken = options.botToken ?? 'xoxb-sandbox-bot-token'
  const appToken = options.appToken ?? 'xapp-sandbox-app-token'
  let url = ''
  let botUrl = options.botUrl
  let revokedWith: string | null = null

  const state = createState(options.now ?? Date.now)
  const workspace = copyOf(options.workspace ?? nimbusWorks)
  const directory = createDirectory(workspace, state)
  directory.addPeople(options.people ?? [])
  const messages = createMessageStore(directory, state)
  const views = createViewStore(directory, state)
  const triggers = createTriggers(state, options.triggerLifeMs ?? 3_000)
  const faults = createFaults()
  const stores = { state, directory, messages, views, triggers }

  const journal: JournalEntry[] = []
  const record = (entry: JournalEntry) => {
    journal.push(options.keepAnswers === false ? { ...entry, result: {} } : entry)
    state.changed({ visible: false })
  }
  const notDescribed: string[] = []
  const deliveries: Delivery[] = []
  const notices: { userId: string; text: string }[] = []
  const notifications: Notification[] = []
  state.subscribe((change) => {
    if (change.notice) notices.push(change.notice)
    if (change.notification) notifications.push(change.notification)
  })

  const baseUrl = () => options.publicUrl ?? url
  const responseUrls = createResponseUrls({ baseUrl, state, directory, messages, faults, record, notDescribed })
  const socketMode = createSocketMode({ baseUrl, appId: directory.bot.appId, changed: () => state.changed({ visible: false }) })
  const transport = createTransport({
    state,
    faults,
    socketMode,
    signingSecret,
    botUrl: () => botUrl,
    deadlineMs: options.ackDeadlineMs ?? 3000,
  })
  const homeTab = options.homeTab ?? true
  const payloads = createPayloads(directory, messages)
  const delivered = (delivery: Delivery) => {
    deliveries.push(delivery)
    state.changed({ visible: false })
  }
  const interactions = createInteractions({
    ...stores,
    responseUrls,
    transport,
    payloads,
    interactivity: options.interactivity ?? true,
    delivered,
  })
  const events = createEvents({ ...stores, payloads, transport, homeTab, delivered })
  const acts = createActs({ ...stores, interactions })
  const composer = createComposer(directory, messages, interactions)
  const desk = createDesk({
    ...stores,
    interactions,
    acts,
    composer,
    events,
    homeTab,
    commands: options.commands ?? [],
    shortcuts: options.shortcuts ?? [],
  })
  const webApi = serveWebApi({
    stores,
    methods: {
      ...appMethods(stores, socketMode.issueUrl),
      ...chatMethods(stores),
      ...viewMethods(stores, { homeTab }),
      ...peopleMethods(stores),
      ...conversationMethods(stores),
    },
    tokens: { bot: botToken, app: appToken },
    scopes: options.scopes ?? usualScopes,
    limits: options.limits ?? false,
    clockSkewMs: options.clockSkewMs ?? 0,
    faults,
    record,
    notDescribed,
    revoked: () => revokedWith,
  })

  async function route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = addressOf(request)
    if (pathname.startsWith('/api/')) return webApi(request, response)
    if (pathname.startsWith('/response/')) return responseUrls.serve(request, response)
    if (pathname.startsWith('/desk/')) return desk.serve(request, response)
    if (!options.serve?.(request, response)) sendText(response, 404, 'Not found')
  }

  const server = createServer((request, response) => {
    route(request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy()
      else sendText(response, 500, error instanceof Error ? (error.stack ?? error.message) : String(error))
    })
  })
  server.on('upgrade', socketMode.upgrade)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port ?? 0, '127.0.0.1', resolve)
  })
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  const shown = (stored: Parameters<typeof messages.toMessage>[0][]) => stored.map((message) => messages.toMessage(message))
  const level = (channel: string) => messages.levelOf(directory.channel(channel).id).filter((message) => !message.deleted)
  const noticesOf = (userId: string) => notices.filter((notice) => notice.userId === userId).map((notice) => notice.text)
  const notificationsOf = (userId: string) => notifications.filter(({ people }) => people.includes(userId))
  const describe = () => {
    const calls = journal.slice(-10).map((entry) => `  ${entry.method} → ${entry.status} ${JSON.stringify(entry.result).slice(0, 160)}`)
    const channels = workspace.channels.map((channel) => `#${channel.name}\n${transcriptOf(shown(messages.seen(channel.id)), directory)}`)
    return [...notDescribed, 'The latest calls:', ...calls, ...channels].join('\n')
  }

  return {
    url,
    apiUrl: `${baseUrl()}/api/`,
    signingSecret,
    botToken,
    appToken,
    workspace,
    subscribe: (listener) => state.subscribe((change) => listener(change.rev)),

    connectBot: (address) => {
      botUrl = address
    },
    as: (userId) => createHands(userId, { directory, messages, views, interactions, acts, composer, events, noticesOf, notificationsOf }),

    messages: (channel) => shown(level(channel)),
    texts: (channel) => level(channel).map(({ ts, text, user }) => ({ ts, text, isBot: directory.person(user).isBot === true })),
    thread(channel, ts) {
      const parent = messages.find(directory.channel(channel).id, ts)
      return parent ? shown([parent, ...messages.repliesTo(parent)]) : []
    },
    ephemerals: (userId) => shown(messages.ephemeralsOf(userId)),
    directMessages: (userId) => shown(messages.seen(directory.directChannel(userId).id)),
    home(userId) {
      const home = views.homeOf(userId)
      return home && views.toSlack(home)
    },
    transcript: (channel, how) => transcriptOf(shown(messages.seen(directory.channel(channel).id, how?.as)), directory),
    until: (predicate, how) => until({ subscribe: (listener) => state.subscribe(listener), describe }, predicate, how),

    journal,
    notDescribed,
    calls: (method) => journal.filter((entry) => entry.method === method),
    faults: faults.control,
    deliveries,
    sendRaw: transport.sendRaw,
    sendEnvelope: transport.sendEnvelope,

    setTables: (are) => {
      state.tables = are
    },
    archive: (channel) => directory.setArchived(channel, true),
    kickBot: (channel) => directory.leave(channel, directory.bot.userId),
    invite: (channel, userId) => directory.join(channel, userId ?? directory.bot.userId),
    leave: directory.leave,
    setPerson: directory.setPerson,
    setUserGroup: directory.setUserGroup,
    removeMessage(channel, ts) {
      const found = messages.find(directory.channel(channel).id, ts)
      if (found) messages.remove(found)
    },
    sockets: socketMode.count,
    disconnectSockets: (reason) => socketMode.disconnect(reason ?? 'refresh_requested'),
    revoke: (error) => {
      revokedWith = error
    },

    async close() {
      desk.close()
      socketMode.close()
      await new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
      if (notDescribed.length > 0) throw new Error([...new Set(notDescribed)].join('\n'))
    },
  }
}
