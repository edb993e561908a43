import { describe, expect, test } from 'vitest'
import { createStore } from '../../../src/requests/store.ts'
import { trusting } from '../audit-for-test.ts'
import { connectLossyRedis, noAudit } from '../redis-for-test.ts'
import { withRequest } from '../with-request.ts'

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
