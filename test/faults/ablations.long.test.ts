import { expect, test } from 'vitest'
import { runChaos } from './chaos.ts'
import { brokenPromises } from './invariants.ts'

/** A suite that cannot fail proves nothing: robbed of one of its ideas the bot must break a promise. */
test.each([
  ['look-up off', /^I3/],
  ['absence taken for done', /^I4/],
] as const)(
  'ablation: %s',
  async (ablation, promise) => {
    const seed = Math.floor(Math.random() * 2 ** 31)
    const run = await runChaos({ requests: 90, faultsMs: 15_000, seed, restMs: 20_000, ablation })
    const broken = brokenPromises(run).filter((line) => promise.test(line))
    console.log(JSON.stringify({ ablation, seed, broken: broken.length, example: broken[0] }))
    expect(broken.length).toBeGreaterThan(0)
  },
  120_000,
)
