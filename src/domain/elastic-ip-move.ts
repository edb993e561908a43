import { z } from 'zod'
import type { Preflight } from './change.ts'
import { type ElasticIp, statusNotTold } from './elastic-ip.ts'
import { type MoveFinding, moveWords } from './elastic-ip-move-findings.ts'
import { targetWarnings } from './elastic-ip-move-warnings.ts'
import { CheckFailed } from './errors.ts'
import { type ProjectRef, type Slugged, sameProject, sameSite, toldApart } from './place.ts'
import type { Server } from './server.ts'

export const MoveInput = z.object({ elasticIpId: z.string(), serverId: z.string() })
export type MoveInput = z.infer<typeof MoveInput>

const NamedServer = z.object({ id: z.string(), name: z.string() })

/** The account, as far as it matters to a move. What could not be read, or is not shown, is absent. */
export const MoveFacts = z.object({
  elasticIpId: z.string(),
  address: z.string().optional(),
  from: NamedServer.optional(),
  /** The account showed no server for the Elastic IP when it was read: it is unassigned, or its server is not active. */
  showsNoServer: z.literal(true).optional(),
  to: NamedServer,
  toAddress: z.string().optional(),
  project: z.object({ id: z.string(), name: z.string().optional(), slug: z.string().optional() }).optional(),
  /** The slug of the site, `ASH`: ids and names of one site differ between kinds of objects. */
  site: z.string().optional(),
})
export type MoveFacts = z.infer<typeof MoveFacts>

/** What a preflight check has read; undefined where the account API did not answer, or where it was not needed. */
export interface MoveReads {
  elasticIp: ElasticIp | undefined
  target: Server | undefined
  /** The server that the Elastic IP is assigned to. */
  assigned: Server | undefined
}

/** Whether the Elastic IP and the target alone leave open whether they are in one site, so that the assigned server has to be read. */
export function needsAssignedServer({ elasticIp, target }: Pick<MoveReads, 'elasticIp' | 'target'>): boolean {
  if (!elasticIp?.server || !target || elasticIp.server.id === target.id) return false
  return sameSite({ location: elasticIp.site, assigned: undefined, target: target.site }) !== true
}

/** Checks whether the move can be requested. Throws CheckFailed when it cannot. What was not read or cannot be compared is listed, not refused. */
export function checkMove(typed: MoveInput, reads: MoveReads): Preflight<MoveFacts, MoveInput> {
  const { elasticIp, target } = reads
  const input = { elasticIpId: elasticIp?.id ?? typed.elasticIpId, serverId: target?.id ?? typed.serverId }
  const unchecked: MoveFinding[] = []
  if (elasticIp) refuseUnlessMovable(elasticIp)
  else unchecked.push({ code: 'elastic-ip-unread', elasticIpId: input.elasticIpId })
  if (elasticIp?.status === statusNotTold) unchecked.push({ code: 'status-not-shown', address: elasticIp.address })
  if (!target) unchecked.push({ code: 'server-unread', serverId: input.serverId })
  if (elasticIp && target) unchecked.push(...compare({ elasticIp, target, assigned: reads.assigned }))
  const warnings = target ? targetWarnings(target) : []
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
    ...(project ? { project: known(project) } : {}),
    ...(site ? { site } : {}),
  }
}

function known({ id, name, slug }: ProjectRef) {
  return { id, ...(name ? { name } : {}), ...(slug ? { slug } : {}) }
}

/** Refuses a move, in words. */
export function refuseMove(finding: MoveFinding): never {
  throw new CheckFailed(finding, moveWords(finding))
}

function refuseUnlessMovable({ address, status, server }: ElasticIp): void {
  if (status === 'moving') refuseMove({ code: 'already-moving', address, ...(server ? { server: server.hostname ?? server.id } : {}) })
  if (status !== 'active' && status !== statusNotTold) refuseMove({ code: 'not-active', address, status })
}

/** Returns what could not be compared. */
function compare({ elasticIp, target, assigned }: { elasticIp: ElasticIp; target: Server; assigned: Server | undefined }): MoveFinding[] {
  const server = target.hostname ?? target.id
  const { address } = elasticIp
  if (elasticIp.server?.id === target.id) refuseMove({ code: 'already-there', address, server })

  const inProject = sameProject(elasticIp.project, target.project)
  if (inProject === false && elasticIp.project && target.project) {
    const [serverProject, project] = toldApart(target.project, elasticIp.project, ['name', 'slug'])
    refuseMove({ code: 'other-project', address, project, server, serverProject })
  }
  const inSite = sameSite({ location: elasticIp.site, assigned: assigned?.site, target: target.site })
  if (inSite === false) refuseMove(otherSite({ elasticIp, target, assigned }))

  const unchecked: MoveFinding[] = []
  if (!elasticIp.server) unchecked.push({ code: 'server-not-shown', address })
  if (inProject === undefined) unchecked.push({ code: 'project-not-compared', server, ...sharedSlug(elasticIp.project, target.project) })
  if (inSite === undefined)
    unchecked.push({ code: 'site-not-compared', server, ...sharedSlug(assigned?.site ?? elasticIp.site, target.site) })
  return unchecked
}

/** Names the two objects whose sites differ, and how, so that a person can look at both. */
function otherSite({ elasticIp, target, assigned }: { elasticIp: ElasticIp; target: Server; assigned: Server | undefined }): MoveFinding {
  const serversDiffer = sameSite({ location: undefined, assigned: assigned?.site, target: target.site }) === false
  const [serverSite, site] = toldApart(target.site ?? {}, (serversDiffer ? assigned?.site : elasticIp.site) ?? {}, ['slug'])
  const holder = assigned && serversDiffer ? { holder: assigned.hostname ?? assigned.id } : {}
  return { code: 'other-site', address: elasticIp.address, site, server: target.hostname ?? target.id, serverSite, ...holder }
}

/** The slug, where both have it: then their ids differ, or they would be the same. */
function sharedSlug(a: Slugged, b: Slugged): { slug?: string } {
  return a?.slug && b?.slug && a.slug.toLowerCase() === b.slug.toLowerCase() ? { slug: b.slug } : {}
}

/**
 * Finds what is no longer as it was approved. Only what both reads show is compared: an address without a server is not a
 * difference, because the account shows none when the assigned server is not active, and that is when addresses are moved. The site is
 * left out, because the preflight check has just compared the sites again. A change of names alone is none.
 */
export function moveDifferences(approved: MoveFacts, now: MoveFacts): MoveFinding[] {
  const address = addressOf(now)
  const differences: MoveFinding[] = []
  // The account may not have answered when it was requested: then this is the id that was typed, and another request may hold the real one.
  for (const [before, today] of [
    [approved.elasticIpId, now.elasticIpId],
    [approved.to.id, now.to.id],
  ] as const) {
    if (before !== today) differences.push({ code: 'id-changed', before, now: today })
  }
  if (approved.from && now.from && now.from.id !== approved.from.id) {
    const [then, today] = toldApart(hostOf(approved.from), hostOf(now.from), ['name'])
    differences.push({ code: 'server-changed', address, before: then, now: today })
  }
  if (approved.address && now.address && !sameAddress(approved.address, now.address)) {
    differences.push({ code: 'address-changed', before: approved.address, now: now.address })
  }
  if (approved.project && now.project && sameProject(approved.project, now.project) === false) {
    const [then, today] = toldApart(approved.project, now.project, ['name', 'slug'])
    differences.push({ code: 'project-changed', before: then, now: today })
  }
  return differences
}

/** A server whose hostname is not shown goes by its id, which is no name to tell it from another by. */
function hostOf({ id, name }: { id: string; name: string }) {
  return { id, name: name === id ? undefined : name }
}

/** What the account showed at the approval and no longer shows: the server that the address was on, and what it is called. */
export function completeMove({ showsNoServer: _, ...approved }: MoveFacts, now: MoveFacts): MoveFacts {
  return { ...approved, ...now }
}

/** Told in the thread when the write is sent although the account shows no server any more. */
export function moveRemark(facts: MoveFacts): string | undefined {
  if (!facts.showsNoServer || !facts.from) return undefined
  return `The account showed no server for ${addressOf(facts)} when the move was sent. It was on ${facts.from.name} when this was requested.`
}

export function addressOf(facts: Pick<MoveFacts, 'address' | 'elasticIpId'>): string {
  return facts.address ?? facts.elasticIpId
}

/** With or without a prefix length, in small or capital letters. */
export function sameAddress(a: string, b: string): boolean {
  const bare = (address: string) => address.replace(/\/\d{1,3}$/, '').toLowerCase()
  return bare(a) === bare(b)
}
