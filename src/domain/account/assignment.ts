import { z } from 'zod'

/** The server that Lockkeeper saw an Elastic IP on last. */
export const Assignment = z.object({
  elasticIpId: z.string(),
  address: z.string(),
  serverId: z.string(),
  /** The hostname of the server, or its id if it has none. */
  serverName: z.string(),
  /** When it was seen, in ms since 1970 by Redis' clock. */
  at: z.number(),
})
export type Assignment = z.infer<typeof Assignment>

/** An assignment, and how long ago it was seen. */
export type SeenAssignment = Assignment & { agoMs: number }

/** An older assignment is not used. */
export const longestSeenMs = 24 * 3_600_000

/** An older assignment may be outdated, so a person chooses whether to use it. */
export const freshSeenMs = 3_600_000

/** Finds assignments that Lockkeeper saw in the last 24 hours. Throws StoreUnavailableError if Redis does not answer. */
export interface SeenAssignments {
  find(fits: (seen: Assignment) => boolean): Promise<SeenAssignment[]>
}
