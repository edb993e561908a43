import type { AccountApi } from './world.ts'

/** How long each answer of the account API takes while round trips are counted. It is much longer than the bot needs between two requests. */
const answerMs = 150

/**
 * Counts how many reads of the account API wait for one another while `action` runs. Reads that are sent together count once.
 */
export async function countRoundTrips(accountApi: AccountApi, action: () => Promise<unknown>): Promise<number> {
  const before = accountApi.journal.length
  const fault = accountApi.faults.add({ method: 'GET', kind: 'late', delayMs: answerMs, times: 1_000 })
  await action()
  fault.times = fault.fired
  const reads = accountApi.journal.slice(before)
  const depths: { endsAt: number; depth: number }[] = []
  for (const { method, time } of reads) {
    if (method !== 'GET') continue
    const earlier = depths.filter(({ endsAt }) => endsAt <= time + answerMs / 10)
    depths.push({ endsAt: time + answerMs, depth: 1 + Math.max(0, ...earlier.map(({ depth }) => depth)) })
  }
  return Math.max(0, ...depths.map(({ depth }) => depth))
}
