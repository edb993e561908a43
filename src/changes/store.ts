import { randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'
import type { AuditNote } from '../domain/audit-entry.ts'
import type { ChangeKind } from '../domain/change.ts'
import type { Origin } from '../domain/origin.ts'
import { isOpen, openStates, Request, type RequestState } from '../domain/request.ts'
import type { Audit } from './audit.ts'
import type { Keys } from './keys.ts'
import { encodeFields } from './record.ts'
import { createRecords } from './records.ts'
import { guardStore } from './redis.ts'
import { createScripts } from './scripts.ts'

/** Longer than looking for something and deleting it can take. */
const searchMs = 60_000

/** The share of the time to decide after which approvers are reminded first. */
export const firstReminderAt = 0.5

/** How long the record of an ended request is kept. */
export const keepEndedMs = 30 * 24 * 3_600_000

export interface NewRequest {
  id: string
  kind: ChangeKind
  input: unknown
  facts: unknown
  resource: string
  sentence: string
  hash: string
  rule: string
  unchecked: string[]
  origin: Origin
  reason?: string
  approverNames?: string
  /** False where this kind is carried out without an approval, as soon as its card is posted. */
  needsApproval: boolean
  ttlMs: number
}

type Stamp = 'decidedAt' | 'sentAt' | 'acceptedAt' | 'lateAt' | 'endedAt'

export interface Transition {
  /** Names the step, for the audit: `approve`, `send`, `end`. */
  name: string
  /** What the audit says of it, beyond what the request says of itself. */
  audit?: Pick<AuditNote, 'by' | 'rule' | 'reason' | 'result'>
  from: RequestState[]
  to: RequestState
  set?: Partial<
    Pick<Request, 'decision' | 'approvals' | 'missing' | 'reminded' | 'why' | 'next' | 'seen' | 'lastSeen' | 'watchedUntil' | 'stoppedBy'>
  >
  /** Fields that get the present time of Redis' clock. */
  stamp?: Stamp[]
  /** Only while the request can still be decided. */
  unexpired?: boolean
  /** Only until then, by Redis' clock: where the step rests on a look at something that may have changed since. */
  notAfter?: number
  /** Only while the record is as it was read: where the step was worked out from what it holds. */
  unmoved?: boolean
  /** Sets anew when it expires: in so many ms. */
  extendMs?: number
  /** When it needs attention again; never, if absent and not kept. */
  dueInMs?: number
  /** It needs attention when it did before. */
  keepDue?: boolean
  /** Messages for the thread, put into the outbox in the same step. */
  reports?: ReportName[]
}

/** What a thread is told, in the order in which it belongs. */
export const reportNames = [
  'reminder-half',
  'reminder-last',
  'break-glass',
  'remark',
  'late',
  'stopped',
  'ended',
  'restarted',
  'ended-again',
] as const
export type ReportName = (typeof reportNames)[number]
export type OutboxName = 'card' | ReportName

export interface TransitionResult {
  outcome: 'won' | 'lost' | 'moved' | 'expired' | 'late' | 'missing'
  state: RequestState | undefined
}

interface StoreParts {
  redis: Redis
  keys: Keys
  audit: Pick<Audit, 'encode' | 'kick'>
  /** Hears of every step that was made here. */
  onStep?: (step: Step) => void
}

export interface Step {
  /** `ask`, or the name of a transition. */
  act: string
  kind: ChangeKind
  to: RequestState
  /** From the write to the end, where this is the end of one. */
  tookMs?: number
}

/** The records of requests in Redis: created once, changed only by compare-and-set. Throws StoreUnavailableError when Redis does not answer. */
export function createStore({ redis, keys, audit, onStep = () => {} }: StoreParts) {
  const run = createScripts(redis)

  async function create(request: NewRequest): Promise<{ outcome: 'created' | 'exists' | 'busy'; id: string }> {
    const { id, resource, ttlMs, origin, rule, reason } = request
    const argument = {
      id,
      recordPrefix: keys.recordPrefix,
      open: openStates,
      fields: encodeFields({ ...request, state: 'waiting' }),
      ttlMs,
      dueInMs: request.needsApproval ? Math.floor(ttlMs * firstReminderAt) : 0,
    }
    const note = noteOf(request, 'ask', { by: origin.userId, rule, reason })
    const [outcome, standing] = await run('create', creationKeys(id, resource), [JSON.stringify(argument), audit.encode(note)])
    audit.kick()
    if (outcome === 'created') onStep({ act: 'ask', kind: request.kind, to: 'waiting' })
    return { outcome: outcome as 'created' | 'exists' | 'busy', id: standing ?? id }
  }

  function creationKeys(id: string, resource: string): string[] {
    return [keys.record(id), keys.resource(resource), keys.latest(resource), keys.open, keys.outbox, keys.due, keys.auditIntake]
  }

  /** Takes back a request whose card could not be posted. Does nothing to one that people have seen. */
  async function discard(request: Noted, why: string): Promise<void> {
    const note = audit.encode(noteOf(request, 'discard', { result: why }))
    await run('discard', creationKeys(request.id, request.resource), [request.id, note])
    audit.kick()
  }

  /** Redis' clock, the one that all times of a record are taken from, in ms since 1970. */
  async function now(): Promise<number> {
    const [ms] = await run('now', [keys.lastTick], [])
    return Number(ms)
  }

  /** `token` makes a repeat recognisable; the default is right wherever one call is one intent. */
  async function transition(request: Request, step: Transition, token: string = randomUUID()): Promise<TransitionResult> {
    const argument = {
      id: request.id,
      // A person's steps go by their name, too: another's must not hide that one was sent twice.
      name: step.audit?.by === undefined ? step.name : `${step.name}:${step.audit.by}`,
      token,
      from: step.from,
      to: step.to,
      set: encodeFields(step.set ?? {}),
      stamp: step.stamp ?? [],
      unexpired: step.unexpired ?? false,
      notAfter: step.notAfter ?? false,
      revision: step.unmoved ? request.revision : false,
      extendMs: step.extendMs ?? false,
      dueInMs: step.dueInMs ?? false,
      keepDue: step.keepDue ?? false,
      reports: step.reports ?? [],
      open: isOpen(step.to),
      keepMs: keepEndedMs,
    }
    const { id, resource } = request
    const recordKeys = [keys.record(id), keys.resource(resource), keys.open, keys.ended, keys.outbox, keys.due, keys.auditIntake]
    const note = noteOf(request, step.name, { result: step.set?.why, ...step.audit })
    const [outcome, state, at] = await run('transition', recordKeys, [JSON.stringify(argument), audit.encode(note)])
    audit.kick()
    if (outcome === 'won') {
      const took = step.stamp?.includes('endedAt') && request.sentAt !== undefined ? { tookMs: Number(at) - request.sentAt } : {}
      onStep({ act: step.name, kind: request.kind, to: step.to, ...took })
    }
    return { outcome: outcome as TransitionResult['outcome'], state: (JSON.parse(state ?? '""') || undefined) as RequestState | undefined }
  }

  /** Puts the next attention off. Harmless for one that has ended meanwhile: whoever attends to it looks at its state first. */
  async function postpone(ids: string[], inMs: number): Promise<void> {
    if (ids.length > 0) await run('postpone', [keys.due], [String(Math.round(inMs)), ...ids])
  }

  /** The same, unless the record has moved on since it was read: then it is due when that says so. */
  async function putOff(request: Request, inMs: number): Promise<void> {
    await run('put-off', [keys.due, keys.record(request.id)], [request.id, String(Math.round(inMs)), String(request.revision)])
  }

  /** Never needs attention again, unless the record has moved on since it was read in this revision (undefined: there was none). */
  async function forget(id: string, revision: number | undefined): Promise<void> {
    await run('forget', [keys.due, keys.record(id)], [id, String(revision ?? '')])
  }

  async function due(limit: number): Promise<string[]> {
    return run('due', [keys.due], ['0', String(limit)])
  }

  /** Whether anything needs attention within the next moments, so that ticks are worth their while. */
  async function isBusy(withinMs: number): Promise<boolean> {
    const [soon, unsent] = await Promise.all([
      run('due', [keys.due], [String(withinMs), '1']),
      run('due', [keys.outbox], [String(withinMs), '1']),
    ])
    return soon.length + unsent.length > 0
  }

  /**
   * Lets one at a time look for what a request has issued and take it back: a second one would find it gone, and take it for never
   * made. A holder that dies is waited for. Gives the token to end it with, or undefined where another one is at it.
   */
  async function claimSearch(id: string): Promise<string | undefined> {
    const token = randomUUID()
    // SET NX GET may be sent twice: the second time it finds its own token.
    const holder = await guardStore(() => redis.set(keys.search(id), token, 'PX', searchMs, 'NX', 'GET'))
    return holder === null || holder === token ? token : undefined
  }

  /** One that took so long that its claim ran out does not end the search of another. */
  async function endSearch(id: string, token: string): Promise<void> {
    await run('release', [keys.search(id)], [token])
  }

  async function noteTick(): Promise<void> {
    const at = await now()
    await guardStore(() => redis.set(keys.lastTick, String(at)))
  }

  /** How long ago the last tick was, of any replica. Infinity when there was none. */
  async function sinceLastTickMs(): Promise<number> {
    const at = await guardStore(() => redis.get(keys.lastTick))
    return at === null ? Number.POSITIVE_INFINITY : (await now()) - Number(at)
  }

  /** Which request holds a resource, if one does. */
  async function holderOf(resource: string): Promise<string | undefined> {
    return (await guardStore(() => redis.get(keys.resource(resource)))) ?? undefined
  }

  /** A worker says that it is at work. */
  async function noteWorker(name: string): Promise<void> {
    const at = await now()
    await guardStore(() => redis.zadd(keys.workers, String(at), name))
    await guardStore(() => redis.zremrangebyscore(keys.workers, '-inf', String(at - 24 * 3_600_000)))
  }

  /** How many workers were at work within this time. */
  async function workersSeen(withinMs: number): Promise<number> {
    return guardStore(async () => redis.zcount(keys.workers, String((await now()) - withinMs), '+inf'))
  }

  /** Whether no other request for the same resource came after this one. */
  async function isLatest(request: Request): Promise<boolean> {
    const latest = await guardStore(() => redis.get(keys.latest(request.resource)))
    return latest === null || latest === request.id
  }

  return {
    ...createRecords({ redis, keys }),
    now,
    create,
    discard,
    transition,
    postpone,
    putOff,
    forget,
    due,
    isBusy,
    claimSearch,
    endSearch,
    noteTick,
    sinceLastTickMs,
    isLatest,
    holderOf,
    noteWorker,
    workersSeen,
  }
}
export type Store = ReturnType<typeof createStore>

type Noted = Pick<Request, 'id' | 'kind' | 'resource' | 'sentence' | 'origin' | 'hash'>

/** What the audit says of something that happens to a request. */
export function noteOf(request: Noted, act: string, more: Partial<AuditNote>): AuditNote {
  const { id, kind, resource, sentence, origin, hash } = request
  const { channelId, teamId } = origin
  return { act, requestId: id, kind, resource, what: sentence, channelId, teamId, payload: hash, ...more }
}

/** A request as it will stand once it is recorded, to see what its card would show. */
export function asDraft({ ttlMs, ...request }: NewRequest): Request {
  const now = Date.now()
  return Request.parse({ ...request, ttlMs, state: 'waiting', revision: 1, createdAt: now, expiresAt: now + ttlMs })
}
