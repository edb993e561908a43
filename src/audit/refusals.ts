import { randomUUID } from 'node:crypto'
import type { Keyring } from '../domain/signing/keyring.ts'
import { guardStore, type Redis } from '../redis/connect.ts'
import type { Keys } from '../redis/key-names.ts'
import { createScripts, readScripts } from '../redis/scripts.ts'
import { AuditNote } from './entry.ts'
import type { NoteOutcome } from './note-signer.ts'
import { verifyNote } from './note-signer.ts'

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
