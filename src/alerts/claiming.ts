import { setTimeout as pause } from 'node:timers/promises'
import { TryLater } from './outcome.ts'

/** How long a delivery waits for another one that handles the same alert, and how often it checks. */
const usualWaitMs = 5_000
const checkMs = 150

/**
 * Repeats a claim while another process holds it. Two Alertmanagers of a cluster send the same alert at the same moment. The second one
 * must not get 200 before the alert is recorded. Throws TryLater if it takes too long.
 */
export async function untilFree<T extends { is: string }>(
  attempt: () => Promise<T>,
  { waitMs = usualWaitMs, signal }: { waitMs?: number | undefined; signal: AbortSignal },
): Promise<Exclude<T, { is: 'busy' }>> {
  const endsAt = Date.now() + waitMs
  for (;;) {
    const claimed = await attempt()
    if (claimed.is !== 'busy') return claimed as Exclude<T, { is: 'busy' }>
    if (Date.now() > endsAt || signal.aborted) throw new TryLater('another process handles the alert')
    await pause(checkMs)
  }
}
