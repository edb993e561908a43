import { setImmediate as nextTurn } from 'node:timers/promises'
import { guardStore, type Redis } from '../redis/connect.ts'
import type { Keys } from '../redis/key-names.ts'
import { type Link, parseEntry } from './chain.ts'
import type { AuditEntry } from './entry.ts'

/** How many entries one command reads. */
const pageSize = 1_000

/** How many entries are searched before everything else gets its turn. Parsing and comparing one takes up to 0.1 ms. */
const entriesPerTurn = 50

export interface Found {
  entries: AuditEntry[]
  /** How many entries were searched. */
  searched: number
  /** How many of the searched entries could not be parsed. */
  unreadable: number
  /** When the oldest searched entry was noted, in ms since 1970 by Redis' clock. */
  since: number | undefined
  /** Whether the whole chain was searched. */
  all: boolean
}

/** Searches the chain of the audit from its end. */
export function createFindEntries({ redis, keys }: { redis: Redis; keys: Keys }) {
  async function newest(count: number, before?: string): Promise<(Link & { id: string })[]> {
    const end = before === undefined ? '+' : `(${before}`
    const found = await guardStore(() => redis.xrevrange(keys.audit, end, '-', 'COUNT', count))
    return found.map(readLink)
  }

  /**
   * Finds the newest entries that fit, newest first. It returns at most `limit`, searches the newest `scan` entries or up to one page more, and
   * none from before `since` (in ms by Redis' clock).
   */
  return async function findEntries(fits: (entry: AuditEntry) => boolean, { limit = 200, scan = 20_000, since = 0 } = {}): Promise<Found> {
    const found: Found = { entries: [], searched: 0, unreadable: 0, since: undefined, all: false }
    let before: string | undefined
    while (found.searched < scan && found.entries.length < limit) {
      const links = await newest(pageSize, before)
      before = links.at(-1)?.id
      for (const { entry: text } of links) {
        if (found.entries.length === limit) return found
        if (found.searched % entriesPerTurn === 0) await nextTurn()
        found.searched += 1
        const entry = parseEntry(text)
        if (!entry) found.unreadable += 1
        found.since = entry?.at ?? found.since
        if (entry && entry.at < since) return found
        if (entry && fits(entry)) found.entries.push(entry)
      }
      if (links.length < pageSize) return { ...found, all: true }
    }
    return found
  }
}

/** Reads a link of the chain from its item in the Redis stream. */
export function readLink([id, fields]: [id: string, fields: string[]]): Link & { id: string } {
  const [, entry = '', , hash = ''] = fields
  return { id, entry, hash }
}
