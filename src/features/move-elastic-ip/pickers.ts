import type { PlainTextOption } from '@slack/web-api'
import { type ElasticIp, isBgp } from '../../domain/account/elastic-ip.ts'
import type { Server } from '../../domain/account/server.ts'
import { canMoveTo } from '../../domain/elastic-ip-move/can-move-to.ts'
import type { Missing } from '../../domain/errors/missing.ts'
import { type Candidate, candidatesOf, offer, placeOf, preset } from '../../slack/blocks/picker.ts'
import { serverCandidate, serverCandidates } from '../../slack/blocks/server-candidates.ts'
import type { Choices } from '../../slack/commands/handlers.ts'

/** Offers the Elastic IPs, without BGP addresses. */
export function elasticIpChoices(all: ElasticIp[], typed: string, missing?: Missing): Choices {
  const offered = [...elasticIpCandidates(all)].filter(([elasticIp]) => !isBgp(elasticIp))
  return offer(
    offered.map(([, candidate]) => candidate),
    typed,
    missing,
  )
}

/** Offers the servers that this Elastic IP can move to. Offers every server while none is chosen. */
export function serverChoices(all: Server[], typed: string, elasticIp: ElasticIp | undefined, missing?: Missing): Choices {
  const candidates = serverCandidates(all)
  const assigned = elasticIp && serverOf(elasticIp, all)
  const targets = elasticIp ? [...candidates].filter(([target]) => canMoveTo(elasticIp, target, assigned)) : [...candidates]
  return offer(
    targets.map(([, candidate]) => candidate),
    typed,
    missing,
  )
}

export function elasticIpOption(elasticIp: ElasticIp): PlainTextOption | undefined {
  return preset(elasticIpCandidate(elasticIp))
}

export function serverOption(server: Server): PlainTextOption | undefined {
  return preset(serverCandidate(server))
}

/** Finds the server that the Elastic IP is on. */
export function serverOf(elasticIp: ElasticIp, all: Server[]): Server | undefined {
  return all.find(({ id }) => id === elasticIp.server?.id)
}

const elasticIpCandidates = candidatesOf(elasticIpCandidate)

function elasticIpCandidate({ id, address, status, server, project, site }: ElasticIp): Candidate {
  // The account also shows none for the addresses of a server that is not active.
  const where = server ? ` on ${server.hostname ?? server.id}` : ', no server shown'
  return {
    value: id,
    text: `${address}${where}${status === 'active' ? '' : ` (${status})`}`,
    description: [placeOf(project, site?.slug ?? site?.name), address === id ? undefined : id].filter(Boolean).join('  ·  '),
    terms: [server?.id, project?.slug, site?.name],
  }
}
