import type { Request } from '../../domain/request/request.ts'
import type { Redis } from '../../redis/connect.ts'
import { guardStore } from '../../redis/connect.ts'
import type { Keys } from '../../redis/key-names.ts'
import { decodeIfFit, decodeRecord, type RecordHash } from './record.ts'

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
