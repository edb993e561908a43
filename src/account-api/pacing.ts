/** Calls of the account API wait for a token each: so many a second, and so many at once after a rest. */
export interface Pace {
  perSecond: number
  burst: number
}

/**
 * Enough to confirm the ends of 10,000 moves that take a minute each, and no more than that, whatever goes wrong here. What ended since the
 * last look, 5 s ago, comes at once, held up only by how many are read at a time.
 */
export const usualPace: Pace = { perSecond: 300, burst: 1_000 }

/**
 * A token bucket for one process. While the account API asks to slow down (429), nothing is taken from it until then.
 * `turn` resolves when a call may be made; it does not outlive its signal.
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
export type Pacing = ReturnType<typeof createPacing>
