import { type ConnectionOptions, Worker } from 'bullmq'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createQueues } from '../../src/redis/queues.ts'
import { connectTestRedis } from '../given/redis.ts'
import { requestFor } from '../given/request.ts'

const request = requestFor({ state: 'approved', reason: 'web-1 is being replaced' })
const pollIntervalMs = 1_000

/** The queues of one process. Those of a second one share its Redis. */
function startQueues({ redis, keys }: Pick<ReturnType<typeof connectTestRedis>, 'redis' | 'keys'> = connectTestRedis()) {
  const errors: unknown[] = []
  const queues = createQueues({ redis, keys, pollIntervalMs, onError: (error) => errors.push(error) })
  onTestFinished(() => queues.close())

  /** Runs the wake-ups as a worker does, and notes what it gets. */
  function runWakeUps() {
    const ran: { data: unknown; at: number }[] = []
    const options = { connection: redis as ConnectionOptions, prefix: keys.queuePrefix }
    const worker = new Worker('wake-ups', async ({ data }) => void ran.push({ data, at: performance.now() }), options)
    onTestFinished(() => worker.close())
    return ran
  }

  const scheduledAt = async () => (await queues.ticks.getJobScheduler('tick'))?.next
  /** The ids of the ticks that are to come. */
  const nextTicks = async () => (await queues.ticks.getJobs(['wait', 'delayed'])).map(({ id }) => id)
  return { ...queues, redis, keys, errors, runWakeUps, scheduledAt, nextTicks }
}

describe('a wake-up', () => {
  test('names the kind and the resource of the request, but no person', async () => {
    const { wake, wakeUps } = startQueues()

    await wake(request, 90_000)

    const [job] = await wakeUps.getDelayed()
    expect(job?.name).toBe('ip.move')
    expect(job?.data).toEqual({ version: 1, id: request.id, kind: 'ip.move', resource: 'elastic_ip:eip_1GijF7NsZe3bN' })
  })

  test('with a delay runs once, after the delay, and leaves nothing behind', async () => {
    const { wake, wakeUps, runWakeUps } = startQueues()
    const ran = runWakeUps()
    const startedAt = performance.now()

    await wake(request, 150)

    await expect.poll(() => ran.length).toBe(1)
    expect((ran[0]?.at ?? 0) - startedAt).toBeGreaterThanOrEqual(145)
    await expect.poll(() => wakeUps.getJobCounts()).toMatchObject({ active: 0, completed: 0, delayed: 0, failed: 0, waiting: 0 })
    expect(ran).toHaveLength(1)
  })

  test('takes the place of the one that is to come, and the last one says when', async () => {
    const { wake, wakeUps } = startQueues()
    const other = { ...request, id: 'f'.repeat(32) }

    for (const delayMs of [60_000, 30_000, 90_000, 60_000]) await Promise.all([wake(request, delayMs), wake(other, 90_000)])
    const delays = async () => (await wakeUps.getDelayed()).map(({ data, delay }) => [data.id, delay])
    expect(await delays()).toEqual([
      [request.id, 60_000],
      [other.id, 90_000],
    ])
    await wake(request)

    expect(await delays()).toEqual([[other.id, 90_000]])
    expect((await wakeUps.getWaiting()).map(({ data }) => data.id)).toEqual([request.id])
  })

  test('that fails is not kept, because a tick finds the request', async () => {
    const { redis, keys, wake, wakeUps } = startQueues()
    const failed: string[] = []
    const fail = async () => {
      throw new Error('no')
    }
    const worker = new Worker('wake-ups', fail, { connection: redis as ConnectionOptions, prefix: keys.queuePrefix })
    onTestFinished(() => worker.close())
    worker.on('failed', (job) => void failed.push(job?.name ?? ''))

    await wake(request)

    await expect.poll(() => failed).toEqual(['ip.move'])
    expect(await wakeUps.getJobCounts()).toMatchObject({ failed: 0, waiting: 0, delayed: 0 })
  })

  test('that Redis does not take is reported, and throws nothing', async () => {
    const { redis, wake, wakeUps, errors } = startQueues()
    await wakeUps.waitUntilReady()
    redis.disconnect()

    await expect(wake(request)).resolves.toBeUndefined()

    expect(errors.length).toBeGreaterThan(0)
  })
})

describe('ticks', () => {
  test('have one scheduler and one next tick, however many processes keep them, and however often', async () => {
    const one = startQueues()
    const other = startQueues(one)

    await Promise.all([one.keepTicking(), other.keepTicking(), one.keepTicking()])
    const at = await one.scheduledAt()
    await other.keepTicking()

    expect(await one.scheduledAt()).toBe(at)
    expect(await one.ticks.getJobSchedulersCount()).toBe(1)
    expect(await one.nextTicks()).toHaveLength(1)
  })

  test.each<[string, (own: ReturnType<typeof startQueues>) => Promise<unknown>]>([
    ['its jobs are', ({ redis, keys }) => redis.del(`${keys.queuePrefix}:ticks:wait`, `${keys.queuePrefix}:ticks:delayed`)],
    ['the scheduler is', ({ ticks }) => ticks.removeJobScheduler('tick')],
    ['the whole queue is', async ({ redis, keys }) => redis.del(...(await redis.keys(`${keys.queuePrefix}:ticks:*`)))],
  ])('go on if %s lost', async (_, lose) => {
    const own = startQueues()
    await own.keepTicking()
    await lose(own)

    await own.keepTicking()

    // A tick that waits does not end with its scheduler.
    expect((await own.nextTicks()).length).toBeGreaterThan(0)
    expect(await own.ticks.getJobSchedulersCount()).toBe(1)
    expect(await own.ticks.getGlobalConcurrency()).toBe(1)
  })

  test('begin anew if they are silent, although a process whose clock was ahead has left the next one far away', async () => {
    const { redis, keys, ticks, keepTicking, scheduledAt, nextTicks } = startQueues()
    const farAway = Date.now() + 600_000
    await ticks.upsertJobScheduler('tick', { every: pollIntervalMs, startDate: farAway })
    await keepTicking()
    expect(await scheduledAt()).toBe(farAway)

    await keepTicking(true)

    expect(await scheduledAt()).toBeLessThanOrEqual(Date.now())
    expect(await nextTicks()).toHaveLength(1)
    expect(await redis.llen(`${keys.queuePrefix}:ticks:wait`)).toBe(1)
  })
})
