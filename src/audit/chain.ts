import { hash as digest, randomBytes } from 'node:crypto'
import { z } from 'zod'
import { Finding } from '../domain/change.ts'
import type { Keyring, Verdict } from '../domain/signing.ts'

/** The answer of the account API to a write: an HTTP status, or the problem if no answer came. */
export const ApiAnswer = z.object({
  /** Lockkeeper's own name of the operation: `elasticIps.move`. */
  operation: z.string(),
  status: z.number().optional(),
  codes: z.array(z.string()).optional(),
  problem: z.string().optional(),
})
export type ApiAnswer = z.infer<typeof ApiAnswer>

/** The version of the shape that this version of Lockkeeper writes. CONTRIBUTING.md says how it may change. */
export const auditVersion = 1

/**
 * One event for the audit: who did what, where, by which rule and with which result. It holds facts; sentences are made where it is shown.
 * It never holds a token. `act` is one of an open set: the steps of a request, `request`, `refused`, `answer` and others.
 */
export const AuditNote = z.looseObject({
  act: z.string(),
  /** A Slack user id. Absent if Lockkeeper did it without a person. */
  by: z.string().optional(),
  requestId: z.string().optional(),
  kind: z.string().optional(),
  /** `elastic_ip:eip_1` */
  resource: z.string().optional(),
  /** The item of the request that it is about, for a request with several: `eip_1`. `resource` and `facts` are then those of the item. */
  item: z.string().optional(),
  /** The state of the account that was approved, in the shape of this kind of change. */
  facts: z.unknown().optional(),
  channelId: z.string().optional(),
  teamId: z.string().optional(),
  /** The name of the rule that allowed it. */
  rule: z.string().optional(),
  /** How the rule allowed it: by a user id, a user group id, or a word such as `requester`. */
  via: z.string().optional(),
  /** The refused attempt: `decide`, or the action id of a button. */
  attempted: z.string().optional(),
  /** In a second entry on a refusal: how many more times the person was refused the same for the same cause, in ten minutes. */
  count: z.number().int().positive().optional(),
  /** Why it was refused, or why the request ended. */
  causes: z.array(Finding).optional(),
  /** The reason that a person typed. */
  reason: z.string().optional(),
  /** How many of the `needed` approvals are missing after this one. */
  missing: z.number().optional(),
  needed: z.number().optional(),
  answer: ApiAnswer.optional(),
  /** The id of the resource that a write created. */
  resourceId: z.string().optional(),
  /** The refused command or button, or the unchanged text of a note that could not be parsed. */
  text: z.string().optional(),
  /** The SHA-256 of the request. */
  payload: z.string().optional(),
  /** The number of the last entry that was removed because of its age, in a note about that. */
  through: z.number().int().optional(),
  /** The time before which entries were removed, in ms since 1970 by Redis' clock, in a note about that. */
  keptSince: z.number().optional(),
})
export type AuditNote = Known<z.infer<typeof AuditNote>>

/** What `createNoteSigner` adds to a note. */
const Signed = z.object({
  /** The process that made the note, and the number of the note in that process, counted from 1. */
  process: z.string().optional(),
  number: z.number().int().positive().optional(),
  /** Earlier numbers of that process without a note, and those of which it does not know. */
  voids: z.array(z.number()).optional(),
  uncertain: z.array(z.number()).optional(),
  signature: z.string().optional(),
})

/** A note in the chain. `at` is in ms since 1970, by the clock of Redis. */
export const AuditEntry = AuditNote.extend({
  ...Signed.shape,
  version: z.number().int(),
  seq: z.number().int().positive(),
  at: z.number(),
  /** The states that a request left and entered. */
  from: z.string().optional(),
  to: z.string().optional(),
  /** The hash of the previous entry. Empty in the first entry. */
  prev: z.string(),
  /** Why the process that chained it could not verify it. For people who read the text: code verifies again. */
  unverified: z.string().optional(),
})
export type AuditEntry = Known<z.infer<typeof AuditEntry>>

/** Removes unknown fields from a type. A note keeps the fields of a newer version when it joins the chain, but the code cannot use them. */
type Known<T> = { [Name in keyof T as string extends Name ? never : Name]: T[Name] }

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
