import type { Redis } from '../redis/connect.ts'
import { guardStore } from '../redis/connect.ts'
import type { Keys } from '../redis/key-names.ts'
import { createVerifier, parseEntry } from './chain.ts'
import type { AuditNote } from './entry.ts'
import { type Found, readLink } from './find-entries.ts'
import { startOfProcess } from './note-signer.ts'

const dayMs = 24 * 3_600_000

/** How long Redis keeps an entry. Collected logs keep the printed lines for longer. */
const keepMs = 400 * dayMs

/** Entries are removed once a day at most, because each removal is noted. */
const trimEveryMs = dayMs

/** How many entries one command reads. */
const pageSize = 1_000

interface TrimParts {
  redis: Redis
  keys: Keys
  note: (what: AuditNote) => Promise<void>
  /** Finds an entry of the chain, with the notes that this process has just added. */
  findGenuine: (fits: (entry: AuditNote) => boolean) => Promise<Found>
}

/**
 * Creates the function that removes entries older than 400 days. A signed note names the last of them before they are removed. So nobody
 * else can remove entries from the beginning of the chain without being noticed. The ids in the stream say when an entry was chained, but
 * somebody who can write to Redis can change them. So it removes only entries that form a correct chain, and none of a process that began
 * later.
 */
export function createTrim({ redis, keys, note, findGenuine }: TrimParts) {
  async function read(start: string, end: string, count: number) {
    return (await guardStore(() => redis.xrange(keys.audit, start, end, 'COUNT', count))).map(readLink)
  }

  /** Returns the last entry of those that may be removed: its number, and its id in the stream. `time`: ms since 1970 by Redis' clock. */
  async function lastBefore(time: number): Promise<{ seq: number; id: string } | undefined> {
    const verifier = createVerifier()
    let last: { seq: number; id: string } | undefined
    for (;;) {
      const page = await read(last ? `(${last.id}` : '-', `(${time}-0`, pageSize)
      for (const { id, ...link } of page) {
        const fault = verifier.next(link)
        const { seq, process = '' } = parseEntry(link.entry) ?? {}
        if (fault || seq === undefined) return undefined
        if (startOfProcess(process) > time) return last
        last = { seq, id }
      }
      if (page.length < pageSize) break
    }
    const [next] = last ? await read(`(${last.id}`, '+', 1) : []
    return next && verifier.next(next) ? undefined : last
  }

  /** Removes nothing until the note about the removal has joined the chain. The next call then removes the entries. */
  return async function trim(): Promise<void> {
    const [[oldest], [seconds]] = await guardStore(() => Promise.all([redis.xrange(keys.audit, '-', '+', 'COUNT', 1), redis.time()]))
    const keptSince = Number(seconds) * 1_000 - keepMs
    if (!oldest || timeOf(oldest[0]) >= keptSince - trimEveryMs) return
    const last = await lastBefore(keptSince)
    if (!last) return
    await note({ act: 'trim', through: last.seq, keptSince })
    const { entries } = await findGenuine(({ act, through }) => act === 'trim' && through === last.seq)
    if (entries.length === 0) return
    const [ms, count] = last.id.split('-').map(Number)
    await guardStore(() => redis.xtrim(keys.audit, 'MINID', `${ms}-${(count ?? 0) + 1}`))
  }
}

function timeOf(streamId: string): number {
  return Number(streamId.split('-')[0])
}
