import { z } from 'zod'
import { Finding } from '../domain/finding.ts'

/** What the account API answered to a write: an HTTP status, or the problem where no answer came. */
export const ApiAnswer = z.object({
  /** A name of ours: `elasticIps.move`. */
  operation: z.string(),
  status: z.number().optional(),
  codes: z.array(z.string()).optional(),
  problem: z.string().optional(),
})
export type ApiAnswer = z.infer<typeof ApiAnswer>

/** The version of the shape that this version of Lockkeeper writes. CONTRIBUTING.md says how it may change. */
export const auditVersion = 1

/**
 * What somebody did, or what became of it: who, what, when, where, by which rule, with which result. It holds facts; sentences are made where it
 * is shown. It never holds a token. The set of acts is open: every step of a request, `request`, `refused`, `answer` …
 */
export const AuditNote = z.looseObject({
  act: z.string(),
  /** A Slack user id. Absent where the bot did it by itself. */
  by: z.string().optional(),
  requestId: z.string().optional(),
  kind: z.string().optional(),
  /** `elastic_ip:eip_1` */
  resource: z.string().optional(),
  /** The account as it was approved, in the shape of the change of this kind. */
  facts: z.unknown().optional(),
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
  /** How many approvals are missing after this one, of how many. */
  missing: z.number().optional(),
  needed: z.number().optional(),
  answer: ApiAnswer.optional(),
  /** The id of what a write made on the account. */
  resourceId: z.string().optional(),
  /** A text as it was found: what a person typed or pressed who was refused, or a note that cannot be read. */
  text: z.string().optional(),
  /** SHA-256 of what was requested. */
  payload: z.string().optional(),
})
export type AuditNote = Known<z.infer<typeof AuditNote>>

/** A note as it stands in the chain. `at`: ms since 1970 by Redis' clock. */
export const AuditEntry = AuditNote.extend({
  version: z.number().int(),
  seq: z.number().int().positive(),
  at: z.number(),
  /** The states that a request left and entered. */
  from: z.string().optional(),
  to: z.string().optional(),
  /** The hash of the entry before; empty for the first. */
  prev: z.string(),
})
export type AuditEntry = Known<z.infer<typeof AuditEntry>>

/** Fields that a newer version wrote are kept when a note joins the chain; the code here uses only those it knows. */
type Known<T> = { [Name in keyof T as string extends Name ? never : Name]: T[Name] }
