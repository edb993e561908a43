/** How many calls may be sent to the account API: `perSecond` on average, and up to `burst` at once after a pause. */
export interface Pace {
  perSecond: number
  burst: number
}

/**
 * Enough to confirm the ends of 10,000 moves that take a minute each. A defect here cannot send more. The burst is for the moves that ended
 * since the tick before, 5 s earlier: a tick confirms them at once, limited only by the number of parallel reads.
 */
export const usualPace: Pace = { perSecond: 300, burst: 1_000 }

/**
 * Creates a token bucket for this process. `turn` resolves with true when a call may be sent. It waits with the function that it is given,
 * and resolves with false if that function stops waiting early. `pause` delays all calls, for example after a 429.
 */
export function createPacing({ perSecond, burst }: Pace, now: () => number = () => performance.now()) {
  let tokens = burst
  let at = now()
  let pausedUntil = 0

  function waitMs(): number {
    const time = now()
    tokens = Math.min(burst, tokens + ((time - at) / 1_000) * perSecond)
    at = time
    tokens -= 1
    const forToken = tokens >= 0 ? 0 : (-tokens / perSecond) * 1_000
    return Math.max(forToken, pausedUntil - time)
  }

  /** A caller that stops waiting returns its token, so that it delays nobody else. */
  async function turn(wait: (ms: number) => Promise<boolean>): Promise<boolean> {
    const ms = waitMs()
    if (ms <= 0) return true
    const waited = await wait(ms)
    if (!waited) tokens += 1
    return waited
  }

  function pause(ms: number): void {
    pausedUntil = Math.max(pausedUntil, now() + ms)
  }

  return { turn, pause }
}
