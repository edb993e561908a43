import { randomUUID } from 'node:crypto'
import type { AuditNote } from '../../audit/entry.ts'
import type { Audit } from '../../audit/intake.ts'
import type { ChangeKind } from '../../domain/change-kind.ts'
import type { Finding } from '../../domain/finding.ts'
import type { Origin } from '../../domain/origin.ts'
import { isOpen, openStates, Request, type RequestState, requestVersion, unknownState } from '../../domain/request.ts'
import { claim } from '../../redis/claims.ts'
import type { Redis } from '../../redis/connect.ts'
import { guardStore } from '../../redis/connect.ts'
import type { Keys } from '../../redis/key-names.ts'
import { createScripts, readScripts } from '../../redis/scripts.ts'
import { type ReportName, type StepName, stateAfter, stepOf } from '../steps.ts'
import { encodeFields } from './record.ts'
import { createRecords } from './records.ts'

const scripts = readScripts(import.meta.url, ['create', 'discard', 'take-step', 'put-off', 'forget'])

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
  hash: string
  rule: string
  unchecked: Finding[]
  warnings?: Finding[]
  origin: Origin
  reason?: string
  approverNames?: string
  /** False where this kind is carried out without an approval, as soon as its card is posted. */
  needsApproval: boolean
  ttlMs: number
}

/** What a step carries besides its name. */
export interface StepData {
  set?: Partial<
    Pick<Request, 'decision' | 'approvals' | 'missing' | 'reminded' | 'causes' | 'seen' | 'lastSeen' | 'trackedUntil' | 'stoppedBy'>
  >
  /** What the audit says of it, beyond what the request says of itself. */
  audit?: Pick<AuditNote, 'by' | 'rule' | 'via' | 'reason' | 'missing' | 'needed' | 'answer' | 'resourceId'>
  /** Of the messages that the step may report: those that the thread is owed. */
  reports?: readonly ReportName[]
  /** Only until then, by Redis' clock: where the step rests on a read of something that may have changed since. */
  notAfter?: number
  /** Moves the deadline: in this many ms. */
  extendMs?: number
  /** When the request is due again. Absent: never, unless the step keeps what was due. */
  dueInMs?: number
}

/** `busy`: its resource has another open request. `too-many`: its requester has as many undecided ones as a person may have. */
export interface Created {
  outcome: 'created' | 'exists' | 'busy' | 'too-many'
  id: string
}

export type OutboxName = 'card' | ReportName

/** `lost`: another state. `changed`: the record changed since it was read. `expired`: past the deadline. `outdated`: past `notAfter`. */
export interface Taken {
  outcome: 'won' | 'lost' | 'changed' | 'expired' | 'outdated' | 'missing'
  state: RequestState | undefined
}

interface StoreParts {
  redis: Redis
  keys: Keys
  audit: Pick<Audit, 'encode' | 'kick'>
  /** Hears of every step that was made here. */
  onStep?: (step: TakenStep) => void
}

/** A step that was taken by this process. */
export interface TakenStep {
  step: StepName | 'request'
  kind: ChangeKind
  to: RequestState
  /** From the write to the end, where this is the end of one. */
  tookMs?: number
}

/** The records of requests in Redis: created once, changed only by compare-and-set. Throws StoreUnavailableError when Redis does not answer. */
export function createStore({ redis, keys, audit, onStep = () => {} }: StoreParts) {
  const run = createScripts(redis, scripts)

  /** Records a request. `mostUndecided`: how many requests that wait for an approval its requester may have; any number where absent. */
  async function create(request: NewRequest, { mostUndecided }: { mostUndecided?: number } = {}): Promise<Created> {
    const { id, ttlMs, origin, rule, reason } = request
    const argument = {
      id,
      recordPrefix: keys.recordPrefix,
      open: openStates,
      fields: encodeFields({ ...request, version: requestVersion, state: 'waiting' }),
      ttlMs,
      dueInMs: request.needsApproval ? Math.floor(ttlMs * firstReminderAt) : 0,
      needsApproval: request.needsApproval,
      mostUndecided: mostUndecided ?? false,
      keepMs: keepEndedMs,
    }
    const note = noteOf(request, 'request', { by: origin.userId, rule, reason })
    const [outcome, standing] = await run('create', creationKeys(request), [JSON.stringify(argument), audit.encode(note)])
    audit.kick()
    if (outcome === 'created') onStep({ step: 'request', kind: request.kind, to: 'waiting' })
    return { outcome: outcome as Created['outcome'], id: standing ?? id }
  }

  function creationKeys({ id, resource, origin }: Pick<Request, 'id' | 'resource' | 'origin'>): string[] {
    const ofResource = [keys.resource(resource), keys.latest(resource)]
    return [keys.record(id), ...ofResource, keys.open, keys.outbox, keys.due, keys.auditIntake, keys.undecided(origin.userId)]
  }

  /** Takes back a request whose card could not be posted. Does nothing to one that people have seen. */
  async function discard(request: Noted, cause: Finding): Promise<void> {
    const note = audit.encode(noteOf(request, 'discard', { causes: [cause] }))
    await run('discard', creationKeys(request), [request.id, note])
    audit.kick()
  }

  /** Redis' clock, the one that all times of a record are taken from, in ms since 1970. */
  async function now(): Promise<number> {
    const [ms] = await run('now', [keys.lastTick], [])
    return Number(ms)
  }

  /** Takes a step of a request. `token` makes a repeat recognizable; the default is right wherever one call is one intent. */
  async function take(request: Request, name: StepName, data: StepData = {}, token: string = randomUUID()): Promise<Taken> {
    const step = stepOf(name)
    // No step leads from a state that another version of Lockkeeper wrote.
    if (request.state === unknownState) return { outcome: 'lost', state: undefined }
    const to = stateAfter(name, request.state)
    const argument = {
      id: request.id,
      // A person's steps go by their name, too: another's must not hide that one was sent twice.
      name: data.audit?.by === undefined ? name : `${name}:${data.audit.by}`,
      token,
      // Where the state stays, it is the one that was read.
      from: step.to === 'same' ? step.from.filter((state) => state === request.state) : step.from,
      to,
      set: encodeFields(data.set ?? {}),
      stamp: step.stamps ?? [],
      unexpired: step.beforeDeadline ?? false,
      notAfter: data.notAfter ?? false,
      revision: step.ifUnchanged ? request.revision : false,
      extendMs: data.extendMs ?? false,
      dueInMs: data.dueInMs ?? false,
      keepDue: step.keepsDue ?? false,
      reports: [...(step.reports ?? []), ...(data.reports ?? []).filter((name) => step.mayReport?.includes(name))],
      open: isOpen(to),
      keepMs: keepEndedMs,
    }
    const { id, resource } = request
    const recordKeys = [keys.record(id), keys.resource(resource), keys.open, keys.ended, keys.outbox, keys.due, keys.auditIntake]
    const note = noteOf(request, name, { causes: data.set?.causes, ...data.audit })
    const [outcome, state, at] = await run('take-step', recordKeys, [JSON.stringify(argument), audit.encode(note)])
    audit.kick()
    if (outcome === 'won') {
      const took = step.stamps?.includes('endedAt') && request.sentAt !== undefined ? { tookMs: Number(at) - request.sentAt } : {}
      onStep({ step: name, kind: request.kind, to, ...took })
    }
    return { outcome: outcome as Taken['outcome'], state: (JSON.parse(state ?? '""') || undefined) as RequestState | undefined }
  }

  /** Puts the next attention off. Harmless for one that has ended meanwhile: whoever reconciles it looks at its state first. */
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
    const holder = await claim(redis, keys.search(id), { token, lastsMs: searchMs })
    return holder === undefined ? token : undefined
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
    take,
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

type Noted = Pick<Request, 'id' | 'kind' | 'resource' | 'facts' | 'origin' | 'hash'>

/** What the audit says of something that happens to a request. */
export function noteOf(request: Noted, act: string, more: Partial<AuditNote>): AuditNote {
  const { id, kind, resource, facts, origin, hash } = request
  const { channelId, teamId } = origin
  return { act, requestId: id, kind, resource, facts, channelId, teamId, payload: hash, ...more }
}

/** A request as it will stand once it is recorded, to see what its card would show. */
export function asDraft({ ttlMs, ...request }: NewRequest): Request {
  const now = Date.now()
  return Request.parse({
    ...request,
    version: requestVersion,
    ttlMs,
    state: 'waiting',
    revision: 1,
    createdAt: now,
    expiresAt: now + ttlMs,
  })
}
