import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createDesk } from './desk.ts'
import { createHands } from './hands.ts'
import { addressOf, sendText } from './http.ts'
import { createInteractions, type Interactions } from './interactions.ts'
import { copyOf, type Json } from './json.ts'
import { createMessageStore, type MessageStore, type Notification } from './message-store.ts'
import { createPayloads, type Payloads } from './payloads.ts'
import type { CommandSuggestion, Delivery, JournalEntry, Message, ShortcutSuggestion, SlackOptions } from './slack.ts'
import { createFaults, createState, createTriggers, type Faults, type State, type Triggers, until } from './state.ts'
import { createSocketMode, createTransport, type Transport } from './transport.ts'
import type { NewBlocksAre } from './validate-blocks.ts'
import { createViewStore, type ViewStore } from './view-store.ts'
import { appMethods, peopleMethods, serveWebApi, usualScopes, viewMethods } from './web-api.ts'
import { chatMethods, conversationMethods, createResponseUrls, type ResponseUrls } from './web-api-messages.ts'
import { createDirectory, type Directory, nimbusWorks } from './workspace.ts'

function createApp(options: SlackOptions, baseUrl: () => string) {
  return {
    baseUrl,
    signingSecret: 'sandbox-signing-secret',
    tokens: { bot: 'xoxb-sandbox-bot-token', app: 'xapp-sandbox-app-token' },
    scopes: usualScopes,
    limits: false,
    clockSkewMs: 0,
    ackDeadlineMs: 3_000,
    commands: [] as CommandSuggestion[],
    shortcuts: [] as ShortcutSuggestion[],
    /** The error of every call to the Web API, as after the removal of the app. */
    revokedWith: null as string | null,
    ...Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)),
  }
}

export interface Parts {
  app: ReturnType<typeof createApp>
  state: State
  directory: Directory
  messages: MessageStore
  views: ViewStore
  triggers: Triggers
  faults: Faults
  payloads: Payloads
  responseUrls: ResponseUrls
  transport: Transport
  interactions: Interactions
  botUrl: () => string | undefined
  record: (entry: JournalEntry) => void
  delivered: (delivery: Delivery) => void
  notDescribed: string[]
  /** What the phones of people have shown. */
  notifications: Notification[]
}

/**
 * Starts a stand-in for Slack on one loopback port: the Web API under `/api/`, response URLs under `/response/`, Socket Mode under
 * `/link/`, the routes of the page under `/desk/`, and functions for what people do. The state is in memory.
 */
export async function startSlack(options: SlackOptions = {}) {
  let url = ''
  let botUrl = options.botUrl
  const app = createApp(options, () => options.publicUrl ?? url)
  const state = createState(options.now ?? Date.now)
  const workspace = copyOf(options.workspace ?? nimbusWorks)
  const directory = createDirectory(workspace, state)
  const messages = createMessageStore(directory, state)
  const views = createViewStore(directory, state)

  const journal: JournalEntry[] = []
  const deliveries: Delivery[] = []
  const notifications: Notification[] = []
  state.subscribe((change) => {
    if (change.notification) notifications.push(change.notification)
  })
  const notDescribed: string[] = []
  const faults = createFaults()
  const base = {
    app,
    state,
    directory,
    messages,
    views,
    triggers: createTriggers(state, options.triggerLifeMs ?? 3_000),
    faults,
    payloads: createPayloads(directory, messages),
    botUrl: () => botUrl,
    record: (entry: JournalEntry) => {
      journal.push(options.keepAnswers === false ? { ...entry, result: {} } : entry)
      state.changed({ visible: false })
    },
    delivered: (delivery: Delivery) => {
      deliveries.push(delivery)
      state.changed({ visible: false })
    },
    notDescribed,
    notifications,
  }
  const socketMode = createSocketMode(base)
  const transport = createTransport(base, socketMode)
  const outer = { ...base, transport, responseUrls: createResponseUrls(base) }
  const parts: Parts = { ...outer, interactions: createInteractions(outer) }
  const desk = createDesk(parts)
  const webApi = serveWebApi(parts, {
    ...appMethods(parts, socketMode.issueUrl),
    ...chatMethods(parts),
    ...viewMethods(parts),
    ...peopleMethods(parts),
    ...conversationMethods(parts),
  })

  async function route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = addressOf(request)
    if (pathname.startsWith('/api/')) return webApi(request, response)
    if (pathname.startsWith('/response/')) return parts.responseUrls.serve(request, response)
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

  const copies = (stored: Parameters<typeof messages.toMessage>[0][]) => stored.map((message) => messages.toMessage(message))
  const level = (channel: string) => messages.levelOf(directory.channel(channel).id).filter((message) => !message.deleted)
  const describe = () => {
    const calls = journal.slice(-10).map((entry) => `  ${entry.method} → ${entry.status} ${JSON.stringify(entry.result).slice(0, 160)}`)
    const said = workspace.channels.flatMap(({ id }) => copies(messages.seen(id)).map(({ userName, text }) => `  ${userName}: ${text}`))
    return [...notDescribed, 'The latest calls:', ...calls, 'The latest messages:', ...said.slice(-20)].join('\n')
  }

  return {
    /** `http://127.0.0.1:<port>`, without a slash at the end. */
    url,
    /** For `SLACK_API_URL`: `<url>/api/`. */
    apiUrl: `${app.baseUrl()}/api/`,
    signingSecret: app.signingSecret,
    botToken: app.tokens.bot,
    appToken: app.tokens.app,
    /** The current people, channels and groups. */
    workspace,
    subscribe: (listener: (rev: number) => void) => state.subscribe((change) => listener(change.rev)),

    connectBot: (address: string): void => {
      botUrl = address
    },
    as: (userId: string) => createHands(userId, parts),

    /** Returns the current messages at channel level, oldest first, with broadcast replies and without ephemeral messages. */
    messages: (channel: string): Message[] => copies(level(channel)),
    /** The same in short, for frequent reads. */
    texts: (channel: string) => level(channel).map(({ ts, text, user }) => ({ ts, text, isBot: directory.person(user).isBot === true })),
    thread(channel: string, ts: string): Message[] {
      const parent = messages.find(directory.channel(channel).id, ts)
      return parent ? copies([parent, ...messages.repliesTo(parent)]) : []
    },
    /** Returns the messages that only this person has seen, oldest first. */
    ephemerals: (userId: string): Message[] => copies(messages.ephemeralsOf(userId)),
    directMessages: (userId: string): Message[] => copies(messages.seen(directory.directChannel(userId).id)),
    /** Returns what `views.publish` has put on this person's Home tab. */
    home(userId: string): Json | undefined {
      const home = views.homeOf(userId)
      return home && views.toSlack(home)
    },
    /** Resolves with the first truthy value. Checks again after every change; a throw means "not yet". Default timeout: that of `waits`. */
    until: <T>(predicate: () => T, how?: { timeoutMs?: number; what?: string }) => until(state, describe, predicate, how),

    journal: journal as readonly JournalEntry[],
    notDescribed,
    calls: (method: string) => journal.filter((entry) => entry.method === method),
    faults,
    /** Everything that was delivered to the bot, oldest first. */
    deliveries: deliveries as readonly Delivery[],
    sendRaw: transport.sendRaw,
    sendEnvelope: transport.sendEnvelope,

    /** Sets where messages may hold a data table and a chart from now on. Default: everywhere. */
    setNewBlocks: (are: NewBlocksAre): void => {
      state.newBlocks = are
    },
    archive: (channel: string) => directory.setArchived(channel, true),
    kickBot: (channel: string) => directory.leave(channel, directory.bot.userId),
    invite: (channel: string, userId = directory.bot.userId) => directory.join(channel, userId),
    leave: directory.leave,
    /** Changes the members of a group (a list of ids is enough), or disables it. */
    setUserGroup: directory.setUserGroup,
    /** Removes a message like a workspace admin. The bot is not notified. */
    removeMessage(channel: string, ts: string): void {
      const found = messages.find(directory.channel(channel).id, ts)
      if (found) messages.remove(found)
    },
    sockets: socketMode.count,
    disconnectSockets: (reason: 'warning' | 'refresh_requested' | 'link_disabled' = 'refresh_requested') => socketMode.disconnect(reason),
    /** Sets the error of every call to the Web API: `invalid_auth`, `account_inactive`, `token_revoked`. Null undoes it. */
    revoke: (error: string | null): void => {
      app.revokedWith = error
    },

    /** Throws if the bot has sent anything that the stand-in does not describe. */
    async close(): Promise<void> {
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
export type Slack = Awaited<ReturnType<typeof startSlack>>
