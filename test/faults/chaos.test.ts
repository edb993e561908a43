import { expect, test } from 'vitest'
import { runChaos } from './chaos.ts'
import { brokenPromises } from './invariants.ts'

const seed = Number(process.env.CHAOS_SEED ?? Math.floor(Math.random() * 2 ** 31))

test(`12 requests while processes, Redis, connections and answers are lost for 3 s (CHAOS_SEED=${seed})`, async () => {
  const run = await runChaos({ requests: 12, evacuations: 0, faultsMs: 3_000, leastKills: 2, seed })
  expect(brokenPromises(run)).toEqual([])
  // Random faults happen often enough only in the long run.
  const { kills, ...ofChance } = run.fired
  expect(kills).toBeGreaterThanOrEqual(2)
  expect(Object.values(ofChance).filter((count) => count > 0).length).toBeGreaterThan(1)
}, 90_000)
