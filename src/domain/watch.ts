import { z } from 'zod'
import { Origin } from './approval.ts'
import { isOpen, type Request, resourcesOf } from './request.ts'

export const watchedLists = ['plans', 'elasticIps', 'servers', 'apiKeys'] as const
export type WatchedList = (typeof watchedLists)[number]

/** What a list shows of a thing, by the word for it. `is` is compared, `shown` is what people read. */
const Facts = z.record(z.string(), z.object({ is: z.string(), shown: z.string() }))
export type Facts = z.infer<typeof Facts>

export const Seen = z.object({
  id: z.string(),
  name: z.string(),
  facts: Facts,
  /** The time of the last list that had it, if one without it came after that. */
  goneSince: z.number().optional(),
})
export type Seen = z.infer<typeof Seen>

/** What a person watches. Times are in ms since 1970 by Redis' clock. */
export const Watch = Seen.extend({
  key: z.string(),
  list: z.enum(watchedLists),
  /** Of a plan: the only site that counts. */
  site: z.string().optional(),
  origin: Origin,
  at: z.number(),
  until: z.number(),
})
export type Watch = z.infer<typeof Watch>

/** What two successive lists show of a thing. `since`: the time of the first one. `by`: the authors that the account's events name. */
export const Difference = z.object({
  list: z.enum(watchedLists),
  id: z.string(),
  name: z.string(),
  what: z.enum(['changed', 'created', 'gone']),
  facts: z.array(z.object({ fact: z.string(), from: z.string(), to: z.string(), is: z.string() })),
  since: z.number(),
  at: z.number(),
  isGap: z.boolean(),
  by: z.array(z.string()).default([]),
})
export type Difference = z.infer<typeof Difference>

/** A button that opens the form of a change, filled with the item that it names. */
const ItemButton = z.object({ label: z.string(), of: z.string(), kind: z.string(), id: z.string(), text: z.string() })

/** A message of a watch, or to the operators if it has no channel. Its signature covers it, so nobody chooses its words or its channel. */
export const WatchMessage = z.object({
  id: z.string(),
  words: z.string(),
  channelId: z.string().optional(),
  /** Who watches it. Each gets messages only while they may read. */
  watchers: z.array(Origin).default([]),
  items: z.array(z.object({ words: z.string(), button: ItemButton.optional() })).default([]),
})
export type WatchMessage = z.infer<typeof WatchMessage>

/** A thing of a list. Facts that are absent are not compared. */
export type Row = Omit<Seen, 'goneSince'>

/** The times of the list before and of this one. `gapMs`: longer than usual. `isWhole`: a thing that it lacks may be gone. */
export interface Interval {
  list: WatchedList
  since: number
  at: number
  gapMs: number
  isWhole: boolean
}

export function happened({ list, at, gapMs }: Interval, since: number): Pick<Difference, 'list' | 'since' | 'at' | 'isGap' | 'by'> {
  return { list, since, at, isGap: at - since > gapMs, by: [] }
}

/** Rows can shift between the pages of a list, so a thing is gone only once two lists in a row lack it. */
export function compare(before: Seen, row: Row | undefined, interval: Interval): { seen?: Seen; difference?: Difference } {
  const { isWhole, since } = interval
  const { id, name, facts, goneSince } = before
  if (!row) {
    if (!isWhole) return { seen: before }
    if (goneSince === undefined) return { seen: { ...before, goneSince: since } }
    return { difference: { ...happened(interval, goneSince), id, name, what: 'gone', facts: [] } }
  }
  const changed = Object.entries(row.facts).flatMap(([fact, { is, shown }]) => {
    const known = facts[fact]
    return known && known.is !== is ? [{ fact, from: known.shown, to: shown, is }] : []
  })
  return {
    seen: { id, name: row.name, facts: { ...facts, ...row.facts } },
    difference: changed.length > 0 ? { ...happened(interval, since), id, name: row.name, what: 'changed', facts: changed } : undefined,
  }
}

/** What a request of which nobody knows the effect may still do, so long after its write. */
const lateEffectMs = 24 * 3_600_000

const lateListMs = 60_000

const Target = z.object({ serverId: z.string().optional(), targetId: z.string().optional() })

/** Whether a request of Lockkeeper explains a difference. Its record says that a write is sent before that is, so no list shows it earlier. */
export function explains(request: Request, { list, id, name, what, facts, since, at }: Difference): boolean {
  const { sentAt, endedAt, state, resource, origin, input } = request
  if (sentAt === undefined) return false
  // A list may be a little older than its time.
  const isUnderway = isOpen(state) || (endedAt ?? 0) >= since - lateListMs
  const mayStillWork = state !== 'done' && sentAt > at - lateEffectMs
  if (list === 'apiKeys') {
    const isNamed = name.includes(` [${origin.userId} ${request.id.slice(0, 12)}`)
    return (isUnderway || mayStillWork) && (isNamed || (what === 'gone' && resource === `api_key:${id}`))
  }
  if (list !== 'elasticIps' || what !== 'changed' || !resourcesOf(request).includes(`elastic_ip:${id}`)) return false
  const { serverId, targetId = serverId } = Target.safeParse(input).data ?? {}
  const server = facts.find(({ fact }) => fact === serverFact)?.is
  // While an address moves, and after a move that failed, its status is that of the move, and it may show no server.
  if (server === undefined || server === '') return isUnderway
  return server === targetId && (isUnderway || mayStillWork)
}

export const serverFact = 'server'
