import { describe, expect, test } from 'vitest'
import type { AuditNote } from '../../../src/audit/entry.ts'
import { StoreUnavailableError } from '../../../src/domain/errors.ts'
import type { Request } from '../../../src/domain/request.ts'
import { createStore, type NewRequest, type StepData, type Store } from '../../../src/requests/store/store.ts'
import { connectLossyRedis, connectTestRedis, noAudit } from '../redis-for-test.ts'
import { moveFacts, newRequestFor, recordRequest } from '../request-for-test.ts'
import { takeSteps, untilTracking } from '../take-steps.ts'
import { withRequest } from '../with-request.ts'

const notPosted = { code: 'not-posted', error: 'is_archived' }
const answer = { operation: 'elasticIps.move', status: 202 }

describe('a new request', () => {
  test('is kept as it was asked for', async () => {
    const { request } = await withRequest({ reason: 'because "quotes" & <tags>' })
    expect(request).toMatchObject({
      kind: 'ip.move',
      state: 'waiting',
      revision: 1,
      input: { elasticIpId: 'eip_1GijF7NsZe3bN', serverId: 'sv_22mUQSvUfeqdv' },
      facts: moveFacts,
      reason: 'because "quotes" & <tags>',
    })
    expect(request.expiresAt - request.createdAt).toBe(14_400_000)
  })

  test('that is delivered twice is one request', async () => {
    const { store, request } = await withRequest()
    expect(await store.create(newRequestFor({ id: request.id }))).toEqual({ outcome: 'exists', id: request.id })
    expect(await store.open()).toHaveLength(1)
  })

  test('waits for the open one of the same resource', async () => {
    const { store, request } = await withRequest()
    expect(await store.create(newRequestFor())).toEqual({ outcome: 'busy', id: request.id })
    await store.take(request, 'reject')
    expect(await store.create(newRequestFor())).toMatchObject({ outcome: 'created' })
  })

  test('is not held up by one whose record is gone', async () => {
    const { redis, keys, store, request } = await withRequest()
    await redis.del(keys.record(request.id))
    expect(await store.create(newRequestFor())).toMatchObject({ outcome: 'created' })
  })

  test('that was taken back leaves nothing behind but the notes of the audit', async () => {
    const { redis, store, request, keys } = await withRequest()
    await store.discard(request, notPosted)
    expect(await store.find(request.id)).toBeUndefined()
    expect(await redis.keys(`${keys.queuePrefix}*`)).toEqual([keys.auditIntake])
  })

  test('that people have seen cannot be taken back', async () => {
    const { store, outbox, request } = await withRequest()
    const taken = await outbox.lease(request.id, 'card')
    if (typeof taken === 'string') throw new Error(taken)
    await outbox.settle(request.id, 'card', taken.lease, { status: 'settled', cardTs: '1.2', shownRevision: 1 })
    await store.discard(request, notPosted)
    expect(await store.find(request.id)).toMatchObject({ cardTs: '1.2', cardRevision: 1 })
  })
})

describe('a step', () => {
  test('that two take at once is taken by one', async () => {
    const { store, request } = await withRequest()
    const results = await Promise.all(Array.from({ length: 20 }, (_, index) => store.take(request, index % 2 === 0 ? 'approve' : 'reject')))
    expect(results.filter(({ outcome }) => outcome === 'won')).toHaveLength(1)
  })

  test('that is sent again, because its answer was lost, is won again by the same one', async () => {
    const { store, request } = await withRequest()
    expect(await store.take(request, 'approve', {}, 'mine')).toMatchObject({ outcome: 'won' })
    expect(await store.take(request, 'approve', {}, 'mine')).toMatchObject({ outcome: 'won' })
    expect(await store.take(request, 'approve', {}, 'theirs')).toEqual({ outcome: 'lost', state: 'approved' })
    expect((await store.find(request.id))?.revision).toBe(2)
  })

  test('is won again even when the request has moved on meanwhile', async () => {
    const { store, request } = await withRequest()
    await store.take(request, 'approve', {}, 'mine')
    await store.take(request, 'send', { dueInMs: 1_000 })
    expect(await store.take(request, 'approve', {}, 'mine')).toEqual({ outcome: 'won', state: 'starting' })
    expect(await store.find(request.id)).toMatchObject({ state: 'starting' })
  })

  test('is refused after the time for it, by Redis’ clock', async () => {
    const { store, request } = await withRequest({ ttlMs: 1 })
    await expect.poll(() => store.now()).toBeGreaterThan(request.expiresAt)
    expect(await store.take(request, 'approve')).toEqual({ outcome: 'expired', state: 'waiting' })
  })

  test('that rests on a look is refused when the look is old, and taken anew by a younger one', async () => {
    const { store, request } = await withRequest()
    const now = await store.now()
    expect(await store.take(request, 'approve', { notAfter: now - 1 })).toEqual({ outcome: 'outdated', state: 'waiting' })
    expect(await store.take(request, 'approve', { notAfter: now + 60_000 })).toEqual({ outcome: 'won', state: 'approved' })
  })

  test('of a request that is gone is refused', async () => {
    const { redis, keys, store, request } = await withRequest()
    await redis.del(keys.record(request.id))
    expect(await store.take(request, 'approve')).toMatchObject({ outcome: 'missing' })
  })

  test('that ends a request frees its resource, lists it as ended, owes the thread a report and keeps the record for a while', async () => {
    const { redis, keys, store, outbox, request } = await withRequest()
    await store.take(request, 'reject')
    expect(await redis.get(keys.resource(request.resource))).toBeNull()
    expect(await store.open()).toEqual([])
    expect((await store.ended(10, () => true)).map(({ id }) => id)).toEqual([request.id])
    expect(await outbox.owed(request.id)).toEqual(['ended'])
    expect(await redis.pttl(keys.record(request.id))).toBeGreaterThan(29 * 86_400_000)
    expect(await store.due(10)).toEqual([])
  })

  test('that brings an ended one back keeps its record and holds its resource again', async () => {
    const { redis, keys, store, request } = await withRequest()
    await takeSteps(store, request.id, 'approve', 'send', ['not-start', { dueInMs: 0 }])
    expect(await store.open()).toEqual([])

    await takeSteps(store, request.id, ['restart', { dueInMs: 0 }])

    expect(await redis.pttl(keys.record(request.id))).toBe(-1)
    expect(await redis.get(keys.resource(request.resource))).toBe(request.id)
    expect((await store.open()).map(({ id }) => id)).toEqual([request.id])
  })
})

describe('of many requests', () => {
  async function withMany(count: number) {
    const { redis, keys } = connectTestRedis()
    const store = createStore({ redis, keys, audit: noAudit })
    const ids = Array.from({ length: count }, (_, index) => `r${index}`)
    await Promise.all(ids.map((id) => store.create(newRequestFor({ id, resource: `elastic_ip:${id}` }))))
    return { redis, keys, store, ids }
  }

  test('every one that is open is told in short, but not one that does not fit', async () => {
    const { redis, keys, store, ids } = await withMany(1_001)
    await redis.hset(keys.record('r7'), 'id', '7')
    await redis.set(keys.record('r8'), 'not a record')

    const open = await store.open()

    expect(open.map(({ id }) => id).toSorted()).toEqual(ids.filter((id) => !['r7', 'r8'].includes(id)).toSorted())
    expect(await store.findMany(['r7', 'r8', 'r9'])).toMatchObject([{ id: 'r9' }])
    expect(open[0]).toEqual({
      id: expect.any(String),
      kind: 'ip.move',
      state: 'waiting',
      needsApproval: true,
      origin: newRequestFor().origin,
    })
  })

  test.each([
    ['in short', 'hmget', (store: Store) => store.open()],
    ['whole', 'hgetall', (store: Store) => store.findMany(['r0'])],
  ])('none is taken for gone because Redis does not answer: %s', async (_, command, read) => {
    const { keys } = await withMany(1)
    const { redis, proxy } = await connectLossyRedis('prompt')
    const store = createStore({ redis, keys, audit: noAudit })
    const { promise: end, resolve } = Promise.withResolvers<void>()
    proxy.holdSent((sent) => sent.includes(command), end)

    await expect(read(store)).rejects.toThrow(StoreUnavailableError)

    resolve()
  })

  test('the latest that ended and fit are found behind all the others', async () => {
    const { store } = await withMany(3)
    await store.create(newRequestFor({ id: 'rename', kind: 'vm.rename', resource: 'vm:1' }))
    for (const id of ['rename', 'r0', 'r2', 'r1']) await takeSteps(store, id, 'reject')
    // All within a few milliseconds: which was last is told apart by the clock alone.
    expect((await store.ended(1, ({ kind }) => kind === 'vm.rename')).map(({ id }) => id)).toEqual(['rename'])
    expect(await store.ended(2, ({ kind }) => kind === 'ip.move')).toHaveLength(2)
  })
})

describe('a step that was worked out from what the record holds', () => {
  const approval = (by: string) => ({ by, rule: 'APPROVERS', via: by, at: 1 })
  const counted = (by: string, approvals = [approval(by)]): StepData => ({ audit: { by }, set: { approvals } })
  const count = (store: Store, request: Request, by: string, token?: string) => store.take(request, 'count-approval', counted(by), token)

  test('is not taken once the record has moved', async () => {
    const { store, request } = await withRequest()
    expect(await count(store, request, 'UBEN')).toEqual({ outcome: 'won', state: 'waiting' })
    expect(await count(store, request, 'UCHI')).toEqual({ outcome: 'changed', state: 'waiting' })
    expect(await store.find(request.id)).toMatchObject({ approvals: [approval('UBEN')], revision: 2 })
  })

  test('that several take at once is taken by one, and no approval is lost to another', async () => {
    const { store, request } = await withRequest()
    const results = await Promise.all(['UA', 'UB', 'UC', 'UD', 'UE'].map((by) => count(store, request, by)))
    expect(results.map(({ outcome }) => outcome).toSorted()).toEqual(['changed', 'changed', 'changed', 'changed', 'won'])
  })

  test('that is sent again is won again, although its own first time has moved the record', async () => {
    const { store, request } = await withRequest()
    await count(store, request, 'UBEN', 'mine')
    expect(await count(store, request, 'UBEN', 'mine')).toEqual({ outcome: 'won', state: 'waiting' })
    expect((await store.find(request.id))?.revision).toBe(2)
  })

  test('that is sent again is won again, also when somebody else has taken the same step in between', async () => {
    const { store, request } = await withRequest()
    await count(store, request, 'UBEN', 'mine')
    const moved = (await store.find(request.id)) as Request
    await store.take(moved, 'count-approval', counted('UCHI', [approval('UBEN'), approval('UCHI')]), 'theirs')

    expect(await count(store, request, 'UBEN', 'mine')).toEqual({ outcome: 'won', state: 'waiting' })

    expect((await store.find(request.id))?.approvals).toHaveLength(2)
  })

  test('tells first that it comes too late for the state, and only then that the record has moved', async () => {
    const { store, request } = await withRequest()
    await store.take(request, 'reject')
    expect(await count(store, request, 'UBEN')).toEqual({ outcome: 'lost', state: 'rejected' })
  })
})

describe('when a request needs attention', () => {
  test('first at half of the time to decide, and at once where it needs no approval', async () => {
    const waiting = await withRequest({ ttlMs: 3_600_000 })
    const score = Number(await waiting.redis.zscore(waiting.keys.due, waiting.request.id))
    expect(score - waiting.request.createdAt).toBe(1_800_000)

    const free = await withRequest({ needsApproval: false })
    expect(await free.store.due(10)).toEqual([free.request.id])
  })

  test('stays as it is with a step that keeps it, and is never again with one that does not say', async () => {
    const { redis, keys, store, request } = await withRequest()
    const before = await redis.zscore(keys.due, request.id)
    expect(before).not.toBeNull()
    await takeSteps(store, request.id, 'count-approval')
    expect(await redis.zscore(keys.due, request.id)).toBe(before)

    await takeSteps(store, request.id, 'withdraw')
    expect(await redis.zscore(keys.due, request.id)).toBeNull()
  })

  test('is set by a step that says when, also where it keeps it', async () => {
    const { redis, keys, store, request } = await withRequest()
    await store.take(request, 'count-approval', { dueInMs: 0 })
    expect(Number(await redis.zscore(keys.due, request.id))).toBeLessThanOrEqual(await store.now())
  })
})

describe('a request that is put off', () => {
  test('is due later, where it is as it was read', async () => {
    const { store, request } = await withRequest({ needsApproval: false })
    await store.putOff(request, 60_000)
    expect(await store.due(10)).toEqual([])
  })

  test('stays due where it has moved on since it was read', async () => {
    const { store, request } = await withRequest()
    await store.take(request, 'approve', { dueInMs: 0 })
    await store.putOff(request, 60_000)
    expect(await store.due(10)).toEqual([request.id])
  })

  test('does not come back where it needs no attention any more', async () => {
    const { redis, keys, store, request } = await withRequest()
    await store.forget(request.id, request.revision)
    await store.putOff(request, 0)
    await store.postpone([request.id], 0)
    expect(await redis.zscore(keys.due, request.id)).toBeNull()
  })
})

describe('a request that needs no attention any more', () => {
  test('is forgotten where it is as it was read', async () => {
    const { store, request } = await withRequest({ needsApproval: false })
    await store.forget(request.id, request.revision)
    expect(await store.due(10)).toEqual([])
  })

  test('stays due where it has moved on since it was read: what was stopped is followed again', async () => {
    const { store, request } = await withRequest()
    const stopped = await takeSteps(store, request.id, ...untilTracking, 'stop-tracking')
    await store.take(stopped, 'track-again', { dueInMs: 0 })

    await store.forget(stopped.id, stopped.revision)

    expect(await store.due(10)).toEqual([request.id])
  })

  test('is forgotten where its record is gone, and stays due where it was not there yet', async () => {
    const { redis, keys, store, request } = await withRequest({ needsApproval: false })
    await store.forget(request.id, undefined)
    expect(await store.due(10)).toEqual([request.id])

    await redis.del(keys.record(request.id))
    await store.forget(request.id, undefined)

    expect(await store.due(10)).toEqual([])
  })
})

describe('the audit', () => {
  /** What was noted, oldest first, as the intake holds it. */
  async function withAudit(more: Partial<NewRequest> = {}) {
    const { redis, keys } = connectTestRedis()
    const kicks: string[] = []
    const audit = { encode: (note: AuditNote) => JSON.stringify(note), kick: () => void kicks.push('kicked') }
    const store = createStore({ redis, keys, audit })
    const request = await recordRequest(store, { reason: 'web-1 is being replaced', hash: 'f'.repeat(64), ...more })
    const noted = async () => {
      const items = await redis.xrange(keys.auditIntake, '-', '+')
      return items.map(([, [, note = '', , at, ...states]]) => ({
        ...JSON.parse(note),
        at: Number(at),
        ...Object.fromEntries(states.flatMap((name, index) => (index % 2 === 0 ? [[name, states[index + 1]]] : []))),
      }))
    }
    return { redis, keys, store, request, noted, kicks }
  }
  const subject = {
    kind: 'ip.move',
    resource: 'elastic_ip:eip_1GijF7NsZe3bN',
    facts: moveFacts,
    channelId: 'C0OPS00001',
    teamId: 'T0NIMBUS01',
    payload: expect.stringMatching(/^[0-9a-f]{64}$/),
  }

  test('notes who asked for what, where and why, in the step that records it', async () => {
    const { request, noted, kicks } = await withAudit()
    expect(await noted()).toEqual([
      {
        ...subject,
        act: 'request',
        requestId: request.id,
        by: 'U0ADA00001',
        rule: 'APPROVERS',
        reason: 'web-1 is being replaced',
        at: request.createdAt,
        to: 'waiting',
      },
    ])
    expect(kicks).toHaveLength(1)
  })

  test('notes a request once that is delivered twice, and one that had to wait not at all', async () => {
    const { store, request, noted } = await withAudit()
    await store.create(newRequestFor({ id: request.id }))
    await store.create(newRequestFor())
    expect(await noted()).toHaveLength(1)
  })

  test('notes each step with the states it left and entered, by Redis’ clock', async () => {
    const { store, request, noted } = await withAudit()
    await store.take(request, 'reject', { audit: { by: 'UBEN', rule: 'APPROVERS', via: 'UBEN', reason: 'Not today' } })
    const [, note] = await noted()
    expect(note).toEqual({
      ...subject,
      act: 'reject',
      requestId: request.id,
      by: 'UBEN',
      rule: 'APPROVERS',
      via: 'UBEN',
      reason: 'Not today',
      from: 'waiting',
      to: 'rejected',
      at: (await store.find(request.id))?.endedAt,
    })
  })

  test('notes what came of it, where a step says so or says why', async () => {
    const { store, request, noted } = await withAudit()
    await takeSteps(store, request.id, ['approve', { audit: { answer } }], ['void', { set: { causes: [notPosted] } }])
    expect((await noted()).slice(1)).toMatchObject([
      { act: 'approve', answer },
      { act: 'void', causes: [notPosted] },
    ])
  })

  test('notes a step once that is sent twice, and one that was not taken not at all', async () => {
    const { store, request, noted } = await withAudit()
    await store.take(request, 'count-approval', {}, 'mine')
    await store.take(request, 'count-approval', {}, 'mine')
    expect(await store.take(request, 'approve')).toMatchObject({ outcome: 'changed' })
    expect(await store.take(request, 'finish')).toMatchObject({ outcome: 'lost' })
    expect((await noted()).map(({ act }) => act)).toEqual(['request', 'count-approval'])
  })

  test('notes nothing that came too late', async () => {
    const { store, request, noted } = await withAudit({ ttlMs: 1 })
    await expect.poll(() => store.now()).toBeGreaterThan(request.expiresAt)
    await store.take(request, 'approve')
    expect((await noted()).map(({ act }) => act)).toEqual(['request'])
  })

  test('notes a request that was taken back, once, with why, and not one that is kept', async () => {
    const { store, request, noted } = await withAudit()
    await store.discard(request, notPosted)
    await store.discard(request, notPosted)
    expect((await noted())[1]).toMatchObject({
      ...subject,
      act: 'discard',
      requestId: request.id,
      causes: [notPosted],
    })
    expect(await noted()).toHaveLength(2)

    const kept = await withAudit()
    await kept.store.take(kept.request, 'approve')
    await kept.store.discard(kept.request, notPosted)
    expect((await kept.noted()).map(({ act }) => act)).toEqual(['request', 'approve'])
  })
})

describe('the search for what a request has issued', () => {
  test('is made by one at a time, and by the next one when it has ended', async () => {
    const { store, request } = await withRequest()
    const first = await store.claimSearch(request.id)
    expect(await store.claimSearch(request.id)).toBeUndefined()

    await store.endSearch(request.id, first ?? '')

    expect(await store.claimSearch(request.id)).toBeDefined()
  })

  test('is not ended by one whose claim ran out', async () => {
    const { redis, keys, store, request } = await withRequest()
    const slow = await store.claimSearch(request.id)
    await redis.del(keys.search(request.id))
    const next = await store.claimSearch(request.id)

    await store.endSearch(request.id, slow ?? '')

    expect(await redis.get(keys.search(request.id))).toBe(next)
  })

  test('is claimed where the answer to the claim was lost, and its end where that was', async () => {
    const { redis, keys, request } = await withRequest()
    const lossy = await connectLossyRedis('patient')
    const store = createStore({ redis: lossy.redis, keys, audit: noAudit })

    lossy.proxy.loseNextReply()
    const token = await store.claimSearch(request.id)
    expect(await redis.get(keys.search(request.id))).toBe(token)
    lossy.proxy.loseNextReply()
    await store.endSearch(request.id, token ?? '')

    expect(await redis.exists(keys.search(request.id))).toBe(0)
    expect(lossy.proxy.fired.lostReplies).toBe(2)
  })
})
