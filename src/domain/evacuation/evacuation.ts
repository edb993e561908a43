import { z } from 'zod'
import type { Item } from '../change/change.ts'
import { Finding } from '../change/finding.ts'
import { addressOf, completeMove, MoveFacts, moveDifferences } from '../elastic-ip-move/elastic-ip-move.ts'
import type { EvacuationFinding } from './findings.ts'

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
export const EvacuatedIp = MoveFacts.extend({
  /** Set if the account shows no server for it: how long before the check Lockkeeper saw it on the server, in ms. */
  seenAgoMs: z.number().optional(),
})
export type EvacuatedIp = z.infer<typeof EvacuatedIp>

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
