import { randomBytes } from 'node:crypto'
import type { Keyring } from '../domain/keyring.ts'
import type { AuditNote } from './entry.ts'

/** What becomes of a note that was signed: `unknown` where Redis did not answer, so that it may be there or not. */
export type NoteOutcome = 'written' | 'not-written' | 'unknown'

export interface SignedNote {
  note: AuditNote
  /** Has to be called once, when it is known what became of the note. */
  settle: (outcome: NoteOutcome) => void
}

/**
 * Numbers and signs the notes of this process, so that a forged, changed or missing note shows. A step that was not taken leaves its number
 * unused: the next note says so. The notes of one process may be written in another order than they were numbered.
 */
export function createNoteSigner(keyring: Keyring, process = randomBytes(8).toString('hex')) {
  let lastNumber = 0
  let voids: number[] = []
  let uncertain: number[] = []

  function sign(note: AuditNote): SignedNote {
    lastNumber += 1
    const number = lastNumber
    const carried = { voids, uncertain }
    voids = []
    uncertain = []
    const numbered: AuditNote = {
      ...note,
      process,
      number,
      ...(carried.voids.length > 0 ? { voids: carried.voids } : {}),
      ...(carried.uncertain.length > 0 ? { uncertain: carried.uncertain } : {}),
    }

    function settle(outcome: NoteOutcome): void {
      if (outcome === 'written') return
      // What this note was to say has to be said by the next one.
      voids.push(...carried.voids)
      uncertain.push(...carried.uncertain)
      if (outcome === 'not-written') voids.push(number)
      else uncertain.push(number)
    }

    return { note: { ...numbered, signature: keyring.sign(numbered) }, settle }
  }

  return { sign }
}
export type NoteSigner = ReturnType<typeof createNoteSigner>
