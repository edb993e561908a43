import { describe, expect, test } from 'vitest'
import { alertsRequester } from '../../src/domain/approval.ts'
import type { Verdict } from '../../src/domain/signing.ts'
import { moveChange } from '../../src/features/moves/move-change.ts'
import { reconcile as reconcileRequest } from '../../src/life/worker.ts'
import type { NewRequest } from '../../src/record/store.ts'
import type { Posted } from '../../src/slack/web-api.ts'
import { notFrozen } from '../fake-app.ts'
import { startJobs } from '../given/jobs.ts'
import { minutes, recordRequest } from '../given/request.ts'
import { takingMessages } from '../given/slack.ts'
import { type PlannedStep, takeSteps, untilTracking } from '../given/take-steps.ts'

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

/** Reconciles requests over a real Redis. `did` records the calls of other parts: sends, track and notices. */
function startReconcile({ posted, direct = { is: 'unknown', problem: 'no answer' }, meanwhile = [], problem = 'genuine' }: World = {}) {
  const move = moveChange({} as never)
  const jobs = startJobs([move])
  const { store, redis, keys, said: did, woken: wakeUps } = jobs
  const held: number[] = []
  const dueInMs = () => jobs.dueInMs(id)
  move.observe = async (_, __, { phase }) => {
    did.push(`track ${phase}`)
    return { is: 'unclear' }
  }
  const app = jobs.appWith({
    ...takingMessages((name) => did.push(`sends ${name}`), { posted, direct }),
    freezes: {
      ...notFrozen.freezes,
      read: async () => {
        // The message of a request that waits says what would hold it.
        if ((await store.find(id))?.state !== 'waiting') {
          held.push((await dueInMs()) ?? 0)
          did.push('send')
        }
        return notFrozen.freezes.read()
      },
    },
    // The execution goes no further than to its first check.
    signatures: { verifyRecord: () => problem, verifyRequest: () => 'unknown-key' },
    store: {
      ...store,
      now: async () => {
        await takeSteps(store, id, ...meanwhile.splice(0))
        return store.now()
      },
    },
    lines: { write: ({ fields: { code } }: { fields: { code: string } }) => code === 'unknown-key' || did.push(code) > 0 } as never,
    metrics: { notGenuine: () => void did.push('distrust'), requestsLost: () => {}, reported: () => {} },
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
  return { reconcile: () => reconcile(id), record, find, removeRecord, dueInMs, did, held, wakeUps }
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

    expect(did.filter((each) => each === 'sends reminder-half')).toHaveLength(1)
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

    expect(did).toEqual(['sends card'])
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

    expect(did).toEqual(['sends card', 'sends direct message'])
    expect((await find()) === undefined).toBe(isDiscarded)
  })

  test('is discarded after a notice to the operators if a machine requested it', async () => {
    const { reconcile, record, find, did } = startReconcile(refused)
    await record({ cardTs: null, origin: { channelId: 'C0OPS00001', userId: alertsRequester, command: '/infra' } })

    await reconcile()

    expect(did).toEqual(['sends card', 'report-undeliverable'])
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
    expect(did).toEqual(['sends card', 'send', 'sends card'])
  })

  test.each<[string, Posted]>([
    ['has no answer yet', { is: 'unknown', problem: 'no answer' }],
    ['is refused', { is: 'refused', error: 'is_archived' }],
  ])('is not executed while its card %s', async (_, posted) => {
    const { reconcile, record, find, did } = startReconcile({ posted })
    await record({ ...exempt, cardTs: null })

    await reconcile()

    expect((await find())?.state).toBe('waiting')
    expect(did).not.toContain('send')
  })

  test('is executed by one of two processes that find it at the same moment', async () => {
    const { reconcile, record, did } = startReconcile()
    await record(exempt)

    await Promise.all([reconcile(), reconcile()])

    expect(did.filter((each) => each === 'send')).toHaveLength(1)
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
    const { reconcile, record, dueInMs, removeRecord, did } = startReconcile()
    await record()
    await removeRecord()

    await reconcile()
    await reconcile()

    expect(did, 'it is reported as lost, once').toEqual(['request-lost'])
    expect(await dueInMs()).toBeUndefined()
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
  ['while it was under way is distrusted', [...untilTracking], ['distrust', 'record-changed', 'sends card', 'sends stopped']],
  ['after its end is due no more', [...untilTracking, 'finish'], []],
])('a request that was made unreadable %s', async (_, steps, does) => {
  const { reconcile, record, did, dueInMs } = startReconcile({ problem: 'forged' })
  await record({ input: { weather: 'rain' } }, ...steps)

  await reconcile()

  expect([...new Set(did)]).toEqual(does)
  if (does.length === 0) expect(await dueInMs()).toBeUndefined()
})
