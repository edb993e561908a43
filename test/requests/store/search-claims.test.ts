import { describe, expect, test } from 'vitest'
import { createStore } from '../../../src/requests/store/store.ts'
import { noteOf } from '../audit-for-test.ts'
import { connectLossyRedis, noAudit } from '../redis-for-test.ts'
import { withRequest } from '../with-request.ts'

describe('the search for the key that a request has issued', () => {
  test('is claimed by one process at a time, and by the next one after its end', async () => {
    const { store, request } = await withRequest()
    const first = await store.claimSearch(request.id)
    expect(await store.claimSearch(request.id)).toBeUndefined()

    await store.endSearch(request.id, first ?? '')

    expect(await store.claimSearch(request.id)).toBeDefined()
  })

  test('is not ended by a process whose claim ran out', async () => {
    const { redis, keys, store, request } = await withRequest()
    const slow = await store.claimSearch(request.id)
    await redis.del(keys.search(request.id))
    const next = await store.claimSearch(request.id)

    await store.endSearch(request.id, slow ?? '')

    expect(await redis.get(keys.search(request.id))).toBe(next)
  })

  test('is claimed and ended also if the answers of Redis are lost', async () => {
    const { redis, keys, request } = await withRequest()
    const lossy = await connectLossyRedis('patient')
    const store = createStore({ redis: lossy.redis, keys, audit: noAudit, noteOf })

    lossy.proxy.loseNextReply()
    const token = await store.claimSearch(request.id)
    expect(await redis.get(keys.search(request.id))).toBe(token)
    lossy.proxy.loseNextReply()
    await store.endSearch(request.id, token ?? '')

    expect(await redis.exists(keys.search(request.id))).toBe(0)
    expect(lossy.proxy.fired.lostReplies).toBe(2)
  })
})
