import { z } from 'zod'
import type { ElasticIp, Server } from '../../account/objects.ts'
import { freshSeenMs, isBgp, projectName, type SeenAssignment } from '../../domain/account.ts'
import { Finding, type Item, type Left, type Preflight, type Words } from '../../domain/change.ts'
import { CheckFailed } from '../../domain/errors.ts'
import { canonicalJson } from '../../domain/signing.ts'
import { linked, moment, type Phrase, person, phrase, someNames } from '../../domain/text.ts'
import { changedSince, finding, findings, idDifference, projectDifference } from '../../kit/findings.ts'
import {
  addressOf,
  checkMove,
  completeMove,
  isInPlaceOf,
  MoveFacts,
  moveDifferences,
  moveFindings,
  NamedServer,
  renamed,
} from './move-checks.ts'

/** The most addresses that one evacuation moves: its request message lists them all. */
export const mostEvacuated = 50

const server = z.string()
const causes = z.array(Finding)

const Moving = z.object({
  title: z.string(),
  link: z.string().optional(),
  by: z.string(),
  isAway: z.boolean(),
  isUnsent: z.boolean(),
  state: z.string(),
  start: z.number().optional(),
})

const stopFirst = ' To move them elsewhere, press *Stop tracking* there once it is offered. Then evacuate this server.'

/** Names what moves addresses to a server or away from it, and how to stop what comes. */
export function movesWords(moves: z.infer<typeof Moving>[]): Phrase {
  const coming = moves.filter(({ isAway }) => !isAway)
  const others = moves.flatMap(({ title, link, by, isAway, state, start }) => {
    const how = start === undefined ? [state] : phrase`${[state]}, starts ${moment(start)}`
    return phrase` ${linked(title, link)} by ${person(by)} moves addresses ${[isAway ? 'away' : 'to it']} (${how}).`
  })
  const withdraw = coming.some(({ isUnsent }) => isUnsent) ? " Withdraw what hasn't started." : ''
  return [...others, withdraw, coming.some(({ isUnsent }) => !isUnsent) ? stopFirst : '']
}

/** Everything that can prevent an evacuation, keep an address out of it, or end it. Each address also has the findings of its move. */
export const evacuationFindings = findings({
  'same-server': finding("{server} can't be evacuated to itself. Choose another server."),
  /** `moves`: other requests that move addresses to the server, or away from it. */
  'nothing-on-server': finding(
    { server, bgp: z.array(z.string()), moves: z.array(Moving).optional() },
    ({ server, bgp, moves = [] }) => {
      const left = bgpLeft(bgp, server)
      return phrase`The account shows no Elastic IPs on ${server}.${movesWords(moves)}${left ? phrase` ${left}` : []}`
    },
    { next: '' },
  ),
  'nothing-chosen': finding('Choose at least one address of {server}.'),
  'too-many-addresses': finding(
    { server, count: z.number() },
    ({ server, count }) =>
      phrase`${server} has ${count} addresses, and one request moves up to ${mostEvacuated}. To choose some, run the command without the target.`,
  ),
  /** `moves`: how many of the addresses can be moved. */
  'addresses-cannot-move': finding(
    { target: server, moves: z.number(), causes },
    ({ target, moves, causes }) => {
      const others = moves > 0 ? ' To move the others, choose them in the form.' : decideFirst(causes)
      const all = moves + causes.length
      const which = all === 1 ? '1 address' : `${causes.length} of ${all} addresses`
      return phrase`Not requested: ${[which]} can't move to ${target}. ${whys(causes)}${[others]}`
    },
    { field: 'elasticIpIds' },
  ),

  'left-out': finding(
    { causes },
    ({ causes }) =>
      phrase`${causes.length} left out${[causes.some(isLocked) ? ' when this was requested' : '']}: ${whys(causes)}${[decideFirst(causes)]}`,
    { isNote: ({ causes }) => causes.every(isHarmless) },
  ),
  'last-seen': finding(
    { server, count: z.number(), oldest: z.number() },
    ({ server, count, oldest }) =>
      phrase`The account shows no server for ${count} ${[count === 1 ? 'address' : 'addresses']}. Last seen on ${server} at ${moment(oldest)}.`,
  ),

  /**
   * Another open request has the address. `link`: of its message, if that is posted. `start`: when it starts, if it is scheduled. `going`: how far it
   * is, if it goes on by itself. `comes`: it moves the address to the server.
   */
  locked: finding(
    {
      address: z.string(),
      title: z.string(),
      link: z.string().optional(),
      by: z.string(),
      start: z.number().optional(),
      going: z.string().optional(),
      comes: z.boolean().optional(),
    },
    ({ address, title, link, by, start, going }) => {
      const starts = going !== undefined ? phrase` (${[going]})` : start === undefined ? [] : phrase`, starts ${moment(start)}`
      return phrase`${address} has an open request: ${linked(title, link)} by ${person(by)}${starts}.`
    },
  ),
  'not-chosen': finding("{address} wasn't chosen."),
  'seen-long-ago': finding(
    { address: z.string(), server, at: z.number(), isSent: z.boolean().optional() },
    ({ address, server, at, isSent }) =>
      phrase`The account shows no server for ${address}, last ${[isSent ? 'sent to' : 'seen on']} ${server} at ${moment(at)}.`,
  ),
  /** `address`: its id, if nothing more is known of it. */
  gone: finding("{address} isn't on the account.", { next: '' }),
  'not-on-server': finding('{address} is on {now}.', { next: '' }),
  /** Perhaps away from the server, so that nothing is left to request. */
  'already-moving': finding('{address} is already moving.'),
  'project-of-others': finding('{address} is in project {project}. An evacuation moves addresses of one project only.'),
  /** Neither the account nor Lockkeeper's own list of seen addresses has it on the server. */
  'not-seen-there': finding("Lockkeeper didn't see {address} on {server} in the past 24 h."),
  'came-later': finding("{address} came to {server} after the request, so it wasn't moved."),

  ...changedSince,
  'nothing-left': finding({ causes }, ({ causes }) => whys(causes), {
    next: ({ causes }) => (causes.every(({ code }) => code === 'not-on-server') ? 'Request a move from there.' : undefined),
  }),
})
export type EvacuationFinding = z.infer<typeof evacuationFindings.schema>
const { refuse } = evacuationFindings

export function explainEvacuation(finding: Finding): Words | undefined {
  return evacuationFindings.explain(finding) ?? moveFindings.explain(finding)
}

const isLocked = ({ code }: Finding) => code === 'locked'

/** True for as long as it is read: that request may have ended since. */
function decideFirst(causes: Finding[]): string {
  const locks = causes.filter(isLocked)
  if (locks.some(({ going }) => going === undefined))
    return ' To move an address now, approve its request, and press *Start now* if it is scheduled, or withdraw it. Without one, request the move.'
  return locks.some(({ comes }) => comes) ? stopFirst : ''
}

/** Whether an address is left out as somebody wants it, or is not on the server anyway. Any other stays on the server against expectation. */
function isHarmless(finding: Finding): boolean {
  return finding.code === 'not-chosen' || isElsewhere(finding)
}

function isElsewhere({ code }: Finding): boolean {
  return code === 'not-on-server' || code === 'gone'
}

/** `begun`: before that, *Check first* names what was left out. */
export function whatStays({ bgp, from, leftOut, came = [], isBack }: EvacuationFacts, begun: EvacuationInput | undefined): Left {
  const isLeft = ({ elasticIpId, finding }: LeftOut) => !isElsewhere(finding) && !begun?.elasticIpIds?.includes(elasticIpId)
  const left = begun ? leftOut.filter(isLeft).map(({ finding }) => finding) : []
  const causes = left.filter((finding) => !isHarmless(finding))
  const stays = bgpLeft(bgp, from.name)
  const words = causes.length === 0 ? stays : phrase`Left out at the request: ${whys(causes)}${stays ? phrase` ${stays}` : []}`
  // Nobody expects a move back to move the addresses that the server had before.
  return { words, count: isBack ? 0 : left.length + came.length }
}

/** Names the BGP addresses that a server may announce, and says what to do. Undefined if there are none. */
export function bgpLeft(bgp: string[] = [], server: string): Phrase | undefined {
  if (bgp.length === 0) return undefined
  const [it, sessions] = bgp.length === 1 ? ['it', 'its session'] : ['them', 'their sessions']
  return phrase`Not moved: ${someNames(bgp, 10)} (BGP). If ${server} announces ${[it]}, close ${[sessions]}.`
}

/** Joins the reasons, each a sentence that names its address, and then the other addresses for which it holds. */
function whys(causes: Finding[]): Phrase {
  const groups = [...Map.groupBy(causes, ({ address: _, ...reason }) => canonicalJson(reason)).values()]
  return groups.flatMap(([first = { code: 'unknown' }, ...others], index) => {
    const words = explainEvacuation(first)
    const why = words?.phrase ?? [words?.why ?? `${first.code}.`]
    const addresses = others.flatMap(({ address }) => (address === undefined ? [] : String(address)))
    const same = addresses.length === 0 ? [] : phrase` The same for ${someNames(addresses, mostEvacuated)}.`
    return [...(index === 0 ? [] : [' ']), ...why, ...same]
  })
}

export const EvacuationInput = z.object({
  /** The server that is evacuated. */
  serverId: z.string(),
  targetId: z.string(),
  /** The addresses to move, by the ids of their Elastic IPs. Absent: all that the server has. */
  elasticIpIds: z.array(z.string()).optional(),
  /** Leaves out addresses that cannot be moved, in place of a refusal. Only a new request by an alert sets it. */
  leavesOut: z.literal(true).optional(),
})
export type EvacuationInput = z.infer<typeof EvacuationInput>

/** One address, in the facts of its move. */
const EvacuatedIp = MoveFacts.extend({
  /** Set if the account shows no server for it: how long before the check Lockkeeper saw it on the server, in ms. */
  seenAgoMs: z.number().optional(),
  /** The same as a time, in ms since 1970. */
  seenAt: z.number().optional(),
})
type EvacuatedIp = z.infer<typeof EvacuatedIp>

/** An address of the server that is not moved, and why. */
export const LeftOut = z.object({ elasticIpId: z.string(), address: z.string(), finding: Finding })
export type LeftOut = z.infer<typeof LeftOut>

/** What the account shows about an evacuation. Members that could not be read or are not shown are absent. */
export const EvacuationFacts = z.object({
  from: NamedServer,
  to: NamedServer,
  project: MoveFacts.shape.project,
  site: z.string().optional(),
  items: z.array(EvacuatedIp),
  leftOut: z.array(LeftOut),
  /** The BGP addresses that the server may announce. They are not moved, and a change of this list stops nothing. */
  bgp: z.array(z.string()).optional(),
  /** The addresses that came to the server after the request. */
  came: z.array(LeftOut).optional(),
  /** Set if it undoes an earlier evacuation. People then call it a move back. */
  isBack: z.literal(true).optional(),
})
export type EvacuationFacts = z.infer<typeof EvacuationFacts>

export function movesOf({ items, to }: EvacuationFacts): Item[] {
  return items.map((facts) => ({
    id: facts.elasticIpId,
    name: addressOf(facts),
    input: { elasticIpId: facts.elasticIpId, serverId: to.id },
    facts,
  }))
}

/** What stops the whole evacuation. A change of one address keeps only that address from being sent. */
export function evacuationDifferences(approved: EvacuationFacts, now: EvacuationFacts): EvacuationFinding[] {
  const differences = [
    ...idDifference(approved.from.id, now.from.id),
    ...idDifference(approved.to.id, now.to.id),
    ...renamed(approved.from, now.from),
    ...renamed(approved.to, now.to),
    ...projectDifference(approved.project, now.project),
  ]
  const left = addressesLeftOut(approved, now)
  if (differences.length > 0 || !approved.items.every(({ elasticIpId }) => left.has(elasticIpId))) return differences
  return [{ code: 'nothing-left', causes: [...left.values()].flat() }]
}

/** Finds the approved addresses that must not be moved any more. An address that could not be read is not among them. */
export function addressesLeftOut(approved: EvacuationFacts, now: EvacuationFacts): Map<string, Finding[]> {
  const left = new Map(now.leftOut.map(({ elasticIpId, finding }) => [elasticIpId, [finding]]))
  const today = new Map(now.items.map((item) => [item.elasticIpId, item]))
  const found = approved.items.flatMap((item): [string, Finding[]][] => {
    const read = today.get(item.elasticIpId)
    const causes = read ? moveDifferences(item, read) : (left.get(item.elasticIpId) ?? [])
    return causes.length > 0 ? [[item.elasticIpId, causes]] : []
  })
  return new Map(found)
}

/** Keeps what the account showed at the approval and no longer shows. Drops addresses that were not approved. */
export function completeEvacuation(approved: EvacuationFacts, now: EvacuationFacts): EvacuationFacts {
  const before = new Map(approved.items.map((item) => [item.elasticIpId, item]))
  const known = new Set([...approved.items, ...approved.leftOut].map(({ elasticIpId }) => elasticIpId))
  const items = now.items.flatMap((item): EvacuatedIp[] => {
    const approvedItem = before.get(item.elasticIpId)
    return approvedItem ? [{ ...completeMove(approvedItem, item) }] : []
  })
  return {
    ...approved,
    ...now,
    from: approved.from,
    items,
    leftOut: [...approved.leftOut, ...now.leftOut.filter(({ elasticIpId }) => before.has(elasticIpId))],
    came: now.leftOut.filter(({ elasticIpId }) => !known.has(elasticIpId)),
  }
}

export interface EvacuationReads {
  /** Every Elastic IP of the account. It may show no server for an address while the server is not active. */
  all: ElasticIp[]
  /** The addresses that are meant although the account does not show them on the server. An address that could not be read is absent. */
  single: Map<string, ElasticIp | 'gone'>
  /** The addresses that Lockkeeper saw on the server before. Used only where the account shows none there. */
  seen: SeenAssignment[]
  source: Server | undefined
  target: Server | undefined
  /** Why addresses are left out that another request has locked. Read only for a request, and for those that it can leave out. */
  locked?: ReadonlyMap<string, Finding>
  /** What other requests move to the server or away from it, if the account shows no address there. */
  moves?: z.infer<typeof Moving>[]
}

/** Whether the check is for a new request, where a person can still choose, or repeats it before the writes. */
type CheckFor = 'request' | 'writes'

/** `longAgo`: how it came to be there so long ago that only a person chooses it. */
type CheckedAddress = { elasticIpId: string; address: string; longAgo?: Pick<SeenAssignment, 'at' | 'isSent'> | undefined } & (
  | { move: Preflight<EvacuatedIp>; finding?: undefined }
  | { move?: undefined; finding: Finding }
)

function cannotMove({ id, address }: Pick<ElasticIp, 'id' | 'address'>, finding: EvacuationFinding): CheckedAddress {
  return { elasticIpId: id, address, finding }
}

/** Without a target it compares nothing with it. `bgp`: the addresses that the server may announce, and that stay. */
export function checkAddresses(
  input: EvacuationInput,
  reads: EvacuationReads,
  checkFor: CheckFor,
): { from: NamedServer; checked: CheckedAddress[]; bgp: string[] } {
  const { all, seen, source, target } = reads
  const shown = all.find(({ server }) => server?.id === input.serverId)?.server?.hostname
  const name = source?.hostname ?? source?.label ?? shown ?? seen[0]?.serverName ?? input.serverId
  const from = { id: source?.id ?? input.serverId, name }
  const found = checkEach(input, reads, from, checkFor)
  // One rule of the policy covers the whole evacuation, so all of it is in one project.
  const project = target?.project ?? found.map(({ move }) => move?.facts.project).find((each) => each)
  const checked = found.map((each) => {
    const own = each.move?.facts.project
    if (!each.move || own?.id === project?.id) return each
    const { elasticIpId: id, address } = each
    return cannotMove({ id, address }, { code: 'project-of-others', address, project: own ? projectName(own) : 'unknown' })
  })
  // The target is in the same project and site as a server that is gone.
  const place = source ?? target
  return { from, checked, bgp: place ? bgpAddressesFor(all, place).map(({ address }) => address) : [] }
}

/** Those not known to be in another project or site, because the list does not say which servers announce an address. */
export function bgpAddressesFor(all: ElasticIp[], server: Pick<Server, 'project' | 'site'>): ElasticIp[] {
  return all.filter((elasticIp) => isBgp(elasticIp) && isInPlaceOf(elasticIp, server))
}

function checkEach(input: EvacuationInput, reads: EvacuationReads, from: NamedServer, checkFor: CheckFor): CheckedAddress[] {
  const check = (elasticIp: ElasticIp, seen?: SeenAssignment) => checkAddress(elasticIp, input, reads, from, seen)
  const seenById = new Map(reads.seen.map((each) => [each.elasticIpId, each]))
  const asked = new Set(input.elasticIpIds)
  // The server that a BGP address shows says nothing about who announces it.
  const isMeant = (elasticIp: ElasticIp) => asked.has(elasticIp.id) || !isBgp(elasticIp)
  const onServer = reads.all.filter((elasticIp) => elasticIp.server?.id === from.id && isMeant(elasticIp))
  const single = [...reads.single].flatMap(([id, read]): CheckedAddress[] => {
    const seen = seenById.get(id)
    if (read === 'gone') {
      const address = seen?.address ?? id
      return [cannotMove({ id, address }, { code: 'gone', address })]
    }
    // An address that was only seen there before, and is on another server now, does not belong to this server.
    if (!isMeant(read) || (read.server && read.server.id !== from.id && !asked.has(id))) return []
    if (!read.server && !seen && !isBgp(read) && checkFor === 'request')
      return [cannotMove({ id, address: read.address }, { code: 'not-seen-there', address: read.address, server: from.name })]
    return [check(read, seen)]
  })
  // Another id of an address, as somebody can send it, reads as the same address.
  const found = [...onServer.map((elasticIp) => check(elasticIp)), ...single]
  return [...Map.groupBy(found, ({ elasticIpId }) => elasticIpId).values()].flatMap((same) => same.slice(0, 1))
}

function checkAddress(
  elasticIp: ElasticIp,
  input: EvacuationInput,
  { source, target, locked }: EvacuationReads,
  from: NamedServer,
  seen: SeenAssignment | undefined,
): CheckedAddress {
  const { id: elasticIpId, address, server } = elasticIp
  if (server && server.id !== from.id) return cannotMove(elasticIp, { code: 'not-on-server', address, now: server.hostname ?? server.id })
  const lock = locked?.get(elasticIpId)
  if (lock) return { elasticIpId, address, finding: lock }
  const assigned = { ...elasticIp, server: { id: from.id, hostname: from.name } }
  try {
    const move = checkMove({ elasticIpId, serverId: input.targetId }, { elasticIp: assigned, target, assigned: source })
    // What sent it there is in *Check first*, as its last change.
    const { agoMs: seenAgoMs, at: seenAt } = seen?.isSent ? {} : (seen ?? {})
    const facts: EvacuatedIp = server ? move.facts : { ...move.facts, showsNoServer: true, seenAgoMs, seenAt }
    const longAgo = !server && seen && seen.agoMs > freshSeenMs ? seen : undefined
    return { elasticIpId, address, move: { ...move, facts }, longAgo }
  } catch (error) {
    if (!(error instanceof CheckFailed)) throw error
    return { elasticIpId, address, finding: error.finding }
  }
}

/** For a request, a chosen address that can't be moved refuses all, as the requester expects all to move. Before the writes it is left out. */
export function checkEvacuation(
  input: EvacuationInput,
  reads: EvacuationReads,
  checkFor: CheckFor,
): Preflight<EvacuationFacts, EvacuationInput> {
  const { target } = reads
  const { from, checked, bgp } = checkAddresses(input, reads, checkFor)
  const server = from.name
  const to = { id: target?.id ?? input.targetId, name: target?.hostname ?? target?.label ?? input.targetId }
  if (from.id === to.id) refuse({ code: 'same-server', server })
  const { moves, leftOut, unmovable } = divide(checked, input.elasticIpIds, checkFor, server)
  if (input.leavesOut && moves.length > 0) leftOut.push(...unmovable.splice(0))
  if (checkFor === 'request') {
    const causes = unmovable.map(({ finding }) => finding)
    if (causes.length > 0) refuse({ code: 'addresses-cannot-move', target: to.name, moves: moves.length, causes })
    if (moves.length === 0 && leftOut.length > 0) refuse({ code: 'nothing-chosen', server })
    if (moves.length === 0) refuse({ code: 'nothing-on-server', server, bgp, moves: reads.moves })
    if (moves.length > mostEvacuated) refuse({ code: 'too-many-addresses', server, count: moves.length })
  }
  const items = moves.map(({ facts }) => facts)
  return {
    facts: {
      from,
      to,
      project: items[0]?.project,
      site: items[0]?.site,
      items,
      leftOut: [...leftOut, ...unmovable],
      bgp,
    },
    input: { serverId: from.id, targetId: to.id, elasticIpIds: input.elasticIpIds ?? items.map(({ elasticIpId }) => elasticIpId) },
    unchecked: distinct(moves.flatMap(({ unchecked }) => unchecked)),
    warnings: warningsOf(moves, leftOut, server),
    incomplete: !target,
  }
}

/** `chosen`: undefined if nobody chose, so that all addresses are meant. */
function divide(checked: CheckedAddress[], chosen: string[] | undefined, checkFor: CheckFor, server: string) {
  const divided = { moves: [] as Preflight<EvacuatedIp>[], leftOut: [] as LeftOut[], unmovable: [] as LeftOut[] }
  for (const { elasticIpId, address, move, finding, longAgo } of checked) {
    const out = (why: EvacuationFinding | Finding): LeftOut => ({ elasticIpId, address, finding: why })
    if (chosen && !chosen.includes(elasticIpId))
      divided.leftOut.push(
        out(checkFor === 'writes' ? { code: 'came-later', address, server } : (finding ?? { code: 'not-chosen', address })),
      )
    else if (finding) divided.unmovable.push(out(finding))
    else if (!chosen && longAgo) {
      const { at, isSent } = longAgo
      divided.unmovable.push(out({ code: 'seen-long-ago', address, server, at, isSent }))
    } else divided.moves.push(move)
  }
  return divided
}

function warningsOf(moves: Preflight<EvacuatedIp>[], leftOut: LeftOut[], server: string): Finding[] {
  const seen = moves.flatMap(({ facts }) => facts.seenAt ?? [])
  const own: EvacuationFinding[] = []
  if (seen.length > 0) own.push({ code: 'last-seen', server, count: seen.length, oldest: Math.min(...seen) })
  if (leftOut.length > 0) own.push({ code: 'left-out', causes: leftOut.map(({ finding }) => finding) })
  return [...own, ...distinct(moves.flatMap(({ warnings = [] }) => warnings))]
}

function distinct(findings: Finding[]): Finding[] {
  return [...new Map(findings.map((finding) => [canonicalJson(finding), finding])).values()]
}
