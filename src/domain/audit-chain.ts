import { createHash } from 'node:crypto'
import { AuditEntry } from './audit-entry.ts'

/** An entry as it is kept: its JSON text, and the SHA-256 of exactly that text. */
export interface Link {
  entry: string
  hash: string
}

/** As people read a line: when, who did what, and then the rest. */
const fieldOrder = [...new Set(['seq', 'at', 'act', 'by', 'what', 'from', 'to', 'result', ...Object.keys(AuditEntry.shape)])]

export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** The next link of a chain. Pure. */
export function chain(note: object, seq: number, prev: string): Link {
  const fields: Record<string, unknown> = { ...note, seq, prev }
  const inOrder = fieldOrder.map((name) => [name, fields[name]] as const)
  const entry = JSON.stringify(Object.fromEntries(inOrder))
  return { entry, hash: hashOf(entry) }
}

/** What is wrong with a chain, link after link, each a sentence. `next` gives undefined for a link that fits. */
export function createVerifier() {
  let last: { seq: number; hash: string } | undefined
  let count = 0

  function next({ entry, hash }: Link): string | undefined {
    count += 1
    const before = last
    const parsed = parse(entry)
    if (!parsed) return `Entry ${count} cannot be read.`
    last = { seq: parsed.seq, hash }
    if (hashOf(entry) !== hash) return `Entry ${parsed.seq} was changed: its hash is not the one of its text.`
    if (before && parsed.seq !== before.seq + 1)
      return `Between entries ${before.seq} and ${parsed.seq} something is missing or was put in.`
    if (before && parsed.prev !== before.hash) return `Entry ${parsed.seq} does not follow entry ${before.seq}: one of them was exchanged.`
    return undefined
  }

  return { next, last: () => last, count: () => count }
}

function parse(entry: string): AuditEntry | undefined {
  try {
    return AuditEntry.parse(JSON.parse(entry))
  } catch {
    return undefined
  }
}
