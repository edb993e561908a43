import { Queue } from 'bullmq'
import { Redis } from 'ioredis'
import { expect, onTestFinished, test } from 'vitest'
import { type Scene, startScene } from './scene.ts'

function openTicks({ redis, evidence }: Scene): Queue {
  const connection = new Redis(redis.url, { maxRetriesPerRequest: null })
  const ticks = new Queue('ticks', { connection, prefix: evidence.keys.queuePrefix })
  onTestFinished(async () => {
    await ticks.close()
    connection.disconnect()
  })
  return ticks
}

async function readAll({ bots }: Scene) {
  const { checks } = (await (await bots.page(0, '/status')).json()) as { checks: { worker: { ok: boolean; problem?: string } } }
  const [web, worker] = await Promise.all([0, 1].map(async (index) => (await bots.page(index, '/readyz')).ok))
  return { said: checks.worker.problem, web, worker }
}

test('while no tick runs although something is due, /status says so and the worker is not ready, but people get answers', async () => {
  const scene = await startScene({ bots: 2, own: (index) => ({ ROLE: index === 0 ? 'web' : 'worker' }), moveTakesMs: 2_000 })
  const card = await scene.startMove(0)
  const ticks = openTicks(scene)
  const allWell = { said: undefined, web: true, worker: true }
  expect(await readAll(scene)).toEqual(allWell)

  await ticks.pause()

  await expect
    .poll(() => readAll(scene), { timeout: 50_000, interval: 1_000 })
    .toEqual({ said: expect.stringMatching(/^1 running, but work is overdue\. The last tick was .* ago\./), web: true, worker: false })
  expect(scene.reports(card)).toEqual([])

  await ticks.resume()
  await scene.untilReport(card, /Done/)
  await expect.poll(() => readAll(scene)).toEqual(allWell)
})
