import { randomUUID } from 'node:crypto'
import type { Audit } from '../audit/audit.ts'
import type { AuditNote } from '../audit/chain.ts'
import type { Origin } from '../domain/approval.ts'
import type { Finding } from '../domain/change.ts'
import type { ChangeKind } from '../domain/policy.ts'
import {
  type ItemState,
  isOpen,
  type MessageRef,
  openStates,
  problemOf,
  Request,
  type RequestItem,
  type RequestRef,
  type RequestState,
  requestVersion,
  resourcesOf,
  type SourceAlert,
  unknownItemState,
  unknownState,
  unverifiedRecord,
} from '../domain/request.ts'
import type { RequestSignatures } from '../domain/request-signature.ts'
import { guardStore, type Redis } from '../redis/connect.ts'
import type { Keys } from '../redis/key-names.ts'
import { claim, createScripts, readScripts } from '../redis/scripts.ts'
import { type ItemStepName, isSend, itemStepOf, type ReportName, type Step, type StepName, stateAfter, stepOf } from './steps.ts'

const scripts = readScripts(import.meta.url, ['postpone', 'clear-due-if-unchanged'])

/** The most requests, and the most messages, that one tick takes. The next tick takes the rest. */
export const dueAtOnce = 2_000

/** Creates the functions that read and set when requests are due. They throw StoreUnavailableError if Redis does not answer. */
export function createDueTimes({ redis, keys }: { redis: Redis; keys: Keys }) {
  const run = createScripts(redis, scripts)

  /** Returns the ids of requests that are due now, the oldest due time first. */
  async function due(limit = dueAtOnce): Promise<string[]> {
    return run('due', [keys.due], ['0', String(limit)])
  }

  /** Returns whether a request or a message is due within `withinMs`. Ticks run only while this is true. */
  async function isBusy(withinMs: number): Promise<boolean> {
    const [requests, messages] = await Promise.all([
      run('due', [keys.due], [String(withinMs), '1']),
      run('due', [keys.outbox], [String(withinMs), '1']),
    ])
    return requests.length + messages.length > 0
  }

  /** Counts the messages that Slack has not received yet. */
  async function countUnsent(): Promise<number> {
    return guardStore(() => redis.zcard(keys.outbox))
  }

  /** Makes a request due again in `inMs`, if it has a due time. `revision`: if its record still has this one. */
  async function postpone(id: string, inMs: number, revision?: number): Promise<void> {
    await run('postpone', [keys.due, keys.record(id)], [id, String(Math.round(inMs)), revision === undefined ? '' : String(revision)])
  }

  /** Makes a request due again in `inMs`. Does nothing if its record changed since it was read, because that step set a due time. */
  async function postponeIfUnchanged(request: Request, inMs: number): Promise<void> {
    await postpone(request.id, inMs, request.revision)
  }

  /** Clears the due time of a request, unless its record changed since `revision`. */
  async function clearDueIfUnchanged(id: string, revision: number): Promise<void> {
    await run('clear-due-if-unchanged', [keys.due, keys.record(id)], [id, String(revision)])
  }

  /**
   * Returns whether a request has a due time. Every step that removes a record removes its due time, too. So if a request still has one after
   * its record was not found, Redis has lost the record.
   */
  async function isDue(id: string): Promise<boolean> {
    return (await guardStore(() => redis.zscore(keys.due, id))) !== null
  }

  /** Clears the due time of a request without a record. Returns whether it had one. */
  async function clearDueWithoutRecord(id: string): Promise<boolean> {
    const [outcome] = await run('clear-due-if-unchanged', [keys.due, keys.record(id)], [id, ''])
    return outcome === 'removed'
  }

  return { due, isBusy, countUnsent, isDue, postpone, postponeIfUnchanged, clearDueIfUnchanged, clearDueWithoutRecord }
}

/** How many of the last changes of a kind count, and how many there must be. */
const mostKept = 50
const fewest = 5

/** How long changes of a kind took on this account, in ms: half of the last ones at most `medianMs`, nine of ten at most `p90Ms`. */
export interface Usual {
  medianMs: number
  p90Ms: number
}

/** Creates the record of how long the last changes of each kind took. A lost or doubled one decides nothing, so no error is thrown. */
export function createDurations({ redis, keys }: { redis: Redis; keys: Keys }) {
  async function note(kind: ChangeKind, ms: number): Promise<void> {
    const key = keys.durations(kind)
    const noted = redis
      .multi()
      .lpush(key, String(Math.round(ms)))
      .ltrim(key, 0, mostKept - 1)
      .exec()
    await noted.catch(() => {})
  }

  /** Returns undefined while too few are known, or if Redis does not answer. */
  async function usual(kind: ChangeKind): Promise<Usual | undefined> {
    const found = await guardStore(() => redis.lrange(keys.durations(kind), 0, mostKept - 1)).catch(() => [])
    const sorted = found
      .map(Number)
      .filter(Number.isFinite)
      .toSorted((a, b) => a - b)
    const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
    return sorted.length < fewest ? undefined : { medianMs: at(0.5), p90Ms: at(0.9) }
  }

  return { note, usual }
}
export type Durations = ReturnType<typeof createDurations>

/** How long a worker that does nothing is kept in the list of workers. */
const keepWorkersMs = 24 * 3_600_000

/** Stands for the workers that have stopped, until the next worker is noted. Otherwise no worker would be seen during a restart. */
const ended = 'ended'

interface HeartbeatsParts {
  redis: Redis
  keys: Keys
  /** Redis' clock, in ms since 1970. */
  now: () => Promise<number>
}

/** Creates the marks of running ticks and workers, for all replicas. They throw StoreUnavailableError if Redis does not answer. */
export function createHeartbeats({ redis, keys, now }: HeartbeatsParts) {
  async function noteTick(): Promise<void> {
    const at = await now()
    await guardStore(() => redis.set(keys.lastTick, String(at)))
  }

  /** Returns the age of the last tick of any replica in ms, or Infinity if there was none. */
  async function sinceLastTickMs(): Promise<number> {
    const at = await guardStore(() => redis.get(keys.lastTick))
    return at === null ? Number.POSITIVE_INFINITY : (await now()) - Number(at)
  }

  async function noteWorker(name: string): Promise<void> {
    const at = await now()
    await guardStore(() => redis.zadd(keys.workers, String(at), name))
    await guardStore(() => redis.zrem(keys.workers, ended))
    await guardStore(() => redis.zremrangebyscore(keys.workers, '-inf', String(at - keepWorkersMs)))
  }

  /** Takes a worker that has stopped from the list. */
  async function noteWorkerEnd(name: string): Promise<void> {
    const at = await now()
    await guardStore(() => redis.multi().zadd(keys.workers, String(at), ended).zrem(keys.workers, name).exec())
  }

  /** Counts the workers that were noted within the last `withinMs`. */
  async function workersSeen(withinMs: number): Promise<number> {
    return guardStore(async () => redis.zcount(keys.workers, String((await now()) - withinMs), '+inf'))
  }

  /** Returns when a worker was noted last, in ms since 1970 by Redis' clock. 0: never. */
  async function lastWorkerAt(): Promise<number> {
    const [, at = '0'] = await guardStore(() => redis.zrange(keys.workers, '-1', '-1', 'WITHSCORES'))
    return Number(at)
  }

  return { noteTick, sinceLastTickMs, noteWorker, noteWorkerEnd, workersSeen, lastWorkerAt }
}

/** The hash in Redis that holds a request: JSON by field. Fields with a colon are written by scripts (`token:approve`, `outbox:card`). */
export type RecordHash = Record<string, string>

/** Encodes each field as JSON, and leaves out those that are undefined. */
export function encodeFields(fields: Record<string, unknown>): RecordHash {
  const present = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.fromEntries(present.map(([name, value]) => [name, JSON.stringify(value)]))
}

/**
 * Decodes a request. Its id is that of its key, so that a copy of another request's record is not taken for that request. Throws if the record does
 * not fit this version.
 */
export function decodeRecord(id: string, hash: RecordHash): Request {
  const fields: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(hash)) if (!name.includes(':')) fields[name] = JSON.parse(value)
  return Request.parse({ ...fields, id })
}

/** Decodes a request, or returns undefined if the record does not fit this version. */
export function decodeIfFit(id: string, hash: RecordHash): Request | undefined {
  try {
    return decodeRecord(id, hash)
  } catch {
    return undefined
  }
}

/** What the note of an act says besides the request. */
type More = Partial<AuditNote>

/**
 * Builds the audit note of an act on a request that this process made, or that it has verified. Only the notes of the request itself and of a write
 * say what is changed. The others name the request, by which it is found.
 */
export function noteOfVerified(
  request: Pick<Request, 'id' | 'kind' | 'resource' | 'facts' | 'origin' | 'hash'>,
  act: string,
  more: More,
): AuditNote {
  const { id, kind, resource, facts, origin, hash } = request
  const { channelId, teamId } = origin
  if (act === 'request') return { act, requestId: id, kind, resource, facts, channelId, teamId, payload: hash, ...more }
  // An item that is skipped is never sent.
  if (isSend(act) || act === 'skip-item') return { act, requestId: id, facts, ...more }
  // Refusals are counted by the kind.
  return { act, requestId: id, kind: act === 'refused' ? kind : undefined, ...more, facts: undefined }
}

/**
 * Creates the function that builds the audit note of an act on a request that was read from Redis. Every note is signed, so it says nothing of a
 * record that cannot be verified: only the act, who did it, and what the account API answered.
 */
export function createNoteOf({ verifyRecord }: Pick<RequestSignatures, 'verifyRecord'>) {
  return function noteOf(request: Request, act: string, more: More): AuditNote {
    const problem = problemOf(verifyRecord(request))
    if (!problem) return noteOfVerified(request, act, more)
    const { by, attempted, reason, answer, resourceId, causes = [] } = more
    const why = problem.code === 'unknown-key' ? problem : unverifiedRecord
    return { act, requestId: request.id, by, attempted, reason, answer, resourceId, causes: causes.length > 0 ? causes : [why] }
  }
}
export type NoteOf = ReturnType<typeof createNoteOf>

/** What a step carries besides its name. */
export interface StepData {
  set?: Partial<
    Pick<
      Request,
      | 'decision'
      | 'approvals'
      | 'missing'
      | 'reminded'
      | 'causes'
      | 'seen'
      | 'seenSignature'
      | 'lastSeen'
      | 'trackedUntil'
      | 'stoppedBy'
      | 'withdrawnBy'
      | 'items'
      | 'lateAt'
      | 'waits'
      | 'usualMs'
      | 'unanswered'
      | 'untrackedMs'
      | 'pauses'
    >
  >
  /** What the audit notes of the step, beyond the request itself. */
  audit?: Pick<
    AuditNote,
    'by' | 'rule' | 'via' | 'reason' | 'missing' | 'needed' | 'answer' | 'resourceId' | 'item' | 'resource' | 'facts' | 'causes'
  >
  /** The reports that the thread is owed, among those that the step may report. */
  reports?: readonly ReportName[]
  /** The latest time for the step, in ms since 1970 by Redis' clock. Set it if the step rests on a read that can become outdated. */
  notAfter?: number
  /** Takes the step only if no other request holds a resource of this one. */
  unlessHeld?: true
  /** Moves the deadline to this many ms from now. */
  extendMs?: number
  /** When the request is due again, in ms from now. Absent: never, unless the step keeps the due time. */
  dueInMs?: number
}

export interface StepResult {
  /**
   * `lost`: the state does not allow the step, or another request holds a resource. `changed`: the record changed since it was read. `expired`: the deadline has passed.
   * `outdated`: `notAfter` has passed. `missing`: there is no record.
   */
  outcome: 'won' | 'lost' | 'changed' | 'expired' | 'outdated' | 'missing'
  state: RequestState | undefined
}

/** A step that this process took, for the metrics and the log. */
export interface TakenStep {
  step: StepName | ItemStepName | 'request'
  requestId: string
  /** The id of the item whose step it is. */
  item?: string
  /** For a step of an item, the kind of the item. */
  kind: ChangeKind
  /** The kind of the request, if it is another one. */
  requestKind?: ChangeKind
  to: RequestState | ItemState
  /** From the last approval in ms, for a step with which a write is sent. */
  sinceApprovalMs?: number
  /** From the write to the end in ms, without the time that nobody tracked it, for a step that ends a change. */
  tookMs?: number
}

const scriptsTakeStep = readScripts(import.meta.url, ['take-step'])

/** How long Redis keeps the record of an ended request. */
const keepEndedMs = 30 * 24 * 3_600_000

/** The number of the first key of a resource in the script. */
const firstResourceKey = 7

export interface TakeStepParts {
  redis: Redis
  keys: Keys
  audit: Pick<Audit, 'noteWith'>
  noteOf: NoteOf
  durations: Pick<Durations, 'note'>
  onStep: (step: TakenStep) => void
}

/**
 * Creates the function that takes a step of a request as one compare-and-set, and the one that it rests on. They throw StoreUnavailableError
 * if Redis does not answer.
 */
export function createTakeStep({ redis, keys, audit, noteOf, durations, onStep }: TakeStepParts) {
  const run = createScripts(redis, scriptsTakeStep)

  /** Runs the script. `name` is what the audit calls the step. */
  async function compareAndSet(request: Request, name: string, step: Step, data: StepData, { to, token, cardInMs, changed = [] }: Taking) {
    const argument = JSON.stringify({
      ...argumentOf(request, name, step, data),
      token,
      to,
      open: isOpen(to),
      cardInMs: cardInMs ?? false,
      changed: changed.map((resource) => firstResourceKey + 2 * resourcesOf(request).indexOf(resource) + 1),
    })
    const locks = resourcesOf(request).flatMap((resource) => [keys.resource(resource), keys.lastChange(resource)])
    const recordKeys = [keys.record(request.id), keys.open, keys.ended, keys.outbox, keys.due, keys.auditIntake, ...locks]
    const [outcome, state, at] = await audit.noteWith(
      noteOf(request, name, { causes: data.set?.causes, ...data.audit }),
      (note) => run('take-step', recordKeys, [argument, note]),
      ([taken, , , repeat]) => (taken !== 'won' ? 'not-written' : repeat === undefined ? 'written' : 'unknown'),
    )
    const found = (JSON.parse(state ?? '""') || undefined) as RequestState | undefined
    return { outcome: outcome as StepResult['outcome'], state: found, at: Number(at) }
  }

  /** A repeat with the same `token` gets the same outcome. Pass one only if several calls stand for one intent. */
  async function take(request: Request, name: StepName, data: StepData = {}, token: string = randomUUID()): Promise<StepResult> {
    // No step leads from a state that another version of Lockkeeper wrote.
    if (request.state === unknownState) return { outcome: 'lost', state: undefined }
    const to = stateAfter(name, request.state)
    const { outcome, state, at } = await compareAndSet(request, name, stepOf(name), data, {
      to,
      token,
      changed: to === 'done' && request.state !== 'done' ? resourcesOf(request) : [],
    })
    if (outcome === 'won') {
      const took =
        stepOf(name).stamps?.includes('endedAt') && request.sentAt !== undefined
          ? { tookMs: at - request.sentAt - (request.untrackedMs ?? 0) }
          : {}
      if (to === 'done' && took.tookMs !== undefined) await durations.note(request.kind, took.tookMs)
      const waited = name === 'send' ? sinceApproval(request, at) : {}
      onStep({ step: name, requestId: request.id, kind: request.kind, to, ...waited, ...took })
    }
    return { outcome, state }
  }

  return { take, compareAndSet }
}

export type TakeStep = ReturnType<typeof createTakeStep>

interface Taking {
  /** The state after the step. */
  to: RequestState
  /** The same for every repeat of one intent. */
  token: string
  /** How long the card may wait for its update. */
  cardInMs?: number
  /** The resources that the step reports as changed. */
  changed?: string[]
}

/** Returns the time since the last approval, for a step with which a write is sent. `at`: the time of the step, in ms since 1970. */
export function sinceApproval({ decidedAt }: Request, at: number): Pick<TakenStep, 'sinceApprovalMs'> {
  return decidedAt === undefined ? {} : { sinceApprovalMs: at - decidedAt }
}

/** The argument of the script, without what depends on the next state and the token. */
function argumentOf(request: Request, name: string, step: Step, data: StepData) {
  return {
    id: request.id,
    // Each person has a separate token for a step. Otherwise another person's approval would hide that a command is a repeat.
    tokenName: data.audit?.by === undefined ? name : `${name}:${data.audit.by}`,
    // A step that keeps the state leads from the state that was read.
    from: step.to === 'same' ? step.from.filter((state) => state === request.state) : step.from,
    set: encodeFields(data.set ?? {}),
    stamp: step.stamps ?? [],
    clear: step.clears ?? [],
    unexpired: step.beforeDeadline ?? false,
    notAfter: data.notAfter ?? false,
    unlessHeld: data.unlessHeld ?? false,
    revision: step.ifUnchanged ? request.revision : false,
    extendMs: data.extendMs ?? false,
    dueInMs: data.dueInMs ?? false,
    keepDue: step.keepsDue ?? false,
    reports: [...(step.reports ?? []), ...(data.reports ?? []).filter((report) => step.mayReport?.includes(report))],
    keepMs: keepEndedMs,
  }
}

const scriptsNewRequests = readScripts(import.meta.url, ['create', 'discard'])

/** The share of the time to approve after which approvers get the first reminder. */
export const firstReminderAt = 0.5

/**
 * How long Redis keeps the id of the latest request for a resource. An earlier request needs it while it is tracked after its end
 * (`trackEndedMs`), so this is longer.
 */
export const keepLatestMs = 3_600_000

/** Longer than any request can wait for an approval. */
const keepUndecidedMs = 30 * 24 * 3_600_000

/** How long a request counts for how many its requester may make. */
const latelyMs = 10 * 60_000

/** How many requests one person may make in 10 minutes, whatever becomes of them: as many as may wait for an approval, and at least 20. */
export function mostLately(mostUndecided: number): number {
  return Math.max(20, mostUndecided)
}

export interface NewRequest {
  id: string
  kind: ChangeKind
  input: unknown
  facts: unknown
  resource: string
  moreResources?: string[]
  hash: string
  rule: string
  unchecked: Finding[]
  warnings?: Finding[]
  origin: Origin
  reason?: string
  undoes?: RequestRef
  repeats?: RequestRef
  fromMessage?: MessageRef
  alert?: SourceAlert
  approverNames?: string
  personNames?: Record<string, string>
  /** False if the rule needs no approval. The change then starts as soon as its card is posted. */
  needsApproval: boolean
  approvalsNeeded: number
  ttlMs: number
  /** In ms since 1970 by Redis' clock. It is read before, because it is signed. */
  createdAt: number
  signature: string
}

export interface Created {
  /**
   * `exists`: a repeated delivery of the same request. `busy`: other open requests hold resources of it. `too-many`: the requester has as many
   * undecided requests as a person may have. `too-often`: the requester made `mostLately` requests in the last 10 minutes.
   */
  outcome: 'created' | 'exists' | 'busy' | 'too-many' | 'too-often'
  id: string
  /** The resources that are held, and the id of the request that holds each. Empty unless `busy`. */
  held: { resource: string; by: string }[]
  /** From when on the requester may request again, in ms by Redis' clock. Undefined unless `too-often`. */
  retryAt: number | undefined
}

/** Creates the functions that record a new request and discard it again. They throw StoreUnavailableError if Redis does not answer. */
export function createNewRequests({ redis, keys, audit, noteOf, onStep }: Omit<TakeStepParts, 'durations'>) {
  const run = createScripts(redis, scriptsNewRequests)

  /**
   * Records a request, unless it exists, its resource is busy, or its requester already has `mostUndecided` requests that wait for an
   * approval, or made `mostLately` of them in 10 minutes.
   */
  async function create(request: NewRequest, { mostUndecided }: { mostUndecided?: number } = {}): Promise<Created> {
    const { id, ttlMs, createdAt, origin, rule, reason } = request
    const argument = {
      id,
      recordPrefix: keys.recordPrefix,
      open: openStates,
      fields: encodeFields({ ...request, version: requestVersion, state: 'waiting' }),
      expiresAt: createdAt + ttlMs,
      dueInMs: request.needsApproval ? Math.floor(ttlMs * firstReminderAt) : 0,
      keepLatestMs,
      needsApproval: request.needsApproval,
      mostUndecided: mostUndecided ?? false,
      keepUndecidedMs,
      mostLately: mostUndecided !== undefined && mostLately(mostUndecided),
      latelyMs,
    }
    const [outcome, ...more] = await audit.noteWith(
      noteOfVerified(request, 'request', { by: origin.userId, rule, reason }),
      (note) => run('create', keysOf(request), [JSON.stringify(argument), note]),
      // `exists`: the client may have sent the command again, after the first one wrote the note.
      ([created]) => (created === 'created' ? 'written' : created === 'exists' ? 'unknown' : 'not-written'),
    )
    if (outcome === 'created') onStep({ step: 'request', requestId: id, kind: request.kind, to: 'waiting' })
    const resources = resourcesOf(request)
    const held = more.flatMap((by, index) => (index % 2 === 1 ? [{ resource: resources[Number(more[index - 1]) - 1] ?? '', by }] : []))
    return { outcome: outcome as Created['outcome'], id, held, retryAt: outcome === 'too-often' ? Number(more[0]) : undefined }
  }

  /** Discards a request whose card could not be posted. Keeps it if its card was posted or a step was taken. */
  async function discard(request: Request, cause: Finding): Promise<void> {
    await audit.noteWith(
      noteOf(request, 'discard', { causes: [cause] }),
      (note) => run('discard', keysOf(request), [request.id, note]),
      // `gone`: the client may have sent the command again, after the first one discarded the request.
      ([discarded]) => (discarded === 'discarded' ? 'written' : discarded === 'gone' ? 'unknown' : 'not-written'),
    )
  }

  function keysOf(request: Pick<Request, 'id' | 'resource' | 'origin'> & { moreResources?: string[] | undefined }): string[] {
    const { id, origin } = request
    const ofResources = resourcesOf(request).flatMap((resource) => [keys.resource(resource), keys.latest(resource)])
    const ofRequester = [keys.undecided(origin.userId), keys.requested(origin.userId)]
    return [keys.record(id), keys.open, keys.outbox, keys.due, keys.auditIntake, ...ofRequester, ...ofResources]
  }

  return { create, discard }
}

/** Returns the request as it will be recorded, to check its card before. */
export function asRecorded(request: NewRequest): Request {
  return Request.parse({
    ...request,
    version: requestVersion,
    state: 'waiting',
    revision: 1,
    expiresAt: request.createdAt + request.ttlMs,
  })
}

/** Ended requests are looked for among this many. */
const walkedEnded = 100

/** How long the order of a Home tab is kept after something was added to it. */
const homeOrderMs = 24 * 3_600_000

/** Creates the reads of requests. They throw StoreUnavailableError if Redis does not answer. */
export function createRecords({ redis, keys }: { redis: Redis; keys: Keys }) {
  /** Reads a request by its id. Throws if its record does not fit this version. */
  async function find(id: string): Promise<Request | undefined> {
    const hash = await guardStore(() => redis.hgetall(keys.record(id)))
    return hash.state ? decodeRecord(id, hash) : undefined
  }

  /** Reads requests by their ids in one exchange. Skips records that do not fit this version, so that they cannot hide the others. */
  async function findMany(ids: string[]): Promise<Request[]> {
    const pipeline = redis.pipeline()
    for (const id of ids) pipeline.hgetall(keys.record(id))
    const answers = await guardStore(async () => ((await pipeline.exec()) ?? []).map(readAnswer))
    return ids.flatMap((id, index) => decodeIfFit(id, (answers[index] ?? {}) as RecordHash) ?? [])
  }

  /** Reads all open requests, the one with the oldest last step first. `unreadable`: how many records do not fit this version. */
  async function findOpen(): Promise<{ requests: Request[]; unreadable: number }> {
    const ids = await guardStore(() => redis.zrange(keys.open, '0', '-1'))
    const requests = await findMany(ids)
    return { requests, unreadable: ids.length - requests.length }
  }

  /** Reads the ended requests that fit, newest first, among the last 100 of all people: however many there are, the cost is the same. */
  async function ended(limit: number, fits: (request: Request) => boolean): Promise<Request[]> {
    const last = await findMany(await guardStore(() => redis.zrevrange(keys.ended, 0, walkedEnded - 1)))
    return last.filter(fits).slice(0, limit)
  }

  /**
   * Returns the order in which a person's Home tab shows requests for their approval: those that it has shown since it was opened, then the others.
   * All processes have the same order. `isNew`: the tab is opened, and the order begins with these ids.
   */
  async function orderOnHome(userId: string, ids: string[], { isNew }: { isNew: boolean }): Promise<string[]> {
    const key = keys.homeOrder(userId)
    const shown = isNew ? [] : await guardStore(() => redis.lrange(key, 0, -1))
    const added = ids.filter((id) => !shown.includes(id))
    const write = redis.multi()
    if (isNew) write.del(key)
    if (added.length > 0) write.rpush(key, ...added).pexpire(key, homeOrderMs)
    // While Redis takes no writes, people still see what waits for them.
    if (isNew || added.length > 0) await write.exec().catch(() => undefined)
    return [...new Set([...shown, ...added])]
  }

  /** Returns the id of the request that holds a resource, if any. */
  async function holderOf(resource: string): Promise<string | undefined> {
    return (await guardStore(() => redis.get(keys.resource(resource)))) ?? undefined
  }

  /** Returns whether no other request for the same resource was made after this one. */
  async function isLatest(request: Request): Promise<boolean> {
    const latest = await guardStore(() => redis.get(keys.latest(request.resource)))
    return latest === null || latest === request.id
  }

  /**
   * Finds the request that changed each of these resources last, in the last 30 days, by resource. Leaves out records that do not fit this version.
   */
  async function lastChangesOf(resources: string[]): Promise<Map<string, Request>> {
    if (resources.length === 0) return new Map()
    const ids = await guardStore(() => redis.mget(...resources.map(keys.lastChange)))
    const found = await findMany([...new Set(ids.filter((id) => id !== null))])
    const byId = new Map(found.map((request) => [request.id, request]))
    const last = resources.map((resource, index) => [resource, byId.get(ids[index] ?? '')] as const)
    return new Map(last.flatMap(([resource, request]) => (request ? [[resource, request]] : [])))
  }

  return { find, findMany, findOpen, ended, orderOnHome, holderOf, isLatest, lastChangesOf }
}

/** Ignores a key of another type in place of one record. Every other error fails the whole read. */
function readAnswer([error, answer]: [Error | null, unknown]): unknown {
  if (error && !error.message.startsWith('WRONGTYPE')) throw error
  return answer
}

/** Longer than it can take to find a secret and to delete it. */
const claimMs = 60_000

/**
 * Creates the claims on the retraction of the secret that a request has issued. One process at a time looks for the secret and makes it
 * worthless: a second one would not find the secret, and report it as never issued. Throws StoreUnavailableError if Redis does not answer.
 */
export function createRetractionClaims({ redis, keys }: { redis: Redis; keys: Keys }) {
  const run = createScripts(redis)

  /** Returns a token for `endRetraction`, or undefined while another process holds the claim. The claim of a dead process ends after 60 s. */
  async function claimRetraction(id: string): Promise<string | undefined> {
    const token = randomUUID()
    const holder = await claim(redis, keys.retraction(id), { token, lastsMs: claimMs })
    return holder === undefined ? token : undefined
  }

  /** Ends the claim with this token. Does nothing if it ran out and another process holds the claim. */
  async function endRetraction(id: string, token: string): Promise<void> {
    await run('release', [keys.retraction(id)], [token])
  }

  return { claimRetraction, endRetraction }
}

/** The card of a request with items is updated at most this often while they change. */
const cardPaceMs = 5_000

/** The data of an item's step. */
export interface ItemStepData {
  set?: Partial<Pick<RequestItem, 'causes' | 'lastSeen' | 'trackedUntil'>>
  /** The facts that the audit notes about the item: its resource, its facts, and the answer to its write. */
  audit: Pick<AuditNote, 'resource' | 'facts' | 'answer'>
  reports?: readonly ReportName[]
  /** As for a step of the request. */
  notAfter?: number
}

interface ItemStepResult extends StepResult {
  /** The request after the step, if it was taken. */
  request?: Request
}

interface TakeItemParts {
  compareAndSet: TakeStep['compareAndSet']
  durations: Pick<Durations, 'note'>
  onStep: (step: TakenStep) => void
}

/** Creates the function that takes a step of an item of a request, as a compare-and-set of the whole record. */
export function createTakeItem({ compareAndSet, durations, onStep }: TakeItemParts) {
  /**
   * Takes a step of an item, if the record has not changed since it was read. `kind` is the kind of the item, for the metrics. `at` is the time of
   * the step, in ms since 1970 by Redis' clock.
   */
  async function takeItem(
    request: Request,
    item: RequestItem,
    name: ItemStepName,
    { kind, at, ...data }: ItemStepData & { kind: ChangeKind; at: number },
  ): Promise<ItemStepResult> {
    const step = itemStepOf(name)
    const { state } = item
    if (request.state === unknownState || state === unknownItemState || !step.from.includes(state))
      return { outcome: 'lost', state: undefined }
    const to = step.to === 'same' ? state : step.to
    const stamps = Object.fromEntries([
      ...(step.stamps ?? []).map((stamp) => [stamp, at]),
      ...(step.clears ?? []).map((stamp) => [stamp, undefined]),
    ])
    const items = (request.items ?? []).map((one) => (one.id === item.id ? { ...one, ...data.set, ...stamps, state: to } : one))
    const isFirstLate = name === 'late-item' && request.lateAt === undefined
    const asStep: Step = { what: step.what, from: [request.state], to: 'same', takers: step.takers, ifUnchanged: true, mayReport: ['late'] }
    const set = { items, ...(isFirstLate ? { lateAt: at } : {}) }
    const { outcome, state: found } = await compareAndSet(
      request,
      name,
      asStep,
      {
        set,
        audit: { item: item.id, causes: data.set?.causes, ...data.audit },
        dueInMs: 0,
        ...(isFirstLate ? { reports: ['late'] } : {}),
        notAfter: data.notAfter,
      },
      {
        to: request.state,
        token: randomUUID(),
        cardInMs: cardPaceMs,
        changed: to === 'done' && data.audit.resource ? [data.audit.resource] : [],
      },
    )
    if (outcome !== 'won') return { outcome, state: found }
    const took = step.stamps?.includes('endedAt') && item.sentAt !== undefined ? { tookMs: at - item.sentAt } : {}
    if (to === 'done' && took.tookMs !== undefined) await durations.note(kind, took.tookMs)
    const waited = name === 'send-item' ? sinceApproval(request, at) : {}
    onStep({ step: name, requestId: request.id, item: item.id, kind, requestKind: request.kind, to, ...waited, ...took })
    return { outcome, state: found, request: { ...request, ...set, revision: request.revision + 1 } }
  }

  return takeItem
}

interface StoreParts {
  redis: Redis
  keys: Keys
  audit: Pick<Audit, 'noteWith'>
  /** Builds the audit note of an act on a request. */
  noteOf: NoteOf
  /** Receives every step that this process took. */
  onStep?: (step: TakenStep) => void
}

/** Creates the store of requests over one connection to Redis. Its functions throw StoreUnavailableError if Redis does not answer. */
export function createStore({ redis, keys, audit, noteOf, onStep = () => {} }: StoreParts) {
  const run = createScripts(redis)

  /** Reads Redis' clock in ms since 1970. All times of a record come from it. */
  async function now(): Promise<number> {
    const [ms] = await run('now', [keys.lastTick], [])
    return Number(ms)
  }

  const durations = createDurations({ redis, keys })
  const { take, compareAndSet } = createTakeStep({ redis, keys, audit, noteOf, durations, onStep })

  return {
    now,
    ...createRecords({ redis, keys }),
    ...createNewRequests({ redis, keys, audit, noteOf, onStep }),
    take,
    takeItem: createTakeItem({ compareAndSet, durations, onStep }),
    usualDuration: durations.usual,
    ...createDueTimes({ redis, keys }),
    ...createRetractionClaims({ redis, keys }),
    ...createHeartbeats({ redis, keys, now }),
  }
}
export type Store = ReturnType<typeof createStore>
