import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Verdict } from '../domain/signing.ts'
import { guardStore } from '../redis/connect.ts'
import { AuditEntry, hashOf, isAsWritten, timeOf, verifyNote } from './chain.ts'
import type { AuditApp } from './intake.ts'

export interface FoundEntry extends AuditEntry {
  /** Whether its signature is genuine. `at` and `to` are not signed. `copied`: it is the copy of an older note that was found. */
  verdict: Verdict | 'copied'
}

interface Search {
  /** In ms since 1970 by Redis' clock: when the entry was chained. */
  since?: number
  requestId?: string
  /** How many of the newest entries are searched. */
  searched?: number
  /**
   * Called if an entry is missing, also before the first one, or is not the one that was written, as the next one has the hash of that. `isEmpty`: no
   * entry is there, as in a new data set.
   */
  onGap?: (isEmpty: boolean) => void
}

/** Newest first, with the notes just added. Throws StoreUnavailableError, also if notes could not be chained, which it would miss. */
export async function findEntries(
  app: AuditApp,
  fits: (entry: AuditEntry) => boolean,
  { searched: most = Number.POSITIVE_INFINITY, since = 0, requestId, onGap }: Search = {},
): Promise<FoundEntry[]> {
  await app.audit.chained()
  const found: FoundEntry[] = []
  let searched = 0
  let hash: unknown
  /** The number of the oldest entry that was read. */
  let first = Number.POSITIVE_INFINITY
  let trimmedThrough = 0
  let isAll = true
  for await (const { id, text } of entries(app, 'xrevrange')) {
    if (searched >= most) break
    searched += 1
    const fields = parseFields(text)
    if (searched > 1 && onGap && hashOf(text) !== hash) onGap(false)
    hash = fields?.prev
    first = Number(fields?.seq)
    if (fields?.act === 'trim' && verdictOf(app, text, fields) === 'genuine')
      trimmedThrough = Math.max(trimmedThrough, Number(fields.through))
    const isOld = timeOf(id) < since
    // Checking the shape of an entry takes longer than parsing it.
    if (!isOld && requestId !== undefined && fields?.requestId !== requestId) continue
    const entry = AuditEntry.safeParse(fields).data
    // Somebody could put a note with an old time into the intake, or give entries older ids, to end the search. Both together need an
    // audit that is rewritten, which running processes notice.
    if (isOld && (entry?.at ?? 0) < since) {
      isAll = false
      break
    }
    if (!fields || !entry || !fits(entry) || (requestId !== undefined && entry.requestId !== requestId)) continue
    found.push({ ...entry, verdict: verdictOf(app, text, fields) })
  }
  if (onGap && isAll && first > trimmedThrough + 1) onGap(searched === 0)
  return markCopies(found)
}

const pageSize = 1_000

/** How many entries are read before other work gets a turn. Parsing and comparing one takes up to 0.1 ms. */
const entriesPerTurn = 50

export async function* entries({ audit: { redis, keys } }: AuditApp, order: 'xrange' | 'xrevrange') {
  const [start, end] = order === 'xrange' ? ['-', '+'] : ['+', '-']
  let from = start
  let count = 0
  // What is searched among the newest is usually among the first few.
  for (let size = order === 'xrevrange' ? 50 : pageSize; ; size = pageSize) {
    const page = await guardStore(() => redis[order](keys.audit, from, end, 'COUNT', size))
    for (const [id, [, text = '']] of page) {
      if (count % entriesPerTurn === 0) await nextTurn()
      count += 1
      from = `(${id}`
      yield { id, text }
    }
    if (page.length < size) return
  }
}

export function parseFields(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text) ?? undefined
  } catch {
    return undefined
  }
}

export function verdictOf({ audit }: AuditApp, text: string, fields: Record<string, unknown>): Verdict {
  return isAsWritten(text, fields) ? verifyNote(audit.keyring, fields) : 'forged'
}

/** Marks entries whose note is that of an older entry: somebody has put a copy into the intake or into the chain. Takes them newest first. */
export function markCopies(entries: FoundEntry[]): FoundEntry[] {
  const seen = new Set<string>()
  return entries
    .toReversed()
    .map((entry) => {
      if (entry.verdict !== 'genuine') return entry
      const { noteId = '' } = entry
      const isCopy = seen.has(noteId)
      seen.add(noteId)
      return isCopy ? { ...entry, verdict: 'copied' as const } : entry
    })
    .toReversed()
}
