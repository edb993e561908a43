import type { Redis } from '../redis/connect.ts'
import { guardStore } from '../redis/connect.ts'
import type { Keys } from '../redis/key-names.ts'
import { parseEntry } from './chain.ts'
import type { AuditNote } from './entry.ts'
import { type Found, readLink } from './find-entries.ts'

const dayMs = 24 * 3_600_000

/** How long Redis keeps an entry. Collected logs keep the printed lines for longer. */
export const keepMs = 400 * dayMs

/** Entries are removed once a day at most, because each removal is noted. */
const trimEveryMs = dayMs

/** How many of the last old entries are searched for one that can be parsed. */
const readAtOnce = 100

interface TrimParts {
  redis: Redis
  keys: Keys
  note: (what: AuditNote) => Promise<void>
  /** Finds an entry of the chain, with the notes that this process has just added. */
  findGenuine: (fits: (entry: AuditNote) => boolean) => Promise<Found>
}

/**
 * Creates the function that removes entries older than 400 days. A signed note names the last of them before they are removed. So somebody
 * else who removes entries from the beginning of the chain cannot make it look like this.
 */
export function createTrim({ redis, keys, note, findGenuine }: TrimParts) {
  /** Returns the last entry that was chained before `time`, in ms by Redis' clock: its number, and its id in the stream. */
  async function lastBefore(time: number): Promise<{ seq: number; id: string } | undefined> {
    const found = await guardStore(() => redis.xrevrange(keys.audit, `(${time}-0`, '-', 'COUNT', readAtOnce))
    return found.flatMap((item) => {
      const { id, entry } = readLink(item)
      const seq = parseEntry(entry)?.seq
      return seq === undefined ? [] : [{ seq, id }]
    })[0]
  }

  /** Removes nothing as long as the note about it has not joined the chain. The next call does it then. */
  return async function trim(): Promise<void> {
    const [[oldest], [seconds]] = await guardStore(() => Promise.all([redis.xrange(keys.audit, '-', '+', 'COUNT', 1), redis.time()]))
    const keptSince = Number(seconds) * 1_000 - keepMs
    if (!oldest || timeOf(oldest[0]) >= keptSince - trimEveryMs) return
    const last = await lastBefore(keptSince)
    if (!last) return
    await note({ act: 'trim', through: last.seq })
    const { entries } = await findGenuine(({ act, through }) => act === 'trim' && through === last.seq)
    if (entries.length === 0) return
    const [ms, count] = last.id.split('-').map(Number)
    await guardStore(() => redis.xtrim(keys.audit, 'MINID', `${ms}-${(count ?? 0) + 1}`))
  }
}

function timeOf(streamId: string): number {
  return Number(streamId.split('-')[0])
}
