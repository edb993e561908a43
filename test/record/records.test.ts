import { describe, expect, test } from 'vitest'
import { StoreUnavailableError } from '../../src/domain/errors.ts'
import { createStore } from '../../src/record/store.ts'
import { trusting } from '../given/audit.ts'
import { connectLossyRedis, connectTestRedis, connectTestStore, noAudit } from '../given/redis.ts'
import { newRequestFor } from '../given/request.ts'
import { takeSteps, untilTracking } from '../given/take-steps.ts'

describe('of many requests,', () => {
  async function withMany(count: number) {
    const { redis, keys, store } = connectTestStore()
    const ids = Array.from({ length: count }, (_, index) => `r${index}`)
    await Promise.all(ids.map((id) => store.create(newRequestFor({ id, resource: `elastic_ip:${id}` }))))
    return { redis, keys, store, ids }
  }

  test('all open ones are read, except those that do not fit', async () => {
    const { redis, keys, store, ids } = await withMany(1_001)
    await redis.hset(keys.record('r7'), 'kind', '7')
    await redis.set(keys.record('r8'), 'not a record')

    const { requests, unreadable } = await store.findOpen()

    expect(requests.map(({ id }) => id).toSorted()).toEqual(ids.filter((id) => !['r7', 'r8'].includes(id)).toSorted())
    expect(unreadable).toBe(2)
    expect(await store.findMany(['r7', 'r8', 'r9'])).toMatchObject([{ id: 'r9' }])
    // The end of a freeze is owed for later, and is nothing that waits for Slack.
    await redis.zadd(keys.outbox, Date.now() + 600_000, 'freeze-1-over-ops/freeze')
    expect(await store.countUnsent()).toBe(1_001)
  })

  test('a lost one no longer counts as open, and stays due until somebody was told', async () => {
    const { redis, keys, store } = await withMany(2)
    await redis.del(keys.record('r0'))

    expect(await store.findOpen()).toMatchObject({ requests: [{ id: 'r1' }], unreadable: 0 })

    expect(await redis.zrange(keys.open, '0', '-1')).toEqual(['r1'])
    expect(await store.isDue('r0')).toBe(true)
  })

  test("none counts as gone because Redis isn't responding", async () => {
    const { keys } = await withMany(1)
    const { redis, proxy } = await connectLossyRedis('prompt')
    const store = createStore({ redis, keys, audit: noAudit, signatures: trusting })
    const { promise: end, resolve } = Promise.withResolvers<void>()
    proxy.holdSent((sent) => sent.includes('hgetall'), end)

    await expect(store.findOpen()).rejects.toThrow(StoreUnavailableError)

    resolve()
  })

  test('the latest ended ones that fit are found behind others, but not behind 100 of them', async () => {
    const { redis, keys, store } = await withMany(3)
    await store.create(newRequestFor({ id: 'rename', kind: 'vm.rename', resource: 'vm:1' }))
    for (const id of ['rename', 'r0', 'r2', 'r1']) await takeSteps(store, id, 'reject')
    const renames = () => store.ended(1, ({ kind }) => kind === 'vm.rename')
    const later = (count: number) => redis.zadd(keys.ended, ...Array.from({ length: count }, (_, index) => [9e12, `later${index}`]).flat())
    // All end within a few milliseconds, so the order among the moves is not tested.
    expect(await store.ended(2, ({ kind }) => kind === 'ip.move')).toHaveLength(2)

    await later(96)
    expect((await renames()).map(({ id }) => id)).toEqual(['rename'])
    await later(100)

    expect(await renames()).toEqual([])
  })
})

describe('the last change of a resource', () => {
  test('is the request that was done last, whatever was requested since', async () => {
    const { store } = connectTestStore()
    const resource = 'elastic_ip:eip_9'
    for (const id of ['first', 'second']) {
      await store.create(newRequestFor({ id, resource }))
      await takeSteps(store, id, ...untilTracking, 'finish')
    }
    await store.create(newRequestFor({ id: 'rejected', resource }))
    await takeSteps(store, 'rejected', 'reject')

    expect((await store.lastChangesOf([resource])).get(resource)).toMatchObject({ id: 'second', state: 'done' })
    expect(await store.lastChangesOf(['elastic_ip:eip_1'])).toEqual(new Map())
  })

  test('is the request that was sent last and is no longer tracked, unless it came to nothing', async () => {
    const { store } = connectTestStore()
    const resource = 'elastic_ip:eip_9'
    await store.create(newRequestFor({ id: 'stopped', resource }))
    await takeSteps(store, 'stopped', ...untilTracking, 'stop-tracking')
    expect((await store.lastChangesOf([resource])).get(resource)).toMatchObject({ id: 'stopped', state: 'untracked' })

    await takeSteps(store, 'stopped', 'track-again', 'fail')
    expect(await store.lastChangesOf([resource])).toEqual(new Map())
  })

  test('is unknown if its record is gone or does not fit', async () => {
    const { redis, keys, store } = connectTestStore()
    await redis.set(keys.lastChange('elastic_ip:eip_9'), 'gone')
    expect(await store.lastChangesOf(['elastic_ip:eip_9'])).toEqual(new Map())

    await redis.hset(keys.record('gone'), 'state', '"done"')
    expect(await store.lastChangesOf(['elastic_ip:eip_9'])).toEqual(new Map())
  })
})

describe('the order of a Home tab', () => {
  function startTwo() {
    const { redis, keys } = connectTestRedis()
    const storeOver = (connection: typeof redis) => createStore({ redis: connection, keys, audit: noAudit, signatures: trusting })
    return { redis, keys, storeOver, first: storeOver(redis), second: storeOver(redis) }
  }
  const again = { isNew: false }

  test('is the same for all processes, with new requests at its end, until the tab is opened again', async () => {
    const { first, second } = startTwo()
    expect(await first.orderOnHome('U0BEN00001', ['a', 'b'], { isNew: true })).toEqual(['a', 'b'])

    expect(await second.orderOnHome('U0BEN00001', ['c', 'b'], again)).toEqual(['a', 'b', 'c'])
    expect(await first.orderOnHome('U0BEN00001', ['d', 'c'], again)).toEqual(['a', 'b', 'c', 'd'])
    expect(await first.orderOnHome('U0CHI00001', ['c'], again)).toEqual(['c'])

    expect(await second.orderOnHome('U0BEN00001', ['c'], { isNew: true })).toEqual(['c'])
    expect(await first.orderOnHome('U0BEN00001', [], { isNew: true })).toEqual([])
  })

  test('is kept for a day, without repeats', async () => {
    const { redis, keys, first } = startTwo()
    await first.orderOnHome('U0BEN00001', ['a'], { isNew: true })
    await first.orderOnHome('U0BEN00001', ['a', 'b'], again)

    expect(await redis.lrange(keys.homeOrder('U0BEN00001'), 0, -1)).toEqual(['a', 'b'])
    expect(await redis.pttl(keys.homeOrder('U0BEN00001'))).toBeGreaterThan(23 * 3_600_000)
  })

  test('shows what waits also while Redis takes no writes', async () => {
    const { redis, storeOver, first } = startTwo()
    await first.orderOnHome('U0BEN00001', ['a'], { isNew: true })
    const refused = { del: () => refused, rpush: () => refused, pexpire: () => refused, exec: () => Promise.reject(new Error('OOM')) }
    const refusing = storeOver(Object.assign(Object.create(redis), { multi: () => refused }))

    expect(await refusing.orderOnHome('U0BEN00001', ['b'], again)).toEqual(['a', 'b'])
    expect(await refusing.orderOnHome('U0BEN00001', ['b'], { isNew: true })).toEqual(['b'])
  })
})
