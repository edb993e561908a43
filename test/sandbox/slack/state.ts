/** What has changed, for those who wait or watch. */
export interface Change {
  rev: number
  /** Somebody in the workspace may see it, as opposed to the journal having grown. */
  visible: boolean
  /** Something that Slack's own client shows to one person. */
  notice?: { userId: string; text: string }
}

/** The change counter, the clock and the ids of a stand-in. `now` is wall clock in ms. */
export function createState(now: () => number) {
  const listeners = new Set<(change: Change) => void>()
  let rev = 0
  let lastMicroseconds = 0
  let lastId = 0

  function changed(change: { visible: boolean; notice?: { userId: string; text: string } }): void {
    rev += 1
    for (const listener of [...listeners]) listener({ rev, ...change })
  }

  return {
    now,
    rev: () => rev,
    changed,

    subscribe(listener: (change: Change) => void): () => void {
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
      }
    },

    /** Seconds with six decimals, larger than every one before: a message's `ts`, an `action_ts`. */
    stamp(): string {
      lastMicroseconds = Math.max(now() * 1000, lastMicroseconds + 1)
      return `${Math.floor(lastMicroseconds / 1e6)}.${String(lastMicroseconds % 1e6).padStart(6, '0')}`
    },

    /** An id that was never given before: `id('V')` is such as `V0000000001`. */
    id(prefix: string): string {
      lastId += 1
      return `${prefix}${lastId.toString(36).toUpperCase().padStart(10, '0')}`
    },
  }
}
export type State = ReturnType<typeof createState>
