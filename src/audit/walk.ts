import type { Redis } from '../redis/connect.ts'
import type { Keys } from '../redis/key-names.ts'
import { createVerifier, type Link } from './chain.ts'
import { AuditEntry } from './entry.ts'

const pageSize = 1_000

/** A note that waits for the chain for longer than this waits in vain. */
const chainedWithinMs = 60_000

/** A link with its number, when it was noted and when it was chained. All in ms since 1970 by Redis' clock. */
export interface WalkedLink extends Link {
  seq: number
  at: number
  chainedAt: number
}

export interface Walk {
  /** What is wrong, each a sentence. */
  breaks: string[]
  count: number
  first: WalkedLink | undefined
  last: WalkedLink | undefined
  /** How many entries were removed from the beginning because of their age. */
  trimmed: number
}

interface WalkParts {
  redis: Redis
  keys: Keys
  /** Runs one command. */
  ask: <T>(command: () => Promise<T>) => Promise<T>
  onLink: (link: WalkedLink) => void
}

/** Walks the whole chain, link by link, to its end also where it grows meanwhile. Only ever reads. */
export async function walkAudit({ redis, keys, ask, onLink }: WalkParts): Promise<Walk> {
  const before = await readHead()
  const verifier = createVerifier()
  const walk: Walk = { breaks: [], count: 0, first: undefined, last: undefined, trimmed: before.trimmed }

  let start = '-'
  for (;;) {
    const page = await ask(() => redis.xrange(keys.audit, start, '+', 'COUNT', pageSize))
    for (const [id, fields] of page) step(id, fields)
    const end = page.at(-1)?.[0]
    if (end !== undefined) {
      start = `(${end}`
      continue
    }
    const head = await readHead()
    // It has grown since the page was read.
    if (head.seq > (walk.last?.seq ?? 0) && (await hasMore(start))) continue
    walk.breaks.push(...judgeBeginning(walk, before.trimmed, head.trimmed), ...judgeEnd(walk, head))
    walk.trimmed = head.trimmed
    break
  }
  walk.breaks.push(...(await judgeIntake()))
  return walk

  function step(id: string, fields: string[]): void {
    const link = { entry: fieldOf(fields, 'entry'), hash: fieldOf(fields, 'hash') }
    const fault = verifier.next(link)
    if (fault) walk.breaks.push(fault)
    walk.count += 1
    const at = atOf(link.entry)
    const seq = verifier.last()?.seq
    if (seq === undefined || at === undefined) return
    walk.last = { ...link, seq, at, chainedAt: timeOf(id) }
    walk.first ??= walk.last
    onLink(walk.last)
  }

  async function hasMore(from: string): Promise<boolean> {
    return (await ask(() => redis.xrange(keys.audit, from, '+', 'COUNT', 1))).length > 0
  }

  async function readHead() {
    const [seq, hash, trimmed] = await ask(() => redis.hmget(keys.auditHead, 'seq', 'hash', 'trimmed'))
    return { seq: Number(seq ?? 0), hash: hash ?? '', trimmed: Number(trimmed ?? 0) }
  }

  async function judgeIntake(): Promise<string[]> {
    const [waiting, [oldest], [seconds]] = await ask(() =>
      Promise.all([redis.xlen(keys.auditIntake), redis.xrange(keys.auditIntake, '-', '+', 'COUNT', 1), redis.time()]),
    )
    const since = oldest && timeOf(oldest[0])
    if (since === undefined || Number(seconds) * 1_000 - since <= chainedWithinMs) return []
    const notes = waiting === 1 ? '1 note waits' : `${waiting} notes wait`
    return [`${notes} to join the chain, the first since ${utc(since)} (UTC): nobody chains them. Is a bot running?`]
  }
}

/** The bot removes what is old and counts it, so that what somebody else removes is missed. Pure. */
function judgeBeginning({ first }: Walk, trimmedBefore: number, trimmedAfter: number): string[] {
  if (!first || (first.seq >= trimmedBefore + 1 && first.seq <= trimmedAfter + 1)) return []
  if (first.seq > trimmedAfter) {
    return [`The chain begins with entry ${first.seq}, and the bot has removed ${trimmedAfter} because of their age: others are missing.`]
  }
  return [`The chain begins with entry ${first.seq}, and the bot has removed ${trimmedBefore} because of their age: something was put in.`]
}

/** Pure. */
function judgeEnd({ last }: Walk, head: { seq: number; hash: string }): string[] {
  const end = last?.seq ?? 0
  if (head.hash === '' && last) return ['The head of the chain is missing: it should name the last entry.']
  if (head.seq > end) return [`The chain ends with entry ${end}, and its head names entry ${head.seq}: the last entries are missing.`]
  if (head.seq < end) {
    return [`The chain ends with entry ${end}, and its head names entry ${head.seq}: the head was set back, or entries were put in.`]
  }
  if (last && head.hash !== last.hash) return [`The head of the chain has another hash than its last entry (${end}).`]
  return []
}

/** `2026-11-21 07:00` */
export function utc(at: number): string {
  const date = new Date(at)
  return Number.isNaN(date.getTime()) ? 'an unknown time' : date.toISOString().slice(0, 16).replace('T', ' ')
}

function timeOf(streamId: string): number {
  return Number(streamId.split('-')[0])
}

function fieldOf(fields: string[], name: string): string {
  const index = fields.findIndex((field, at) => at % 2 === 0 && field === name)
  return index < 0 ? '' : (fields[index + 1] ?? '')
}

function atOf(entry: string): number | undefined {
  try {
    return AuditEntry.parse(JSON.parse(entry)).at
  } catch {
    return undefined
  }
}
