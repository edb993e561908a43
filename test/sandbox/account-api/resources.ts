import { z } from 'zod'
import { type ApiKeyState, type ElasticIpState, type FixedResource, idOf, newToken, type VirtualMachineState } from './data.ts'
import {
  type Answer,
  apiKeyOnWire,
  elasticIpOnWire,
  eventOnWire,
  invalid,
  issuedKeyOnWire,
  notFound,
  pageOf,
  Refusal,
  refusal,
  renamedMachineOnWire,
  serverOnWire,
  virtualMachineOnWire,
} from './wire.ts'
import type { World } from './world.ts'

export interface AuthorizedRequest {
  params: string[]
  query: Record<string, string>
  body: unknown
  key: ApiKeyState
}

/** Returns the attributes of a request body. Throws a Refusal if its envelope is wrong. */
export function attributesOf<T>({ body }: AuthorizedRequest, type: string, schema: z.ZodType<T>): T {
  const data = z
    .object({ type: z.string(), attributes: z.unknown() })
    .safeParse(z.object({ data: z.unknown() }).safeParse(body).data?.data).data
  if (data?.type !== type) throw invalid('/data/type', `data.type must be ${type}`)
  const attributes = schema.safeParse(data.attributes)
  if (attributes.success) return attributes.data
  const [issue] = attributes.error.issues
  throw invalid(`/data/attributes/${issue?.path.join('/') ?? ''}`, issue?.message ?? 'invalid')
}

const Settings = z.object({
  name: z.string().min(1),
  read_only: z.boolean().optional(),
  allowed_ips: z.array(z.string()).nullish(),
})

export function listApiKeys({ world }: Account): Answer {
  return { status: 200, body: { data: world.data.apiKeys.map(apiKeyOnWire), meta: {} } }
}

export function createApiKey({ world, record }: Account, request: AuthorizedRequest): Answer {
  const settings = attributesOf(request, 'api_keys', Settings)
  const token = newToken()
  const key: ApiKeyState = {
    id: idOf('tok', token),
    name: settings.name,
    token,
    readOnly: settings.read_only ?? false,
    allowedIps: settings.allowed_ips ?? [],
    createdAt: world.now(),
    updatedAt: world.now(),
    lastUsedAt: null,
    user: request.key.user,
  }
  world.data.apiKeys.push(key)
  world.issuedTokens.push(token)
  record('create.api_key', key, request.key)
  return { status: 201, body: { data: issuedKeyOnWire(key), meta: {} } }
}

export function rotateApiKey({ world, record }: Account, request: AuthorizedRequest): Answer {
  const key = existingKey(world.data.apiKeys, request)
  const { name } = attributesOf(request, 'api_keys', Settings.partial())
  Object.assign(key, { name: name ?? key.name, token: newToken(), lastUsedAt: null, updatedAt: world.now() })
  world.issuedTokens.push(key.token)
  record('rotate.api_key', key, request.key)
  return { status: 200, body: { data: issuedKeyOnWire(key), meta: {} } }
}

export function updateApiKey({ world, record }: Account, request: AuthorizedRequest): Answer {
  const key = existingKey(world.data.apiKeys, request)
  const settings = attributesOf(request, 'api_keys', Settings.partial())
  key.name = settings.name ?? key.name
  key.readOnly = settings.read_only ?? key.readOnly
  if (settings.allowed_ips !== undefined) key.allowedIps = settings.allowed_ips
  key.updatedAt = world.now()
  record('update.api_key', key, request.key)
  return { status: 200, body: { data: apiKeyOnWire(key), meta: {} } }
}

export function deleteApiKey({ world, record }: Account, request: AuthorizedRequest): Answer {
  const key = existingKey(world.data.apiKeys, request)
  world.data.apiKeys.splice(world.data.apiKeys.indexOf(key), 1)
  record('destroy.api_key', key, request.key)
  return { status: 200, body: { meta: {} } }
}

function existingKey(keys: ApiKeyState[], { params: [id] }: AuthorizedRequest): ApiKeyState {
  const key = keys.find((one) => one.id === id)
  if (!key) throw notFound('API key')
  return key
}

export function listEvents({ world, maxPageSize }: Account, { query }: AuthorizedRequest): Answer {
  const since = Date.parse(query['filter[created_at][gte]'] ?? '') || 0
  const found = world.events.filter(
    (event) =>
      event.createdAt >= since &&
      (query['filter[target_id]'] === undefined || event.target.id === query['filter[target_id]']) &&
      (query['filter[action]'] === undefined || event.action === query['filter[action]']),
  )
  const sorted = query.sort === 'created_at' ? found : found.toReversed()
  return pageOf(sorted.map(eventOnWire), query, maxPageSize, { hasTotal: true })
}

export function listServers({ world, maxPageSize }: Account, { query }: AuthorizedRequest): Answer {
  const projectId = world.data.projects.find(({ id, slug }) => [id, slug].includes(query['filter[project]'] ?? ''))?.id
  const found = world.data.servers.filter(
    (server) =>
      (query['filter[project]'] === undefined || server.projectId === projectId) &&
      (query['filter[region]'] === undefined || server.site === query['filter[region]']) &&
      (query['filter[hostname]'] === undefined || server.hostname === query['filter[hostname]']),
  )
  return pageOf(
    found.map((server) => serverOnWire(world.data, server)),
    query,
    maxPageSize,
  )
}

export function getServer({ world }: Account, { params: [id = ''] }: AuthorizedRequest): Answer {
  const server = world.server(id)
  if (!server) throw notFound('server')
  return { status: 200, body: { data: serverOnWire(world.data, server), meta: {} } }
}

export function listVirtualMachines({ world, maxPageSize }: Account, { query }: AuthorizedRequest): Answer {
  const projectId = world.data.projects.find(({ id, slug }) => [id, slug].includes(query['filter[project]'] ?? ''))?.id
  const found = world.data.virtualMachines.filter((machine) => query['filter[project]'] === undefined || machine.projectId === projectId)
  return pageOf(
    found.map((machine) => virtualMachineOnWire(world.data, machine)),
    query,
    maxPageSize,
    { hasTotal: true },
  )
}

export function getVirtualMachine({ world }: Account, { params: [id = ''] }: AuthorizedRequest): Answer {
  return { status: 200, body: { data: virtualMachineOnWire(world.data, existingMachine(world.virtualMachine(id))), meta: {} } }
}

/** As in the real account API, a PATCH does more than rename: a `plan` powers the machine off. A bot that sends one fails its test. */
export function updateVirtualMachine({ world, record }: Account, request: AuthorizedRequest): Answer {
  const machine = existingMachine(world.virtualMachine(request.params[0] ?? ''))
  const { name, plan } = attributesOf(
    request,
    'virtual_machines',
    z.object({ name: z.string().min(1).max(253).optional(), plan: z.string().optional() }),
  )
  if (machine.status === 'Resizing') throw refusal(409, 'CONFLICT', 'The virtual machine is being resized')

  if (name !== undefined) world.changeVirtualMachine(machine.id, { name })
  if (plan !== undefined) world.changeVirtualMachine(machine.id, { status: 'Resizing' })
  record('update.virtual_machine', { id: machine.id, name: name ?? machine.name }, request.key)
  const body = { data: renamedMachineOnWire(world.data, existingMachine(world.virtualMachine(machine.id))), meta: {} }
  return { status: plan === undefined ? 200 : 202, body }
}

/** Some 404s of the account API have no body. */
function existingMachine(machine: VirtualMachineState | undefined): VirtualMachineState {
  if (!machine) throw new Refusal({ status: 404, body: undefined })
  return machine
}

/** What routes work with. */
export interface Account {
  world: World
  maxPageSize: number
  filterKnowsDead: boolean
  record(action: string, target: { id: string; name: string | null }, key: ApiKeyState): void
}

type Handler = (account: Account, request: AuthorizedRequest) => Answer

/** `:id` stands for one path segment. */
const routes: Record<string, Handler> = {
  'GET /elastic_ips': listElasticIps,
  'GET /elastic_ips/:id': getElasticIp,
  'PATCH /elastic_ips/:id': moveElasticIp,
  'GET /servers': listServers,
  'GET /servers/:id': getServer,
  'GET /virtual_machines': listVirtualMachines,
  'GET /virtual_machines/:id': getVirtualMachine,
  'PATCH /virtual_machines/:id': updateVirtualMachine,
  'GET /plans/virtual_machines': ({ world }) => everything(world.data.plans),
  'GET /baselines': ({ world }) => everything(world.data.baselines),
  'GET /auth/api_keys': listApiKeys,
  'POST /auth/api_keys': createApiKey,
  'PUT /auth/api_keys/:id': rotateApiKey,
  'PATCH /auth/api_keys/:id': updateApiKey,
  'DELETE /auth/api_keys/:id': deleteApiKey,
  'GET /events': listEvents,
}

export interface ReceivedRequest {
  method: string
  path: string
  query: Record<string, string>
  token: string | undefined
  body: unknown
}

export function createRouter({ world, maxPageSize, filterKnowsDead }: Pick<Account, 'world' | 'maxPageSize' | 'filterKnowsDead'>) {
  const account: Account = {
    world,
    maxPageSize,
    filterKnowsDead,
    record: (action, target, { user }) => world.recordEvent(action, target, user),
  }

  return function answer({ method, path, query, token, body }: ReceivedRequest): Answer {
    try {
      const key = world.data.apiKeys.find((one) => one.token === token)
      if (!key) throw refusal(401, 'UNAUTHORIZED', 'The API key is invalid')
      if (key.readOnly && method !== 'GET') throw refusal(403, 'FORBIDDEN', 'The API key is read-only')
      key.lastUsedAt = world.now()
      return handle(account, method, path, { query, body, key })
    } catch (error) {
      if (error instanceof Refusal) return error.answer
      throw error
    }
  }
}

function handle(account: Account, method: string, path: string, request: Omit<AuthorizedRequest, 'params'>): Answer {
  for (const [route, handler] of Object.entries(routes)) {
    const [routeMethod, routePath = ''] = route.split(' ')
    const match = routeMethod === method && new RegExp(`^${routePath.replace(':id', '([^/]+)')}$`).exec(path)
    if (match) return handler(account, { ...request, params: match.slice(1).map(decodeURIComponent) })
  }
  throw new Refusal({ status: 404, body: undefined })
}

function everything(data: FixedResource[]): Answer {
  return { status: 200, body: { data, meta: {} } }
}

export function listElasticIps({ world, maxPageSize, filterKnowsDead }: Account, { query }: AuthorizedRequest): Answer {
  // Whether the filter finds the addresses of a server that is not active is not documented.
  const serverFor = (elasticIp: ElasticIpState, shown: { serverId: string | null }) =>
    filterKnowsDead && shown.serverId === null ? elasticIp.serverId : shown.serverId
  const projectId = world.data.projects.find(({ id, slug }) => [id, slug].includes(query['filter[project]'] ?? ''))?.id
  const found = world
    .elasticIps()
    .map((elasticIp) => ({ elasticIp, shown: world.shown(elasticIp) }))
    .filter(
      ({ elasticIp, shown }) =>
        (query['filter[project]'] === undefined || elasticIp.projectId === projectId) &&
        (query['filter[server]'] === undefined || serverFor(elasticIp, shown) === query['filter[server]']) &&
        (query['filter[status]'] === undefined || shown.status === query['filter[status]']),
    )
  return pageOf(
    found.map(({ elasticIp, shown }) => elasticIpOnWire(world.data, elasticIp, shown)),
    query,
    maxPageSize,
  )
}

export function getElasticIp({ world }: Account, { params: [id = ''] }: AuthorizedRequest): Answer {
  const elasticIp = existingElasticIp(world.elasticIp(id))
  return { status: 200, body: { data: elasticIpOnWire(world.data, elasticIp, world.shown(elasticIp)), meta: {} } }
}

/** Applies the rules of the interface specification, "Elastic IP status", with the refusals of the public reference. */
export function moveElasticIp({ world, record }: Account, request: AuthorizedRequest): Answer {
  const elasticIp = existingElasticIp(world.elasticIp(request.params[0] ?? ''))
  const { server_id: serverId } = attributesOf(request, 'elastic_ips', z.object({ server_id: z.string().min(1) }))
  if (elasticIp.mode === 'bgp') throw refusal(422, 'BGP_ELASTIC_IP_NOT_UPDATABLE', 'It is announced by BGP')
  if (elasticIp.status !== 'active') throw refusal(422, 'ELASTIC_IP_NOT_ACTIVE', `The Elastic IP is ${elasticIp.status}`)

  const target = world.server(serverId)
  if (target?.projectId !== elasticIp.projectId) throw refusal(422, 'SERVER_NOT_IN_PROJECT', 'The server belongs to another project')
  const site = world.data.sites.find(({ slug }) => slug === target.site)
  if (!site?.elasticIps) throw refusal(422, 'SITE_NOT_SUPPORTED', 'Elastic IPs are not offered in this site')
  if (target.site !== elasticIp.site) throw refusal(422, 'SITE_MISMATCH', 'The server is in another site')
  if (target.networkIncompatible) throw refusal(422, 'SERVER_NETWORK_INCOMPATIBLE', "The server's network cannot route Elastic IPs")

  world.startMove(elasticIp.id, serverId)
  record('update.elastic_ip', { id: elasticIp.id, name: elasticIp.address }, request.key)
  // The answer shows the target, whatever reads show meanwhile.
  const shown = { status: 'moving', serverId }
  return { status: 202, body: { data: elasticIpOnWire(world.data, elasticIp, shown), meta: {} } }
}

function existingElasticIp(elasticIp: ElasticIpState | undefined): ElasticIpState {
  if (!elasticIp) throw notFound('Elastic IP')
  return elasticIp
}
