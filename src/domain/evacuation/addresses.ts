import type { SeenAssignment } from '../account/assignment.ts'
import { type ElasticIp, isBgp } from '../account/elastic-ip.ts'
import { projectName, sameProject, sameSite } from '../account/place.ts'
import type { Server } from '../account/server.ts'
import type { Finding } from '../change/finding.ts'
import type { Preflight } from '../change/preflight.ts'
import { checkMove } from '../elastic-ip-move/check.ts'
import { CheckFailed } from '../errors/errors.ts'
import type { EvacuatedIp, EvacuationInput } from './evacuation.ts'
import type { EvacuationFinding } from './findings.ts'

/** The reads of a preflight check. */
export interface EvacuationReads {
  /** Every Elastic IP of the account. It may show no server for an address while the server is not active. */
  all: ElasticIp[]
  /** The addresses that are meant although the account does not show them on the server. An address that could not be read is absent. */
  single: Map<string, ElasticIp | 'gone'>
  /** The addresses that Lockkeeper saw on the server before. Used only where the account shows none there. */
  seen: SeenAssignment[]
  source: Server | undefined
  /** What the server was called at the request. */
  sourceName?: string | undefined
  target: Server | undefined
}

/** Whether the check is for a new request, where a person can still choose, or repeats it before the writes. */
export type CheckFor = 'request' | 'writes'

/** One address of the server: how it can be moved, or why it cannot. */
export type CheckedAddress = { elasticIpId: string; address: string } & ({ move: Preflight<EvacuatedIp> } | { finding: Finding })

/**
 * Finds the addresses of a server, and whether each can be moved. Without a target it compares nothing with it. `bgp`: the addresses that the
 * server may announce, and that stay.
 */
export function checkAddresses(
  input: EvacuationInput,
  reads: EvacuationReads,
  checkFor: CheckFor,
): { from: { id: string; name: string }; checked: CheckedAddress[]; bgp: string[] } {
  const from = { id: reads.source?.id ?? input.serverId, name: nameOfSource(input, reads) }
  const checked = withinOneProject(checkEach(input, reads, from, checkFor), reads.target)
  // The target is in the same project and site as a server that is gone.
  const place = reads.source ?? reads.target
  return { from, checked, bgp: place ? bgpAddressesFor(reads.all, place).map(({ address }) => address) : [] }
}

/**
 * Returns the BGP addresses that a server may announce: those that are not known to be in another project or site. Which servers announce an
 * address is not in the list.
 */
export function bgpAddressesFor(all: ElasticIp[], server: Pick<Server, 'project' | 'site'>): ElasticIp[] {
  return all.filter(
    (elasticIp) =>
      isBgp(elasticIp) &&
      sameProject(elasticIp.project, server.project) !== false &&
      sameSite({ location: elasticIp.site, assigned: undefined, target: server.site }) !== false,
  )
}

/** If the account no longer shows the server, returns the name that Lockkeeper saw. */
function nameOfSource(
  { serverId }: Pick<EvacuationInput, 'serverId'>,
  { source, sourceName, seen, all }: Pick<EvacuationReads, 'source' | 'sourceName' | 'seen' | 'all'>,
): string {
  const shown = all.find(({ server }) => server?.id === serverId)?.server?.hostname
  return source?.hostname ?? source?.label ?? shown ?? seen[0]?.serverName ?? sourceName ?? serverId
}

function checkEach(
  input: EvacuationInput,
  reads: EvacuationReads,
  from: { id: string; name: string },
  checkFor: CheckFor,
): CheckedAddress[] {
  const check = (elasticIp: ElasticIp, agoMs?: number): CheckedAddress => checkAddress(elasticIp, { input, reads, from, agoMs })
  const seenById = new Map(reads.seen.map((each) => [each.elasticIpId, each]))
  const asked = new Set(input.elasticIpIds)
  // The server that a BGP address shows says nothing about who announces it.
  const isMeant = (elasticIp: ElasticIp) => asked.has(elasticIp.id) || !isBgp(elasticIp)
  const onServer = reads.all.filter((elasticIp) => elasticIp.server?.id === from.id && isMeant(elasticIp))
  const single = [...reads.single].flatMap(([id, read]): CheckedAddress[] => {
    const seen = seenById.get(id)
    const address = read === 'gone' ? (seen?.address ?? id) : read.address
    if (read === 'gone')
      return [{ elasticIpId: id, address, finding: { code: 'no-elastic-ip', elasticIpId: id, ...(seen ? { address } : {}) } }]
    // An address that was only seen there before, and is on another server now, does not belong to this server.
    if (!isMeant(read) || (read.server && read.server.id !== from.id && !asked.has(id))) return []
    if (!read.server && !seen && !isBgp(read) && checkFor === 'request')
      return [{ elasticIpId: id, address, finding: { code: 'not-seen-there', address, server: from.name } satisfies EvacuationFinding }]
    return [check(read, seen?.agoMs)]
  })
  // Another id of an address, as somebody can send it, reads as the same address.
  return eachOnce([...onServer.map((elasticIp) => check(elasticIp)), ...single])
}

function eachOnce(checked: CheckedAddress[]): CheckedAddress[] {
  return [...Map.groupBy(checked, ({ elasticIpId }) => elasticIpId).values()].flatMap((same) => same.slice(0, 1))
}

interface AddressCheck {
  input: EvacuationInput
  reads: EvacuationReads
  from: { id: string; name: string }
  agoMs: number | undefined
}

function checkAddress(elasticIp: ElasticIp, { input, reads: { source, target }, from, agoMs }: AddressCheck): CheckedAddress {
  const { id: elasticIpId, address, server } = elasticIp
  if (server && server.id !== from.id) {
    const now = server.hostname ?? server.id
    return { elasticIpId, address, finding: { code: 'not-on-server', address, server: from.name, now } satisfies EvacuationFinding }
  }
  const assigned = { ...elasticIp, server: { id: from.id, hostname: from.name } }
  try {
    const move = checkMove({ elasticIpId, serverId: input.targetId }, { elasticIp: assigned, target, assigned: source })
    const facts: EvacuatedIp = {
      ...move.facts,
      ...(server ? {} : { showsNoServer: true as const }),
      ...(agoMs === undefined || server ? {} : { seenAgoMs: agoMs }),
    }
    return { elasticIpId, address, move: { ...move, facts } }
  } catch (error) {
    if (!(error instanceof CheckFailed)) throw error
    return { elasticIpId, address, finding: error.finding }
  }
}

/** One rule of the policy covers the whole evacuation, so all of it is in one project. */
function withinOneProject(checked: CheckedAddress[], target: Server | undefined): CheckedAddress[] {
  const project = target?.project ?? checked.flatMap((each) => ('move' in each ? [each.move.facts.project] : [])).find((each) => each)
  return checked.map((each) => {
    if (!('move' in each) || each.move.facts.project?.id === project?.id) return each
    const { elasticIpId, address, move } = each
    const shown = move.facts.project ? projectName(move.facts.project) : 'unknown'
    return { elasticIpId, address, finding: { code: 'project-of-others', address, project: shown } satisfies EvacuationFinding }
  })
}
