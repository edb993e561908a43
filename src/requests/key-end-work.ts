import { hash } from 'node:crypto'
import { type ApiKey, ownVariableOf } from '../account/objects.ts'
import { asFarAsRead } from '../account/resource.ts'
import type { App } from '../app.ts'
import type { AuditNote } from '../audit/chain.ts'
import { AccountLimitError, ApiError, isUnanswered } from '../domain/errors.ts'
import { callDue } from '../domain/key-ends.ts'
import { inLane } from '../domain/lane.ts'
import { isOpen } from '../domain/request.ts'
import { doubtfulEnds, overdueEnd } from '../messages/operator-notices.ts'
import { notifyOperators } from '../outbox/notices.ts'
import { oweFacts } from '../outbox/once.ts'
import { onApiError } from '../outbox/operators.ts'
import { guardStore } from '../redis/connect.ts'
import { checkRetraction } from './authority.ts'
import {
  dropEnd,
  encodeEnd,
  type KeyEnd,
  type KeyEndMessage,
  messageIdOf,
  readEnds,
  signedName,
  type Told,
  withName,
  withNamed,
  writeEnd,
} from './key-ends.ts'

/** The list of keys is read this often if nothing is due, or this long after a failure. */
const listEveryMs = 30 * 60_000
const againMs = 5 * 60_000

/** A key that the account lists this late is not gone. */
const listedWithinMs = 10 * 60_000

/** Operators are told of a key that is still there this long after its end. */
const overdueMs = 3_600_000

/**
 * What is due for keys that end: calls of their owners, and deletions. Without anything due, it reads the account only from time to time, and then
 * takes from the names of keys what Redis has lost. Every part can be repeated, also by two processes at once.
 */
export async function tendKeyEnds(app: App, signal: AbortSignal): Promise<void> {
  const { redis, keys, store, config, slack } = app
  if (config.signsWithApiKey || !slack.identity.current()) return
  const now = await store.now()
  const { ends, pending, notGenuine } = await readEnds(app)
  for (const one of pending) await inLane('retract', () => settlePending(app, one, ends.get(one.keyId)))
  await tellOverdue(app, pending, now)
  const over = endedBy(ends, now)
  const calls = await callsToTell(app, ends, now)
  const mark = keys.repeated('list-of-keys')
  // What fails for longer is tried with the next list.
  const isUrgent = calls.length > 0 || over.some(({ end }) => now - end <= overdueMs)
  if (!isUrgent && (await guardStore(() => redis.exists(mark)))) return
  await guardStore(() => redis.set(mark, '1', 'PX', againMs))
  try {
    const reading = inLane(over.length > 0 ? 'retract' : 'background', () => asFarAsRead(app.account.apiKeys.list({ signal })))
    const { items: listed, cut, unreadable } = await reading
    const isWhole = !cut && !unreadable
    const current = isWhole ? await adopt(app, { ends, listed, notGenuine, now }) : laterEnds(app, { ends, listed, now })
    for (const { key, told } of calls) if (!current.get(key.keyId)?.gone) await tell(app, shownAs(key, listed), told)
    const left = await inLane('retract', () => endKeys(app, endedBy(current, now), { listed, isWhole, signal }))
    if (left.length === 0) await guardStore(() => redis.set(mark, '1', 'PX', listEveryMs))
    await tellOverdue(app, left, now)
  } catch (error) {
    await tellOverdue(app, over, now)
    if (!(error instanceof ApiError || isUnanswered(error))) throw error
    onApiError(app, error)
  }
}

function endedBy(ends: Map<string, KeyEnd>, now: number): KeyEnd[] {
  return [...ends.values()].filter(({ end }) => end <= now)
}

/** The records, with the later ends that names have. A key that could not be read may bear the name of another one, so nothing is adopted. */
function laterEnds(app: App, { ends, listed, now }: { ends: Map<string, KeyEnd>; listed: ApiKey[]; now: number }): Map<string, KeyEnd> {
  const { current } = withNamed(app, ends, listed, now)
  return new Map([...ends].map(([id, record]) => [id, current.get(id) ?? record]))
}

/** Takes from the names what the records lack, notes which keys are gone, and returns the records as they are now. */
async function adopt(
  app: App,
  { ends, listed, notGenuine, now }: { ends: Map<string, KeyEnd>; listed: ApiKey[]; notGenuine: string[]; now: number },
): Promise<Map<string, KeyEnd>> {
  const { current, doubtful } = withNamed(app, ends, listed, now)
  for (const adopted of [...current.values()].filter((one) => one !== ends.get(one.keyId))) {
    await app.audit.note(noteOf('adopt-key-end', adopted))
    await writeEnd(app, adopted)
  }
  const ids = new Set(listed.map(({ id }) => id))
  for (const [id, record] of current) {
    const gone = !ids.has(id) && now - record.createdAt > listedWithinMs ? true : undefined
    // After its end, Lockkeeper itself may have deleted it.
    if (gone === record.gone || record.end <= now) continue
    const changed: KeyEnd = { ...record, gone }
    await writeEnd(app, changed)
    current.set(id, changed)
  }
  const untrusted = listed.filter(({ id }) => notGenuine.includes(id) || doubtful.includes(id))
  if (untrusted.length > 0) await tellDoubtful(app, untrusted)
  return current
}

function noteOf(act: 'adopt-key-end' | 'call-for-key-end' | 'end-key', { keyId, label, end }: KeyEnd): AuditNote {
  return { act, resource: `api_key:${keyId}`, resourceId: keyId, text: label, until: end }
}

/** Once for each set of them. */
async function tellDoubtful(app: App, keys: ApiKey[]): Promise<void> {
  const ids = keys.map(({ id }) => id).toSorted()
  const about = hash('sha256', ids.join(' ')).slice(0, 16)
  const told = app.keys.message(`doubtful-key-ends:${about}`)
  if (await guardStore(() => app.redis.exists(told))) return
  await notifyOperators(app, 'key-end-doubtful', doubtfulEnds(keys), { about, level: 'warn' })
  await guardStore(() => app.redis.set(told, '1', 'PX', 400 * 24 * 3_600_000))
}

/** After a rotation, the old key ends later. It gets that end once its requester has seen the new token, unless it got another one since. */
async function settlePending(app: App, pending: KeyEnd, record: KeyEnd | undefined): Promise<void> {
  const { once = '', ...later } = pending
  const settled = { ...later, replaces: record?.end }
  const request = await app.store.find(once)
  if (request && isOpen(request.state)) return
  const isDone = request?.state === 'done' && (await checkRetraction(app, request)) === undefined
  if (!isDone || (record && record.since > pending.since)) return dropEnd(app, pending)
  try {
    await withName(signedName(app, settled, settled.createdAt), (name) => app.account.apiKeys.rename(settled.keyId, name))
  } catch (error) {
    if (error instanceof AccountLimitError) return
    onApiError(app, error)
    if (!(error instanceof ApiError) || isUnanswered(error)) return
    // Gone, or not to be renamed: the record alone ends it.
  }
  await writeEnd(app, settled)
  await dropEnd(app, pending)
}

/** Deletes keys whose time is over, by their ids alone, until the account no longer lists them. Returns those that may still be there. */
async function endKeys(
  app: App,
  over: KeyEnd[],
  { listed, isWhole, signal }: { listed: ApiKey[]; isWhole: boolean; signal: AbortSignal },
): Promise<KeyEnd[]> {
  const deleted = new Set<string>()
  for (const { keyId } of over) {
    const key = listed.find(({ id }) => id === keyId)
    // Lockkeeper uses it, or it cannot be told whether it does.
    if (key ? key.tokenLastSlice === undefined || ownVariableOf(key, app.ownLastSlices) : !isWhole) continue
    try {
      await app.account.apiKeys.delete(keyId)
      deleted.add(keyId)
    } catch (error) {
      onApiError(app, error)
    }
  }
  const wereListed = listed.some(({ id }) => deleted.has(id))
  const remaining = new Set((wereListed ? await app.account.apiKeys.list({ signal }) : listed).map(({ id }) => id))
  const isOver = ({ keyId }: KeyEnd) => deleted.has(keyId) && !remaining.has(keyId)
  for (const record of over.filter(isOver)) {
    // Otherwise somebody has deleted it before.
    if (!record.gone) {
      await app.audit.note(noteOf('end-key', record))
      await tell(app, shownAs(record, listed), 'ended')
    }
    await dropEnd(app, record)
  }
  return over.filter((record) => !isOver(record))
}

/** After a rotation with overlap two keys have one name. */
function shownAs(key: KeyEnd, listed: ApiKey[]): KeyEnd {
  return { ...key, lastSlice: listed.find(({ id }) => id === key.keyId)?.tokenLastSlice }
}

async function tellOverdue(app: App, ends: KeyEnd[], now: number): Promise<void> {
  for (const one of ends.filter(({ end }) => now - end > overdueMs))
    await notifyOperators(app, 'key-end-overdue', overdueEnd(one), { about: one.keyId })
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
  await oweFacts(app, { id, name: 'key-end' }, encodeEnd(app, 'key-end-message', { key, told } satisfies KeyEndMessage), owedMs)
}
