import type { Opened, OpenedItem } from '../../catalog.ts'
import { type PreflightResult, readAgain, repeatPreflight } from '../execute/repeat-preflight.ts'

/** An item that was read within this time is not read again. */
const freshMs = 10_000

/** How long a read allows a write, as for a single change. Redis may not answer between the two. */
export const readValidMs = 20_000

/** The read of an item, and the latest time for a write that depends on it, in ms by Redis' clock. */
export type ItemRead = PreflightResult & { notAfter: number }

/** One read of all items that wait. Times are in ms by Redis' clock. */
interface Reading {
  startedAt: number
  /** Returns undefined for an item that was not read. */
  of(item: OpenedItem): PreflightResult | undefined
}

interface ItemReadsParts {
  /** When this process read the items before it began the request. Undefined if another process or an earlier pass did: all are read again. */
  beganAt: number | undefined
  opened: Opened
  /** The items that are not sent yet. */
  waiting: ReadonlySet<string>
  now: () => Promise<number>
  onApiError: (error: unknown) => void
}

/**
 * Creates the reads of one pass over the items of a request. All items that wait are read together, and one reading serves all that are sent within
 * 10 s of it.
 */
export function createItemReads({ beganAt, opened, waiting, now, onApiError }: ItemReadsParts) {
  let last = Promise.resolve(readBefore(beganAt, opened))

  async function read(item: OpenedItem): Promise<ItemRead> {
    const at = await now()
    const known = last
    if (at - (await known).startedAt > freshMs && last === known) {
      last = readAll(at)
      // The next item tries again.
      last.catch(() => (last = known))
    }
    const reading = await last
    const result = reading.of(item)
    if (result) return { ...result, notAfter: reading.startedAt + readValidMs }
    return { ...(await repeatPreflight(item, onApiError)), notAfter: at + readValidMs }
  }

  async function readAll(startedAt: number): Promise<Reading> {
    const { change, input, facts } = opened
    if (!change.items) throw new Error(`${change.kind} has no items`)
    const result = await readAgain({ change, input: change.items.narrow(input, [...waiting]), facts }, onApiError)
    if (result.is !== 'unchanged') return { startedAt, of: () => result }
    const latest = change.complete?.(facts, result.facts) ?? result.facts
    return { startedAt, of: comparing({ change, facts, latest }) }
  }

  return read
}

/** The reads before the first write, which the record keeps. */
function readBefore(beganAt = 0, opened: Opened): Reading {
  return { startedAt: beganAt, of: comparing(opened) }
}

/** Compares each item with what was approved. */
function comparing({ change: { items }, facts, latest }: Pick<Opened, 'change' | 'facts' | 'latest'>): Reading['of'] {
  const leftOut = items?.leftOut(facts, latest)
  const read = new Map(items?.of(latest).map((item) => [item.id, item.facts]))
  return ({ id }) => {
    const causes = leftOut?.get(id)
    if (causes) return { is: 'changed', causes }
    return read.has(id) ? { is: 'unchanged', facts: read.get(id) } : undefined
  }
}
