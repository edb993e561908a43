import { hash } from 'node:crypto'
import { z } from 'zod'
import { Grant, Origin } from './approval.ts'
import { Finding, Sighting } from './change.ts'
import { canonicalJson, type Verdict } from './signing.ts'

const timestamp = z.string().regex(/^\d{1,12}\.\d{1,6}$/)

/** A message in Slack, by its channel and its timestamp. `threadTs`: the first message of its thread, if it is a reply. */
export const MessageRef = z.object({ channelId: z.string().regex(/^[A-Z0-9]{2,30}$/), ts: timestamp, threadTs: timestamp.optional() })
export type MessageRef = z.infer<typeof MessageRef>

/** The states of one item, as messages show them. `waiting`: not sent yet. `unknown`: another version of Lockkeeper wrote its child. */
export type ItemState = 'waiting' | 'starting' | 'tracking' | 'done' | 'failed' | 'superseded' | 'not-started' | 'untracked' | 'unknown'

/** The progress and the outcome of one item, read from its child: a request of its own, without a message. Times are by Redis' clock. */
export interface RequestItem {
  id: string
  state: ItemState
  sentAt?: number
  acceptedAt?: number
  lateAt?: number
  endedAt?: number
  /** What keeps it from being sent, if anything does. */
  waits?: Waits
  causes: Finding[]
}

export function isItemOpen({ state }: Pick<RequestItem, 'state'>): boolean {
  return state === 'waiting' || isItemUnderway({ state })
}

export function isItemUnderway({ state }: Pick<RequestItem, 'state'>): boolean {
  return state === 'starting' || state === 'tracking'
}

const Parent = z.object({ id: z.string(), kind: z.string() })

export function childIdOf(parentId: string, resource: string): string {
  return hash('sha256', `child:${parentId}/${resource}`).slice(0, 32)
}

export function idOfResource(resource: string): string {
  return resource.slice(resource.indexOf(':') + 1)
}

/** What each state of a request means. docs/reference.md lists them, and the steps between them. */
export const stateMeanings = {
  waiting: 'Waits for approval.',
  approved: 'Nothing was sent yet. It may be scheduled or held.',
  starting: 'The write may have been sent.',
  tracking: 'The account API accepted it, or its items are being sent.',
  done: 'The account shows the change as done.',
  failed: 'The account API refused the change, or the change failed.',
  'not-started': 'The write was not sent, or it had no effect.',
  superseded: 'Another change overtook it.',
  untracked: 'Its tracking was stopped, or its record could not be verified.',
  voided: 'The account changed before the write. Nothing was done.',
  rejected: 'An approver rejected it.',
  withdrawn: 'The requester withdrew it, or the alert that requested it resolved.',
  expired: 'Its deadline passed.',
}
export type RequestState = keyof typeof stateMeanings
export const requestStates = Object.keys(stateMeanings) as RequestState[]

/** Stands for a state that another version of Lockkeeper wrote and this version does not know. No step leads to it or from it. */
export const unknownState = 'unknown'
export type StoredState = RequestState | typeof unknownState

/** The version of the records that this release writes. */
export const requestVersion = 1

export const openStates = ['waiting', 'approved', 'starting', 'tracking'] as const satisfies RequestState[]

export function isOpen(state: StoredState): boolean {
  return (openStates as readonly StoredState[]).includes(state)
}

/** A window or a freeze that an emergency approval passed, and until when it would have held the request, in ms since 1970. `id`: as in a hold. */
export const Passed = z.object({
  by: z.enum(['window', 'freeze']),
  name: z.string(),
  id: z.string().optional(),
  until: z.number().optional(),
})
export type Passed = z.infer<typeof Passed>

/** What an approval was confirmed with, besides a click. `proof`: what the ability that confirms verifies again before the write. */
export const Confirmed = z.object({ with: z.string(), proof: z.record(z.string(), z.string()) })
export type Confirmed = z.infer<typeof Confirmed>

export const Approval = Grant.extend({
  by: z.string(),
  at: z.number(),
  /** Passes windows and freezes, for this reason. */
  emergency: z.literal(true).optional(),
  reason: z.string().optional(),
  passed: z.array(Passed).optional(),
  confirmed: Confirmed.optional(),
  signature: z.string().optional(),
})
export type Approval = z.infer<typeof Approval>

/** The person who decided, and the rule that allowed it. `by` is the last of several approvers, and undefined if no approval is needed. */
export const Decision = Grant.extend({
  by: z.string().optional(),
  reason: z.string().optional(),
  breakGlass: z.boolean().optional(),
  passed: z.array(Passed).optional(),
  /** Set if the requester alone approved it. Otherwise each approval has its own. */
  confirmed: Confirmed.optional(),
  at: z.number().optional(),
  /** The people and groups whom the rule required at the last approval. All had approved. */
  allOf: z.array(z.string()).optional(),
  /** How many approvals counted under each rule, at the last approval. */
  counted: z.array(z.number()).optional(),
  /** Signs that the approvals were enough, or the emergency with its reason (see `request-signature.ts`). */
  signature: z.string().optional(),
})
export type Decision = z.infer<typeof Decision>

export const RequestRef = z.object({ id: z.string(), channelId: z.string(), cardTs: z.string() })
export type RequestRef = z.infer<typeof RequestRef>

/** Only one whose message is posted can be named. */
export function refTo({ id, origin, cardTs = '' }: Pick<Request, 'id' | 'origin' | 'cardTs'>): RequestRef {
  return { id, channelId: origin.channelId, cardTs }
}

/** What keeps an approved request from starting. */
export const heldBy = ['start', 'window', 'freeze'] as const

/**
 * What an approved request waits for. `ms`: how long about, at the step that noted it. `until`: the same as a time. `name`: of the window or the freeze.
 * `from`: the beginning of a freeze that is only planned. `ifLifted`: a freeze is on that ends nobody knows when. `mayStartNow`: nothing but its own start keeps it from starting at once.
 */
export const Waits = z.object({
  for: z.enum(['account', 'reads', 'writes', 'worker', ...heldBy]),
  ms: z.number().optional(),
  until: z.number().optional(),
  perMinute: z.number().optional(),
  name: z.string().optional(),
  from: z.number().optional(),
  ifLifted: z.literal(true).optional(),
  mayStartNow: z.literal(true).optional(),
})
export type Waits = z.infer<typeof Waits>

/** The alert that led to a request: its name, the address where people see it, and since when it fires, in ms since 1970. All are untrusted. */
export const SourceAlert = z.object({ name: z.string(), link: z.string().optional(), startsAt: z.number().optional() })
export type SourceAlert = z.infer<typeof SourceAlert>

/** `resolvedAt`: when a thread last said that an alert resolved, in ms since 1970. */
export const ToldAlert = z.object({ isFiring: z.boolean(), resolvedAt: z.number().optional() })
export type ToldAlert = z.infer<typeof ToldAlert>

/** A requested change, as stored in Redis. Its `kind` parses `input`, `facts` and `seen` again. Times are in ms since 1970 by Redis' clock. */
export const Request = z.object({
  version: z.number().int(),
  id: z.string(),
  /** A kind that this version does not know is shown as it is. */
  kind: z.string(),
  state: z.enum(requestStates).or(z.literal(unknownState)).catch(unknownState),
  /** Increases with every step. The outbox writes its own fields without raising it. */
  revision: z.number().int(),
  input: z.unknown(),
  /** The facts about the account that the request message shows and the approvers approved. */
  facts: z.unknown(),
  /** The facts about the account when it was read again before the write. */
  seen: z.unknown().optional(),
  seenSignature: z.string().optional(),
  /** The resource that it locks. A resource has at most one open request. */
  resource: z.string(),
  /** The other resources that it locks: those of its items. */
  moreResources: z.array(z.string()).default([]),
  /** Set once its items are carried out by children, one for each of `moreResources`. */
  hasChildren: z.literal(true).optional(),
  parent: Parent.optional(),
  /** The SHA-256 of what was requested (see `payloadHash`). Buttons carry it, and it is checked again before the write. */
  hash: z.string(),
  rule: z.string(),
  /** The rules that its approvals must satisfy besides, and how many approvals each needs. */
  otherRules: z.array(z.object({ name: z.string(), approvals: z.number() })).optional(),
  /** How long the request can be approved, in ms. An approved handover can be taken for the same time. */
  ttlMs: z.number(),
  /** The approvers by name, if the rule mentions other people instead. A mention of the approvers would notify them, too. */
  approverNames: z.string().optional(),
  /** The names of the people in `warnings`, by Slack id. A mention would notify them. Absent if they name nobody. */
  personNames: z.record(z.string(), z.string()).optional(),
  needsApproval: z.boolean(),
  approvalsNeeded: z.number().int(),
  signature: z.string().optional(),
  unchecked: z.array(Finding),
  warnings: z.array(Finding).default([]),
  /** What approvers should check first, and was not known at the request. Not signed, because it allows nothing. */
  newWarnings: z.array(Finding).default([]),
  origin: Origin,
  reason: z.string().optional(),
  start: z.number().optional(),
  undoes: RequestRef.optional(),
  /** The ended request that this one repeats, or whose rest it retries, with the place of its message. */
  repeats: RequestRef.optional(),
  fromMessage: MessageRef.optional(),
  alert: SourceAlert.optional(),
  /** Set if its message mentions nobody. The reminders do. */
  isQuiet: z.literal(true).optional(),
  /** Whether it is known that the alert which requested it resolved (true), or fires again since (false). Not signed, because it allows nothing. */
  alertResolved: z.boolean().optional(),
  /** What its thread said last of the alert that requested it, and of those about its target. Not signed, because it allows nothing. */
  alertTold: ToldAlert.optional(),
  targetTold: ToldAlert.optional(),
  /** An address that a machine gave with its reason, such as that of its job. Untrusted text. */
  link: z.string().optional(),
  createdAt: z.number(),
  /** Not signed. Whether an approval came in time is judged by `createdAt` and `ttlMs`, which are. */
  expiresAt: z.number(),
  approvals: z.array(Approval).default([]),
  /** The number of approvals that were missing after the last one. Not everybody who approved may still approve. */
  missing: z.number().optional(),
  reminded: z.number().default(0),
  escalated: z.boolean().default(false),
  decision: Decision.optional(),
  decidedAt: z.number().optional(),
  startNow: Approval.optional(),
  /** What it waits for after the approval, shown until it is sent. */
  waits: Waits.optional(),
  /** How long such a change usually takes on this account, in ms: the median of the last ones. */
  usualMs: z.number().optional(),
  /** After how long it is slower than usual, in ms. */
  slowAfterMs: z.number().optional(),
  sentAt: z.number().optional(),
  /** The time when the account API confirmed the write, or when its effect was first seen on the account. */
  acceptedAt: z.number().optional(),
  slowAt: z.number().optional(),
  lateAt: z.number().optional(),
  endedAt: z.number().optional(),
  /** When the key that was handed over ends by itself. Not signed, because the report alone shows it. */
  endsAt: z.number().optional(),
  /** What the account showed when the request was reported as late. Absent if the account API did not answer. */
  lastSeen: Sighting.optional(),
  unansweredSince: z.number().optional(),
  /** How long the change was not tracked after somebody had stopped the tracking, in ms. */
  untrackedMs: z.number().optional(),
  stoppedBy: z.string().optional(),
  /** The person who withdrew the request. Absent if the alert resolved that had requested it. */
  withdrawnBy: z.string().optional(),
  causes: z.array(Finding).default([]),
  /** The timestamp of the request message, and the revision that it shows. */
  cardTs: z.string().optional(),
  cardRevision: z.number().optional(),
})
/** `items` are read from the children. For a request under way, `unansweredSince` says since when the account API does not answer. */
export type Request = z.infer<typeof Request> & { items?: RequestItem[] }

/** What keeps an approved request from starting: its start, a window or a freeze. Undefined if it may start. */
export function holdOf({ state, start, startNow, waits }: Pick<Request, 'state' | 'start' | 'startNow' | 'waits'>): Waits | undefined {
  if (state !== 'approved') return undefined
  // No worker has looked at it yet.
  if (waits === undefined && startNow === undefined && start !== undefined) return { for: 'start', until: start }
  return isHeld({ waits }) ? waits : undefined
}

/** The same of a request that waits for approval, too. */
export function scheduleOf(request: Pick<Request, 'state' | 'start' | 'startNow' | 'waits'>): Waits | undefined {
  const { state, start } = request
  return state === 'waiting' && start !== undefined ? { for: 'start', until: start } : holdOf(request)
}

/** Since when it could be sent: its approval, or the end of what held it. Undefined if that end is not known. */
export function couldStartAt({ decidedAt, start = 0, startNow, waits }: Request): number | undefined {
  const heldUntil = isHeld({ waits }) ? waits?.until : 0
  return decidedAt === undefined || heldUntil === undefined ? undefined : Math.max(decidedAt, startNow?.at ?? start, heldUntil)
}

/** The one that starts next first, then those of which nobody knows when, in the order of their approvals. */
export function bySchedule(one: Request, other: Request): number {
  const [first, second] = [one, other].map((each) => holdOf(each)?.until ?? Number.MAX_SAFE_INTEGER) as [number, number]
  return first - second || (one.decidedAt ?? 0) - (other.decidedAt ?? 0)
}

export function isHeld({ waits }: Pick<Request, 'waits'>): boolean {
  return heldBy.some((each) => each === waits?.for)
}

export type Underway = Pick<Request, 'state' | 'parent' | 'createdAt' | 'sentAt' | 'slowAfterMs' | 'slowAt' | 'lateAt'>

export function canReverse({ state, items = [] }: Pick<Request, 'state' | 'items'>): boolean {
  return state === 'done' || (state === 'failed' && items.some((item) => item.state === 'done'))
}

/** Whether it changed the resource, or one of its items, or still may: what was sent and is no longer tracked. */
export function mayHaveChanged({ state, items, resource }: Pick<Request, 'state' | 'items' | 'resource'>, what = resource): boolean {
  const may = (each: Pick<Request | RequestItem, 'state'>) => each.state === 'done' || each.state === 'untracked'
  if (!items) return may({ state })
  return items.some((item) => (what === resource || item.id === idOfResource(what)) && (may(item) || isItemUnderway(item)))
}

export function resourcesOf({ resource, moreResources = [] }: { resource: string; moreResources?: string[] | undefined }): string[] {
  return [resource, ...moreResources.filter((other) => other !== resource)]
}

export type LinkTo = (request: { origin: Pick<Origin, 'channelId'>; cardTs?: string | undefined }) => string | undefined

type Payload = Pick<Request, 'id' | 'kind' | 'input' | 'facts' | 'resource' | 'unchecked' | 'origin' | 'reason'> &
  Partial<Pick<Request, 'start' | 'warnings' | 'undoes' | 'repeats' | 'fromMessage' | 'alert' | 'link'>>

/** Hashes everything that is requested. Buttons carry the hash, and it is compared before the write, so that only what was approved is done. */
export function payloadHash(request: Payload): string {
  const { id, kind, input, facts, resource, unchecked, reason, start, undoes, repeats, fromMessage, alert, link, origin } = request
  const { userId, channelId, teamId } = origin
  const what = { id, kind, input, facts, resource, unchecked, warnings: request.warnings?.length ? request.warnings : undefined }
  return hash('sha256', canonicalJson({ ...what, reason, start, undoes, repeats, fromMessage, alert, link, userId, channelId, teamId }))
}

export function isGenuine(request: Request): boolean {
  return request.hash === payloadHash(request)
}

/** Why a write must not be sent. `unknown-key`: this process cannot verify the request, so the request does not end. */
export type AuthorityProblem = Finding & {
  code:
    | 'record-changed'
    | 'unknown-key'
    | 'approvals-not-genuine'
    | 'approved-too-long-ago'
    | 'already-sent'
    | 'already-ended'
    | 'approval-needed-now'
    | 'rule-gone'
    | 'end-not-allowed'
    | 'confirmation-needed-now'
    | 'confirmation-lost'
}

/** The code of a warning that alerts fire about the target, or that the last of them resolved. */
export const targetAlerted = 'target-alerted'

/** For approvers. What is newer of alerts about the target stands for what the request began with, which is signed and stays. */
export function warningsOf({ warnings, newWarnings }: Pick<Request, 'warnings' | 'newWarnings'>): Finding[] {
  const isNewer = newWarnings.some(({ code }) => code === targetAlerted)
  return [...newWarnings, ...warnings.filter(({ code }) => !isNewer || code !== targetAlerted)]
}

/** The reason why the audit, or the end of a tracking, says nothing of what a record contains. */
export const unverifiedRecord = { code: 'record-unverified' } as const satisfies Finding

export function problemOf(...verdicts: Verdict[]): AuthorityProblem | undefined {
  if (verdicts.includes('unknown-key')) return { code: 'unknown-key' }
  return verdicts.every((verdict) => verdict === 'genuine') ? undefined : { code: 'record-changed' }
}
