import { z } from 'zod'
import { parseKeyName, statusNotShown } from '../domain/account.ts'
import { Secret } from '../domain/signing.ts'
import { loose, NamedResponse, type Sparse, shown, sparse, text, toNamed, toNumber, toProject, toText, toTime } from './fields.ts'
import { resourceKind } from './resource.ts'

/** As its API shows them, and as Lockkeeper uses them. Sets of values such as a status are open. Times are ISO 8601 strings. */

/** An Elastic IP (interface specification, "Elastic IP"), with the members that Lockkeeper uses. */
export const ElasticIpResponse = z.object({
  /** The id is null while the Elastic IP is being provisioned. */
  id: text,
  attributes: z.object({
    address: text,
    /** Known are `active`, `moving`, `configuring`, `pending`, `releasing` and `error`. */
    status: text,
    /** Known are `routed` and `bgp`. */
    mode: text,
    /** Null while the Elastic IP is unassigned, or while its server is not active. */
    server: z.object({ id: text, hostname: text }).nullish(),
    project: NamedResponse.nullish(),
    /** The site that the address is routed in. Its id and name differ from those that a server shows for the same site. */
    region: z.object({ location: NamedResponse.nullish() }).nullish(),
  }),
})

function toElasticIp({ id, attributes: wire }: z.infer<typeof ElasticIpResponse>) {
  if (!id) return undefined
  return sparse({
    id,
    address: wire.address || id,
    status: wire.status || statusNotShown,
    mode: wire.mode || undefined,
    server: wire.server?.id ? sparse({ id: wire.server.id, hostname: wire.server.hostname || undefined }) : undefined,
    project: toProject(wire.project),
    site: wire.region?.location ? toNamed(wire.region.location) : undefined,
  })
}
export type ElasticIp = NonNullable<ReturnType<typeof toElasticIp>>
export const elasticIp = resourceKind(ElasticIpResponse, toElasticIp)

/** `status` is for example `on`, `off` or `deploying`. */
export const ServerResponse = z.object({
  id: z.string(),
  attributes: z.object({
    hostname: text,
    label: text,
    primary_ipv4: text,
    status: text,
    locked: z.boolean().nullish(),
    scheduled_deletion_at: loose,
    region: z.object({ site: NamedResponse.nullish() }).nullish(),
    project: NamedResponse.nullish(),
  }),
})

function toServer({ id, attributes }: z.infer<typeof ServerResponse>) {
  const { region, scheduled_deletion_at, project, ...wire } = attributes
  return {
    id,
    ...shown(wire),
    locked: wire.locked ?? false,
    /** When the account deletes it, in ms since 1970. Undefined also if the time cannot be read. */
    deletedAt: toTime(scheduled_deletion_at),
    project: toProject(project),
    site: region?.site ? toNamed(region.site) : undefined,
  }
}
export type Server = Sparse<ReturnType<typeof toServer>>
export const server = resourceKind(ServerResponse, toServer)

/** A virtual machine (interface specification, "Virtual machine"), without its credentials. The answer to a rename may contain only the id. */
export const VirtualMachineResponse = z.object({
  id: z.string(),
  attributes: z.object({
    name: text,
    status: text,
    created_at: text,
    primary_ipv4: text,
    site: text,
    operating_system: z.object({ name: text, slug: text, version: text }).nullish(),
    plan: NamedResponse.nullish(),
    specs: z.object({ vcpu: loose, ram: loose, storage: loose, gpu: loose }).nullish(),
    project: NamedResponse.nullish(),
    pending_restart: z.boolean().nullish(),
  }),
})

function toVirtualMachine({ id, attributes }: z.infer<typeof VirtualMachineResponse>) {
  const { specs, project, ...wire } = attributes
  const { vcpu, ram, storage, gpu } = specs ?? {}
  return {
    id,
    ...shown(wire),
    project: toProject(project),
    /** Sizes as texts of the account API with their units: `16 GB`. */
    specs: sparse({ vcpuCount: toNumber(vcpu), ram: toText(ram), storage: toText(storage), gpu: toText(gpu) }),
  }
}
export type VirtualMachine = Sparse<ReturnType<typeof toVirtualMachine>>
export const virtualMachine = resourceKind(VirtualMachineResponse, toVirtualMachine)

const keyAttributes = z.object({
  name: text,
  token_last_slice: text,
  /** A read-only key allows only GET requests. */
  read_only: z.boolean().nullish(),
  /** The interface specification does not show the type of the items. */
  allowed_ips: z.array(z.unknown()).nullish(),
  created_at: text,
  updated_at: text,
  /** Null if the key was never used. */
  last_used_at: text,
  user: z.object({ id: text, email: text }).nullish(),
})
/** An API key as the account API lists it (interface specification, "API key"), without its token. */
export const ApiKeyResponse = z.object({ id: z.string(), attributes: keyAttributes })
const IssuedApiKeyResponse = z.object({ id: z.string(), attributes: keyAttributes.extend({ token: z.string().min(1) }) })

function toApiKey({ id, attributes: { allowed_ips, ...wire } }: z.infer<typeof ApiKeyResponse>) {
  // Null means that any address may use the key. An entry of an unknown type is kept as JSON: without it, a restricted key would appear to be open.
  const allowedIps = allowed_ips === undefined ? undefined : (allowed_ips ?? []).map((entry) => toText(entry) ?? JSON.stringify(entry))
  return { id, ...shown(wire), allowedIps }
}
export type ApiKey = Sparse<ReturnType<typeof toApiKey>>
export const apiKey = resourceKind(ApiKeyResponse, toApiKey)
/** The answer to a creation or a rotation. No other answer contains the token. */
export const issuedApiKey = resourceKind(IssuedApiKeyResponse, ({ id, attributes: { token, ...attributes } }) => ({
  key: toApiKey({ id, attributes }),
  token: new Secret(token),
}))

/** `ownLastSlice`: the last characters of Lockkeeper's own key, by which it is recognized in a list of keys. */
export function isOwnKey({ tokenLastSlice }: ApiKey, { ownLastSlice }: { ownLastSlice: string }): boolean {
  return tokenLastSlice === ownLastSlice
}

const dayMs = 24 * 3_600_000

/** The deletion of a key whose end is recorded may take this long. */
const endingMs = 3_600_000

/** When a key should have ended that is still listed. `recorded`: its end in Redis. Without one, which Redis may have lost, its name says it. */
function missedEnd({ name }: ApiKey, now: number, recorded: number | undefined): number | undefined {
  const end = recorded === undefined ? parseKeyName(name)?.end : recorded + endingMs
  return end !== undefined && end <= now ? (recorded ?? end) : undefined
}

/** What is wrong with a key, in words. `isUrgent`: it should have ended. `isOwn`: Lockkeeper itself uses it, whatever the account shows. */
export function remarksOn(
  key: ApiKey,
  now: number,
  { isOwn = false, recordedEnd }: { isOwn?: boolean; recordedEnd?: number | undefined } = {},
): { isUrgent: boolean; remarks: string[] } {
  const missed = missedEnd(key, now, recordedEnd)
  const remarks = missed === undefined ? [] : [`should have ended on ${dayOf(missed, now)}`]
  const unusedDays = key.lastUsedAt === undefined ? undefined : Math.floor((now - Date.parse(key.lastUsedAt)) / dayMs)
  if (!isOwn && unusedDays === undefined && !isFresh(key, now)) remarks.push('no use shown')
  if (!isOwn && unusedDays !== undefined && unusedDays >= 90) remarks.push(`unused for ${unusedDays} days`)
  const years = key.createdAt === undefined ? 0 : Math.floor((now - Date.parse(key.createdAt)) / (365 * dayMs))
  if (years >= 1) remarks.push(years === 1 ? '1 year old' : `${years} years old`)
  if (key.readOnly === false && key.allowedIps?.length === 0) remarks.push('full access from any IP')
  return { isUrgent: missed !== undefined, remarks }
}

/** A day by UTC, with its year only if that is another one: `24 Dec`. */
function dayOf(at: number, now: number): string {
  const [[, day, month, year], [, , , thisYear]] = [at, now].map((each) => new Date(each).toUTCString().split(' ')) as [string[], string[]]
  return `${Number(day)} ${month}${year === thisYear ? '' : ` ${year}`}`
}

/** Whether the key was made or changed within a day. A rotation counts as a change, and the account then shows no use of the key. */
export function isFresh({ createdAt, updatedAt }: Pick<ApiKey, 'createdAt' | 'updatedAt'>, now: number): boolean {
  return [createdAt, updatedAt].some((at) => at !== undefined && now - Date.parse(at) < dayMs)
}

const DiskGroupResponse = z.object({
  /** `os`, `storage` or `raw`. */
  role: text,
  count: loose,
  /** `raid-0` or `raid-1`. */
  raid_level: text,
  filesystem: text,
  mount_point: text,
})

/** Both shapes of this preview: the specification's, and that of newer SDKs with `plan` and without `target_type` and `platforms`. */
export const BaselineResponse = z.object({
  id: z.string(),
  attributes: z.object({
    name: text,
    description: text,
    /** `all_servers`, `custom` or `platforms`. */
    target_type: text,
    /** The slug of the expected operating system. Null: any. */
    operating_system: text,
    platforms: z.array(NamedResponse).nullish(),
    plan: NamedResponse.nullish(),
    ssh_keys: z.array(z.object({ id: text, name: text, fingerprint: text })).nullish(),
    user_data: z.object({ id: text, description: text }).nullish(),
    disk_layout: z.array(DiskGroupResponse).nullish(),
    bios: z.record(z.string(), z.unknown()).nullish(),
    created_at: text,
  }),
})

function toBaseline({ id, attributes }: z.infer<typeof BaselineResponse>) {
  const { bios, disk_layout, platforms, plan, operating_system: operatingSystem, user_data, ...wire } = attributes
  return {
    id,
    ...shown(wire),
    name: wire.name ?? id,
    operatingSystem,
    platforms: [...(platforms ?? []), ...(plan ? [plan] : [])].map(toNamed),
    sshKeys: shown(wire.ssh_keys ?? []),
    userData: user_data?.id ? { ...shown(user_data), id: user_data.id } : undefined,
    diskLayout: (disk_layout ?? []).map(toDiskGroup),
    /** Each value as text, because the specification does not show the types of the values. */
    bios: Object.entries(bios ?? {}).map(([setting, value]) => ({ setting, value: toText(value) ?? JSON.stringify(value) })),
  }
}
function toDiskGroup({ count, ...wire }: z.infer<typeof DiskGroupResponse>) {
  return sparse({ ...shown(wire), count: toNumber(count) })
}
export type DiskGroup = ReturnType<typeof toDiskGroup>
export type Baseline = Sparse<ReturnType<typeof toBaseline>>
export const baseline = resourceKind(BaselineResponse, toBaseline)

const texts = z.array(z.string()).nullish()

const RegionResponse = z.object({
  name: text,
  /** Codes of the sites that offer the plan (`ASH`), whether or not it is in stock there. An older shape has them in `available`. */
  locations: z.object({ available: texts, in_stock: texts }).nullish(),
  available: texts,
  /** Prices by currency code, read by `toPrices`. With a `z.record` here, parsing 500 plans takes twice as long. */
  pricing: loose,
})

/** The specification shows no units. `memory` is shown in GiB, as disks are, because it comes in binary sizes; `unit` is `gib` or `tib`. */
const SpecsResponse = z.object({
  memory: loose,
  gpu: text,
  vram_per_gpu: loose,
  vcpus: loose,
  vcpu: z.object({ count: loose }).nullish(),
  disk: z.object({ type: text, size: z.object({ amount: loose, unit: text }).nullish() }).nullish(),
})

/** A virtual machine plan (interface specification, "Virtual machine plan"). */
export const PlanResponse = z.object({
  id: z.string(),
  attributes: z.object({
    name: text,
    specs: SpecsResponse.nullish(),
    regions: z.array(RegionResponse).nullish(),
    /** Such as `low`. */
    stock_level: text,
    /** Slugs such as `ubuntu_24_04_x64_lts`. */
    available_operating_systems: texts,
  }),
})

function toPlan({ id, attributes: wire }: z.infer<typeof PlanResponse>) {
  return sparse({
    id,
    name: wire.name ?? id,
    specs: toSpecs(wire.specs),
    regions: wire.regions?.map(toRegion) ?? [],
    stockLevel: wire.stock_level ?? undefined,
    operatingSystems: wire.available_operating_systems ?? [],
  })
}
export type Plan = ReturnType<typeof toPlan>
export const plan = resourceKind(PlanResponse, toPlan)

function toSpecs(wire: z.infer<typeof SpecsResponse> | null | undefined) {
  const disk = wire?.disk
  return sparse({
    vcpuCount: toNumber(wire?.vcpus) ?? toNumber(wire?.vcpu?.count),
    memory: toNumber(wire?.memory),
    gpu: wire?.gpu ?? undefined,
    vramPerGpu: toNumber(wire?.vram_per_gpu),
    disk: disk ? sparse({ type: disk.type ?? undefined, amount: toNumber(disk.size?.amount), unit: toText(disk.size?.unit) }) : undefined,
  })
}

function toRegion(wire: z.infer<typeof RegionResponse>) {
  return sparse({
    name: wire.name ?? undefined,
    availableSites: wire.locations?.available ?? wire.available ?? [],
    inStockSites: wire.locations?.in_stock ?? [],
    prices: toPrices(wire.pricing),
  })
}
export type PlanRegion = ReturnType<typeof toRegion>

/** In whole units of the currency (a code such as `USD`), such as dollars. */
export interface PlanPrice {
  currency: string
  hour?: number
  month?: number
}

/** Leaves out a member of `pricing` that is not a price, so that the plan is still listed. Null stands for a currency without a price. */
function toPrices(pricing: unknown): PlanPrice[] {
  const prices = isRecord(pricing) ? Object.entries(pricing) : []
  return prices.flatMap(([currency, price]) => {
    if (price === null) return { currency }
    return isRecord(price) ? { currency, hour: toNumber(price.hour), month: toNumber(price.month) } : []
  })
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
