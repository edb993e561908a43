import { expect, test, vi } from 'vitest'
import { createCounts } from '../../../src/requests/worker/counts.ts'
import { connectTestRedis } from '../redis-for-test.ts'

/** Records `count` open requests, of two kinds and three states. */
async function withOpen(count: number) {
  const { redis, keys } = connectTestRedis()
  const pipeline = redis.pipeline()
  for (let index = 0; index < count; index += 1) {
    const kind = index % 5 === 0 ? 'key.create' : 'ip.move'
    const state = index % 2 === 0 ? 'waiting' : index % 3 === 0 ? 'starting' : 'tracking'
    pipeline.zadd(keys.open, String(index), `r${index}`)
    pipeline.hset(keys.record(`r${index}`), { kind: JSON.stringify(kind), state: JSON.stringify(state), reason: '"x"' })
  }
  await pipeline.exec()
  return { redis, keys, counts: createCounts({ redis, keys }) }
}

const byName = (a: { kind: string; state: string }, b: { kind: string; state: string }) =>
  `${a.kind} ${a.state}`.localeCompare(`${b.kind} ${b.state}`)

test('open requests are counted by kind and state, also in several chunks', async () => {
  const { redis, keys, counts } = await withOpen(1_500)
  await redis.zadd(keys.outbox, '1', 'r1/card', '2', 'r2/card')
  const { open, unsent } = await counts()
  expect(open.toSorted(byName)).toEqual([
    { kind: 'ip.move', state: 'starting', count: 200 },
    { kind: 'ip.move', state: 'tracking', count: 400 },
    { kind: 'ip.move', state: 'waiting', count: 600 },
    { kind: 'key.create', state: 'starting', count: 50 },
    { kind: 'key.create', state: 'tracking', count: 100 },
    { kind: 'key.create', state: 'waiting', count: 150 },
  ])
  expect(unsent).toBe(2)
})

test('a request whose record is gone is not counted', async () => {
  const { redis, keys, counts } = await withOpen(1)
  await redis.del(keys.record('r0'))
  expect(await counts()).toEqual({ open: [], unsent: 0 })
})

test('thousands of requests are counted with few commands, because people use the same connection', async () => {
  const { redis, counts } = await withOpen(10_000)
  await counts()
  const sent = vi.spyOn(redis, 'sendCommand')
  await counts()
  expect(sent.mock.calls.length).toBeLessThan(25)
})

test('the items under way of requests with several are counted, whatever else their records hold', async () => {
  const { redis, keys, counts } = await withOpen(0)
  const states = ['waiting', 'starting', 'tracking', 'tracking', 'done', 'failed', 'superseded', 'not-started', 'new state']
  const of = (items: string) => ({ kind: '"ip.evacuate"', state: '"tracking"', items })
  await redis.zadd(keys.open, '1', 'e1', '2', 'e2', '3', 'e3')
  await redis.hset(keys.record('e1'), of(JSON.stringify(states.map((state, index) => ({ id: `eip_${index}`, state })))))
  await redis.hset(keys.record('e2'), of(JSON.stringify([{ id: 'eip_9', state: 'tracking' }])))
  await redis.hset(keys.record('e3'), of('no JSON'))

  expect((await counts()).open).toEqual([{ kind: 'ip.evacuate', state: 'tracking', count: 3, items: 4 }])
})
