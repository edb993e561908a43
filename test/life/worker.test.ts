import { Worker } from 'bullmq'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { StoreUnavailableError } from '../../src/domain/errors.ts'
import type { Request } from '../../src/domain/request.ts'
import { createWorker, reconcile as reconcileRequest, type Work } from '../../src/life/worker.ts'
import type { createStore } from '../../src/record/store.ts'
import { createQueues } from '../../src/redis/queues.ts'
import { fakeApp, noticing } from '../fake-app.ts'
import { connectTestStore } from '../given/redis.ts'
import { newRequestFor, recordRequest } from '../given/request.ts'
import { takeSteps } from '../given/take-steps.ts'

/** Starts a worker over a real Redis. `reconciled` and `sent` record its requests and messages; nothing else happens to them. */
async function startWorker({
  watchdogMs = 60_000,
  failWith,
  refusesCards = false,
  checkDataLossMark = async () => {},
  track = async () => {},
  untilSlackAnswers,
  longestTickMs,
  onReconcile = async () => {},
  works,
  over = connectTestStore(),
}: {
  works?: Work[]
  over?: ReturnType<typeof connectTestStore>
  onReconcile?: (wake: ReturnType<typeof createQueues>['wake'], id: string) => Promise<void>
  watchdogMs?: number
  longestTickMs?: number
  failWith?: Error
  refusesCards?: boolean
  checkDataLossMark?: () => Promise<void>
  track?: (requests: Request[]) => Promise<void>
  untilSlackAnswers?: Promise<void>
} = {}) {
  const { redis, keys, store } = over
  const reconciled: string[] = []
  const sent: string[] = []
  const errors: unknown[] = []
  /** The requests that errors were reported of. */
  const failed: (string | undefined)[] = []
  const tidied: string[] = []
  const told: string[] = []
  const queues = createQueues({ redis, keys, pollIntervalMs: 50, onError: (error) => errors.push(error) })
  const reconcile = async (id: string) => {
    reconciled.push(id)
    await onReconcile(queues.wake, id)
    if (failWith) {
      await store.postpone(id, 15_000)
      throw failWith
    }
    if ((await store.find(id).catch(() => 'unreadable')) === 'unreadable') return reconcileRequest(app, async () => {}, id)
    await redis.zrem(keys.due, id)
  }
  const app = fakeApp({
    redis,
    keys,
    queues,
    ...noticing(told),
    audit: { tidy: async () => void tidied.push('tidied') },
    store,
    errors: {
      of: () => (error, requestId) => {
        errors.push(error)
        failed.push(requestId)
      },
    },
  })
  const worker = createWorker(app, {
    dataLossMark: { check: checkDataLossMark },
    redisWatch: { check: async () => {} },
    does: {
      reconcile: (_, __, id) => reconcile(id),
      track: (_, requests) => track(requests),
      async sweepOutbox(_, onRefusedCard) {
        const members = await redis.zrange(keys.outbox, '0', '-1')
        sent.push(...members)
        await untilSlackAnswers
        if (members.length > 0) await redis.zrem(keys.outbox, ...members)
        if (refusesCards) for (const member of members) onRefusedCard(member.slice(0, member.indexOf('/')))
      },
    },
    works,
    watchdogMs,
    repeatMs: 10,
    longestTickMs,
  })
  void worker.start()
  onTestFinished(async () => {
    await worker.stop()
    await queues.close()
  })
  return { app, redis, keys, store, queues, worker, reconciled, sent, errors, failed, tidied, told }
}

function record(store: ReturnType<typeof createStore>, id: string, needsApproval = false) {
  return recordRequest(store, { id, resource: `elastic_ip:${id}`, needsApproval })
}

describe('a request that asks for its next look at each look', () => {
  test('has one wake-up that is to come, however many others woke it at the same moment', async () => {
    const later = { kind: 'ip.move', resource: 'elastic_ip:eip_1' }
    const { queues, reconciled } = await startWorker({ onReconcile: (wake, id) => wake({ ...later, id }, 60_000) })
    const ids = ['a', 'b'].map((letter) => letter.repeat(32))
    for (let times = 0; times < 3; times += 1) {
      const before = reconciled.length
      for (const id of ids) {
        await queues.wake({ ...later, id })
        // As a process of an earlier release, or a person with a dashboard, does.
        await queues.wakeUps.add('ip.move', { version: 1, id, ...later })
      }
      await expect.poll(() => reconciled.length).toBeGreaterThanOrEqual(before + ids.length * 2)
    }
    await expect.poll(() => queues.wakeUps.getJobCounts('active', 'waiting')).toEqual({ active: 0, waiting: 0 })

    expect((await queues.wakeUps.getDelayed()).map(({ data }) => data.id).toSorted()).toEqual(ids)
  })
})

describe('the worker', () => {
  test('reports each error with the request that it was working on: a woken one, and a due one', async () => {
    const { store, queues, failed } = await startWorker({ failWith: new Error('it does not fit') })
    await queues.wake({ id: 'woken', kind: 'ip.move', resource: 'elastic_ip:woken' })
    await record(store, 'due')
    await expect.poll(() => [...new Set(failed)].toSorted()).toEqual(['due', 'woken'])
  })

  test('finds a request that is due without a wake-up', async () => {
    const { store, reconciled, errors } = await startWorker()
    await record(store, 'lost')
    await expect.poll(() => reconciled).toContain('lost')
    expect(errors).toEqual([])
  })

  test('ticks on after somebody has deleted the queue of ticks, or they went silent', async () => {
    const { redis, keys, store, queues, reconciled } = await startWorker({ watchdogMs: 50 })
    await record(store, 'before')
    await expect.poll(() => reconciled).toContain('before')
    await redis.del(...(await redis.keys(`${keys.queuePrefix}:ticks:*`)))
    await record(store, 'deleted')
    await expect.poll(() => reconciled).toContain('deleted')

    await queues.ticks.removeJobScheduler('tick')
    await queues.ticks.upsertJobScheduler('tick', { every: 50, startDate: Date.now() + 600_000 })
    await record(store, 'silent')
    await expect.poll(() => reconciled).toContain('silent')
  })

  test('ticks on after the loop that takes jobs stands still for good', async () => {
    const loops = Worker.prototype as unknown as { waitForJob(blockUntil: number): Promise<number> }
    const { waitForJob } = loops
    const standing = new Set<unknown>()
    vi.spyOn(loops, 'waitForJob').mockImplementation(async function (this: Worker, blockUntil) {
      if (this.name === 'ticks' && standing.size === 0) standing.add(this)
      return standing.has(this) ? new Promise(() => {}) : waitForJob.call(this, blockUntil)
    })
    const { store, reconciled } = await startWorker({ watchdogMs: 50 })
    await expect.poll(() => standing.size).toBe(1)

    await record(store, 'after')

    await expect.poll(() => reconciled).toContain('after')
  })
})

describe('a tick', () => {
  /** Starts a worker with a tracked move and another request that is due. The account API answers when the test ends. */
  async function startHanging(options: { longestTickMs?: number } = {}) {
    const { promise: answer, resolve: letAnswer } = Promise.withResolvers<void>()
    const over = connectTestStore()
    // Both before the first tick, which hangs.
    await record(over.store, 'moving', true)
    await takeSteps(over.store, 'moving', 'approve', 'send', ['accept', { dueInMs: 0 }])
    await record(over.store, 'other')
    const parts = await startWorker({ over, track: () => answer, ...options })
    // Before the worker stops, which waits for its tick.
    onTestFinished(() => letAnswer())
    return parts
  }

  test('reconciles and sends while the account API hangs, and counts as work', async () => {
    const { redis, keys, store, reconciled, sent } = await startHanging()
    await expect.poll(() => reconciled).toEqual(['other'])

    await redis.zadd(keys.outbox, Date.now(), 'owed-meanwhile/card')

    await expect.poll(() => sent).toContain('owed-meanwhile/card')
    await expect.poll(async () => Number.isFinite(await store.sinceLastTickMs())).toBe(true)
  })

  test('no longer counts as work if it does not end', async () => {
    const { store } = await startHanging({ longestTickMs: 200 })
    await expect.poll(async () => Number.isFinite(await store.sinceLastTickMs())).toBe(true)

    // This is twelve times the interval at which a running tick reports.
    await expect.poll(() => store.sinceLastTickMs()).toBeGreaterThan(600)
  })

  test('reconciles while Slack hangs and a message is unsent', async () => {
    const { promise: answer, resolve: letAnswer } = Promise.withResolvers<void>()
    const { redis, keys, store, reconciled, sent } = await startWorker({ untilSlackAnswers: answer })
    onTestFinished(() => letAnswer())
    await redis.zadd(keys.outbox, Date.now(), 'unsent/card')
    await expect.poll(() => sent.length).toBe(1)

    await record(store, 'due')

    await expect.poll(() => reconciled).toContain('due')
    expect(sent).toHaveLength(1)
  })
})

describe('repeated work', () => {
  test('runs once in its time, in one process of several, over the connection of the jobs', async () => {
    const over = connectTestStore()
    const runs: unknown[] = []
    const works = [{ name: 'counts', everyMs: 60_000, run: async (app: unknown) => void runs.push(app) }]
    const workers = [await startWorker({ over, works }), await startWorker({ over, works })]
    await expect.poll(() => runs).toHaveLength(1)
    await record(over.store, 'later')
    await expect.poll(() => workers.flatMap(({ reconciled }) => reconciled)).toContain('later')

    expect(runs).toHaveLength(1)
    expect(workers.some(({ app }) => app === runs[0])).toBe(true)
  })

  test('that fails is reported, and a stop interrupts what runs', async () => {
    let isInterrupted = false
    const hang = (_: unknown, signal: AbortSignal) =>
      new Promise<void>((_, reject) => {
        signal.addEventListener('abort', () => {
          isInterrupted = true
          reject(signal.reason)
        })
      })
    const { redis, keys, worker, errors } = await startWorker({
      works: [
        { name: 'fails', everyMs: 60_000, run: async () => Promise.reject(new Error('no answer')) },
        { name: 'hangs', everyMs: 60_000, run: hang },
      ],
    })
    await expect.poll(() => errors).toMatchObject([{ message: 'no answer' }])
    await expect.poll(() => redis.exists(keys.repeated('hangs'))).toBe(1)
    await worker.stop()

    expect({ isInterrupted, errors: errors.length }).toEqual({ isInterrupted: true, errors: 1 })
  })

  test('does not run twice at once, and delays no tick', async () => {
    const { promise: answer, resolve: letAnswer } = Promise.withResolvers<void>()
    let begun = 0
    const hang = () => {
      begun += 1
      return answer
    }
    const { store, reconciled } = await startWorker({ works: [{ name: 'hangs', everyMs: 1, run: hang }] })
    onTestFinished(() => letAnswer())
    await expect.poll(() => begun).toBe(1)
    for (const id of ['a', 'b', 'c']) {
      await record(store, id)
      await expect.poll(() => reconciled).toContain(id)
    }

    expect(begun).toBe(1)
  })
})

describe('a worker that stops', () => {
  test('during its first check is not noted after its stop', async () => {
    const checked = Promise.withResolvers<void>()
    const { redis, keys, worker, tidied } = await startWorker({ checkDataLossMark: () => checked.promise })
    await worker.stop()

    checked.resolve()

    await expect.poll(() => tidied.length).toBe(1)
    expect(await redis.zrange(keys.workers, '0', '-1')).toEqual([])
  })
})

describe('the watchdog while Redis does not answer', () => {
  test('waits once, and does not add a check at every interval', async () => {
    const answer = Promise.withResolvers<void>()
    let checks = 0
    const checkDataLossMark = () => {
      checks += 1
      return answer.promise
    }
    const { tidied } = await startWorker({ watchdogMs: 10, checkDataLossMark })
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect({ checks, tidied }).toEqual({ checks: 1, tidied: [] })
    answer.resolve()
    await expect.poll(() => checks).toBeGreaterThan(2)
  })
})

describe('a card that Slack refuses', () => {
  test('has its request reconciled at once, and not only at the first reminder', async () => {
    const { redis, keys, store, reconciled } = await startWorker({ refusesCards: true })
    await record(store, 'a', true)
    await redis.zadd(keys.outbox, Date.now(), 'a/card')
    await record(store, 'due')
    await expect.poll(() => reconciled).toContain('a')
  })
})

describe('a faulty record', () => {
  test('does not block others, whether it is gone or cannot be parsed', async () => {
    const { redis, keys, store, reconciled } = await startWorker()
    await record(store, 'broken')
    await redis.hset(keys.record('broken'), 'origin', '"of another age"')
    await record(store, 'gone')
    await redis.del(keys.record('gone'))
    await record(store, 'good')

    await expect.poll(() => reconciled).toContain('good')
    await expect.poll(() => reconciled).toContain('gone')
    expect(await store.findMany(['broken', 'gone', 'good'])).toMatchObject([{ id: 'good' }])
  })

  test('that cannot be decoded is told once, and its lock is free after its record is deleted', async () => {
    const { redis, keys, store, queues, reconciled, told } = await startWorker()
    const { resource } = await record(store, 'broken')
    await redis.hset(keys.record('broken'), 'origin', '"of another age"')
    await expect.poll(() => told).toEqual(['record-unreadable'])
    await expect.poll(() => store.isDue('broken')).toBe(false)
    await queues.wake({ id: 'broken', kind: 'ip.move', resource })
    await expect.poll(() => reconciled.filter((id) => id === 'broken')).toHaveLength(2)

    expect(await store.create(newRequestFor({ resource }))).toMatchObject({ outcome: 'busy', locked: [{ by: 'broken' }] })
    await redis.del(keys.record('broken'))
    expect(await store.create(newRequestFor({ resource }))).toMatchObject({ outcome: 'created' })
    expect((await store.findOpen()).unreadable).toBe(0)
  })

  test('of a later version is not told, and is read again later', async () => {
    const { redis, keys, store, told, failed } = await startWorker()
    await record(store, 'later')
    await redis.hset(keys.record('later'), { version: '2', origin: '"of a later age"' })
    await expect.poll(() => failed).toContain('later')
    await expect.poll(() => store.due()).toEqual([])
    expect({ told, isDue: await store.isDue('later') }).toEqual({ told: [], isDue: true })
  })

  test('is postponed for long if it cannot be reconciled, and is soon due again if Redis failed', async () => {
    const isPostponedAfter = async (failWith: Error) => {
      const { redis, keys, store, reconciled } = await startWorker({ failWith })
      await record(store, 'a')
      await expect.poll(() => reconciled).toContain('a')
      await expect.poll(() => reconciled.length > 1 || redis.zcount(keys.due, String(Date.now() + 60_000), '+inf')).toBeTruthy()
      return reconciled.length === 1
    }
    expect(await isPostponedAfter(new Error('it does not fit'))).toBe(true)
    expect(await isPostponedAfter(new StoreUnavailableError('Redis: out of memory'))).toBe(false)
  })
})
