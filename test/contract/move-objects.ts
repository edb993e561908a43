import fc from 'fast-check'
import { ElasticIpResponse } from '../../src/account-api/elastic-ips.ts'
import { ServerResponse } from '../../src/account-api/servers.ts'
import { elasticIps } from './documented/elastic-ips.ts'
import { servers } from './documented/servers.ts'
import { answersOf, type Wire } from './generate.ts'
import { type MoveObjects, shown } from './visible.ts'
import { elasticIpWords, serverWords } from './words.ts'

export const anElasticIp = answersOf(ElasticIpResponse, elasticIpWords).map((wire) => withId(wire as Wire))
export const aServer = answersOf(ServerResponse, serverWords) as fc.Arbitrary<Wire>

/** Nobody can ask for an Elastic IP that has no id yet. */
function withId(elasticIp: Wire): Wire {
  return shown(elasticIp, 'id') === undefined ? { ...elasticIp, id: 'eip_KeQbB4BoO6x10' } : elasticIp
}

/** The objects of a move of this Elastic IP to this server. `other` stands for the server that it is on, unless that is the target. */
export function assemble(elasticIp: Wire, target: Wire, other: Wire | undefined): MoveObjects {
  const on = shown(elasticIp, 'attributes', 'server', 'id')
  if (on === target.id) return { elasticIp, target, assigned: target }
  return { elasticIp, target, assigned: on === undefined || !other ? undefined : { ...other, id: on } }
}

export const moveObjects: fc.Arbitrary<MoveObjects> = fc
  .tuple(anElasticIp, aServer, fc.option(aServer, { nil: undefined, freq: 5 }))
  .map((wires) => assemble(...wires))

/**
 * Every documented Elastic IP that can be asked for, to every documented server, from one that cannot be read and from as many of the
 * documented ones.
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
