import { randomUUID } from 'node:crypto'
import type { Redis } from '../redis/connect.ts'
import { guardStore } from '../redis/connect.ts'
import type { Keys } from '../redis/key-names.ts'
import { createScripts, readScripts } from '../redis/scripts.ts'
import { chain, type Link, printedLine } from './chain.ts'
import { AuditEntry, type AuditNote, auditVersion } from './entry.ts'
import { createFindEntries, type Found, readLink } from './find-entries.ts'
import { createSeenHead, type Head, type SeenHead } from './seen-head.ts'

export const auditScripts = readScripts(import.meta.url, ['append', 'note'])

/** So many notes join the chain at once. */
const batchSize = 200

/** Notes that come together are chained together. */
const gatherMs = 20

/** How long an entry is kept in Redis; the lines on standard output are for longer. */
const keepMs = 400 * 24 * 3_600_000

/** What was not printed for so long never will be by the process that chained it. */
const printedByThenMs = 30_000

/** The longest text of a note; what is longer is cut visibly. */
const longestText = 1_000

/** A note as it is in the intake. The scripts leave its text as it is and put `at`, `from` and `to` beside it. */
const StampedNote = AuditEntry.omit({ seq: true, prev: true })

interface AuditParts {
  redis: Redis
  keys: Keys
  /** Writes one line to the audit's own stream on standard output. */
  print: (line: string) => void
  /** Takes out of a text what looks like a secret. */
  clean: (text: string) => string
  onError: (error: unknown) => void
  /** Hears of the chain's end whenever something joins it here. */
  seenHead?: SeenHead
}

/**
 * The audit: what is noted goes to an intake, in the same step that changes a request where there is one, so that nothing is done
 * without a note; from there it joins the chain, in which every entry carries the hash of the one before.
 */
export function createAudit({ redis, keys, print, clean, onError, seenHead = createSeenHead() }: AuditParts) {
  const run = createScripts(redis, auditScripts)
  const findEntries = createFindEntries({ redis, keys })
  let chaining: Promise<void> | undefined
  let again = false

  function encode(note: AuditNote): string {
    const versioned = { version: auditVersion, ...note }
    return JSON.stringify(versioned, (_, value) => (typeof value === 'string' ? shorten(clean(value)) : value))
  }

  /** Throws StoreUnavailableError when it could not be written down. */
  async function note(what: AuditNote): Promise<void> {
    await run('note', [keys.auditIntake, keys.auditSent(randomUUID())], [encode(what)])
    kick()
  }

  /** Chains what was noted, soon. Never throws: whoever looks next makes up for it. */
  function kick(): void {
    again = true
    chaining ??= chainAll()
      .catch(onError)
      .finally(() => {
        chaining = undefined
        // Something was noted between the last look and now.
        if (again) kick()
      })
  }

  async function chainAll(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, gatherMs))
    while (again) {
      again = false
      while (await chainSome());
    }
  }

  /** False when there is nothing left. */
  async function chainSome(): Promise<boolean> {
    const [pending, head] = await Promise.all([guardStore(() => redis.xrange(keys.auditIntake, '-', '+', 'COUNT', batchSize)), readHead()])
    if (pending.length === 0) return false
    let last = head
    const links: (Link & { id: string })[] = []
    for (const [id, fields] of pending) {
      const link = chain(readNote(id, fields), last.seq + 1, last.hash)
      links.push({ ...link, id })
      last = { seq: last.seq + 1, hash: link.hash }
    }
    const oldest = String(Number(pending[0]?.[0].split('-')[0]) - keepMs)
    const token = randomUUID()
    const values = links.flatMap(({ entry, hash, id }) => [entry, hash, id])
    const compareHead = seenHead.compare()
    const [outcome] = await run('append', auditKeys(), [head.hash, last.hash, String(last.seq), oldest, token, ...values])
    if (outcome !== 'won') return true
    // Only a primary lets it join, and only where the chain ended with what was read: so that was its end.
    compareHead(head, last)
    await printLinks(links, `unprinted:${token}`)
    return true
  }

  /** One that nobody of ours wrote must not hold up all those behind it, and is kept as it is. */
  function readNote(id: string, flat: string[]): object {
    const { note = flat.join(' '), at, from, to } = fieldsOf(flat)
    const known = parseNote({ text: note, at: Number(at), from, to })
    return known ?? { version: auditVersion, act: 'unreadable', at: Number(id.split('-')[0]), text: shorten(clean(note)) }
  }

  function auditKeys(): string[] {
    return [keys.auditIntake, keys.audit, keys.auditHead]
  }

  async function readHead(): Promise<Head> {
    const [seq, hash] = await guardStore(() => redis.hmget(keys.auditHead, 'seq', 'hash'))
    return { seq: Number(seq ?? 0), hash: hash ?? '' }
  }

  async function printLinks(links: Link[], mark: string): Promise<void> {
    for (const link of links) print(printedLine(link))
    await guardStore(() => redis.hdel(keys.auditHead, mark))
  }

  /** Chains what is left over, and prints what a process that died has chained and not printed. */
  async function tidy(): Promise<void> {
    kick()
    await chaining
    const [head, now] = await guardStore(() => Promise.all([redis.hgetall(keys.auditHead), redis.time()]))
    for (const [mark, range] of Object.entries(head)) {
      const [first = '', last = ''] = mark.startsWith('unprinted:') ? range.split(' ') : []
      if (first === '' || Number(now[0]) * 1_000 - Number(first.split('-')[0]) < printedByThenMs) continue
      const found = await guardStore(() => redis.xrange(keys.audit, first, last))
      await printLinks(found.map(readLink), mark)
    }
  }

  /** Finds entries after everything that was noted here has been chained. */
  async function find(...search: Parameters<typeof findEntries>): Promise<Found> {
    kick()
    await chaining
    return findEntries(...search)
  }

  /** Ends when what was noted here has been chained. */
  async function settle(): Promise<void> {
    while (chaining) await chaining
  }

  return { encode, note, kick, tidy, find, settle }
}
export type Audit = ReturnType<typeof createAudit>

/** Well-formed, because Redis' JSON takes no half characters: what is cut in the middle of an emoji would stop the script. */
function shorten(text: string): string {
  return (text.length > longestText ? `${text.slice(0, longestText - 1)}…` : text).toWellFormed()
}

/** The fields of an item of a Redis stream, which come as a flat list of names and values. */
function fieldsOf(flat: string[]): Record<string, string | undefined> {
  return Object.fromEntries(Array.from({ length: flat.length / 2 }, (_, index) => [flat[index * 2], flat[index * 2 + 1]]))
}

function parseNote({
  text,
  ...stamps
}: {
  text: string
  at: number
  from: string | undefined
  to: string | undefined
}): object | undefined {
  try {
    return StampedNote.parse({ ...JSON.parse(text), ...stamps })
  } catch {
    return undefined
  }
}
