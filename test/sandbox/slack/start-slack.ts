import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createActs } from './acts.ts'
import { createComposer } from './composer.ts'
import { createDesk } from './desk.ts'
import { createDirectory } from './directory.ts'
import { createEvents } from './events.ts'
import { createFaults } from './faults.ts'
import { createHands } from './hands.ts'
import { addressOf, sendText } from './http.ts'
import { createInteractions } from './interactions.ts'
import { copyOf } from './json.ts'
import { createMessageStore } from './message-store.ts'
import type { Notification } from './notifications.ts'
import { createPayloads } from './payloads.ts'
import { createResponseUrls } from './response-urls.ts'
import type { Delivery, JournalEntry, Slack, SlackOptions } from './slack.ts'
import { createSocketMode } from './socket-mode.ts'
import { createState } from './state.ts'
import { transcriptOf } from './transcript.ts'
import { createTransport } from './transport.ts'
import { createTriggers } from './triggers.ts'
import { until } from './until.ts'
import { createViewStore } from './view-store.ts'
import { appMethods } from './web-api/app.ts'
import { chatMethods } from './web-api/chat.ts'
import { conversationMethods } from './web-api/conversations.ts'
import { peopleMethods } from './web-api/people.ts'
import { serveWebApi, usualScopes } from './web-api/serve-web-api.ts'
import { viewMethods } from './web-api/views.ts'
import { nimbusWorks } from './workspace.ts'

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
  const triggers = createTriggers(state)
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
