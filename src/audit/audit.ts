import { randomUUID } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Keyring, Verdict } from '../domain/signing.ts'
import { guardStore, type Redis } from '../redis/connect.ts'
import type { Keys } from '../redis/key-names.ts'
import { createScripts, readScripts } from '../redis/scripts.ts'
import {
  AuditEntry,
  AuditNote,
  chain,
  cleanNote,
  createVerifier,
  decodeNote,
  isAsWritten,
  type Link,
  type NoteOutcome,
  type NoteSigner,
  parseEntry,
  printedLine,
  startOfProcess,
  verifyNote,
} from './chain.ts'

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

/** The end of the audit chain: the number of its last entry, counted from 1, and its hash. An empty chain has 0 and ''. */
export interface Head {
  seq: number
  hash: string
}

/**
 * Keeps the newest end of the audit chain that this process has read. The chain only grows at its end. So a chain that ends earlier, or with
 * another hash, is an older state of Redis: a restored copy, or a replica that lagged and was promoted.
 */
export function createNewestHead() {
  let newest: Head = { seq: 0, hash: '' }
  let hasFoundOlder = false

  /**
   * Starts a comparison. Call it before a command is sent, and its result with the end of the chain before (`found`) and after (`now`) that
   * command. An end that this process reads while the command is on its way is not compared.
   */
  function startComparison(): (found: Head, now?: Head) => void {
    const before = newest
    return (found, now = found) => {
      const isOlder = endsBefore(found, before)
      if (isOlder) hasFoundOlder = true
      if (isOlder || now.seq > newest.seq) newest = now
    }
  }

  /** Returns whether an older state was found since the last call. The comparisons go on from the present state. */
  function takeOlderState(): boolean {
    const result = hasFoundOlder
    hasFoundOlder = false
    return result
  }

  return { startComparison, takeOlderState }
}
export type NewestHead = ReturnType<typeof createNewestHead>

function endsBefore(found: Head, known: Head): boolean {
  return found.seq < known.seq || (found.seq === known.seq && found.hash !== known.hash)
}

export const appendScripts = readScripts(import.meta.url, ['append'])

/** How many notes one command moves to the chain. */
const batchSize = 200

/** A process that has not printed its entries after this time is considered dead. */
const printedWithinMs = 30_000

interface AppendParts {
  redis: Redis
  keys: Keys
  print: (line: string) => void
  clean: (text: string) => string
  keyring: Pick<Keyring, 'verify'>
  newestHead: NewestHead
  /** Called for each note that joined the chain and is not genuine. */
  onNotGenuine: () => void
}

/** Creates the functions that move notes from the intake to the chain and print them. */
export function createAppend({ redis, keys, print, clean, keyring, newestHead, onNotGenuine }: AppendParts) {
  const run = createScripts(redis, appendScripts)

  /** Moves one batch to the chain and prints it. Returns false if the intake is empty. */
  async function appendBatch(): Promise<boolean> {
    const [notes, head] = await Promise.all([guardStore(() => redis.xrange(keys.auditIntake, '-', '+', 'COUNT', batchSize)), readHead()])
    if (notes.length === 0) return false
    let last = head
    let forged = 0
    const links = notes.map(([id, fields]) => {
      const note = decodeNote(id, fields, { clean, keyring })
      if (isForged(note)) forged += 1
      const link = chain(note, last.seq + 1, last.hash)
      last = { seq: last.seq + 1, hash: link.hash }
      return { ...link, id }
    })
    const token = randomUUID()
    const position = [head.hash, last.hash, String(last.seq), token]
    const values = links.flatMap(({ entry, hash, id }) => [entry, hash, id])
    const compareHead = newestHead.startComparison()
    const [outcome] = await run('append', [keys.auditIntake, keys.audit, keys.auditHead], [...position, ...values])
    if (outcome !== 'won') return true
    // Compare only after a success: then the head was read from a primary, and it was the end of the chain.
    compareHead(head, last)
    for (let left = forged; left > 0; left -= 1) onNotGenuine()
    await printLinks(links, `unprinted:${token}`)
    return true
  }

  async function readHead(): Promise<Head> {
    const [seq, hash] = await guardStore(() => redis.hmget(keys.auditHead, 'seq', 'hash'))
    return { seq: Number(seq ?? 0), hash: hash ?? '' }
  }

  async function printLinks(links: Link[], mark: string): Promise<void> {
    for (const link of links) print(printedLine(link))
    await guardStore(() => redis.hdel(keys.auditHead, mark))
  }

  /** Prints the entries of processes that ended before they printed them. */
  async function printLeftOver(): Promise<void> {
    const [head, now] = await guardStore(() => Promise.all([redis.hgetall(keys.auditHead), redis.time()]))
    for (const [mark, range] of Object.entries(head)) {
      const [first = '', last = ''] = mark.startsWith('unprinted:') ? range.split(' ') : []
      if (first === '' || Number(now[0]) * 1_000 - timeOfAppend(first) < printedWithinMs) continue
      const found = await guardStore(() => redis.xrange(keys.audit, first, last))
      await printLinks(found.map(readLink), mark)
    }
  }

  return { appendBatch, printLeftOver }
}

/** Whether somebody else wrote a note. A note signed with an unknown key may come from a replica with a newer key. */
function isForged({ unverified }: { unverified?: string | undefined }): boolean {
  return unverified !== undefined && unverified !== 'unknown-key'
}

function timeOfAppend(streamId: string): number {
  return Number(streamId.split('-')[0])
}

export const refusalScripts = readScripts(import.meta.url, ['refuse', 'end-repeats'])

/** How long the repeats of a refusal are counted. */
const repeatsMs = 10 * 60_000

interface RefusalsParts {
  redis: Redis
  keys: Keys
  keyring: Pick<Keyring, 'verify'>
  noteWith: <T>(what: AuditNote, command: (text: string) => Promise<T>, outcomeOf: (answer: T) => NoteOutcome) => Promise<T>
}

/**
 * Creates the notes of refusals. The first refusal of a person, an act and a cause is noted at once. Its repeats are counted in Redis for ten minutes,
 * and then noted once, with their number. So nobody can fill Redis, or slow the search of the audit, with attempts that are refused. A process that
 * dies leaves the count to the next one.
 */
export function createRefusals({ redis, keys, keyring, noteWith }: RefusalsParts) {
  const run = createScripts(redis, refusalScripts)

  async function noteRefusal(what: AuditNote): Promise<void> {
    const key = keyOf(what)
    const about = what.requestId ?? what.text ?? ''
    const mark = keys.auditSent(randomUUID())
    const refuse = (note: string) =>
      run('refuse', [keys.auditIntake, keys.refusals, mark], [key, about, note, String(repeatsMs)]).then(([outcome]) => outcome)
    const counted = await refuse('')
    if (counted === 'counted') return
    if (counted === 'over') await endRepeats()
    await noteWith(what, refuse, (outcome) => (outcome === 'noted' ? 'written' : 'not-written'))
  }

  /** Notes the repeats whose time is over. Throws StoreUnavailableError. */
  async function endRepeats(): Promise<void> {
    const counts = Object.entries(await guardStore(() => redis.hgetall(keys.refusals)))
    if (counts.length === 0) return
    const now = Number((await run('now', [], []))[0])
    for (const [key, value] of counts) {
      const { note, over } = readCount(value, keyring)
      if (over > now) continue
      const mark = keys.auditSent(randomUUID())
      const end = (text: string) => run('end-repeats', [keys.auditIntake, keys.refusals, mark], [key, value, text])
      if (note) await noteWith(note, end, ([outcome]) => (outcome === 'ended' ? 'written' : 'not-written'))
      else await end('')
    }
  }

  return { noteRefusal, endRepeats }
}

/** The request and the text that was typed are not part of it, because there is no end of them. */
function keyOf({ by, attempted, kind, causes = [] }: AuditNote): string {
  return JSON.stringify([by, attempted, kind, ...causes.map(({ code }) => code)])
}

/**
 * Reads a count. Without a `note` there was no repeat, or somebody else wrote the count: the note of the first refusal in it is verified, because
 * Lockkeeper signs what it says once more. `over`: ms since 1970 by Redis' clock.
 */
function readCount(value: string, keyring: Pick<Keyring, 'verify'>): { note?: AuditNote; over: number } {
  try {
    const { first, count, over, isMixed } = JSON.parse(value)
    const fields = JSON.parse(first)
    const { process, number, voids, uncertain, signature, ...noted } = fields
    if (!(count > 0) || fields.act !== 'refused' || verifyNote(keyring, fields) !== 'genuine') return { over: Number(over) || 0 }
    const { act, by, attempted, kind, causes } = noted
    // What the repeats have in common.
    return { note: AuditNote.parse({ ...(isMixed ? { act, by, attempted, kind, causes } : noted), count }), over: Number(over) || 0 }
  } catch {
    return { over: 0 }
  }
}

const dayMs = 24 * 3_600_000

/** How long Redis keeps an entry. Collected logs keep the printed lines for longer. */
const keepMs = 400 * dayMs

/** Entries are removed once a day at most, because each removal is noted. */
const trimEveryMs = dayMs

/** How many entries one command reads. */
const pageSizeTrim = 1_000

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
      const page = await read(last ? `(${last.id}` : '-', `(${time}-0`, pageSizeTrim)
      for (const { id, ...link } of page) {
        const fault = verifier.next(link)
        const { seq, process = '' } = parseEntry(link.entry) ?? {}
        if (fault || seq === undefined) return undefined
        if (startOfProcess(process) > time) return last
        last = { seq, id }
      }
      if (page.length < pageSizeTrim) break
    }
    const [next] = last ? await read(`(${last.id}`, '+', 1) : []
    return next && verifier.next(next) ? undefined : last
  }

  /** Removes nothing until the note about the removal has joined the chain. The next call then removes the entries. */
  return async function trim(): Promise<void> {
    const [[oldest], [seconds]] = await guardStore(() => Promise.all([redis.xrange(keys.audit, '-', '+', 'COUNT', 1), redis.time()]))
    const keptSince = Number(seconds) * 1_000 - keepMs
    if (!oldest || timeOfTrim(oldest[0]) >= keptSince - trimEveryMs) return
    const last = await lastBefore(keptSince)
    if (!last) return
    await note({ act: 'trim', through: last.seq, keptSince })
    const { entries } = await findGenuine(({ act, through }) => act === 'trim' && through === last.seq)
    if (entries.length === 0) return
    const [ms, count] = last.id.split('-').map(Number)
    await guardStore(() => redis.xtrim(keys.audit, 'MINID', `${ms}-${(count ?? 0) + 1}`))
  }
}

function timeOfTrim(streamId: string): number {
  return Number(streamId.split('-')[0])
}

export const noteScripts = readScripts(import.meta.url, ['note'])

/** How long notes are collected before they join the chain, so that one command moves many of them. */
const gatherMs = 20

interface AuditParts {
  redis: Redis
  keys: Keys
  /** Writes one line of the audit to standard output. */
  print: (line: string) => void
  /** Removes secrets from a text. */
  clean: (text: string) => string
  /** The signer of this process. All audits of a process share it, because it numbers the notes. */
  signer: NoteSigner
  keyring: Pick<Keyring, 'verify'>
  onError: (error: unknown) => void
  /** Compares the end of the chain with what this process has read before. */
  newestHead?: NewestHead
  /** Called for each note that joined the chain and is not genuine. */
  onNotGenuine?: () => void
}

/**
 * Creates the audit. A note first goes to an intake, in the same step that changes a request, so that nothing happens without a note. From
 * there it joins the chain, in which every entry has the hash of the previous one.
 */
export function createAudit({
  redis,
  keys,
  print,
  clean,
  signer,
  keyring,
  onError,
  newestHead = createNewestHead(),
  onNotGenuine = () => {},
}: AuditParts) {
  const run = createScripts(redis, noteScripts)
  const findEntries = createFindEntries({ redis, keys, keyring })
  const { appendBatch, printLeftOver } = createAppend({ redis, keys, print, clean, keyring, newestHead, onNotGenuine })
  const trim = createTrim({ redis, keys, note, findGenuine: (fits) => find(fits, { limit: 1, scan: 10_000, onlyGenuine: true }) })
  const { noteRefusal, endRepeats } = createRefusals({ redis, keys, keyring, noteWith })
  let chaining: Promise<void> | undefined
  let hasNewNotes = false
  /** Why the last attempt to chain notes failed. */
  let failure: unknown

  /**
   * Runs a command that adds a note to the intake in the same step in which it changes something else. `command` gets the text of the note.
   * `outcomeOf` says from its answer whether the note was written. Throws what the command throws.
   */
  async function noteWith<T>(what: AuditNote, command: (text: string) => Promise<T>, outcomeOf: (answer: T) => NoteOutcome): Promise<T> {
    const { note, settle } = signer.sign(cleanNote(what, clean))
    let outcome: NoteOutcome = 'unknown'
    try {
      const answer = await command(JSON.stringify(note))
      outcome = outcomeOf(answer)
      return answer
    } finally {
      settle(outcome)
      kick()
    }
  }

  /** Adds a note to the intake. Throws StoreUnavailableError if Redis does not answer. */
  async function note(what: AuditNote): Promise<void> {
    const sent = keys.auditSent(randomUUID())
    await noteWith(
      what,
      (text) => run('note', [keys.auditIntake, sent], [text]),
      () => 'written',
    )
  }

  /** Starts to chain the notes in the intake. Never throws, because the next call chains the notes that were left. */
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

  /** Notes the repeats of refusals, chains and prints the notes and entries that other processes have left, and removes old entries. */
  async function tidy(): Promise<void> {
    await endRepeats()
    kick()
    await chaining
    await printLeftOver()
    await trim()
  }

  /** Finds entries, including those of notes that this process has just added. */
  async function find(...[fits, search]: Parameters<typeof findEntries>): Promise<Found> {
    kick()
    await chaining
    if (search?.allChained && failure !== undefined) throw failure
    return findEntries(fits, search)
  }

  /** Counts the entries of the chain. */
  async function size(): Promise<number> {
    return guardStore(() => redis.xlen(keys.audit))
  }

  /** Resolves when the notes that this process has added are chained. */
  async function settle(): Promise<void> {
    while (chaining) await chaining
  }

  return { note, noteWith, noteRefusal, kick, tidy, find, size, settle }
}
export type Audit = ReturnType<typeof createAudit>
