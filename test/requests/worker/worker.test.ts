import { describe, expect, onTestFinished, test } from 'vitest'
import { StoreUnavailableError } from '../../../src/domain/errors.ts'
import { createQueues } from '../../../src/redis/queues.ts'
import type { Follow } from '../../../src/requests/lifecycle/track.ts'
import { createOutbox } from '../../../src/requests/outbox/outbox.ts'
import { createStore } from '../../../src/requests/store/store.ts'
import { createWatch } from '../../../src/requests/worker/worker.ts'
import { connectTestRedis, noAudit } from '../redis-for-test.ts'
import { newRequest, requestFor } from '../request-for-test.ts'
import { takeSteps } from '../take-steps.ts'

/** The workers over a real Redis, with an attendant that only notes who needs attention. */
async function startWatch({
  watchdogMs = 60_000,
  failWith,
  refusesCards = false,
  checkEpoch = async () => {},
  follow = async () => [],
  untilSlackAnswers,
  longestTickMs,
}: {
  watchdogMs?: number
  longestTickMs?: number
  failWith?: Error
  refusesCards?: boolean
  checkEpoch?: () => Promise<void>
  follow?: Follow['follow']
  untilSlackAnswers?: Promise<void>
} = {}) {
  const { redis, keys } = connectTestRedis()
  const store = createStore({ redis, keys, audit: noAudit })
  const outbox = createOutbox({ redis, keys })
  const attended: string[] = []
  const sent: string[] = []
  const errors: unknown[] = []
  const tidied: string[] = []
  const queues = createQueues({ redis, keys, pollIntervalMs: 50, onError: (error) => errors.push(error) })
  const watch = createWatch({
    redis,
    keys,
    queues,
    epoch: { check: checkEpoch },
    audit: { tidy: async () => void tidied.push('tidied') },
    store,
    outbox,
    attend: {
      attend: async (id) => {
        attended.push(id)
        if (failWith) throw failWith
        await redis.zrem(keys.due, id)
      },
      showEverything: async () => {},
    },
    follow: { follow, followed: (request) => request },
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
  void watch.start()
  onTestFinished(async () => {
    await watch.stop()
    await queues.close()
  })
  return { redis, keys, store, queues, attended, sent, errors, tidied }
}

function ask(store: ReturnType<typeof createStore>, id: string, needsApproval = false) {
  return store.create(newRequest({ id, resource: `elastic_ip:${id}`, needsApproval }))
}

describe('the workers', () => {
  test('attend to what is woken up', async () => {
    const { store, queues, attended } = await startWatch()
    await ask(store, 'a')
    await queues.wake({ id: 'a', kind: 'ip.move', resource: 'elastic_ip:a' })
    await expect.poll(() => attended).toContain('a')
  })

  test('tick while something is due, and no more when nothing is', async () => {
    const { store, queues, attended, errors } = await startWatch()
    await ask(store, 'a')
    await queues.startTicking()
    await expect.poll(() => attended).toContain('a')

    await expect.poll(() => queues.ticks.getJobScheduler('tick')).toBeUndefined()
    expect(await queues.ticks.getJobCounts('delayed', 'waiting')).toEqual({ delayed: 0, waiting: 0 })
    expect(errors).toEqual([])
  })

  test('do not tick for a request that only waits for people', async () => {
    const { store, queues } = await startWatch()
    await ask(store, 'a', true)
    await queues.startTicking()
    await expect.poll(() => queues.ticks.getJobScheduler('tick')).toBeUndefined()
  })

  test('find what is due without having been woken up', async () => {
    const { store, attended } = await startWatch({ watchdogMs: 50 })
    await ask(store, 'lost')
    await expect.poll(() => attended).toContain('lost')
  })

  test('mend a scheduler that is there and silent', async () => {
    const { store, queues, attended } = await startWatch({ watchdogMs: 50 })
    await queues.startTicking()
    const [job] = await queues.ticks.getDelayed()
    await job?.remove().catch(() => undefined)
    await ask(store, 'silent')
    await expect.poll(() => attended, { timeout: 5_000 }).toContain('silent')
  })
})

describe('what is due', () => {
  /** One move is followed and another request is due, over an account API that answers when the test is over. */
  async function startHanging(options: { longestTickMs?: number } = {}) {
    const { promise: answer, resolve: letAnswer } = Promise.withResolvers<never[]>()
    const parts = await startWatch({ follow: () => answer, ...options })
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
    const { redis, keys, store, attended, sent } = await startHanging()
    await expect.poll(() => attended).toEqual(['other'])

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
    const { redis, keys, store, queues, attended, sent } = await startWatch({ untilSlackAnswers: answer })
    onTestFinished(() => letAnswer())
    const unsent = Array.from({ length: 40 }, (_, index) => [Date.now(), `unsent-${index}/card`])
    await redis.zadd(keys.outbox, ...unsent.flat())
    await queues.startTicking()
    await expect.poll(() => sent.length).toBe(16)

    await ask(store, 'due')

    await expect.poll(() => attended).toContain('due')
    expect(sent).toHaveLength(16)
  })
})

describe('the watchdog', () => {
  test('says that a worker is at work, and tidies up the audit', async () => {
    const { store, tidied } = await startWatch({ watchdogMs: 50 })
    await expect.poll(() => tidied.length).toBeGreaterThan(1)
    expect(await store.workersSeen(60_000)).toBe(1)
  })
})

describe('a watchdog whose Redis does not answer', () => {
  test('waits for it once, and not once more at each of its rounds', async () => {
    const answer = Promise.withResolvers<void>()
    let checks = 0
    const checkEpoch = () => {
      checks += 1
      return answer.promise
    }
    const { tidied } = await startWatch({ watchdogMs: 10, checkEpoch })
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect({ checks, tidied }).toEqual({ checks: 1, tidied: [] })
    answer.resolve()
    await expect.poll(() => checks).toBeGreaterThan(2)
  })
})

describe('a card that is refused when it is sent again', () => {
  test('has its request looked at now, and not only at its first reminder', async () => {
    const { redis, keys, store, queues, attended } = await startWatch({ refusesCards: true })
    await ask(store, 'a', true)
    await redis.zadd(keys.outbox, Date.now(), 'a/card')
    await ask(store, 'due')
    await queues.startTicking()
    await expect.poll(() => attended).toContain('a')
  })
})

describe('a record that is not as it should be', () => {
  test('that is gone is forgotten, and one that does not fit holds up nothing', async () => {
    const { redis, keys, store, queues, attended } = await startWatch()
    await ask(store, 'broken')
    await redis.hset(keys.record('broken'), 'origin', '"of another age"')
    await ask(store, 'gone')
    await redis.del(keys.record('gone'))
    await ask(store, 'good')

    await queues.startTicking()

    await expect.poll(() => attended).toContain('good')
    await expect.poll(() => attended).toContain('gone')
    expect(await store.findMany(['broken', 'gone', 'good'])).toMatchObject([{ id: 'good' }])
  })

  test('is put off for long where it fails, and stays due where it was Redis that failed', async () => {
    const putOff = async (failWith: Error) => {
      const { redis, keys, store, queues, attended } = await startWatch({ failWith })
      await ask(store, 'a')
      await queues.startTicking()
      await expect.poll(() => attended).toContain('a')
      await expect.poll(() => attended.length > 1 || redis.zcount(keys.due, String(Date.now() + 60_000), '+inf')).toBeTruthy()
      return attended.length === 1
    }
    expect(await putOff(new Error('it does not fit'))).toBe(true)
    expect(await putOff(new StoreUnavailableError('Redis: out of memory'))).toBe(false)
  })
})

test('a wake-up says what kind of request it is for and of which resource, and names nobody', async () => {
  const { redis, keys } = connectTestRedis()
  const queues = createQueues({ redis, keys, pollIntervalMs: 50, onError: () => {} })
  onTestFinished(() => queues.close())
  const request = requestFor({ state: 'approved', reason: 'web-1 is being replaced' })

  await queues.wake(request, 90_000)

  const [job] = await queues.wakeUps.getDelayed()
  expect(job?.name).toBe('ip.move')
  expect(job?.data).toEqual({ version: 1, id: request.id, kind: 'ip.move', resource: 'elastic_ip:eip_1GijF7NsZe3bN' })
})
