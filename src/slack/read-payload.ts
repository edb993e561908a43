import type { z } from 'zod'
import { ClickPayload, CommandPayload, HomeOpenedPayload, OptionsPayload, SubmissionPayload } from './payloads.ts'

/** Something from Slack that no listener takes. `kind` and `members` are words of Slack's documentation, never content. */
export interface Untaken {
  /** Slack's name for it: the `type` of an interaction or an event, or `command`. */
  kind: string
  /** `unheard`: nothing listens to this kind. `unreadable`: a member that is needed is missing. `unanswered`: its listener failed. */
  why: 'unheard' | 'unreadable' | 'unanswered'
  /** The members that made it unreadable. */
  members?: string[]
}

export type Reading = { is: 'read'; kind: string; payload: Record<string, unknown> } | { is: 'untaken'; untaken: Untaken }

/** What the bot listens to. A Map, because a kind comes from outside and might be the name of one of an object's own members. */
const schemas = new Map<string, z.ZodType<Record<string, unknown>>>([
  ['command', CommandPayload],
  ['block_actions', ClickPayload],
  ['view_submission', SubmissionPayload],
  ['block_suggestion', OptionsPayload],
  ['app_home_opened', HomeOpenedPayload],
])

/** Tells what came from Slack, and reads it if the bot listens to it. Never throws, whatever it is given. Pure. */
export function readPayload(body: unknown): Reading {
  const kind = kindOf(body)
  const schema = schemas.get(kind)
  if (!schema) return { is: 'untaken', untaken: { kind, why: 'unheard' } }
  const parsed = schema.safeParse(body)
  if (parsed.success) return { is: 'read', kind, payload: parsed.data }
  const members = parsed.error.issues.map(({ path }) => path.join('.'))
  return { is: 'untaken', untaken: { kind, why: 'unreadable', members } }
}

function kindOf(body: unknown): string {
  const { command, type, event } = membersOf(body)
  if (command !== undefined) return 'command'
  return wordOf(type === 'event_callback' ? (membersOf(event).type ?? type) : type)
}

/** The members of an object; none for anything else. */
export function membersOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

/** Types go to the log, so only what looks like one of Slack's is taken for one. */
function wordOf(type: unknown): string {
  return typeof type === 'string' && /^[a-z][a-z_.]{0,59}$/.test(type) ? type : 'unknown'
}
