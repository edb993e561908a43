import { describe, expect, onTestFinished, test } from 'vitest'
import { StoreUnavailableError } from '../../../src/domain/errors.ts'
import { createQueues } from '../../../src/redis/queues.ts'
import { createOutbox } from '../../../src/requests/outbox/outbox.ts'
import type { Track } from '../../../src/requests/reconcile/track.ts'
import { createStore } from '../../../src/requests/store/store.ts'
import { createWorker } from '../../../src/requests/worker/worker.ts'
import { connectTestRedis, noAudit } from '../redis-for-test.ts'
import { recordRequest } from '../request-for-test.ts'
import { takeSteps } from '../take-steps.ts'

/** The workers over a real Redis, with a stand-in that only notes which requests it was to reconcile. */
async function startWorker({
  watchdogMs = 60_000,
  failWith,
  refusesCards = false,
  checkDataLossMark = async () => {},
  track = async () => [],
  untilSlackAnswers,
  longestTickMs,
}: {
  watchdogMs?: number
  longestTickMs?: number
  failWith?: Error
  refusesCards?: boolean
  checkDataLossMark?: () => Promise<void>
  track?: Track['track']
  untilSlackAnswers?: Promise<void>
} = {}) {
  const { redis, keys } = connectTestRedis()
  const store = createStore({ redis, keys, audit: noAudit })
  const outbox = createOutbox({ redis, keys })
  const reconciled: string[] = []
  const sent: string[] = []
  const errors: unknown[] = []
  const tidied: string[] = []
  const queues = createQueues({ redis, keys, pollIntervalMs: 50, onError: (error) => errors.push(error) })
  const worker = createWorker({
    redis,
    keys,
    queues,
    dataLossMark: { check: checkDataLossMark },
    audit: { tidy: async () => void tidied.push('tidied') },
    store,
    outbox,
    reconcile: async (id) => {
      reconciled.push(id)
      if (failWith) throw failWith
      await redis.zrem(keys.due, id)
    },
    track,
    tracked: (request) => request,
    deliver: async (id, name) => {
      sent.push(`${id}/${name}`)
      await untilSlackAnswers
      const taken = await outbox.lease(id, name)
      if (refusesCards && typeof taken !== 'string') {
        await outbox.settle(id, name, taken.lease, { status: 'queued', retryInMs: 60_000 })
        return { is: 'refused', error: 'is_archived' }
      }
      if (typeof taken !== 'string') await outbox.settle(id, name, taken.lease, { status: 'settled', shownRevision: 1 })
      return { is: 'sent' }
    },
    onError: (error) => errors.push(error),
    watchdogMs,
    ...(longestTickMs === undefined ? {} : { longestTickMs }),
  })
  void worker.start()
  onTestFinished(async () => {
    await worker.stop()
    await queues.close()
  })
  return { redis, keys, store, queues, reconciled, sent, errors, tidied }
}

function ask(store: ReturnType<typeof createStore>, id: string, needsApproval = false) {
  return recordRequest(store, { id, resource: `elastic_ip:${id}`, needsApproval })
}

describe('the workers', () => {
  test('reconcile what they are woken up for', async () => {
    const { store, queues, reconciled } = await startWorker()
    await ask(store, 'a')
    await queues.wake({ id: 'a', kind: 'ip.move', resource: 'elastic_ip:a' })
    await expect.poll(() => reconciled).toContain('a')
  })

  test('tick while something is due, and no more when nothing is', async () => {
    const { store, queues, reconciled, errors } = await startWorker()
    await ask(store, 'a')
    await queues.startTicking()
    await expect.poll(() => reconciled).toContain('a')

    await expect.poll(() => queues.ticks.getJobScheduler('tick')).toBeUndefined()
    expect(await queues.ticks.getJobCounts('delayed', 'waiting')).toEqual({ delayed: 0, waiting: 0 })
    expect(errors).toEqual([])
  })

  test('do not tick for a request that only waits for people', async () => {
    const { store, queues } = await startWorker()
    await ask(store, 'a', true)
    await queues.startTicking()
    await expect.poll(() => queues.ticks.getJobScheduler('tick')).toBeUndefined()
  })

  test('find what is due without having been woken up', async () => {
    const { store, reconciled } = await startWorker({ watchdogMs: 50 })
    await ask(store, 'lost')
    await expect.poll(() => reconciled).toContain('lost')
  })

  test('mend a scheduler that is there and silent', async () => {
    const { store, queues, reconciled } = await startWorker({ watchdogMs: 50 })
    await queues.startTicking()
    const [job] = await queues.ticks.getDelayed()
    await job?.remove().catch(() => undefined)
    await ask(store, 'silent')
    await expect.poll(() => reconciled, { timeout: 5_000 }).toContain('silent')
  })
})

describe('what is due', () => {
  /** One move is followed and another request is due, over an account API that answers when the test is over. */
  async function startHanging(options: { longestTickMs?: number } = {}) {
    const { promise: answer, resolve: letAnswer } = Promise.withResolvers<never[]>()
    const parts = await startWorker({ track: () => answer, ...options })
    onTestFinished(() => letAnswer([]))
    const { store, queues, tidied } = parts
    // The watchdog has had its look: nothing ticks before it is told to.
    await expect.poll(() => tidied.length).toBe(1)
    await ask(store, 'moving', true)
    await takeSteps(store, 'moving', 'approve', 'send', ['accept', { dueInMs: 0 }])
    await ask(store, 'other')
    await queues.startTicking()
    return parts
  }

  test('does not wait for an account API that hangs while moves are followed, and says that it is at work', async () => {
    const { redis, keys, store, reconciled, sent } = await startHanging()
    await expect.poll(() => reconciled).toEqual(['other'])

    await redis.zadd(keys.outbox, Date.now(), 'owed-meanwhile/card')

    await expect.poll(() => sent).toContain('owed-meanwhile/card')
    // A tick that waits is at work, and none is missing.
    await expect.poll(async () => Number.isFinite(await store.sinceLastTickMs())).toBe(true)
  })

  test('counts as not looked at where a tick has no end', async () => {
    const { store } = await startHanging({ longestTickMs: 200 })
    await expect.poll(async () => Number.isFinite(await store.sinceLastTickMs())).toBe(true)

    // Twelve times as long as such a tick takes to say again that it is at work.
    await expect.poll(() => store.sinceLastTickMs(), { timeout: 10_000 }).toBeGreaterThan(600)
  })

  test('does not wait for a Slack that hangs while many messages are unsent', async () => {
    const { promise: answer, resolve: letAnswer } = Promise.withResolvers<void>()
    const { redis, keys, store, queues, reconciled, sent } = await startWorker({ untilSlackAnswers: answer })
    onTestFinished(() => letAnswer())
    const unsent = Array.from({ length: 40 }, (_, index) => [Date.now(), `unsent-${index}/card`])
    await redis.zadd(keys.outbox, ...unsent.flat())
    await queues.startTicking()
    await expect.poll(() => sent.length).toBe(16)

    await ask(store, 'due')

    await expect.poll(() => reconciled).toContain('due')
    expect(sent).toHaveLength(16)
  })
})

describe('the watchdog', () => {
  test('says that a worker is at work, and tidies up the audit', async () => {
    const { store, tidied } = await startWorker({ watchdogMs: 50 })
    await expect.poll(() => tidied.length).toBeGreaterThan(1)
    expect(await store.workersSeen(60_000)).toBe(1)
  })
})

describe('a watchdog whose Redis does not answer', () => {
  test('waits for it once, and not once more at each of its rounds', async () => {
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

describe('a card that is refused when it is sent again', () => {
  test('has its request looked at now, and not only at its first reminder', async () => {
    const { redis, keys, store, queues, reconciled } = await startWorker({ refusesCards: true })
    await ask(store, 'a', true)
    await redis.zadd(keys.outbox, Date.now(), 'a/card')
    await ask(store, 'due')
    await queues.startTicking()
    await expect.poll(() => reconciled).toContain('a')
  })
})

describe('a record that is not as it should be', () => {
  test('that is gone is forgotten, and one that does not fit holds up nothing', async () => {
    const { redis, keys, store, queues, reconciled } = await startWorker()
    await ask(store, 'broken')
    await redis.hset(keys.record('broken'), 'origin', '"of another age"')
    await ask(store, 'gone')
    await redis.del(keys.record('gone'))
    await ask(store, 'good')

    await queues.startTicking()

    await expect.poll(() => reconciled).toContain('good')
    await expect.poll(() => reconciled).toContain('gone')
    expect(await store.findMany(['broken', 'gone', 'good'])).toMatchObject([{ id: 'good' }])
  })

  test('is put off for long where it fails, and stays due where it was Redis that failed', async () => {
    const putOff = async (failWith: Error) => {
      const { redis, keys, store, queues, reconciled } = await startWorker({ failWith })
      await ask(store, 'a')
      await queues.startTicking()
      await expect.poll(() => reconciled).toContain('a')
      await expect.poll(() => reconciled.length > 1 || redis.zcount(keys.due, String(Date.now() + 60_000), '+inf')).toBeTruthy()
      return reconciled.length === 1
    }
    expect(await putOff(new Error('it does not fit'))).toBe(true)
    expect(await putOff(new StoreUnavailableError('Redis: out of memory'))).toBe(false)
  })
})
