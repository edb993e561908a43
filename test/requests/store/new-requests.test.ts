import { Redis } from 'ioredis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createKeys } from '../../../src/redis/key-names.ts'
import { trackEndedMs } from '../../../src/requests/next-step.ts'
import { createStore, keepLatestMs } from '../../../src/requests/store.ts'
import { startRedis } from '../../sandbox/redis/start-redis.ts'
import { noteOf } from '../audit-for-test.ts'
import { noAudit } from '../redis-for-test.ts'
import { moveFacts, newRequestFor, recordRequest } from '../request-for-test.ts'
import { withRequest } from '../with-request.ts'

const notPosted = { code: 'not-posted', error: 'is_archived' }

describe('a new request', () => {
  test('is recorded as it was requested', async () => {
    const { request } = await withRequest({ reason: 'because "quotes" & <tags>', ttlMs: 60_000 })
    expect(request).toMatchObject({
      kind: 'ip.move',
      state: 'waiting',
      revision: 1,
      input: { elasticIpId: 'eip_1GijF7NsZe3bN', serverId: 'sv_22mUQSvUfeqdv' },
      facts: moveFacts,
      reason: 'because "quotes" & <tags>',
      ttlMs: 60_000,
    })
    expect(request.expiresAt - request.createdAt).toBe(request.ttlMs)
  })

  test('is recorded once if it is delivered twice', async () => {
    const { store, request } = await withRequest()
    expect(await store.create(newRequestFor({ id: request.id }))).toEqual({ outcome: 'exists', id: request.id, held: [] })
    expect((await store.findOpen()).requests).toHaveLength(1)
  })

  test('takes all its resources or none, and names every request that holds one', async () => {
    const { store, redis, keys } = await withRequest({ resource: 'elastic_ip:eip_a' })
    const other = await recordRequest(store, { resource: 'elastic_ip:eip_b' })
    const several = { resource: 'server:sv_1', moreResources: ['elastic_ip:eip_c', 'elastic_ip:eip_b', 'elastic_ip:eip_a'] }

    const refused = await store.create(newRequestFor(several))

    expect(refused.outcome).toBe('busy')
    expect(refused.held.map(({ resource }) => resource)).toEqual(['elastic_ip:eip_b', 'elastic_ip:eip_a'])
    expect(refused.held[0]?.by).toBe(other.id)
    expect(await redis.exists(keys.resource('elastic_ip:eip_c'), keys.resource('server:sv_1'))).toBe(0)
  })

  test('is not recorded while Redis is full, even when the requester has earlier requests to count', async () => {
    const server = await startRedis()
    const redis = new Redis(server.url)
    onTestFinished(async () => {
      redis.disconnect()
      await server.stop()
    })
    const store = createStore({ redis, keys: createKeys('full'), audit: noAudit, noteOf })
    const earlier = await recordRequest(store)
    await store.take(earlier, 'reject')

    await redis.config('SET', 'maxmemory', '1')

    await expect(store.create(newRequestFor())).rejects.toMatchObject({ code: 'OOM' })
    expect((await store.findOpen()).requests).toEqual([])
  })

  test('with several resources frees all of them when it ends', async () => {
    const { store, redis, keys } = await withRequest({ moreResources: ['elastic_ip:eip_c', 'elastic_ip:eip_d'] })
    const [request] = await store.findMany(await redis.zrange(keys.open, '0', '-1'))
    if (!request) throw new Error('there is no request')
    expect(await redis.get(keys.resource('elastic_ip:eip_d'))).toBe(request.id)

    await store.take(request, 'withdraw')

    expect(await redis.exists(...[request.resource, ...request.moreResources].map(keys.resource))).toBe(0)
  })

  test('is refused as busy while another open request holds the resource', async () => {
    const { store, request } = await withRequest()
    expect(await store.create(newRequestFor())).toMatchObject({ outcome: 'busy', held: [{ resource: request.resource, by: request.id }] })
    await store.take(request, 'reject')
    expect(await store.create(newRequestFor())).toMatchObject({ outcome: 'created' })
  })

  test('is not busy if the record of the holder is gone', async () => {
    const { redis, keys, store, request } = await withRequest()
    await redis.del(keys.record(request.id))
    expect(await store.create(newRequestFor())).toMatchObject({ outcome: 'created' })
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

test('the latest request for a resource is kept for longer than an ended one is tracked', () => {
  expect(keepLatestMs).toBeGreaterThan(trackEndedMs)
})
