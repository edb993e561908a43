import { freshSeenMs } from '../account/assignment.ts'
import type { Finding } from '../change/finding.ts'
import type { Preflight } from '../change/preflight.ts'
import { CheckFailed } from '../errors/errors.ts'
import { canonicalJson } from '../signing/canonical-json.ts'
import { type CheckedAddress, type CheckFor, checkAddresses, type EvacuationReads } from './addresses.ts'
import { type EvacuatedIp, type EvacuationFacts, type EvacuationInput, type LeftOut, mostEvacuated } from './evacuation.ts'
import { type EvacuationFinding, evacuationWords } from './findings.ts'

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
