import { Outline, Request } from '../../domain/request.ts'

/** A hash of Redis that holds a request: JSON by field. Fields with a colon are marks of scripts (`token:approve`, `outbox:card`). */
export type RecordHash = Record<string, string>

export function encodeFields(fields: Record<string, unknown>): RecordHash {
  const present = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.fromEntries(present.map(([name, value]) => [name, JSON.stringify(value)]))
}

/** Throws where it does not fit this version. */
export function decodeRecord(hash: RecordHash): Request {
  const fields: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(hash)) if (!name.includes(':')) fields[name] = JSON.parse(value)
  return Request.parse(fields)
}

export function decodeIfFit(hash: RecordHash): Request | undefined {
  try {
    return decodeRecord(hash)
  } catch {
    return undefined
  }
}

export const outlineFields = Object.keys(Outline.shape)

/** `values`: the fields of an outline, in order. */
export function decodeOutlineIfFit(values: (string | null)[]): Outline | undefined {
  try {
    return Outline.parse(Object.fromEntries(outlineFields.map((name, index) => [name, JSON.parse(values[index] ?? '')])))
  } catch {
    return undefined
  }
}
