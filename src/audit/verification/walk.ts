import type { Redis } from '../../redis/connect.ts'
import type { Keys } from '../../redis/key-names.ts'
import { createVerifier, type Link, parseEntry } from '../chain.ts'

/** How many entries one command reads. */
const pageSize = 1_000

/** A running worker chains a note within this time. */
const chainedWithinMs = 60_000

/** A link with its number. `at` is when it was noted and `chainedAt` when it was chained, in ms since 1970 by Redis' clock. */
export interface WalkedLink extends Link {
  seq: number
  at: number
  chainedAt: number
}

export interface Walk {
  /** A sentence for each fault. */
  breaks: string[]
  count: number
  first: WalkedLink | undefined
  last: WalkedLink | undefined
}

interface WalkParts {
  redis: Redis
  keys: Keys
  /** Runs one command, and limits how long it may take. */
  runCommand: <T>(command: () => Promise<T>) => Promise<T>
  onLink: (link: WalkedLink) => void
}

/** Reads the whole chain, link by link, including the links that join it during the walk. Writes nothing. */
export async function walkAudit({ redis, keys, runCommand, onLink }: WalkParts): Promise<Walk> {
  const verifier = createVerifier()
  const walk: Walk = { breaks: [], count: 0, first: undefined, last: undefined }

  let start = '-'
  for (;;) {
    const page = await runCommand(() => redis.xrange(keys.audit, start, '+', 'COUNT', pageSize))
    for (const [id, fields] of page) step(id, fields)
    const end = page.at(-1)?.[0]
    if (end !== undefined) {
      start = `(${end}`
      continue
    }
    const head = await readHead()
    // The chain grew after the page was read.
    if (head.seq > (walk.last?.seq ?? 0) && (await hasMore(start))) continue
    walk.breaks.push(...faultsAtEnd(walk, head))
    break
  }
  walk.breaks.push(...(await faultsInIntake()))
  return walk

  function step(id: string, fields: string[]): void {
    const link = { entry: fieldOf(fields, 'entry'), hash: fieldOf(fields, 'hash') }
    const fault = verifier.next(link)
    if (fault) walk.breaks.push(fault)
    walk.count += 1
    const at = parseEntry(link.entry)?.at
    const seq = verifier.last()?.seq
    if (seq === undefined || at === undefined) return
    walk.last = { ...link, seq, at, chainedAt: timeOf(id) }
    walk.first ??= walk.last
    onLink(walk.last)
  }

  async function hasMore(from: string): Promise<boolean> {
    return (await runCommand(() => redis.xrange(keys.audit, from, '+', 'COUNT', 1))).length > 0
  }

  async function readHead() {
    const [seq, hash] = await runCommand(() => redis.hmget(keys.auditHead, 'seq', 'hash'))
    return { seq: Number(seq ?? 0), hash: hash ?? '' }
  }

  async function faultsInIntake(): Promise<string[]> {
    const [waiting, [oldest], [seconds]] = await runCommand(() =>
      Promise.all([redis.xlen(keys.auditIntake), redis.xrange(keys.auditIntake, '-', '+', 'COUNT', 1), redis.time()]),
    )
    const since = oldest && timeOf(oldest[0])
    if (since === undefined || Number(seconds) * 1_000 - since <= chainedWithinMs) return []
    const notes = waiting === 1 ? '1 note waits' : `${waiting} notes wait`
    return [`${notes} to join the chain, the first since ${utc(since)} (UTC): no process chains them. Is a bot running?`]
  }
}

function faultsAtEnd({ last }: Walk, head: { seq: number; hash: string }): string[] {
  const end = last?.seq ?? 0
  if (head.hash === '' && last) return ['The head of the chain is missing: it should name the last entry.']
  if (head.seq > end) return [`The chain ends with entry ${end}, and its head names entry ${head.seq}: the last entries are missing.`]
  if (head.seq < end) {
    return [`The chain ends with entry ${end}, and its head names entry ${head.seq}: the head was set back, or entries were inserted.`]
  }
  if (last && head.hash !== last.hash) return [`The head of the chain has another hash than its last entry (${end}).`]
  return []
}

/** Formats a time in ms since 1970: `2026-11-21 07:00`. */
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
