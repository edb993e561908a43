import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Json } from './json.ts'
import type { Person, Workspace } from './workspace.ts'

export interface CommandSuggestion {
  command: string
  usage: string
  description: string
}

export interface SlackOptions {
  /** Default: `nimbusWorks`. It is copied: two stand-ins never share people. */
  workspace?: Workspace
  /** Default: a free port. Always on loopback. */
  port?: number
  /** The bot's request address, such as `http://127.0.0.1:3000/slack/events`; may be told later with `connectBot`. */
  botUrl?: string
  signingSecret?: string
  botToken?: string
  appToken?: string
  /** More full members (or guests, strangers, bots), who are in every channel but the direct messages. */
  people?: Person[]
  /** What the bot token may do; a method without its scope answers `missing_scope`. Default: what the bot's manifest asks for. */
  scopes?: string[]
  /** Whether the app has a Home tab; without one `views.publish` answers `not_enabled`. Default: true. */
  homeTab?: boolean
  /** Whether clicks and forms are delivered, or the app was not configured for them. Default: true. */
  interactivity?: boolean
  /** How far Slack's clock, as the `Date` header of the Web API tells it, is ahead of `now`, in ms. Default: 0. */
  clockSkewMs?: number
  /** What the composer of the page suggests. */
  commands?: CommandSuggestion[]
  /** Slack's real rate limits per method. Default: off. */
  limits?: boolean
  /** Wall clock in ms since 1970: stamps, signatures, the life of triggers and response addresses. Default: `Date.now`. */
  now?: () => number
  /** Whether the journal keeps the answers. Default: true. Those of a long run are gigabytes, most of them pages that were looked through. */
  keepAnswers?: boolean
  /** How long the bot has for its acknowledgement, in ms. Default: 3000, as in Slack. */
  ackDeadlineMs?: number
  /** Asked first about every request that is neither Slack's nor the desk's; answers whether it has taken the request. */
  serve?: (request: IncomingMessage, response: ServerResponse) => boolean
}

/** A message as a person sees it, and as the desk tells it to the page. Always a copy: a kept one is how the message looked then. */
export interface Message {
  channel: string
  ts: string
  threadTs?: string
  /** Of a reply: it was sent to the channel as well (`reply_broadcast`). */
  broadcast?: boolean
  user: string
  userName: string
  isBot: boolean
  text: string
  blocks?: Json[]
  ephemeral: boolean
  /** Of an ephemeral: the one person who sees it. */
  visibleTo?: string
  edited?: boolean
  deleted?: boolean
  replyCount?: number
  metadata?: Json
  /** ISO 8601. */
  time: string
}

/** An open modal of a person, or their Home tab (without a title). `view` is Slack's view object with the person's input in `state.values`. Always a copy. */
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

export type DeliveryKind = 'event' | 'command' | 'block_actions' | 'view_submission' | 'block_suggestion'

export interface DeliveryRequest {
  transport: 'http' | 'socket'
  /** Of HTTP, the signature's among them. */
  headers: Record<string, string>
  /** Of HTTP the form-encoded body, of Socket Mode the envelope's payload as JSON. */
  body: string
}

/** What became of something a person did. */
export interface Delivery {
  kind: DeliveryKind
  /**
   * `acknowledged`: the bot answered in time with 2xx. `timeout`: it did not. `refused`: it answered with another status.
   * `unreachable`: no bot there. `not-sent`: Slack's own client stopped it (a required field, a query that is too short, a confirmation denied).
   */
  outcome: 'acknowledged' | 'timeout' | 'refused' | 'unreachable' | 'not-sent'
  /** HTTP status of the bot's answer. */
  status?: number
  /** From sending to the acknowledgement, or to giving up. */
  ms: number
  /** The acknowledgement's body: JSON where it was JSON, text otherwise; undefined when empty. */
  body?: unknown
  /** What Slack shows the person when it went wrong. */
  notice?: string
  /** Of a submission: messages by block id, from the bot or from Slack's own client. */
  errors?: Record<string, string>
  /** What was sent, parsed. */
  payload: Json
  request: DeliveryRequest
}

export interface Suggestions extends Delivery {
  options: Option[]
}

export interface ClickOptions {
  /** Needed when the target is given as a `ts`. */
  channel?: string
  /** Which of several elements of the same name: the one in this block, or the button with this value. */
  blockId?: string
  value?: string
  /** Of a picker: an option's text or value. */
  choose?: string
  /** Replaces members of the action, to send what no client would. */
  action?: Json
  /** What the person answers to the element's `confirm`. Default: `confirm`. */
  confirm?: 'confirm' | 'deny'
}

export type HomeTab = 'home' | 'messages'

/** A view by its id, a copy of it, or, when left out, the one on top. */
export type ViewRef = string | Pick<OpenView, 'id'>

/** What one person can do in Slack. Channels are named by id, `#name` or `name`. */
export interface Hands {
  person: Person
  /** Types a slash command (with its slash) into the composer of a channel. */
  command(text: string, at: { channel: string }): Promise<Delivery>
  /** Says something; `/invite @handle` invites, as in Slack. */
  say(text: string, at: { channel: string; threadTs?: string }): Promise<Message | undefined>
  /**
   * Presses or chooses an element, named by its action id or the text on it, of a message or a Home tab (as it looks in the copy
   * given, which may be an old one) or of a modal.
   */
  click(target: Message | OpenView | string, element: string, options?: ClickOptions): Promise<Delivery>
  /** Looks at the app: the bot is told (`app_home_opened`). What it then publishes is not waited for. */
  openHome(how?: { tab?: HomeTab }): Promise<Delivery>
  /** What is on this person's Home tab; undefined before the bot has published anything. */
  home(): OpenView | undefined
  /** The stack of open modals, the last on top. */
  openViews(): OpenView[]
  /** The modal on top; throws when none is open. */
  topView(): OpenView
  /**
   * Fills inputs, named by label or block id: with text, with an option's text or value, or with null to empty them. Pickers are searched
   * for it first. Elements with `dispatch_action` are delivered to the bot; the deliveries are returned.
   */
  fill(view: ViewRef | undefined, values: Record<string, string | null>): Promise<Delivery[]>
  submit(view?: ViewRef): Promise<Delivery>
  /** Closes the modal on top, or another one with everything above it. */
  close(view?: ViewRef): Promise<void>
  /** Types into an external select of a view or a message and sees what the bot offers. The element is named by label, block id or action id. */
  search(target: ViewRef | Message | undefined, element: string, query: string): Promise<Suggestions>
  /** Channel level and thread replies by ts, with the ephemerals this person sees. */
  sees(channel: string): Message[]
  /** What Slack's own client has told this person (`operation_timeout` and the like), oldest first. */
  notices(): string[]
  /** Sends the same bytes again, signature included: a repeated or a replayed delivery. */
  redeliver(delivery: Delivery): Promise<Delivery>
}

export type FaultKind = 'drop-before' | 'drop-after' | 'delay' | 'status' | '429' | 'error'

/**
 * `drop-before`: the connection breaks and nothing was done. `drop-after`: it is done and the answer is lost. `delay`: waits, then does it.
 * `status`: an HTTP status with a body. `429`: with `Retry-After`. `error`: Slack's `{ ok: false, error }`.
 */
export interface FaultPlan {
  /** A Web API method, `response_url`, `delivery` or `delivery.<kind>` (only the drops and delays), or `*` for every Web API method. */
  method: string
  kind: FaultKind
  /** How often it happens. Default: 1. */
  times?: number
  /** Lets so many through first. Default: 0. */
  skip?: number
  /** Only for requests with these arguments. */
  when?: (args: Json) => boolean
  /** Of `delay`. Default: 1000. */
  delayMs?: number
  /** Of `status`. Default: 503. */
  status?: number
  body?: string
  /** Of `429`, in seconds. Default: 1. */
  retryAfter?: number
  /** Of `error`. Default: `internal_error`. */
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

/** One request that the bot made to the Web API (`method` is its name) or to a response address (`method` is `response_url`). */
export interface JournalEntry {
  at: number
  method: string
  /** Arguments with JSON strings parsed, the token left out. */
  args: Json
  /** 0: no answer reached the bot. */
  status: number
  result: Json
  fault?: FaultKind
}

/** A request to the bot that is not what Slack would send. Defaults make it a good one. */
export interface RawRequest {
  body: string
  contentType?: string
  /** Seconds since 1970. Default: now. */
  timestamp?: number
  /** Default: the right one for body and timestamp. */
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
  /** The people, channels and groups as they are now. */
  workspace: Workspace
  /** Called after every change; returns how to stop it. */
  subscribe(listener: (rev: number) => void): () => void

  connectBot(url: string): void
  as(userId: string): Hands

  /** Channel level messages that are there now, oldest first, broadcast replies among them, without ephemerals. */
  messages(channel: string): Message[]
  /** The same in short, for those who look often. */
  texts(channel: string): Pick<Message, 'ts' | 'text' | 'isBot'>[]
  /** The parent and its replies, without ephemerals. */
  thread(channel: string, ts: string): Message[]
  /** Everything only this person has seen, oldest first. */
  ephemerals(userId: string): Message[]
  /** The direct messages between the bot and this person. */
  directMessages(userId: string): Message[]
  /** What `views.publish` has put on this person's Home tab. */
  home(userId: string): Json | undefined
  /** The channel in words, for inline snapshots: with `as`, the ephemerals of that person too; without, everybody's. */
  transcript(channel: string, options?: { as?: string }): string
  /** Resolves with the first truthy value (throws mean "not yet"), looked at again after every change. Default timeout: 5000 ms. */
  until<T>(predicate: () => T, options?: { timeoutMs?: number; what?: string }): Promise<NonNullable<T>>

  journal: readonly JournalEntry[]
  /** What the bot has sent and the stand-in does not describe, in a sentence each. A test that means it takes it out again. */
  notDescribed: string[]
  /** The journal's entries of one method. */
  calls(method: string): JournalEntry[]
  faults: Faults
  /** Everything that was delivered to the bot, oldest first. */
  deliveries: readonly Delivery[]
  /** Posts any bytes to the bot's address. */
  sendRaw(request: RawRequest): Promise<{ status: number; body: string }>
  /** Sends anything in an envelope over Socket Mode, and gives what its acknowledgement carried. Throws where none comes in time. */
  sendEnvelope(type: string, payload: unknown): Promise<unknown>

  archive(channel: string): void
  kickBot(channel: string): void
  /** Makes somebody, by default the bot, a member. */
  invite(channel: string, userId?: string): void
  leave(channel: string, userId: string): void
  /** Changes what `users.info` says: deactivates, restricts, renames, makes a stranger of another team. */
  setPerson(userId: string, changes: Partial<Person>): void
  /** Changes who is in a group (the ids alone will do), or disables it. */
  setUserGroup(id: string, changes: string[] | { members?: string[]; disabled?: boolean }): void
  /** Removes a message as a workspace admin would, without the bot knowing. */
  removeMessage(channel: string, ts: string): void
  /** Socket Mode: how many connections there are, and ending them as Slack does when it refreshes one. */
  sockets(): number
  disconnectSockets(reason?: 'warning' | 'refresh_requested' | 'link_disabled'): void
  /** The answer to every Web API call from now on, as after the app was removed: `invalid_auth`, `account_inactive`, `token_revoked`; null undoes it. */
  revoke(error: string | null): void

  /** Throws where the bot has sent anything that the stand-in does not describe. */
  close(): Promise<void>
}
