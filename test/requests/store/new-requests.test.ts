import { describe, expect, test } from 'vitest'
import { trackEndedMs } from '../../../src/requests/reconcile/track/next-step.ts'
import { keepLatestMs } from '../../../src/requests/store/new-requests.ts'
import { moveFacts, newRequestFor } from '../request-for-test.ts'
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
    expect(await store.create(newRequestFor({ id: request.id }))).toEqual({ outcome: 'exists', id: request.id })
    expect(await store.open()).toHaveLength(1)
  })

  test('is refused as busy while another open request holds the resource', async () => {
    const { store, request } = await withRequest()
    expect(await store.create(newRequestFor())).toEqual({ outcome: 'busy', id: request.id })
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
    const { store, outbox, request } = await withRequest()
    const leased = await outbox.lease(request.id, 'card')
    if (typeof leased === 'string') throw new Error(leased)
    await outbox.settle(request.id, 'card', leased.lease, { status: 'settled', cardTs: '1.2', shownRevision: 1 })
    await store.discard(request, notPosted)
    expect(await store.find(request.id)).toMatchObject({ cardTs: '1.2', cardRevision: 1 })
  })
})

test('the latest request for a resource is kept for longer than an ended one is tracked', () => {
  expect(keepLatestMs).toBeGreaterThan(trackEndedMs)
})
