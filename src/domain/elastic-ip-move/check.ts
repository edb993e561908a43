import { type ElasticIp, isBgp, statusNotShown } from '../account/elastic-ip.ts'
import { distinctLabels, type ProjectRef, type Slugged, sameProject, sameSite } from '../account/place.ts'
import type { Server } from '../account/server.ts'
import type { Preflight } from '../change/preflight.ts'
import { CheckFailed } from '../errors/errors.ts'
import type { MoveFacts, MoveInput } from './elastic-ip-move.ts'
import type { MoveFinding } from './findings.ts'
import { isNotOn, targetWarnings } from './warnings.ts'
import { moveWords } from './words.ts'

/** The reads of a preflight check. A member is undefined if the account API did not answer, or if the read was not needed. */
export interface MoveReads {
  elasticIp: ElasticIp | undefined
  target: Server | undefined
  /** The server that the Elastic IP is assigned to. */
  assigned: Server | undefined
}

/** Whether the assigned server must be read, because the Elastic IP and the target alone do not show that they are in one site. */
export function needsAssignedServer({ elasticIp, target }: Pick<MoveReads, 'elasticIp' | 'target'>): boolean {
  if (!elasticIp?.server || !target || elasticIp.server.id === target.id) return false
  return sameSite({ location: elasticIp.site, assigned: undefined, target: target.site }) !== true
}

/**
 * Checks whether the move can be requested. Throws CheckFailed if it cannot. Lists what was not read or cannot be compared, and does not
 * refuse it.
 */
export function checkMove(typed: MoveInput, reads: MoveReads): Preflight<MoveFacts, MoveInput> {
  const { elasticIp, target } = reads
  const input = { elasticIpId: elasticIp?.id ?? typed.elasticIpId, serverId: target?.id ?? typed.serverId }
  const unchecked: MoveFinding[] = []
  if (!elasticIp && isBgp({ id: input.elasticIpId })) refuseMove({ code: 'bgp-address', address: input.elasticIpId })
  if (elasticIp) refuseUnlessMovable(elasticIp)
  else unchecked.push({ code: 'elastic-ip-unread', elasticIpId: input.elasticIpId })
  if (elasticIp?.status === statusNotShown) unchecked.push({ code: 'status-not-shown', address: elasticIp.address })
  if (!target) unchecked.push({ code: 'server-unread', serverId: input.serverId })
  if (elasticIp && target) unchecked.push(...compare({ elasticIp, target, assigned: reads.assigned }))
  const noServer = elasticIp && target && !elasticIp.server ? [{ code: 'server-not-shown' as const, address: elasticIp.address }] : []
  const warnings = [...noServer, ...(target ? targetWarnings(target) : [])]
  return { facts: factsOf(input, reads), input, unchecked, warnings, incomplete: !elasticIp || !target }
}

function factsOf(input: MoveInput, { elasticIp, target, assigned }: MoveReads): MoveFacts {
  const from = elasticIp?.server
  const project = elasticIp?.project ?? target?.project
  const site = elasticIp?.site?.slug ?? assigned?.site?.slug ?? target?.site?.slug
  return {
    elasticIpId: input.elasticIpId,
    ...(elasticIp && elasticIp.address !== elasticIp.id ? { address: elasticIp.address } : {}),
    ...(from ? { from: { id: from.id, name: from.hostname ?? from.id } } : {}),
    ...(elasticIp && !from ? { showsNoServer: true as const } : {}),
    to: { id: input.serverId, name: target?.hostname ?? target?.label ?? input.serverId },
    ...(target?.primaryIpv4 ? { toAddress: target.primaryIpv4 } : {}),
    ...(target && isNotOn(target) ? { toStatus: target.status } : {}),
    ...(project ? { project: shownMembers(project) } : {}),
    ...(site ? { site } : {}),
  }
}

function shownMembers({ id, name, slug }: ProjectRef) {
  return { id, ...(name ? { name } : {}), ...(slug ? { slug } : {}) }
}

/** Throws CheckFailed with the finding and its words. */
export function refuseMove(finding: MoveFinding): never {
  throw new CheckFailed(finding, moveWords(finding))
}

/** Returns why an Elastic IP can't be moved, wherever to. Undefined if neither its mode nor its status prevents it. */
export function whyNotMovable({ id, mode, address, status, server }: ElasticIp): MoveFinding | undefined {
  if (isBgp({ id, mode })) return { code: 'bgp-address', address }
  if (status === 'moving') return { code: 'already-moving', address, ...(server ? { server: server.hostname ?? server.id } : {}) }
  return status === 'active' || status === statusNotShown ? undefined : { code: 'not-active', address, status }
}

function refuseUnlessMovable(elasticIp: ElasticIp): void {
  const finding = whyNotMovable(elasticIp)
  if (finding) refuseMove(finding)
}

/** Returns what could not be compared. */
function compare({ elasticIp, target, assigned }: { elasticIp: ElasticIp; target: Server; assigned: Server | undefined }): MoveFinding[] {
  const server = target.hostname ?? target.id
  const { address } = elasticIp
  if (elasticIp.server?.id === target.id) refuseMove({ code: 'already-there', address, server })

  const inProject = sameProject(elasticIp.project, target.project)
  if (inProject === false && elasticIp.project && target.project) {
    const [serverProject, project] = distinctLabels(target.project, elasticIp.project, ['name', 'slug'])
    refuseMove({ code: 'other-project', address, project, server, serverProject })
  }
  const inSite = sameSite({ location: elasticIp.site, assigned: assigned?.site, target: target.site })
  if (inSite === false) refuseMove(otherSite({ elasticIp, target, assigned }))

  const unchecked: MoveFinding[] = []
  if (inProject === undefined) unchecked.push({ code: 'project-not-compared', server, ...sharedSlug(elasticIp.project, target.project) })
  if (inSite === undefined)
    unchecked.push({ code: 'site-not-compared', server, ...sharedSlug(assigned?.site ?? elasticIp.site, target.site) })
  return unchecked
}

/** Names the two objects whose sites differ, so that a person can check both. */
function otherSite({ elasticIp, target, assigned }: { elasticIp: ElasticIp; target: Server; assigned: Server | undefined }): MoveFinding {
  const serversDiffer = sameSite({ location: undefined, assigned: assigned?.site, target: target.site }) === false
  const [serverSite, site] = distinctLabels(target.site ?? {}, (serversDiffer ? assigned?.site : elasticIp.site) ?? {}, ['slug'])
  const holder = assigned && serversDiffer ? { holder: assigned.hostname ?? assigned.id } : {}
  return { code: 'other-site', address: elasticIp.address, site, server: target.hostname ?? target.id, serverSite, ...holder }
}

/** Returns the slug if both have the same one. Their ids differ then, because equal ids would have settled the comparison. */
function sharedSlug(a: Slugged, b: Slugged): { slug?: string } {
  return a?.slug && b?.slug && a.slug.toLowerCase() === b.slug.toLowerCase() ? { slug: b.slug } : {}
}
