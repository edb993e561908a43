import { z } from 'zod'
import { Finding } from '../domain/change/finding.ts'

/** The answer of the account API to a write: an HTTP status, or the problem if no answer came. */
export const ApiAnswer = z.object({
  /** Lockkeeper's own name of the operation: `elasticIps.move`. */
  operation: z.string(),
  status: z.number().optional(),
  codes: z.array(z.string()).optional(),
  problem: z.string().optional(),
})
export type ApiAnswer = z.infer<typeof ApiAnswer>

/** The version of the shape that this version of Lockkeeper writes. CONTRIBUTING.md says how it may change. */
export const auditVersion = 1

/**
 * One event for the audit: who did what, where, by which rule and with which result. It holds facts; sentences are made where it is shown.
 * It never holds a token. `act` is one of an open set: the steps of a request, `request`, `refused`, `answer` and others.
 */
export const AuditNote = z.looseObject({
  act: z.string(),
  /** A Slack user id. Absent if Lockkeeper did it without a person. */
  by: z.string().optional(),
  requestId: z.string().optional(),
  kind: z.string().optional(),
  /** `elastic_ip:eip_1` */
  resource: z.string().optional(),
  /** The item of the request that it is about, for a request with several: `eip_1`. `resource` and `facts` are then those of the item. */
  item: z.string().optional(),
  /** The state of the account that was approved, in the shape of this kind of change. */
  facts: z.unknown().optional(),
  channelId: z.string().optional(),
  teamId: z.string().optional(),
  /** The name of the rule that allowed it. */
  rule: z.string().optional(),
  /** How the rule allowed it: by a user id, a user group id, or a word such as `requester`. */
  via: z.string().optional(),
  /** The refused attempt: `decide`, or the action id of a button. */
  attempted: z.string().optional(),
  /** In a second entry on a refusal: how many more times the person was refused the same for the same cause, in ten minutes. */
  count: z.number().int().positive().optional(),
  /** Why it was refused, or why the request ended. */
  causes: z.array(Finding).optional(),
  /** The reason that a person typed. */
  reason: z.string().optional(),
  /** How many of the `needed` approvals are missing after this one. */
  missing: z.number().optional(),
  needed: z.number().optional(),
  answer: ApiAnswer.optional(),
  /** The id of the resource that a write created. */
  resourceId: z.string().optional(),
  /** The refused command or button, or the unchanged text of a note that could not be parsed. */
  text: z.string().optional(),
  /** The SHA-256 of the request. */
  payload: z.string().optional(),
  /** The number of the last entry that was removed because of its age, in a note about that. */
  through: z.number().int().optional(),
  /** The time before which entries were removed, in ms since 1970 by Redis' clock, in a note about that. */
  keptSince: z.number().optional(),
})
export type AuditNote = Known<z.infer<typeof AuditNote>>

/** What `createNoteSigner` adds to a note. */
const Signed = z.object({
  /** The process that made the note, and the number of the note in that process, counted from 1. */
  process: z.string().optional(),
  number: z.number().int().positive().optional(),
  /** Earlier numbers of that process without a note, and those of which it does not know. */
  voids: z.array(z.number()).optional(),
  uncertain: z.array(z.number()).optional(),
  signature: z.string().optional(),
})

/** A note in the chain. `at` is in ms since 1970, by the clock of Redis. */
export const AuditEntry = AuditNote.extend({
  ...Signed.shape,
  version: z.number().int(),
  seq: z.number().int().positive(),
  at: z.number(),
  /** The states that a request left and entered. */
  from: z.string().optional(),
  to: z.string().optional(),
  /** The hash of the previous entry. Empty in the first entry. */
  prev: z.string(),
  /** Why the process that chained it could not verify it. For people who read the text: code verifies again. */
  unverified: z.string().optional(),
})
export type AuditEntry = Known<z.infer<typeof AuditEntry>>

/** Removes unknown fields from a type. A note keeps the fields of a newer version when it joins the chain, but the code cannot use them. */
type Known<T> = { [Name in keyof T as string extends Name ? never : Name]: T[Name] }
