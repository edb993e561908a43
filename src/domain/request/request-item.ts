import { z } from 'zod'
import { Finding } from '../change/finding.ts'
import { Sighting } from '../change/observation.ts'

/**
 * The states of one item of a request that has several. docs/request-states.md shows the steps between them. They mean what they mean for a
 * request with a single change, except `waiting`: the request is approved, and the write of the item was not sent yet.
 */
export const itemStates = ['waiting', 'starting', 'tracking', 'done', 'failed', 'superseded', 'not-started'] as const
export type ItemState = (typeof itemStates)[number]

/** Stands for a state of an item that another version of Lockkeeper wrote. No step leads to it or from it. */
export const unknownItemState = 'unknown'

/** The progress and the outcome of one item. Times are in ms since 1970 by Redis' clock. */
export const RequestItem = z.object({
  /** The id of its resource: `eip_1`. */
  id: z.string(),
  state: z.enum(itemStates).or(z.literal(unknownItemState)).catch(unknownItemState),
  sentAt: z.number().optional(),
  acceptedAt: z.number().optional(),
  lateAt: z.number().optional(),
  endedAt: z.number().optional(),
  /** What the account showed when the item was late. */
  lastSeen: Sighting.optional(),
  /** The reasons for its end. */
  causes: z.array(Finding).default([]),
  /** An item that was reported as not started or failed is tracked until then, because it may start late. */
  trackedUntil: z.number().optional(),
})
export type RequestItem = z.infer<typeof RequestItem>

export function isItemOpen({ state }: Pick<RequestItem, 'state'>): boolean {
  return state === 'waiting' || isItemUnderway({ state })
}

/** Whether the write of an item was sent, and its outcome is not known. */
export function isItemUnderway({ state }: Pick<RequestItem, 'state'>): boolean {
  return state === 'starting' || state === 'tracking'
}

/** Returns the items that can be tried again. An item that somebody else moved is left as it is. */
export function restOf<Item extends Pick<RequestItem, 'state'>>(items: Item[]): Item[] {
  return items.filter(({ state }) => state === 'failed' || state === 'not-started')
}
