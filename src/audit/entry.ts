import { z } from 'zod'
import { Finding } from '../domain/finding.ts'

/**
 * What somebody did, or what became of it: who, what, when, where, by which rule, with which result. Never a token. The set of acts is
 * open: `ask`, `approve`, `reject`, `withdraw`, `send`, `accept`, `end` …, and `refused` for what was not allowed.
 */
export const AuditNote = z.object({
  act: z.string(),
  /** A Slack user id. Absent where the bot did it by itself. */
  by: z.string().optional(),
  requestId: z.string().optional(),
  kind: z.string().optional(),
  /** `elastic_ip:eip_1` */
  resource: z.string().optional(),
  /** In words: `Move 203.0.113.10 from web-1 to web-2`, or what was tried. */
  what: z.string().optional(),
  channelId: z.string().optional(),
  teamId: z.string().optional(),
  /** The name of the rule that allowed it. */
  rule: z.string().optional(),
  /** By what the rule allowed it: a user id, a user group id, or a word such as `requester`. */
  via: z.string().optional(),
  /** What somebody tried who was refused: `decide`, or the action id of a button. */
  attempted: z.string().optional(),
  /** Why it was refused, or ended as it did. */
  causes: z.array(Finding).optional(),
  /** What a person gave as their reason. */
  reason: z.string().optional(),
  /** What came of it: an answer of the account API, why it was refused, how many approvals there are. */
  result: z.string().optional(),
  /** SHA-256 of what was asked for. */
  payload: z.string().optional(),
})
export type AuditNote = z.infer<typeof AuditNote>

/** A note as it stands in the chain. `at`: ms since 1970 by Redis' clock. */
export const AuditEntry = AuditNote.extend({
  seq: z.number().int().positive(),
  at: z.number(),
  /** The states that a request left and entered. */
  from: z.string().optional(),
  to: z.string().optional(),
  /** The hash of the entry before; empty for the first. */
  prev: z.string(),
})
export type AuditEntry = z.infer<typeof AuditEntry>
