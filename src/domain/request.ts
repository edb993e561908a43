import { z } from 'zod'
import { Finding } from './finding.ts'
import { Sighting } from './observation.ts'
import { Origin } from './origin.ts'
import { Grant } from './ruling.ts'

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

/** A state that another version of Lockkeeper wrote and this one does not know. No step leads there, and none from there. */
export const unknownState = 'unknown'
export type StoredState = RequestState | typeof unknownState

/** The version of the shapes that this version of Lockkeeper writes. CONTRIBUTING.md says how they may change. */
export const requestVersion = 1

export const openStates = ['waiting', 'approved', 'starting', 'tracking'] as const satisfies RequestState[]

export function isOpen(state: StoredState): boolean {
  return (openStates as readonly StoredState[]).includes(state)
}

/** One person's approval, and what let them give it. `at`: ms since 1970. */
export const Approval = Grant.extend({ by: z.string(), at: z.number() })
export type Approval = z.infer<typeof Approval>

/** Who decided, and what let them. `by` is undefined when the kind needs no approval here; of several approvals it is the last. */
export const Decision = Grant.extend({
  by: z.string().optional(),
  reason: z.string().optional(),
  /** The requester approved it alone, in an emergency. */
  breakGlass: z.boolean().optional(),
})
export type Decision = z.infer<typeof Decision>

/**
 * A change that a person requested, as it is stored in Redis. Request messages, jobs and lists are made from it. `input`, `facts` and `seen` are
 * parsed again by the change of this `kind`. Times are milliseconds since 1970 by Redis' clock.
 */
export const Request = z.object({
  version: z.number().int(),
  id: z.string(),
  /** A kind that this version does not know is shown as it is. */
  kind: z.string(),
  state: z.enum(requestStates).or(z.literal(unknownState)).catch(unknownState),
  /** Grows with every change of the record. */
  revision: z.number().int(),
  input: z.unknown(),
  /** The account as shown on the request message and approved. */
  facts: z.unknown(),
  /** The account at execution, when it was read again. */
  seen: z.unknown().optional(),
  resource: z.string(),
  /** SHA-256 of what was requested (see `payloadHash`): buttons carry it, and what is carried out has it still. */
  hash: z.string(),
  /** The policy's rule that it was requested under. */
  rule: z.string(),
  /** How long it can be approved, in ms; also how long an approved handover can be taken. */
  ttlMs: z.number(),
  /** The approvers by name, where the rule mentions others than them: a mention would notify them, too. */
  approverNames: z.string().optional(),
  needsApproval: z.boolean(),
  /** What the preflight check could not find out. */
  unchecked: z.array(Finding),
  /** What approvers should know and what does not stand against it. */
  warnings: z.array(Finding).default([]),
  origin: Origin,
  reason: z.string().optional(),
  createdAt: z.number(),
  expiresAt: z.number(),
  approvals: z.array(Approval).default([]),
  /** How many more it takes, as counted at the last approval. Not everybody who has approved may still approve. */
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
  /** What the account showed when it was reported as late; absent where the account API did not answer. */
  lastSeen: Sighting.optional(),
  /** Who stopped the tracking. */
  stoppedBy: z.string().optional(),
  /** Why it ended as it did. */
  causes: z.array(Finding).default([]),
  /** It was reported as not started or failed, and is still tracked until then, because it may start late. */
  trackedUntil: z.number().optional(),
  /** Where the request message is, and up to which revision Slack shows it. */
  cardTs: z.string().optional(),
  cardRevision: z.number().optional(),
})
export type Request = z.infer<typeof Request>

/** As much of a request as a list of thousands needs. */
export const Outline = Request.pick({ id: true, kind: true, state: true, needsApproval: true, origin: true })
export type Outline = z.infer<typeof Outline>

/** What a worker keeps in memory of a request between ticks: enough to see whether it is still under way, or late. */
export type Underway = Pick<Request, 'id' | 'kind' | 'state' | 'createdAt' | 'sentAt' | 'lateAt' | 'trackedUntil'>
