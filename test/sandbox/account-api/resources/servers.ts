import { type Answer, notFound } from '../answer.ts'
import type { AuthorizedRequest } from '../authorized-request.ts'
import { pageOf } from '../paging.ts'
import type { Account } from '../routes.ts'
import { serverOnWire } from '../wire.ts'

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
