import { z } from 'zod'
import type { Secret } from './signing.ts'
import { hasInvisible, owner, type Phrase, phrase, withoutInvisible } from './text.ts'

/** What the account API shows of an object. An undefined member was not shown. Sets of values such as a status are open. */
export interface Named {
  id?: string
  name?: string
  slug?: string
}

/** An event in the account's own log (`GET /events`). `action` is one of an open set, such as `update.elastic_ip`. */
export interface AccountEvent {
  id: string
  action?: string
  target?: { id?: string; name?: string }
  author?: { id?: string; name?: string; email?: string }
  createdAt?: string
}

/** An API key as the account API lists it (interface specification, "API key"), without its token. */
export interface ApiKey {
  id: string
  name?: string
  tokenLastSlice?: string
  apiVersion?: string
  /** A read-only key allows only GET requests. */
  readOnly?: boolean
  /** Addresses or CIDR ranges that may use the key. Empty: any address. */
  allowedIps?: string[]
  createdAt?: string
  updatedAt?: string
  /** Undefined if the key was never used. */
  lastUsedAt?: string
  user?: { id?: string; email?: string }
}

/** The variables that hold Lockkeeper's own keys. */
export type KeyVariable = 'INFRA_API_KEY' | 'INFRA_READ_KEY'

/** The last characters of Lockkeeper's own keys, by which they are recognized in a list of keys. */
export type OwnLastSlices = Partial<Record<KeyVariable, string>>

/** Returns the variable that holds this key. Undefined for a key that Lockkeeper does not use. */
export function ownVariableOf({ tokenLastSlice }: ApiKey, own: OwnLastSlices): KeyVariable | undefined {
  if (tokenLastSlice === undefined) return undefined
  return (['INFRA_API_KEY', 'INFRA_READ_KEY'] as const).find((variable) => own[variable] === tokenLastSlice)
}

/** Why INFRA_READ_KEY does not fit. `not-listed`: the account has no such key. */
export type ReadKeyProblem = 'not-listed' | 'not-read-only' | 'of-another-user'

/** Returns why INFRA_READ_KEY does not fit, or undefined if it does or there is none. What the account API does not show is no problem. */
export function readKeyProblem(keys: ApiKey[], own: OwnLastSlices): ReadKeyProblem | undefined {
  if (own.INFRA_READ_KEY === undefined) return undefined
  const holding = (variable: KeyVariable) => keys.find((each) => ownVariableOf(each, own) === variable)
  const readKey = holding('INFRA_READ_KEY')
  if (!readKey) return 'not-listed'
  if (readKey.readOnly === false) return 'not-read-only'
  const users = [readKey.user?.id, holding('INFRA_API_KEY')?.user?.id]
  return users.includes(undefined) || users[0] === users[1] ? undefined : 'of-another-user'
}

/** The answer to a creation or a rotation. No other answer contains the token. */
export interface IssuedApiKey {
  key: ApiKey
  token: Secret
}

/** The part of a key's name that a person chooses. It has no brackets, because they enclose the part that Lockkeeper adds. */
export function isKeyLabel(text: string): boolean {
  return /^[\p{L}\p{N}][\p{L}\p{N} ._@+-]{0,59}$/u.test(text) && !hasInvisible(text)
}

/**
 * Builds the name of a new key: `ci-deploy [U0ADA00001 7f3a9c12ab34]`. It contains the requester, because the account API knows only
 * Lockkeeper's own user. It is unique, so that a key whose creation was not confirmed can be found by its name.
 */
export function uniqueKeyName(text: string, requesterId: string, requestId: string): string {
  return `${text} [${requesterId} ${requestId.slice(0, 12)}]`
}

/** Returns the part of a key's name that a person chose. */
export function labelOf(name: string): string {
  return name.replace(/ \[\S+ [0-9a-f]{12}\]$/, '')
}

/** Names a key as people know it: `ci-deploy, for @Ada`. Its full name on the account is small print. */
export function keyPhrase(name: string): Phrase {
  const requester = requesterOfKey({ name })
  return requester === undefined ? phrase`${name}` : phrase`${labelOf(name)}${owner(requester)}`
}

/** Returns the Slack user id of the requester from the name of a key. Returns undefined for a key that Lockkeeper did not create. */
export function requesterOfKey(key: Pick<ApiKey, 'name'>): string | undefined {
  return / \[([UW][A-Z0-9]{2,}) [0-9a-f]{12}\]$/.exec(key.name ?? '')?.[1]
}

/** The sentence about a key that may change everything and works from every address. */
export const fullAccessFromEverywhere = 'The key gives full access from any IP.'

const dayMs = 24 * 3_600_000

/** Lists in words what may be a risk about a key. `now` is in ms since 1970. `isOwn`: Lockkeeper itself uses it, whatever the account shows. */
export function remarksOn(key: ApiKey, now: number, { isOwn = false } = {}): string[] {
  const remarks: string[] = []
  const unusedDays = key.lastUsedAt === undefined ? undefined : Math.floor((now - Date.parse(key.lastUsedAt)) / dayMs)
  if (!isOwn && unusedDays === undefined && !isFresh(key, now)) remarks.push('never used')
  if (!isOwn && unusedDays !== undefined && unusedDays >= 90) remarks.push(`unused for ${unusedDays} days`)
  const years = key.createdAt === undefined ? 0 : Math.floor((now - Date.parse(key.createdAt)) / (365 * dayMs))
  if (years >= 1) remarks.push(years === 1 ? '1 year old' : `${years} years old`)
  if (key.readOnly === false && key.allowedIps?.length === 0) remarks.push('full access from any IP')
  return remarks
}

/** Whether the key was made or changed within a day. A rotation counts as a change, and the account then shows no use of the key. */
export function isFresh({ createdAt, updatedAt }: Pick<ApiKey, 'createdAt' | 'updatedAt'>, now: number): boolean {
  return [createdAt, updatedAt].some((at) => at !== undefined && now - Date.parse(at) < dayMs)
}

/** The server that Lockkeeper saw an Elastic IP on last. */
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

/** An assignment, and how long ago it was seen. */
export type SeenAssignment = Assignment & { agoMs: number }

/** An older assignment is not used. */
export const longestSeenMs = 24 * 3_600_000

/** An older assignment may be outdated, so a person chooses whether to use it. */
export const freshSeenMs = 3_600_000

/** Finds assignments that Lockkeeper saw in the last 24 hours. Throws StoreUnavailableError if Redis does not answer. */
export interface SeenAssignments {
  find(fits: (seen: Assignment) => boolean): Promise<SeenAssignment[]>
}

/** Disks of one purpose. `role` is `os`, `storage` or `raw`, `raidLevel` is `raid-0` or `raid-1`, and `filesystem` is `ext4`. */
export interface DiskGroup {
  role?: string
  count?: number
  raidLevel?: string
  filesystem?: string
  mountPoint?: string
}

/** The configuration that servers are expected to be delivered with (interface specification, "Baseline"). A preview: its shape may change. */
export interface Baseline {
  id: string
  /** The id if the account API shows no name. */
  name: string
  description?: string
  /** `all_servers`, `custom` or `platforms`. Absent in the newer shape, which has a `plan` instead. */
  targetType?: string
  /** The slug of the expected operating system. Null: any. */
  operatingSystem?: string | null
  /** The plans that the baseline applies to: `platforms`, or `plan` in the newer shape. */
  platforms: Named[]
  sshKeys: { id?: string; name?: string; fingerprint?: string }[]
  userData?: { id: string; description?: string }
  diskLayout: DiskGroup[]
  /** Each value as text, because the specification does not show the types of the values. */
  bios: { setting: string; value: string }[]
  createdAt?: string
}

/** A site as an Elastic IP (`region.location`) or a server (`region.site`) shows it. Only its slug (`ASH`) is the same on every kind of object. */
export type Site = Named

/** A project. Every kind of object shows the same id for it. */
export type ProjectRef = Named & { id: string }

/** The sites that decide whether an Elastic IP can move to a server. */
interface SitesOfMove {
  /** The Elastic IP's own site. */
  location: Site | undefined
  /** The site of the server that the Elastic IP is assigned to. */
  assigned: Site | undefined
  target: Site | undefined
}

/** Compares two projects. Returns undefined if one is unknown, or if the ids differ although the slugs are equal. */
export function sameProject(a: ProjectRef | undefined, b: ProjectRef | undefined): boolean | undefined {
  if (!a || !b) return undefined
  if (a.id === b.id) return true
  return sameSlug(a, b) ? undefined : false
}

/**
 * Whether the target of a move is in the site of the server that the Elastic IP is assigned to (interface specification, "States and
 * transitions"). Returns undefined if nothing can be compared.
 *
 * The vendor's documents show one site as `site_sao` on an Elastic IP and as `loc_87vRENkgNdPyk` on a server, with different names. So ids
 * are compared between servers only, slugs between any two objects, and names never.
 */
export function sameSite({ location, assigned, target }: SitesOfMove): boolean | undefined {
  if (sameSlug(location, target)) return true
  const asServers = sameSiteOfServers(assigned, target)
  return asServers ?? sameSlug(location, target)
}

function sameSiteOfServers(a: Site | undefined, b: Site | undefined): boolean | undefined {
  if (a?.id === undefined || b?.id === undefined) return sameSlug(a, b)
  if (a.id === b.id) return true
  return sameSlug(a, b) ? undefined : false
}

/**
 * Returns labels for two things that differ: the first of these members that both show and that differs. If no member differs, as for two
 * projects with the same name, the labels contain the ids.
 */
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

/** The status of an Elastic IP for which the account API shows none. */
export const statusNotShown = 'unknown'

/** An Elastic IP (interface specification, "Elastic IP"), with the members that Lockkeeper uses. */
export interface ElasticIp {
  id: string
  /** The id if the account API shows no address (yet). */
  address: string
  /** Known are `active`, `moving`, `configuring`, `pending`, `releasing` and `error`. `statusNotShown` if the account API shows none. */
  status: string
  /** Known are `routed` and `bgp`. */
  mode?: string
  /** Undefined while the Elastic IP is unassigned, or while its server is not active. */
  server?: { id: string; hostname?: string }
  project?: ProjectRef
  /** The site that the address is routed in. Its id and name differ from those that a server shows for the same site. */
  site?: Site
  /** The name of the region, which is the country, if it is shown. Only searched. */
  regionNames?: string[]
}

/** Whether servers announce the address through BGP sessions of their own. Such an address is never moved, and its `server` means nothing. */
export function isBgp({ id, mode }: Pick<ElasticIp, 'id' | 'mode'>): boolean {
  return id.startsWith('ueip_') || mode?.toLowerCase() === 'bgp'
}

/** In whole units of the currency (a code such as `USD`), such as dollars. */
export interface PlanPrice {
  currency: string
  hour?: number
  month?: number
}

export interface PlanRegion {
  name?: string
  /** Codes of the sites that offer the plan (`ASH`), whether or not it is in stock there. */
  availableSites: string[]
  inStockSites: string[]
  prices: PlanPrice[]
}

/** A virtual machine plan (interface specification, "Virtual machine plan"). */
export interface Plan {
  id: string
  /** The id if the account API shows no name. */
  name: string
  specs: {
    vcpuCount?: number
    /** The specification shows no unit. Shown in GiB, as disks are, because memory comes in binary sizes. */
    memory?: number
    gpu?: string
    /** The specification shows no unit. */
    vramPerGpu?: number
    /** `unit` is `gib` or `tib` in known plans. */
    disk?: { type?: string; amount?: number; unit?: string }
  }
  regions: PlanRegion[]
  /** Such as `low`. */
  stockLevel?: string
  /** Slugs such as `ubuntu_24_04_x64_lts`. */
  operatingSystems: string[]
}

/** A server that an Elastic IP can be moved to. `status` is for example `on`, `off` or `deploying`. */
export interface Server {
  id: string
  hostname?: string
  label?: string
  primaryIpv4?: string
  status?: string
  locked: boolean
  /** When the account deletes it, in ms since 1970. Absent if no deletion is scheduled, or if the time cannot be read. */
  deletedAt?: number
  project?: ProjectRef
  site?: Site
  /** The city and the country, as far as they are shown. Only searched. */
  regionNames?: string[]
}

/**
 * A virtual machine (interface specification, "Virtual machine"). Its credentials are never requested and never parsed. The answer to a rename
 * may contain only the id.
 */
export interface VirtualMachine {
  id: string
  /** The display name, which is also the hostname. */
  name?: string
  status?: string
  createdAt?: string
  primaryIpv4?: string
  /** The site as the account API writes it. */
  site?: string
  billing?: string
  operatingSystem?: { name?: string; slug?: string; version?: string }
  plan?: Named
  /** Sizes as texts of the account API with their units: `16 GB`. */
  specs: { vcpuCount?: number; ram?: string; storage?: string; nic?: string; gpu?: string }
  project?: ProjectRef
  pendingRestart?: boolean
}

/** Other things with the same name: their number, and the ids of up to three of them. */
interface Namesakes {
  others: string[]
  count: number
}

/** Finds the others whose name looks the same to people. Undefined if there are none. */
export function findNamesakes(name: string, all: { id: string; name: string }[], ownId?: string): Namesakes | undefined {
  const others = all.filter((other) => other.id !== ownId && looksSame(other.name, name)).map(({ id }) => id)
  return others.length === 0 ? undefined : { others: others.slice(0, 3), count: others.length }
}

/** Lists them as the subject of a sentence: `Another server (sv_9) is`. */
export function namesakesAre({ others, count }: Namesakes, what: { one: string; many: string }): Phrase {
  const listed = others.flatMap((id, index) => (index === 0 ? phrase`${id}` : phrase`, ${id}`))
  const all = count > others.length ? [...listed, ' …'] : listed
  return count === 1 ? phrase`Another ${[what.one]} (${all}) is` : phrase`${count} other ${[what.many]} (${all}) are`
}

/** Whether people cannot tell one name from the other. */
export function looksSame(a: string, b: string): boolean {
  return shown(a) === shown(b)
}

function shown(name: string): string {
  return withoutInvisible(name).toLowerCase()
}
