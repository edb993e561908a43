import { describe, expect, test } from 'vitest'
import type { App } from '../../../../src/app.ts'
import type { AuditNote } from '../../../../src/audit/chain.ts'
import type { ApiKey } from '../../../../src/domain/account.ts'
import type { AuthorityProblem, Request } from '../../../../src/domain/request.ts'
import { createEvacuation } from '../../../../src/features/ip-evacuate.ts'
import { newKeyChange } from '../../../../src/features/keys-create.ts'
import { moveChange } from '../../../../src/moves/move-change.ts'
import { distrust } from '../../../../src/requests/authority.ts'
import { createCatalog } from '../../../../src/requests/catalog.ts'
import { createStore, type Store } from '../../../../src/requests/store.ts'
import { createTrack } from '../../../../src/requests/track.ts'
import { fakeApp, noticing } from '../../../fake-app.ts'
import { noteOf } from '../../audit-for-test.ts'
import { connectTestRedis, noAudit } from '../../redis-for-test.ts'
import { recordRequest } from '../../request-for-test.ts'
import { type PlannedStep, takeSteps } from '../../take-steps.ts'
import { accountWith, from, to, withBegun } from '../items/items-for-test.ts'

const timings = { graceMs: 60_000, handoverMs: 45_000 }
const input = { name: 'ci-deploy', readOnly: true, allowedIps: [] }

/** Tracks requests for a key that is on the account. Every observation of such a request treats the key as one that nobody has seen. */
function startTrack(checkRetraction: (request: Request, store: Store) => Promise<AuthorityProblem | undefined> = async () => undefined) {
  const distrusted: string[] = []
  const noted: AuditNote[] = []
  const { redis, keys } = connectTestRedis()
  const store = createStore({ redis, keys, audit: noAudit, noteOf })
  const live = [{ id: 'tok_1deLnN7QD0r6I', name: input.name }] as ApiKey[]
  const apiKeys = {
    list: async () => [...live],
    delete: async () => void live.splice(0),
  } as unknown as App['account']['apiKeys']
  const { track } = createTrack({
    store,
    catalog: createCatalog([newKeyChange(fakeApp({ account: { apiKeys } }))]),
    pollIntervalMs: 1_000,
    lateAfterMs: 900_000,
    timings,
    itemSteps: { takeItemStep: async () => undefined, endIfOver: async () => {} },
    onApiError: (error) => {
      throw error
    },
    checkRecord: () => undefined,
    checkRetraction: (request) => checkRetraction(request, store),
    distrust: (request, problem) =>
      distrust(
        fakeApp({
          store,
          audit: { noteCounted: async (note) => void noted.push(note) },
          noteOf,
          show: (async () => {}) as never,
          ...noticing(distrusted),
        }),
        request,
        problem,
      ),
  })

  async function find(id: string): Promise<Request> {
    const request = await store.find(id)
    if (!request) throw new Error(`there is no request ${id}`)
    return request
  }

  /** Records a request that has taken these steps. */
  async function recordAfter(id: string, ...steps: PlannedStep[]): Promise<Request> {
    await recordRequest(store, { id, kind: 'key.create', input, facts: input, resource: 'api_key_name:ci-deploy' })
    return takeSteps(store, id, ...steps)
  }

  /** Records a request that was reported as not started. It is due, and tracked until `trackedUntil`. */
  const recordNotStarted = (id: string, trackedUntil: number) =>
    recordAfter(id, 'approve', 'issue', ['not-start', { set: { trackedUntil }, dueInMs: 0 }])

  const dueInMs = async (id: string) => Number(await redis.zscore(keys.due, id)) - (await store.now())
  const isDue = async (id: string) => (await redis.zscore(keys.due, id)) !== null
  return { distrusted, noted, dueInMs, track, recordAfter, recordNotStarted, find, isDue, live, now: store.now }
}

describe('a request that was reported as not started', () => {
  test('and creates its key late: the key is deleted, and the report corrected', async () => {
    const { track, recordNotStarted, find, live, now } = startTrack()
    const ended = await recordNotStarted('a', (await now()) + 60_000)

    await track([ended])

    expect(live).toEqual([])
    expect(await find('a')).toMatchObject({ state: 'failed' })
  })

  test('is observed once more after its time is over, because a key that nobody has seen must not stay', async () => {
    const { track, recordNotStarted, isDue, live, now } = startTrack()
    const ended = await recordNotStarted('a', (await now()) - 1)

    await track([ended])

    expect(live).toEqual([])
    expect(await isDue('a')).toBe(false)
  })

  test('is no longer observed after another request for the same resource, which may have created the key', async () => {
    const { track, recordAfter, recordNotStarted, find, isDue, live, now } = startTrack()
    const ended = await recordNotStarted('a', (await now()) + 60_000)
    await recordAfter('b')

    await track([ended])

    expect(live).toHaveLength(1)
    expect(await find('a')).toMatchObject({ state: 'not-started' })
    expect(await isDue('a')).toBe(false)
  })
})

test('a request that has ended since it was found due is not observed, because its key is in use', async () => {
  const { track, recordAfter, isDue, live } = startTrack()
  const ended = await recordAfter('a', 'approve', 'issue', ['finish', { dueInMs: 0 }])
  expect(await isDue('a')).toBe(true)

  await track([{ ...ended, state: 'starting', revision: ended.revision - 1 }])

  expect(live).toHaveLength(1)
})

describe('a request that cannot be trusted is not observed, because its observation may delete a key that is in use', () => {
  test('and ends once, with its name free', async () => {
    const { track, recordAfter, find, live, distrusted, isDue } = startTrack(async () => ({ code: 'record-changed' }))
    const sent = await recordAfter('a', 'approve', ['issue', { dueInMs: 0 }])

    await track([sent])
    await track([sent])

    expect(live).toHaveLength(1)
    expect(distrusted).toEqual(['record-not-genuine'])
    expect(await find('a')).toMatchObject({ state: 'untracked', causes: [{ code: 'record-unverified' }] })
    expect(await isDue('a')).toBe(false)
    expect(await recordAfter('b')).toMatchObject({ state: 'waiting', resource: 'api_key_name:ci-deploy' })
  })

  test('but stays open while only the key is unknown, without an entry for each look', async () => {
    const { track, recordAfter, find, live, noted, dueInMs } = startTrack(async () => ({ code: 'unknown-key' }))
    const sent = await recordAfter('a', 'approve', ['issue', { dueInMs: 0 }])

    await track([sent])

    expect({ live: live.length, noted }).toEqual({ live: 1, noted: [] })
    expect(await find('a')).toMatchObject({ state: 'starting' })
    expect(await dueInMs('a')).toBeGreaterThan(20_000)
  })
})

test('a request that took another step while it was checked is observed again, and not reported', async () => {
  const { track, recordAfter, live, distrusted, dueInMs } = startTrack(async (request, store) => {
    await store.take(request, 'accept', { dueInMs: 0 })
    return { code: 'record-changed' }
  })
  const sent = await recordAfter('a', 'approve', ['issue', { dueInMs: 0 }])

  await track([sent])

  expect({ live: live.length, distrusted }).toEqual({ live: 1, distrusted: [] })
  expect(await dueInMs('a')).toBeLessThan(60_000)
})

describe('several moves under way', () => {
  const pageOf = (statuses: Record<string, string>, serverId: string) =>
    Object.entries(statuses).map(([id, status]) => ({ id, address: id, status, server: { id: serverId, hostname: 'web-2' } }))

  /** Tracks moves to web-2 whose addresses one list shows like this. Those it does not show are read alone. */
  async function trackMoves(ids: string[], listed: unknown[]) {
    const { redis, keys } = connectTestRedis()
    const store = createStore({ redis, keys, audit: noAudit, noteOf })
    const calls: string[] = []
    const elasticIps = {
      list: async ({ pages }: { pages: number }) => {
        calls.push(`list of ${pages}`)
        return listed
      },
      get: async (id: string) => {
        calls.push(`get ${id}`)
        return { id, address: id, status: 'moving', server: { id: 'sv_22mUQSvUfeqdv', hostname: 'web-2' } }
      },
    }
    const catalog = createCatalog([moveChange({ account: { elasticIps } } as never)])
    const { track } = createTrack({
      store,
      catalog,
      pollIntervalMs: 1_000,
      lateAfterMs: 900_000,
      timings,
      itemSteps: { takeItemStep: async () => undefined, endIfOver: async () => {} },
      onApiError: () => {},
      checkRecord: () => undefined,
      checkRetraction: async () => undefined,
      distrust: () => expect.fail('a request is not trusted'),
    })
    const requests: Request[] = []
    for (const id of ids) {
      const facts = {
        elasticIpId: id,
        address: id,
        from: { id: 'sv_1', name: 'web-1' },
        to: { id: 'sv_22mUQSvUfeqdv', name: 'web-2' },
      }
      const input = { elasticIpId: id, serverId: 'sv_22mUQSvUfeqdv' }
      await recordRequest(store, { id, kind: 'ip.move', input, facts, resource: `elastic_ip:${id}` })
      requests.push(await takeSteps(store, id, 'approve', 'send', ['accept', { dueInMs: 0 }]))
    }
    await track(requests)
    const states = (await store.findMany(ids)).map(({ id, state }) => `${id} ${state}`)
    return { calls, states }
  }

  test('are looked at with one list, in which a row that shows the end is the end', async () => {
    const listed = pageOf({ a: 'active', b: 'moving', c: 'active' }, 'sv_22mUQSvUfeqdv')

    const { calls, states } = await trackMoves(['a', 'b', 'c'], listed)

    expect(calls).toEqual(['list of 1'])
    expect(states).toEqual(['a done', 'b tracking', 'c done'])
  })

  test('that the list does not show are read alone, because a missing row settles nothing', async () => {
    const { calls, states } = await trackMoves(['a', 'b'], pageOf({ a: 'active' }, 'sv_22mUQSvUfeqdv'))

    expect(calls).toEqual(['list of 1', 'get b'])
    expect(states).toEqual(['a done', 'b tracking'])
  })

  test('are not ended by a row that shows anything but the target', async () => {
    const { calls, states } = await trackMoves(['a', 'b'], pageOf({ a: 'error', b: 'active' }, 'sv_3'))

    expect(calls).toEqual(['list of 1', 'get a'])
    expect(states).toEqual(['a tracking', 'b tracking'])
  })

  /** Tracks an evacuation of two addresses that move since so long, and a move beside it. Returns the lists, and when the evacuation is due again. */
  async function trackEvacuation(sinceMs: number) {
    const ids = ['eip_1', 'eip_2']
    const account = accountWith([...ids, 'eip_3'])
    const { id, read, store, redis, keys } = await withBegun(ids, account)
    const { track } = createTrack({
      store,
      catalog: createCatalog([
        moveChange({ account: account.api }),
        createEvacuation({ accountApi: account.api, seen: { find: async () => [] } }),
      ]),
      pollIntervalMs: 3_000,
      lateAfterMs: 900_000,
      timings,
      itemSteps: { takeItemStep: async () => undefined, endIfOver: async () => {} },
      onApiError: () => {},
      checkRecord: () => undefined,
      checkRetraction: async () => undefined,
      distrust: () => expect.fail('a request is not trusted'),
    })
    const facts = { elasticIpId: 'eip_3', address: 'eip_3', from, to }
    const move = { id: 'single', kind: 'ip.move', input: { elasticIpId: 'eip_3', serverId: to.id }, facts, resource: 'elastic_ip:eip_3' }
    await recordRequest(store, move)
    const single = await takeSteps(store, 'single', 'approve', 'send', ['accept', { dueInMs: 0 }])
    const now = await store.now()
    const items = ids.map((item) => ({ id: item, state: 'tracking' as const, causes: [], sentAt: now - sinceMs }))

    await track([single, { ...(await read()), items }])

    return { lists: account.lists, reads: account.reads, dueInMs: Number(await redis.zscore(keys.due, id)) - now }
  }

  test('are looked at with one list, also if an evacuation is among them', async () => {
    const { lists, reads } = await trackEvacuation(30_000)

    expect([lists, reads]).toEqual([1, []])
  })

  test('of an evacuation are looked at less often after a minute, as a single move is', async () => {
    expect((await trackEvacuation(30_000)).dueInMs).toBeLessThan(1_000)
    expect((await trackEvacuation(120_000)).dueInMs).toBeGreaterThan(5_000)
  })

  test('one alone is read by itself', async () => {
    const { calls } = await trackMoves(['a'], [])

    expect(calls).toEqual(['get a'])
  })
})
