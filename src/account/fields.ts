import { z } from 'zod'
import type { Named } from '../domain/account.ts'

export const text = z.string().nullish()
/** Accepts any value, because the JSON type of some fields varies between answers. Read it with `toNumber` or `toText`. */
export const loose = z.unknown().optional()
export const NamedResponse = z.object({ id: text, name: text, slug: text })
type WireNamed = z.infer<typeof NamedResponse>

/** Also from a string such as `"1"`, which some answers contain. Undefined for anything else. */
export function toNumber(value: unknown): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined
}

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

type CamelCase<Name> = Name extends `${infer First}_${infer Rest}` ? `${First}${Capitalize<CamelCase<Rest>>}` : Name
type Shown<Wire> = Wire extends readonly (infer Item)[]
  ? Shown<Item>[]
  : Wire extends object
    ? { [Name in keyof Wire as CamelCase<Name>]: Shown<Exclude<Wire[Name], null>> }
    : Wire

/**
 * Names the members as Lockkeeper does, and leaves out what is null or empty, because the account API then shows nothing: two things without an
 * id or name must never compare as equal. Takes too long for lists that can be very long.
 */
export function shown<Wire extends object>(wire: Wire): Shown<Wire> {
  return shownOf(wire) as Shown<Wire>
}

function shownOf(wire: unknown): unknown {
  if (Array.isArray(wire)) return wire.map(shownOf)
  if (typeof wire !== 'object' || wire === null) return wire
  const members = Object.entries(wire).filter(([, value]) => value !== null && value !== '')
  return Object.fromEntries(
    members.map(([name, value]) => [name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()), shownOf(value)]),
  )
}

export function toNamed(wire: WireNamed): Named {
  return { id: wire.id || undefined, name: wire.name || undefined, slug: wire.slug || undefined }
}

/** Returns undefined for a project without an id, because it cannot be compared with another project. */
export function toProject(wire: WireNamed | null | undefined) {
  return wire?.id ? { ...toNamed(wire), id: wire.id } : undefined
}

/** What may be undefined may also be absent. */
export type Sparse<Item> = { [Name in keyof Item as undefined extends Item[Name] ? never : Name]: Item[Name] } & {
  [Name in keyof Item as undefined extends Item[Name] ? Name : never]?: Item[Name]
}

export function sparse<Item extends object>(item: Item): Sparse<Item> {
  return item as Sparse<Item>
}
