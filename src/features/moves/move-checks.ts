import { z } from 'zod'
import type { ElasticIp, Server } from '../../account/objects.ts'
import { distinctLabels, findNamesakes, isBgp, namesakesAre, sameProject, sameSite, statusNotShown } from '../../domain/account.ts'
import type { Moment, Observation, Preflight } from '../../domain/change.ts'
import { hasInvisible, linked, moment, person, phrase } from '../../domain/text.ts'
import { fixedAddress, ofElasticIp, whyNotMovable } from '../../kit/elastic-ip.ts'
import { changedSince, finding, findings, idDifference, nameDifference, ProjectFacts, projectDifference } from '../../kit/findings.ts'
import { shownFacts, withListed } from '../../kit/listed.ts'
import { sameAddress, servers } from '../../kit/things.ts'

const address = z.string()
const _status = z.string()
/** A server by hostname, or by id if it has no hostname. */
const server = z.string()

const openRequest = { server, title: z.string(), link: z.string().optional(), by: z.string() }

const supportNeeded = "Contact the provider's support."
const chooseAnother = 'Choose another server.'
/** Everything that can prevent a move, stay unchecked before it, or end it. */
export const moveFindings = findings({
  'no-elastic-ip': finding('No Elastic IP {elasticIpId} on the account.', { next: '', ...ofElasticIp }),
  'no-server': finding('No server {serverId} on the account.', { next: '' }),
  ...fixedAddress,
  'already-there': finding('{address} is already on {server}.', { next: '' }),
  'other-project': finding("{server} is in project {serverProject}, and {address} is in {project}: it can't leave its project.", {
    next: chooseAnother,
  }),
  'other-site': finding("{server} is in site {serverSite}, and {address} is in {site}: it can't leave its site.", {
    next: chooseAnother,
  }),

  'elastic-ip-unread': finding("whether Elastic IP {elasticIpId} exists and is active (the account API didn't answer)"),
  'server-unread': finding("whether server {serverId} exists (the account API didn't answer)"),
  'status-not-shown': finding("whether {address} is active (the account API doesn't show its status)"),
  'server-not-shown': finding("{address} is unassigned, or its server isn't active.", { isNote: () => true }),
  // The account shows none, or two with one slug and different ids.
  'project-not-compared': finding('whether {server} is in the same project (not shown)'),
  'site-not-compared': finding('whether {server} is in the same site (not shown)'),
  'names-not-compared': finding("whether another server is called {server} (couldn't read all servers)"),

  'server-not-on': finding('{server} had status {status}. Addresses on it answer only once it is on.'),
  'server-locked': finding('{server} was locked on the account.'),
  /** `at`: in ms since 1970. */
  'server-deletion-scheduled': finding({ server, at: z.number() }, ({ server, at }) => phrase`${server} will be deleted ${moment(at)}.`),
  'server-label': finding('{server} has the label {label}.'),
  /** `count`: how many other servers have the name. `others`: the ids of up to three of them. */
  'same-name': finding(
    { server, serverId: z.string(), others: z.array(z.string()), count: z.number() },
    ({ server, serverId, ...found }) => phrase`${namesakesAre(found, servers)} also called ${server}. Target: ${serverId}.`,
  ),
  /** An open request evacuates the server that the address is moved to. `link`: of its message, if that is posted. */
  'target-evacuated': finding(
    openRequest,
    ({ server, title, link, by }) => phrase`${server} is being evacuated: ${linked(title, link)} by ${person(by)}.`,
  ),
  /** Open requests move addresses to the server that is evacuated. `others`: how many besides the first. */
  'also-a-target': finding(
    { ...openRequest, others: z.number() },
    ({ server, title, link, by, others }) =>
      phrase`${server} is also the target of ${linked(title, link)} by ${person(by)}${[others > 0 ? `, and of ${others} more` : '']}.`,
  ),
  /** `since`, if the alert said it, and `until`, once none fires anymore: in ms since 1970. `wasFiring`: it is not known if it still does. */
  'target-alerted': finding(
    { target: server, since: z.number().optional(), until: z.number().optional(), wasFiring: z.literal(true).optional() },
    ({ target, since, until, wasFiring }) => {
      if (wasFiring) return phrase`An alert about the target ${target} was firing when this was requested.`
      if (until !== undefined) return phrase`The alert about the target ${target} resolved at ${moment(until)}.`
      const fires = since === undefined ? ['is firing'] : phrase`has been firing since ${moment(since)}`
      return phrase`An alert about the target ${target} ${fires}.`
    },
    { isNote: ({ until }) => until !== undefined },
  ),
  'hidden-characters': finding('The name of server {serverId} contains characters that cannot be seen. Compare its id.'),

  ...changedSince,
  'server-changed': finding('{address} is on {now} now.'),
  /** The account showed no server at the request, and shows one now. */
  'server-shown': finding('{address} is on {now} now, and was on no server.'),
  'address-changed': finding('The address is {now} now, not {before}.'),
  'target-not-on': finding('{server} has status {status} now.'),

  /** After a move that is done. */
  'assigned-to-server-not-on': finding("{server} has status {status}. The address doesn't answer until the server is on."),

  'elastic-ip-gone': finding('{address} no longer exists on the account.', { next: '' }),
  'status-error': finding('The account API shows {address} with status error.', { next: supportNeeded }),
  'being-released': finding('{address} is being released from the account.', { next: '' }),
  'back-on-old-server': finding('The account accepted the move, but left {address} on {server}. Nothing moved.'),
  'still-on-old-server': finding('{address} is still on {server}. Nothing was changed.'),
  'moved-by-others': finding(
    { address, server, isMoving: z.boolean() },
    ({ address, server, isMoving }) => phrase`Another change ${[isMoving ? 'moves' : 'moved']} ${address} to ${server}.`,
  ),
})
export const { words: moveWords, refuse: refuseMove } = moveFindings
export type MoveFinding = z.infer<typeof moveFindings.schema>

export const MoveInput = z.object({ elasticIpId: z.string(), serverId: z.string() })
export type MoveInput = z.infer<typeof MoveInput>

export const NamedServer = z.object({ id: z.string(), name: z.string() })
export type NamedServer = z.infer<typeof NamedServer>

/** What the account shows about a move. Members that could not be read or are not shown are absent. */
export const MoveFacts = withListed(
  z.object({
    elasticIpId: z.string(),
    address: z.string().optional(),
    from: NamedServer.optional(),
    /** True if the account showed no server for the Elastic IP: it is unassigned, or its server is not active. */
    showsNoServer: z.literal(true).optional(),
    to: NamedServer,
    /** The status of the server that the address is moved to, if it is not `on`. */
    toStatus: z.string().optional(),
    project: ProjectFacts.optional(),
    /** The slug of the site: `ASH`. Ids and names of one site differ between kinds of objects. */
    site: z.string().optional(),
  }),
)
export type MoveFacts = z.infer<typeof MoveFacts>

/** A name that is only the id is none. */
export function renamed(approved: NamedServer | undefined, now: NamedServer | undefined) {
  return approved && approved.id === now?.id ? nameDifference(hostOf(approved).name, hostOf(now).name) : []
}

/** Compares what both reads show: a server that is not active is not shown, which is when addresses are moved. */
export function moveDifferences(facts: MoveFacts, now: MoveFacts): MoveFinding[] {
  const approved = shownFacts(facts)
  const address = addressOf(now)
  const differences: MoveFinding[] = [...idDifference(approved.elasticIpId, now.elasticIpId), ...idDifference(approved.to.id, now.to.id)]
  if (approved.from && now.from && now.from.id !== approved.from.id) {
    const [, today] = distinctLabels(hostOf(approved.from), hostOf(now.from), ['name'])
    differences.push({ code: 'server-changed', address, now: today })
  }
  differences.push(...renamed(approved.from, now.from), ...renamed(approved.to, now.to))
  if (approved.showsNoServer && !approved.from && now.from) differences.push({ code: 'server-shown', address, now: now.from.name })
  if (approved.address && now.address && !sameAddress(approved.address, now.address)) {
    differences.push({ code: 'address-changed', before: approved.address, now: now.address })
  }
  const { toStatus: status = statusNotShown } = now
  if (approved.toStatus === undefined && status !== statusNotShown) differences.push({ code: 'target-not-on', server: now.to.name, status })
  return [...differences, ...projectDifference(approved.project, now.project)]
}

/** Removes a name that is only the id. `distinctLabels` could not use it as a name. */
function hostOf({ id, name }: { id: string; name: string }) {
  return { id, name: name === id ? undefined : name }
}

export function completeMove({ showsNoServer: _, listed: _listed, ...approved }: MoveFacts, now: MoveFacts): MoveFacts {
  const shown = Object.entries(now).filter(([, value]) => value !== undefined)
  return { ...approved, ...(Object.fromEntries(shown) as MoveFacts) }
}

export function addressOf(facts: Pick<MoveFacts, 'address' | 'elasticIpId' | 'listed'>): string {
  return shownFacts(facts).address ?? facts.elasticIpId
}

/** Whether the account shows that a server is off, deploying or the like. A status that is not shown counts as on. */
function isNotOn<Shown extends Pick<Server, 'status'>>(server: Shown): server is Shown & { status: string } {
  return server.status !== undefined && server.status !== 'on'
}

function targetWarnings(target: Server): MoveFinding[] {
  const server = nameOf(target)
  return [
    ...(isNotOn(target) ? [{ code: 'server-not-on' as const, server, status: target.status }] : []),
    ...(target.deletedAt === undefined ? [] : [{ code: 'server-deletion-scheduled' as const, server, at: target.deletedAt }]),
    ...(target.locked ? [{ code: 'server-locked' as const, server }] : []),
    ...(target.label !== undefined && target.label !== server ? [{ code: 'server-label' as const, server, label: target.label }] : []),
    ...(hasInvisible(server) ? [{ code: 'hidden-characters' as const, serverId: target.id }] : []),
  ]
}

/** What people should know after a move to a server that is not on. `now`: the server, or as it was when the move was sent. */
export function afterMove({ to, toStatus }: Pick<MoveFacts, 'to' | 'toStatus'>, now: Server | undefined): MoveFinding[] {
  const last = now ?? { status: toStatus }
  return isNotOn(last) ? [{ code: 'assigned-to-server-not-on', server: to.name, status: last.status }] : []
}

/** Warns of other servers whose names look the same. `listed`: servers with that name, and perhaps others. */
export function namesakeWarnings(target: Server, listed: Server[]): MoveFinding[] {
  const [server, serverId] = [nameOf(target), target.id]
  const named = listed.map((other) => ({ id: other.id, name: nameOf(other) }))
  const found = findNamesakes(server, named, serverId)
  return found ? [{ code: 'same-name', server, serverId, ...found }] : []
}

function nameOf({ id, hostname, label }: Server): string {
  return hostname ?? label ?? id
}

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

/** Throws CheckFailed if the move cannot be requested. Lists what was not read or cannot be compared, and does not refuse it. */
export function checkMove(typed: MoveInput, reads: MoveReads): Preflight<MoveFacts, MoveInput> {
  const { elasticIp, target } = reads
  const input = { elasticIpId: elasticIp?.id ?? typed.elasticIpId, serverId: target?.id ?? typed.serverId }
  const unchecked: MoveFinding[] = []
  if (!elasticIp && isBgp({ id: input.elasticIpId })) refuseMove({ code: 'bgp-address', address: input.elasticIpId })
  const why = elasticIp && whyNotMovable(elasticIp)
  if (why) refuseMove(why)
  if (!elasticIp) unchecked.push({ code: 'elastic-ip-unread', elasticIpId: input.elasticIpId })
  if (elasticIp?.status === statusNotShown) unchecked.push({ code: 'status-not-shown', address: elasticIp.address })
  if (!target) unchecked.push({ code: 'server-unread', serverId: input.serverId })
  if (elasticIp && target) unchecked.push(...compare({ elasticIp, target, assigned: reads.assigned }))
  const noServer = elasticIp && target && !elasticIp.server ? [{ code: 'server-not-shown' as const, address: elasticIp.address }] : []
  const warnings = [...noServer, ...(target ? targetWarnings(target) : [])]
  return { facts: factsOf(input, reads), input, unchecked, warnings, incomplete: !elasticIp || !target }
}

export function factsOf({ elasticIpId, serverId }: MoveInput, { elasticIp, target, assigned }: MoveReads): MoveFacts {
  const from = elasticIp?.server
  return {
    elasticIpId,
    address: elasticIp && elasticIp.address !== elasticIp.id ? elasticIp.address : undefined,
    from: from && { id: from.id, name: from.hostname ?? from.id },
    showsNoServer: elasticIp && !from ? true : undefined,
    to: { id: serverId, name: target?.hostname ?? target?.label ?? serverId },
    toStatus: target && isNotOn(target) ? target.status : undefined,
    project: elasticIp?.project ?? target?.project,
    site: elasticIp?.site?.slug ?? assigned?.site?.slug ?? target?.site?.slug,
  }
}

type Placed = Pick<Server, 'project' | 'site'>

/** Whether both are in one project and site, as far as these are known. `assigned`: the server that an Elastic IP is on. */
export function isInPlaceOf({ site, project }: Placed, server: Placed, assigned?: Placed): boolean {
  const sites = { location: site, assigned: assigned?.site, target: server.site }
  return sameProject(project, server.project) !== false && sameSite(sites) !== false
}

export function canMoveTo(elasticIp: Placed & Pick<ElasticIp, 'server'>, target: Server, assigned: Server | undefined): boolean {
  return target.id !== elasticIp.server?.id && isInPlaceOf(elasticIp, target, assigned)
}

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
  if (inSite === false) {
    const serversDiffer = sameSite({ location: undefined, assigned: assigned?.site, target: target.site }) === false
    const [serverSite, site] = distinctLabels(target.site ?? {}, (serversDiffer ? assigned?.site : elasticIp.site) ?? {}, ['slug'])
    refuseMove({ code: 'other-site', address, site, server, serverSite })
  }
  return [
    ...(inProject === undefined ? [{ code: 'project-not-compared' as const, server }] : []),
    ...(inSite === undefined ? [{ code: 'site-not-compared' as const, server }] : []),
  ]
}

/** The facts of a move that a read is compared with. `from` is undefined if the account showed no server at the request. */
export type Move = Pick<MoveFacts, 'address' | 'elasticIpId' | 'from' | 'to'>

/**
 * Returns what a read of the Elastic IP means for a move (interface specification, "States and transitions"). `active` is the status before
 * *and* after a move, so only `active` on the target means done. The specification shows neither how `moving` ends nor which server a read
 * shows meanwhile. The set of statuses is open: with an unknown status the request stays tracked.
 */
export function observeMove(move: Move, seen: ElasticIp | 'gone', moment: Moment): Observation {
  const address = addressOf(move)
  const failed = (cause: MoveFinding): Observation => ({ is: 'failed', cause })
  if (seen === 'gone') return failed({ code: 'elastic-ip-gone', address })
  const { status, server: on } = seen
  if (status === 'error') return failed({ code: 'status-error', address })
  if (status === 'releasing') return failed({ code: 'being-released', address })

  const name = on && (on.hostname ?? on.id)
  const sighting = { status, server: name ?? null }
  const isMoving = status === 'moving'
  // An assigned server that is not active is shown as null, too, so a missing server proves nothing.
  if (!isMoving && (status !== 'active' || !on)) return { is: 'unclear', seen: sighting }
  // While an Elastic IP moves, a read may show the old server, the target or none. A third server belongs to another move.
  if (on && name && move.from && on.id !== move.from.id && on.id !== move.to.id) {
    if (moment.early) return { is: 'unclear', seen: sighting }
    return { is: 'superseded', cause: { code: 'moved-by-others', address: seen.address, server: name, isMoving } satisfies MoveFinding }
  }
  if (isMoving) return { is: 'underway', seen: sighting }
  if (on?.id === move.to.id) return { is: 'done' }
  const isAccepted = moment.phase === 'accepted'
  if (isAccepted ? moment.early : moment.isUnsettled) return { is: 'unclear', seen: sighting }
  const server = move.from?.name ?? name ?? 'the server it was on'
  if (isAccepted) return { is: 'reverted', cause: { code: 'back-on-old-server', address, server } satisfies MoveFinding, seen: sighting }
  return { is: 'not-started', cause: { code: 'still-on-old-server', address, server } satisfies MoveFinding }
}
