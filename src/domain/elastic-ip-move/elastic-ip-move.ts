import { z } from 'zod'
import { distinctLabels, sameProject } from '../account/place.ts'
import type { MoveFinding } from './findings.ts'

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
