import { z } from 'zod'
import type { Server } from '../domain/account.ts'
import { loose, Named, regionNames, text, toNamed, toProject, toTime } from './fields.ts'
import type { CallOptions, Http } from './http.ts'
import { pathTo, readPages, resourceKind } from './resource.ts'

export const ServerResponse = z.object({
  id: z.string(),
  attributes: z.object({
    hostname: text,
    label: text,
    primary_ipv4: text,
    status: text,
    locked: z.boolean().nullish(),
    scheduled_deletion_at: loose,
    region: z.object({ city: text, country: text, site: Named.nullish() }).nullish(),
    project: Named.nullish(),
  }),
})

const server = resourceKind(ServerResponse, ({ id, attributes: wire }): Server => {
  const deletedAt = toTime(wire.scheduled_deletion_at)
  return {
    id,
    hostname: wire.hostname || undefined,
    label: wire.label || undefined,
    primaryIpv4: wire.primary_ipv4 || undefined,
    status: wire.status ?? undefined,
    locked: wire.locked ?? false,
    deletedAt,
    project: toProject(wire.project),
    site: wire.region?.site ? toNamed(wire.region.site) : undefined,
    ...regionNames(wire.region?.city, wire.region?.country),
  }
})

export function serversResource(http: Http) {
  return {
    /**
     * Lists servers, page by page (vendor's OpenAPI document, "GET /servers"; not in the interface specification 2023-06-01). A hostname is
     * not unique: servers of one project or of several can share it.
     */
    async list({ hostname, signal }: CallOptions & { hostname?: string } = {}): Promise<Server[]> {
      return readPages(http, server, { operation: 'servers.list', path: '/servers', query: { 'filter[hostname]': hostname }, signal })
    },

    /**
     * Reads one server (vendor's OpenAPI document, "GET /servers/{server_id}"; not in the interface specification 2023-06-01).
     * ApiError: 404 for an unknown server.
     */
    async get(id: string, { signal }: CallOptions = {}): Promise<Server> {
      return http.call({ operation: 'servers.get', method: 'GET', path: pathTo('/servers', id), signal, read: server.one })
    },
  }
}
