import { expect, test } from 'vitest'
import { runChaos } from './chaos.ts'
import { brokenPromises } from './invariants.ts'

const seed = Number(process.env.CHAOS_SEED ?? Math.floor(Math.random() * 2 ** 31))

test(`25 requests while processes, Redis, connections and answers are lost for 5 s (CHAOS_SEED=${seed})`, async () => {
  const run = await runChaos({ requests: 25, faultsMs: 5_000, leastKills: 4, seed })
  expect(brokenPromises(run)).toEqual([])
  // Random faults happen often enough only in the long run.
  const { kills, redisKills, ...ofChance } = run.fired
  expect(kills).toBeGreaterThanOrEqual(4)
  expect(redisKills).toBeGreaterThan(0)
  expect(Object.values(ofChance).filter((count) => count > 0).length).toBeGreaterThan(2)
}, 90_000)
