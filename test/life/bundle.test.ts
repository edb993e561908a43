import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { AccountApi } from '../../src/account/client.ts'
import type { ElasticIp } from '../../src/account/objects.ts'
import type { App } from '../../src/app.ts'
import { AccountLimitError, ApiUnreachableError } from '../../src/domain/errors.ts'
import { inLane } from '../../src/domain/lane.ts'
import { childIdOf, isHeld, payloadHash, type Request } from '../../src/domain/request.ts'
import { ownFreezeName } from '../../src/domain/starts.ts'
import { evacuation } from '../../src/features/moves/ip-evacuate.ts'
import { moveChange } from '../../src/features/moves/move-change.ts'
import { checkAuthority } from '../../src/life/authority.ts'
import { createBundles, endIfOver } from '../../src/life/bundle.ts'
import { trackAgain } from '../../src/life/decide.ts'
import { preflightValidMs } from '../../src/life/send.ts'
import { track } from '../../src/life/track.ts'
import { reconcile } from '../../src/life/worker.ts'
import { encodeFields } from '../../src/record/store.ts'
import type { Fake } from '../fake-app.ts'
import { startJobs } from '../given/jobs.ts'
import { newRequestFor } from '../given/request.ts'
import { signatures, signedBy } from '../given/signatures.ts'
import { takeSteps } from '../given/take-steps.ts'
import { wholeList } from '../whole-list.ts'

const from = { id: 'sv_1', name: 'web-1' }
const to = { id: 'sv_2', name: 'web-2' }
const idsOf = (count: number) => Array.from({ length: count }, (_, index) => `eip_${index}`)
const all = <State>(ids: string[], state: State) => Object.fromEntries(ids.map((id) => [id, state]))

const noAnswer = new ApiUnreachableError({ operation: 'elasticIps.move', requestSent: 'unknown', problem: 'no answer' })

/** An account in memory. A move takes effect at once, and reads show it as active on the target. */
function accountWith(ids: string[], { writeMs = 0 } = {}) {
  const serverOf = new Map(ids.map((id) => [id, from.id]))
  const underway = { now: 0, most: 0 }
  const names = new Map([from, to, { id: 'sv_3', name: 'web-3' }].map(({ id, name }) => [id, name]))
  const place = { project: { id: 'proj_1' }, site: { id: undefined, name: undefined, slug: 'ASH' } }
  const shown = (id: string): ElasticIp => {
    const serverId = serverOf.get(id) ?? ''
    return {
      id,
      address: id,
      status: account.moving.has(id) ? 'moving' : 'active',
      server: { id: serverId, hostname: names.get(serverId) },
      ...place,
    }
  }
  const api = {
    elasticIps: {
      get: async (id: string) => shown(id),
      list: async () => wholeList([...serverOf.keys()].map(shown)),
      move: async (id: string, serverId: string) => {
        await account.before(id)
        account.writes.push(id)
        underway.now += 1
        underway.most = Math.max(underway.most, underway.now)
        await new Promise((done) => setTimeout(done, writeMs))
        underway.now -= 1
        serverOf.set(id, serverId)
        await account.after(id)
        return shown(id)
      },
    },
    servers: {
      get: async (id: string) => ({ id, hostname: names.get(id), status: account.statusOf.get(id) ?? 'on', locked: false, ...place }),
      list: async () => wholeList([]),
    },
  } as unknown as Pick<AccountApi, 'elasticIps' | 'servers'>
  const account = {
    ...{ api, serverOf, underway, writes: [] as string[] },
    /** Those that reads show as moving. */
    moving: new Set<string>(),
    /** The status of each server that is not on. */
    statusOf: new Map<string, string>(),
    /** What happens before a write takes effect, and before its answer. */
    before: async (_id: string) => {},
    after: async (_id: string) => {},
  }
  return account
}

/** Records an evacuation of so many addresses that Ben approved, and that has begun. */
async function startBegun(count: number, { writeMs = 0 } = {}) {
  const ids = idsOf(count)
  const account = accountWith(ids, { writeMs })
  const change = evacuation({ account: account.api } as never)
  const jobs = startJobs([change, moveChange({ account: account.api } as never)])
  const { store, redis, keys } = jobs
  const wanted = { serverId: from.id, targetId: to.id, elasticIpIds: ids }
  const { facts, input = wanted } = await change.preflight(wanted, {})
  const moreResources = change.moreResources?.(input, facts) ?? []
  const content = { kind: change.kind, input, facts, resource: change.resource(input), moreResources, createdAt: await store.now() }
  const requested = signedBy(signatures, newRequestFor(content))
  const { id } = requested
  await store.create(requested)
  const given = { by: 'U0BEN00001', rule: 'APPROVERS', via: 'S0ONCALL01', at: await store.now() }
  const waiting = await jobs.find(id)
  const approvals = [signatures.signApproval(waiting, given)]
  const decision = signatures.signApproved({ ...waiting, approvals }, { ...given, allOf: [] })
  const seenSignature = signatures.signSeen(waiting, facts)
  const begin = { set: { hasChildren: true as const, seen: facts, seenSignature }, dueInMs: 0 }
  await takeSteps(store, id, ['approve', { set: { approvals, decision } }], ['begin', begin])

  const childId = (item: string) => childIdOf(id, `elastic_ip:${item}`)
  /** One pass of a process with these parts. */
  const carryOn = (more: Fake<App> = {}, beganAt?: number) => createBundles(jobs.appWith(more))(id, beganAt)
  const parent = () => jobs.find(id)
  const child = (item: string) => jobs.find(childId(item))
  const statesOf = async () => Object.fromEntries(((await parent()).items ?? []).map((item) => [item.id, item.state]))
  /** Looks at all children, as a tick does, so long after their writes. */
  async function look(afterMs = 0): Promise<void> {
    const found = await Promise.all(ids.map((item) => store.find(childId(item))))
    const underway = found.filter((one): one is Request => one?.state === 'starting' || one?.state === 'tracking')
    await track(jobs.appWith({ store: { ...store, now: async () => (await store.now()) + afterMs } }), underway)
  }
  /** Has the time pass in which the write of a process that ended may still be under way. */
  async function passSending(): Promise<void> {
    for (const record of ids.map((item) => keys.record(childId(item)))) {
      const sentAt = await redis.hget(record, 'sentAt')
      if (sentAt !== null) await redis.hset(record, 'sentAt', Number(sentAt) - preflightValidMs)
    }
  }
  /** Puts the record of a child back to what it was before its write. */
  const putBack = (item: string) => redis.hset(keys.record(childId(item)), 'state', '"approved"')
  return { ...jobs, ids, account, id, carryOn, parent, child, childId, statesOf, look, passSending, putBack }
}

describe('the children of a request', () => {
  test('are each written once, then tracked to their end, which ends the request and frees what it locked', async () => {
    const { ids, account, id, carryOn, statesOf, look, parent, store, steps, redis, keys } = await startBegun(7)

    await carryOn()
    expect(await statesOf()).toEqual(all(ids, 'tracking'))
    expect(await redis.get(keys.resource('elastic_ip:eip_3'))).toBe(id)
    await look()

    expect(account.writes.toSorted()).toEqual(ids)
    expect(await statesOf()).toEqual(all(ids, 'done'))
    expect((await parent()).state).toBe('done')
    expect(await redis.get(keys.resource('elastic_ip:eip_3'))).toBeNull()
    expect((await store.lastChangesOf(['elastic_ip:eip_3'])).get('elastic_ip:eip_3')?.id).toBe(id)
    const ends = steps.filter(({ step }) => step === 'finish').map(({ kind, to: state, requestId }) => `${kind} ${state} ${requestId}`)
    expect(ends).toEqual([...Array(7).fill(`ip.move done ${id}`), `ip.evacuate done ${id}`])
    expect(await redis.zrange(keys.open, '0', '-1'), 'they are not listed').toEqual([])
    expect(await redis.zrange(keys.ended, '0', '-1')).toEqual([id])
    expect((await redis.zrange(keys.outbox, '0', '-1')).map((owed) => owed.split('/')[0])).not.toContain(childIdOf(id, 'elastic_ip:eip_3'))
  })

  test('that the account accepted and left where they were fail at the second look, 20 s after the first', async () => {
    const { ids, account, carryOn, look, statesOf, child, parent, redis, keys, childId } = await startBegun(2)
    await carryOn()
    for (const id of ids) account.serverOf.set(id, from.id)

    await look(59_000)
    await look(61_000)
    await look(80_000)
    expect(await statesOf()).toEqual(all(ids, 'tracking'))
    // One is seen moving again, so what was read before was behind.
    account.moving.add('eip_1')
    await look(82_000)
    expect(await statesOf()).toEqual({ eip_0: 'failed', eip_1: 'tracking' })
    expect(await child('eip_0')).toMatchObject({ causes: [{ code: 'back-on-old-server', server: 'web-1' }] })

    account.moving.clear()
    await look(90_000)
    expect(await statesOf()).toEqual({ eip_0: 'failed', eip_1: 'tracking' })
    await look(111_000)
    expect((await parent()).state).toBe('failed')
    expect(await redis.pttl(keys.reverted(childId('eip_0')))).toBeGreaterThan(0)
  })

  test('that were not sent when their target went off are not sent, with the reason', async () => {
    const { account, app, carryOn, look, statesOf, child, parent } = await startBegun(4)
    let turns = 2
    const takeWrite = async () => (turns-- > 0 ? 0 : 60_000)
    await carryOn({ budget: { ...app.budget, takeWrite } })
    account.statusOf.set(to.id, 'off')
    await carryOn()
    await look()

    expect(account.writes).toHaveLength(2)
    expect(Object.values(await statesOf()).toSorted()).toEqual(['done', 'done', 'not-started', 'not-started'])
    const [unsent = ''] = Object.entries(await statesOf()).flatMap(([item, state]) => (state === 'done' ? [] : [item]))
    expect(await child(unsent)).toMatchObject({ state: 'voided', causes: [{ code: 'target-not-on', server: 'web-2', status: 'off' }] })
    expect((await parent()).state).toBe('failed')
  })

  test('that were sent, or were not, are what may have changed once the tracking is stopped, until another request changes it', async () => {
    const { account, app, appWith, id, carryOn, look, statesOf, store, parent } = await startBegun(3)
    let turns = 2
    await carryOn({ budget: { ...app.budget, takeWrite: async () => (turns-- > 0 ? 0 : 60_000) } })
    const unsent = Object.entries(await statesOf()).flatMap(([item, state]) => (state === 'waiting' ? [item] : []))
    const [first = ''] = account.writes
    await store.take(await parent(), 'stop-tracking', { set: { stoppedBy: 'U0ADA00001' } })
    const last = await store.lastChangesOf(['server:sv_1', ...Object.keys(await statesOf()).map((item) => `elastic_ip:${item}`)])
    expect(unsent).toHaveLength(1)
    expect([...last].map(([resource, request]) => `${resource} ${request.id}`).toSorted()).toEqual(
      ['server:sv_1', ...account.writes.map((item) => `elastic_ip:${item}`)].map((each) => `${each} ${id}`).toSorted(),
    )

    // Another request moves one back, and is done.
    const another = signedBy(signatures, newRequestFor({ resource: `elastic_ip:${first}` }))
    await store.create(another)
    await takeSteps(store, another.id, 'approve', 'send', 'accept', 'finish')
    account.serverOf.set(first, from.id)
    const origin = { userId: 'U0ADA00001', channelId: 'C0OPS00001', teamId: 'T0NIMBUS01', command: '/infra' }
    await trackAgain(appWith({ errors: { of: () => () => {} } } as never), await parent(), origin)
    await look(61_000)

    expect((await parent()).items?.find((item) => item.id === first)).toMatchObject({
      state: 'superseded',
      causes: [{ code: 'changed-by-another' }],
    })
  })

  test('that another request all moved since end their request as superseded', async () => {
    const { ids, account, carryOn, parent, look, appWith, store } = await startBegun(2)
    account.after = async (one) => void account.moving.add(one)
    await carryOn()
    await store.take(await parent(), 'stop-tracking', { set: { stoppedBy: 'U0ADA00001' } })
    for (const one of ids) {
      const another = signedBy(signatures, newRequestFor({ id: `${one.at(-1)}`.repeat(32), resource: `elastic_ip:${one}` }))
      await store.create(another)
      await takeSteps(store, another.id, 'approve', 'send', 'accept', 'finish')
      account.serverOf.set(one, from.id)
    }
    account.moving.clear()
    const origin = { userId: 'U0ADA00001', channelId: 'C0OPS00001', teamId: 'T0NIMBUS01', command: '/infra' }
    await trackAgain(appWith({ errors: { of: () => () => {} } } as never), await parent(), origin)
    await look(61_000)
    await endIfOver(appWith({}), (await parent()).id)

    expect(await parent()).toMatchObject({ state: 'superseded', items: ids.map((id) => ({ id, state: 'superseded' })) })
  })

  test('whose write is under way keep their locks when the tracking is stopped, until its outcome is known', async () => {
    const { ids, account, id, carryOn, look, parent, child, childId, statesOf, store, dueInMs, redis, keys } = await startBegun(7)
    const answers = Promise.withResolvers<void>()
    // The third write is under way while somebody stops the tracking. The answer to the fourth is lost.
    account.before = async (one) => {
      if (one === 'eip_2') await store.take(await parent(), 'stop-tracking', { set: { stoppedBy: 'U0ADA00001' } })
    }
    account.after = (one) => answers.promise.then(() => (one === 'eip_3' ? Promise.reject(noAnswer) : undefined))
    const heldBy = async () => Promise.all(ids.map((one) => redis.get(keys.resource(`elastic_ip:${one}`))))
    const another = (one: string) =>
      store.create(signedBy(signatures, newRequestFor({ id: `${one.at(-1)}`.repeat(32), resource: `elastic_ip:${one}` })))

    const sending = carryOn()
    await expect.poll(async () => (await parent()).state).toBe('untracked')
    const underway = Object.entries(await statesOf()).flatMap(([one, state]) => (state === 'starting' ? [one] : []))
    expect(underway).toContain('eip_2')
    for (const one of underway) expect(await redis.get(keys.resource(`elastic_ip:${one}`))).toBe(childId(one))
    expect(await another('eip_2')).toMatchObject({ outcome: 'busy', locked: [{ by: childId('eip_2') }] })
    answers.resolve()
    await sending

    // Only the one whose answer was lost is still looked for.
    expect((await statesOf()).eip_3).toBe('starting')
    expect(await heldBy()).toEqual(ids.map((one) => (one === 'eip_3' ? childId(one) : null)))
    expect(await dueInMs(childId('eip_3'))).toBeDefined()
    expect(account.writes.length).toBeLessThan(7)
    await look(22_000)

    expect((await child('eip_3')).state).toBe('done')
    expect(await redis.pttl(keys.record(childId('eip_3')))).toBeGreaterThan(0)
    expect(await heldBy()).toEqual(ids.map(() => null))
    expect(await another('eip_3')).toMatchObject({ outcome: 'created' })
    expect((await store.find(id))?.state).toBe('untracked')
  })

  test('are slower than usual with the first of them, which their parent notes once', async () => {
    const { ids, id, appWith, carryOn, parent, statesOf, steps, store, redis, keys } = await startBegun(3)
    await carryOn()
    expect(await statesOf()).toEqual(all(ids, 'tracking'))
    await redis.hset(keys.record(id), 'slowAfterMs', '60000')
    const endAfter = (ms: number) => endIfOver(appWith({ store: { ...store, now: async () => (await store.now()) + ms } }), id)

    await endAfter(50_000)
    await redis.set(keys.silence, '1')
    await endAfter(61_000)
    expect((await parent()).slowAt).toBeUndefined()
    await redis.del(keys.silence)
    for (const ms of [61_000, 70_000]) await endAfter(ms)

    expect((await parent()).slowAt).toBeDefined()
    expect(steps.filter(({ step }) => step === 'slow')).toHaveLength(1)
  })

  test('that hold their locks alone are tracked again with the others', async () => {
    const { account, appWith, id, carryOn, look, parent, childId, store, redis, keys } = await startBegun(2)
    account.after = () => Promise.reject(noAnswer)
    await carryOn()
    await store.take(await parent(), 'stop-tracking', { set: { stoppedBy: 'U0ADA00001' } })
    expect(await redis.get(keys.resource('elastic_ip:eip_0'))).toBe(childId('eip_0'))
    const origin = { userId: 'U0ADA00001', channelId: 'C0OPS00001', teamId: 'T0NIMBUS01', command: '/infra' }

    await trackAgain(appWith({ errors: { of: () => () => {} } } as never), await parent(), origin)

    expect((await parent()).state).toBe('tracking')
    expect(await redis.get(keys.resource('elastic_ip:eip_0'))).toBe(id)
    await look(22_000)
    expect((await parent()).state).toBe('done')
    expect(await redis.get(keys.resource('elastic_ip:eip_0'))).toBeNull()
  })

  test('are created again under the same ids, and those that exist stay as they are', async () => {
    const { ids, account, carryOn, child, redis, keys, childId, statesOf } = await startBegun(2)
    await carryOn()
    const before = await child('eip_0')

    await redis.del(keys.record(childId('eip_1')))
    await carryOn()

    expect(await child('eip_0')).toEqual(before)
    expect(account.writes.toSorted(), 'the audit shows the write of the one that was lost').toEqual(ids)
    expect(await statesOf()).toEqual({ eip_0: 'tracking', eip_1: 'not-started' })
  })

  test('are not written a second time if their record is put back to before the write', async () => {
    const { ids, account, carryOn, putBack, child, said } = await startBegun(2)
    await carryOn()

    await putBack('eip_0')
    account.serverOf.set('eip_0', from.id)
    await carryOn()

    expect(account.writes.toSorted()).toEqual(ids)
    expect(said).toContain('distrust already-sent')
    expect(await child('eip_0')).toMatchObject({ state: 'not-started', causes: [{ code: 'already-sent' }] })
  })

  /** What somebody who writes to Redis signs with another content, as an approved child. */
  function signed(request: Request): Request {
    const hashed = { ...request, hash: payloadHash(request) }
    return { ...hashed, signature: signatures.signRequest(hashed) }
  }

  test.each<[string, (request: Request) => Request]>([
    ['with another target', (request) => ({ ...request, input: { ...(request.input as object), serverId: 'sv_3' } })],
    ['with its own signature, but another content', (request) => signed({ ...request, input: { elasticIpId: 'eip_0', serverId: 'sv_3' } })],
  ])('%s are not sent', async (_, changed) => {
    const { account, app, carryOn, child, redis, keys } = await startBegun(1)
    await carryOn({ budget: { ...app.budget, waitForWrite: async () => 60_000 } })
    await redis.hset(keys.record((await child('eip_0')).id), encodeFields({ ...changed(await child('eip_0')) }))

    await carryOn()

    expect(account.writes).toEqual([])
  })

  test('that it does not list are not allowed by its approval', async () => {
    const { app, carryOn, child } = await startBegun(1)
    await carryOn({ budget: { ...app.budget, waitForWrite: async () => 60_000 } })
    const other = { ...(await child('eip_0')), id: 'f'.repeat(32) }
    expect(await checkAuthority(app, other, await app.store.now(), { freezes: [] })).toEqual({ code: 'record-changed' })
  })

  test('of more than five are each written once, at most five at a time, by two processes that end at any step and lose answers', async () => {
    const anyRun = fc.record({
      count: fc.integer({ min: 6, max: 16 }),
      /** After how many steps each process ends. The next one carries on. */
      ends: fc.tuple(fc.nat(40), fc.nat(40)),
      lost: fc.uniqueArray(fc.nat(15), { maxLength: 4 }),
    })
    await fc.assert(
      fc.asyncProperty(anyRun, async ({ count, ends, lost }) => {
        const { account, carryOn, look, statesOf, parent, store, passSending } = await startBegun(count, { writeMs: 5 })
        account.after = async (id) => (lost.some((one) => id === `eip_${one}`) ? Promise.reject(noAnswer) : undefined)
        const processes = ends.map((steps) => {
          let left = steps
          const take: typeof store.take = async (...step) => {
            left -= 1
            if (left < 0) throw new Error('the process ended')
            return store.take(...step)
          }
          return carryOn({ store: { ...store, take } }).catch(() => {})
        })
        await Promise.all(processes)
        await passSending()
        for (let round = 0; round < 50 && Object.values(await statesOf()).includes('waiting'); round += 1)
          await Promise.all([carryOn(), carryOn()])
        await look()
        await look(16 * 60_000)

        expect(account.underway.most).toBeLessThanOrEqual(5)
        expect(account.writes).toHaveLength(new Set(account.writes).size)
        const done = Object.entries(await statesOf()).flatMap(([id, state]) => (state === 'done' ? [id] : []))
        expect(done.toSorted()).toEqual(account.writes.toSorted())
        expect((await parent()).state).toBe(done.length === count ? 'done' : 'failed')
      }),
      { numRuns: Number(process.env.BUNDLE_RUNS ?? 3) },
    )
  })

  test('are all sent in one pass, also if the answer to one was lost, which may still be under way', async () => {
    const { ids, account, carryOn, statesOf } = await startBegun(14, { writeMs: 20 })
    account.after = async (one) => (one === 'eip_2' ? Promise.reject(noAnswer) : undefined)

    await carryOn()

    expect(account.writes.toSorted()).toEqual(ids.toSorted())
    expect(await statesOf()).toEqual({ ...all(ids, 'tracking'), eip_2: 'starting' })
  })

  test('are allowed by the approval of their parent, for 30 minutes', async () => {
    const { account, carryOn, child, store } = await startBegun(1)

    await carryOn({ store: { ...store, now: async () => (await store.now()) + 31 * 60_000 } })

    expect(account.writes).toEqual([])
    expect(await child('eip_0')).toMatchObject({ state: 'not-started', causes: [{ code: 'approved-too-long-ago' }] })
  })

  test('are held by a freeze that begins while they are sent, and sent after it, each once', async () => {
    const { ids, account, app, carryOn, statesOf, child, parent, look } = await startBegun(9)
    account.before = async () => {
      if (account.writes.length === 0) await app.freezes.set({ by: 'U0BEN00001' })
    }

    await carryOn()
    await carryOn()
    const first = [...account.writes]
    expect(first.length).toBeLessThanOrEqual(5)
    const [held = ''] = Object.entries(await statesOf()).flatMap(([id, state]) => (state === 'waiting' ? [id] : []))
    expect(await child(held)).toMatchObject({ state: 'approved', waits: { for: 'freeze' } })
    expect((await parent()).items?.find(isHeld)?.waits, 'which their request shows').toEqual({ for: 'freeze', name: ownFreezeName })
    await look()
    expect((await parent()).state).toBe('tracking')

    await app.freezes.lift({ by: 'U0BEN00001' })
    await carryOn()

    expect(account.writes.toSorted()).toEqual(ids)
    await look()
    expect((await parent()).state).toBe('done')
  })

  test('are sent although the window of their rule has closed since their parent started', async () => {
    const { ids, account, app, carryOn } = await startBegun(2)
    const office = { name: 'office', days: [new Date().getUTCDay() === 1 ? 3 : 1], from: '09:00', to: '09:01', zone: 'UTC' }

    const rules = app.config.policy.rules.map((rule) => ({ ...rule, windows: [office] }))
    await carryOn({ config: { ...app.config, policy: { ...app.config.policy, rules } } })

    expect(account.writes.toSorted()).toEqual(ids)
  })
})

describe('the limit of the account', () => {
  /** Gives so many turns, and then none for a minute. */
  function turns(app: App, count: number): Fake<App> {
    let left = count
    return { budget: { ...app.budget, takeWrite: async () => (left-- > 0 ? 0 : 60_000) } }
  }

  test('lets a child wait for its turn as a single move does, and the others after it', async () => {
    const { ids, account, app, carryOn, statesOf, entries, child, dueInMs } = await startBegun(14)

    await carryOn(turns(app, 6))

    expect(account.writes).toHaveLength(6)
    expect(Object.values(await statesOf()).filter((state) => state === 'waiting')).toHaveLength(8)
    const waiting = (await entries()).filter(({ act }) => act === 'wait-for-turn').map(({ item = '' }) => item)
    expect(waiting.length).toBeGreaterThan(0)
    expect(waiting.length).toBeLessThanOrEqual(5)
    const [first = ''] = waiting
    expect(await child(first)).toMatchObject({ state: 'approved', waits: { for: 'writes', perMinute: 20 } })

    const { id } = await child(first)
    expect(await dueInMs(id)).toBeGreaterThan(55_000)
    await inLane('send', () => reconcile(app, createBundles(app), id))
    expect(account.writes.toSorted()).toEqual(ids.toSorted())
  })

  test('that refuses a write although it was counted puts its child back, and it is written once more', async () => {
    const { ids, account, carryOn, statesOf } = await startBegun(2)
    const limit = new AccountLimitError({ operation: 'elasticIps.move', kind: 'write', waitMs: 40_000, perMinute: 20, answered: true })
    let refusals = 1
    account.before = async (one) => (one === 'eip_1' && refusals-- > 0 ? Promise.reject(limit) : undefined)

    await carryOn()
    expect(await statesOf()).toEqual({ eip_0: 'tracking', eip_1: 'waiting' })

    await carryOn()
    expect(await statesOf()).toEqual(all(ids, 'tracking'))
    expect(account.writes.toSorted()).toEqual(ids)
  })
})
