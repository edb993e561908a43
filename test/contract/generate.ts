import fc from 'fast-check'
import { z } from 'zod'

const tries = Math.max(300, Number(process.env.CONTRACT_RUNS ?? 0))

/**
 * The number of runs of each property. `CONTRACT_RUNS=20000 npm test -- test/contract` runs more. On a failure, fast-check prints the seed
 * and the path that repeat it.
 */
export const runs = { numRuns: tries }

/** The time limit for `describe`, which grows with the number of runs. */
export const patience = { timeout: 20_000 + tries * 20 }

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

/** Mostly generates one of a few values, so that two objects often have equal ones, and sometimes an unusual value. */
function oneOf(usual: string[], unusual: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...usual) }, { weight: 1, arbitrary: unusual })
}

const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('', ' ', '<!channel>', 'x'.repeat(300)))

/** Ids in other forms than the vendor's, because ids are opaque. The last ones are ids of other objects, or contain them. */
const otherIds = fc.oneof(
  fc.uuid(),
  fc.nat().map(String),
  fc.constantFrom('web-1', 'SAO', 'no server', 'x'.repeat(80), 'sv_vKm8ZaLzG5R2n on sv_W3mVpQ0xNd7Lk', 'eip_KeQbB4BoO6x10 on no server'),
)

/** Addresses that are announced by BGP have ids with `ueip_`. The second id differs from the first in the case of one letter. */
const elasticIpIds = ['eip_KeQbB4BoO6x10', 'eip_KeqbB4BoO6x10', 'ueip_v9BVDaGvdRm1W']
const serverIds = ['sv_vKm8ZaLzG5R2n', 'sv_W3mVpQ0xNd7Lk', 'sv_w3mVpQ0xNd7Lk', 'sv_bT90rYxPqJ6Uh']
const projectIds = ['proj_6059EqYkOQj8p', 'proj_6059EqYkOQj8p', 'proj_R82A9jVb5Lq0d']

/** Both kinds of objects have the same ids and names, so that neither an equal nor a different one proves anything. */
const siteIds = ['loc_87vRENkgNdPyk', 'loc_ZnPRbajK0koM1', 'site_sao', 'site_ash']

const shared: Record<string, fc.Arbitrary<string>> = {
  'project.id': oneOf(projectIds, fc.oneof(otherIds, fc.constant(''))),
  'project.name': oneOf(['Storefront', 'Billing'], text),
  'project.slug': oneOf(['storefront', 'billing', 'Storefront'], fc.constantFrom('', 'invoices')),
  hostname: oneOf(['web-1', 'web-2', 'db-1'], fc.constantFrom('', 'WEB-1', 'web-1.example.net', '203.0.113.10')),
  'site.id': oneOf(siteIds, fc.oneof(otherIds, fc.constant(''))),
  'site.name': oneOf(['São Paulo', 'São Paulo 74', 'Ashburn'], text),
  'site.slug': oneOf(['SAO', 'SAO', 'sao', 'SAO2', 'ASH'], fc.constantFrom('', 'FRA96')),
}

/** Chooses values by the end of a member's place. Of several known ends the longest counts. Other members get any text. */
function words(known: Record<string, fc.Arbitrary<string>>): Words {
  return (place) => {
    const end = Object.keys(known)
      .filter((key) => place === key || place.endsWith(`.${key}`))
      .toSorted((a, b) => b.length - a.length)[0]
    return (end === undefined ? undefined : known[end]) ?? text
  }
}

/** Documented statuses, an older one (`provisioning`), and some undocumented ones. */
export const elasticIpStatus = fc.oneof(
  { weight: 6, arbitrary: fc.constant('active') },
  { weight: 3, arbitrary: fc.constant('moving') },
  { weight: 3, arbitrary: fc.constantFrom('pending', 'configuring', 'releasing', 'error', 'provisioning') },
  { weight: 1, arbitrary: fc.constantFrom('frozen', 'ACTIVE', 'Moving', 'active ', 'unknown', '') },
)

export const elasticIpWords = words({
  ...shared,
  id: oneOf(elasticIpIds, otherIds),
  address: oneOf(['203.0.113.10', '203.0.113.10/32', '203.0.113.99', '2001:DB8::a', '2001:db8::A/128'], fc.constant('')),
  status: elasticIpStatus,
  mode: oneOf(['routed', 'routed', 'routed', 'routed', 'bgp'], fc.constantFrom('BGP', '', 'anycast')),
  'server.id': oneOf(serverIds, fc.oneof(otherIds, fc.constant(''))),
  'location.id': oneOf(siteIds, fc.oneof(otherIds, fc.constant(''))),
  'location.name': oneOf(['São Paulo', 'Ashburn'], text),
  'location.slug': oneOf(['SAO', 'SAO', 'sao', 'SAO2', 'ASH'], fc.constantFrom('', 'FRA96')),
})

export const serverWords = words({
  ...shared,
  id: oneOf(serverIds, otherIds),
  status: oneOf(['on', 'off', 'unknown', 'deploying', 'disk_erasing', 'rescue_mode', 'starting_deploy'], text),
  primary_ipv4: oneOf(['198.51.100.22', '198.51.100.21'], text),
})

export const virtualMachineWords = words({
  ...shared,
  id: oneOf(['vm_19o9skue5y1L0', 'vm_7vYAZqGBdMQ94'], otherIds),
  name: oneOf(['search-1', 'search-2', 'SEARCH-2'], fc.oneof(fc.constant(''), text)),
  status: oneOf(['Running', 'Starting', 'Stopped', 'Failed', 'Configuring network'], text),
  site: oneOf(['ASH', 'DAL'], text),
})

export const apiKeyWords = words({
  id: oneOf(['tok_57jvG72qDZNTv', 'tok_6VE1Wd37dXnZJ'], otherIds),
  name: oneOf(['deploy', 'ci'], fc.oneof(fc.constant(''), text)),
  token_last_slice: oneOf(['0ff1c', '2daaa', 'aBcDe'], fc.constantFrom('', '00000')),
  token: fc.constant('d00dfeedd00dfeedd00dfeedd00dfeed0ff1c'.slice(1)),
  last_used_at: oneOf(['2025-10-18T03:22:51.570Z'], text),
})

export const baselineWords = words({ id: oneOf(['bl_2KlNltRYMQQ5l'], otherIds) })
export const planWords = words({ id: oneOf(['plan_jv6m5J18NLPeE'], otherIds) })
