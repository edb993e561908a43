import { describe, expect, test } from 'vitest'
import type { ApiKey } from '../../../src/domain/api-key.ts'
import type { Request } from '../../../src/domain/request.ts'
import { createNewKeyChange } from '../../../src/features/create-api-key/change.ts'
import { type Catalog, createCatalog } from '../../../src/requests/catalog.ts'
import { createTrack } from '../../../src/requests/reconcile/track.ts'
import { createStore, type Store } from '../../../src/requests/store/store.ts'
import { connectTestRedis, noAudit } from '../redis-for-test.ts'
import { recordRequest, requestFor } from '../request-for-test.ts'
import { type PlannedStep, takeSteps } from '../take-steps.ts'

const timings = { graceMs: 60_000, handoverMs: 45_000 }
const input = { name: 'ci-deploy', readOnly: true, allowedIps: [] }

/** Requests for a key that is on the account, and that each look at them would take for one that nobody has seen. */
function startTrack() {
  const { redis, keys } = connectTestRedis()
  const store = createStore({ redis, keys, audit: noAudit })
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
    onApiError: (error) => {
      throw error
    },
  })

  async function find(id: string): Promise<Request> {
    const request = await store.find(id)
    if (!request) throw new Error(`there is no request ${id}`)
    return request
  }

  /** One that has gone this way. */
  async function ask(id: string, ...steps: PlannedStep[]): Promise<Request> {
    await recordRequest(store, { id, kind: 'key.create', input, facts: input, resource: 'api_key_name:ci-deploy' })
    return takeSteps(store, id, ...steps)
  }

  /** One that was sent and reported as not started, which is due and watched until then. */
  const askInVain = (id: string, trackedUntil: number) => ask(id, 'approve', 'issue', ['not-start', { set: { trackedUntil }, dueInMs: 0 }])

  const isDue = async (id: string) => (await redis.zscore(keys.due, id)) !== null
  return { track, ask, askInVain, find, isDue, live, now: store.now }
}

describe('what was told as not started', () => {
  test('and happens late is taken back, and the report corrected', async () => {
    const { track, askInVain, find, live, now } = startTrack()
    const told = await askInVain('a', (await now()) + 60_000)

    await track([told])

    expect(live).toEqual([])
    expect(await find('a')).toMatchObject({ state: 'failed' })
  })

  test('is looked at once more when its time is over: what nobody has seen must not stay', async () => {
    const { track, askInVain, isDue, live, now } = startTrack()
    const told = await askInVain('a', (await now()) - 1)

    await track([told])

    expect(live).toEqual([])
    expect(await isDue('a')).toBe(false)
  })

  test('is not looked at any more once something else is asked for with the same thing: what is there may be the result of that', async () => {
    const { track, ask, askInVain, find, isDue, live, now } = startTrack()
    const told = await askInVain('a', (await now()) + 60_000)
    await ask('b')

    await track([told])

    expect(live).toHaveLength(1)
    expect(await find('a')).toMatchObject({ state: 'not-started' })
    expect(await isDue('a')).toBe(false)
  })
})

test('what has ended since it was found due is not looked at: what it made is in use', async () => {
  const { track, ask, isDue, live } = startTrack()
  const ended = await ask('a', 'approve', 'issue', ['finish', { dueInMs: 0 }])
  expect(await isDue('a')).toBe(true)

  await track([{ ...ended, state: 'starting' }])

  expect(live).toHaveLength(1)
  expect(await isDue('a')).toBe(false)
})

test('thousands are compared with one survey and put off in parts, between which others have their turn; what it does not show is read', async () => {
  const putOff: string[][] = []
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
      postpone: async (ids: string[]) => void putOff.push(ids),
      findMany: async (ids: string[]) => {
        read.push(...ids)
        return []
      },
    } as unknown as Store,
    catalog: {} as Catalog,
    pollIntervalMs: 1_000,
    lateAfterMs: 900_000,
    timings,
    onApiError: () => {},
  })
  const moves = everyMove.map((index) => ({
    ...requestFor({ id: String(index), state: 'tracking', createdAt: 999_000, sentAt: 999_000 }),
    surveyed: { survey, surveyKeys: [`eip_${index} on sv_22mUQSvUfeqdv`, `eip_${index} on sv_1WFgWmkF9Mzju`] },
  }))

  const quiet = await track(moves)

  expect(surveys).toBe(1)
  expect(putOff.map((part) => part.length)).toEqual([500, 500, 200])
  expect(quiet.map(({ id }) => id)).toEqual(putOff.flat())
  expect(read).toEqual(['1200'])
})
