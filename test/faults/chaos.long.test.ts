import { expect, test } from 'vitest'
import { runChaos } from './chaos.ts'
import { brokenPromises } from './invariants.ts'

const seconds = Number(process.env.CHAOS_SECONDS ?? 45)
const requests = Number(process.env.CHAOS_REQUESTS ?? 300)
const seed = Number(process.env.CHAOS_SEED ?? Math.floor(Math.random() * 2 ** 31))

test(
  `${requests} requests while processes, Redis, connections and answers are lost for ${seconds} s (CHAOS_SEED=${seed})`,
  async () => {
    const run = await runChaos({ requests, faultsMs: seconds * 1_000, leastKills: 2, restMs: 240_000, seed })
    expect(brokenPromises(run)).toEqual([])
    expect(run.fired.kills).toBeGreaterThanOrEqual(2)
    const states = Map.groupBy(run.records, ({ state }) => state)
    const counts = [...states].map(([state, { length }]) => `${length} ${state}`)
    console.log(JSON.stringify({ seed, fired: run.fired, states: counts, seconds: run.seconds }))
    for (const [fault, count] of Object.entries(run.fired))
      if (!['swallowed', 'refused', 'held'].includes(fault)) expect({ fault, count }).not.toEqual({ fault, count: 0 })
  },
  (seconds + 480) * 1_000,
)
