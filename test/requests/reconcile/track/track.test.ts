import { describe, expect, test } from 'vitest'
import type { AuditNote } from '../../../../src/audit/entry.ts'
import type { ApiKey } from '../../../../src/domain/account/api-key.ts'
import type { AuthorityProblem } from '../../../../src/domain/request/authority-problem.ts'
import type { Request } from '../../../../src/domain/request/request.ts'
import { createNewKeyChange } from '../../../../src/features/create-api-key/change.ts'
import { type Catalog, createCatalog } from '../../../../src/requests/catalog.ts'
import { createDistrust } from '../../../../src/requests/reconcile/distrust.ts'
import { createTrack } from '../../../../src/requests/reconcile/track/track.ts'
import { createStore, type Store } from '../../../../src/requests/store/store.ts'
import { noteOf } from '../../audit-for-test.ts'
import { connectTestRedis, noAudit } from '../../redis-for-test.ts'
import { recordRequest, requestFor } from '../../request-for-test.ts'
import { type PlannedStep, takeSteps } from '../../take-steps.ts'

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
  } as unknown as Parameters<typeof createNewKeyChange>[0]['apiKeys']
  const { track } = createTrack({
    store,
    catalog: createCatalog([createNewKeyChange({ apiKeys })]),
    pollIntervalMs: 1_000,
    lateAfterMs: 900_000,
    timings,
    budget: { spend: async () => 0 },
    itemSteps: { takeItemStep: async () => undefined, endIfOver: async () => {} },
    onApiError: (error) => {
      throw error
    },
    checkRecord: () => undefined,
    checkRetraction: (request) => checkRetraction(request, store),
    distrust: createDistrust({
      store,
      audit: { note: async (note) => void noted.push(note) },
      noteOf,
      show: async () => {},
      onDistrusted: (_, found) => void distrusted.push(found.code),
    }),
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

  await track([{ ...ended, state: 'starting' }])

  expect(live).toHaveLength(1)
  expect(await isDue('a')).toBe(false)
})

test.each(['record-changed', 'unknown-key'] as const)(
  'a request that cannot be trusted (%s) is not observed and reported, because its observation may delete a key that is in use',
  async (code) => {
    const { track, recordAfter, find, live, distrusted, noted, dueInMs } = startTrack(async () => ({ code }))
    const sent = await recordAfter('a', 'approve', ['issue', { dueInMs: 0 }])

    await track([sent])

    expect(live).toHaveLength(1)
    expect(distrusted).toEqual([code])
    expect(noted).toMatchObject([{ act: 'distrust', requestId: 'a', causes: [{ code }] }])
    expect(await find('a')).toMatchObject({ state: 'starting' })
    expect(await dueInMs('a')).toBeGreaterThan(9 * 60_000)
  },
)

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

test('thousands of requests are compared with one survey and postponed in chunks, and a request that it does not show is read', async () => {
  const postponed: string[][] = []
  const read: string[] = []
  let surveys = 0
  const everyMove = Array.from({ length: 1_201 }, (_, index) => index)
  const survey = async () => {
    surveys += 1
    return new Set(everyMove.filter((index) => index !== 1_200).map((index) => `eip_${index} on sv_1WFgWmkF9Mzju`))
  }
  const { track } = createTrack({
    store: {
      now: async () => 1_000_000,
      postpone: async (ids: string[]) => void postponed.push(ids),
      findMany: async (ids: string[]) => {
        read.push(...ids)
        return []
      },
    } as unknown as Store,
    catalog: {} as Catalog,
    pollIntervalMs: 1_000,
    lateAfterMs: 900_000,
    timings,
    budget: { spend: async () => 0 },
    itemSteps: { takeItemStep: async () => undefined, endIfOver: async () => {} },
    onApiError: () => {},
    checkRecord: () => undefined,
    checkRetraction: async () => undefined,
    distrust: () => expect.fail('a request is not trusted'),
  })
  const moves = everyMove.map((index) => ({
    ...requestFor({ id: String(index), state: 'tracking', createdAt: 999_000, sentAt: 999_000 }),
    surveyed: { survey, surveyKeys: [`eip_${index} on sv_22mUQSvUfeqdv`, `eip_${index} on sv_1WFgWmkF9Mzju`] },
  }))

  const unchanged = await track(moves)

  expect(surveys).toBe(1)
  expect(postponed.map((part) => part.length)).toEqual([500, 500, 200])
  expect(unchanged.map(({ id }) => id)).toEqual(postponed.flat())
  expect(read).toEqual(['1200'])
})
