/** The end of the audit's chain: the number of its last entry, counted from 1, and its hash. A chain without entries has 0 and ''. */
export interface Head {
  seq: number
  hash: string
}

/**
 * Remembers the furthest end of the audit's chain that this process has read. The chain only grows at its end, so a chain that ends earlier
 * or with another hash is an older state of Redis: a restored copy, or a replica that lagged and was promoted.
 */
export function createSeenHead() {
  let furthest: Head = { seq: 0, hash: '' }
  let setBack = false

  /**
   * Starts a comparison. Call it before the command is sent, and its result with the end that the primary had then (`found`) and has now.
   * An end that this process read while the command was on its way does not count.
   */
  function compare(): (found: Head, now?: Head) => void {
    const before = furthest
    return (found, now = found) => {
      const isOlder = isBefore(found, before)
      if (isOlder) setBack = true
      if (isOlder || now.seq > furthest.seq) furthest = now
    }
  }

  /** Returns whether an older state was found since the last call, and accepts the present state. */
  function takeSetBack(): boolean {
    const was = setBack
    setBack = false
    return was
  }

  return { compare, takeSetBack }
}
export type SeenHead = ReturnType<typeof createSeenHead>

function isBefore(found: Head, seen: Head): boolean {
  return found.seq < seen.seq || (found.seq === seen.seq && found.hash !== seen.hash)
}
