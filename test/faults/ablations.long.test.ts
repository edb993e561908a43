import { expect, test } from 'vitest'
import { runChaos } from './chaos.ts'
import { brokenPromises } from './invariants.ts'
import { startScene } from './scene.ts'

/** A suite that cannot fail proves nothing: without one of its safety mechanisms the bot must break a promise. */
test.each([
  ['look-up off', /^I3/],
  ['absence taken for done', /^I4/],
  ['nothing taken back', /^I7/],
] as const)(
  'ablation: %s',
  async (ablation, promise) => {
    const seed = Math.floor(Math.random() * 2 ** 31)
    const run = await runChaos({ requests: 90, faultsMs: 15_000, seed, restMs: 20_000, ablation, keyLoss: 0.05 })
    const broken = brokenPromises(run).filter((line) => promise.test(line))
    console.log(JSON.stringify({ ablation, seed, broken: broken.length, example: broken[0] }))
    expect(broken.length).toBeGreaterThan(0)
  },
  120_000,
)

/**
 * The exception: jobs are only wake-ups here, so that the bot outlives even a queue that gives them up. What is due is in a set of its own,
 * which ticks look through, and jobs of a scheduler are never given up.
 */
test('jobs that the queue gives up are made up for', async () => {
  const moves = 6
  const scene = await startScene({ bots: 2, ablation: 'stalled jobs given up' })
  const cards = await Promise.all(Array.from({ length: moves }, (_, index) => scene.ask(index)))
  const looks = scene.account.faults.add({ method: 'GET', path: /elastic_ips\/./, kind: 'delay', delayMs: 20_000, times: 1_000 })
  for (const card of cards) await scene.ben.click(card, 'Approve')
  await expect.poll(() => looks.fired, { timeout: 10_000 }).toBeGreaterThanOrEqual(moves)
  // A click that was acknowledged and did not get further is nobody's approval.
  const waiting = async () => (await scene.evidence.records()).filter(({ state }) => state === 'waiting').length
  await expect.poll(waiting, { timeout: 10_000 }).toBe(0)

  await Promise.all([scene.bots.kill(0), scene.bots.kill(1)])
  looks.times = 0
  await Promise.all([scene.bots.start(0), scene.bots.start(1)])

  const givenUp = () => scene.bots.log.filter((line) => line.includes('stalled more than allowable limit')).length
  await expect.poll(givenUp, { timeout: 20_000 }).toBeGreaterThan(0)
  expect(brokenPromises(await scene.gather(moves, 60_000))).toEqual([])
  // One whose write was under way when its bot was killed may be told as not started; the others are done.
  expect(scene.writes().length).toBeGreaterThan(moves / 2)
}, 120_000)
