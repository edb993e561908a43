import { hash as digest } from 'node:crypto'
import { AuditEntry } from './entry.ts'

/** An entry as it is kept: its JSON text, and the SHA-256 of exactly that text. */
export interface Link {
  entry: string
  hash: string
}

/** As people read a line: when, who did what, and then the rest. */
const fieldOrder = [...new Set(['seq', 'at', 'act', 'by', 'from', 'to', ...Object.keys(AuditEntry.shape)])]

export function hashOf(text: string): string {
  return digest('sha256', text)
}

/** The next link of a chain. Pure. */
export function chain(note: object, seq: number, prev: string): Link {
  const fields: Record<string, unknown> = { ...note, seq, prev }
  const inOrder = [...new Set([...fieldOrder, ...Object.keys(fields)])].map((name) => [name, fields[name]] as const)
  const entry = JSON.stringify(Object.fromEntries(inOrder))
  return { entry, hash: hashOf(entry) }
}

/** What is wrong with a chain, link after link, each a sentence. `next` gives undefined for a link that fits. */
export function createVerifier() {
  let last: { seq: number; hash: string } | undefined

  function next({ entry, hash }: Link): string | undefined {
    const before = last
    const parsed = parse(entry)
    if (!parsed) {
      // The one after it is compared with what should have stood here.
      last = before && { seq: before.seq + 1, hash }
      return before ? `The entry after number ${before.seq} cannot be read.` : 'The first entry cannot be read.'
    }
    last = { seq: parsed.seq, hash }
    if (hashOf(entry) !== hash) return `Entry ${parsed.seq} was changed: its hash is not the one of its text.`
    if (before && parsed.seq !== before.seq + 1)
      return `Between entries ${before.seq} and ${parsed.seq} something is missing or was put in.`
    if (before && parsed.prev !== before.hash) return `Entry ${parsed.seq} does not follow entry ${before.seq}: one of them was exchanged.`
    if (parsed.seq === 1 && parsed.prev !== '') return 'Entry 1 says that there was one before it.'
    return undefined
  }

  return { next, last: () => last }
}

/** The mark of the audit's lines among others. */
const stream = 'audit'

/** A link as a line of the log: its entry's own fields, in their order, and the hash. Pure. */
export function printedLine({ entry, hash }: Link): string {
  return JSON.stringify({ stream, ...JSON.parse(entry), hash })
}

/** The link of a line of the log, with whatever a collector has put before it; undefined for any other line. Pure. */
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

function parse(entry: string): AuditEntry | undefined {
  try {
    return AuditEntry.parse(JSON.parse(entry))
  } catch {
    return undefined
  }
}
