import { z } from 'zod'
import {
  distinctLabels,
  type ElasticIp,
  findNamesakes,
  isBgp,
  looksSame,
  namesakesAre,
  type ProjectRef,
  projectName,
  type Server,
  type Slugged,
  sameProject,
  sameSite,
  statusNotShown,
} from '../domain/account.ts'
import { type Moment, type Observation, type Preflight, type Words, wordsFrom } from '../domain/change.ts'
import { CheckFailed } from '../domain/errors.ts'
import { hasInvisible, moment, type Phrase, phrase } from '../domain/text.ts'

/**
 * Whether the server is another one in the same project and site, as far as they are known. `assigned` is the server that the Elastic IP is
 * on.
 */
export function canMoveTo(elasticIp: ElasticIp, target: Server, assigned: Server | undefined): boolean {
  const sites = { location: elasticIp.site, assigned: assigned?.site, target: target.site }
  if (target.id === elasticIp.server?.id) return false
  return sameProject(elasticIp.project, target.project) !== false && sameSite(sites) !== false
}

const address = z.string()
/** A server by hostname, or by id if it has no hostname. */
const server = z.string()
const place = z.object({ site: z.string(), project: z.string() })
/** The labels of two things that differ. `distinctLabels` makes them, so that the labels differ, too. */
const between = { before: z.string(), now: z.string() }

/** Everything that can prevent a move, stay unchecked before it, or end it. */
export const MoveFinding = z.discriminatedUnion('code', [
  z.object({ code: z.literal('no-elastic-ip'), elasticIpId: z.string(), address: z.string().optional() }),
  z.object({ code: z.literal('no-server'), serverId: z.string(), name: z.string().optional() }),
  z.object({ code: z.literal('bgp-address'), address }),
  z.object({ code: z.literal('already-moving'), address, server: server.optional() }),
  z.object({ code: z.literal('not-active'), address, status: z.string() }),
  z.object({ code: z.literal('already-there'), address, server }),
  z.object({ code: z.literal('other-project'), address, project: z.string(), server, serverProject: z.string() }),
  /** `holder`: the server that has the address, if the sites of two servers were compared. */
  z.object({ code: z.literal('other-site'), address, site: z.string(), server, serverSite: z.string(), holder: server.optional() }),

  z.object({ code: z.literal('elastic-ip-unread'), elasticIpId: z.string() }),
  z.object({ code: z.literal('server-unread'), serverId: z.string() }),
  z.object({ code: z.literal('status-not-shown'), address }),
  z.object({ code: z.literal('server-not-shown'), address }),
  /** `slug`: both have this slug, but different ids. */
  z.object({ code: z.literal('project-not-compared'), server, slug: z.string().optional() }),
  z.object({ code: z.literal('site-not-compared'), server, slug: z.string().optional() }),

  z.object({ code: z.literal('names-not-compared'), server }),

  z.object({ code: z.literal('server-not-on'), server, status: z.string() }),
  z.object({ code: z.literal('server-locked'), server }),
  /** `at`: in ms since 1970. */
  z.object({ code: z.literal('server-deletion-scheduled'), server, at: z.number() }),
  z.object({ code: z.literal('server-label'), server, label: z.string() }),
  /**
   * `count`: how many other servers have the name. `others`: the ids of up to three of them. `places`: where the only other one and the
   * target are, if people can tell these apart.
   */
  z.object({
    code: z.literal('same-name'),
    server,
    serverId: z.string(),
    others: z.array(z.string()),
    count: z.number(),
    places: z.object({ other: place, own: place }).optional(),
  }),
  z.object({ code: z.literal('hidden-characters'), serverId: z.string() }),

  z.object({ code: z.literal('id-changed'), ...between }),
  z.object({ code: z.literal('server-changed'), address, ...between }),
  /** The account showed no server at the request, and shows one now. */
  z.object({ code: z.literal('server-shown'), address, now: server }),
  z.object({ code: z.literal('address-changed'), ...between }),
  z.object({ code: z.literal('project-changed'), ...between }),

  /** After a move that is done. `server-was-not-on`: the server could not be read at the end. */
  z.object({ code: z.literal(['assigned-to-server-not-on', 'server-was-not-on']), server, status: z.string() }),

  z.object({ code: z.literal('elastic-ip-gone'), address }),
  z.object({ code: z.literal('status-error'), address }),
  z.object({ code: z.literal('being-released'), address }),
  z.object({ code: z.literal('back-on-old-server'), address, server }),
  z.object({ code: z.literal('still-on-old-server'), address, server }),
  z.object({ code: z.literal('moved-by-others'), address, server, isMoving: z.boolean() }),
])
export type MoveFinding = z.infer<typeof MoveFinding>

/** Whether an error is about the Elastic IP alone, so that another server would not help. */
export function isAboutElasticIp(error: unknown): boolean {
  const own: MoveFinding['code'][] = ['no-elastic-ip', 'bgp-address', 'already-moving', 'not-active']
  return error instanceof CheckFailed && own.some((code) => code === error.finding.code)
}

export const MoveInput = z.object({ elasticIpId: z.string(), serverId: z.string() })
export type MoveInput = z.infer<typeof MoveInput>

const NamedServer = z.object({ id: z.string(), name: z.string() })

/** What the account shows about a move. Members that could not be read or are not shown are absent. */
export const MoveFacts = z.object({
  elasticIpId: z.string(),
  address: z.string().optional(),
  from: NamedServer.optional(),
  /** True if the account showed no server for the Elastic IP: it is unassigned, or its server is not active. */
  showsNoServer: z.literal(true).optional(),
  to: NamedServer,
  toAddress: z.string().optional(),
  /** The status of the server that the address is moved to, if it is not `on`. */
  toStatus: z.string().optional(),
  project: z.object({ id: z.string(), name: z.string().optional(), slug: z.string().optional() }).optional(),
  /** The slug of the site: `ASH`. Ids and names of one site differ between kinds of objects. */
  site: z.string().optional(),
})
export type MoveFacts = z.infer<typeof MoveFacts>

/** Finds the name of a server among those that an earlier request names. */
export function serverNameIn(earlier: Pick<MoveFacts, 'from' | 'to'> | undefined, serverId: string): { name?: string } {
  const server = [earlier?.from, earlier?.to].find((each) => each?.id === serverId)
  return server === undefined || server.name === serverId ? {} : { name: server.name }
}

/**
 * Finds what has changed since the approval. Compares only what both reads show. A server that is no longer shown is no difference: the
 * account shows none while the assigned server is not active, which is when addresses are moved. One that is shown again is: the address is alive. The sites are not compared, because the preflight check has
 * just compared them again. A change of names alone is no difference.
 */
export function moveDifferences(approved: MoveFacts, now: MoveFacts): MoveFinding[] {
  const address = addressOf(now)
  const differences: MoveFinding[] = []
  // If the account API did not answer the request, these are the typed ids, and another request may hold the lock of the real one.
  for (const [before, today] of [
    [approved.elasticIpId, now.elasticIpId],
    [approved.to.id, now.to.id],
  ] as const) {
    if (before !== today) differences.push({ code: 'id-changed', before, now: today })
  }
  if (approved.from && now.from && now.from.id !== approved.from.id) {
    const [then, today] = distinctLabels(hostOf(approved.from), hostOf(now.from), ['name'])
    differences.push({ code: 'server-changed', address, before: then, now: today })
  }
  if (approved.showsNoServer && !approved.from && now.from) differences.push({ code: 'server-shown', address, now: now.from.name })
  if (approved.address && now.address && !sameAddress(approved.address, now.address)) {
    differences.push({ code: 'address-changed', before: approved.address, now: now.address })
  }
  if (approved.project && now.project && sameProject(approved.project, now.project) === false) {
    const [then, today] = distinctLabels(approved.project, now.project, ['name', 'slug'])
    differences.push({ code: 'project-changed', before: then, now: today })
  }
  return differences
}

/** Removes a name that is only the id. `distinctLabels` could not use it as a name. */
function hostOf({ id, name }: { id: string; name: string }) {
  return { id, name: name === id ? undefined : name }
}

/** Adds the facts that the account showed at the approval and no longer shows, such as the old server. */
export function completeMove({ showsNoServer: _, ...approved }: MoveFacts, now: MoveFacts): MoveFacts {
  return { ...approved, ...now }
}

/** Returns a sentence for the thread if the write is sent although the account no longer shows a server. */
export function moveRemark(facts: MoveFacts): string | undefined {
  if (!facts.showsNoServer || !facts.from) return undefined
  return `The account showed no server for ${addressOf(facts)} when the move was sent. It was on ${facts.from.name} when this was requested.`
}

export function addressOf(facts: Pick<MoveFacts, 'address' | 'elasticIpId'>): string {
  return facts.address ?? facts.elasticIpId
}

/** Compares addresses without their prefix lengths and without regard to case. */
export function sameAddress(a: string, b: string): boolean {
  const bare = (address: string) => address.replace(/\/\d{1,3}$/, '').toLowerCase()
  return bare(a) === bare(b)
}

/** Whether the account shows that a server is off, deploying or the like. A status that is not shown counts as on. */
export function isNotOn<Shown extends Pick<Server, 'status'>>(server: Shown): server is Shown & { status: string } {
  return server.status !== undefined && server.status !== 'on'
}

/** Lists what approvers should know about the target of a move. None of it prevents the move. */
export function targetWarnings(target: Server): MoveFinding[] {
  const server = nameOf(target)
  return [
    ...(isNotOn(target) ? [{ code: 'server-not-on' as const, server, status: target.status }] : []),
    ...(target.deletedAt === undefined ? [] : [{ code: 'server-deletion-scheduled' as const, server, at: target.deletedAt }]),
    ...(target.locked ? [{ code: 'server-locked' as const, server }] : []),
    ...(target.label !== undefined && target.label !== server ? [{ code: 'server-label' as const, server, label: target.label }] : []),
    ...(hasInvisible(server) ? [{ code: 'hidden-characters' as const, serverId: target.id }] : []),
  ]
}

/**
 * Lists what people should know after a move to a server that was not on when the move was sent. `now`: the server, if it could be read.
 */
export function afterMove({ to, toStatus }: Pick<MoveFacts, 'to' | 'toStatus'>, now: Server | undefined): MoveFinding[] {
  const server = to.name
  if (now) return isNotOn(now) ? [{ code: 'assigned-to-server-not-on', server, status: now.status }] : []
  return toStatus === undefined ? [] : [{ code: 'server-was-not-on', server, status: toStatus }]
}

/** Warns of other servers whose names look the same. `listed`: servers with that name, and perhaps others. */
export function namesakeWarnings(target: Server, listed: Server[]): MoveFinding[] {
  const [server, serverId] = [nameOf(target), target.id]
  const named = listed.map((other) => ({ id: other.id, name: nameOf(other) }))
  const found = findNamesakes(server, named, serverId)
  if (!found) return []
  const only = found.count === 1 ? listed.find(({ id }) => id === found.others[0]) : undefined
  const places = only && differentPlaces(only, target)
  return [{ code: 'same-name', server, serverId, ...found, ...(places ? { places } : {}) }]
}

/** Returns the places of two servers, if both are known and people can tell one from the other. */
function differentPlaces(otherServer: Server, target: Server) {
  const [other, own] = [placeOf(otherServer), placeOf(target)]
  if (!other || !own) return undefined
  return looksSame(other.site, own.site) && looksSame(other.project, own.project) ? undefined : { other, own }
}

function placeOf({ site, project }: Server): { site: string; project: string } | undefined {
  return site?.slug && project ? { site: site.slug, project: projectName(project) } : undefined
}

function nameOf({ id, hostname, label }: Server): string {
  return hostname ?? label ?? id
}

/** Puts a finding into words: a phrase after *Not checked:* for what stays unchecked, and a sentence for everything else. */
export function moveWords(finding: MoveFinding): Words {
  const next = nextAfter(finding)
  return { ...wordsFrom(sentenceOf(finding)), next }
}

/** Says what to do if the same request would fail again. Returns undefined if it may succeed later. */
function nextAfter(finding: MoveFinding): string | undefined {
  switch (finding.code) {
    case 'no-server':
      return finding.name === undefined ? 'Check the account.' : 'Choose another server.'
    case 'no-elastic-ip':
    case 'elastic-ip-gone':
    case 'being-released':
      return 'Check the account.'
    case 'bgp-address':
      return 'Close or open its BGP sessions in the dashboard.'
    case 'status-error':
      return supportNeeded
    case 'not-active':
      return finding.status === 'error' ? supportNeeded : undefined
    case 'already-there':
      return 'There is nothing left to do.'
    case 'other-project':
    case 'other-site':
      return 'Choose another server.'
    default:
      return undefined
  }
}

const supportNeeded = "Contact the provider's support."

function sentenceOf(finding: MoveFinding): Phrase {
  switch (finding.code) {
    case 'no-elastic-ip':
      return finding.address === undefined
        ? phrase`No Elastic IP ${finding.elasticIpId} on the account.`
        : phrase`${finding.address} is no longer on the account, so it can't be moved.`
    case 'no-server':
      return finding.name === undefined
        ? phrase`No server ${finding.serverId} on the account.`
        : phrase`Server ${finding.name} is no longer on the account.`
    case 'bgp-address':
      return phrase`${finding.address} is a BGP address: several servers can announce it, so it isn't moved.`
    case 'already-moving':
      return phrase`${finding.address} is already moving${finding.server ? phrase` to ${finding.server}` : []}. Wait until that move has ended, then request again.`
    case 'not-active':
      return phrase`${finding.address} has status ${finding.status}. Only active Elastic IPs can be moved.`
    case 'already-there':
      return phrase`${finding.address} is already on ${finding.server}.`
    case 'other-project':
      return phrase`${finding.server} is in project ${finding.serverProject}, and ${finding.address} is in ${finding.project}. An Elastic IP can only be moved within its project.`
    case 'other-site': {
      const holder = finding.holder ? phrase`${finding.holder}, which has ${finding.address},` : finding.address
      return phrase`${finding.server} is in site ${finding.serverSite}, and ${holder} is in ${finding.site}. An Elastic IP can only be moved within its site.`
    }
    case 'elastic-ip-unread':
      return phrase`whether Elastic IP ${finding.elasticIpId} exists and is active (the account API didn't answer)`
    case 'server-unread':
      return phrase`whether server ${finding.serverId} exists (the account API didn't answer)`
    case 'status-not-shown':
      return phrase`whether ${finding.address} is active (the account API doesn't show its status)`
    case 'server-not-shown':
      return phrase`The account shows no server for ${finding.address}. It is unassigned, or its server isn't active.`
    case 'project-not-compared':
      return phrase`whether ${finding.server} is in the same project (${whyOpen(finding.slug)})`
    case 'site-not-compared':
      return phrase`whether ${finding.server} is in the same site (${whyOpen(finding.slug)})`
    case 'names-not-compared':
      return phrase`whether another server is called ${finding.server} (couldn't read all servers)`
    case 'server-not-on':
      return phrase`${finding.server} has status ${finding.status}. Addresses on it answer only once it is on.`
    case 'server-deletion-scheduled':
      return phrase`${finding.server} is scheduled for deletion at ${moment(finding.at)}.`
    case 'server-locked':
      return phrase`${finding.server} is locked on the account.`
    case 'server-label':
      return phrase`${finding.server} has the label ${finding.label}.`
    case 'same-name':
      if (finding.places) {
        const { other, own } = finding.places
        return phrase`There is also a ${finding.server} in ${other.site} (${other.project}). This move goes to the one in ${own.site} (${own.project}).`
      }
      return phrase`${namesakesAre(finding, { one: 'server', many: 'servers' })} also called ${finding.server}. This move goes to ${finding.serverId}.`
    case 'hidden-characters':
      return phrase`The name of server ${finding.serverId} contains characters that cannot be seen. Compare its id.`
    case 'id-changed':
      return phrase`This was requested as ${finding.before}, but the account API shows it as ${finding.now}. Request it again with that id.`
    case 'server-changed':
      return phrase`${finding.address} was on ${finding.before} when this was requested, and is on ${finding.now} now.`
    case 'server-shown':
      return phrase`The account showed no server for ${finding.address} when this was requested. It is on ${finding.now} now.`
    case 'address-changed':
      return phrase`The Elastic IP's address was ${finding.before} when this was requested, and is ${finding.now} now.`
    case 'project-changed':
      return phrase`It was in project ${finding.before} when this was requested, and is in ${finding.now} now.`
    case 'assigned-to-server-not-on':
      return phrase`${finding.server} has status ${finding.status}. The address doesn't answer until the server is on.`
    case 'server-was-not-on':
      return phrase`${finding.server} had status ${finding.status} when the move was sent. Check that the address answers.`
    case 'elastic-ip-gone':
      return phrase`${finding.address} no longer exists on the account.`
    case 'status-error':
      return phrase`The account API shows ${finding.address} with status error.`
    case 'being-released':
      return phrase`${finding.address} is being released from the account.`
    case 'back-on-old-server':
      return phrase`The account API accepted the move, but ${finding.address} is active on ${finding.server} again.`
    case 'still-on-old-server':
      return phrase`${finding.address} is still active on ${finding.server}. The move didn't start and nothing was changed.`
    case 'moved-by-others':
      return phrase`${finding.address} ${[finding.isMoving ? 'is moving to' : 'is on']} ${finding.server}. Another change moved it.`
  }
}

function whyOpen(slug: string | undefined): Phrase {
  return slug === undefined ? ["the account API doesn't show it"] : phrase`both are called ${slug}, but their ids differ`
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

/** The facts of a move that a read is compared with. `from` is undefined if the account showed no server at the request. */
export type Move = Pick<MoveFacts, 'address' | 'elasticIpId' | 'from' | 'to'>

/**
 * Returns what a read of the Elastic IP means for a move (interface specification, "States and transitions"). `active` is the status before
 * *and* after a move, so only `active` on the target means done. The specification shows neither how `moving` ends nor which server a read
 * shows meanwhile. The set of statuses is open: with an unknown status the request stays tracked.
 */
export function observeMove(move: Move, seen: ElasticIp | 'gone', moment: Moment): Observation {
  const address = addressOf(move)
  if (seen === 'gone') return failed({ code: 'elastic-ip-gone', address })
  if (seen.status === 'error') return failed({ code: 'status-error', address })
  if (seen.status === 'releasing') return failed({ code: 'being-released', address })
  if (seen.status === 'moving') return observeMoving(move, seen, moment)
  // An assigned server that is not active is shown as null, too, so a missing server proves nothing.
  if (seen.status !== 'active' || !seen.server) return unclear(seen)
  if (seen.server.id === move.to.id) return { is: 'done' }
  if (isThird(move, seen)) return moment.early ? unclear(seen) : supersededBy(seen, { isMoving: false })
  return observeUnmoved(move, seen, moment)
}

/** While an Elastic IP moves, a read may show the old server, the target or none. A third server belongs to another move. */
function observeMoving(move: Move, seen: ElasticIp, moment: Moment): Observation {
  if (seen.server?.id === move.to.id) return { is: 'underway', seen: sightingOf(seen) }
  if (isThird(move, seen)) return moment.early ? unclear(seen) : supersededBy(seen, { isMoving: true })
  return { is: 'underway', seen: sightingOf(seen) }
}

function isThird(move: Move, { server }: ElasticIp): boolean {
  return server !== undefined && move.from !== undefined && server.id !== move.from.id && server.id !== move.to.id
}

function observeUnmoved(move: Move, seen: ElasticIp, moment: Moment): Observation {
  if (moment.isUnsettled) return unclear(seen)
  const address = addressOf(move)
  const server = move.from?.name ?? seen.server?.hostname ?? seen.server?.id ?? 'the server it was on'
  if (moment.phase === 'accepted') return failed({ code: 'back-on-old-server', address, server })
  return { is: 'not-started', cause: { code: 'still-on-old-server', address, server } satisfies MoveFinding }
}

function failed(cause: MoveFinding): Extract<Observation, { is: 'failed' }> {
  return { is: 'failed', cause }
}

function supersededBy(seen: ElasticIp, { isMoving }: { isMoving: boolean }): Observation {
  const server = seen.server?.hostname ?? seen.server?.id ?? 'another server'
  return { is: 'superseded', cause: { code: 'moved-by-others', address: seen.address, server, isMoving } satisfies MoveFinding }
}

function unclear(seen: ElasticIp): Observation {
  return { is: 'unclear', seen: sightingOf(seen) }
}

function sightingOf({ status, server }: ElasticIp) {
  return { status, server: server ? (server.hostname ?? server.id) : null }
}
