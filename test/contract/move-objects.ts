import fc from 'fast-check'
import { ElasticIpResponse } from '../../src/account/elastic-ips.ts'
import { ServerResponse } from '../../src/account/servers.ts'
import { elasticIps, servers } from './documented.ts'
import { answersOf, type Wire } from './generate.ts'
import { type MoveObjects, shown } from './visible.ts'
import { elasticIpWords, serverWords } from './words.ts'

export const anElasticIp = answersOf(ElasticIpResponse, elasticIpWords).map((wire) => withId(wire as Wire))
export const aServer = answersOf(ServerResponse, serverWords) as fc.Arbitrary<Wire>

/** Gives an Elastic IP an id, because one without an id cannot be requested. */
function withId(elasticIp: Wire): Wire {
  return shown(elasticIp, 'id') === undefined ? { ...elasticIp, id: 'eip_KeQbB4BoO6x10' } : elasticIp
}

/** Builds the objects of a move. `other` becomes the server that the Elastic IP is on, unless that is the target. */
export function assemble(elasticIp: Wire, target: Wire, other: Wire | undefined): MoveObjects {
  const on = shown(elasticIp, 'attributes', 'server', 'id')
  if (on === target.id) return { elasticIp, target, assigned: target }
  return { elasticIp, target, assigned: on === undefined || !other ? undefined : { ...other, id: on } }
}

export const moveObjects: fc.Arbitrary<MoveObjects> = fc
  .tuple(anElasticIp, aServer, fc.option(aServer, { nil: undefined, freq: 5 }))
  .map((wires) => assemble(...wires))

/**
 * Combines every documented Elastic IP that has an id with every documented server as the target. The old server is one that cannot be
 * read, or one of the first `from` documented servers.
 */
export function documentedMoveObjects(from = servers.length): MoveObjects[] {
  const targets = servers.map(({ wire }, index) => ({ ...(wire as Wire), id: `sv_target${index}` }))
  const others = [undefined, ...servers.slice(0, from).map(({ wire }) => wire as Wire)]
  return elasticIps
    .filter(({ reads }) => typeof reads !== 'string')
    .flatMap(({ wire }) => targets.flatMap((target) => others.map((other) => assemble(wire as Wire, target, other))))
}

export function inputOf({ elasticIp, target }: MoveObjects): { elasticIpId: string; serverId: string } {
  return { elasticIpId: String(elasticIp.id), serverId: String(target.id) }
}
