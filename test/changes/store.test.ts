import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { createOutbox } from '../../src/changes/outbox.ts'
import { createStore, type NewRequest, type Transition } from '../../src/changes/store.ts'
import type { Request } from '../../src/domain/request.ts'
import { connectTestRedis, noAudit } from './redis-for-test.ts'

const approve: Transition = { name: 'approve', from: ['waiting'], to: 'approved', stamp: ['decidedAt'], unexpired: true, dueInMs: 0 }
const reject: Transition = {
  name: 'reject',
  from: ['waiting'],
  to: 'rejected',
  stamp: ['decidedAt', 'endedAt'],
  unexpired: true,
  reports: ['ended'],
}

function newRequest(more: Partial<NewRequest> = {}): NewRequest {
  return {
    id: randomUUID().replaceAll('-', ''),
    kind: 'ip.move',
    input: { elasticIpId: 'eip_1', serverId: 'sv_2' },
    facts: { address: '203.0.113.10' },
    resource: 'elastic_ip:eip_1',
    sentence: 'Move 203.0.113.10 from web-1 to web-2',
    hash: 'f'.repeat(64),
    rule: 'APPROVERS',
    unchecked: [],
    origin: { teamId: 'T1', channelId: 'C1', userId: 'U1', command: '/infra' },
    needsApproval: true,
    ttlMs: 60_000,
    ...more,
  }
}

async function withRequest(more: Partial<NewRequest> = {}) {
  const { redis, keys } = connectTestRedis()
  const store = createStore({ redis, keys, audit: noAudit })
  const outbox = createOutbox({ redis, keys })
  const { id } = await store.create(newRequest(more))
  const request = (await store.find(id)) as Request
  return { redis, keys, store, outbox, request }
}

describe('a new request', () => {
  test('is kept as it was asked for', async () => {
    const { request } = await withRequest({ reason: 'because "quotes" & <tags>' })
    expect(request).toMatchObject({
      kind: 'ip.move',
      state: 'waiting',
      revision: 1,
      input: { elasticIpId: 'eip_1', serverId: 'sv_2' },
      facts: { address: '203.0.113.10' },
      reason: 'because "quotes" & <tags>',
    })
    expect(request.expiresAt - request.createdAt).toBe(60_000)
  })

  test('that is delivered twice is one request', async () => {
    const { store, request } = await withRequest()
    expect(await store.create(newRequest({ id: request.id }))).toEqual({ outcome: 'exists', id: request.id })
    expect(await store.open()).toHaveLength(1)
  })

  test('waits for the open one of the same resource', async () => {
    const { store, request } = await withRequest()
    expect(await store.create(newRequest())).toEqual({ outcome: 'busy', id: request.id })
    await store.transition(request, reject)
    expect(await store.create(newRequest())).toMatchObject({ outcome: 'created' })
  })

  test('is not held up by one whose record is gone', async () => {
    const { redis, keys, store, request } = await withRequest()
    await redis.del(keys.record(request.id))
    expect(await store.create(newRequest())).toMatchObject({ outcome: 'created' })
  })

  test('that was taken back leaves nothing behind', async () => {
    const { redis, store, request, keys } = await withRequest()
    await store.discard(request)
    expect(await store.find(request.id)).toBeUndefined()
    expect(await redis.keys(`${keys.queuePrefix}*`)).toEqual([])
  })

  test('that people have seen cannot be taken back', async () => {
    const { store, outbox, request } = await withRequest()
    const lease = await outbox.lease(request.id, 'card')
    if (typeof lease === 'string') throw new Error(lease)
    await outbox.settle(request.id, 'card', lease, { status: 'settled', cardTs: '1.2', shownRevision: 1 })
    await store.discard(request)
    expect(await store.find(request.id)).toMatchObject({ cardTs: '1.2', cardRevision: 1 })
  })
})

describe('a step', () => {
  test('that two take at once is taken by one', async () => {
    const { store, request } = await withRequest()
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, index) => store.transition(request, index % 2 === 0 ? approve : reject)),
    )
    expect(results.filter(({ outcome }) => outcome === 'won')).toHaveLength(1)
  })

  test('that is sent again, because its answer was lost, is won again by the same one', async () => {
    const { store, request } = await withRequest()
    expect(await store.transition(request, approve, 'mine')).toMatchObject({ outcome: 'won' })
    expect(await store.transition(request, approve, 'mine')).toMatchObject({ outcome: 'won' })
    expect(await store.transition(request, approve, 'theirs')).toEqual({ outcome: 'lost', state: 'approved' })
    expect((await store.find(request.id))?.revision).toBe(2)
  })

  test('is won again even when the request has moved on meanwhile', async () => {
    const { store, request } = await withRequest()
    await store.transition(request, approve, 'mine')
    await store.transition(request, { name: 'send', from: ['approved'], to: 'starting', stamp: ['sentAt'], dueInMs: 1_000 })
    expect(await store.transition(request, approve, 'mine')).toEqual({ outcome: 'won', state: 'starting' })
    expect(await store.find(request.id)).toMatchObject({ state: 'starting' })
  })

  test('is refused after the time for it, by Redis’ clock', async () => {
    const { store, request } = await withRequest({ ttlMs: 1 })
    await expect.poll(() => store.transition(request, approve)).toEqual({ outcome: 'expired', state: 'waiting' })
  })

  test('of a request that is gone is refused', async () => {
    const { redis, keys, store, request } = await withRequest()
    await redis.del(keys.record(request.id))
    expect(await store.transition(request, approve)).toMatchObject({ outcome: 'missing' })
  })

  test('that ends a request frees its resource, lists it as ended, owes the thread a report and keeps the record for a while', async () => {
    const { redis, keys, store, outbox, request } = await withRequest()
    await store.transition(request, reject)
    expect(await redis.get(keys.resource(request.resource))).toBeNull()
    expect(await store.open()).toEqual([])
    expect((await store.ended()).map(({ id }) => id)).toEqual([request.id])
    expect(await outbox.owed(request.id)).toEqual(['ended'])
    expect(await redis.pttl(keys.record(request.id))).toBeGreaterThan(29 * 86_400_000)
    expect(await store.due(10)).toEqual([])
  })

  test('that brings an ended one back keeps its record and holds its resource again', async () => {
    const { redis, keys, store, request } = await withRequest()
    await store.transition(request, { name: 'end', from: ['waiting'], to: 'not-started', stamp: ['endedAt'], dueInMs: 0 })
    await store.transition(request, { name: 'restart', from: ['not-started'], to: 'following', dueInMs: 0 })
    expect(await redis.pttl(keys.record(request.id))).toBe(-1)
    expect(await redis.get(keys.resource(request.resource))).toBe(request.id)
    expect((await store.open()).map(({ id }) => id)).toEqual([request.id])
  })
})

describe('the outbox', () => {
  async function leased(outbox: ReturnType<typeof createOutbox>, id: string) {
    const lease = await outbox.lease(id, 'card')
    if (typeof lease === 'string') throw new Error(`not leased: ${lease}`)
    return lease
  }

  test('lets one at a time send', async () => {
    const { outbox, request } = await withRequest()
    const leases = await Promise.all(Array.from({ length: 10 }, () => outbox.lease(request.id, 'card')))
    expect(leases.filter((lease) => lease !== 'held')).toHaveLength(1)
  })

  test('tells the next one to look first, when it is not known whether it was sent', async () => {
    const { outbox, request } = await withRequest()
    const lease = await leased(outbox, request.id)
    expect(lease.mode).toBe('fresh')
    await outbox.settle(request.id, 'card', lease, { status: 'unsure', retryInMs: 0 })
    expect((await leased(outbox, request.id)).mode).toBe('unsure')
  })

  test('lets it be sent anew, when it certainly was not', async () => {
    const { outbox, request } = await withRequest()
    await outbox.settle(request.id, 'card', await leased(outbox, request.id), { status: 'queued', retryInMs: 0 })
    expect((await leased(outbox, request.id)).mode).toBe('fresh')
    expect(await outbox.due(10)).toEqual([])
  })

  test('asks for the card again, when the record has changed while it was sent', async () => {
    const { store, outbox, request } = await withRequest()
    const lease = await leased(outbox, request.id)
    await store.transition(request, approve)
    expect(await outbox.settle(request.id, 'card', lease, { status: 'settled', cardTs: '1.2', shownRevision: 1 })).toBe('again')
    expect(await outbox.settle(request.id, 'card', await leased(outbox, request.id), { status: 'settled', shownRevision: 2 })).toBe(
      'settled',
    )
    expect(await outbox.due(10)).toEqual([])
  })

  test('has no place for who lost the lease', async () => {
    const { outbox, request } = await withRequest()
    await leased(outbox, request.id)
    expect(await outbox.settle(request.id, 'card', { token: 'another', mode: 'fresh' }, { status: 'settled', shownRevision: 1 })).toBe(
      'lost',
    )
  })
})
