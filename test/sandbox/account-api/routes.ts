import { type Answer, Refusal, refusal } from './answer.ts'
import type { AuthorizedRequest } from './authorized-request.ts'
import type { ApiKeyState, FixedResource } from './data/model.ts'
import { createApiKey, deleteApiKey, listApiKeys, rotateApiKey, updateApiKey } from './resources/api-keys.ts'
import { getElasticIp, listElasticIps, moveElasticIp } from './resources/elastic-ips.ts'
import { listEvents } from './resources/events.ts'
import { getServer, listServers } from './resources/servers.ts'
import { getVirtualMachine, listVirtualMachines, updateVirtualMachine } from './resources/virtual-machines.ts'
import type { World } from './world.ts'

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
  /** As sent, without the query. */
  path: string
  query: Record<string, string>
  /** The `Authorization` header. */
  token: string | undefined
  body: unknown
}

/** Answers a request: checks its key and its rights, and finds the route. */
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
