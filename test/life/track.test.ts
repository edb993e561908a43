import { describe, expect, test } from 'vitest'
import type { ApiKey } from '../../src/account/objects.ts'
import { AccountLimitError, ApiUnreachableError } from '../../src/domain/errors.ts'
import type { Request } from '../../src/domain/request.ts'
import { usualTimings } from '../../src/domain/timings.ts'
import { newKeyChange } from '../../src/features/keys/create.ts'
import { moveChange } from '../../src/features/moves/move-change.ts'
import { track } from '../../src/life/track.ts'
import type { NewRequest, Store } from '../../src/record/store.ts'
import { startJobs } from '../given/jobs.ts'
import { newRequestFor } from '../given/request.ts'
import { signatures, signaturesOfBot, signedBy } from '../given/signatures.ts'
import { type PlannedStep, takeSteps } from '../given/take-steps.ts'
import { wholeList } from '../whole-list.ts'

const input = { name: 'ci-deploy', readOnly: true, allowedIps: [] }
const noAnswer = new ApiUnreachableError({ operation: 'elasticIps.get', requestSent: 'unknown', problem: 'no answer' })

async function recordSigned(store: Store, wanted: Partial<NewRequest>, by = signatures): Promise<void> {
  await store.create(signedBy(by, newRequestFor(wanted)))
}

/** Tracks requests for a key that is on the account. Every observation of such a request treats the key as one that nobody has seen. */
function startTrack({
  by = signatures,
  onSecondRead,
}: {
  by?: typeof signatures
  onSecondRead?: (store: Store, id: string) => unknown
} = {}) {
  const live = [{ id: 'tok_1deLnN7QD0r6I', name: input.name }] as ApiKey[]
  const apiKeys = {
    list: async () => wholeList([...live]),
    delete: async () => void live.splice(0),
  }
  const jobs = startJobs([newKeyChange({ account: { apiKeys } } as never)])
  const { store } = jobs
  let reads = 0
  async function find(id: string) {
    reads += 1
    if (reads === 2) await onSecondRead?.(store, id)
    return store.find(id)
  }
  const app = jobs.appWith({ store: { ...store, find }, timings: { ...usualTimings, handoverMs: 0 } })

  /** Records a request that has taken these steps. */
  async function recordAfter(id: string, ...steps: PlannedStep[]): Promise<Request> {
    await recordSigned(store, { id, kind: 'key.create', input, facts: input, resource: 'api_key_name:ci-deploy' }, by)
    return takeSteps(store, id, ...steps)
  }

  const distrusted = () => jobs.said.filter((each) => each.startsWith('distrust'))
  return { ...jobs, distrusted, track: (requests: Request[]) => track(app, requests), recordAfter, live }
}

test('a request that has ended since it was found due is not observed, because its key is in use', async () => {
  const { track, recordAfter, dueInMs, live } = startTrack()
  const ended = await recordAfter('a', 'approve', 'issue', ['finish', { dueInMs: 0 }])
  expect(await dueInMs('a')).toBeDefined()

  await track([{ ...ended, state: 'starting', revision: ended.revision - 1 }])

  expect(live).toHaveLength(1)
})

describe('a request that cannot be trusted is not observed, because its observation may delete a key that is in use', () => {
  test('and ends once, with its name free', async () => {
    const { track, recordAfter, find, live, distrusted, dueInMs } = startTrack()
    const sent = await recordAfter('a', 'approve', ['issue', { dueInMs: 0 }])

    await track([sent])
    await track([sent])

    expect(live).toHaveLength(1)
    expect(distrusted()).toEqual(['distrust record-changed'])
    expect(await find('a')).toMatchObject({ state: 'untracked', causes: [{ code: 'record-unverified' }] })
    expect(await dueInMs('a')).toBeUndefined()
    expect(await recordAfter('b')).toMatchObject({ state: 'waiting', resource: 'api_key_name:ci-deploy' })
  })

  test('but stays open while only the key is unknown, without an entry for each look', async () => {
    const { track, recordAfter, find, live, entries, dueInMs } = startTrack({
      by: signaturesOfBot({ STATE_KEY: 'another-key-for-tests-of-32-chars', INFRA_API_KEY: '', REDIS_PREFIX: 'lockkeeper' }),
    })
    const sent = await recordAfter('a', 'approve', ['issue', { dueInMs: 0 }])

    await track([sent])

    expect(live).toHaveLength(1)
    expect((await entries()).filter(({ act }) => act === 'distrust')).toEqual([])
    expect(await find('a')).toMatchObject({ state: 'starting' })
    expect(await dueInMs('a')).toBeGreaterThan(20_000)
  })
})

test('a key that nobody has seen is deleted by one process at a time, and its request fails', async () => {
  const { track, recordAfter, find, live, store } = startTrack()
  const approved = await recordAfter('a', 'approve')
  const seen = { seen: input, seenSignature: signatures.signSeen(approved, input) }
  const sent = await takeSteps(store, 'a', ['issue', { set: seen, dueInMs: 0 }])

  const claim = (await store.claimRetraction('a')) ?? expect.fail('it was claimed before')
  await track([sent])
  expect([live.length, (await find('a')).state]).toEqual([1, 'starting'])

  await store.endRetraction('a', claim)
  await track([sent])
  expect([live.length, (await find('a')).state]).toEqual([0, 'failed'])
})

test('a request that took another step while it was checked is observed again, and not reported', async () => {
  const { track, recordAfter, live, distrusted, dueInMs } = startTrack({
    onSecondRead: async (store, id) => store.take((await store.find(id)) as Request, 'accept', { dueInMs: 0 }),
  })
  const sent = await recordAfter('a', 'approve', ['issue', { dueInMs: 0 }])

  await track([sent])

  expect([live.length, distrusted()]).toEqual([1, []])
  expect(await dueInMs('a')).toBeLessThan(60_000)
})

describe('several moves under way', () => {
  const pageOf = (statuses: Record<string, string>, serverId: string) =>
    Object.entries(statuses).map(([id, status]) => ({ id, address: id, status, server: { id: serverId, hostname: 'web-2' } }))

  /** Tracks moves to web-2 whose addresses one list shows like this. Those it does not show are read alone. */
  async function trackMoves(ids: string[], listed: unknown[] | Error, more: Partial<Request> = {}) {
    const calls: string[] = []
    const elasticIps = {
      list: async ({ pages }: { pages: number }) => {
        calls.push(`list of ${pages}`)
        if (listed instanceof Error) throw listed
        return wholeList(listed)
      },
      get: async (id: string) => {
        calls.push(`get ${id}`)
        return { id, address: id, status: 'moving', server: { id: 'sv_22mUQSvUfeqdv', hostname: 'web-2' } }
      },
    }
    const { app, store } = startJobs([moveChange({ account: { elasticIps } } as never)])
    const requests: Request[] = []
    for (const id of ids) {
      const to = { id: 'sv_22mUQSvUfeqdv', name: 'web-2' }
      const facts = { elasticIpId: id, address: id, from: { id: 'sv_1', name: 'web-1' }, to }
      const input = { elasticIpId: id, serverId: to.id }
      await recordSigned(store, { id, kind: 'ip.move', input, facts, resource: `elastic_ip:${id}` })
      requests.push({ ...(await takeSteps(store, id, 'approve', 'send', ['accept', { dueInMs: 0 }])), ...more })
    }
    await track(app, requests)
    const states = (await store.findMany(ids)).map(({ id, state }) => `${id} ${state}`)
    return { calls, states }
  }

  const rows = pageOf({ a: 'active', b: 'moving', c: 'active' }, 'sv_22mUQSvUfeqdv')
  const allShown = [['list of 1'], ['a done', 'b tracking', 'c done']]

  test.each<[what: string, ids: string[], listed: unknown[] | Error, calls: string[], states: string[]]>([
    ['a row that shows the end is the end', ['a', 'b', 'c'], rows, ...(allShown as [string[], string[]])],
    ['a row that comes twice is read once', ['a', 'b', 'c'], [...rows, ...rows], ...(allShown as [string[], string[]])],
    ['a missing row settles nothing, and is read alone', ['a', 'd'], rows, ['list of 1', 'get d'], ['a done', 'd tracking']],
    ['one that fails settles nothing', ['a', 'b'], noAnswer, ['list of 1', 'get a', 'get b'], ['a tracking', 'b tracking']],
  ])('are looked at with one list, in which %s', async (_, ids, listed, calls, states) => {
    expect(await trackMoves(ids, listed)).toEqual({ calls, states })
  })

  test('do not end as done if somebody changed their records', async () => {
    expect((await trackMoves(['a', 'b'], rows, { reason: 'Another one' })).states).toEqual(['a untracked', 'b tracking'])
  })
})

describe('an account API that does not answer', () => {
  /** Moves under way, and ticks at which the account answers or not, so long after the first. */
  async function startSilence(count = 2) {
    let isAway = true
    let isLimited = false
    let shown = 'moving'
    const limit = new AccountLimitError({ operation: 'elasticIps.get', kind: 'read', perMinute: 60, waitMs: 1_000, answered: false })
    const done = (id: string) => ({ id, address: id, status: 'active', server: { id: 'sv_2', hostname: 'web-2' } })
    const moving = (id: string) => ({ id, address: id, status: 'moving', server: undefined })
    const elasticIps = {
      list: async () =>
        isAway ? Promise.reject(noAnswer) : isLimited ? Promise.reject(limit) : wholeList(shown === 'done' ? ids.map(done) : []),
      get: async (id: string) => (isLimited ? Promise.reject(limit) : isAway ? Promise.reject(noAnswer) : moving(id)),
    }
    const jobs = startJobs([moveChange({ account: { elasticIps } } as never)])
    const { store, redis, keys } = jobs
    const ids = Array.from({ length: count }, (_, index) => `r${index}`)
    for (const id of ids) {
      const facts = { elasticIpId: id, address: id, to: { id: 'sv_2', name: 'web-2' } }
      await recordSigned(store, { id, input: { elasticIpId: id, serverId: 'sv_2' }, facts, resource: `elastic_ip:${id}` })
      await takeSteps(store, id, 'approve', 'send', ['accept', { dueInMs: 0 }])
      await redis.hset(keys.record(id), { cardTs: '"1.1"', cardRevision: '4' })
    }
    await redis.del(keys.outbox)
    const startedAt = await store.now()

    /** `listed`: the list takes the last turns. `limited`: there is none for it either. */
    async function tick(sinceMs: number, is: 'away' | 'back' | 'listed' | 'limited' | 'done'): Promise<void> {
      isAway = is === 'away' || is === 'listed'
      isLimited = is === 'listed' || is === 'limited'
      shown = is
      const app = jobs.appWith({ store: { ...store, now: async () => startedAt + sinceMs } })
      await track(app, await store.findMany(ids))
    }
    const since = async () => (await store.findMany(ids)).map(({ unansweredSince }) => unansweredSince && unansweredSince - startedAt)
    /** The messages that are to be updated since the last call. */
    async function updated(): Promise<string[]> {
      const owed = await redis.zrange(keys.outbox, '0', '-1')
      await redis.del(keys.outbox)
      return owed
    }
    return { ...jobs, tick, since, updated }
  }

  test('is shown after 30 s by every request under way, until it answers', async () => {
    const { tick, since, updated } = await startSilence()

    await tick(0, 'away')
    await tick(29_999, 'away')
    expect([await since(), await updated()]).toEqual([[undefined, undefined], []])
    await tick(30_000, 'away')
    expect([await since(), await updated()]).toEqual([
      [0, 0],
      ['r0/card', 'r1/card'],
    ])
    await tick(60_000, 'away')
    expect(await updated()).toEqual([])
    await tick(90_000, 'back')
    expect([await since(), await updated()]).toEqual([
      [undefined, undefined],
      ['r0/card', 'r1/card'],
    ])
  })

  test('is not shown while some reads are answered, and one failed read long ago counts for nothing', async () => {
    const { tick, since, redis, keys } = await startSilence()

    await tick(0, 'away')
    await tick(20_000, 'back')
    await tick(40_000, 'away')
    expect(await since()).toEqual([undefined, undefined])

    await redis.del(keys.silence)
    await tick(3_600_000, 'away')
    await tick(3_629_000, 'away')
    expect(await since()).toEqual([undefined, undefined])
    expect(await redis.pttl(keys.silence)).toBeGreaterThan(0)
  })

  test('is shown after 30 s also while its failed reads, or those of one list, use up the limit', async () => {
    const { tick, since } = await startSilence()

    await tick(0, 'limited')
    for (const ms of [10_000, 20_000]) await tick(ms, 'listed')
    await tick(39_999, 'limited')
    expect(await since()).toEqual([undefined, undefined])
    await tick(40_000, 'limited')
    expect(await since()).toEqual([10_000, 10_000])
  })

  test('is not shown for one failed read, however long the limit leaves no other', async () => {
    const { tick, since } = await startSilence()

    await tick(0, 'listed')
    for (const ms of [20_000, 40_000, 60_000]) await tick(ms, 'limited')
    expect(await since()).toEqual([undefined, undefined])
    await tick(70_000, 'listed')
    expect(await since()).toEqual([0, 0])
  })

  test('makes nothing slower than usual', async () => {
    const { tick, find, redis, keys } = await startSilence()
    await redis.hset(keys.record('r0'), 'slowAfterMs', '60000')

    await tick(50_000, 'away')
    await tick(90_100, 'away')
    expect((await find('r0')).slowAt).toBeUndefined()
    await tick(91_000, 'back')
    expect((await find('r0')).slowAt).toBeDefined()
  })

  test('hides when a change ended, as a pause of the looks does, so its duration does not count', async () => {
    const { tick, find, redis, keys } = await startSilence()
    const noted = () => redis.llen(keys.durations('ip.move'))

    await tick(10_000, 'back')
    await tick(41_000, 'done')
    expect(await find('r0')).toMatchObject({ state: 'done', untrackedMs: 0 })
    expect(await noted()).toBe(0)

    const away = await startSilence()
    for (const ms of [10_000, 40_001]) await away.tick(ms, 'away')
    await away.tick(41_000, 'done')
    expect(await away.find('r0')).toMatchObject({ state: 'done', unansweredSince: expect.any(Number) })
    expect(await away.redis.llen(away.keys.durations('ip.move'))).toBe(0)

    const seen = await startSilence()
    for (const ms of [10_000, 30_000]) await seen.tick(ms, 'back')
    await seen.tick(41_000, 'done')
    expect((await seen.find('r0')).untrackedMs).toBeUndefined()
    expect(await seen.redis.llen(seen.keys.durations('ip.move'))).toBe(2)
  })

  test('does not delay the reports of ends by so many updates', async () => {
    const { tick, updated } = await startSilence(101)

    await tick(0, 'away')
    await tick(30_000, 'away')

    expect(await updated()).toEqual([])
  })
})
