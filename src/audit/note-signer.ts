import { randomBytes } from 'node:crypto'
import type { Keyring, Verdict } from '../domain/signing/keyring.ts'

/** Whether a note was written. `unknown`: Redis did not answer, so nobody knows. */
export type NoteOutcome = 'written' | 'not-written' | 'unknown'

export interface SignedNote {
  note: object
  /** Call it once, when the outcome is known. */
  settle: (outcome: NoteOutcome) => void
}

/**
 * Creates the signer of a process. It numbers and signs the notes, so that a forged, changed or missing one is found. Notes can be written in
 * another order than they were numbered. A step that is not taken writes no note: then the next note names that number in `voids`, or in
 * `uncertain` if the outcome is unknown.
 */
export function createNoteSigner(keyring: Pick<Keyring, 'sign'>, process = processName(new Date())) {
  let lastNumber = 0
  let voids: number[] = []
  let uncertain: number[] = []

  function sign(note: object): SignedNote {
    lastNumber += 1
    const number = lastNumber
    const named = { voids, uncertain }
    voids = []
    uncertain = []
    const numbered = {
      ...note,
      process,
      number,
      ...(named.voids.length > 0 ? { voids: named.voids } : {}),
      ...(named.uncertain.length > 0 ? { uncertain: named.uncertain } : {}),
    }

    function settle(outcome: NoteOutcome): void {
      if (outcome === 'written') return
      // The next note has to name the numbers that this one would have named.
      voids.push(...named.voids)
      uncertain.push(...named.uncertain)
      if (outcome === 'not-written') voids.push(number)
      else uncertain.push(number)
    }

    return { note: { ...numbered, signature: keyring.sign(numbered) }, settle }
  }

  return { sign }
}
export type NoteSigner = ReturnType<typeof createNoteSigner>

/** Names a process by its start, because a process that began after the oldest entry must have all its notes in the chain. */
function processName(startedAt: Date): string {
  return `${startedAt.toISOString()}/${randomBytes(4).toString('hex')}`
}

/** Returns when a process began, in ms since 1970 by its own clock. NaN if the name is not one that Lockkeeper gave. */
export function startOfProcess(process: string): number {
  return Date.parse(process.split('/')[0] ?? '')
}

/** Verifies the fields of a note or an entry. Those that Redis, the chain and `decodeNote` add are not signed. */
export function verifyNote(keyring: Pick<Keyring, 'verify'>, fields: Record<string, unknown>): Verdict {
  const { seq, at, from, to, prev, unverified, signature, ...signed } = fields
  return keyring.verify(signed, signature)
}
