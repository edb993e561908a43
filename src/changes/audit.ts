import { randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'
import { chain, type Link } from '../domain/audit-chain.ts'
import { AuditEntry, type AuditNote } from '../domain/audit-entry.ts'
import type { Keys } from './keys.ts'
import { guardStore } from './redis.ts'
import { createScripts } from './scripts.ts'

/** So many notes join the chain at once. */
const batchSize = 200

/** Notes that come together are chained together. */
const gatherMs = 20

/** How long an entry is kept in Redis; the lines on standard output are for longer. */
const keepMs = 400 * 24 * 3_600_000

/** An entry that was not printed for so long never will be by the process that chained it. */
const printedByThenMs = 30_000

interface AuditParts {
  redis: Redis
  keys: Keys
  /** Writes one line to the audit's own stream on standard output. */
  print: (line: string) => void
  /** Takes out of a text what looks like a secret. */
  clean: (text: string) => string
  onError: (error: unknown) => void
}

/**
 * The audit: what is noted goes to an intake, in the same step that changes a request where there is one, so that nothing is done
 * without a note; from there it joins the chain, in which every entry carries the hash of the one before.
 */
export function createAudit({ redis, keys, print, clean, onError }: AuditParts) {
  const run = createScripts(redis)
  let chaining: Promise<void> | undefined
  let again = false

  function encode(note: AuditNote): string {
    const present = Object.entries(note).filter(([, value]) => value !== undefined)
    return JSON.stringify(Object.fromEntries(present.map(([name, value]) => [name, clean(String(value)).slice(0, 1_000)])))
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
    let last = { seq: head.seq, hash: head.hash }
    const links: (Link & { id: string })[] = []
    for (const [id, fields] of pending) {
      const link = chain(JSON.parse(fields[1] ?? '{}'), last.seq + 1, last.hash)
      links.push({ ...link, id })
      last = { seq: last.seq + 1, hash: link.hash }
    }
    const oldest = String(Number(pending[0]?.[0].split('-')[0]) - keepMs)
    const values = links.flatMap(({ entry, hash, id }) => [entry, hash, id])
    const [outcome] = await run('append', auditKeys(), [head.hash, last.hash, String(last.seq), oldest, ...values])
    if (outcome === 'won') await printLinks(links, last.seq)
    return true
  }

  function auditKeys(): string[] {
    return [keys.auditIntake, keys.audit, keys.auditHead]
  }

  async function readHead(): Promise<{ seq: number; hash: string; printed: number }> {
    const [seq, hash, printed] = await guardStore(() => redis.hmget(keys.auditHead, 'seq', 'hash', 'printed'))
    return { seq: Number(seq ?? 0), hash: hash ?? '', printed: Number(printed ?? 0) }
  }

  async function printLinks(links: Link[], upTo: number): Promise<void> {
    for (const { entry, hash } of links) print(JSON.stringify({ stream: 'audit', ...JSON.parse(entry), hash }))
    await guardStore(() => redis.hset(keys.auditHead, 'printed', String(upTo)))
  }

  /** Chains what is left over, and prints what a process that died has chained and not printed. */
  async function tidy(): Promise<void> {
    kick()
    await chaining
    const head = await readHead()
    if (head.printed >= head.seq) return
    const links = (await newest(head.seq - head.printed)).toReversed()
    const now = Date.now()
    const due = links.filter(({ entry }) => now - AuditEntry.parse(JSON.parse(entry)).at > printedByThenMs)
    if (due.length > 0) await printLinks(due, head.printed + due.length)
  }

  async function newest(count: number, before?: string): Promise<(Link & { id: string })[]> {
    const end = before === undefined ? '+' : `(${before}`
    const found = await guardStore(() => redis.xrevrange(keys.audit, end, '-', 'COUNT', Math.min(count, 1_000)))
    return found.map(([id, [, entry = '', , hash = '']]) => ({ id, entry, hash }))
  }

  /** The newest entries that fit, newest first; older ones than `scan` are not looked at. */
  async function find(fits: (entry: AuditEntry) => boolean, { limit = 200, scan = 20_000 } = {}): Promise<AuditEntry[]> {
    kick()
    await chaining
    const found: AuditEntry[] = []
    let before: string | undefined
    for (let seen = 0; seen < scan && found.length < limit; ) {
      const links = await newest(1_000, before)
      if (links.length === 0) break
      seen += links.length
      before = links.at(-1)?.id
      found.push(...links.flatMap(({ entry }) => entryIfFit(entry) ?? []).filter(fits))
    }
    return found.slice(0, limit)
  }

  /** Ends when what was noted here has been chained. */
  async function settle(): Promise<void> {
    await chaining
  }

  return { encode, note, kick, tidy, find, settle }
}
export type Audit = ReturnType<typeof createAudit>

function entryIfFit(text: string): AuditEntry | undefined {
  try {
    return AuditEntry.parse(JSON.parse(text))
  } catch {
    return undefined
  }
}
