import type { ApiKeyState, Data, ElasticIpState, ServerState, VirtualMachineState } from './data.ts'

export interface Answer {
  status: number
  body: unknown
}

export class Refusal extends Error {
  readonly answer: Answer

  constructor(answer: Answer) {
    super(`refused with ${answer.status}`)
    this.answer = answer
  }
}

export function refusal(status: number, code: string, message: string): Refusal {
  return new Refusal({ status, body: { errors: [{ code, message }] } })
}

export function invalid(pointer: string, detail: string): Refusal {
  const error = { code: 'VALIDATION_ERROR', status: '422', title: 'Unprocessable entity', detail, source: { pointer }, meta: {} }
  return new Refusal({ status: 422, body: { errors: [error] } })
}

export function notFound(what: string): Refusal {
  const error = { code: 'not_found', status: '404', title: 'Resource not found', detail: `The ${what} does not exist`, meta: {} }
  return new Refusal({ status: 404, body: { errors: [error] } })
}

/** Returns one page like the account API: 20 items by default, and an empty page after the end. Only some lists tell their total. */
export function pageOf(items: unknown[], query: Record<string, string>, maxPageSize: number, { hasTotal = false } = {}): Answer {
  const size = Math.min(positive(query, 'page[size]', 20), maxPageSize)
  const start = (positive(query, 'page[number]', 1) - 1) * size
  const meta = hasTotal && query['stats[total]'] === 'count' ? { stats: { total: { count: items.length } } } : {}
  return { status: 200, body: { data: items.slice(start, start + size), meta } }
}

function positive(query: Record<string, string>, name: string, otherwise: number): number {
  const value = Number(query[name] ?? otherwise)
  if (Number.isInteger(value) && value > 0) return value
  throw refusal(400, 'INVALID_PARAMETER', `${name} is not a positive whole number`)
}

/** Converts state to the shapes of the interface specification. */
export function elasticIpOnWire(data: Data, state: ElasticIpState, { status, serverId }: { status: string; serverId: string | null }) {
  const server = data.servers.find(({ id }) => id === serverId)
  const site = data.sites.find(({ slug }) => slug === state.site)
  return {
    id: state.provisioning ? null : state.id,
    type: 'elastic_ips',
    attributes: {
      address: state.provisioning ? undefined : state.address,
      family: state.family,
      prefix_length: state.prefixLength,
      mode: state.mode,
      status,
      created_at: timestamp(state.createdAt),
      server: server
        ? { id: server.id, hostname: server.hostname, primary_ipv4: server.primaryIpv4, operating_system: server.operatingSystem }
        : null,
      project: projectOnWire(data, state.projectId),
      region: site ? { ...site.region, location: { ...site.onElasticIps, slug: site.slug } } : null,
    },
  }
}

export function serverOnWire(data: Data, state: ServerState) {
  const site = data.sites.find(({ slug }) => slug === state.site)
  return {
    id: state.id,
    type: 'servers',
    attributes: {
      hostname: state.hostname,
      label: state.label ?? undefined,
      primary_ipv4: state.primaryIpv4,
      status: state.status,
      locked: state.locked,
      scheduled_deletion_at: state.scheduledDeletionAt === undefined ? null : timestamp(state.scheduledDeletionAt),
      operating_system: { slug: state.operatingSystem },
      region: site ? { city: site.onElasticIps.name, country: site.region.name, site: { ...site.onServers, slug: site.slug } } : null,
      project: projectOnWire(data, state.projectId),
    },
  }
}

/** The vendor's API reference: whether it restarts is sent only to those who ask for this extra field. */
export function virtualMachineOnWire(data: Data, state: VirtualMachineState, query: Record<string, string> = {}) {
  const asksForRestart = query['extra_fields[virtual_machines]']?.split(',').includes('pending_restart')
  return {
    id: state.id,
    type: 'virtual_machines',
    attributes: {
      name: state.name,
      status: state.status,
      created_at: timestamp(state.createdAt),
      primary_ipv4: state.primaryIpv4,
      operating_system: state.operatingSystem,
      site: state.site,
      billing: state.billing,
      plan: state.plan,
      specs: state.specs,
      tags: [],
      project: { ...projectOnWire(data, state.projectId), environment: 'Production' },
      ...(asksForRestart && { pending_restart: state.pendingRestart ?? false }),
    },
  }
}

export function apiKeyOnWire(state: ApiKeyState) {
  return {
    id: state.id,
    type: 'api_keys',
    attributes: {
      name: state.name,
      token_last_slice: state.token.slice(-5),
      api_version: '2023-06-01',
      read_only: state.readOnly,
      allowed_ips: state.allowedIps,
      created_at: timestamp(state.createdAt),
      updated_at: timestamp(state.updatedAt),
      last_used_at: state.lastUsedAt === null ? null : timestamp(state.lastUsedAt),
      user: state.user,
    },
  }
}

/** The only answer with the token. */
export function issuedKeyOnWire(state: ApiKeyState) {
  const { id, type, attributes } = apiKeyOnWire(state)
  return { id, type, attributes: { ...attributes, token: state.token } }
}

function projectOnWire(data: Data, projectId: string) {
  const project = data.projects.find(({ id }) => id === projectId)
  return project ? { ...project } : null
}

function timestamp(ms: number): string {
  return new Date(ms).toISOString()
}
