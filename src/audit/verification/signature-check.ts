import type { Keyring, Verdict } from '../../domain/signing/keyring.ts'
import { parseEntry } from '../chain.ts'
import { startOfProcess, verifyNote } from '../note-signer.ts'
import { ranges } from './printed-log.ts'
import type { WalkedLink } from './walk.ts'

/** How far the clock of a process may be behind that of Redis. */
const clockOffMs = 3_600_000

/**
 * Concurrent notes of a process join the chain in any order. So around the place of a removal, some of them are kept and others are not.
 */
const mayBeMixed = 100

interface NotesOfProcess {
  /** The number of the entry that has each note. */
  entries: Map<number, number>
  /** Numbers that need no entry. */
  excused: Set<number>
}

/** Creates the check of the notes' signatures and numbers. Call `onLink` for each link of a chain, and then `breaks`. */
export function createSignatureCheck(keyring: Pick<Keyring, 'verify'>) {
  const notGenuine: Record<Exclude<Verdict, 'genuine'>, number[]> = { unsigned: [], forged: [], 'unknown-key': [] }
  const copies: { seq: number; of: number }[] = []
  const processes = new Map<string, NotesOfProcess>()
  let first: { seq: number; at: number } | undefined
  let removedThrough = 0
  let keptSince: number | undefined
  let uncertain = 0

  function onLink({ entry: text, seq, at }: WalkedLink): void {
    first ??= { seq, at }
    const entry = parseEntry(text)
    if (!entry) return
    const verdict = verifyNote(keyring, JSON.parse(text))
    if (verdict !== 'genuine') return void notGenuine[verdict].push(seq)
    if (entry.act === 'trim') {
      removedThrough = Math.max(removedThrough, entry.through ?? 0)
      keptSince = Math.max(keptSince ?? 0, entry.keptSince ?? 0)
    }
    const { process = '', number = 0, voids = [] } = entry
    const notes = processes.get(process) ?? { entries: new Map(), excused: new Set() }
    processes.set(process, notes)
    const before = notes.entries.get(number)
    if (before !== undefined) copies.push({ seq, of: before })
    else notes.entries.set(number, seq)
    for (const excused of [...voids, ...(entry.uncertain ?? [])]) notes.excused.add(excused)
    uncertain += entry.uncertain?.length ?? 0
  }

  /** Returns the numbers for which a process should have an entry and has none. */
  function missingOf([name, { entries, excused }]: [string, NotesOfProcess]): number[] {
    const known = [...entries.keys()]
    const highest = known.reduce((a, b) => Math.max(a, b))
    const from = hasAllNotes(name) ? 1 : known.reduce((a, b) => Math.min(a, b)) + mayBeMixed
    return Array.from({ length: Math.max(0, highest - from) }, (_, index) => from + index).filter(
      (number) => !entries.has(number) && !excused.has(number),
    )
  }

  /** Whether no note of this process can have been removed because of its age. The time of the first entry is not signed, `keptSince` is. */
  function hasAllNotes(name: string): boolean {
    return first === undefined || first.seq === 1 || startOfProcess(name) - clockOffMs > (keptSince ?? first.at)
  }

  function breaks(): string[] {
    return [
      ...ranges(notGenuine.unsigned).map((range) => `${range} not signed: Lockkeeper did not write it.`),
      ...ranges(notGenuine.forged).map((range) => `${range} not genuine: its signature doesn't match.`),
      ...ranges(notGenuine['unknown-key']).map(
        (range) => `${range} signed with a key that STATE_KEY does not have. Add the keys that were used before, separated by commas.`,
      ),
      ...copies.map(({ seq, of }) => `Entry ${seq} is a copy of entry ${of}.`),
      ...[...processes].flatMap((each) =>
        ranges(missingOf(each), 'Note').map((range) => `${range} missing from the process ${each[0]}: removed or changed by somebody.`),
      ),
    ]
  }

  return {
    onLink,
    breaks,
    /** The last entry that was removed because of its age, by a genuine note. 0 if none was. */
    removedThrough: () => removedThrough,
    /** How many notes Redis did not confirm, so that nobody knows whether they were written. */
    uncertain: () => uncertain,
  }
}
export type SignatureCheck = ReturnType<typeof createSignatureCheck>
