import { z } from 'zod'
import { type Answer, notFound, refusal } from '../answer.ts'
import { type AuthorizedRequest, attributesOf } from '../authorized-request.ts'
import type { ElasticIpState } from '../data/model.ts'
import { pageOf } from '../paging.ts'
import type { Account } from '../routes.ts'
import { elasticIpOnWire } from '../wire.ts'

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
  const elasticIp = existing(world.elasticIp(id))
  return { status: 200, body: { data: elasticIpOnWire(world.data, elasticIp, world.shown(elasticIp)), meta: {} } }
}

/** Applies the rules of the interface specification, "Elastic IP status", with the refusals of the public reference. */
export function moveElasticIp({ world, record }: Account, request: AuthorizedRequest): Answer {
  const elasticIp = existing(world.elasticIp(request.params[0] ?? ''))
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

function existing(elasticIp: ElasticIpState | undefined): ElasticIpState {
  if (!elasticIp) throw notFound('Elastic IP')
  return elasticIp
}
