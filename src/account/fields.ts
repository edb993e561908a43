import { z } from 'zod'

export const text = z.string().nullish()
/** Accepts any value, because the JSON type of some fields varies between answers. Read it with `toNumber` or `toText`. */
export const loose = z.unknown().optional()
export const Named = z.object({ id: text, name: text, slug: text })

type WireNamed = z.infer<typeof Named>

/** Returns a finite number, also from a string such as `"1"`, which some answers contain. Returns undefined for anything else. */
export function toNumber(value: unknown): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined
}

/** Returns a string, number or boolean as text, and undefined for anything else. */
export function toText(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined
}

/** Returns a time in ms since 1970: from `2026-12-01T09:30:00Z`, or from ms in digits, which some answers contain. Returns undefined for anything else. */
export function toTime(value: unknown): number | undefined {
  const shown = toText(value) ?? ''
  const time = /^\d{13}$/.test(shown) ? Number(shown) : /^\d{4}-/.test(shown) ? Date.parse(shown) : Number.NaN
  return Number.isNaN(time) ? undefined : time
}

/** Leaves out what is null, because the account API then shows nothing. */
export function shown<Wire extends object>(wire: Wire): { [Name in keyof Wire]: Exclude<Wire[Name], null> } {
  return Object.fromEntries(Object.entries(wire).filter(([, value]) => value !== null)) as ReturnType<typeof shown<Wire>>
}

/** Maps empty strings to undefined, so that two things without an id or name never compare as equal. */
export function toNamed(wire: WireNamed) {
  return { id: wire.id || undefined, name: wire.name || undefined, slug: wire.slug || undefined }
}

/** Returns the names of a region as a member, and no member without any. */
export function regionNames(...names: (string | null | undefined)[]): { regionNames?: string[] } {
  const shown = names.filter((name) => typeof name === 'string' && name !== '') as string[]
  return shown.length > 0 ? { regionNames: shown } : {}
}

/** Returns undefined for a project without an id, because it cannot be compared with another project. */
export function toProject(wire: WireNamed | null | undefined) {
  return wire?.id ? { ...toNamed(wire), id: wire.id } : undefined
}
