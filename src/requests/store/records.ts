import type { Outline, Request } from '../../domain/request.ts'
import type { ChainableCommander, Redis } from '../../redis/connect.ts'
import { guardStore } from '../../redis/connect.ts'
import type { Keys } from '../../redis/key-names.ts'
import { decodeIfFit, decodeOutlineIfFit, decodeRecord, outlineFields, type RecordHash } from './record.ts'

/** So many records are read in one exchange: enough to be quick, few enough not to fill the memory with answers. */
const readAtOnce = 500

/** Reads requests: one, some by their ids, or those of a kind among very many. Throws StoreUnavailableError when Redis does not answer. */
export function createRecords({ redis, keys }: { redis: Redis; keys: Keys }) {
  async function find(id: string): Promise<Request | undefined> {
    const hash = await guardStore(() => redis.hgetall(keys.record(id)))
    return hash.state ? decodeRecord(hash) : undefined
  }

  /** Those that are there and can be read, a part at a time: one record that does not fit (any more) must not hide the others. `find` tells of it. */
  async function* findEach(ids: string[]): AsyncGenerator<Request> {
    const hashes = readEach(ids, (pipeline, record) => pipeline.hgetall(record))
    for await (const hash of hashes) {
      const request = decodeIfFit((hash ?? {}) as RecordHash)
      if (request) yield request
    }
  }

  /** The same, in short. */
  async function* outlineEach(ids: string[]): AsyncGenerator<Outline> {
    const answers = readEach(ids, (pipeline, record) => pipeline.hmget(record, ...outlineFields))
    for await (const values of answers) {
      const outline = decodeOutlineIfFit((values ?? []) as (string | null)[])
      if (outline) yield outline
    }
  }

  async function* readEach(ids: string[], ask: (pipeline: ChainableCommander, record: string) => void): AsyncGenerator<unknown> {
    for (let at = 0; at < ids.length; at += readAtOnce) {
      const pipeline = redis.pipeline()
      for (const id of ids.slice(at, at + readAtOnce)) ask(pipeline, keys.record(id))
      yield* await guardStore(async () => ((await pipeline.exec()) ?? []).map(readAnswer))
    }
  }

  async function findMany(ids: string[]): Promise<Request[]> {
    const found: Request[] = []
    for await (const request of findEach(ids)) found.push(request)
    return found
  }

  /** All that are open, in short, so that none is overlooked where they are many: those first whose last step is longest ago. */
  async function open(): Promise<Outline[]> {
    const found: Outline[] = []
    for await (const outline of outlineEach(await guardStore(() => redis.zrange(keys.open, '0', '-1')))) found.push(outline)
    return found
  }

  /** The latest that ended and fit, newest first, of all that are kept. */
  async function ended(limit: number, fits: (outline: Outline) => boolean): Promise<Request[]> {
    const found: string[] = []
    for await (const outline of outlineEach(await guardStore(() => redis.zrevrange(keys.ended, 0, -1)))) {
      if (fits(outline)) found.push(outline.id)
      if (found.length === limit) break
    }
    return findMany(found)
  }

  return { find, findEach, findMany, open, ended }
}

/** Something else in a record's place is that record's fault alone. Any other error says nothing of what is there. */
function readAnswer([error, answer]: [Error | null, unknown]): unknown {
  if (error && !error.message.startsWith('WRONGTYPE')) throw error
  return answer
}
