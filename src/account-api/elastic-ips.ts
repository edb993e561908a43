import { z } from 'zod'
import { type ElasticIp, statusNotTold } from '../domain/elastic-ip.ts'
import type { CallOptions, WriteOptions } from './call.ts'
import { Named, text, toNamed, toProject } from './fields.ts'
import type { Http } from './http.ts'
import { readPages } from './pages.ts'
import { pathTo } from './path.ts'
import { type ReportSkipped, resourceKind } from './resource-kind.ts'

export const ElasticIpResponse = z.object({
  /** Null while it is being provisioned. */
  id: text,
  attributes: z.object({
    address: text,
    status: text,
    server: z.object({ id: text, hostname: text }).nullish(),
    project: Named.nullish(),
    region: z.object({ location: Named.nullish() }).nullish(),
  }),
})

const elasticIp = resourceKind(ElasticIpResponse, ({ id, attributes: wire }): ElasticIp | undefined => {
  if (!id) return undefined
  return {
    id,
    address: wire.address || id,
    status: wire.status || statusNotTold,
    server: wire.server?.id ? { id: wire.server.id, hostname: wire.server.hostname || undefined } : undefined,
    project: toProject(wire.project),
    site: wire.region?.location ? toNamed(wire.region.location) : undefined,
  }
})

export interface ElasticIpFilter extends CallOptions {
  projectId?: string | undefined
  serverId?: string | undefined
  /** An open set; `moving` gives the moves under way. */
  status?: string | undefined
}

export function elasticIpsResource(http: Http, reportSkipped: ReportSkipped) {
  return {
    /** Those still being provisioned, which have no id yet, are left out. */
    async list({ projectId, serverId, status, signal }: ElasticIpFilter = {}): Promise<ElasticIp[]> {
      const query = { 'filter[project]': projectId, 'filter[server]': serverId, 'filter[status]': status }
      return readPages(http, elasticIp, { operation: 'elasticIps.list', path: '/elastic_ips', query, signal }, reportSkipped)
    },

    async get(id: string, { signal }: CallOptions = {}): Promise<ElasticIp> {
      return http.call({ operation: 'elasticIps.get', method: 'GET', path: pathTo('/elastic_ips', id), signal, read: elasticIp.one })
    },

    /**
     * Starts a move (interface specification, "PATCH /elastic_ips/{elastic_ip_id}"). The answer already shows `moving` and the target:
     * the move is done when a later read shows `active` *and* the target. Refusals are ApiError 422 with a code: `ELASTIC_IP_NOT_ACTIVE`,
     * `SERVER_NOT_IN_PROJECT`, `SITE_NOT_SUPPORTED`, `SERVER_NETWORK_INCOMPATIBLE`, `SITE_MISMATCH`; 404 for an unknown Elastic IP.
     */
    async move(id: string, serverId: string, { signal, onAnswer }: WriteOptions = {}): Promise<ElasticIp> {
      return http.call({
        operation: 'elasticIps.move',
        method: 'PATCH',
        path: pathTo('/elastic_ips', id),
        body: { data: { type: 'elastic_ips', attributes: { server_id: serverId } } },
        signal,
        onAnswer,
        read: elasticIp.one,
      })
    },
  }
}
