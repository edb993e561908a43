/** Time limits in ms. Tests shorten them. */
export interface Timings {
  /** The time after a write in which reads may not show it yet: the request may not have arrived, or reads may be behind. */
  graceMs: number
  /** How long after a write without an effect it may still take effect. Until then the request stays under way, so that its end is reported once. */
  unsettledMs: number
  /** From then on another process may make a secret worthless. Longer than the write and all attempts to show the secret together. */
  handoverMs: number
  /** What counts as a minute for the limits of the account. Default: 60 s. */
  accountWindowMs?: number | undefined
  /** How often a process that answers people looks for a worker. Default: 10 s. */
  workerCheckMs?: number | undefined
  /** How often a worker looks for repeated work, and how long one read of a watched list counts. Default: 15 s. */
  repeatMs?: number | undefined
}

export const usualTimings: Timings = { graceMs: 60_000, unsettledMs: 15 * 60_000, handoverMs: 45_000 }
