import type { TablesAre } from './data-table-schema.ts'
import type { Notification } from './notifications.ts'

/** A change, for waits and subscriptions. */
export interface Change {
  rev: number
  /** Whether people can see it. Otherwise only the journal has grown. */
  visible: boolean
  /** What Slack's own client shows to one person. */
  notice?: { userId: string; text: string }
  /** What a new message shows on phones. */
  notification?: Notification
}

/** Keeps the change counter, the clock and the ids of a stand-in. `now` is wall clock in ms. */
export function createState(now: () => number) {
  const listeners = new Set<(change: Change) => void>()
  let rev = 0
  let lastMicroseconds = 0
  let lastId = 0

  function changed(change: Omit<Change, 'rev'>): void {
    rev += 1
    for (const listener of [...listeners]) listener({ rev, ...change })
  }

  return {
    /** Whether messages may hold a data table. */
    tables: 'taken' as TablesAre,
    now,
    rev: () => rev,
    changed,

    subscribe(listener: (change: Change) => void): () => void {
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
      }
    },

    /** Returns seconds with six decimals, larger than every earlier stamp: the `ts` of a message, an `action_ts`. */
    stamp(): string {
      lastMicroseconds = Math.max(now() * 1000, lastMicroseconds + 1)
      return `${Math.floor(lastMicroseconds / 1e6)}.${String(lastMicroseconds % 1e6).padStart(6, '0')}`
    },

    /** Returns an id that was never used before: `id('V')` is such as `V0000000001`. */
    id(prefix: string): string {
      lastId += 1
      return `${prefix}${lastId.toString(36).toUpperCase().padStart(10, '0')}`
    },
  }
}
export type State = ReturnType<typeof createState>
