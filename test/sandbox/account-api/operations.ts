import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { wireBaselines } from './baselines.ts'
import { wirePlans } from './plans.ts'
import type { ApiKeyRow } from './seed.ts'
import { wireApiKey, wireElasticIp, wireEvent, wireServer, wireVirtualMachine } from './wire.ts'
import type { World } from './world.ts'

export interface Call {
  method: string
  path: string
  query: URLSearchParams
  body: unknown
  /** The key that was sent. */
  by: ApiKeyRow
  now: number
}

export interface Reply {
  status: number
  body?: unknown
}

const moveBody = z.object({ data: z.object({ type: z.literal('elastic_ips'), attributes: z.object({ server_id: z.string() }) }) })
const renameBody = z.object({ data: z.object({ type: z.literal('virtual_machines'), attributes: z.object({ name: z.string() }) }) })
const keyBody = z.object({
  data: z.object({
    type: z.literal('api_keys'),
    attributes: z.object({ name: z.string(), read_only: z.boolean().optional(), allowed_ips: z.array(z.string()).optional() }),
  }),
})

const missing: Reply = {
  status: 404,
  body: { errors: [{ code: 'NOT_FOUND', status: '404', title: 'Not Found', detail: 'Resource not found' }] },
}

/** Every operation that the bot uses, on this world. `pageClamp` is the largest page the server gives. */
export function answerCall(world: World, call: Call, pageClamp: number): Reply {
  const [collection = '', id, ...rest] = call.path.replace(/^\//, '').split('/').map(decodeURIComponent)
  const route = `${call.method} ${[collection, ...(id === undefined ? [] : ['*']), ...rest.map(() => '*')].join('/')}`
  const paged = (rows: unknown[]) => ({ status: 200, body: { data: pageOf(rows, call.query, pageClamp), meta: {} } })

  if (collection === 'auth') return answerKeys(world, call, rest[0])
  switch (route) {
    case 'GET elastic_ips':
      return paged(
        world
          .elasticIps()
          .filter((row) => fits(call.query, { project: row.project.id, server: row.serverId, status: row.status }))
          .map((row) => wireElasticIp(row, world.server(row.serverId))),
      )
    case 'GET elastic_ips/*': {
      const row = world.elasticIps().find((candidate) => candidate.id === id)
      return row ? { status: 200, body: { data: wireElasticIp(row, world.server(row.serverId)), meta: {} } } : missing
    }
    case 'PATCH elastic_ips/*':
      return move(world, call, id ?? '')
    case 'GET servers':
      return paged(
        world.account.servers
          .filter((row) => fits(call.query, { project: row.project.id, region: row.site.slug, hostname: row.hostname }))
          .map(wireServer),
      )
    case 'GET servers/*': {
      const row = world.server(id ?? '')
      return row ? { status: 200, body: { data: wireServer(row), meta: {} } } : missing
    }
    case 'GET virtual_machines':
      return paged(world.account.virtualMachines.filter((row) => fits(call.query, { project: row.project.id })).map(wireVirtualMachine))
    case 'GET virtual_machines/*': {
      const row = world.account.virtualMachines.find((candidate) => candidate.id === id)
      return row ? { status: 200, body: { data: wireVirtualMachine(row), meta: {} } } : missing
    }
    case 'PATCH virtual_machines/*':
      return rename(world, call, id ?? '')
    case 'GET plans/*':
      return id === 'virtual_machines' ? { status: 200, body: { data: wirePlans() } } : missing
    case 'GET baselines':
      return { status: 200, body: { data: wireBaselines(), meta: {} } }
    case 'GET events':
      return paged(world.events.filter((row) => fits(call.query, { target_id: row.target.id, action: row.action })).map(wireEvent))
    default:
      return missing
  }
}

function move(world: World, { body }: Call, id: string): Reply {
  const parsed = moveBody.safeParse(body)
  if (!parsed.success) return refuse('VALIDATION_ERROR', 'server_id is required')
  const elasticIp = world.elasticIps().find((candidate) => candidate.id === id)
  const target = world.server(parsed.data.data.attributes.server_id)
  if (!elasticIp) return missing
  if (elasticIp.status !== 'active') return refuse('ELASTIC_IP_NOT_ACTIVE', 'Elastic IP must be active')
  if (!target || target.project.id !== elasticIp.project.id) return refuse('SERVER_NOT_IN_PROJECT', 'Server does not belong to the project')
  if (target.site.id !== (world.server(elasticIp.serverId)?.site.id ?? elasticIp.site.id))
    return refuse('SITE_MISMATCH', 'Server is in another site')
  world.startMove(elasticIp, target.id)
  return { status: 202, body: { data: wireElasticIp(elasticIp, target), meta: {} } }
}

function rename(world: World, { body }: Call, id: string): Reply {
  const parsed = renameBody.safeParse(body)
  if (!parsed.success) return refuse('VALIDATION_ERROR', 'name is required')
  const machine = world.account.virtualMachines.find((candidate) => candidate.id === id)
  if (!machine) return missing
  machine.name = parsed.data.data.attributes.name
  world.note('virtual_machine.update', { id: machine.id, name: machine.name })
  return { status: 200, body: { data: wireVirtualMachine(machine), meta: {} } }
}

function answerKeys(world: World, { method, body, by, now }: Call, id: string | undefined): Reply {
  if (method === 'GET') return { status: 200, body: { data: world.keys.map((row) => wireApiKey(row)), meta: {} } }
  const row = world.keys.find((candidate) => candidate.id === id)
  if (method === 'POST' && id === undefined) {
    const parsed = keyBody.safeParse(body)
    if (!parsed.success) return refuse('VALIDATION_ERROR', 'name is required')
    const { name, read_only: readOnly = false, allowed_ips: allowedIps = [] } = parsed.data.data.attributes
    const created = newKey({ name, readOnly, allowedIps, user: by.user, now })
    world.keys.push(created)
    world.note('api_key.create', { id: created.id, name })
    return { status: 201, body: { data: wireApiKey(created, created.token), meta: {} } }
  }
  if (!row) return missing
  if (method === 'DELETE') {
    world.keys.splice(world.keys.indexOf(row), 1)
    world.note('api_key.delete', { id: row.id, name: row.name })
    return { status: 200, body: { meta: {} } }
  }
  const attributes = keyBody.safeParse(body).data?.data.attributes
  if (attributes)
    Object.assign(row, {
      name: attributes.name,
      readOnly: attributes.read_only ?? row.readOnly,
      allowedIps: attributes.allowed_ips ?? row.allowedIps,
    })
  row.updatedAt = new Date(now).toISOString()
  if (method === 'PUT') row.token = randomBytes(18).toString('hex')
  return { status: 200, body: { data: wireApiKey(row, method === 'PUT' ? row.token : undefined), meta: {} } }
}

export function newKey(key: {
  name: string
  readOnly: boolean
  allowedIps: string[] | null
  user: ApiKeyRow['user']
  now: number
  token?: string
  lastUsedAt?: string | null
}): ApiKeyRow {
  const at = new Date(key.now).toISOString()
  return {
    id: `tok_${randomBytes(6).toString('hex')}`,
    name: key.name,
    token: key.token ?? randomBytes(18).toString('hex'),
    readOnly: key.readOnly,
    allowedIps: key.allowedIps,
    createdAt: at,
    updatedAt: at,
    lastUsedAt: key.lastUsedAt ?? null,
    user: key.user,
  }
}

function refuse(code: string, message: string): Reply {
  return { status: 422, body: { errors: [{ code, message }] } }
}

function fits(query: URLSearchParams, row: Record<string, string | null>): boolean {
  return Object.entries(row).every(([name, value]) => {
    const wanted = query.get(`filter[${name}]`)
    return wanted === null || wanted === value
  })
}

function pageOf<T>(rows: T[], query: URLSearchParams, clamp: number): T[] {
  const size = Math.max(1, Math.min(Number(query.get('page[size]') ?? 20) || 20, clamp))
  const number = Math.max(1, Number(query.get('page[number]') ?? 1) || 1)
  return rows.slice((number - 1) * size, number * size)
}
