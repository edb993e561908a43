/** Where the audit's chain ends: the number of its last entry, from 1 on, and its hash; 0 and '' for one without entries. */
export interface Head {
  seq: number
  hash: string
}

/**
 * The furthest end of the audit's chain that this process has seen. The chain only grows (entries that are removed for their age leave
 * its end alone), so one that ends before that, or otherwise, is an older state of Redis: a copy, or a replica that lagged and took over.
 */
export function createSeenHead() {
  let furthest: Head = { seq: 0, hash: '' }
  let setBack = false

  /**
   * To be called before Redis is asked, and its result with the end that a primary had then, and has now: what others of this process
   * saw meanwhile is no measure for an answer that was on its way.
   */
  function look(): (found: Head, now?: Head) => void {
    const before = furthest
    return (found, now = found) => {
      const isOlder = isBefore(found, before)
      if (isOlder) setBack = true
      if (isOlder || now.seq > furthest.seq) furthest = now
    }
  }

  /** Whether an older state was met since this was asked last; what stands now is taken as known. */
  function takeSetBack(): boolean {
    const was = setBack
    setBack = false
    return was
  }

  return { look, takeSetBack }
}
export type SeenHead = ReturnType<typeof createSeenHead>

/** Pure. */
function isBefore(found: Head, seen: Head): boolean {
  return found.seq < seen.seq || (found.seq === seen.seq && found.hash !== seen.hash)
}
