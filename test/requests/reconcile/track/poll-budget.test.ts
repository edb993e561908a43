import { expect, test } from 'vitest'
import { createPollBudget } from '../../../../src/requests/reconcile/track/poll-budget.ts'
import { connectTestRedis } from '../../redis-for-test.ts'

test('all replicas together are granted no more requests than a minute allows', async () => {
  const { redis, keys } = connectTestRedis()
  const replicas = [createPollBudget({ redis, keys, perMinute: 60 }), createPollBudget({ redis, keys, perMinute: 60 })]

  const granted = await Promise.all(Array.from({ length: 40 }, (_, index) => replicas[index % 2]?.spend(2)))

  expect(granted.reduce<number>((sum, number) => sum + (number ?? 0), 0)).toBe(60)
})

test('what is left is granted, although more is wanted', async () => {
  const budget = createPollBudget({ ...connectTestRedis(), perMinute: 5 })

  expect([await budget.spend(3), await budget.spend(3), await budget.spend(3)]).toEqual([3, 2, 0])
})

test('requests that were spent a minute ago no longer count', async () => {
  const { redis, keys } = connectTestRedis()
  const budget = createPollBudget({ redis, keys, perMinute: 60 })
  const second = Number((await redis.time())[0])
  await redis.hset(keys.pollBudget, String(second - 60), '60', String(second - 30), '10')

  expect(await budget.spend(100)).toBe(50)
  expect(await redis.hexists(keys.pollBudget, String(second - 60))).toBe(0)
})

test('a budget of 0 grants nothing, and writes nothing', async () => {
  const { redis, keys } = connectTestRedis()

  expect(await createPollBudget({ redis, keys, perMinute: 0 }).spend(1)).toBe(0)
  expect(await redis.exists(keys.pollBudget)).toBe(0)
})
