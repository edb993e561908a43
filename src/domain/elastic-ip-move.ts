import { z } from 'zod'
import type { Preflight } from './change.ts'
import { type ElasticIp, statusNotTold } from './elastic-ip.ts'
import { UserError } from './errors.ts'
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

/** Whether the move can be requested. Throws UserError when it cannot. What was not read or cannot be compared is listed, not refused. */
export function checkMove(input: MoveInput, reads: MoveReads): Preflight<MoveFacts> {
  const { elasticIp, target } = reads
  const unchecked: string[] = []
  if (elasticIp) refuseUnlessMovable(elasticIp)
  else unchecked.push(`whether Elastic IP ${input.elasticIpId} exists and is active (the account API did not answer)`)
  if (elasticIp?.status === statusNotTold) unchecked.push(`whether ${elasticIp.address} is active (the account API does not tell)`)
  if (!target) unchecked.push(`whether server ${input.serverId} exists (the account API did not answer)`)
  if (elasticIp && target) unchecked.push(...compare({ elasticIp, target, assigned: reads.assigned }))
  return { facts: factsOf(input, reads), unchecked, incomplete: !elasticIp || !target }
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

function refuseUnlessMovable({ address, status, server }: ElasticIp): void {
  if (status === 'moving') {
    const where = server ? ` to ${server.hostname ?? server.id}` : ''
    throw new UserError(`${address} is moving${where} already. Wait until that move has ended, then ask again.`)
  }
  if (status !== 'active' && status !== statusNotTold)
    throw new UserError(`${address} is ${status}, and only an active Elastic IP can be moved.`)
}

/** What could not be compared, each a phrase. */
function compare({ elasticIp, target, assigned }: { elasticIp: ElasticIp; target: Server; assigned: Server | undefined }): string[] {
  const name = target.hostname ?? target.id
  const { address } = elasticIp
  if (elasticIp.server?.id === target.id) throw new UserError(`${address} is on ${name} already, so there is nothing to move.`)

  const inProject = sameProject(elasticIp.project, target.project)
  if (inProject === false && elasticIp.project && target.project) {
    const [there, here] = toldApart(target.project, elasticIp.project, ['name', 'slug'])
    throw new UserError(`${name} is in project ${there}, and ${address} is in ${here}. An Elastic IP can only be moved within its project.`)
  }
  const inSite = sameSite({ location: elasticIp.site, assigned: assigned?.site, target: target.site })
  if (inSite === false) throw new UserError(otherSite({ elasticIp, target, assigned }))

  return [
    ...(elasticIp.server ? [] : [`which server ${address} is on (the account shows none)`]),
    ...(inProject === undefined ? [`whether ${name} is in the same project (${whyOpen(elasticIp.project, target.project)})`] : []),
    ...(inSite === undefined ? [`whether ${name} is in the same site (${whyOpen(assigned?.site ?? elasticIp.site, target.site)})`] : []),
  ]
}

/** Names the two objects whose sites differ, and how, so that a person can look at both. */
function otherSite({ elasticIp, target, assigned }: { elasticIp: ElasticIp; target: Server; assigned: Server | undefined }): string {
  const serversDiffer = sameSite({ location: undefined, assigned: assigned?.site, target: target.site }) === false
  const [there, here] = toldApart(target.site ?? {}, (serversDiffer ? assigned?.site : elasticIp.site) ?? {}, ['slug'])
  const holder = assigned && serversDiffer ? `${assigned.hostname ?? assigned.id}, which has ${elasticIp.address},` : elasticIp.address
  return `${target.hostname ?? target.id} is in site ${there}, and ${holder} is in ${here}. An Elastic IP can only be moved within its site.`
}

function whyOpen(a: Slugged, b: Slugged): string {
  return a?.slug && b?.slug && a.slug.toLowerCase() === b.slug.toLowerCase()
    ? `both are called ${b.slug}, but their ids differ`
    : 'the account API does not tell'
}

/**
 * What is no longer as it was approved, each a sentence. Only what both reads show is compared: an address without a server is not a
 * difference, because the account shows none when the assigned server is not active, and that is when addresses are moved. The site is
 * left out, because the preflight check has just compared the sites again. A change of names alone is none.
 */
export function moveDifferences(approved: MoveFacts, now: MoveFacts): string[] {
  const address = addressOf(now)
  const differences: string[] = []
  if (approved.from && now.from && now.from.id !== approved.from.id) {
    const [then, today] = toldApart(hostOf(approved.from), hostOf(now.from), ['name'])
    differences.push(`${address} was on ${then} when this was asked for, and is on ${today} now.`)
  }
  if (approved.address && now.address && !sameAddress(approved.address, now.address)) {
    differences.push(`The Elastic IP's address was ${approved.address} when this was asked for, and is ${now.address} now.`)
  }
  if (approved.project && now.project && sameProject(approved.project, now.project) === false) {
    const [then, today] = toldApart(approved.project, now.project, ['name', 'slug'])
    differences.push(`It was in project ${then} when this was asked for, and is in ${today} now.`)
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
