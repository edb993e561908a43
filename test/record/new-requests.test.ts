import { describe, expect, test } from 'vitest'
import { createStore } from '../../src/record/store.ts'
import { createKeys } from '../../src/redis/key-names.ts'
import { trusting } from '../given/audit.ts'
import { noAudit, startOwnRedis } from '../given/redis.ts'
import { newRequestFor, recordRequest } from '../given/request.ts'
import { withRequest } from '../given/with-request.ts'

const notPosted = { code: 'not-posted', error: 'is_archived' }

describe('a new request', () => {
  test('is recorded once if it is delivered twice', async () => {
    const { store, request } = await withRequest()
    expect(await store.create(newRequestFor({ id: request.id }))).toEqual({ outcome: 'exists', id: request.id, locked: [] })
    expect((await store.findOpen()).requests).toHaveLength(1)
  })

  test('is not recorded once the key is gone that stands for its reason', async () => {
    const { store, redis, keys } = await withRequest()
    const because = keys.alertsOf('any')

    expect(await store.create(newRequestFor({ resource: 'server:sv_2' }), { whileExists: because })).toMatchObject({ outcome: 'gone' })
    expect(await redis.exists(keys.resource('server:sv_2'))).toBe(0)
    await redis.zadd(because, 1, 'alert')
    expect(await store.create(newRequestFor({ resource: 'server:sv_2' }), { whileExists: because })).toMatchObject({ outcome: 'created' })
  })

  test('takes all its resources or none, and names every request that holds one', async () => {
    const { store, redis, keys } = await withRequest({ resource: 'elastic_ip:eip_a' })
    const other = await recordRequest(store, { resource: 'elastic_ip:eip_b' })
    const several = { resource: 'server:sv_1', moreResources: ['elastic_ip:eip_c', 'elastic_ip:eip_b', 'elastic_ip:eip_a'] }

    const refused = await store.create(newRequestFor(several))

    expect(refused.outcome).toBe('busy')
    expect(refused.locked.map(({ resource }) => resource)).toEqual(['elastic_ip:eip_b', 'elastic_ip:eip_a'])
    expect(refused.locked[0]?.by).toBe(other.id)
    expect(await redis.exists(keys.resource('elastic_ip:eip_c'), keys.resource('server:sv_1'))).toBe(0)
  })

  test('is not recorded while Redis is full, even when the requester has earlier requests to count', async () => {
    const { redis } = await startOwnRedis()
    const store = createStore({ redis, keys: createKeys('full'), audit: noAudit, signatures: trusting })
    const earlier = await recordRequest(store)
    await store.take(earlier, 'reject')

    await redis.config('SET', 'maxmemory', '1')

    await expect(store.create(newRequestFor())).rejects.toMatchObject({ code: 'OOM' })
    expect((await store.findOpen()).requests).toEqual([])
  })

  test('is refused as busy while another open request holds the resource', async () => {
    const { store, request } = await withRequest()
    expect(await store.create(newRequestFor())).toMatchObject({ outcome: 'busy', locked: [{ resource: request.resource, by: request.id }] })
    await store.take(request, 'reject')
    expect(await store.create(newRequestFor())).toMatchObject({ outcome: 'created' })
  })

  test('is not busy if the record of the holder is gone', async () => {
    const { redis, keys, store, request } = await withRequest()
    await redis.del(keys.record(request.id))
    expect(await store.create(newRequestFor())).toMatchObject({ outcome: 'created' })
  })

  test.each(['undecided', 'requested', 'resource', 'record of the holder'])('is recorded whatever type the key has: %s', async (which) => {
    const { redis, keys, store, request } = await withRequest()
    const { userId } = request.origin
    const key = {
      undecided: keys.undecided(userId),
      requested: keys.requested(userId),
      resource: keys.resource('elastic_ip:eip_b'),
      'record of the holder': keys.record('holder'),
    }[which] as string
    await redis.set(keys.resource('elastic_ip:eip_b'), 'holder')
    await redis.del(key)
    await redis.hset(key, 'another', 'type')
    if (which.startsWith('record')) await redis.del(key).then(() => redis.set(key, 'another type'))

    const created = await store.create(newRequestFor({ resource: 'elastic_ip:eip_b' }), { mostUndecided: 3 })

    expect(created.outcome).toBe('created')
    expect(await redis.get(keys.resource('elastic_ip:eip_b'))).toBe(created.id)
    expect(await redis.sismember(keys.undecided(userId), created.id)).toBe(1)
  })

  test('of a person with many decided ones leaves only those that still wait in the set of undecided ones', async () => {
    const { redis, keys, store, request } = await withRequest()
    const undecided = keys.undecided(request.origin.userId)
    for (let count = 0; count < 30; count += 1) {
      const next = await recordRequest(store, { resource: `elastic_ip:eip_${count}` })
      if (count % 10 > 0) await store.take(next, count % 2 ? 'reject' : 'approve')
    }
    await recordRequest(store, { resource: 'elastic_ip:eip_last' })

    expect(await redis.scard(undecided)).toBe(5)
    expect(await redis.pttl(undecided)).toBeGreaterThan(29 * 24 * 3_600_000)
  })

  test('leaves only its audit notes if it is discarded', async () => {
    const { redis, store, request, keys } = await withRequest()
    await store.discard(request, notPosted)
    expect(await store.find(request.id)).toBeUndefined()
    expect(await redis.keys(`${keys.queuePrefix}*`)).toEqual([keys.auditIntake])
  })

  test('cannot be discarded once its card was posted', async () => {
    const { redis, keys, store, request } = await withRequest()
    await redis.hset(keys.record(request.id), 'cardTs', '"1.2"', 'cardRevision', '1')
    await store.discard(request, notPosted)
    expect(await store.find(request.id)).toMatchObject({ cardTs: '1.2', cardRevision: 1 })
  })
})
