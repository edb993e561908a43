import { randomUUID } from 'node:crypto'
import type { z } from 'zod'
import type { Audit } from '../audit/audit.ts'
import type { AuditNote } from '../audit/chain.ts'
import { type Bound, bind } from '../domain/bound.ts'
import type { Finding } from '../domain/change.ts'
import type { ChangeKind } from '../domain/policy.ts'
import {
  childIdOf,
  couldStartAt,
  idOfResource,
  isOpen,
  mayHaveChanged,
  openStates,
  problemOf,
  Request,
  type RequestState,
  requestVersion,
  resourcesOf,
  unknownState,
  unverifiedRecord,
} from '../domain/request.ts'
import type { RequestSignatures } from '../domain/request-signature.ts'
import { guardStore, readAnswers } from '../redis/connect.ts'
import { withChildren } from './children.ts'
import { type Database, noteDuration, ofDueTimes, withScripts } from './due.ts'
import { isSend, type ReportName, type Stamp, type StepName, stateAfter, stepOf } from './steps.ts'

/** JSON by field. Scripts write those with a colon (`token:approve`, `outbox:card`). `packed` has most fields of one that has ended. */
type RecordHash = Record<string, string>

export function encodeFields(fields: Record<string, unknown>): RecordHash {
  const present = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.fromEntries(present.map(([name, value]) => [name, JSON.stringify(value)]))
}

/** A record that this version cannot decode: it is damaged, or a later version of Lockkeeper wrote it. */
export class UnreadableRecordError extends Error {
  override name = 'UnreadableRecordError'
  readonly isOfLaterVersion: boolean

  constructor(id: string, { version }: RecordHash, cause: unknown) {
    super(`the record of request ${id} cannot be read`, { cause })
    this.isOfLaterVersion = Number(version) > requestVersion
  }
}

/** The id is that of the key, so that a copy of another record is not taken for that request. Throws an UnreadableRecordError. */
export function decodeRecord(id: string, hash: RecordHash): Request {
  try {
    const { packed = '{}', ...own } = hash
    const entries = Object.entries(own).filter(([name]) => !name.includes(':'))
    // The schema drops the tokens in `packed`. What was seen before the write is not there if it was what was approved.
    const fields = { ...JSON.parse(packed), ...Object.fromEntries(entries.map(([name, value]) => [name, JSON.parse(value)])) }
    const { facts, seenSignature, seen = seenSignature === undefined ? undefined : facts } = fields
    return Request.parse({ ...fields, seen, id })
  } catch (error) {
    throw new UnreadableRecordError(id, hash, error)
  }
}

/** Only the notes of the request, of a write, and of a child that is never sent say what is changed. The others name the request. */
export function noteOfVerified(
  request: Pick<Request, 'id' | 'kind' | 'resource' | 'facts' | 'origin' | 'hash' | 'parent'>,
  act: string,
  more: Partial<AuditNote>,
): AuditNote {
  const { kind, resource, facts, origin, hash } = request
  const { channelId, teamId } = origin
  const { requestId, item } = subjectOf(request)
  if (act === 'request') return { act, requestId, kind, resource, facts, channelId, teamId, payload: hash, ...more }
  if (item !== undefined && (isSend(act) || act === 'void' || act === 'drop')) return { act, requestId, item, resource, facts, ...more }
  if (isSend(act)) return { act, requestId, facts, ...more }
  // Refusals are counted by the kind.
  return { act, requestId, item, kind: act === 'refused' ? kind : undefined, ...more, facts: undefined }
}

/** A note of a child names its parent as the request, so that the whole is found together. */
function subjectOf({ id, parent, resource }: Pick<Request, 'id' | 'parent' | 'resource'>): { requestId: string; item?: string } {
  return parent ? { requestId: parent.id, item: idOfResource(resource) } : { requestId: id }
}

/** Every note is signed, so of a record that cannot be verified it says only the act, who did it, and what the account API answered. */
export function noteOf({ signatures }: Pick<Records, 'signatures'>, request: Request, act: string, more: Partial<AuditNote>): AuditNote {
  const problem = problemOf(signatures.verifyRecord(request))
  if (!problem) return noteOfVerified(request, act, more)
  const { by, attempted, reason, answer, resourceId, causes = [] } = more
  const why = problem.code === 'unknown-key' ? problem : unverifiedRecord
  const { requestId, item } = subjectOf(request)
  return { act, requestId, item, by, attempted, reason, answer, resourceId, causes: causes.length > 0 ? causes : [why] }
}

interface Records extends Database {
  audit: Pick<Audit, 'noteWith'>
  signatures: Pick<RequestSignatures, 'verifyRecord'>
  /** Gets every step that this process took. */
  onStep: (step: TakenStep) => void
}

/** Throws an UnreadableRecordError if its record does not fit this version. */
async function find(records: Records, id: string): Promise<Request | undefined> {
  const hash = await guardStore(() => records.redis.hgetall(records.keys.record(id)))
  const [request] = hash.state ? await withChildren(records, [decodeRecord(id, hash)]) : []
  return request
}

/** Reads requests by their ids in one exchange. Skips records that do not fit this version, so that they cannot hide the others. */
async function findMany(records: Records, ids: string[]): Promise<Request[]> {
  return (await readMany(records, ids)).requests
}

/** `lost`: ids that have no record. `unreadable`: how many records do not fit this version. */
async function readMany(records: Records, ids: string[]): Promise<{ requests: Request[]; lost: string[]; unreadable: number }> {
  const pipeline = records.redis.pipeline()
  for (const id of ids) pipeline.hgetall(records.keys.record(id))
  const answers = (await readAnswers(pipeline)) as (RecordHash | undefined)[]
  const found = ids.map((id, index) => ({ id, hash: answers[index] }))
  const lost = found.filter(({ hash }) => hash && Object.keys(hash).length === 0).map(({ id }) => id)
  const requests = found.flatMap(({ id, hash }) => {
    try {
      return hash ? [decodeRecord(id, hash)] : []
    } catch {
      return []
    }
  })
  return { requests: await withChildren(records, requests), lost, unreadable: ids.length - requests.length - lost.length }
}

/** Reads all open requests, the one with the oldest last step first. `unreadable`: how many records do not fit this version. */
async function findOpen(records: Records): Promise<{ requests: Request[]; unreadable: number }> {
  const { redis, keys, run } = records
  const ids = await guardStore(() => redis.zrange(keys.open, '0', '-1'))
  const { requests, lost, unreadable } = await readMany(records, ids)
  // One that is still due is reported to the operators first.
  for (const id of lost) await run('forget-lost', [keys.record(id), keys.open], [id])
  return { requests, unreadable }
}

/** Reads the ended requests that fit, newest first, among the last 100 of all people: however many there are, the cost is the same. */
async function ended(records: Records, limit: number, fits: (request: Request) => boolean): Promise<Request[]> {
  const { redis, keys } = records
  const last = await findMany(records, await guardStore(() => redis.zrevrange(keys.ended, 0, 99)))
  return last.filter(fits).slice(0, limit)
}

const homeOrderMs = 24 * 3_600_000

/** What was shown since the tab was opened, then the others, the same in all processes. `isNew`: it is opened, and begins with these. */
async function orderOnHome({ redis, keys }: Records, place: string, ids: string[], { isNew }: { isNew: boolean }): Promise<string[]> {
  const key = keys.homeOrder(place)
  const shown = isNew ? [] : await guardStore(() => redis.lrange(key, 0, -1))
  const added = ids.filter((id) => !shown.includes(id))
  const write = redis.multi()
  if (isNew) write.del(key)
  if (added.length > 0) write.rpush(key, ...added).pexpire(key, homeOrderMs)
  // While Redis takes no writes, people still see what waits for them.
  if (isNew || added.length > 0) await write.exec().catch(() => undefined)
  return [...new Set([...shown, ...added])]
}

/** The other open requests for the same things. */
async function othersFor(
  records: Records,
  request: Pick<Request, 'id' | 'resource'> & { moreResources?: string[] | undefined },
): Promise<Request[]> {
  const { redis, keys } = records
  const holders = await guardStore(() => redis.mget(...resourcesOf(request).map(keys.resource)))
  const ids = new Set(holders.filter((id) => id !== null && id !== request.id))
  return (await findMany(records, [...ids] as string[])).filter(({ state }) => isOpen(state))
}

/** Finds the request that changed each of these resources last, in the last 30 days, or may have. Leaves out records that do not fit this version. */
async function lastChangesOf(records: Records, resources: string[]): Promise<Map<string, Request>> {
  if (resources.length === 0) return new Map()
  const ids = await guardStore(() => records.redis.mget(...resources.map(records.keys.lastChange)))
  const found = await findMany(records, [...new Set(ids.filter((id) => id !== null))])
  const byId = new Map(found.map((request) => [request.id, request]))
  const last = resources.map((resource, index) => [resource, byId.get(ids[index] ?? '')] as const)
  // One that was tracked again may have come to nothing.
  return new Map(last.flatMap(([resource, request]) => (request && mayHaveChanged(request, resource) ? [[resource, request]] : [])))
}

/** The shares of the time to approve after which approvers are reminded. */
export const firstReminderAt = 0.5
export const lastReminderAt = 0.9

/** What an alert requested is urgent: its approvers are reminded after 5 and 15 minutes, and then every 30. */
export const alertReminderAfter = (ttlMs: number): number => Math.min(5 * 60_000, Math.floor(ttlMs * firstReminderAt))

/** Longer than any request can wait for an approval. */
const keepUndecidedMs = 30 * 24 * 3_600_000

const latelyMs = 10 * 60_000

/** How many requests one person may make in 10 minutes, whatever becomes of them: as many as may wait for an approval, and at least 20. */
export function mostLately(mostUndecided: number): number {
  return Math.max(20, mostUndecided)
}

/** Before it is recorded. `createdAt` is by Redis' clock, and read before, because it is signed. */
export type NewRequest = Omit<z.input<typeof Request>, 'version' | 'state' | 'revision' | 'expiresAt' | 'cardTs'> & { signature: string }

export interface Created {
  /** `exists`: a repeated delivery. `gone`: the reason for it ended (`whileExists`). `busy`: others lock its resources. `too-many`: undecided ones. `too-often`: in the last 10 minutes. */
  outcome: 'created' | 'exists' | 'gone' | 'busy' | 'too-many' | 'too-often'
  id: string
  /** The resources that are locked, and the id of the request that locks each. Empty unless `busy`. */
  locked: { resource: string; by: string }[]
  /** From when on the requester may request again, in ms by Redis' clock. Undefined unless `too-often`. */
  retryAt: number | undefined
}

interface CreateOptions {
  /** How many of a person's requests may wait for an approval. Machines have no limit. */
  mostUndecided?: number
  /** When it is due first, in ms from now. Absent: at the first reminder. */
  dueInMs?: number
  /** A key of Redis. Without it the request is not created. */
  whileExists?: string | undefined
}

async function create(
  records: Records,
  request: NewRequest,
  { mostUndecided, dueInMs, whileExists }: CreateOptions = {},
): Promise<Created> {
  const { keys, audit, run, onStep } = records
  const { id, ...fields } = request
  const { kind, ttlMs, createdAt, origin, rule, reason, needsApproval } = fields
  const argument = JSON.stringify({
    id,
    recordPrefix: keys.recordPrefix,
    open: openStates,
    fields: encodeFields({ ...fields, version: requestVersion, state: 'waiting' }),
    expiresAt: createdAt + ttlMs,
    dueInMs: dueInMs ?? (needsApproval ? Math.floor(ttlMs * firstReminderAt) : 0),
    needsApproval,
    mostUndecided: mostUndecided ?? false,
    keepUndecidedMs,
    mostLately: mostUndecided !== undefined && mostLately(mostUndecided),
    latelyMs,
    whileExists,
  })
  const [outcome, ...more] = await audit.noteWith(noteOfVerified(request, 'request', { by: origin.userId, rule, reason }), (note) =>
    run('create', keysOf(records, request), [argument, note]),
  )
  if (outcome === 'created') onStep({ step: 'request', requestId: id, kind, to: 'waiting' })
  const resources = resourcesOf(request)
  const locked = more.flatMap((by, index) => (index % 2 === 1 ? [{ resource: resources[Number(more[index - 1]) - 1] ?? '', by }] : []))
  return { outcome: outcome as Created['outcome'], id, locked, retryAt: outcome === 'too-often' ? Number(more[0]) : undefined }
}

/** Discards a request whose card could not be posted. Keeps it if its card was posted or a step was taken. `gone`: somebody else discarded it. */
async function discard(records: Records, request: Request, cause: Finding): Promise<'discarded' | 'kept' | 'gone'> {
  const discarded = noteOf(records, request, 'discard', { causes: [cause] })
  const noted = records.audit.noteWith(discarded, (note) => records.run('discard', keysOf(records, request), [request.id, note]))
  return (await noted)[0] as 'discarded'
}

function keysOf({ keys }: Records, request: Pick<NewRequest, 'id' | 'resource' | 'moreResources' | 'origin'>): string[] {
  const { id, origin } = request
  const ofResources = resourcesOf(request).map(keys.resource)
  const ofRequester = [keys.undecided(origin.userId), keys.requested(origin.userId)]
  return [keys.record(id), keys.open, keys.outbox, keys.due, keys.auditIntake, ...ofRequester, ...ofResources]
}

/** Returns the request as it will be recorded, to check its card before. */
export function asRecorded(request: NewRequest): Request {
  const { createdAt, ttlMs } = request
  return Request.parse({ ...request, version: requestVersion, state: 'waiting', revision: 1, expiresAt: createdAt + ttlMs })
}

export interface StepData {
  set?: Partial<Omit<Request, 'id' | 'state' | 'revision' | 'hash' | 'signature' | 'items' | Stamp>>
  /** What the audit notes of the step, beyond the request itself. */
  audit?: Pick<
    AuditNote,
    'by' | 'rule' | 'via' | 'reason' | 'missing' | 'needed' | 'answer' | 'resourceId' | 'causes' | 'passed' | 'confirmed'
  >
  reports?: readonly ReportName[]
  /** The latest time for the step, in ms since 1970 by Redis' clock. Set it if the step rests on a read that can become outdated. */
  notAfter?: number
  /** For the write of a child. Takes the step only while its parent is tracked, and fewer than `most` of these were sent in the last `withinMs`. */
  beside?: { ids: string[]; most: number; withinMs: number }
  /** Takes the step only if no other request holds a resource of this one. */
  unlessLocked?: true
  /** Takes the step only if the record of the freeze is still this text. Empty: if there is none. */
  freeze?: string
  /** Moves the deadline to this many ms from now, wherever it was. */
  extendMs?: number
  /** When the request is due again, in ms from now. Absent: never, unless the step keeps the due time. */
  dueInMs?: number
}

export interface StepResult {
  /**
   * `lost`: the state does not allow the step, or another request does. `changed`: the record changed since it was read. `expired`: the deadline has passed.
   * `outdated`: `notAfter` has passed. `frozen`: the record of the freeze changed. `full`: as many `beside` it are being sent as may be. `missing`: there is no record.
   */
  outcome: 'won' | 'lost' | 'changed' | 'expired' | 'outdated' | 'frozen' | 'full' | 'missing'
  state: RequestState | undefined
}

/** For a child, `requestId` and `requestKind` are of its parent. `tookMs`: from the write to the end, without the time untracked. */
export interface TakenStep {
  step: StepName | 'request'
  requestId: string
  item?: string
  kind: ChangeKind
  requestKind?: ChangeKind
  to: RequestState
  sinceApprovalMs?: number
  tookMs?: number
}

/** How long the record of an ended request is kept. */
export const keepEndedMs = 30 * 24 * 3_600_000

/** The number of the first key of a resource in the script. */
const firstResourceKey = 7

/** While children change, the message of their parent is updated at most this often. */
const cardPaceMs = 5_000

/** One compare-and-set. A repeat with the same `token` gets the same outcome. Pass one only if several calls stand for one intent. */
async function take(
  records: Records,
  request: Request,
  name: StepName,
  data: StepData = {},
  token: string = randomUUID(),
): Promise<StepResult> {
  const { keys, audit, run } = records
  const { id, kind, state: before, parent, resource, sentAt, untrackedMs = 0 } = request
  // No step leads from a state that another version of Lockkeeper wrote.
  if (before === unknownState) return { outcome: 'lost', state: undefined }
  const step = stepOf(name)
  const to = stateAfter(name, before)
  const resources = resourcesOf(request)
  const argument = JSON.stringify({
    id,
    // Each person has a separate token for a step. Otherwise another person's approval would hide that a command is a repeat.
    tokenName: data.audit?.by === undefined ? name : `${name}:${data.audit.by}`,
    token,
    // A step that keeps the state leads from the state that was read.
    from: step.to === 'same' ? step.from.filter((state) => state === before) : step.from,
    to,
    set: encodeFields(data.set ?? {}),
    stamp: step.stamps ?? [],
    clear: step.clears ?? [],
    unexpired: step.beforeDeadline ?? false,
    notAfter: data.notAfter ?? false,
    unlessLocked: data.unlessLocked ?? false,
    freeze: data.freeze !== undefined && { key: keys.freeze, is: data.freeze },
    openStates,
    revision: step.ifUnchanged ? request.revision : false,
    extendMs: data.extendMs ?? false,
    dueInMs: data.dueInMs ?? false,
    keepDue: step.keepsDue ?? false,
    // A child has no message.
    reports: parent ? [] : [...(step.reports ?? []), ...(data.reports ?? []).filter((report) => step.mayReport?.includes(report))],
    open: isOpen(to),
    keepMs: keepEndedMs,
    changed: (to === 'done' || to === 'untracked') && before !== to ? resources.map((_, index) => firstResourceKey + 2 * index + 1) : [],
    recordPrefix: keys.recordPrefix,
    parent: parent?.id ?? false,
    children: resources.map((each) => (request.hasChildren && request.moreResources.includes(each) ? childIdOf(id, each) : '')),
    beside: data.beside ?? false,
    cardPaceMs,
  })
  const locks = resources.flatMap((each) => [keys.resource(each), keys.lastChange(each)])
  const recordKeys = [keys.record(id), keys.open, keys.ended, keys.outbox, keys.due, keys.auditIntake, ...locks]
  const [outcome, stored = '""', stamp] = await audit.noteWith(
    noteOf(records, request, name, { causes: data.set?.causes, ...data.audit }),
    (note) => run('take-step', recordKeys, [argument, note]),
  )
  const state = (JSON.parse(stored) || undefined) as RequestState | undefined
  if (outcome !== 'won') return { outcome: outcome as StepResult['outcome'], state }

  const at = Number(stamp)
  const tookMs = step.stamps?.includes('endedAt') && sentAt !== undefined ? at - sentAt - untrackedMs : undefined
  // The latest possible end says nothing of how long it took.
  const { untrackedMs: hidden, unansweredSince } = { ...request, ...data.set }
  if (to === 'done' && tookMs !== undefined && hidden === undefined && unansweredSince === undefined)
    await noteDuration(records, kind, tookMs)
  const from = couldStartAt(request)
  const sinceApprovalMs = name === 'send' && from !== undefined ? at - from : undefined
  const of = parent ? { requestId: parent.id, item: idOfResource(resource), requestKind: parent.kind } : { requestId: id }
  records.onStep({ step: name, ...of, kind, to, sinceApprovalMs, tookMs })
  return { outcome, state }
}

const ofRecords = { find, findMany, findOpen, ended, orderOnHome, othersFor, lastChangesOf, create, discard, take }

export interface Store extends Bound<typeof ofRecords>, Bound<typeof ofDueTimes> {}

/** `take` is the only function that changes a record. All throw StoreUnavailableError if Redis does not answer. */
export function createStore({ onStep = () => {}, ...parts }: Omit<Records, 'run' | 'onStep'> & Partial<Pick<Records, 'onStep'>>): Store {
  const records: Records = { ...parts, onStep, run: withScripts(parts.redis) }
  return { ...bind(records, ofRecords), ...bind(records, ofDueTimes) }
}
