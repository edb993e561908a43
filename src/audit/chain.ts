import { hash as digest } from 'node:crypto'
import { AuditEntry } from './entry.ts'

/** An entry as it is stored: its JSON text, and the SHA-256 of exactly that text. */
export interface Link {
  entry: string
  hash: string
}

/** The order of the fields in an entry, so that people read first when, what and who. */
const fieldOrder = [...new Set(['seq', 'at', 'act', 'by', 'from', 'to', ...Object.keys(AuditEntry.shape)])]

export function hashOf(text: string): string {
  return digest('sha256', text)
}

/** Makes the next link of a chain. `prev` is the hash of the link before, or empty for the first. */
export function chain(note: object, seq: number, prev: string): Link {
  const fields: Record<string, unknown> = { ...note, seq, prev }
  const inOrder = [...new Set([...fieldOrder, ...Object.keys(fields)])].map((name) => [name, fields[name]] as const)
  const entry = JSON.stringify(Object.fromEntries(inOrder))
  return { entry, hash: hashOf(entry) }
}

/** Creates the check of a chain, link by link. `next` returns a sentence about a fault, or undefined for a correct link. */
export function createVerifier() {
  let last: { seq: number; hash: string } | undefined

  function next({ entry, hash }: Link): string | undefined {
    const before = last
    const parsed = parseEntry(entry)
    if (!parsed) {
      // Assume the number that this link should have, so that the next link can be checked.
      last = before && { seq: before.seq + 1, hash }
      return before ? `The entry after number ${before.seq} cannot be read.` : 'The first entry cannot be read.'
    }
    last = { seq: parsed.seq, hash }
    if (!isAsWritten(entry)) return `Entry ${parsed.seq} was rewritten: its text isn't in the form that Lockkeeper writes.`
    if (hashOf(entry) !== hash) return `Entry ${parsed.seq} was changed: its hash doesn't match its text.`
    if (before && parsed.seq !== before.seq + 1)
      return `Between entries ${before.seq} and ${parsed.seq} an entry is missing or was inserted.`
    if (before && parsed.prev !== before.hash) return `Entry ${parsed.seq} does not follow entry ${before.seq}: one of them was replaced.`
    if (parsed.seq === 1 && parsed.prev !== '') return 'Entry 1 names an entry before it.'
    return undefined
  }

  return { next, last: () => last }
}

/** Marks the lines of the audit in the log. */
const stream = 'audit'

/** Matches what JSON leaves as it is, and what readers of a log take for the end of a line, or for an order to reverse or to hide text. */
const unprinted = /[\p{Cf}\p{Zl}\p{Zp}\u007f-\u009f]/gu

/** Makes the line of a link for the log: the fields of its entry in their order, and the hash. */
export function printedLine({ entry, hash }: Link): string {
  return JSON.stringify({ stream, ...JSON.parse(entry), hash }).replace(unprinted, escapeUnits)
}

function escapeUnits(character: string): string {
  const units = character.split('').map((unit) => unit.charCodeAt(0).toString(16).padStart(4, '0'))
  return units.map((unit) => `\\u${unit}`).join('')
}

/** Reads a link from a line of the log, after anything that a log collector put before it. Returns undefined for any other line. */
export function readPrintedLine(line: string): (Link & { seq: number }) | undefined {
  const start = line.indexOf(`{"stream":"${stream}"`)
  if (start < 0) return undefined
  try {
    const { stream: _, hash, ...fields } = JSON.parse(line.slice(start))
    const entry = JSON.stringify(fields)
    const { seq } = AuditEntry.parse(fields)
    return typeof hash === 'string' ? { seq, entry, hash } : undefined
  } catch {
    return undefined
  }
}

/** Whether a JSON text is spelled as Lockkeeper spells what it says: without escapes that it does not need, without a key twice. */
export function isAsWritten(text: string, content: unknown = JSON.parse(text)): boolean {
  return JSON.stringify(content) === text
}

/** Parses the text of an entry. Returns undefined if it is no entry. */
export function parseEntry(entry: string): AuditEntry | undefined {
  try {
    return AuditEntry.parse(JSON.parse(entry))
  } catch {
    return undefined
  }
}
