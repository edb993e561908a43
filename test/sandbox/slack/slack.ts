import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Json } from './json.ts'
import type { Workspace } from './workspace.ts'

export type { Hands } from './hands.ts'
export type { Slack } from './start-slack.ts'

export interface CommandSuggestion {
  command: string
  usage: string
  description: string
}

export interface ShortcutSuggestion {
  name: string
  description: string
  type: 'message' | 'global'
  callbackId: string
}

export interface SlackOptions {
  /** Default: `nimbusWorks`. It is copied, so that stand-ins never share people. */
  workspace?: Workspace
  port?: number
  /** The bot's request URL, such as `http://127.0.0.1:3000/slack/events`. `connectBot` can set it later. */
  botUrl?: string
  /** The address under which the bot reaches this stand-in, if a proxy is in front of it. Default: its own on loopback. */
  publicUrl?: string
  /** The scopes of the bot token. A method without its scope answers `missing_scope`. Default: those of the bot's manifest. */
  scopes?: string[]
  /** How far Slack's clock, in the `Date` header of the Web API, is ahead of `now`, in ms. Default: 0. */
  clockSkewMs?: number
  commands?: CommandSuggestion[]
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
  visibleTo?: string
  edited?: boolean
  deleted?: boolean
  metadata?: Json
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

export type Option = { text: { type: string; text: string }; value: string; description?: { type: string; text: string } }

export type DeliveryKind = 'event' | 'command' | 'shortcut' | 'message_action' | 'block_actions' | 'view_submission' | 'block_suggestion'

export interface DeliveryRequest {
  transport: 'http' | 'socket'
  headers: Record<string, string>
  /** For HTTP the form-encoded body, for Socket Mode the payload of the envelope as JSON. */
  body: string
}

export interface Delivery {
  kind: DeliveryKind
  /**
   * `acknowledged`: the bot answered in time with 2xx. `timeout`: it did not answer in time. `refused`: it answered with another status.
   * `unreachable`: there was no bot. `not-sent`: Slack's own client stopped it (a required field, a short query, a denied confirmation).
   */
  outcome: 'acknowledged' | 'timeout' | 'refused' | 'unreachable' | 'not-sent'
  status?: number
  /** From the request to the acknowledgement or the deadline. */
  ms: number
  /** The body of the acknowledgement: JSON or text. Undefined if it is empty. */
  body?: unknown
  notice?: string
  /** For a submission: messages by block id, from the bot or from Slack's own client. */
  errors?: Record<string, string>
  payload: Json
  request: DeliveryRequest
}

export interface Suggestions extends Delivery {
  options: Option[]
  label?: string
}

export interface ClickOptions {
  /** Selects one of several elements with the same name: the one in this block, or the button with this value. */
  blockId?: string
  value?: string
  /** For a picker: the text or the value of an option. */
  choose?: string
  action?: Json
  /** The answer to the `confirm` of the element. Default: `confirm`. */
  confirm?: 'confirm' | 'deny'
}

export type FaultKind = 'drop-before' | 'drop-after' | 'delay' | 'status' | '429' | 'error'

/**
 * `drop-before`: the connection breaks, and nothing was done. `drop-after`: it is done, and the answer is lost. `delay`: waits, and then
 * does it. `status`: an HTTP status. `429`: with `Retry-After`. `error`: Slack's `{ ok: false, error }`.
 */
export interface FaultPlan {
  /** A method of the Web API, `*` for every method of it, or `response_url`. */
  method: string
  kind: FaultKind
  times?: number
  when?: (args: Json) => boolean
  /** For `delay`. Default: 1000. */
  delayMs?: number
  /** For `status`. Default: 503. */
  status?: number
  /** For `429`, in seconds. Default: 1. */
  retryAfter?: number
  /** For `error`. Default: `internal_error`. */
  error?: string
}

export interface Fault extends FaultPlan {
  readonly fired: number
  remove(): void
}

/** One request of the bot to the Web API (`method` is its name) or to a response URL (`method` is `response_url`). */
export interface JournalEntry {
  at: number
  method: string
  args: Json
  /** 0: the bot got no answer. */
  status: number
  result: Json
  fault?: FaultKind | undefined
}

/** A request to the bot that differs from those of Slack. The defaults make it a valid one. */
export interface RawRequest {
  body: string
  contentType?: string
  /** Seconds since 1970. Default: now. */
  timestamp?: number
  /** Default: the valid one for body and timestamp. */
  signature?: string
  signingSecret?: string
  headers?: Record<string, string>
}
