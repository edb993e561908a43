import { expect, test } from 'vitest'
import { runChaos } from './chaos.ts'
import { brokenPromises } from './invariants.ts'
import { startScene } from './scene.ts'

/** Shows that the suite can fail: without one of its safety mechanisms the bot breaks a promise. */
test.each([
  ['search off', /^I3/],
  ['absence taken for done', /^I4/],
  ['unseen keys kept', /^I7/],
] as const)('ablation: %s', async (ablation, promise) => {
  const seed = Math.floor(Math.random() * 2 ** 31)
  const run = await runChaos({ requests: 90, faultsMs: 15_000, seed, restMs: 20_000, ablation, keysLost: 3 })
  const broken = brokenPromises(run).filter((line) => promise.test(line))
  console.log(JSON.stringify({ ablation, seed, broken: broken.length, example: broken[0] }))
  expect(broken.length).toBeGreaterThan(0)
})

/**
 * The exception: the bot survives a queue that gives up its jobs, because jobs only wake requests up. Ticks find what is due in a sorted
 * set, and jobs of a scheduler are never given up.
 */
test('requests whose jobs the queue gave up are still executed', async () => {
  const moves = 6
  const scene = await startScene({ bots: 2, ablation: 'stalled jobs given up' })
  const cards = await Promise.all(Array.from({ length: moves }, (_, index) => scene.requestMove(index)))
  const reads = scene.accountApi.faults.add({ method: 'GET', path: /elastic_ips\/./, kind: 'delay', delayMs: 20_000, times: 1_000 })
  for (const card of cards) await scene.ben.click(card, 'Approve')
  await expect.poll(() => reads.fired).toBeGreaterThanOrEqual(moves)
  // A click that was acknowledged and lost afterwards is no approval.
  const waiting = async () => (await scene.evidence.records()).filter(({ state }) => state === 'waiting').length
  await expect.poll(waiting).toBe(0)

  await Promise.all([scene.bots.kill(0), scene.bots.kill(1)])
  reads.times = 0
  await Promise.all([scene.bots.start(0), scene.bots.start(1)])

  const givenUp = () => scene.bots.log.filter((line) => line.includes('stalled more than allowable limit')).length
  await expect.poll(givenUp).toBeGreaterThan(0)
  expect(brokenPromises(await scene.gather(moves))).toEqual([])
  // A request whose write was under way when its bot was killed may be reported as not started. The others are done.
  expect(scene.writes().length).toBeGreaterThan(moves / 2)
})
