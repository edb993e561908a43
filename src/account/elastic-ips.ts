import { z } from 'zod'
import { type ElasticIp, statusNotShown } from '../domain/account.ts'
import { Named, regionNames, text, toNamed, toProject } from './fields.ts'
import type { CallOptions, Http, WriteOptions } from './http.ts'
import { pathTo, readPages, resourceKind } from './resource.ts'

export const ElasticIpResponse = z.object({
  /** The id is null while the Elastic IP is being provisioned. */
  id: text,
  attributes: z.object({
    address: text,
    status: text,
    mode: text,
    server: z.object({ id: text, hostname: text }).nullish(),
    project: Named.nullish(),
    region: z.object({ name: text, location: Named.nullish() }).nullish(),
  }),
})

const elasticIp = resourceKind(ElasticIpResponse, ({ id, attributes: wire }): ElasticIp | undefined => {
  if (!id) return undefined
  return {
    id,
    address: wire.address || id,
    status: wire.status || statusNotShown,
    ...(wire.mode ? { mode: wire.mode } : {}),
    server: wire.server?.id ? { id: wire.server.id, hostname: wire.server.hostname || undefined } : undefined,
    project: toProject(wire.project),
    site: wire.region?.location ? toNamed(wire.region.location) : undefined,
    ...regionNames(wire.region?.name),
  }
})

interface ElasticIpFilter extends CallOptions {
  /** One of an open set of values. `moving` selects the moves in progress. */
  status?: string
  /** Reads at most so many pages of 100 Elastic IPs. Default: the whole list. */
  pages?: number
  /** Stops once it has the Elastic IPs with these ids. */
  wanted?: string[]
}

/** Who else gets what was read: every complete list, and every Elastic IP of a part of it or that was read by itself. */
export interface ElasticIpReads {
  onComplete?: (all: ElasticIp[]) => void
  onOne?: (one: ElasticIp) => void
}

export function elasticIpsResource(http: Http, { onComplete = () => {}, onOne = () => {} }: ElasticIpReads = {}) {
  return {
    /**
     * Lists Elastic IPs, page by page (vendor's OpenAPI document, "GET /elastic_ips"; not in the interface specification 2023-06-01).
     * Leaves out Elastic IPs without an id, which are still being provisioned.
     * ApiError: 403 FEATURE_NOT_ENABLED: the team lacks the feature flag `elastic_ips`.
     */
    async list({ status, pages, wanted, signal }: ElasticIpFilter = {}): Promise<ElasticIp[]> {
      const request = { operation: 'elasticIps.list', path: '/elastic_ips', query: { 'filter[status]': status }, pages, wanted, signal }
      const found = await readPages(http, elasticIp, request)
      if (pages === undefined && wanted === undefined && status === undefined) onComplete(found)
      else for (const each of found) onOne(each)
      return found
    },

    /**
     * Reads one Elastic IP (vendor's OpenAPI document, "GET /elastic_ips/{elastic_ip_id}"; not in the interface specification 2023-06-01).
     * ApiError: 404 for an unknown Elastic IP.
     */
    async get(id: string, { signal }: CallOptions = {}): Promise<ElasticIp> {
      const path = pathTo('/elastic_ips', id)
      const found = await http.call({ operation: 'elasticIps.get', method: 'GET', path, signal, read: elasticIp.one })
      onOne(found)
      return found
    },

    /**
     * Moves an Elastic IP (interface specification 2023-06-01, "PATCH /elastic_ips/{elastic_ip_id}") to another server of the same project
     * and site. The move is asynchronous: this returns the Elastic IP with status `moving` and the target in `server`. The move is done
     * when a later read shows status `active` *and* the target.
     * ApiError: 404 for an unknown Elastic IP; 422 with `ELASTIC_IP_NOT_ACTIVE`, `SERVER_NOT_IN_PROJECT`, `SITE_NOT_SUPPORTED`,
     * `SERVER_NETWORK_INCOMPATIBLE`, `SITE_MISMATCH` or `BGP_ELASTIC_IP_NOT_UPDATABLE`.
     */
    async move(id: string, serverId: string, options: WriteOptions = {}): Promise<ElasticIp> {
      const body = { data: { type: 'elastic_ips', attributes: { server_id: serverId } } }
      const path = pathTo('/elastic_ips', id)
      return http.call({ operation: 'elasticIps.move', method: 'PATCH', path, body, ...options, read: elasticIp.one })
    },
  }
}
