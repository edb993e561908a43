import { describe, expect, test } from 'vitest'
import type { Request, Waits } from '../../src/domain/request.ts'
import type { StepName } from '../../src/record/steps.ts'
import { createStore, encodeFields, type StepData, type Store, type TakenStep } from '../../src/record/store.ts'
import { trusting } from '../given/audit.ts'
import { owedReports } from '../given/owed-reports.ts'
import { connectTestRedis, noAudit } from '../given/redis.ts'
import { moveFacts, newRequestFor, recordRequest } from '../given/request.ts'
import { type PlannedStep, takeSteps } from '../given/take-steps.ts'
import { withRequest } from '../given/with-request.ts'

/** The id of the request that holds the resource of this one. */
function lockOf({ redis, keys, request }: Pick<Awaited<ReturnType<typeof withRequest>>, 'redis' | 'keys' | 'request'>) {
  return redis.get(keys.resource(request.resource))
}

describe('a step', () => {
  test('is taken by one process if several try at once', async () => {
    const { store, request } = await withRequest()
    const results = await Promise.all(Array.from({ length: 20 }, (_, index) => store.take(request, index % 2 === 0 ? 'approve' : 'reject')))
    expect(results.filter(({ outcome }) => outcome === 'won')).toHaveLength(1)
  })

  test('is won again if the same process repeats it after a lost answer', async () => {
    const { store, request } = await withRequest()
    expect(await store.take(request, 'approve', {}, 'mine')).toMatchObject({ outcome: 'won' })
    expect(await store.take(request, 'approve', {}, 'mine')).toMatchObject({ outcome: 'won' })
    expect(await store.take(request, 'approve', {}, 'theirs')).toEqual({ outcome: 'lost', state: 'approved' })
    expect((await store.find(request.id))?.revision).toBe(2)
  })

  test('is won again also after a later step', async () => {
    const { store, request } = await withRequest()
    await store.take(request, 'approve', {}, 'mine')
    await store.take(request, 'send', { dueInMs: 1_000 })
    expect(await store.take(request, 'approve', {}, 'mine')).toEqual({ outcome: 'won', state: 'starting' })
    expect(await store.find(request.id)).toMatchObject({ state: 'starting' })
  })

  test('is refused after the deadline, by Redis’ clock', async () => {
    const { store, request } = await withRequest({ ttlMs: 1 })
    await expect.poll(() => store.now()).toBeGreaterThan(request.expiresAt)
    expect(await store.take(request, 'approve')).toEqual({ outcome: 'expired', state: 'waiting' })
  })

  test('is refused if it rests on an outdated read, and taken after a new read', async () => {
    const { store, request } = await withRequest()
    const now = await store.now()
    expect(await store.take(request, 'approve', { notAfter: now - 1 })).toEqual({ outcome: 'outdated', state: 'waiting' })
    expect(await store.take(request, 'approve', { notAfter: now + 60_000 })).toEqual({ outcome: 'won', state: 'approved' })
  })

  test('is refused while another open request holds a resource that it must not share', async () => {
    const { redis, keys, store, request } = await withRequest()
    const stopped = await takeSteps(store, request.id, 'approve', 'send', 'accept', 'stop-tracking')

    const other = await recordRequest(store)
    expect(await store.take(stopped, 'track-again', { unlessLocked: true })).toEqual({ outcome: 'lost', state: 'untracked' })
    await takeSteps(store, other.id, 'reject')
    expect(await store.take(stopped, 'track-again', { unlessLocked: true })).toEqual({ outcome: 'won', state: 'tracking' })
    expect(await redis.get(keys.resource(request.resource))).toBe(request.id)
  })

  test.each<[string, (other: Request, world: Awaited<ReturnType<typeof withRequest>>) => Promise<unknown>]>([
    ['whose record is gone', ({ id }, { redis, keys }) => redis.del(keys.record(id))],
    ['that has ended', ({ id }, { redis, keys }) => redis.hset(keys.record(id), 'state', '"done"')],
    [
      'whose record is no record',
      async ({ id }, { redis, keys }) => {
        await redis.del(keys.record(id))
        await redis.set(keys.record(id), 'damaged')
      },
    ],
  ])('takes over what is locked by a request %s', async (_, end) => {
    const world = await withRequest()
    const { redis, keys, store, request } = world
    const approved = await takeSteps(store, request.id, 'approve')
    // Redis lost the lock.
    await redis.del(keys.resource(request.resource))
    const other = await recordRequest(store)
    expect(await store.take(approved, 'send', { unlessLocked: true })).toMatchObject({ outcome: 'lost' })

    await end(other, world)

    expect(await lockOf(world)).toBe(other.id)
    expect(await store.take(approved, 'send', { unlessLocked: true })).toMatchObject({ outcome: 'won' })
    expect(await lockOf(world)).toBe(request.id)
  })

  test('is refused if the record of the freeze is not the one that was read', async () => {
    const { redis, keys, store, request } = await withRequest()
    const approved = await takeSteps(store, request.id, 'approve')
    expect(await store.take(approved, 'send', { freeze: 'free' })).toEqual({ outcome: 'frozen', state: 'approved' })
    await redis.set(keys.freeze, 'frozen')
    for (const freeze of ['free', ''])
      expect(await store.take(approved, 'send', { freeze })).toEqual({ outcome: 'frozen', state: 'approved' })
    expect(await store.take(approved, 'send', { freeze: 'frozen' })).toMatchObject({ outcome: 'won' })
    // A repeat of a step that was taken finds its own token first.
    const other = await takeSteps(store, (await recordRequest(store, { resource: 'other' })).id, 'approve')
    expect(await store.take(other, 'send', { freeze: 'frozen' }, 'mine')).toMatchObject({ outcome: 'won' })
    await redis.set(keys.freeze, 'free')
    expect(await store.take(other, 'send', { freeze: 'frozen' }, 'mine')).toMatchObject({ outcome: 'won' })
  })

  test('is refused if the record is gone', async () => {
    const { redis, keys, store, request } = await withRequest()
    await redis.del(keys.record(request.id))
    expect(await store.take(request, 'approve')).toMatchObject({ outcome: 'missing' })
  })

  test('that ends a request frees its resource, owes a report, and keeps the record for 30 days', async () => {
    const { redis, keys, store, request } = await withRequest()
    await store.take(request, 'reject')
    expect(await redis.get(keys.resource(request.resource))).toBeNull()
    expect((await store.findOpen()).requests).toEqual([])
    expect((await store.ended(10, () => true)).map(({ id }) => id)).toEqual([request.id])
    expect(await owedReports({ redis, keys }, request.id)).toEqual(['ended'])
    expect(await redis.pttl(keys.record(request.id))).toBeGreaterThan(29 * 86_400_000)
    expect(await store.due(10)).toEqual([])
  })

  test('that keeps an ended request as it is owes a report, and changes neither its place among the ended ones nor a newer last change', async () => {
    const { redis, keys, store, request } = await withRequest()
    await takeSteps(store, request.id, 'approve', ['send', { dueInMs: 0 }], 'finish')
    await redis.set(keys.lastChange(request.resource), 'newer')
    await redis.zadd(keys.ended, 1, request.id)

    await takeSteps(store, request.id, 'note-resolved')

    expect(await store.find(request.id)).toMatchObject({ state: 'done' })
    expect(await owedReports({ redis, keys }, request.id)).toContain('resolved')
    expect(await redis.get(keys.lastChange(request.resource))).toBe('newer')
    expect(await redis.zscore(keys.ended, request.id)).toBe('1')
  })

  test('that ends a request leaves few of its fields, and everything is read as before, also after another end', async () => {
    const { redis, keys, store, request } = await withRequest()
    const seen = { set: { seen: { ...moveFacts }, seenSignature: 'signed' } }
    const tracked = await takeSteps(store, request.id, ['approve', { audit: { by: 'U0BEN00001' } }], ['send', seen], 'accept')
    const fields = (await redis.hkeys(keys.record(request.id))).length

    const stopped = await takeSteps(store, request.id, ['stop-tracking', { set: { stoppedBy: 'U0BEN00001' } }])
    expect(stopped).toEqual({ ...tracked, state: 'untracked', stoppedBy: 'U0BEN00001', revision: 5, endedAt: expect.any(Number) })
    const done = await takeSteps(store, request.id, ['track-again', { set: { untrackedMs: 7 } }], 'finish')

    expect(done).toEqual({ ...stopped, state: 'done', untrackedMs: 7, revision: 7, endedAt: expect.any(Number) })
    expect((await redis.hkeys(keys.record(request.id))).length).toBeLessThan(fields / 2)
    expect(await redis.memory('USAGE', keys.record(request.id))).toBeLessThan(2_500)
  })

  test('that ended a request is won again if it is repeated, and so is an earlier one', async () => {
    const { store, request } = await withRequest()
    await store.take(request, 'approve', { audit: { by: 'U0BEN00001' } }, 'the approval')
    await store.take(request, 'withdraw', {}, 'the end')

    expect(await store.take(request, 'withdraw', {}, 'the end')).toEqual({ outcome: 'won', state: 'withdrawn' })
    expect(await store.take(request, 'approve', { audit: { by: 'U0BEN00001' } }, 'the approval')).toMatchObject({ outcome: 'won' })
    expect(await store.take(request, 'withdraw', {}, 'another')).toEqual({ outcome: 'lost', state: 'withdrawn' })
  })

  test('that tracks a request again keeps its record and holds its resource again', async () => {
    const { redis, keys, store, request } = await withRequest()
    await takeSteps(store, request.id, 'approve', 'send', 'accept', 'stop-tracking')
    expect((await store.findOpen()).requests).toEqual([])

    await takeSteps(store, request.id, ['track-again', { dueInMs: 0 }])

    expect(await redis.pttl(keys.record(request.id))).toBe(-1)
    expect(await redis.get(keys.resource(request.resource))).toBe(request.id)
    expect((await store.findOpen()).requests.map(({ id }) => id)).toEqual([request.id])
  })
})

describe('a step that depends on the content of the record', () => {
  const approval = (by: string) => ({ by, rule: 'APPROVERS', via: by, at: 1 })
  const counted = (by: string, approvals = [approval(by)]): StepData => ({ audit: { by }, set: { approvals } })
  const count = (store: Store, request: Request, by: string, token?: string) => store.take(request, 'count-approval', counted(by), token)

  test('is refused if the record changed since it was read', async () => {
    const { store, request } = await withRequest()
    expect(await count(store, request, 'UBEN')).toEqual({ outcome: 'won', state: 'waiting' })
    expect(await count(store, request, 'UCHI')).toEqual({ outcome: 'changed', state: 'waiting' })
    expect(await store.find(request.id)).toMatchObject({ approvals: [approval('UBEN')], revision: 2 })
  })

  test('is taken by one process if several try at once, so no approval is lost', async () => {
    const { store, request } = await withRequest()
    const results = await Promise.all(['UA', 'UB', 'UC', 'UD', 'UE'].map((by) => count(store, request, by)))
    expect(results.map(({ outcome }) => outcome).toSorted()).toEqual(['changed', 'changed', 'changed', 'changed', 'won'])
  })

  test('is won again if it is repeated, although its first try changed the record', async () => {
    const { store, request } = await withRequest()
    await count(store, request, 'UBEN', 'mine')
    expect(await count(store, request, 'UBEN', 'mine')).toEqual({ outcome: 'won', state: 'waiting' })
    expect((await store.find(request.id))?.revision).toBe(2)
  })

  test('is won again also if another person took the same step in between', async () => {
    const { store, request } = await withRequest()
    await count(store, request, 'UBEN', 'mine')
    const changed = (await store.find(request.id)) as Request
    await store.take(changed, 'count-approval', counted('UCHI', [approval('UBEN'), approval('UCHI')]), 'theirs')

    expect(await count(store, request, 'UBEN', 'mine')).toEqual({ outcome: 'won', state: 'waiting' })

    expect((await store.find(request.id))?.approvals).toHaveLength(2)
  })

  test('reports a state that does not allow it before a changed record', async () => {
    const { store, request } = await withRequest()
    await store.take(request, 'reject')
    expect(await count(store, request, 'UBEN')).toEqual({ outcome: 'lost', state: 'rejected' })
  })
})

describe('a step that was taken', () => {
  async function startNoting() {
    const { redis, keys } = connectTestRedis()
    const taken: TakenStep[] = []
    const store = createStore({ redis, keys, audit: noAudit, signatures: trusting, onStep: (step) => void taken.push(step) })
    const { id } = await recordRequest(store)
    /** Sets the time of the approval back. */
    async function approvedAgo(ms: number) {
      const { decidedAt = 0 } = await takeSteps(store, id, 'approve')
      await redis.hset(keys.record(id), 'decidedAt', String(decidedAt - ms))
    }
    return { store, id, taken, approvedAgo }
  }

  test('is noted with its request, and the write with the time since the last approval', async () => {
    const { store, id, taken, approvedAgo } = await startNoting()
    await approvedAgo(7_000)

    await takeSteps(store, id, 'send', 'accept', 'finish')

    expect(taken.map(({ step, requestId }) => [step, requestId])).toEqual(
      ['request', 'approve', 'send', 'accept', 'finish'].map((step) => [step, id]),
    )
    const [, , send, ...others] = taken
    expect(send?.sinceApprovalMs).toBeGreaterThanOrEqual(7_000)
    expect(send?.sinceApprovalMs).toBeLessThan(9_000)
    expect(others.every(({ sinceApprovalMs }) => sinceApprovalMs === undefined)).toBe(true)
  })
})

const untilStart = { for: 'start', until: 1 } as const
const wait = (name: StepName, waits: Waits['for']): PlannedStep => [name, { set: { waits: { for: waits } } }]

describe('the lock of a request', () => {
  const whileOpen: PlannedStep[] = [
    'approve',
    ['wait-for-start', { set: { waits: untilStart } }],
    'start-now',
    wait('wait-for-start', 'window'),
    wait('wait-for-turn', 'writes'),
    wait('wait-for-start', 'freeze'),
    wait('wait-for-account', 'account'),
    'send',
    wait('limit', 'writes'),
    wait('wait-for-start', 'freeze'),
    'send',
    'accept',
  ]

  test.each([
    ['scheduled', { start: Date.now() + 3_600_000 }],
    ['immediate', {}],
  ])('of one that is %s keeps out every other one until its end, whatever it waits for', async (_, more) => {
    const world = await withRequest(more)
    const { store, request } = world
    const busy = { outcome: 'busy', locked: [{ resource: request.resource, by: request.id }] }
    for (const step of [undefined, ...whileOpen]) {
      if (step) await takeSteps(store, request.id, step)
      for (const other of [{}, { start: Date.now() + 7_200_000 }]) expect(await store.create(newRequestFor(other))).toMatchObject(busy)
    }
    expect((await store.othersFor({ id: '', resource: request.resource })).map(({ id }) => id)).toEqual([request.id])

    await takeSteps(store, request.id, 'finish')

    expect(await store.create(newRequestFor({ start: Date.now() + 7_200_000 }))).toMatchObject({ outcome: 'created' })
  })

  const ends: [string, PlannedStep[]][] = [
    ['rejected', ['reject']],
    ['expired', ['expire']],
    ['withdrawn', ['withdraw']],
    ['withdrawn after the approval', ['approve', 'withdraw']],
    ['withdrawn while it is held', ['approve', wait('wait-for-start', 'freeze'), 'withdraw']],
    ['dropped while it is held', ['approve', wait('wait-for-start', 'freeze'), 'drop']],
    ['voided', ['approve', 'void']],
    ['done', ['approve', 'send', 'finish']],
    ['failed after a wait', ['approve', wait('wait-for-start', 'freeze'), 'send', 'accept', 'fail']],
    ['not tracked', ['approve', 'send', 'accept', 'stop-tracking']],
  ]
  test.each(ends)('is freed by a request that is %s, whether it was scheduled or not', async (_, steps) => {
    for (const more of [{}, { start: Date.now() + 3_600_000 }]) {
      const world = await withRequest(more)
      await takeSteps(world.store, world.request.id, ...steps)
      expect(await lockOf(world)).toBeNull()
    }
  })

  test('of an evacuation stays with it while its children are held', async () => {
    const { redis, keys, store, request } = await withRequest({ resource: 'server:sv_1', moreResources: ['elastic_ip:eip_1'] })
    await takeSteps(store, request.id, 'approve', ['begin', { set: { hasChildren: true } }])
    const parent = { id: request.id, kind: 'ip.evacuate' }
    const child = { ...request, id: 'child', resource: 'elastic_ip:eip_1', moreResources: [], parent, state: 'approved' as const }
    await redis.hset(keys.record(child.id), encodeFields({ ...child, expiresAt: request.expiresAt }))

    const held = await takeSteps(store, child.id, wait('wait-for-start', 'freeze'))
    expect(await redis.get(keys.resource(child.resource))).toBe(request.id)
    expect(await store.take(held, 'send', { unlessLocked: true, freeze: 'read before' })).toMatchObject({ outcome: 'frozen' })
    expect(await store.take(held, 'send', { unlessLocked: true, freeze: '' })).toMatchObject({ outcome: 'won' })

    expect(await redis.get(keys.resource(child.resource))).toBe(request.id)
  })
})
