import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Keyring, Verdict } from '../domain/signing/keyring.ts'
import { guardStore, type Redis } from '../redis/connect.ts'
import type { Keys } from '../redis/key-names.ts'
import { isAsWritten, type Link } from './chain.ts'
import { AuditEntry } from './entry.ts'
import { verifyNote } from './note-signer.ts'

/** How many entries one command reads. */
const pageSize = 1_000

/** How many entries are searched before other work gets a turn. Parsing and comparing one takes up to 0.1 ms. */
const entriesPerTurn = 50

export interface FoundEntry extends AuditEntry {
  /** Whether its signature is genuine. `at`, `from` and `to` are not signed. `copied`: it is the copy of an older note that was found. */
  verdict: Verdict | 'copied'
}

interface Search {
  /** How many entries are returned at most. */
  limit?: number
  /** How many of the newest entries are searched, or up to one page more. */
  scan?: number
  /** No entry that was chained before this time is searched, in ms since 1970 by Redis' clock. */
  since?: number
  /** Leaves out the entries that cannot be verified. */
  onlyGenuine?: boolean
  /** Only entries about this request. */
  requestId?: string
  /** Throws if notes could not be chained, because the search would miss them. */
  allChained?: boolean
}

export interface Found {
  /** Newest first. */
  entries: FoundEntry[]
  /** How many entries were searched. */
  searched: number
  /** How many of the searched entries could not be parsed. */
  unreadable: number
  /** When the oldest searched entry was noted, in ms since 1970 by Redis' clock. */
  since: number | undefined
}

interface FindEntriesParts {
  redis: Redis
  keys: Keys
  keyring: Pick<Keyring, 'verify'>
}

/** Searches the chain of the audit from its end. */
export function createFindEntries({ redis, keys, keyring }: FindEntriesParts) {
  async function newest(count: number, before?: string): Promise<(Link & { id: string })[]> {
    const end = before === undefined ? '+' : `(${before}`
    const found = await guardStore(() => redis.xrevrange(keys.audit, end, '-', 'COUNT', count))
    return found.map(readLink)
  }

  /** Finds the newest entries that fit, and verifies them. */
  return async function findEntries(fits: (entry: AuditEntry) => boolean, search: Search = {}): Promise<Found> {
    const found = await searchEntries(fits, search)
    return { ...found, entries: markCopies(found.entries) }
  }

  async function searchEntries(
    fits: (entry: AuditEntry) => boolean,
    { limit = 200, scan = 20_000, since = 0, onlyGenuine = false, requestId }: Search,
  ): Promise<Found> {
    const found: Found = { entries: [], searched: 0, unreadable: 0, since: undefined }
    let before: string | undefined
    while (found.searched < scan && found.entries.length < limit) {
      const links = await newest(pageSize, before)
      before = links.at(-1)?.id
      for (const { id, entry: text } of links) {
        if (found.entries.length >= limit) return found
        if (found.searched % entriesPerTurn === 0) await nextTurn()
        const isOld = timeOf(id) < since
        found.searched += 1
        const fields = parseFields(text)
        // Checking the shape of an entry takes longer than parsing it.
        if (!isOld && requestId !== undefined && fields?.requestId !== requestId) continue
        const entry = AuditEntry.safeParse(fields).data
        // Somebody could put a note with an old time into the intake, or give entries older ids, to end the search. Both together need a chain
        // that is computed again, which running processes notice.
        if (isOld && (entry?.at ?? 0) < since) return { ...found, searched: found.searched - 1 }
        if (!entry) found.unreadable += 1
        found.since = entry?.at ?? found.since
        if (!fields || !entry || !fits(entry)) continue
        const verdict = isAsWritten(text, fields) ? verifyNote(keyring, fields) : 'forged'
        if (verdict === 'genuine' || !onlyGenuine) found.entries.push({ ...entry, verdict })
      }
      if (links.length < pageSize) return found
    }
    return found
  }
}

function parseFields(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text) ?? undefined
  } catch {
    return undefined
  }
}

/** Marks entries whose note is that of an older entry: somebody has put a copy into the intake or into the chain. */
function markCopies(entries: FoundEntry[]): FoundEntry[] {
  const seen = new Set<string>()
  return entries
    .toReversed()
    .map((entry) => {
      if (entry.verdict !== 'genuine') return entry
      const note = `${entry.process} ${entry.number}`
      const isCopy = seen.has(note)
      seen.add(note)
      return isCopy ? { ...entry, verdict: 'copied' as const } : entry
    })
    .toReversed()
}

function timeOf(streamId: string): number {
  return Number(streamId.split('-')[0])
}

/** Reads a link of the chain from its item in the Redis stream. */
export function readLink([id, fields]: [id: string, fields: string[]]): Link & { id: string } {
  const [, entry = '', , hash = ''] = fields
  return { id, entry, hash }
}
