import type { z } from 'zod'
import {
  ClickPayload,
  CommandPayload,
  GlobalShortcutPayload,
  HomeOpenedPayload,
  MessageShortcutPayload,
  OptionsPayload,
  SubmissionPayload,
} from './payloads.ts'

/** A payload from Slack that no listener handled. `kind` and `members` are names from Slack's documentation, never content. */
export interface UnhandledPayload {
  /** Slack's name for it: the `type` of an interaction or an event, or `command`. */
  kind: string
  /**
   * `no-listener`: nothing listens to this kind. `unreadable`: a required member is missing. `listener-failed`: its listener ended without an
   * acknowledgement.
   */
  why: 'no-listener' | 'unreadable' | 'listener-failed'
  /** The members that are missing or of the wrong type. */
  members?: string[]
}

type PayloadReading = { is: 'read'; kind: string; payload: Record<string, unknown> } | { is: 'unhandled'; unhandled: UnhandledPayload }

/** The schema of each kind that has a listener. A Map, because a kind comes from outside and could be `constructor`. */
const schemas = new Map<string, z.ZodType<Record<string, unknown>>>([
  ['command', CommandPayload],
  ['block_actions', ClickPayload],
  ['view_submission', SubmissionPayload],
  ['block_suggestion', OptionsPayload],
  ['shortcut', GlobalShortcutPayload],
  ['message_action', MessageShortcutPayload],
  ['app_home_opened', HomeOpenedPayload],
])

/** Determines the kind of a payload, and parses it if that kind has a listener. Never throws. */
export function readPayload(body: unknown): PayloadReading {
  const kind = kindOf(body)
  const schema = schemas.get(kind)
  if (!schema) return { is: 'unhandled', unhandled: { kind, why: 'no-listener' } }
  const parsed = schema.safeParse(body)
  if (parsed.success) return { is: 'read', kind, payload: parsed.data }
  const members = parsed.error.issues.map(({ path }) => path.join('.'))
  return { is: 'unhandled', unhandled: { kind, why: 'unreadable', members } }
}

function kindOf(body: unknown): string {
  const { command, type, event } = membersOf(body)
  if (command !== undefined) return 'command'
  return slackTypeOf(type === 'event_callback' ? (membersOf(event).type ?? type) : type)
}

/** Returns the members of an object, and none for anything else. */
export function membersOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

/** Returns a type only if it looks like one of Slack's, because types are logged. */
function slackTypeOf(type: unknown): string {
  return typeof type === 'string' && /^[a-z][a-z_.]{0,59}$/.test(type) ? type : 'unknown'
}
