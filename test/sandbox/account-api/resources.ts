import { z } from 'zod'
import { type ApiKeyState, type ElasticIpState, idOf, newToken, type VirtualMachineState } from './data.ts'
import {
  type Answer,
  apiKeyOnWire,
  elasticIpOnWire,
  invalid,
  issuedKeyOnWire,
  notFound,
  pageOf,
  Refusal,
  refusal,
  serverOnWire,
  virtualMachineOnWire,
} from './wire.ts'
import type { World } from './world.ts'

type Query = Record<string, string>

interface ReceivedRequest {
  method: string
  path: string
  query: Query
  token: string | undefined
  body: unknown
}

/** A request with a valid key. `id`: from its path. */
interface AuthorizedRequest {
  world: World
  maxPageSize: number
  id: string
  query: Query
  body: unknown
  key: ApiKeyState
}

type Handler = (request: AuthorizedRequest) => Answer

/** `:id` stands for one path segment. */
const routes: Record<string, Handler> = {
  'GET /elastic_ips': listElasticIps,
  'GET /elastic_ips/:id': getElasticIp,
  'PATCH /elastic_ips/:id': moveElasticIp,
  'GET /servers': listServers,
  'GET /servers/:id': getServer,
  'GET /virtual_machines': listVirtualMachines,
  'GET /virtual_machines/:id': ({ world, id, query }) => ok(virtualMachineOnWire(world.data, existingMachine(world, id), query)),
  'PATCH /virtual_machines/:id': updateVirtualMachine,
  'GET /plans/virtual_machines': ({ world }) => ok(world.data.plans),
  'GET /baselines': ({ world }) => ok(world.data.baselines),
  'GET /auth/api_keys': ({ world }) => ok(world.data.apiKeys.map(apiKeyOnWire)),
  'POST /auth/api_keys': createApiKey,
  'PUT /auth/api_keys/:id': rotateApiKey,
  'PATCH /auth/api_keys/:id': updateApiKey,
  'DELETE /auth/api_keys/:id': deleteApiKey,
}

export function createRouter(world: World, maxPageSize: number) {
  return function answer({ method, path, query, token, body }: ReceivedRequest): Answer {
    try {
      const key = world.data.apiKeys.find((one) => one.token === token)
      if (!key) throw refusal(401, 'UNAUTHORIZED', 'The API key is invalid')
      if (key.readOnly && method !== 'GET') throw refusal(403, 'FORBIDDEN', 'The API key is read-only')
      key.lastUsedAt = world.now()
      for (const [route, handler] of Object.entries(routes)) {
        const [, id = ''] = new RegExp(`^${route.replace(':id', '([^/]+)')}$`).exec(`${method} ${path}`) ?? []
        if (route === `${method} ${path}` || id !== '') return handler({ world, maxPageSize, id: decodeURIComponent(id), query, body, key })
      }
      throw new Refusal({ status: 404, body: undefined })
    } catch (error) {
      if (error instanceof Refusal) return error.answer
      throw error
    }
  }
}

function ok(data: unknown, status = 200): Answer {
  return { status, body: { data, meta: {} } }
}

/** Returns the attributes of a request body. Throws a Refusal if its envelope is wrong. */
function attributesOf<T>({ body }: AuthorizedRequest, type: string, schema: z.ZodType<T>): T {
  const sent = z.object({ data: z.object({ type: z.literal(type), attributes: z.unknown() }) }).safeParse(body).data?.data
  if (!sent) throw invalid('/data/type', `data.type must be ${type}`)
  const attributes = schema.safeParse(sent.attributes)
  if (attributes.success) return attributes.data
  const [issue] = attributes.error.issues
  throw invalid(`/data/attributes/${issue?.path.join('/') ?? ''}`, issue?.message ?? 'invalid')
}

/** Returns the items that fit all filters of the query. Refuses a filter that is not described here. */
function fitting<Item>(items: Item[], query: Query, filters: Record<string, (item: Item, wanted: string) => boolean>): Item[] {
  const wanted = Object.entries(query).flatMap(([name, value]) => {
    const [, filter] = /^filter\[(.*)\]$/.exec(name) ?? []
    const fits = filter === undefined ? undefined : filters[filter]
    if (filter !== undefined && fits === undefined) throw refusal(400, 'INVALID_PARAMETER', `${name} is unknown`)
    return fits ? [(item: Item) => fits(item, value)] : []
  })
  return items.filter((item) => wanted.every((fits) => fits(item)))
}

const Settings = z.object({
  name: z.string().min(1),
  read_only: z.boolean().optional(),
  allowed_ips: z.array(z.string()).nullish(),
})

function createApiKey(request: AuthorizedRequest): Answer {
  const { world, key: own } = request
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
    user: own.user,
  }
  world.data.apiKeys.push(key)
  world.issuedTokens.push(token)
  return ok(issuedKeyOnWire(key), 201)
}

function rotateApiKey(request: AuthorizedRequest): Answer {
  const { world } = request
  const key = existingKey(request)
  const { name } = attributesOf(request, 'api_keys', Settings.partial())
  Object.assign(key, { name: name ?? key.name, token: newToken(), lastUsedAt: null, updatedAt: world.now() })
  world.issuedTokens.push(key.token)
  return ok(issuedKeyOnWire(key))
}

function updateApiKey(request: AuthorizedRequest): Answer {
  const { world } = request
  const key = existingKey(request)
  const settings = attributesOf(request, 'api_keys', Settings.partial())
  key.name = settings.name ?? key.name
  key.readOnly = settings.read_only ?? key.readOnly
  if (settings.allowed_ips !== undefined) key.allowedIps = settings.allowed_ips
  key.updatedAt = world.now()
  return ok(apiKeyOnWire(key))
}

function deleteApiKey(request: AuthorizedRequest): Answer {
  const { apiKeys } = request.world.data
  const key = existingKey(request)
  apiKeys.splice(apiKeys.indexOf(key), 1)
  return { status: 200, body: { meta: {} } }
}

function existingKey({ world, id }: AuthorizedRequest): ApiKeyState {
  const key = world.data.apiKeys.find((one) => one.id === id)
  if (!key) throw notFound('API key')
  return key
}

function listServers({ world, maxPageSize, query }: AuthorizedRequest): Answer {
  const found = fitting(world.data.servers, query, { hostname: ({ hostname }, wanted) => hostname === wanted })
  const rows = found.map((server) => serverOnWire(world.data, server))
  return pageOf(rows, query, maxPageSize, { hasTotal: true })
}

function getServer({ world, id }: AuthorizedRequest): Answer {
  const server = world.server(id)
  if (!server) throw notFound('server')
  return ok(serverOnWire(world.data, server))
}

function listVirtualMachines({ world, maxPageSize, query }: AuthorizedRequest): Answer {
  const found = fitting(world.data.virtualMachines, query, {})
  const rows = found.map((machine) => virtualMachineOnWire(world.data, machine, query))
  return pageOf(rows, query, maxPageSize, { hasTotal: true })
}

/** As in the real account API, a PATCH does more than rename: a `plan` powers the machine off. A bot that sends one fails its test. */
function updateVirtualMachine(request: AuthorizedRequest): Answer {
  const { world, id } = request
  const machine = existingMachine(world, id)
  const Change = z.object({ name: z.string().min(1).max(253).optional(), plan: z.string().optional() })
  const { name, plan } = attributesOf(request, 'virtual_machines', Change)
  if (machine.status === 'Resizing') throw refusal(409, 'CONFLICT', 'The virtual machine is being resized')

  world.changeVirtualMachine(id, { ...(name !== undefined && { name }), ...(plan !== undefined && { status: 'Resizing' }) })
  const changed = existingMachine(world, id)
  return ok(virtualMachineOnWire(world.data, changed), plan === undefined ? 200 : 202)
}

/** Some 404s of the account API have no body. */
function existingMachine(world: World, id: string): VirtualMachineState {
  const machine = world.virtualMachine(id)
  if (!machine) throw new Refusal({ status: 404, body: undefined })
  return machine
}

function listElasticIps({ world, maxPageSize, query }: AuthorizedRequest): Answer {
  const all = world.elasticIps().map((elasticIp) => ({ elasticIp, shown: world.shown(elasticIp) }))
  const found = fitting(all, query, { status: ({ shown }, status) => shown.status === status })
  const rows = found.map(({ elasticIp, shown }) => elasticIpOnWire(world.data, elasticIp, shown))
  return pageOf(rows, query, maxPageSize)
}

function getElasticIp({ world, id }: AuthorizedRequest): Answer {
  const elasticIp = existingElasticIp(world, id)
  return ok(elasticIpOnWire(world.data, elasticIp, world.shown(elasticIp)))
}

/** Applies the rules of the interface specification, "Elastic IP status", with the refusals of the public reference. */
function moveElasticIp(request: AuthorizedRequest): Answer {
  const { world, id } = request
  const elasticIp = existingElasticIp(world, id)
  const { server_id: serverId } = attributesOf(request, 'elastic_ips', z.object({ server_id: z.string().min(1) }))
  if (elasticIp.mode === 'bgp') throw refusal(422, 'BGP_ELASTIC_IP_NOT_UPDATABLE', 'It is announced by BGP')
  if (elasticIp.status !== 'active') throw refusal(422, 'ELASTIC_IP_NOT_ACTIVE', `The Elastic IP is ${elasticIp.status}`)

  const target = world.server(serverId)
  if (target?.projectId !== elasticIp.projectId) throw refusal(422, 'SERVER_NOT_IN_PROJECT', 'The server belongs to another project')
  const site = world.data.sites.find(({ slug }) => slug === target.site)
  if (!site?.elasticIps) throw refusal(422, 'SITE_NOT_SUPPORTED', 'Elastic IPs are not offered in this site')
  if (target.site !== elasticIp.site) throw refusal(422, 'SITE_MISMATCH', 'The server is in another site')
  if (target.networkIncompatible) throw refusal(422, 'SERVER_NETWORK_INCOMPATIBLE', "The server's network cannot route Elastic IPs")

  world.startMove(id, serverId)
  // The answer shows the target, whatever reads show meanwhile.
  return ok(elasticIpOnWire(world.data, elasticIp, { status: 'moving', serverId }), 202)
}

function existingElasticIp(world: World, id: string): ElasticIpState {
  const elasticIp = world.elasticIp(id)
  if (!elasticIp) throw notFound('Elastic IP')
  return elasticIp
}
