import { z } from 'zod'
import { changeKinds } from './change.ts'
import { Origin } from './origin.ts'

/**
 * The life of a request. `starting`: the write may have been sent, its answer is not known yet. `following`: accepted, takes
 * effect. `void`: approved, but the account no longer looked as it did on the card, so nothing was done.
 */
export const requestStates = [
  'waiting',
  'approved',
  'starting',
  'following',
  'done',
  'failed',
  'not-started',
  'superseded',
  'void',
  'rejected',
  'withdrawn',
  'expired',
] as const
export type RequestState = (typeof requestStates)[number]

export const openStates = ['waiting', 'approved', 'starting', 'following'] as const satisfies RequestState[]

export function isOpen(state: RequestState): boolean {
  return (openStates as readonly RequestState[]).includes(state)
}

/** Who decided, and by which rule. `by` is undefined when the kind needs no approval here. */
export const Decision = z.object({
  by: z.string().optional(),
  rule: z.string().optional(),
  reason: z.string().optional(),
})
export type Decision = z.infer<typeof Decision>

/**
 * A change that someone asked for, as it is kept in Redis: the truth that cards, jobs and lists are made from. `input`, `facts`
 * and `seen` are parsed again by the change of this `kind`. Times are milliseconds since 1970 by Redis' clock.
 */
export const Request = z.object({
  id: z.string(),
  kind: z.enum(changeKinds),
  state: z.enum(requestStates),
  /** Grows with every change of the record. */
  revision: z.number().int(),
  input: z.unknown(),
  /** The account as shown on the card and approved. */
  facts: z.unknown(),
  /** The account at execution, when it was looked at again. */
  seen: z.unknown().optional(),
  resource: z.string(),
  needsApproval: z.boolean(),
  unchecked: z.array(z.string()),
  origin: Origin,
  reason: z.string().optional(),
  createdAt: z.number(),
  expiresAt: z.number(),
  decision: Decision.optional(),
  decidedAt: z.number().optional(),
  sentAt: z.number().optional(),
  acceptedAt: z.number().optional(),
  lateAt: z.number().optional(),
  endedAt: z.number().optional(),
  /** Why it ended as it did, a sentence. */
  why: z.string().optional(),
  /** Told as not started or failed, and still looked at until then, because it may start late. */
  watchedUntil: z.number().optional(),
  /** Where the card stands, and up to which revision Slack shows it. */
  cardTs: z.string().optional(),
  cardRevision: z.number().optional(),
})
export type Request = z.infer<typeof Request>
