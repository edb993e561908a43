import fc from 'fast-check'
import { z } from 'zod'

/** Chooses the values of a text member by its place: `attributes.region.site.slug`. Lists add nothing to a place. */
export type Words = (place: string) => fc.Arbitrary<string>

export type Wire = Record<string, unknown>

const absent = Symbol('absent')

/** Values for members whose JSON type the schema leaves open. Numbers may be strings. */
const loose = fc.oneof(
  fc.integer({ min: -1, max: 4_096 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.nat(512).map(String),
  fc.constantFrom(null, '', '8 GB', true, [], { amount: 8 }),
)

/**
 * Generates answers that fit a wire schema. Members that may be null or absent sometimes are. The generator reads the schema, so a new
 * member of the schema is generated, too. Throws for an unknown kind of schema.
 */
export function answersOf(schema: z.core.$ZodType, words: Words, place = ''): fc.Arbitrary<unknown> {
  if (schema instanceof z.ZodOptional) return sometimes(answersOf(schema.unwrap(), words, place), absent)
  if (schema instanceof z.ZodNullable) return sometimes(answersOf(schema.unwrap(), words, place), null)
  if (schema instanceof z.ZodArray) return fc.array(answersOf(schema.element, words, place), { maxLength: 3 })
  if (schema instanceof z.ZodRecord) return fc.dictionary(name, answersOf(schema.valueType, words, place), { maxKeys: 3 })
  if (schema instanceof z.ZodString) return words(place)
  if (schema instanceof z.ZodBoolean) return fc.boolean()
  if (schema instanceof z.ZodUnknown) return loose
  if (schema instanceof z.ZodObject) return objectsOf(schema, words, place)
  throw new Error(`no answers for the schema of ${place} (${schema._zod.def.type})`)
}

function sometimes(usual: fc.Arbitrary<unknown>, instead: unknown): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 9, arbitrary: usual }, { weight: 1, arbitrary: fc.constant(instead) })
}

function objectsOf(schema: z.ZodObject, words: Words, place: string): fc.Arbitrary<Wire> {
  const members = Object.fromEntries(
    Object.entries<z.core.$ZodType>(schema.shape).map(([member, of]) => [member, answersOf(of, words, below(place, member))]),
  )
  const { catchall } = schema.def
  const others = catchall ? fc.dictionary(name, answersOf(catchall, words, place), { maxKeys: 3 }) : fc.constant({})
  return fc.tuple(others, fc.record(members)).map(([other, own]) => withoutAbsent({ ...other, ...own }))
}

function withoutAbsent(wire: Wire): Wire {
  return Object.fromEntries(Object.entries(wire).filter(([, value]) => value !== absent))
}

/** Names of new members. Some are similar to the members that are compared. */
const name = fc.oneof(
  fc.constantFrom(
    'public_network',
    'bgp_eligible',
    'facility',
    'tags',
    'site',
    'location',
    'slug',
    'project',
    'server',
    'status',
    'id',
    'name',
  ),
  fc.string({ minLength: 1, maxLength: 12 }).filter((text) => text !== '__proto__'),
)

const named = fc.record({ id: fc.constantFrom('loc_2', 'site_fra', 'proj_9'), name: fc.string(), slug: fc.constantFrom('FRA', 'ASH') })

/** Undocumented members. Each object of an answer gets the next set. */
export const unknownMembers: fc.Arbitrary<Wire[]> = fc.array(
  fc.dictionary(name, fc.oneof(named, fc.constantFrom('active', 'moving', null, 0), fc.jsonValue({ maxDepth: 1 })), { maxKeys: 3 }),
  { minLength: 1, maxLength: 4 },
)

/** Adds these members to the objects of an answer, unless the schema has a member of that name. */
export function withUnknownMembers(schema: z.core.$ZodType, wire: unknown, members: Wire[]): unknown {
  let turn = 0

  function add(of: z.core.$ZodType, value: unknown): unknown {
    if (of instanceof z.ZodOptional || of instanceof z.ZodNullable) return add(of.unwrap(), value)
    if (of instanceof z.ZodArray && Array.isArray(value)) return value.map((item) => add(of.element, item))
    if (!(of instanceof z.ZodObject) || !isWire(value) || of.def.catchall) return value
    const shape: Record<string, z.core.$ZodType> = of.shape
    const unknown = Object.entries(members[turn++ % members.length] ?? {}).filter(([member]) => !Object.hasOwn(shape, member))
    const known = Object.entries(value).map(([member, inner]) => [member, shape[member] ? add(shape[member], inner) : inner])
    return Object.fromEntries([...unknown, ...known])
  }

  return add(schema, wire)
}

/** Generates answers in which one member has the wrong type, and answers that are no objects. */
export function misfitsOf(schema: z.core.$ZodType, fits: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const places = placesOf(schema)
  const one = fc
    .tuple(fits, fc.constantFrom(...places), fc.nat())
    .map(([wire, { path, wrong }, choice]) => put(wire, path, wrong[choice % wrong.length]))
  return fc.oneof({ weight: 4, arbitrary: one }, { weight: 1, arbitrary: fc.constantFrom<unknown>(null, 'text', 7, [], true, {}) })
}

interface Place {
  path: string[]
  /** Values that do not fit this place. */
  wrong: unknown[]
}

function placesOf(schema: z.core.$ZodType, path: string[] = []): Place[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return placesOf(schema.unwrap(), path)
  if (schema instanceof z.ZodString) return [{ path, wrong: [9, true, {}, ['text']] }]
  if (schema instanceof z.ZodBoolean) return [{ path, wrong: ['yes', 1, {}] }]
  if (schema instanceof z.ZodArray || schema instanceof z.ZodRecord) return [{ path, wrong: ['text', 9] }]
  if (!(schema instanceof z.ZodObject)) return []
  const members = Object.entries<z.core.$ZodType>(schema.shape).flatMap(([member, of]) => placesOf(of, [...path, member]))
  return path.length === 0 ? members : [{ path, wrong: ['text', 9, []] }, ...members]
}

function put(wire: unknown, [member, ...rest]: string[], value: unknown): unknown {
  if (member === undefined) return value
  const object = isWire(wire) ? wire : {}
  return { ...object, [member]: put(object[member], rest, value) }
}

function isWire(value: unknown): value is Wire {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function below(place: string, member: string): string {
  return place === '' ? member : `${place}.${member}`
}
