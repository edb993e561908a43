/** How long things take that people wait for; tests shorten them. All in ms. */
export interface Timings {
  /** How long after a write its traces may still be missing: the request may be on its way, and reads may trail writes. */
  graceMs: number
  /**
   * After this long the process that issued a secret no longer shows it, and somebody else may take it back. Longer than every
   * deadline on the way: the write, and the tries to show it.
   */
  handoverMs: number
}

export const usualTimings: Timings = { graceMs: 60_000, handoverMs: 45_000 }
