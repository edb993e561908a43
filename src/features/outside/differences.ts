import { z } from 'zod'
import { isOpen, type Request, resourcesOf } from '../../domain/request.ts'

// What happens on the account outside Lockkeeper, as successive lists show it. Times are in ms since 1970 by Redis' clock.

export const comparedLists = ['elasticIps', 'apiKeys'] as const
export type ComparedList = (typeof comparedLists)[number]

const Server = z.object({ id: z.string(), name: z.string() })

export const Seen = z.object({
  id: z.string(),
  name: z.string(),
  /** Of an Elastic IP: the last one that it was seen on. */
  server: Server.optional(),
  /** The time of the last list that had it, if one without it came after that. */
  goneSince: z.number().optional(),
})
export type Seen = z.infer<typeof Seen>

/** What two successive lists show of a thing. `since`: the time of the first one. `isGap`: nobody compared for longer than usual. */
export const Difference = z.object({
  list: z.enum(comparedLists),
  id: z.string(),
  name: z.string(),
  what: z.enum(['moved', 'created', 'gone']),
  from: Server.optional(),
  to: Server.optional(),
  since: z.number(),
  at: z.number(),
  isGap: z.boolean(),
})
export type Difference = z.infer<typeof Difference>

/** A thing of a list. */
export type Row = Omit<Seen, 'goneSince'>

/** The times of the list before and of this one. `gapMs`: longer than usual. `isWhole`: a thing that it lacks may be gone. */
export interface Interval {
  list: ComparedList
  since: number
  at: number
  gapMs: number
  isWhole: boolean
}

/**
 * The first list only shows what there is. Of addresses only moves count, of keys only that they were created or are gone. Rows can shift between
 * the pages of a list, so a key is gone only once two lists in a row lack it.
 */
export function compareLists(before: Seen[] | undefined, rows: Row[], interval: Interval): { seen: Seen[]; found: Difference[] } {
  const { list, at, gapMs, isWhole, since } = interval
  const known = new Map(before?.map((each) => [each.id, each]))
  const seen: Seen[] = []
  const found: Difference[] = []
  const add = ({ id, name }: Row, what: Difference['what'], more: Partial<Difference> = {}) =>
    found.push({ list, id, name, what, since, at, isGap: at - (more.since ?? since) > gapMs, ...more })

  for (const row of rows) {
    const { server: from } = known.get(row.id) ?? {}
    const { server: to = from } = row
    seen.push({ ...row, server: to })
    if (from && to && from.id !== to.id) add(row, 'moved', { from, to })
    if (before && list === 'apiKeys' && !known.has(row.id)) add(row, 'created')
    known.delete(row.id)
  }
  for (const missing of known.values()) {
    const { goneSince } = missing
    if (!isWhole || goneSince === undefined) seen.push(isWhole ? { ...missing, goneSince: since } : missing)
    else if (list === 'apiKeys') add(missing, 'gone', { since: goneSince })
  }
  return { seen, found }
}

/** What a request of which nobody knows the effect may still do, so long after its write. */
const lateEffectMs = 24 * 3_600_000

const lateListMs = 60_000

const Target = z.object({ serverId: z.string().optional(), targetId: z.string().optional() })

/** Whether a request of Lockkeeper explains a difference. Its record says that a write is sent before that is, so no list shows it earlier. */
export function explains(request: Request, { list, id, name, what, to, since, at }: Difference): boolean {
  const { sentAt, endedAt, state, resource, origin, input } = request
  if (sentAt === undefined) return false
  // A list may be a little older than its time.
  const isUnderway = isOpen(state) || (endedAt ?? 0) >= since - lateListMs
  const mayStillWork = state !== 'done' && sentAt > at - lateEffectMs
  if (!isUnderway && !mayStillWork) return false
  if (list === 'apiKeys')
    return name.includes(` [${origin.userId} ${request.id.slice(0, 12)}`) || (what === 'gone' && resource === `api_key:${id}`)
  const { serverId, targetId = serverId } = Target.safeParse(input).data ?? {}
  return resourcesOf(request).includes(`elastic_ip:${id}`) && to?.id === targetId
}

/** `forged`: Lockkeeper did not write it. `unreadable`: signed with a key that this process lacks, or by another version. */
export type OutsideProblem = 'forged' | 'unreadable'
