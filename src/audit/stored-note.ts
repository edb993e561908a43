import type { Keyring } from '../domain/signing/keyring.ts'
import { isAsWritten } from './chain.ts'
import { AuditEntry, type AuditNote, auditVersion } from './entry.ts'
import { verifyNote } from './note-signer.ts'

/** A longer text is cut, with a mark at its end. */
const maxTextLength = 1_000

/** Notes have fewer levels. One with thousands could be read, but not written again. */
const mostLevels = 50

/** A note in the intake. The Lua scripts store `at`, `from` and `to` in fields next to its text. */
const StampedNote = AuditEntry.omit({ seq: true, prev: true })

/** Prepares the content of a note for the intake: plain JSON, with its version. `clean` removes secrets from a text. */
export function cleanNote(note: AuditNote, clean: (text: string) => string): object {
  const versioned = { version: auditVersion, ...note }
  return JSON.parse(JSON.stringify(versioned, (_, value) => (typeof value === 'string' ? shorten(clean(value)) : value)))
}

/**
 * Decodes an item of the intake stream. An item that is not a note of Lockkeeper becomes an entry with its text, so that it does not block
 * the notes after it. A note that cannot be verified says so in `unverified`.
 */
export function decodeNote(
  id: string,
  flat: string[],
  { clean, keyring }: { clean: (text: string) => string; keyring: Pick<Keyring, 'verify'> },
): { unverified?: string | undefined } {
  const { note = flat.join(' '), at, from, to } = fieldsOf(flat)
  const known = parseNote(note, { at: Number(at), from, to })
  const fields = known ?? { version: auditVersion, act: 'unreadable', at: Number(id.split('-')[0]), text: shorten(clean(note)) }
  const verdict = verifyNote(keyring, fields)
  return { ...fields, unverified: verdict === 'genuine' ? undefined : verdict }
}

/** Cuts a text, and replaces a half character at the cut: the JSON library of Redis would throw an error on it. */
function shorten(text: string): string {
  return (text.length > maxTextLength ? `${text.slice(0, maxTextLength - 1)}…` : text).toWellFormed()
}

/** Converts the flat list of names and values of a Redis stream item. */
function fieldsOf(flat: string[]): Record<string, string | undefined> {
  return Object.fromEntries(Array.from({ length: flat.length / 2 }, (_, index) => [flat[index * 2], flat[index * 2 + 1]]))
}

/** Returns all fields of a note, also those that a newer version added within others, because the signature covers them. */
function parseNote(
  text: string,
  stamps: { at: number; from: string | undefined; to: string | undefined },
): Record<string, unknown> | undefined {
  try {
    const content = JSON.parse(text)
    const fields = { ...content, ...stamps }
    if (isDeeperThan(mostLevels, fields)) return undefined
    // Somebody else wrote it, or wrote it again.
    if (!isAsWritten(text, content)) delete fields.signature
    return StampedNote.safeParse(fields).success ? fields : undefined
  } catch {
    return undefined
  }
}

function isDeeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((member) => isDeeperThan(levels - 1, member))
}
