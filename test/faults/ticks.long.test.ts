import { Queue } from 'bullmq'
import { Redis } from 'ioredis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { brokenPromises } from './invariants.ts'
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

/** Each returns how much it has deleted or changed. */
const meddling: Record<string, (ticks: Queue, admin: Redis) => Promise<number>> = {
  'the scheduler is removed': async (ticks) => Number(await ticks.removeJobScheduler('tick')),
  'its next job is removed': (ticks, admin) => admin.del(ticks.toKey('delayed')),
  'its next job is failed by hand': async (ticks, admin) => {
    const ids = await admin.zrange(ticks.toKey('delayed'), '0', '-1')
    for (const id of ids) await admin.zadd(ticks.toKey('failed'), Date.now(), id)
    await admin.del(ticks.toKey('delayed'))
    return ids.length
  },
  'both queues are deleted': async (_, admin) => admin.del(...(await admin.keys('*:ticks:*')), ...(await admin.keys('*:wake-ups:*'))),
}

describe('somebody changes the ticks by hand while a move is tracked', () => {
  test.each(Object.entries(meddling))('%s: it is followed on within a minute', async (_, meddle) => {
    const scene = await startScene({ moveTakesMs: 4_000 })
    const card = await scene.startMove(0)
    const ticks = openTicks(scene)

    // Between two ticks there is nothing to remove.
    await expect.poll(() => meddle(ticks, scene.admin), { interval: 50 }).toBeGreaterThan(0)

    await scene.untilReport(card, /Done/)
    expect(brokenPromises(await scene.gather(1))).toEqual([])
  })
})

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
