import { z } from 'zod'
import {
  type ElasticIp,
  freshSeenMs,
  isBgp,
  projectName,
  type SeenAssignment,
  type Server,
  sameProject,
  sameSite,
} from '../domain/account.ts'
import { Finding, type Item, type Preflight, type Words, wordsFrom } from '../domain/change.ts'
import { CheckFailed } from '../domain/errors.ts'
import { canonicalJson } from '../domain/signing.ts'
import { formatAge, type Phrase, phrase, someNames } from '../domain/text.ts'
import { addressOf, checkMove, completeMove, MoveFacts, moveDifferences, moveFindings } from './move.ts'

const server = z.string()
const address = z.string()
const Cause = z.object({ address, finding: Finding })

/** Everything that can prevent an evacuation, keep an address out of it, or end it. Each address also has the findings of its move. */
export const EvacuationFinding = z.discriminatedUnion('code', [
  z.object({ code: z.literal('same-server'), server }),
  /** `bgp`: the BGP addresses that it may announce. */
  z.object({ code: z.literal('nothing-on-server'), server, bgp: z.array(address).optional() }),
  z.object({ code: z.literal('nothing-chosen'), server }),
  z.object({ code: z.literal('too-many-addresses'), server, count: z.number(), most: z.number() }),
  /** `moves`: how many of the addresses can be moved. `isChosen`: somebody ticked them in the form. */
  z.object({
    code: z.literal('addresses-cannot-move'),
    server,
    target: server,
    moves: z.number(),
    causes: z.array(Cause),
    isChosen: z.literal(true).optional(),
  }),

  z.object({ code: z.literal('left-out'), causes: z.array(Cause) }),
  z.object({ code: z.literal('last-seen'), server, count: z.number(), oldestMs: z.number() }),

  z.object({ code: z.literal('not-chosen'), address }),
  z.object({ code: z.literal('seen-long-ago'), address, server, agoMs: z.number() }),
  z.object({ code: z.literal('not-on-server'), address, server, now: server }),
  z.object({ code: z.literal('project-of-others'), address, project: z.string() }),
  /** Neither the account nor Lockkeeper's own list of seen addresses has it on the server. */
  z.object({ code: z.literal('not-seen-there'), address, server }),
  z.object({ code: z.literal('came-later'), address, server }),

  z.object({ code: z.literal('server-id-changed'), before: server, now: server }),
  z.object({ code: z.literal('target-project-changed'), server, before: z.string(), now: z.string() }),
  z.object({ code: z.literal('nothing-left'), server, causes: z.array(Finding) }),
])
export type EvacuationFinding = z.infer<typeof EvacuationFinding>

/** Puts a finding of an evacuation, or of the move of one of its addresses, into words. Undefined for any other finding. */
export function explainEvacuation(finding: Finding): Words | undefined {
  const ofMove = moveFindings.explain(finding)
  if (ofMove) return ofMove
  const own = EvacuationFinding.safeParse(finding)
  return own.success ? evacuationWords(own.data) : undefined
}

function evacuationWords(finding: EvacuationFinding): Words {
  const words = wordsFrom(sentenceOf(finding))
  if (finding.code === 'nothing-on-server') return { ...words, next: 'Check the account.' }
  if (finding.code === 'nothing-left' && finding.causes.every(({ code }) => code === 'not-on-server')) {
    return {
      ...words,
      next: finding.causes.length === 1 ? 'To move it from there, request its move.' : 'To move them from there, request a move of each.',
    }
  }
  return finding.code === 'left-out' && finding.causes.every(isHarmless) ? { ...words, isNote: true } : words
}

/** Whether an address is left out as somebody wants it, or is not on the server anyway. Any other stays on the server against expectation. */
function isHarmless({ finding: { code } }: z.infer<typeof Cause>): boolean {
  return code === 'not-chosen' || code === 'not-on-server' || code === 'no-elastic-ip'
}

function sentenceOf(finding: EvacuationFinding): Phrase {
  switch (finding.code) {
    case 'same-server':
      return phrase`${finding.server} can't be evacuated to itself. Choose another server.`
    case 'nothing-on-server':
      return phrase`The account shows no Elastic IPs on ${finding.server}, so there is nothing to evacuate.${finding.bgp ? [' ', ...(bgpWords(finding.bgp, finding.server) ?? [])] : []}`
    case 'nothing-chosen':
      return phrase`Choose at least one address of ${finding.server}.`
    case 'too-many-addresses':
      return phrase`${finding.server} has ${finding.count} addresses, and one request moves up to ${finding.most}. Leave the target out to choose some of them in the form.`
    case 'addresses-cannot-move':
      return cannotMove(finding)
    case 'left-out':
      // With one reason, the count would only repeat what it says.
      if (finding.causes.every((cause) => cause.finding.code === 'not-chosen')) return listed(finding.causes)
      return phrase`${[finding.causes.length === 1 ? '1 address is' : `${finding.causes.length} addresses are`]} left out. ${listed(finding.causes)}`
    case 'last-seen':
      return finding.count === 1
        ? phrase`The account shows no server for 1 address. Lockkeeper saw it on ${finding.server} ${[formatAge(finding.oldestMs)]} before this request, and checks it again before the move.`
        : phrase`The account shows no server for ${finding.count} addresses. Lockkeeper saw all of them on ${finding.server} at most ${[formatAge(wholeUnits(finding.oldestMs))]} before this request, and checks each again before its move.`
    case 'not-chosen':
      return phrase`${finding.address} isn't part of this request.`
    case 'seen-long-ago':
      return phrase`The account shows no server for ${finding.address}. Lockkeeper saw it on ${finding.server} ${[formatAge(finding.agoMs)]} ago.`
    case 'not-on-server':
      return phrase`${finding.address} is on ${finding.now}, not on ${finding.server}.`
    case 'project-of-others':
      return phrase`${finding.address} is in project ${finding.project}. An evacuation moves addresses of one project only.`
    case 'not-seen-there':
      return phrase`The account shows no server for ${finding.address}, and Lockkeeper didn't see it on ${finding.server} in the past 24 h.`
    case 'came-later':
      return phrase`${finding.address} was assigned to ${finding.server} after the request, so it wasn't moved.`
    case 'server-id-changed':
      return phrase`This was requested as ${finding.before}, but the account API shows it as ${finding.now}. Request it again with that id.`
    case 'target-project-changed':
      return phrase`${finding.server} was in project ${finding.before} when this was requested, and is in ${finding.now} now.`
    case 'nothing-left':
      if (finding.causes.length === 1) return whys(finding.causes)
      return phrase`None of the addresses can be moved from ${finding.server} anymore. ${whys(finding.causes)}`
  }
}

/** Names the BGP addresses that a server may announce, and says what to do. Undefined if there are none. */
export function bgpWords(bgp: string[] = [], server: string): Phrase | undefined {
  if (bgp.length === 0) return undefined
  const sessions = bgp.length === 1 ? 'its session' : 'their sessions'
  return phrase`${someNames(bgp, mostListed)} not moved: BGP, may be announced by ${server}. Close ${[sessions]} by hand.`
}

/** Rounds up to whole minutes, or to whole hours: what was seen in the last 61 minutes was not all seen in the last hour. */
function wholeUnits(ms: number): number {
  const unitMs = ms > 3_600_000 ? 3_600_000 : 60_000
  return Math.max(1, Math.ceil(ms / unitMs)) * unitMs
}

function cannotMove({ server, target, moves, causes, isChosen }: Extract<EvacuationFinding, { code: 'addresses-cannot-move' }>): Phrase {
  const all = moves + causes.length
  // A chosen address may be on another server by now.
  const which = isChosen ? phrase`${all} chosen addresses` : phrase`${all} addresses of ${server}`
  const choose = isChosen
    ? `To move the others, untick ${causes.length === 1 ? 'this one' : 'these'}.`
    : 'To move the others, leave out the target and choose them in the form.'
  return phrase`${causes.length} of ${which} can't be moved to ${target}, so nothing was requested. ${listed(causes)}${[moves > 0 ? ` ${choose}` : '']}`
}

/** A refusal lists at most this many reasons, and counts the others. */
const mostListed = 10

function listed(causes: z.infer<typeof Cause>[]): Phrase {
  return whys(causes.map(({ finding }) => finding))
}

/** Joins the reasons, each a sentence that names its address, and then the other addresses for which it holds. */
function whys(causes: Finding[]): Phrase {
  const groups = [...Map.groupBy(causes, withoutAddress).values()]
  const sentences = groups.slice(0, mostListed).map(whyOfSome)
  const more = groups.slice(mostListed).flat().length
  const all = more > 0 ? [...sentences, phrase`And ${more} more.`] : sentences
  return all.flatMap((sentence, index) => (index === 0 ? sentence : [' ', ...sentence]))
}

function whyOfSome(some: Finding[]): Phrase {
  const [finding = { code: 'unknown' }, ...others] = some
  if (finding.code === 'not-chosen') return phrase`${addressesOf(some)} ${[some.length === 1 ? "isn't" : "aren't"]} part of this request.`
  const words = explainEvacuation(finding)
  const why = words?.phrase ?? [words?.why ?? `${finding.code}.`]
  return others.length === 0 ? why : phrase`${why} The same for ${addressesOf(others)}.`
}

function addressesOf(findings: Finding[]): Phrase {
  return findings.flatMap((finding, index) => phrase`${[index === 0 ? '' : ', ']}${String(finding.address)}`)
}

/** Returns what is the same for all addresses with one reason. A reason that names no address stands alone. */
function withoutAddress({ address, ...reason }: Finding, index: number): string {
  return address === undefined ? `${index}` : canonicalJson(reason)
}

/** The most addresses that one evacuation moves: its request message lists them all. */
export const mostEvacuated = 50

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

const NamedServer = z.object({ id: z.string(), name: z.string() })

/** One address, in the facts of its move. */
const EvacuatedIp = MoveFacts.extend({
  /** Set if the account shows no server for it: how long before the check Lockkeeper saw it on the server, in ms. */
  seenAgoMs: z.number().optional(),
})
type EvacuatedIp = z.infer<typeof EvacuatedIp>

/** An address of the server that is not moved, and why. */
export const LeftOut = z.object({ elasticIpId: z.string(), address: z.string(), finding: Finding })
export type LeftOut = z.infer<typeof LeftOut>

/** What the account shows about an evacuation. Members that could not be read or are not shown are absent. */
export const EvacuationFacts = z.object({
  from: NamedServer,
  to: NamedServer,
  toAddress: z.string().optional(),
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

/** Returns one move for each address. */
export function movesOf({ items, to }: EvacuationFacts): Item[] {
  return items.map((facts) => ({
    id: facts.elasticIpId,
    name: addressOf(facts),
    input: { elasticIpId: facts.elasticIpId, serverId: to.id },
    facts,
    ...(facts.seenAgoMs === undefined ? {} : { lastSeen: { server: facts.from?.name ?? '', agoMs: facts.seenAgoMs } }),
  }))
}

/** Finds the differences that stop the whole evacuation. A change of one address keeps only that address from being sent. */
export function evacuationDifferences(approved: EvacuationFacts, now: EvacuationFacts): EvacuationFinding[] {
  const differences: EvacuationFinding[] = []
  for (const [before, today] of [
    [approved.from.id, now.from.id],
    [approved.to.id, now.to.id],
  ] as const) {
    if (before !== today) differences.push({ code: 'server-id-changed', before, now: today })
  }
  if (approved.project && now.project && approved.project.id !== now.project.id) {
    differences.push({ code: 'target-project-changed', server: now.to.name, before: labelOf(approved.project), now: labelOf(now.project) })
  }
  const left = addressesLeftOut(approved, now)
  const isAll = approved.items.every(({ elasticIpId }) => left.has(elasticIpId))
  if (differences.length === 0 && isAll)
    differences.push({ code: 'nothing-left', server: approved.from.name, causes: [...left.values()].flat() })
  return differences
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

/**
 * Keeps the facts about each address that the account showed at the approval and no longer shows. Drops addresses that were not approved:
 * they came to the server later, or were left out of the request.
 */
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

function labelOf({ id, name, slug }: NonNullable<MoveFacts['project']>): string {
  return name ?? slug ?? id
}

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
type CheckFor = 'request' | 'writes'

/** One address of the server: how it can be moved, or why it cannot. */
type CheckedAddress = { elasticIpId: string; address: string } & ({ move: Preflight<EvacuatedIp> } | { finding: Finding })

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

/**
 * Checks each address of a server as a single move would be checked. For a request it throws CheckFailed if one of the chosen addresses can't be
 * moved, because the requester expects all of them to move. Before the writes it only leaves such an address out.
 */
export function checkEvacuation(
  input: EvacuationInput,
  reads: EvacuationReads,
  checkFor: CheckFor,
): Preflight<EvacuationFacts, EvacuationInput> {
  const { target } = reads
  const { from, checked, bgp } = checkAddresses(input, reads, checkFor)
  const to = { id: target?.id ?? input.targetId, name: target?.hostname ?? target?.label ?? input.targetId }
  if (from.id === to.id) refuseEvacuation({ code: 'same-server', server: from.name })
  const chosen = new Set(input.elasticIpIds ?? checked.map(({ elasticIpId }) => elasticIpId))
  const { moves, leftOut, cannotMove } = divide(checked, { chosen, isAll: input.elasticIpIds === undefined, checkFor, server: from.name })
  if (input.leavesOut && moves.length > 0) leftOut.push(...cannotMove.splice(0))
  if (checkFor === 'request') refuseUnlessClear({ moves, leftOut, cannotMove, bgp, from, to, isChosen: input.elasticIpIds !== undefined })
  const items = moves.map(({ facts }) => facts)
  const [first] = moves
  return {
    facts: {
      from,
      to,
      ...(target?.primaryIpv4 ? { toAddress: target.primaryIpv4 } : {}),
      ...(first?.facts.project ? { project: first.facts.project } : {}),
      ...(first?.facts.site ? { site: first.facts.site } : {}),
      items,
      leftOut: checkFor === 'request' ? leftOut : [...leftOut, ...cannotMove],
      bgp,
    },
    input: { serverId: from.id, targetId: to.id, elasticIpIds: input.elasticIpIds ?? items.map(({ elasticIpId }) => elasticIpId) },
    unchecked: distinct(moves.flatMap(({ unchecked }) => unchecked)),
    warnings: warningsOf(moves, leftOut, from.name),
    incomplete: !target,
  }
}

/** Throws CheckFailed with the finding and its words. */
function refuseEvacuation(finding: EvacuationFinding): never {
  throw new CheckFailed(finding, evacuationWords(finding))
}

interface Divided {
  moves: Preflight<EvacuatedIp>[]
  /** Addresses that were not chosen. */
  leftOut: LeftOut[]
  /** Addresses that were chosen and cannot be moved. */
  cannotMove: LeftOut[]
}

interface Choice {
  chosen: Set<string>
  /** Whether nobody chose, so that all addresses are meant. */
  isAll: boolean
  checkFor: CheckFor
  server: string
}

function divide(checked: CheckedAddress[], { chosen, isAll, checkFor, server }: Choice): Divided {
  const divided: Divided = { moves: [], leftOut: [], cannotMove: [] }
  for (const each of checked) {
    const { elasticIpId, address } = each
    const out = (finding: Finding): LeftOut => ({ elasticIpId, address, finding })
    if (!chosen.has(elasticIpId)) {
      const own: EvacuationFinding = checkFor === 'writes' ? { code: 'came-later', address, server } : { code: 'not-chosen', address }
      divided.leftOut.push(out(checkFor === 'request' && 'finding' in each ? each.finding : own))
    } else if ('finding' in each) divided.cannotMove.push(out(each.finding))
    else if (isAll && (each.move.facts.seenAgoMs ?? 0) > freshSeenMs)
      divided.cannotMove.push(out({ code: 'seen-long-ago', address, server, agoMs: each.move.facts.seenAgoMs }))
    else divided.moves.push(each.move)
  }
  return divided
}

interface Refusable extends Divided, Pick<EvacuationFacts, 'from' | 'to'> {
  bgp: string[]
  /** Whether somebody chose the addresses in the form. */
  isChosen: boolean
}

function refuseUnlessClear({ moves, leftOut, cannotMove, bgp, from, to, isChosen }: Refusable): void {
  const server = from.name
  if (cannotMove.length > 0) {
    const causes = cannotMove.map(({ address, finding }) => ({ address, finding }))
    refuseEvacuation({
      code: 'addresses-cannot-move',
      server,
      target: to.name,
      moves: moves.length,
      causes,
      ...(isChosen ? { isChosen: true as const } : {}),
    })
  }
  if (moves.length === 0 && leftOut.length > 0) refuseEvacuation({ code: 'nothing-chosen', server })
  if (moves.length === 0) refuseEvacuation({ code: 'nothing-on-server', server, ...(bgp.length > 0 ? { bgp } : {}) })
  if (moves.length > mostEvacuated) refuseEvacuation({ code: 'too-many-addresses', server, count: moves.length, most: mostEvacuated })
}

/**
 * Lists what approvers should know: about the target (once), the addresses that are left out, and those that the account shows on no
 * server.
 */
function warningsOf(moves: Preflight<EvacuatedIp>[], leftOut: LeftOut[], server: string): Finding[] {
  const agos = moves.flatMap(({ facts }) => facts.seenAgoMs ?? [])
  return [
    ...(agos.length > 0
      ? [{ code: 'last-seen', server, count: agos.length, oldestMs: Math.max(...agos) } satisfies EvacuationFinding]
      : []),
    ...(leftOut.length > 0
      ? [{ code: 'left-out', causes: leftOut.map(({ address, finding }) => ({ address, finding })) } satisfies EvacuationFinding]
      : []),
    ...distinct(moves.flatMap(({ warnings = [] }) => warnings)),
  ]
}

function distinct(findings: Finding[]): Finding[] {
  return [...new Map(findings.map((finding) => [canonicalJson(finding), finding])).values()]
}
