import { hash as digest, randomBytes } from 'node:crypto'
import { z } from 'zod'
import { Finding } from '../domain/change.ts'
import { Confirmed, Passed } from '../domain/request.ts'
import type { Keyring, Verdict } from '../domain/signing.ts'
import { scrub } from '../ops/log.ts'

/** The answer of the account API to a write: an HTTP status, or the problem if no answer came. `operation`: such as `elasticIps.move`. */
export const ApiAnswer = z.object({
  operation: z.string(),
  status: z.number().optional(),
  codes: z.array(z.string()).optional(),
  problem: z.string().optional(),
})
export type ApiAnswer = z.infer<typeof ApiAnswer>

/**
 * One event for the audit: who did what, where, by which rule and with which result. It holds facts; sentences are made where it is shown.
 * It never holds a token. `act` is one of an open set: the steps of a request, `request`, `refused`, `answer` and others. What is changed is
 * only in the notes of a request and of a write, because each note is kept for 400 days: other notes name the request.
 */
export const AuditNote = z.looseObject({
  act: z.string(),
  /** A Slack user id. Absent if Lockkeeper did it without a person. */
  by: z.string().optional(),
  requestId: z.string().optional(),
  kind: z.string().optional(),
  /** `elastic_ip:eip_1` */
  resource: z.string().optional(),
  /** For a request with several: the item that it is about. `resource` and `facts` are then those of the item. */
  item: z.string().optional(),
  /** The state of the account that was approved, in the shape of this kind of change. */
  facts: z.unknown().optional(),
  channelId: z.string().optional(),
  teamId: z.string().optional(),
  rule: z.string().optional(),
  /** How the rule allowed it: by a user id, a user group id, or a word such as `requester`. */
  via: z.string().optional(),
  /** The refused attempt: `decide`, or the action id of a button. */
  attempted: z.string().optional(),
  /** Why it was refused, or why the request ended. */
  causes: z.array(Finding).optional(),
  reason: z.string().optional(),
  missing: z.number().optional(),
  needed: z.number().optional(),
  answer: ApiAnswer.optional(),
  /** The id of the resource that a write created. */
  resourceId: z.string().optional(),
  /** The refused command or button, the text of a note that could not be parsed, or what was damaged among removed entries. */
  text: z.string().optional(),
  payload: z.string().optional(),
  /** When a freeze begins, if later than it was set, and its end, in ms since 1970: of an `unfreeze`, those of the planned one that it cancels. And the revision of its record. */
  from: z.number().optional(),
  until: z.number().optional(),
  revision: z.number().optional(),
  /** What an emergency approval passed. */
  passed: z.array(Passed).optional(),
  /** What an approval was confirmed with, as it is verified before the write. */
  confirmed: Confirmed.optional(),
  /** In a note that old entries were removed: the number of the last one. */
  through: z.number().int().optional(),
})
export type AuditNote = Known<z.infer<typeof AuditNote>>

/** A note in the chain. `at` is in ms since 1970, by the clock of Redis. */
export const AuditEntry = AuditNote.extend({
  /** When the note was signed, in ms since 1970 by the clock of its process. */
  signedAt: z.number().optional(),
  /** Makes every note another one, so that a copy is found. */
  noteId: z.string().optional(),
  signature: z.string().optional(),
  seq: z.number().int().positive(),
  at: z.number(),
  to: z.string().optional(),
  /** The hash of the previous entry. Empty in the first entry. */
  prev: z.string(),
  /** Why the process that chained it could not verify it. For people who read the text: code verifies again. */
  unverified: z.string().optional(),
})
export type AuditEntry = Known<z.infer<typeof AuditEntry>>

/** Removes unknown fields from a type. A note keeps the fields of a newer version when it joins the chain, but the code cannot use them. */
type Known<T> = { [Name in keyof T as string extends Name ? never : Name]: T[Name] }

/** The order of the fields in an entry, so that people read first when, what and who. */
const fieldOrder = [...new Set(['seq', 'at', 'act', 'by', 'to', ...Object.keys(AuditEntry.shape)])]

export function hashOf(entry: string): string {
  return digest('sha256', entry, 'base64url')
}

export function chain(note: object, seq: number, prev: string): string {
  const fields: Record<string, unknown> = { ...note, seq, prev }
  const inOrder = [...new Set([...fieldOrder, ...Object.keys(fields)])].map((name) => [name, fields[name]] as const)
  return JSON.stringify(Object.fromEntries(inOrder))
}

/** The end of the chain: the number of its last entry, counted from 1, and its hash. An empty chain has 0 and ''. */
export interface Head {
  seq: number
  hash: string
}

/** `next` returns a sentence about a fault, or undefined for a correct entry. */
export function createVerifier() {
  /** Without a hash, the entry could not be read. */
  let last: { seq: number; hash?: string } | undefined

  function next(text: string): string | undefined {
    const before = last
    const entry = parseEntry(text)
    if (!entry) {
      // Assume the number that this entry should have, so that the next one can be checked.
      last = before && { seq: before.seq + 1 }
      return before ? `The entry after number ${before.seq} cannot be read.` : 'The first entry cannot be read.'
    }
    const { seq, prev } = entry
    last = { seq, hash: hashOf(text) }
    if (!isAsWritten(text)) return `Entry ${seq} was rewritten: its text isn't in the form that Lockkeeper writes.`
    if (before && seq !== before.seq + 1) return `Between entries ${before.seq} and ${seq} an entry is missing or was inserted.`
    if (before?.hash !== undefined && prev !== before.hash)
      return `Entry ${seq} does not follow entry ${before.seq}: one of them was changed or replaced.`
    return seq === 1 && prev !== '' ? 'Entry 1 names an entry before it.' : undefined
  }

  return { next, last: () => last }
}

/** Matches what JSON leaves as it is, and what readers of a log take for the end of a line, or for an order to reverse or to hide text. */
const unprinted = /[\p{Cf}\p{Zl}\p{Zp}\u007f-\u009f]/gu

export function printedLine(entry: string): string {
  return JSON.stringify({ stream: 'audit', ...JSON.parse(entry), hash: hashOf(entry) }).replace(unprinted, (found) =>
    found
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  )
}

/** Reads an entry from a line of the log, after anything that a log collector put before it. Returns undefined for any other line. */
export function readPrintedLine(line: string): { seq: number; at: number; entry: string; hash: string } | undefined {
  const start = line.indexOf('{"stream":"audit"')
  if (start < 0) return undefined
  try {
    const { stream, hash, ...fields } = JSON.parse(line.slice(start))
    const entry = JSON.stringify(fields)
    const { seq, at } = AuditEntry.parse(fields)
    return typeof hash === 'string' ? { seq, at, entry, hash } : undefined
  } catch {
    return undefined
  }
}

/** Whether a JSON text is spelled as Lockkeeper spells what it says: without escapes that it does not need, without a key twice. */
export function isAsWritten(text: string, content: unknown = JSON.parse(text)): boolean {
  return JSON.stringify(content) === text
}

export function parseEntry(entry: string): AuditEntry | undefined {
  try {
    return AuditEntry.parse(JSON.parse(entry))
  } catch {
    return undefined
  }
}

/** Signs a note before it reaches Redis, so that a forged, changed or copied one is found. */
export function signNote(keyring: Pick<Keyring, 'sign'>, what: object): object {
  const note = { ...what, signedAt: Date.now(), noteId: randomBytes(9).toString('base64url') }
  return { ...note, signature: keyring.sign(note) }
}

/** What Redis, the chain and `decodeNote` add is not signed. */
export function verifyNote(keyring: Pick<Keyring, 'verify'>, fields: Record<string, unknown>): Verdict {
  const { seq, at, to, prev, unverified, signature, ...signed } = fields
  return keyring.verify(signed, signature)
}

const maxTextLength = 1_000

/** Notes have fewer levels. One with thousands could be read, but not written again. */
const mostLevels = 50

/** A note in the intake. The Lua scripts store `at` and `to` in fields next to its text. */
const StampedNote = AuditEntry.omit({ seq: true, prev: true })

export function cleanNote(note: AuditNote): object {
  return JSON.parse(JSON.stringify(note, (_, value) => (typeof value === 'string' ? shorten(scrub(value)) : value)))
}

/** An item that is no note of Lockkeeper becomes an entry with its text, so that it does not block the notes after it. */
export function decodeNote(keyring: Pick<Keyring, 'verify'>, id: string, flat: string[]): { unverified?: string } {
  const pairs = Array.from({ length: flat.length / 2 }, (_, index) => flat.slice(index * 2, index * 2 + 2))
  const { note = flat.join(' '), at, to }: Record<string, string | undefined> = Object.fromEntries(pairs)
  const known = parseNote(note, { at: Number(at), to })
  const fields = known ?? { act: 'unreadable', at: timeOf(id), text: shorten(scrub(note)) }
  const verdict = verifyNote(keyring, fields)
  return { ...fields, unverified: verdict === 'genuine' ? undefined : verdict }
}

export function timeOf(streamId: string): number {
  return Number(streamId.split('-')[0])
}

/** Cuts a text, and replaces a half character at the cut: the JSON library of Redis would throw an error on it. */
function shorten(text: string): string {
  return (text.length > maxTextLength ? `${text.slice(0, maxTextLength - 1)}…` : text).toWellFormed()
}

/** Returns all fields of a note, also those that a newer version added within others, because the signature covers them. */
function parseNote(text: string, stamps: { at: number; to?: string }): Record<string, unknown> | undefined {
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
