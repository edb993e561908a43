import { randomUUID } from 'node:crypto'
import type { Keyring } from '../domain/signing/keyring.ts'
import { guardStore, type Redis } from '../redis/connect.ts'
import type { Keys } from '../redis/key-names.ts'
import { createScripts, readScripts } from '../redis/scripts.ts'
import { createAppend } from './append.ts'
import type { AuditNote } from './entry.ts'
import { createFindEntries, type Found } from './find-entries.ts'
import { createNewestHead, type NewestHead } from './newest-head.ts'
import type { NoteOutcome, NoteSigner } from './note-signer.ts'
import { createRefusals } from './refusals.ts'
import { cleanNote } from './stored-note.ts'
import { createTrim } from './trim.ts'

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
