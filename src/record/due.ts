import { randomUUID } from 'node:crypto'
import type { ChangeKind } from '../domain/policy.ts'
import type { Request } from '../domain/request.ts'
import { guardStore, type Redis } from '../redis/connect.ts'
import type { Keys } from '../redis/key-names.ts'
import { claim, readClock, readScripts, scriptsOf } from '../redis/scripts.ts'

const scripts = scriptsOf(readScripts(import.meta.url, ['create', 'discard', 'take-step', 'forget-lost', 'postpone']))

/** One connection to Redis, with the scripts of requests. */
export interface Database {
  redis: Redis
  keys: Keys
  run: ReturnType<typeof withScripts>
}

export function withScripts(redis: Redis) {
  return scripts.bind(undefined, redis)
}

/** The most requests, and the most messages, that one tick takes. The next tick takes the rest. */
export const dueAtOnce = 2_000

function due({ run, keys }: Database, limit = dueAtOnce): Promise<string[]> {
  return run('due', [keys.due], ['0', String(limit)])
}

/** Whether a request or a message has been due for as long as this. */
async function isOverdue({ run, keys }: Database, byMs: number): Promise<boolean> {
  const found = await Promise.all([keys.due, keys.outbox].map((set) => run('due', [set], [String(-byMs), '1'])))
  return found.flat().length > 0
}

/** Without those that are owed for later, as the end of a freeze. */
async function countUnsent(db: Database): Promise<number> {
  const soon = (await readClock(db)) + 2 * 60_000
  return guardStore(() => db.redis.zcount(db.keys.outbox, '-inf', soon))
}

/** Makes a request due again in `inMs`, if it has a due time. */
async function postpone({ run, keys }: Database, id: string, inMs: number): Promise<void> {
  await run('postpone', [keys.due, keys.record(id)], [id, String(Math.round(inMs)), ''])
}

/** The same, unless its record changed since it was read: that step has set a due time. */
async function postponeIfUnchanged({ run, keys }: Database, { id, revision }: Request, inMs: number): Promise<void> {
  await run('postpone', [keys.due, keys.record(id)], [id, String(Math.round(inMs)), String(revision)])
}

/** Makes a request not due any more, unless its record changed since it was read. */
async function clearDueIfUnchanged({ run, keys }: Database, { id, revision }: Request): Promise<void> {
  await run('postpone', [keys.due, keys.record(id)], [id, 'never', String(revision)])
}

/** Makes a request whose record cannot be read not due any more. */
async function clearDue({ redis, keys }: Database, id: string): Promise<void> {
  await guardStore(() => redis.zrem(keys.due, id))
}

/** Every step that removes a record removes its due time, too. So if a request still has one after its record was not found, Redis has lost it. */
async function isDue({ redis, keys }: Database, id: string): Promise<boolean> {
  return (await guardStore(() => redis.zscore(keys.due, id))) !== null
}

/** Removes the id of a request from the sets of requests, if its record is gone. */
async function forgetLost({ run, keys }: Database, id: string): Promise<void> {
  await run('forget-lost', [keys.record(id), keys.open, keys.ended, keys.due], [id])
}

/** How many of the last changes of a kind count, and how many there must be. */
const mostKept = 50
const fewest = 5

/** Notes how long a change took. A lost or doubled note decides nothing, so no error is thrown. */
export async function noteDuration({ redis, keys }: Pick<Database, 'redis' | 'keys'>, kind: ChangeKind, ms: number): Promise<void> {
  const key = keys.durations(kind)
  const noted = redis
    .multi()
    .lpush(key, String(Math.round(ms)))
    .ltrim(key, 0, mostKept - 1)
    .exec()
  await noted.catch(() => {})
}

/** Returns how long the last changes of a kind took on this account, in ms, ascending. Empty while too few are known, or without Redis. */
async function durations({ redis, keys }: Database, kind: ChangeKind): Promise<number[]> {
  const found = await guardStore(() => redis.lrange(keys.durations(kind), 0, mostKept - 1)).catch(() => [])
  return found.length < fewest ? [] : found.map(Number).toSorted((a, b) => a - b)
}

const leastSlowMs = 60_000

/** The median of them, and after how long a change is slower than usual: three times what nine in ten took. Undefined if there are none. */
async function usualDuration(db: Database, kind: ChangeKind): Promise<Pick<Request, 'usualMs' | 'slowAfterMs'>> {
  const sorted = await durations(db, kind)
  const most = sorted[Math.ceil(sorted.length * 0.9) - 1]
  return { usualMs: sorted[Math.floor(sorted.length / 2)], slowAfterMs: most && Math.max(3 * most, leastSlowMs) }
}

/** How long a worker that does nothing is kept in the list of workers. */
const keepWorkersMs = 24 * 3_600_000

async function noteTick(db: Database): Promise<void> {
  const at = await readClock(db)
  await guardStore(() => db.redis.set(db.keys.lastTick, String(at)))
}

/** The age of the last tick of any replica in ms, or Infinity. */
async function sinceLastTickMs(db: Database): Promise<number> {
  const at = await guardStore(() => db.redis.get(db.keys.lastTick))
  return at === null ? Number.POSITIVE_INFINITY : (await readClock(db)) - Number(at)
}

/** A worker that stops still counts for a while, so that a restart is no alarm. */
async function noteWorker(db: Database, name: string): Promise<void> {
  const at = await readClock(db)
  const { workers } = db.keys
  const noted = db.redis
    .multi()
    .zadd(workers, at, name)
    .zremrangebyscore(workers, '-inf', at - keepWorkersMs)
  await guardStore(() => noted.exec())
}

function workersSeen(db: Database, withinMs: number): Promise<number> {
  return guardStore(async () => db.redis.zcount(db.keys.workers, String((await readClock(db)) - withinMs), '+inf'))
}

/** When a worker was noted last, in ms since 1970 by Redis' clock. 0: never. */
async function lastWorkerAt({ redis, keys }: Database): Promise<number> {
  const [, at = '0'] = await guardStore(() => redis.zrange(keys.workers, '-1', '-1', 'WITHSCORES'))
  return Number(at)
}

/** Longer than it can take to find a secret and to delete it. */
const retractionMs = 60_000

/** One process at a time looks for a secret and makes it worthless: a second one would not find it, and report it as never issued. */
async function claimRetraction({ redis, keys }: Database, id: string): Promise<string | undefined> {
  const token = randomUUID()
  const holder = await claim(redis, keys.retraction(id), { token, lastsMs: retractionMs })
  return holder === undefined ? token : undefined
}

/** Ends the claim with this token. Does nothing if it ran out and another process holds the claim. */
async function endRetraction({ run, keys }: Database, id: string, token: string): Promise<void> {
  await run('release', [keys.retraction(id)], [token])
}

export const ofDueTimes = {
  /** All times of a record come from it. */
  now: readClock,
  due,
  isOverdue,
  countUnsent,
  postpone,
  postponeIfUnchanged,
  clearDueIfUnchanged,
  clearDue,
  isDue,
  forgetLost,
  durations,
  usualDuration,
  noteTick,
  sinceLastTickMs,
  noteWorker,
  workersSeen,
  lastWorkerAt,
  claimRetraction,
  endRetraction,
}
