import { expect, test } from 'vitest'
import { runChaos } from './chaos.ts'
import { brokenPromises } from './invariants.ts'

const seconds = Number(process.env.CHAOS_SECONDS ?? 45)
const requests = Number(process.env.CHAOS_REQUESTS ?? 300)
const seed = Number(process.env.CHAOS_SEED ?? Math.floor(Math.random() * 2 ** 31))

test(
  `${requests} requests, evacuations and alerts while processes, Redis, connections and answers are lost for ${seconds} s (CHAOS_SEED=${seed})`,
  async () => {
    const run = await runChaos({ requests, faultsMs: seconds * 1_000, restMs: 120_000, seed })
    console.log(JSON.stringify({ seed, fired: run.fired, states: countBy(run.records.map(({ state }) => state)), seconds: run.seconds }))
    expect(brokenPromises(run)).toEqual([])
    for (const [fault, count] of Object.entries(run.fired))
      if (!['swallowed', 'refused', 'held'].includes(fault)) expect({ fault, count }).not.toEqual({ fault, count: 0 })
  },
  (seconds + 180) * 1_000,
)

function countBy(words: string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1
  return counts
}
