import { expect, test } from 'vitest'
import type { App } from '../../src/app.ts'
import type { Freeze } from '../../src/domain/policy.ts'
import { freezeChanges } from '../../src/features/freeze.ts'
import { outboxApp } from '../given/outbox-app.ts'
import { connectTestRedis } from '../given/redis.ts'

/** A worker at some time of day, in ms from now by Redis' clock. */
function startWorker(shared: ReturnType<typeof connectTestRedis>, freezes: Freeze[], opsChannel?: null) {
  const { app, texts, sweep } = outboxApp(shared, { opsChannel })
  let aheadMs = 0
  const config = { ...app.config, policy: { rules: [], freezes } }
  const store = { ...app.store, now: async () => (await app.store.now()) + aheadMs }
  const worker = new Proxy(app, {
    get: (target, name) => (name === 'config' ? config : name === 'store' ? store : Reflect.get(target, name)),
  })
  const [work] = freezeChanges.repeated?.(worker as App, {} as never) ?? []
  const announceAt = async (ms: number) => {
    aheadMs = ms
    await work?.run(worker as App, new AbortController().signal)
    await sweep()
  }
  return { announceAt, texts }
}

const hours = (count: number) => count * 3_600_000
const freezeFrom = (from: number, to: number): Freeze => ({
  name: 'Black Friday',
  from: Date.now() + hours(from),
  to: Date.now() + hours(to),
})

test('operators get both ends of a freeze of the policy, each once, by whichever worker runs', async () => {
  const shared = connectTestRedis()
  const freezes = [freezeFrom(1, 3)]
  const [one, other] = [startWorker(shared, freezes), startWorker(shared, freezes)]

  await one.announceAt(hours(0))
  expect(one.texts).toEqual([])
  // No worker ran when it began.
  await one.announceAt(hours(2))
  await other.announceAt(hours(2))
  await one.announceAt(hours(2.9))
  await other.announceAt(hours(3))
  await one.announceAt(hours(3))
  await one.announceAt(hours(20))

  expect([one.texts, other.texts]).toEqual([
    [expect.stringMatching(/The policy's freeze “Black Friday” is on until <!date/)],
    [expect.stringMatching(/The policy's freeze “Black Friday” is over\. Approved changes that nothing else holds start now/)],
  ])
  // What was told stays known for longer than an hour.
  const [name = ''] = await shared.redis.keys('*freeze-of-policy*begin')
  expect(await shared.redis.pttl(name)).toBeGreaterThan(hours(24))
})

test('a worker that looked before another one told it does not let that be forgotten sooner', async () => {
  const shared = connectTestRedis()
  const freezes = [freezeFrom(1, 40)]
  const [slow, fast] = [startWorker(shared, freezes), startWorker(shared, freezes)]
  const exists = shared.redis.exists.bind(shared.redis)
  let looks = 0
  shared.redis.exists = (async (key: string) => {
    const found = await exists(key)
    looks += 1
    if (looks === 2) await fast.announceAt(hours(2))
    return found
  }) as typeof exists
  await slow.announceAt(hours(2))

  expect([slow.texts, fast.texts.length]).toEqual([[], 1])
  const [name = ''] = await shared.redis.keys('*freeze-of-policy*begin')
  expect(await shared.redis.pttl(name)).toBeGreaterThan(hours(48))
})

test('a freeze that was over before any worker ran is not announced, and neither is one without a channel for operators', async () => {
  const over = startWorker(connectTestRedis(), [freezeFrom(-3, -1)])
  const silent = startWorker(connectTestRedis(), [freezeFrom(-1, 1)], null)

  for (const { announceAt } of [over, silent]) await announceAt(0)

  expect([over.texts, silent.texts]).toEqual([[], []])
})
