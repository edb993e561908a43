import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Json } from './json.ts'
import type { Notification } from './message-store.ts'
import type { TablesAre } from './validate-blocks.ts'
import type { Person, Workspace } from './workspace.ts'

export interface CommandSuggestion {
  command: string
  usage: string
  description: string
}

/** A shortcut of the app, as its manifest describes it. */
export interface ShortcutSuggestion {
  name: string
  description: string
  type: 'message' | 'global'
  callbackId: string
}

export interface SlackOptions {
  /** Default: `nimbusWorks`. It is copied, so that stand-ins never share people. */
  workspace?: Workspace
  /** Default: a free port. Always on loopback. */
  port?: number
  /** The bot's request URL, such as `http://127.0.0.1:3000/slack/events`. `connectBot` can set it later. */
  botUrl?: string
  /** The address under which the bot reaches this stand-in, if a proxy is in front of it. Default: its own on loopback. */
  publicUrl?: string
  signingSecret?: string
  botToken?: string
  appToken?: string
  /** Additional members (or guests, strangers, bots), who are in every channel except direct messages. */
  people?: Person[]
  /** The scopes of the bot token. A method without its scope answers `missing_scope`. Default: those of the bot's manifest. */
  scopes?: string[]
  /** Whether the app has a Home tab. Otherwise `views.publish` answers `not_enabled`. Default: true. */
  homeTab?: boolean
  /** Whether clicks and forms are delivered. Default: true. */
  interactivity?: boolean
  /** How far Slack's clock, in the `Date` header of the Web API, is ahead of `now`, in ms. Default: 0. */
  clockSkewMs?: number
  /** The suggestions of the page's composer. */
  commands?: CommandSuggestion[]
  /** The app's shortcuts, for the page's menus. Default: none. */
  shortcuts?: ShortcutSuggestion[]
  /** Whether Slack's real rate limits apply, by method. Default: false. */
  limits?: boolean
  /** The wall clock in ms since 1970, for stamps, signatures, triggers and response URLs. Default: `Date.now`. */
  now?: () => number
  /** Whether the journal keeps the answers. Default: true. In a long run they are gigabytes, most of them pages of searches. */
  keepAnswers?: boolean
  /** How long a trigger is valid, in ms. Default: 3000, as in Slack. */
  triggerLifeMs?: number
  /** How long the bot has for an acknowledgement, in ms. Default: 3000, as in Slack. */
  ackDeadlineMs?: number
  /** Is called first for every request that belongs neither to Slack nor to the desk. Returns whether it handles the request. */
  serve?: (request: IncomingMessage, response: ServerResponse) => boolean
}

/** A message as a person sees it, and as the desk sends it to the page. It is a copy: a kept one shows how the message was then. */
export interface Message {
  channel: string
  ts: string
  threadTs?: string
  /** Whether a reply was also sent to the channel (`reply_broadcast`). */
  broadcast?: boolean
  user: string
  userName: string
  isBot: boolean
  text: string
  blocks?: Json[]
  ephemeral: boolean
  /** The one person who sees an ephemeral message. */
  visibleTo?: string
  edited?: boolean
  deleted?: boolean
  replyCount?: number
  metadata?: Json
  /** ISO 8601. */
  time: string
}

/**
 * An open modal of a person, or their Home tab (without a title). `view` is Slack's view object with the person's input in `state.values`.
 * It is a copy.
 */
export interface OpenView {
  id: string
  hash: string
  callbackId: string
  title: string
  view: Json
}

export interface Option {
  text: { type: string; text: string }
  value: string
  description?: { type: string; text: string }
}

export type DeliveryKind = 'event' | 'command' | 'shortcut' | 'message_action' | 'block_actions' | 'view_submission' | 'block_suggestion'

export interface DeliveryRequest {
  transport: 'http' | 'socket'
  /** For HTTP, with the signature. */
  headers: Record<string, string>
  /** For HTTP the form-encoded body, for Socket Mode the payload of the envelope as JSON. */
  body: string
}

/** The result of something that a person did. */
export interface Delivery {
  kind: DeliveryKind
  /**
   * `acknowledged`: the bot answered in time with 2xx. `timeout`: it did not answer in time. `refused`: it answered with another status.
   * `unreachable`: there was no bot. `not-sent`: Slack's own client stopped it (a required field, a short query, a denied confirmation).
   */
  outcome: 'acknowledged' | 'timeout' | 'refused' | 'unreachable' | 'not-sent'
  /** The HTTP status of the bot's answer. */
  status?: number
  /** From the request to the acknowledgement or the deadline. */
  ms: number
  /** The body of the acknowledgement: JSON or text. Undefined if it is empty. */
  body?: unknown
  /** What Slack shows the person after a problem. */
  notice?: string
  /** For a submission: messages by block id, from the bot or from Slack's own client. */
  errors?: Record<string, string>
  /** The parsed payload. */
  payload: Json
  request: DeliveryRequest
}

export interface Suggestions extends Delivery {
  options: Option[]
  /** The label above the options. */
  label?: string
}

export interface ClickOptions {
  /** Needed if the target is a `ts`. */
  channel?: string
  /** Selects one of several elements with the same name: the one in this block, or the button with this value. */
  blockId?: string
  value?: string
  /** For a picker: the text or the value of an option. */
  choose?: string
  /** Replaces members of the action, to send what no client would send. */
  action?: Json
  /** The answer to the `confirm` of the element. Default: `confirm`. */
  confirm?: 'confirm' | 'deny'
}

export type HomeTab = 'home' | 'messages'

/** A view: its id, a copy of it, or undefined for the view on top. */
export type ViewRef = string | Pick<OpenView, 'id'>

/** What one person can do in Slack. A channel is named by id, `#name` or `name`. */
export interface Hands {
  person: Person
  /** Types a slash command (with its slash) into the composer of a channel. */
  command(text: string, at: { channel: string }): Promise<Delivery>
  /** Posts a message. `/invite @handle` invites, as in Slack. */
  say(text: string, at: { channel: string; threadTs?: string }): Promise<Message | undefined>
  /**
   * Presses or chooses an element, named by its action id or visible text: of a modal, or of a message or Home tab as it is in the copy,
   * which may be old.
   */
  click(target: Message | OpenView | string, element: string, options?: ClickOptions): Promise<Delivery>
  /** Uses a shortcut of a message, named by its callback id. `message`: members that replace those of the message in the payload. */
  messageShortcut(target: Message, callbackId: string, options?: { message?: Json }): Promise<Delivery>
  /** Uses a global shortcut, named by its callback id. `channel`: the one that the person is looking at. */
  globalShortcut(callbackId: string, options?: { channel?: string }): Promise<Delivery>
  /** Opens the app. The bot receives `app_home_opened`. What it publishes then is not awaited. */
  openHome(how?: { tab?: HomeTab }): Promise<Delivery>
  /** Returns this person's Home tab. Undefined before the bot has published one. */
  home(): OpenView | undefined
  /** Returns the stack of open modals, the last one on top. */
  openViews(): OpenView[]
  /** Returns the modal on top. Throws if none is open. */
  topView(): OpenView
  /**
   * Fills inputs, named by label or block id: with text, with the text or value of an option, or with null to empty them. Pickers are
   * searched first. Elements with `dispatch_action` are delivered to the bot, and the deliveries returned.
   */
  fill(view: ViewRef | undefined, values: Record<string, string | null>): Promise<Delivery[]>
  submit(view?: ViewRef): Promise<Delivery>
  /** Closes the modal on top, or another one with everything above it. */
  close(view?: ViewRef): Promise<void>
  /**
   * Types into an external select of a view or a message. Returns the options of the bot. The element is named by label, block id or action
   * id.
   */
  search(target: ViewRef | Message | undefined, element: string, query: string): Promise<Suggestions>
  /** Returns the messages at channel level and in threads by ts, with the ephemeral messages of this person. */
  sees(channel: string): Message[]
  /** Returns what Slack's own client showed this person (`operation_timeout` and the like), oldest first. */
  notices(): string[]
  /** Returns what this person's phone showed, oldest first. */
  notifications(): Notification[]
  /** Sends the same bytes again, with the signature: a repeated or replayed delivery. */
  redeliver(delivery: Delivery): Promise<Delivery>
}

export type FaultKind = 'drop-before' | 'drop-after' | 'delay' | 'status' | '429' | 'error'

/**
 * `drop-before`: the connection breaks, and nothing was done. `drop-after`: it is done, and the answer is lost. `delay`: waits, and then
 * does it. `status`: an HTTP status with a body. `429`: with `Retry-After`. `error`: Slack's `{ ok: false, error }`.
 */
export interface FaultPlan {
  /**
   * A method of the Web API, `response_url`, `delivery` or `delivery.<kind>` (only drops and delays), or `*` for every method of the Web
   * API.
   */
  method: string
  kind: FaultKind
  /** How often it happens. Default: 1. */
  times?: number
  /** Lets this many requests through first. Default: 0. */
  skip?: number
  /** Only for requests with these arguments. */
  when?: (args: Json) => boolean
  /** For `delay`. Default: 1000. */
  delayMs?: number
  /** For `status`. Default: 503. */
  status?: number
  body?: string
  /** For `429`, in seconds. Default: 1. */
  retryAfter?: number
  /** For `error`. Default: `internal_error`. */
  error?: string
}

export interface Fault extends FaultPlan {
  readonly fired: number
  remove(): void
}

export interface Faults {
  add(plan: FaultPlan): Fault
  clear(): void
}

/** One request of the bot to the Web API (`method` is its name) or to a response URL (`method` is `response_url`). */
export interface JournalEntry {
  at: number
  method: string
  /** The arguments without the token. JSON strings are parsed. */
  args: Json
  /** 0: the bot got no answer. */
  status: number
  result: Json
  fault?: FaultKind
}

/** A request to the bot that differs from those of Slack. The defaults make it a valid one. */
export interface RawRequest {
  body: string
  contentType?: string
  /** Seconds since 1970. Default: now. */
  timestamp?: number
  /** Default: the valid one for body and timestamp. */
  signature?: string
  /** Signs with another secret. */
  signingSecret?: string
  headers?: Record<string, string>
}

export interface Slack {
  /** `http://127.0.0.1:<port>`, without a slash at the end. */
  url: string
  /** For `SLACK_API_URL`: `<url>/api/`. */
  apiUrl: string
  signingSecret: string
  botToken: string
  appToken: string
  /** The current people, channels and groups. */
  workspace: Workspace
  /** Is called after every change. Returns a function that stops it. */
  subscribe(listener: (rev: number) => void): () => void

  connectBot(url: string): void
  as(userId: string): Hands

  /** Returns the current messages at channel level, oldest first, with broadcast replies and without ephemeral messages. */
  messages(channel: string): Message[]
  /** The same in short, for frequent reads. */
  texts(channel: string): Pick<Message, 'ts' | 'text' | 'isBot'>[]
  /** Returns the parent and its replies, without ephemeral messages. */
  thread(channel: string, ts: string): Message[]
  /** Returns the messages that only this person has seen, oldest first. */
  ephemerals(userId: string): Message[]
  /** Returns the direct messages between the bot and this person. */
  directMessages(userId: string): Message[]
  /** Returns what `views.publish` has put on this person's Home tab. */
  home(userId: string): Json | undefined
  /** Returns the channel as text, for inline snapshots. `as`: with the ephemeral messages of that person. Default: with everybody's. */
  transcript(channel: string, options?: { as?: string }): string
  /** Resolves with the first truthy value. Checks again after every change; a throw means "not yet". Default timeout: 5000 ms. */
  until<T>(predicate: () => T, options?: { timeoutMs?: number; what?: string }): Promise<NonNullable<T>>

  journal: readonly JournalEntry[]
  /** Sentences about what the bot has sent and the stand-in does not describe. A test that expects one removes it. */
  notDescribed: string[]
  /** Returns the entries of the journal for one method. */
  calls(method: string): JournalEntry[]
  faults: Faults
  /** Everything that was delivered to the bot, oldest first. */
  deliveries: readonly Delivery[]
  /** Posts any bytes to the bot's URL. */
  sendRaw(request: RawRequest): Promise<{ status: number; body: string }>
  /** Sends anything in an envelope over Socket Mode. Returns the payload of its acknowledgement. Throws if none comes in time. */
  sendEnvelope(type: string, payload: unknown): Promise<unknown>

  /** Sets where messages may hold a data table from now on. Default: everywhere. */
  setTables(are: TablesAre): void

  archive(channel: string): void
  kickBot(channel: string): void
  /** Makes a person a member. Default: the bot. */
  invite(channel: string, userId?: string): void
  leave(channel: string, userId: string): void
  /** Changes the answer of `users.info`: deactivates, restricts, renames, or moves a person to another team. */
  setPerson(userId: string, changes: Partial<Person>): void
  /** Changes the members of a group (a list of ids is enough), or disables it. */
  setUserGroup(id: string, changes: string[] | { members?: string[]; disabled?: boolean }): void
  /** Removes a message like a workspace admin. The bot is not notified. */
  removeMessage(channel: string, ts: string): void
  /** The number of Socket Mode connections. `refresh` ends them as Slack does. */
  sockets(): number
  disconnectSockets(reason?: 'warning' | 'refresh_requested' | 'link_disabled'): void
  /**
   * Sets the error of every call to the Web API from now on, as after the removal of the app: `invalid_auth`, `account_inactive`,
   * `token_revoked`. Null undoes it.
   */
  revoke(error: string | null): void

  /** Throws if the bot has sent anything that the stand-in does not describe. */
  close(): Promise<void>
}
