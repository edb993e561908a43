import { z } from 'zod'
import { replacedWords } from './key-ends.ts'
import { hasInvisible, moment, owner, type Phrase, phrase, sameName } from './text.ts'

/** What the account API shows of an object. An undefined member was not shown. Sets of values such as a status are open. */
export interface Named {
  id?: string
  name?: string
  slug?: string
}

/** The account documents no limit for names. With what Lockkeeper adds, they have at most 111 characters. */
export const longestLabel = 60

/** The part of a key's name that a person chooses. It has no brackets, because they enclose the part that Lockkeeper adds. */
export function isKeyLabel(text: string): boolean {
  return /^[\p{L}\p{N}][\p{L}\p{N} ._@+-]*$/u.test(text) && [...text].length <= longestLabel && !hasInvisible(text)
}

/**
 * What Lockkeeper adds to the name of a key: `ci-deploy [U0ADA00001 7f3a9c12ab34]`, and for a key that ends
 * `ci-deploy [U0ADA00001 7f3a9c12ab34 until 2026-12-24T10:00Z]`. It is for people: whoever can rename a key can write it, so nothing is deleted by it.
 */
export interface KeyName {
  label: string
  requester: string
  /** The first 12 characters of the id of the request that created the key. */
  request: string
  /** In ms since 1970. */
  end?: number
}

const added = / \[(\S+) ([0-9a-f]{12})(?: until (\d{4}-\d\d-\d\dT\d\d:\d\dZ))?\]$/

/** Undefined for a name that Lockkeeper did not make. Anybody can write one like it. */
export function parseKeyName(name = ''): KeyName | undefined {
  const [whole, requester = '', request = '', until] = added.exec(name) ?? []
  if (whole === undefined) return undefined
  const end = until === undefined ? undefined : Date.parse(until)
  return { label: name.slice(0, -whole.length), requester, request, ...(end !== undefined && !Number.isNaN(end) && { end }) }
}

export function writeKeyName({ label, requester, request, end }: KeyName): string {
  const until = end === undefined ? '' : ` until ${new Date(end).toISOString().slice(0, 16)}Z`
  return `${label} [${requester} ${request}${until}]`
}

export function uniqueKeyName(label: string, requester: string, requestId: string): string {
  return writeKeyName({ label, requester, request: requestId.slice(0, 12) })
}

/** Whether both names are of the key that one request created. One of them may have its end. */
export function isSameCreation(one: string | undefined, other: string): boolean {
  const [a, b] = [parseKeyName(one), parseKeyName(other)]
  return a && b ? a.requester === b.requester && a.request === b.request : one === other
}

export function labelOf(name: string): string {
  return parseKeyName(name)?.label ?? name
}

/** Names a key as people know it: `ci-deploy, for @Ada`. Its full name on the account is small print. `mark`: what stands after its name. */
export function keyPhrase(name: string, mark: Phrase = []): Phrase {
  const requester = requesterOfKey({ name })
  return requester === undefined ? phrase`${name}${mark}` : phrase`${labelOf(name)}${mark}${owner(requester)}`
}

export function requesterOfKey(key: { name?: string }): string | undefined {
  const requester = parseKeyName(key.name)?.requester
  return requester !== undefined && /^[UW][A-Z0-9]{2,}$/.test(requester) ? requester : undefined
}

export function placeFact(project: ProjectRef | undefined, site: string | undefined) {
  return { label: '', value: phrase`${project ? projectName(project) : ['unknown project']}  ·  ${site ?? ['unknown site']}` }
}

export const fullAccessFromEverywhere = 'The key gives full access from any IP.'

/** What a key can do. A member that the account did not show is undefined. */
export interface KeyAccess {
  readOnly?: boolean | undefined
  allowedIps?: string[] | undefined
}

export function accessWords({ readOnly }: KeyAccess): string {
  return readOnly === undefined ? 'unknown' : readOnly ? 'read-only' : 'full access'
}

export function originWords({ allowedIps }: KeyAccess): string {
  return allowedIps === undefined ? 'unknown' : allowedIps.length > 0 ? allowedIps.join(', ') : 'any IP'
}

export function isOpenToAll({ readOnly, allowedIps }: KeyAccess): boolean {
  return readOnly === false && allowedIps?.length === 0
}

/** `isWarned`: full access from any IP is among what to check first, so it isn't repeated. */
export function accessFacts(key: KeyAccess, { isWarned = false } = {}) {
  if (isWarned && isOpenToAll(key)) return []
  return [
    { label: 'Access', value: [accessWords(key)] },
    { label: 'Usable from', value: key.allowedIps?.length ? originWords(key) : [originWords(key)] },
  ]
}

export const Assignment = z.object({
  elasticIpId: z.string(),
  address: z.string(),
  serverId: z.string(),
  /** The hostname of the server, or its id if it has none. */
  serverName: z.string(),
  /** When it was seen, in ms since 1970 by Redis' clock. */
  at: z.number(),
})
export type Assignment = z.infer<typeof Assignment>

/** `isSent`: not seen there. A change whose tracking was stopped sent it there, so it may be. */
export type SeenAssignment = Assignment & { agoMs: number; isSent?: boolean }

export const longestSeenMs = 24 * 3_600_000

/** An older assignment may be outdated, so a person chooses whether to use it. */
export const freshSeenMs = 3_600_000

/** A site as an Elastic IP (`region.location`) or a server (`region.site`) shows it. Only its slug (`ASH`) is the same on every kind of object. */
export type Site = Named

export type ProjectRef = Named & { id: string }

interface SitesOfMove {
  location: Site | undefined
  assigned: Site | undefined
  target: Site | undefined
}

/** Compares two projects. Returns undefined if one is unknown, or if the ids differ although the slugs are equal. */
export function sameProject(a: ProjectRef | undefined, b: ProjectRef | undefined): boolean | undefined {
  return sameByIdOrSlug(a, b)
}

/**
 * Whether the target of a move is in the site of the server that the Elastic IP is assigned to (interface specification, "States and
 * transitions"). Returns undefined if nothing can be compared. The vendor's documents show one site as `site_sao` on an Elastic IP and as `loc_87vRENkgNdPyk` on a server, with different names. So ids
 * are compared between servers only, slugs between any two objects, and names never.
 */
export function sameSite({ location, assigned, target }: SitesOfMove): boolean | undefined {
  if (sameSlug(location, target)) return true
  return sameByIdOrSlug(assigned, target) ?? sameSlug(location, target)
}

function sameByIdOrSlug(a: Named | undefined, b: Named | undefined): boolean | undefined {
  if (a?.id === undefined || b?.id === undefined) return sameSlug(a, b)
  if (a.id === b.id) return true
  return sameSlug(a, b) ? undefined : false
}

/** Labels two things by the first of these members that both show and that differs, or else with their ids. */
export function distinctLabels(a: Named, b: Named, by: readonly ('name' | 'slug')[]): [string, string] {
  for (const member of by) {
    const [first, second] = [a[member], b[member]]
    if (first && second && first.toLowerCase() !== second.toLowerCase()) return [first, second]
  }
  return [withId(a), withId(b)]
}

function withId({ id = 'unknown', name, slug }: Named): string {
  const label = name || slug
  return label && label !== id ? `${label} (${id})` : id
}

function sameSlug(a: Named | undefined, b: Named | undefined): boolean | undefined {
  if (!a?.slug || !b?.slug) return undefined
  return a.slug.toLowerCase() === b.slug.toLowerCase()
}

export function projectName({ name, slug, id }: ProjectRef): string {
  return name ?? slug ?? id
}

export const statusNotShown = 'unknown'

/** Whether servers announce the address through BGP sessions of their own. Such an address is never moved, and its `server` means nothing. */
export function isBgp({ id, mode }: { id: string; mode?: string }): boolean {
  return id.startsWith('ueip_') || mode?.toLowerCase() === 'bgp'
}

/**
 * Other things with the same name: their number, and the ids of up to three of them. `ends`: when each of these ends by itself, in ms since 1970.
 * `replaced`: whether a newer one took its place.
 */
export const Namesakes = z.object({
  others: z.array(z.string()),
  count: z.number(),
  ends: z.array(z.number().nullable()).optional(),
  replaced: z.array(z.boolean()).optional(),
})
type Namesakes = z.infer<typeof Namesakes>

export function findNamesakes(name: string, all: { id: string; name: string }[], ownId?: string): Namesakes | undefined {
  const others = all.filter((other) => other.id !== ownId && sameName(other.name, name)).map(({ id }) => id)
  return others.length === 0 ? undefined : { others: others.slice(0, 3), count: others.length }
}

/** Lists them as the subject of a sentence: `Another server (sv_9) is`. */
export function namesakesAre({ others, count, ends, replaced }: Namesakes, what: { one: string; many: string }): Phrase {
  const listed = others.flatMap((id, index) => {
    const end = ends?.[index] ?? undefined
    const newer = replaced?.[index] ? [`, ${replacedWords}`] : []
    return phrase`${[index === 0 ? '' : ', ']}${id}${end === undefined ? [] : phrase`, ends ${moment(end)}`}${newer}`
  })
  const all = count > others.length ? [...listed, ' …'] : listed
  return count === 1 ? phrase`Another ${[what.one]} (${all}) is` : phrase`${count} other ${[what.many]} (${all}) are`
}
