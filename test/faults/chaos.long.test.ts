import { expect, test } from 'vitest'
import { runChaos } from './chaos.ts'
import { brokenPromises } from './invariants.ts'

const isLong = process.env.MODE === 'faults'
const seconds = Number(process.env.CHAOS_SECONDS ?? (isLong ? 45 : 3))
const requests = Number(process.env.CHAOS_REQUESTS ?? (isLong ? 300 : 12))
const seed = Number(process.env.CHAOS_SEED ?? Math.floor(Math.random() * 2 ** 31))

test(
  `${requests} requests while processes, Redis, connections and answers are lost for ${seconds} s (CHAOS_SEED=${seed})`,
  async () => {
    const usual = { requests, faultsMs: seconds * 1_000, leastKills: 2, restMs: 240_000, seed }
    const run = await runChaos(isLong ? usual : { ...usual, evacuations: 0 })
    expect(brokenPromises(run)).toEqual([])
    expect(run.fired.kills).toBeGreaterThanOrEqual(2)
    // Random faults happen often enough only in the long run.
    if (!isLong) return
    const states = Map.groupBy(run.records, ({ state }) => state)
    const counts = [...states].map(([state, { length }]) => `${length} ${state}`)
    console.log(JSON.stringify({ seed, fired: run.fired, states: counts, seconds: run.seconds }))
    for (const [fault, count] of Object.entries(run.fired))
      if (!['swallowed', 'refused', 'held'].includes(fault)) expect({ fault, count }).not.toEqual({ fault, count: 0 })
  },
  (seconds + 480) * 1_000,
)
