import { describe, expect, test } from 'vitest'
import { alertsRequester } from '../../../src/domain/approval.ts'
import type { Verdict } from '../../../src/domain/signing.ts'
import { usualTimings } from '../../../src/domain/timings.ts'
import { moveChange } from '../../../src/moves/move-change.ts'
import { createCatalog } from '../../../src/requests/catalog.ts'
import { reconcile as reconcileRequest } from '../../../src/requests/reconcile.ts'
import type { NewRequest } from '../../../src/requests/store.ts'
import type { Posted } from '../../../src/slack/web-api.ts'
import { fakeApp } from '../../fake-app.ts'
import { connectTestStore } from '../redis-for-test.ts'
import { minutes, recordRequest, ruleFor } from '../request-for-test.ts'
import { wording } from '../slack-for-test.ts'
import { type PlannedStep, takeSteps, untilTracking } from '../take-steps.ts'

const seconds = 1_000
const id = 'b7e23ec29af22b0b4e41da31e868d572'

interface World {
  /** The outcome of a direct message to the requester. */
  direct?: Posted
  /** The outcome of every other message. */
  posted?: Posted
  /** Steps that others take right after the request was read. */
  meanwhile?: PlannedStep[]
  /** What is wrong with the record. */
  problem?: Verdict
}

type Recorded = Partial<NewRequest> & {
  /** How long ago it was requested. */
  agoMs?: number
  /** Null: its card is not posted yet. */
  cardTs?: string | null
}

/** Reconciles requests over a real Redis. `did` records the calls of other parts: send, execute, track and report. */
function startReconcile({
  posted = { is: 'sent', ts: '1.2', channelId: 'C0OPS00001' },
  direct = { is: 'unknown', problem: 'no answer' },
  meanwhile = [],
  problem = 'genuine',
}: World = {}) {
  const { redis, keys, store } = connectTestStore()
  const did: string[] = []
  const held: number[] = []
  const wakeUps: number[] = []
  const lost: string[] = []

  async function dueInMs(): Promise<number | undefined> {
    const at = await redis.zscore(keys.due, id)
    return at === null ? undefined : Number(at) - (await store.now())
  }

  const move = moveChange({} as never)
  move.observe = async (_, __, { phase }) => {
    did.push(`track ${phase}`)
    return { is: 'unclear' }
  }
  const app = fakeApp({
    budget: {},
    directory: { names: async () => new Map() },
    config: {
      ...wording,
      movePollIntervalMs: 1_000,
      opsChannel: undefined,
      slack: { command: '/infra' },
    },
    timings: usualTimings,
    audit: {
      note: async () => {},
      chained: async () => {
        held.push((await dueInMs()) ?? 0)
        did.push('execute')
      },
      redis: { xrevrange: (async () => []) as never },
      keys: { audit: 'audit' },
    },
    // The execution goes no further than to its first check.
    signatures: { verifyRecord: () => problem, verifyRequest: () => 'unknown-key' },
    access: { ruleOf: () => ruleFor() },
    store: {
      ...store,
      now: async () => {
        await takeSteps(store, id, ...meanwhile.splice(0))
        return store.now()
      },
    },
    redis: redis as never,
    keys,
    catalog: createCatalog([move]),
    queues: { wake: async (_, delayMs = 0) => void wakeUps.push(delayMs) },
    slack: {
      messenger: {
        post: async ({ channelId, key }: { channelId: string; key?: string }) => {
          did.push(key ? `send ${key.split('/')[1]}` : `tell ${channelId}`)
          return key ? posted : direct
        },
        update: async () => {
          did.push('send card')
          return { is: 'sent' }
        },
      },
      identity: { addressOf: () => undefined, profileOf: () => undefined, linkTo: () => undefined },
    },
    log: {
      error: ({ code, requestId }: { code: string; requestId: string }) => {
        if (code === 'request-lost') lost.push(requestId)
        if (code === 'report-undeliverable') did.push(code)
      },
    } as never,
    notices: new Map(),
    metrics: { notGenuine: () => void did.push('distrust'), requestsLost: () => {} },
  })
  const reconcile = (requestId: string) => reconcileRequest(app, async () => {}, requestId)

  /** Records a request that has taken these steps and is due now. */
  async function record({ agoMs = 0, cardTs = '1.2', ...more }: Recorded = {}, ...steps: PlannedStep[]): Promise<void> {
    const { createdAt, expiresAt } = await recordRequest(store, { id, ...more })
    await takeSteps(store, id, ...steps)
    const times = ['createdAt', String(createdAt - agoMs), 'expiresAt', String(expiresAt - agoMs)]
    await redis.hset(keys.record(id), ...times, ...(cardTs === null ? [] : ['cardTs', JSON.stringify(cardTs)]))
    await redis.zadd(keys.due, 1, id)
  }

  const find = () => store.find(id)
  const removeRecord = () => redis.del(keys.record(id))
  const clearDue = () => redis.zrem(keys.due, id)
  return { reconcile: () => reconcile(id), record, find, removeRecord, clearDue, dueInMs, did, held, wakeUps, lost }
}

describe('a waiting request', () => {
  test('is due again at its next reminder, for which a worker is woken up', async () => {
    const { reconcile, record, dueInMs, did, wakeUps } = startReconcile()
    await record({ ttlMs: 240 * minutes, agoMs: 100 * minutes })

    await reconcile()

    expect(did).toEqual([])
    expect(await dueInMs()).toBeGreaterThan(19 * minutes)
    expect(await dueInMs()).toBeLessThanOrEqual(20 * minutes + 50)
    expect(wakeUps).toHaveLength(1)
    expect(wakeUps[0]).toBeGreaterThan(19 * minutes)
  })

  test('is reminded of once, although several processes find it at the same moment', async () => {
    const { reconcile, record, did } = startReconcile()
    await record({ ttlMs: 240 * minutes, agoMs: 121 * minutes })

    await Promise.all([reconcile(), reconcile(), reconcile()])

    expect(did.filter((each) => each === 'send reminder-half')).toHaveLength(1)
  })

  test('that gets an approval at the time of its reminder is reconciled again at once', async () => {
    const { reconcile, record, find, dueInMs, did } = startReconcile({ meanwhile: ['count-approval'] })
    await record({ ttlMs: 240 * minutes, agoMs: 121 * minutes })

    await reconcile()

    expect(await find()).toMatchObject({ state: 'waiting', reminded: 0 })
    expect(did).toEqual([])
    expect(await dueInMs()).toBeLessThanOrEqual(500)
  })

  test('that is decided at its deadline stays decided', async () => {
    const { reconcile, record, find } = startReconcile({ meanwhile: ['withdraw'] })
    await record({ ttlMs: 240 * minutes, agoMs: 240 * minutes })

    await reconcile()

    expect((await find())?.state).toBe('withdrawn')
  })
})

describe('a waiting request whose card is not posted yet', () => {
  test.each<[string, Posted, number]>([
    ['2 s later if Slack has trouble', { is: 'unknown', problem: 'no answer' }, 2 * seconds],
    ['a minute later if Slack refuses it for a reason that can pass', { is: 'refused', error: 'invalid_auth' }, 60 * seconds],
  ])('is tried again %s', async (_, posted, expectedMs) => {
    const { reconcile, record, dueInMs, did, wakeUps } = startReconcile({ posted })
    await record({ cardTs: null })

    await reconcile()

    expect(did).toEqual(['send card'])
    expect(Math.abs(((await dueInMs()) ?? 0) - expectedMs)).toBeLessThan(seconds)
    expect(wakeUps).toEqual([])
  })

  const refused = { posted: { is: 'refused', error: 'is_archived' } } as const

  test.each<[string, Posted, boolean]>([
    ['is discarded after a direct message to its requester', { is: 'sent', ts: '1.1', channelId: 'D1' }, true],
    ['is discarded if the requester takes no direct message', { is: 'refused', error: 'messages_tab_disabled' }, true],
    ['stays if the direct message may not have been sent', { is: 'unknown', problem: 'no answer' }, false],
  ])('%s, where its channel takes no messages', async (_, direct, isDiscarded) => {
    const { reconcile, record, find, did } = startReconcile({ ...refused, direct })
    await record({ cardTs: null })

    await reconcile()

    expect(did).toEqual(['send card', 'tell U0ADA00001'])
    expect((await find()) === undefined).toBe(isDiscarded)
  })

  test('is discarded after a notice to the operators if a machine requested it', async () => {
    const { reconcile, record, find, did } = startReconcile(refused)
    await record({ cardTs: null, origin: { channelId: 'C0OPS00001', userId: alertsRequester, command: '/infra' } })

    await reconcile()

    expect(did).toEqual(['send card', 'report-undeliverable'])
    expect(await find()).toBeUndefined()
  })
})

describe('a request that needs no approval', () => {
  const exempt = { needsApproval: false }

  test('is approved by its rule and executed, after its card is posted', async () => {
    const { reconcile, record, find, did } = startReconcile()
    await record({ ...exempt, cardTs: null })

    await reconcile()

    expect(await find()).toMatchObject({ state: 'approved', decision: { rule: 'APPROVERS', via: 'no-approval' } })
    expect(did).toEqual(['send card', 'execute', 'send card'])
  })

  test.each<[string, Posted]>([
    ['has no answer yet', { is: 'unknown', problem: 'no answer' }],
    ['is refused', { is: 'refused', error: 'is_archived' }],
  ])('is not executed while its card %s', async (_, posted) => {
    const { reconcile, record, find, did } = startReconcile({ posted })
    await record({ ...exempt, cardTs: null })

    await reconcile()

    expect((await find())?.state).toBe('waiting')
    expect(did).not.toContain('execute')
  })

  test('is executed by one of two processes that find it at the same moment', async () => {
    const { reconcile, record, did } = startReconcile()
    await record(exempt)

    await Promise.all([reconcile(), reconcile()])

    expect(did.filter((each) => each === 'execute')).toHaveLength(1)
  })
})

describe('an approved request', () => {
  test('is not due for 15 s while a process works on it', async () => {
    const { reconcile, record, held } = startReconcile()

    await record({}, 'approve')

    await reconcile()

    expect(held).toHaveLength(1)
    expect(Math.abs((held[0] ?? 0) - 15 * seconds)).toBeLessThan(seconds)
  })
})

describe('a request that needs no work', () => {
  test.each<[string, PlannedStep[]]>([
    ['was rejected', ['reject']],
    ['is done', [...untilTracking, 'finish']],
    ['is no longer tracked', [...untilTracking, 'stop-tracking']],
  ])('because it %s is never due again', async (_, steps) => {
    const { reconcile, record, dueInMs, did } = startReconcile()
    await record({}, ...steps)

    await reconcile()

    expect(did).toEqual([])
    expect(await dueInMs()).toBeUndefined()
  })

  test('because its record is gone is never due again', async () => {
    const { reconcile, record, dueInMs, removeRecord, did, lost } = startReconcile()
    await record()
    await removeRecord()

    await reconcile()
    await reconcile()

    expect(did).toEqual([])
    expect(await dueInMs()).toBeUndefined()
    expect(lost, 'it is reported as lost, once').toEqual([id])
  })

  test('because it was discarded is not lost', async () => {
    const { reconcile, record, dueInMs, removeRecord, clearDue, lost } = startReconcile()
    await record()
    await removeRecord()
    await clearDue()

    await reconcile()

    expect(await dueInMs()).toBeUndefined()
    expect(lost).toEqual([])
  })
})

test('a request that only another version of Lockkeeper can read stays unchanged, and is read again in 10 minutes', async () => {
  const { reconcile, record, find, dueInMs, did } = startReconcile()
  await record({ ttlMs: 240 * minutes, agoMs: 240 * minutes, input: { weather: 'rain' } })

  await reconcile()

  expect((await find())?.state).toBe('waiting')
  expect(did).toEqual([])
  expect(Math.abs(((await dueInMs()) ?? 0) - 10 * minutes)).toBeLessThan(seconds)
})

test.each<[when: string, steps: PlannedStep[], does: string[]]>([
  ['while it was under way is distrusted', [...untilTracking], ['distrust', 'send card', 'send stopped']],
  ['after its end is due no more', [...untilTracking, 'finish'], []],
])('a request that was made unreadable %s', async (_, steps, does) => {
  const { reconcile, record, did, dueInMs } = startReconcile({ problem: 'forged' })
  await record({ input: { weather: 'rain' } }, ...steps)

  await reconcile()

  expect([...new Set(did)]).toEqual(does)
  if (does.length === 0) expect(await dueInMs()).toBeUndefined()
})
