import { describe, expect, test } from 'vitest'
import { createStore } from '../../src/record/store.ts'
import { trusting } from '../given/audit.ts'
import { connectLossyRedis, connectTestStore, noAudit } from '../given/redis.ts'
import { takeSteps, untilTracking } from '../given/take-steps.ts'
import { withRequest } from '../given/with-request.ts'

describe('the due time of a request', () => {
  test('is half of the time to approve, or now if no approval is needed', async () => {
    const startedAt = Date.now()
    const waiting = await withRequest({ ttlMs: 3_600_000 })
    const score = Number(await waiting.redis.zscore(waiting.keys.due, waiting.request.id))
    expect(score).toBeGreaterThanOrEqual(startedAt + 1_800_000)
    expect(score).toBeLessThanOrEqual(Date.now() + 1_800_000)

    const free = await withRequest({ needsApproval: false })
    expect(await free.store.due(10)).toEqual([free.request.id])
  })

  test('is kept by a step that keeps it, set by a step that carries one, and cleared by a step that sets none', async () => {
    const { redis, keys, store, request } = await withRequest()
    const dueAt = () => redis.zscore(keys.due, request.id)
    const before = await dueAt()
    expect(before).not.toBeNull()
    await takeSteps(store, request.id, 'count-approval')
    expect(await dueAt()).toBe(before)
    await takeSteps(store, request.id, ['count-approval', { dueInMs: 0 }])
    expect(Number(await dueAt())).toBeLessThanOrEqual(await store.now())

    await takeSteps(store, request.id, 'withdraw')
    expect(await dueAt()).toBeNull()
  })
})

test('a change is slower than usual after three times what nine in ten of the last took, and after a minute at the earliest', async () => {
  const { store, redis, keys } = await withRequest()
  await redis.rpush(keys.durations('ip.move'), 500_000, ...Array(9).fill(30_000))
  await redis.rpush(keys.durations('vm.rename'), ...Array(5).fill(2_000))

  expect(await store.usualDuration('ip.move')).toEqual({ usualMs: 30_000, slowAfterMs: 90_000 })
  expect(await store.usualDuration('vm.rename')).toEqual({ usualMs: 2_000, slowAfterMs: 60_000 })
  expect(await store.usualDuration('key.create')).toEqual({})
})

type World = Awaited<ReturnType<typeof withRequest>>

const again = async ({ store, request }: World, step: 'approve' | 'track-again') => {
  if (step === 'track-again') await takeSteps(store, request.id, ...untilTracking, 'stop-tracking')
  const read = (await store.find(request.id)) ?? request
  await store.take(read, step, { dueInMs: 0 })
  return read
}

test.each<[what: string, act: (world: World) => Promise<unknown>, isDue: boolean]>([
  ['is postponed if its record is unchanged', ({ store, request }) => store.postponeIfUnchanged(request, 60_000), false],
  [
    'stays due if its record changed since it was read',
    async (world) => world.store.postponeIfUnchanged(await again(world, 'approve'), 60_000),
    true,
  ],
  [
    'is never due again if that is cleared while its record is unchanged',
    ({ store, request }) => store.clearDueIfUnchanged(request),
    false,
  ],
  [
    'stays due if its record changed, for example because tracking started again',
    async (world) => world.store.clearDueIfUnchanged(await again(world, 'track-again')),
    true,
  ],
  [
    'does not become due again if that was cleared',
    async ({ store, request }) => {
      await store.clearDueIfUnchanged(request)
      await store.postponeIfUnchanged(request, 0)
      await store.postpone(request.id, 0)
    },
    false,
  ],
  ['stays due if it is not lost', ({ store, request }) => store.forgetLost(request.id), true],
  [
    'is never due again if its record is gone',
    async ({ redis, keys, store, request }) => {
      await redis.del(keys.record(request.id))
      await store.forgetLost(request.id)
      expect((await store.findOpen()).unreadable).toBe(0)
    },
    false,
  ],
])('a request that is due %s', async (_, act, isDue) => {
  const world = await withRequest()
  await world.redis.zadd(world.keys.due, 1, world.request.id)

  await act(world)

  expect(await world.store.due(10)).toEqual(isDue ? [world.request.id] : [])
})

test('the age of the last tick is infinite before the first one, and then counts from it', async () => {
  const { redis, keys, store } = connectTestStore()
  expect(await store.sinceLastTickMs()).toBe(Number.POSITIVE_INFINITY)

  await store.noteTick()
  await redis.decrby(keys.lastTick, 60_000)

  expect(Math.abs((await store.sinceLastTickMs()) - 60_000)).toBeLessThan(1_000)
})

test('a worker is counted once, and only within the given time', async () => {
  const { redis, keys, store } = connectTestStore()
  await store.noteWorker('one')
  await store.noteWorker('one')
  await store.noteWorker('another')
  await redis.zincrby(keys.workers, -60_000, 'another')

  expect(await store.workersSeen(30_000)).toBe(1)
  expect(await store.workersSeen(90_000)).toBe(2)
})

describe('the retraction of the key that a request has issued', () => {
  test('is claimed by one process at a time, and by the next one after its end', async () => {
    const { store, request } = await withRequest()
    const first = await store.claimRetraction(request.id)
    expect(await store.claimRetraction(request.id)).toBeUndefined()

    await store.endRetraction(request.id, first ?? '')

    expect(await store.claimRetraction(request.id)).toBeDefined()
  })

  test('is not ended by a process whose claim ran out', async () => {
    const { redis, keys, store, request } = await withRequest()
    const slow = await store.claimRetraction(request.id)
    await redis.del(keys.retraction(request.id))
    const next = await store.claimRetraction(request.id)

    await store.endRetraction(request.id, slow ?? '')

    expect(await redis.get(keys.retraction(request.id))).toBe(next)
  })

  test('is claimed and ended also if the answers of Redis are lost', async () => {
    const { redis, keys, request } = await withRequest()
    const lossy = await connectLossyRedis('patient')
    const store = createStore({ redis: lossy.redis, keys, audit: noAudit, signatures: trusting })

    lossy.proxy.loseNextReply()
    const token = await store.claimRetraction(request.id)
    expect(await redis.get(keys.retraction(request.id))).toBe(token)
    lossy.proxy.loseNextReply()
    await store.endRetraction(request.id, token ?? '')

    expect(await redis.exists(keys.retraction(request.id))).toBe(0)
    expect(lossy.proxy.fired.lostReplies).toBe(2)
  })
})
