/** The end of the audit chain: the number of its last entry, counted from 1, and its hash. An empty chain has 0 and ''. */
export interface Head {
  seq: number
  hash: string
}

/**
 * Keeps the newest end of the audit chain that this process has read. The chain only grows at its end. So a chain that ends earlier, or with
 * another hash, is an older state of Redis: a restored copy, or a replica that lagged and was promoted.
 */
export function createNewestHead() {
  let newest: Head = { seq: 0, hash: '' }
  let hasFoundOlder = false

  /**
   * Starts a comparison. Call it before a command is sent, and its result with the end of the chain before (`found`) and after (`now`) that
   * command. An end that this process reads while the command is on its way is not compared.
   */
  function startComparison(): (found: Head, now?: Head) => void {
    const before = newest
    return (found, now = found) => {
      const isOlder = endsBefore(found, before)
      if (isOlder) hasFoundOlder = true
      if (isOlder || now.seq > newest.seq) newest = now
    }
  }

  /** Returns whether an older state was found since the last call. The comparisons go on from the present state. */
  function takeOlderState(): boolean {
    const result = hasFoundOlder
    hasFoundOlder = false
    return result
  }

  return { startComparison, takeOlderState }
}
export type NewestHead = ReturnType<typeof createNewestHead>

function endsBefore(found: Head, known: Head): boolean {
  return found.seq < known.seq || (found.seq === known.seq && found.hash !== known.hash)
}
