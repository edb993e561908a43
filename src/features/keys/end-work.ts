import { turnValidMs } from '../../account/budget.ts'
import { type ApiKey, isOwnKey } from '../../account/objects.ts'
import { requireUncut } from '../../account/resource.ts'
import type { App } from '../../app.ts'
import type { AuditNote } from '../../audit/chain.ts'
import { parseKeyName, writeKeyName } from '../../domain/account.ts'
import { deadlineIn } from '../../domain/deadline.ts'
import { AccountLimitError, ApiError, isUnanswered } from '../../domain/errors.ts'
import { callDue } from '../../domain/key-ends.ts'
import { inLane, withTurn } from '../../domain/lane.ts'
import { isOpen, type Request } from '../../domain/request.ts'
import {
  changeEnd,
  earlierNow,
  endUnderWay,
  type KeyEnd,
  type KeyEndMessage,
  keptMs,
  keptUntil,
  messageIdOf,
  placeOf,
  readEnd,
  readEnds,
  shownAs,
  type Told,
} from '../../kit/key-ends.ts'
import { checkRetraction } from '../../life/authority.ts'
import { notifyOperators } from '../../outbox/notices.ts'
import { oweFacts } from '../../outbox/once.ts'
import { onApiError } from '../../outbox/operators.ts'
import { UnreadableRecordError } from '../../record/store.ts'
import { guardStore } from '../../redis/connect.ts'
import { seal } from '../../redis/sealed.ts'
import { overdueEnd, untrustedEnds } from './end-words.ts'

/** The list of keys is read this often if nothing is due, or this long after a failure. */
const listEveryMs = 30 * 60_000
const againMs = 5 * 60_000

/** A key that the account lists this late is not gone. */
const listedWithinMs = 10 * 60_000

/** Operators are notified of a key that is still there this long after its end. */
const overdueMs = 3_600_000

/**
 * What is due for keys that end: calls of their owners, and deletions. Without anything due, it reads the account only from time to time, to
 * notice which keys are gone. Every part can be repeated, also by two processes at once.
 */
export async function tendKeyEnds(app: App, signal: AbortSignal): Promise<void> {
  const { redis, keys, config } = app
  if (config.signsWithApiKey) return
  const now = await earlierNow(app)
  const { ends, pending, untrusted, outdated } = await readEnds(app)
  // So that an older STATE_KEY can be removed, although ends are years away.
  for (const place of outdated) await changeEnd(app, place, (record) => record)
  if (untrusted.length > 0) await notifyOperators(app, 'key-end-untrusted', untrustedEnds(untrusted), { level: 'warn' })
  const settling = await settleable(app, pending)
  const over = [...ends.values()].filter(({ end }) => end <= now)
  const calls = await callsToTell(app, ends, now)
  const mark = keys.repeated('list-of-keys')
  // What fails for longer is tried with the next list.
  const isRecent = (at: number) => now - at <= overdueMs
  const isUrgent = calls.length > 0 || over.some(({ end }) => isRecent(end)) || settling.some(({ since }) => isRecent(since))
  if (!isUrgent && (await guardStore(() => redis.exists(mark)))) return
  await guardStore(() => redis.set(mark, '1', 'PX', againMs))
  try {
    const reading = inLane(over.length + settling.length > 0 ? 'retract' : 'background', () => app.account.apiKeys.list({ signal }))
    const { items: listed, isWhole } = await reading
    for (const one of settling) await inLane('retract', () => settlePending(app, one, { listed, isWhole }))
    const gone = isWhole ? await noteGone(app, ends, { listed, now }) : new Set(idsOf([...ends.values()].filter((each) => each.gone)))
    for (const { key, told } of calls) if (!gone.has(key.keyId)) await tell(app, shownAs(key, listed), told)
    const left = await inLane('retract', () => endKeys(app, over, { listed, isWhole, signal }))
    if (left.length === 0) await guardStore(() => redis.set(mark, '1', 'PX', listEveryMs))
    await tellOverdue(app, left, now)
  } catch (error) {
    await tellOverdue(app, over, now)
    if (!(error instanceof ApiError || isUnanswered(error))) throw error
    onApiError(app, error)
  }
}

const idsOf = (ends: KeyEnd[]) => ends.map(({ keyId }) => keyId)

interface Listed {
  listed: ApiKey[]
  /** Whether every key of the account is in the list. */
  isWhole: boolean
}

/** Notes which keys a whole list does not show, and returns their ids. After its end, Lockkeeper itself may have deleted one. */
async function noteGone(app: App, ends: Map<string, KeyEnd>, { listed, now }: { listed: ApiKey[]; now: number }): Promise<Set<string>> {
  const ids = new Set(listed.map(({ id }) => id))
  const isGone = ({ keyId, createdAt }: KeyEnd) => !ids.has(keyId) && now - createdAt > listedWithinMs
  const current = [...ends.values()].filter(({ end }) => end > now)
  for (const record of current.filter((one) => isGone(one) !== (one.gone ?? false)))
    await changeEnd(app, record.keyId, (before) => before && { ...before, gone: isGone(record) ? true : undefined })
  return new Set(idsOf(current.filter(isGone)))
}

function noteOf(act: 'call-for-key-end' | 'end-key', { keyId, label, lastSlice, end }: KeyEnd): AuditNote {
  const text = lastSlice === undefined ? label : `${label} (token ends in ${lastSlice})`
  return { act, resource: `api_key:${keyId}`, resourceId: keyId, text, until: end }
}

/**
 * The old keys of rotations that are done: their requesters have seen the new tokens. Forgets those of rotations that ended otherwise, and leaves
 * those whose requests this process cannot read or verify.
 */
async function settleable(app: App, pending: KeyEnd[]): Promise<KeyEnd[]> {
  const settling: KeyEnd[] = []
  for (const one of pending) {
    const request = await findIfReadable(app, one.once ?? '')
    if (request === 'unreadable' || (request && isOpen(request.state))) continue
    // The list that is read has the name from before.
    if (settling.some(({ keyId }) => keyId === one.keyId)) continue
    const problem = request && (await checkRetraction(app, request))
    if (problem?.code === 'unknown-key') continue
    if (request?.state === 'done' && !problem) settling.push(one)
    else await forget(app, one)
  }
  return settling
}

/**
 * Gives the old key of a rotation its earlier end: renames it, and then records it. Only if record and name still say what the rotation replaced,
 * because somebody who can write to Redis may have put an old record back after the key got a later end.
 */
async function settlePending(app: App, pending: KeyEnd, { listed, isWhole }: Listed): Promise<void> {
  const { once: _, replaces = {}, ...record } = pending
  const key = listed.find(({ id }) => id === record.keyId)
  if (!key && !isWhole) return
  // Before the record is read, so that nobody changes it while this waits.
  const turn = deadlineIn(turnValidMs)
  if ((await app.budget.takeWrite('retract')) > 0 || (await isBeingChanged(app, pending))) return
  const isReplaced = (one: KeyEnd | undefined) => one?.since === replaces.since
  const named = parseKeyName(key?.name)?.end
  // Its name has the new end if a process died before it recorded that.
  const isNamedAsReplaced = named === undefined || named === replaces.end || named === record.end
  // Its record has the new end if a process died before it forgot the pending one.
  if (!key || !isNamedAsReplaced || !isReplaced(await readEnd(app, record.keyId))) return forget(app, pending)
  try {
    const { label } = parseKeyName(key.name) ?? record
    const name = writeKeyName({ ...record, label })
    if (named !== record.end) await withTurn('retract', turn, () => app.account.apiKeys.rename(record.keyId, name))
  } catch (error) {
    onApiError(app, error)
    // Of one that is not found, the next list shows whether somebody has deleted it since.
    if (!(error instanceof ApiError) || error.status === 404 || error instanceof AccountLimitError || isUnanswered(error)) return
    // It cannot be renamed. The record alone ends it, unless its name has a later end: then a person has to.
  }
  await changeEnd(app, record.keyId, (now) => (isReplaced(now) ? record : undefined))
  await forget(app, pending)
}

async function findIfReadable({ store }: App, id: string): Promise<Request | 'unreadable' | undefined> {
  return store.find(id).catch((error: unknown) => {
    if (error instanceof UnreadableRecordError) return 'unreadable'
    throw error
  })
}

/** Whether a change of the key is being written now. */
async function isBeingChanged({ store }: App, { keyId }: KeyEnd): Promise<boolean> {
  const others = await store.othersFor({ id: '', resource: `api_key:${keyId}` })
  return others.some(({ state }) => state === 'starting' || state === 'tracking')
}

async function forget(app: App, record: KeyEnd): Promise<void> {
  await changeEnd(app, placeOf(record), (now) => (now && now.end === record.end && now.since === record.since ? 'none' : undefined))
}

/** Deletes keys whose time is over, by their ids alone, until the account no longer lists them. Returns those that should be gone and may not be. */
async function endKeys(app: App, over: KeyEnd[], { listed, isWhole, signal }: Listed & { signal: AbortSignal }): Promise<KeyEnd[]> {
  const deleted = new Set<string>()
  const kept = new Set<string>()
  for (const { keyId } of over) {
    const key = listed.find(({ id }) => id === keyId)
    // Lockkeeper uses it, or it cannot be told whether it does.
    if (key ? key.tokenLastSlice === undefined || isOwnKey(key, app) : !isWhole) continue
    let now = await mayEnd(app, keyId, key)
    const turn = deadlineIn(turnValidMs)
    if (now === 'over') {
      // Before the last look at its record, so that the deletion does not wait after it.
      if ((await app.budget.takeWrite('retract')) > 0) break
      now = await mayEnd(app, keyId, key)
    }
    if (now === 'kept') kept.add(keyId)
    if (now !== 'over') continue
    try {
      await withTurn('retract', turn, () => app.account.apiKeys.delete(keyId))
      deleted.add(keyId)
    } catch (error) {
      onApiError(app, error)
    }
  }
  const wereListed = listed.some(({ id }) => deleted.has(id))
  const left = wereListed ? requireUncut(await app.account.apiKeys.list({ signal })) : listed
  const remaining = new Set(left.map(({ id }) => id))
  // The newer key of a rotation may end at the same time.
  const staying = left.filter(({ id }) => !idsOf(over).includes(id))
  const isOver = ({ keyId }: KeyEnd) => deleted.has(keyId) && !remaining.has(keyId)
  for (const record of over.filter(isOver)) {
    // Otherwise somebody has deleted it before.
    if (!record.gone || listed.some(({ id }) => id === record.keyId)) {
      // Another process may do the same.
      const shown = { ...shownAs(record, listed), isReplaced: shownAs(record, staying).isReplaced }
      await app.audit.noteOnce(noteOf('end-key', shown), againMs)
      await tell(app, shown, 'ended')
    }
    await forget(app, record)
  }
  return over.filter((record) => !isOver(record) && !kept.has(record.keyId))
}

/**
 * Judges right before its deletion whether a key is over, by its record as it is now. `kept`: it has a later end by now, or soon. `in-doubt`: its
 * name has a later one. An extension renames a key before it records its end, and what somebody puts back in Redis does not change the name.
 */
async function mayEnd(app: App, keyId: string, key: ApiKey | undefined): Promise<'over' | 'kept' | 'in-doubt'> {
  // Before the record is read: what ends in between has changed the record.
  const later = await endUnderWay(app, keyId)
  const [record, now] = await Promise.all([readEnd(app, keyId), earlierNow(app)])
  if (!record || record.end > now) return 'kept'
  if (later > record.end && now - record.end < keptMs) return 'kept'
  return (parseKeyName(key?.name)?.end ?? 0) > record.end ? 'in-doubt' : 'over'
}

async function tellOverdue(app: App, ends: KeyEnd[], now: number): Promise<void> {
  for (const one of ends.filter(({ end }) => now - end > overdueMs))
    if ((await keptUntil(app, one)) === undefined) await notifyOperators(app, 'key-end-overdue', overdueEnd(one), { about: one.keyId })
}

/** The calls that are due and were not owed yet. */
async function callsToTell(app: App, ends: Map<string, KeyEnd>, now: number): Promise<KeyEndMessage[]> {
  const due = [...ends.values()].flatMap((key): KeyEndMessage[] => {
    const call = key.gone ? undefined : callDue(key, now)
    return call ? [{ key, told: call }] : []
  })
  const known = await Promise.all(due.map((call) => guardStore(() => app.redis.exists(app.keys.message(messageIdOf(call))))))
  return due.filter((_, index) => known[index] === 0)
}

/** Longer than Slack is away. */
const owedMs = 7 * 24 * 3_600_000

async function tell(app: App, key: KeyEnd, told: Told): Promise<void> {
  const id = messageIdOf({ key, told })
  if (told !== 'ended') await app.audit.note(noteOf('call-for-key-end', key))
  await oweFacts(app, { id, name: 'key-end' }, seal(app.recordKeyring, 'key-end-message', { key, told } satisfies KeyEndMessage), owedMs)
}
