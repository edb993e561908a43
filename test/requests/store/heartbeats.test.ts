import { expect, test } from 'vitest'
import { connectTestStore } from '../redis-for-test.ts'

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
