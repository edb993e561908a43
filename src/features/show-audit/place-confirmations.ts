import type { FoundEntry } from '../../audit/find-entries.ts'
import { clocksDifferMs, type MatchedEvent } from './account/match-events.ts'

interface Entries {
  /** The entries that are shown, oldest first. */
  shown: FoundEntry[]
  /** Those that a later entry of the same item stands for. */
  early: FoundEntry[]
}

interface Placed {
  event: MatchedEvent
  /** The index of the shown entry that it follows. */
  after: number
}

/**
 * Places the account's events among the entries, oldest first, by the time that they happened. An event never stands before the write that it
 * confirms, nor before the answer to that write: the account's clock may differ from that of Redis.
 */
export function placeConfirmations(events: MatchedEvent[], { shown, early }: Entries): Placed[] {
  return events
    .toSorted((a, b) => (a.at ?? 0) - (b.at ?? 0))
    .flatMap((event) => {
      if (event.is !== 'confirms') return []
      const { seq } = event.entry
      const { item } = early.find((entry) => entry.seq === seq) ?? {}
      const start = shown.findIndex((entry) => entry.seq === seq || (item !== undefined && entry.item === item))
      return start < 0 ? [] : [{ event, after: start + countBefore(event, shown.slice(start + 1)) }]
    })
}

/** Counts the first of these entries that belong before the event. */
function countBefore({ at = 0 }: MatchedEvent, entries: FoundEntry[]): number {
  const next = entries.findIndex((entry) => entry.at >= at && !(isAnswer(entry) && entry.at <= at + clocksDifferMs))
  return next < 0 ? entries.length : next
}

function isAnswer({ answer }: FoundEntry): boolean {
  return answer !== undefined
}
