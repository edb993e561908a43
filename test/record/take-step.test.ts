import { describe, expect, test } from 'vitest'
import type { Request, Waits } from '../../src/domain/request.ts'
import type { StepName } from '../../src/record/steps.ts'
import { createStore, encodeFields, type StepData, type TakenStep } from '../../src/record/store.ts'
import { trusting } from '../given/audit.ts'
import { owedReports } from '../given/owed-reports.ts'
import { connectTestRedis, noAudit } from '../given/redis.ts'
import { moveFacts, newRequestFor, recordRequest } from '../given/request.ts'
import { type PlannedStep, takeSteps } from '../given/take-steps.ts'
import { withRequest } from '../given/with-request.ts'

/** The id of the request that holds the resource of this one. */
function lockOf({ redis, keys, request }: World) {
  return redis.get(keys.resource(request.resource))
}

type World = Awaited<ReturnType<typeof withRequest>>

const approval = (by: string) => ({ by, rule: 'APPROVERS', via: by, at: 1 })
const counted = (by: string, approvals = [approval(by)]): StepData => ({ audit: { by }, set: { approvals } })

/** The outcomes of steps that rest on the record as it was read at first, such as `approve by a, send by b`. Each person's process has one token. */
async function outcomesOf({ store, request }: World, steps: string): Promise<string> {
  const outcomes: string[] = []
  for (const step of steps.split(', ')) {
    const [name, by = ''] = step.split(' by ') as [StepName, string]
    const { outcome, state } = await store.take(request, name, name === 'count-approval' ? counted(by) : {}, by)
    outcomes.push(`${outcome}: ${state}`)
  }
  return outcomes.join(', ')
}

describe('a step', () => {
  test.each<[why: string, steps: string, outcomes: string, revision: number]>([
    ['again by its process, after a lost answer', 'approve by a, approve by a', 'won: approved, won: approved', 2],
    ['again after a later step', 'approve by a, send by b, approve by a', 'won: approved, won: starting, won: starting', 3],
    ['by one process', 'approve by a, approve by b', 'won: approved, lost: approved', 2],
    ['again if it ended the request', 'withdraw by a, withdraw by a', 'won: withdrawn, won: withdrawn', 2],
    ['again after the end', 'approve by a, withdraw by b, approve by a', 'won: approved, won: withdrawn, won: withdrawn', 3],
    ['by one process, also if it ended the request', 'withdraw by a, withdraw by b', 'won: withdrawn, lost: withdrawn', 2],
    ['again although its first try changed what it counts', 'count-approval by a, count-approval by a', 'won: waiting, won: waiting', 2],
    [
      'if it counts approvals, only while no other counted',
      'count-approval by a, count-approval by b',
      'won: waiting, changed: waiting',
      2,
    ],
    ['if it counts approvals, only in a state that allows it', 'reject by a, count-approval by b', 'won: rejected, lost: rejected', 2],
  ])('is won %s', async (_, steps, outcomes, revision) => {
    const world = await withRequest()
    expect(await outcomesOf(world, steps)).toBe(outcomes)
    expect((await world.store.find(world.request.id))?.revision).toBe(revision)
  })

  test('that counts an approval is won again although another person took it in between', async () => {
    const world = await withRequest()
    const { store, request } = world
    await outcomesOf(world, 'count-approval by UBEN')
    const changed = (await store.find(request.id)) as Request
    await store.take(changed, 'count-approval', counted('UCHI', [approval('UBEN'), approval('UCHI')]), 'UCHI')

    expect(await outcomesOf(world, 'count-approval by UBEN')).toBe('won: waiting')

    expect((await store.find(request.id))?.approvals).toHaveLength(2)
  })

  test.each([
    [['approve', 'reject'], 'lost'],
    // So no approval is lost.
    [['count-approval', 'count-approval'], 'changed'],
  ])('is taken by one process if several try at once: %j', async (names, others) => {
    const world = await withRequest()
    const tries = Array.from({ length: 10 }, (_, index) => outcomesOf(world, `${names[index % 2]} by ${index}`))
    const outcomes = (await Promise.all(tries)).map((outcome) => outcome.split(':')[0])
    expect(outcomes.toSorted()).toEqual([...Array(9).fill(others), 'won'])
  })

  test('is refused after the deadline by Redis’ clock, if it rests on an outdated read, and if the record is gone', async () => {
    const late = await withRequest({ ttlMs: 1 })
    await expect.poll(() => late.store.now()).toBeGreaterThan(late.request.expiresAt)
    expect(await outcomesOf(late, 'approve by a')).toBe('expired: waiting')

    const { redis, keys, store, request } = await withRequest()
    const now = await store.now()
    expect(await store.take(request, 'approve', { notAfter: now - 1 })).toEqual({ outcome: 'outdated', state: 'waiting' })
    expect(await store.take(request, 'approve', { notAfter: now + 60_000 })).toEqual({ outcome: 'won', state: 'approved' })
    await redis.del(keys.record(request.id))
    expect(await store.take(request, 'approve')).toMatchObject({ outcome: 'missing' })
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

  test.each<[string, (other: Request, world: World) => Promise<unknown>]>([
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

    await takeSteps(store, request.id, ['note-resolved', { reports: ['resolved'] }])

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

test('a step that was taken is noted with its request, and the write with the time since the last approval', async () => {
  const { redis, keys } = connectTestRedis()
  const taken: TakenStep[] = []
  const store = createStore({ redis, keys, audit: noAudit, signatures: trusting, onStep: (step) => void taken.push(step) })
  const { id } = await recordRequest(store)
  const { decidedAt = 0 } = await takeSteps(store, id, 'approve')
  await redis.hset(keys.record(id), 'decidedAt', String(decidedAt - 7_000))

  await takeSteps(store, id, 'send', 'accept', 'finish')

  expect(taken.map(({ step, requestId }) => [step, requestId])).toEqual(
    ['request', 'approve', 'send', 'accept', 'finish'].map((step) => [step, id]),
  )
  const [, , send, ...others] = taken
  expect(send?.sinceApprovalMs).toBeGreaterThanOrEqual(7_000)
  expect(send?.sinceApprovalMs).toBeLessThan(9_000)
  expect(others.every(({ sinceApprovalMs }) => sinceApprovalMs === undefined)).toBe(true)
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
