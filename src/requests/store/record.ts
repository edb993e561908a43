import { Request } from '../../domain/request/request.ts'

/** The hash in Redis that holds a request: JSON by field. Fields with a colon are written by scripts (`token:approve`, `outbox:card`). */
export type RecordHash = Record<string, string>

/** Encodes each field as JSON, and leaves out those that are undefined. */
export function encodeFields(fields: Record<string, unknown>): RecordHash {
  const present = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.fromEntries(present.map(([name, value]) => [name, JSON.stringify(value)]))
}

/**
 * Decodes a request. Its id is that of its key, so that a copy of another request's record is not taken for that request. Throws if the record does
 * not fit this version.
 */
export function decodeRecord(id: string, hash: RecordHash): Request {
  const fields: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(hash)) if (!name.includes(':')) fields[name] = JSON.parse(value)
  return Request.parse({ ...fields, id })
}

/** Decodes a request, or returns undefined if the record does not fit this version. */
export function decodeIfFit(id: string, hash: RecordHash): Request | undefined {
  try {
    return decodeRecord(id, hash)
  } catch {
    return undefined
  }
}
