import type { List } from '../domain/list.ts'
import { type CallOptions, createHttp, type Http, type HttpOptions, type WriteOptions } from './http.ts'
import * as kind from './objects.ts'
import { nothingIfAbsent, pathTo, readList, readPages } from './resource.ts'

interface ElasticIpFilter extends CallOptions {
  status?: string
  /** Reads at most so many pages of 100 Elastic IPs. Default: the whole list. */
  pages?: number
  /** Stops once it has the Elastic IPs with these ids. */
  wanted?: string[]
}

interface NewApiKey {
  name: string
  readOnly?: boolean
  /** CIDR ranges too. An empty list allows any address. */
  allowedIps?: string[]
}

export interface AccountApiOptions extends HttpOptions {
  /** Who else gets what was read: every complete list, and every Elastic IP of a part of it or that was read by itself. */
  elasticIpReads?: { onComplete?: (all: kind.ElasticIp[]) => void; onOne?: (one: kind.ElasticIp) => void }
}

/**
 * A read is sent up to three times and a write exactly once. Every operation throws one of these:
 * - ApiError: the account API rejected the request. Carries the status and the error codes: 404 for an id that it does not know.
 * - ApiContractError: the account API answered, but the answer does not fit the schema.
 * - ApiUnreachableError: no answer came. `requestSent` says whether the request may have been carried out.
 * - UserError: the id is impossible. Nothing was sent.
 */
export function createAccountApi({ elasticIpReads, ...options }: AccountApiOptions) {
  const http = createHttp(options)
  // Closes the connections after the running calls have ended. To close sooner, abort those calls with their signals first.
  return { ...accountOver(http, elasticIpReads), close: http.close }
}
export type AccountApi = ReturnType<typeof createAccountApi>

/**
 * The operations ("Infrastructure Account Management Service: Interface Specification", interface version 2023-06-01, and for paths that it lacks the
 * vendor's OpenAPI document).
 */
export function accountOver(http: Http, { onComplete = () => {}, onOne = () => {} }: AccountApiOptions['elasticIpReads'] = {}) {
  return {
    /** ApiError: 403 FEATURE_NOT_ENABLED: the team lacks the feature flag `elastic_ips`. */
    elasticIps: {
      /** Leaves out Elastic IPs without an id, which are still being provisioned. */
      async list({ status, pages, wanted, signal }: ElasticIpFilter = {}): Promise<List<kind.ElasticIp>> {
        const request = { operation: 'elasticIps.list', path: '/elastic_ips', query: { 'filter[status]': status }, pages, wanted, signal }
        const found = await readPages(http, kind.elasticIp, request)
        if (found.cut !== undefined) return found
        if (pages === undefined && wanted === undefined && status === undefined) onComplete(found.items)
        else for (const each of found.items) onOne(each)
        return found
      },

      async get(id: string, { signal }: CallOptions = {}): Promise<kind.ElasticIp> {
        const path = pathTo('/elastic_ips', id)
        const found = await http.call({ operation: 'elasticIps.get', method: 'GET', path, signal, read: kind.elasticIp.one })
        onOne(found)
        return found
      },

      /**
       * Asynchronous: returns the Elastic IP with status `moving` and the target in `server`. The move is done when a later read shows status `active`
       * *and* the target. Both servers must be in the same project and site. ApiError: 422 with `ELASTIC_IP_NOT_ACTIVE`, `SERVER_NOT_IN_PROJECT`,
       * `SITE_NOT_SUPPORTED`, `SERVER_NETWORK_INCOMPATIBLE`, `SITE_MISMATCH` or `BGP_ELASTIC_IP_NOT_UPDATABLE`.
       */
      async move(id: string, serverId: string, options: WriteOptions = {}): Promise<kind.ElasticIp> {
        const body = { data: { type: 'elastic_ips', attributes: { server_id: serverId } } }
        const path = pathTo('/elastic_ips', id)
        return http.call({ operation: 'elasticIps.move', method: 'PATCH', path, body, ...options, read: kind.elasticIp.one })
      },
    },

    servers: {
      /** A hostname is not unique: servers of one project or of several can share it. */
      async list({ hostname, signal }: CallOptions & { hostname?: string } = {}): Promise<List<kind.Server>> {
        const query = { 'filter[hostname]': hostname }
        return readPages(http, kind.server, { operation: 'servers.list', path: '/servers', query, hasTotal: true, signal })
      },

      async get(id: string, { signal }: CallOptions = {}): Promise<kind.Server> {
        return http.call({ operation: 'servers.get', method: 'GET', path: pathTo('/servers', id), signal, read: kind.server.one })
      },
    },

    /** Their credentials, the other extra field of a virtual machine, are never requested or read. */
    virtualMachines: {
      async list({ signal }: CallOptions = {}): Promise<List<kind.VirtualMachine>> {
        const query = { 'extra_fields[virtual_machines]': 'pending_restart' }
        const request = { operation: 'virtualMachines.list', path: '/virtual_machines', query, hasTotal: true, signal }
        return readPages(http, kind.virtualMachine, request)
      },

      async get(id: string, { signal }: CallOptions = {}): Promise<kind.VirtualMachine> {
        const path = pathTo('/virtual_machines', id)
        return http.call({ operation: 'virtualMachines.get', method: 'GET', path, signal, read: kind.virtualMachine.one })
      },

      /**
       * The answer may omit most fields but the name. The same operation can resize the machine, change its billing or replace its tags, so the body is
       * written out here and takes only the name from callers. ApiError: 409: a resize is running.
       */
      async rename(id: string, name: string, options: WriteOptions = {}): Promise<kind.VirtualMachine> {
        const body = { data: { type: 'virtual_machines', id, attributes: { name } } }
        const path = pathTo('/virtual_machines', id)
        return http.call({ operation: 'virtualMachines.rename', method: 'PATCH', path, body, ...options, read: kind.virtualMachine.one })
      },
    },

    plans: {
      async list({ signal }: CallOptions = {}): Promise<List<kind.Plan>> {
        return readList(http, kind.plan, { operation: 'plans.list', path: '/plans/virtual_machines', signal })
      },
    },

    baselines: {
      /** A preview. ApiError: 403 FEATURE_NOT_ENABLED: the team lacks the feature flag `baselines_api`. */
      async list({ signal }: CallOptions = {}): Promise<List<kind.Baseline>> {
        return readList(http, kind.baseline, { operation: 'baselines.list', path: '/baselines', signal })
      },
    },

    apiKeys: {
      /** All keys, without their tokens. */
      async list(options: CallOptions = {}): Promise<List<kind.ApiKey>> {
        return readList(http, kind.apiKey, { operation: 'apiKeys.list', path: '/auth/api_keys', ...options })
      },

      /** Returns the key and its token. Not idempotent: if the answer is lost, find the key by its name. */
      async create({ name, readOnly, allowedIps }: NewApiKey, options: WriteOptions = {}) {
        const body = { data: { type: 'api_keys', attributes: { name, read_only: readOnly, allowed_ips: allowedIps } } }
        const path = '/auth/api_keys'
        return http.call({ operation: 'apiKeys.create', method: 'POST', path, body, ...options, read: kind.issuedApiKey.one })
      },

      /** Replaces the token. The old one stops working at once, even if the answer is lost. */
      async rotate(id: string, name: string, options: WriteOptions = {}) {
        const body = { data: { id, type: 'api_keys', attributes: { name } } }
        const path = pathTo('/auth/api_keys', id)
        return http.call({ operation: 'apiKeys.rotate', method: 'PUT', path, body, ...options, read: kind.issuedApiKey.one })
      },

      /** Changes the name alone. Its token stays. */
      async rename(id: string, name: string, options: WriteOptions = {}) {
        const body = { data: { id, type: 'api_keys', attributes: { name } } }
        const path = pathTo('/auth/api_keys', id)
        return http.call({ operation: 'apiKeys.rename', method: 'PATCH', path, body, ...options, read: kind.apiKey.one })
      },

      /** Succeeds if the key no longer exists (404), so it is safe to repeat. */
      async delete(id: string, options: WriteOptions = {}): Promise<void> {
        const path = pathTo('/auth/api_keys', id)
        const deleting = http.call({ operation: 'apiKeys.delete', method: 'DELETE', path, ...options, read: () => undefined })
        await deleting.catch(nothingIfAbsent)
      },
    },
  }
}
