import { z } from 'zod'
import { Origin } from './origin.ts'
import { Sighting } from './verdict.ts'

/**
 * The states of a request. `starting`: the write may have been sent, and its answer is not known yet. `tracking`: the account API accepted
 * it, and it takes effect. `voided`: approved, but the account had changed since the request, so nothing was done. `untracked`: accepted,
 * and somebody stopped the tracking, so its end is not known. docs/request-states.md shows which steps lead where.
 */
export const requestStates = [
  'waiting',
  'approved',
  'starting',
  'tracking',
  'done',
  'failed',
  'not-started',
  'superseded',
  'untracked',
  'voided',
  'rejected',
  'withdrawn',
  'expired',
] as const
export type RequestState = (typeof requestStates)[number]

export const openStates = ['waiting', 'approved', 'starting', 'tracking'] as const satisfies RequestState[]

export function isOpen(state: RequestState): boolean {
  return (openStates as readonly RequestState[]).includes(state)
}

/** One person's yes. `at`: ms since 1970. */
export const Approval = z.object({ by: z.string(), rule: z.string(), at: z.number() })
export type Approval = z.infer<typeof Approval>

/** Who decided, and by which rule. `by` is undefined when the kind needs no approval here; of several approvals it is the last. */
export const Decision = z.object({
  by: z.string().optional(),
  rule: z.string().optional(),
  reason: z.string().optional(),
  /** The requester approved it alone, in an emergency. */
  breakGlass: z.boolean().optional(),
})
export type Decision = z.infer<typeof Decision>

/**
 * A change that someone asked for, as it is kept in Redis: the truth that cards, jobs and lists are made from. `input`, `facts`
 * and `seen` are parsed again by the change of this `kind`. Times are milliseconds since 1970 by Redis' clock.
 */
export const Request = z.object({
  id: z.string(),
  kind: z.string(),
  state: z.enum(requestStates),
  /** Grows with every change of the record. */
  revision: z.number().int(),
  input: z.unknown(),
  /** The account as shown on the card and approved. */
  facts: z.unknown(),
  /** The account at execution, when it was looked at again. */
  seen: z.unknown().optional(),
  resource: z.string(),
  /** In words, for lists and the audit: `Move 203.0.113.10 from web-1 to web-2`. */
  sentence: z.string().default(''),
  /** SHA-256 of what was asked for (see `payloadHash`): buttons carry it, and what is carried out has it still. */
  hash: z.string().default(''),
  /** The policy's rule that it was asked for under. */
  rule: z.string().default(''),
  /** How long it can be approved, in ms; also how long an approved handover can be taken. */
  ttlMs: z.number().default(4 * 3_600_000),
  /** The approvers by name, where the rule calls others than them: a mention would call them, too. */
  approverNames: z.string().optional(),
  needsApproval: z.boolean(),
  unchecked: z.array(z.string()),
  origin: Origin,
  reason: z.string().optional(),
  createdAt: z.number(),
  expiresAt: z.number(),
  approvals: z.array(Approval).default([]),
  /** How many more it takes, as counted at the last approval: not everybody who has approved may still. */
  missing: z.number().optional(),
  /** How many of the two reminders were sent. */
  reminded: z.number().default(0),
  decision: Decision.optional(),
  decidedAt: z.number().optional(),
  sentAt: z.number().optional(),
  /** When the account API confirmed it, or something of it was first seen on the account. */
  acceptedAt: z.number().optional(),
  lateAt: z.number().optional(),
  endedAt: z.number().optional(),
  /** What the account showed when it was told as late; absent where the account API did not answer. */
  lastSeen: Sighting.optional(),
  /** Who had it no longer followed. */
  stoppedBy: z.string().optional(),
  /** Why it ended as it did, a sentence. */
  why: z.string().optional(),
  /** What to do next, a sentence, where asking for the same again is of no use. */
  next: z.string().optional(),
  /** Told as not started or failed, and still looked at until then, because it may start late. */
  watchedUntil: z.number().optional(),
  /** Where the card stands, and up to which revision Slack shows it. */
  cardTs: z.string().optional(),
  cardRevision: z.number().optional(),
})
export type Request = z.infer<typeof Request>

/** As much of a request as tells which of thousands to show. */
export const Outline = Request.pick({ id: true, kind: true, state: true, needsApproval: true, origin: true })
export type Outline = z.infer<typeof Outline>

/** What is kept in memory of a request between ticks that tell nothing new: enough to see whether it is still under way, or late. */
export type Underway = Pick<Request, 'id' | 'kind' | 'state' | 'createdAt' | 'sentAt' | 'lateAt' | 'watchedUntil'>
