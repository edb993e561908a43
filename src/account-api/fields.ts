import { z } from 'zod'

/** A text that may be absent or null. */
export const text = z.string().nullish()
/** A text or number whose JSON type is not to be relied on: read with `toNumber` or `toText`. */
export const loose = z.unknown().optional()
export const Named = z.object({ id: text, name: text, slug: text })

type WireNamed = z.infer<typeof Named>

/** Numbers occur as strings (`"1"`). */
export function toNumber(value: unknown): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined
}

export function toText(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined
}

/** A text that is empty names nothing, and compares with nothing. */
export function toNamed(wire: WireNamed) {
  return { id: wire.id || undefined, name: wire.name || undefined, slug: wire.slug || undefined }
}

/** A project without an id cannot be compared with another and is none. */
export function toProject(wire: WireNamed | null | undefined) {
  return wire?.id ? { ...toNamed(wire), id: wire.id } : undefined
}
