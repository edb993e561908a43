import { randomUUID } from 'node:crypto'
import type { Keyring } from '../domain/signing.ts'
import { guardStore, type Redis } from '../redis/connect.ts'
import type { Keys } from '../redis/key-names.ts'
import { readScripts, scriptsOf } from '../redis/scripts.ts'
import { type AuditNote, chain, cleanNote, decodeNote, type Head, hashOf, parseEntry, printedLine, signNote, timeOf } from './chain.ts'

export interface AuditApp {
  audit: Intake
}

/** `mark`: of notes that say the same. For `lastsMs` after the first one, no other is written. Throws StoreUnavailableError. */
export async function note(
  { audit }: AuditApp,
  what: AuditNote,
  { mark = audit.keys.auditSent(randomUUID()), lastsMs = 60_000 }: { mark?: string; lastsMs?: number | undefined } = {},
): Promise<void> {
  await audit.noteWith(what, (text) => audit.run('note', [audit.keys.auditIntake, mark], [text, String(lastsMs)]))
}

/** How long notes are collected before they join the chain, so that one command moves many of them. */
const gatherMs = 20

const batchSize = 200

/** A process that has not printed its entries after this time is considered dead. */
const printedWithinMs = 30_000

export const auditScripts = scriptsOf(readScripts(import.meta.url, ['note', 'append']))

export interface IntakeOptions {
  redis: Redis
  keys: Keys
  print: (line: string) => void
  keyring: Pick<Keyring, 'sign' | 'verify'>
  newestHead?: NewestHead
  onError: (error: unknown) => void
  onNotGenuine?: () => void
  /** Receives a sentence on old entries that are damaged. `areRemoved`: nevertheless, they were removed because of their age. */
  onDamaged?: (fault: string, areRemoved: boolean) => Promise<void>
}

/** A note first goes to an intake, in the step that changes a request: nothing happens without one. From there it joins the chain. */
export function createIntake({
  redis,
  keys,
  print,
  keyring,
  newestHead = createNewestHead(),
  onError,
  onNotGenuine = () => {},
  onDamaged = async () => {},
}: IntakeOptions) {
  const run = auditScripts.bind(undefined, redis)
  let chaining: Promise<void> | undefined
  let hasNewNotes = false
  let failure: unknown

  /** `command` adds the text of the note in the same step in which it changes something else. Throws what it throws. */
  async function noteWith<T>(what: AuditNote, command: (text: string) => Promise<T>): Promise<T> {
    try {
      return await command(JSON.stringify(signNote(keyring, cleanNote(what))))
    } finally {
      kick()
    }
  }

  /** Never throws: the next call chains the notes that were left. */
  function kick(): void {
    hasNewNotes = true
    chaining ??= chainAll()
      .then(
        () => {
          failure = undefined
        },
        (error: unknown) => {
          failure = error
          onError(error)
        },
      )
      .finally(() => {
        chaining = undefined
        // A note may have arrived after the last batch was read.
        if (hasNewNotes) kick()
      })
  }

  async function chainAll(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, gatherMs))
    while (hasNewNotes) {
      hasNewNotes = false
      while (await appendBatch());
    }
  }

  async function appendBatch(): Promise<boolean> {
    const [notes, head] = await Promise.all([guardStore(() => redis.xrange(keys.auditIntake, '-', '+', 'COUNT', batchSize)), readHead()])
    if (notes.length === 0) return false
    let last = head
    let forged = 0
    const entries = notes.map(([id, fields]) => {
      const decoded = decodeNote(keyring, id, fields)
      // A note signed with an unknown key may come from a replica with a newer key.
      if (decoded.unverified !== undefined && decoded.unverified !== 'unknown-key') forged += 1
      const text = chain(decoded, last.seq + 1, last.hash)
      last = { seq: last.seq + 1, hash: hashOf(text) }
      return { text, id }
    })
    const token = randomUUID()
    const { seenId, compare } = newestHead.startComparison()
    const values = [head.hash, last.hash, String(last.seq), token, seenId, ...entries.flatMap(({ text, id }) => [text, id])]
    const [outcome, id = '', ...standing] = await run('append', [keys.auditIntake, keys.audit, keys.auditHead], values)
    if (outcome !== 'won') return true
    // Compare only after a success: then the head was read from a primary, and it was the end of the chain.
    compare(head, standing, { ...last, id })
    for (let left = forged; left > 0; left -= 1) onNotGenuine()
    await printAll(
      entries.map(({ text }) => text),
      `unprinted:${token}`,
    )
    return true
  }

  async function readHead(): Promise<Head> {
    const [seq, hash] = await guardStore(() => redis.hmget(keys.auditHead, 'seq', 'hash'))
    return { seq: Number(seq ?? 0), hash: hash ?? '' }
  }

  async function printAll(entries: string[], mark: string): Promise<void> {
    for (const entry of entries) print(printedLine(entry))
    await guardStore(() => redis.hdel(keys.auditHead, mark))
  }

  /** Prints the entries of processes that ended before they printed them. */
  async function printLeftOver(): Promise<void> {
    const [head, now] = await guardStore(() => Promise.all([redis.hgetall(keys.auditHead), redis.time()]))
    for (const [mark, range] of Object.entries(head)) {
      const [first = '', last = ''] = mark.startsWith('unprinted:') ? range.split(' ') : []
      if (first === '' || Number(now[0]) * 1_000 - timeOf(first) < printedWithinMs) continue
      const found = await guardStore(() => redis.xrange(keys.audit, first, last))
      await printAll(
        found.map(([, [, entry = '']]) => entry),
        mark,
      )
    }
  }

  /** Resolves when the notes so far are chained. Throws if they could not be. */
  async function chained(): Promise<void> {
    kick()
    await chaining
    if (failure !== undefined) throw failure
  }

  async function settle(): Promise<void> {
    while (chaining) await chaining
  }

  return { redis, keys, run, keyring, noteWith, chained, printLeftOver, settle, onDamaged }
}
type Intake = ReturnType<typeof createIntake>

/** An end of the chain, with the id of its last entry in the stream. */
interface ChainEnd extends Head {
  id: string
}

/**
 * The chain only grows. One that ends earlier, or that has another entry where the newest known one was, is an older Redis: a restored copy, a replica
 * that lagged and was promoted, or one that lost its last second. Others may have written more entries since than were lost.
 */
export function createNewestHead() {
  let newest: ChainEnd = { seq: 0, hash: '', id: '' }
  let timesOlder = 0
  let hasFoundOlder = false

  /**
   * Call it before a command that reads what stands at `seenId`, and `compare` with that. An end that is read while the command is on its way is not
   * compared. `found`: the end of the chain at the command, and `now`: after it.
   */
  function startComparison() {
    const [before, earlier] = [newest, timesOlder]

    function compare(found: Head, standing: string[], now: ChainEnd): void {
      // Another command has found it meanwhile.
      if (timesOlder !== earlier) return
      const isOlder = found.seq < before.seq || (found.seq === before.seq && found.hash !== before.hash) || isGone(before, standing)
      if (isOlder) timesOlder += 1
      hasFoundOlder ||= isOlder
      if (isOlder || now.seq > newest.seq) newest = now
    }

    return { seenId: before.id, compare }
  }

  /** Whether an older state was found since the last call. */
  function takeOlderState(): boolean {
    const result = hasFoundOlder
    hasFoundOlder = false
    return result
  }

  return { startComparison, takeOlderState }
}
export type NewestHead = ReturnType<typeof createNewestHead>

/** `standing`: the entry at its id, and the first of the chain, as texts. An entry that was removed because of its age has none before it. */
function isGone({ id, seq, hash }: ChainEnd, [standing = '', first = '']: string[]): boolean {
  if (id === '') return false
  return standing === '' ? (parseEntry(first)?.seq ?? Number.POSITIVE_INFINITY) <= seq : hashOf(standing) !== hash
}
