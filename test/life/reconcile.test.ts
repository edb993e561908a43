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

const id = 'b7e23ec29af22b0b4e41da31e868d572'
const noAnswer: Posted = { is: 'unknown', problem: 'no answer' }

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
  /** Its card is not posted yet. */
  isUnposted?: boolean
}

/** Reconciles requests over a real Redis. `did` records the calls of other parts: sends, track and notices. */
function startReconcile({ posted, direct = noAnswer, meanwhile = [], problem = 'genuine' }: World = {}) {
  const move = moveChange({} as never)
  const jobs = startJobs([move])
  const { store, redis, keys, said: did, woken: wakeUps } = jobs
  const left = [...meanwhile]
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
        await takeSteps(store, id, ...left.splice(0))
        return store.now()
      },
    },
    lines: { write: ({ fields: { code } }: { fields: { code: string } }) => code === 'unknown-key' || did.push(code) > 0 } as never,
    metrics: { notGenuine: () => void did.push('distrust'), requestsLost: () => {}, reported: () => {} },
  })

  /** Records a request that has taken these steps and is due now. */
  async function record({ agoMs = 0, isUnposted = false, ...more }: Recorded = {}, steps: PlannedStep[] = []): Promise<void> {
    const { createdAt, expiresAt } = await recordRequest(store, { id, ...more })
    await takeSteps(store, id, ...steps)
    const times = ['createdAt', String(createdAt - agoMs), 'expiresAt', String(expiresAt - agoMs)]
    await redis.hset(keys.record(id), ...times, ...(isUnposted ? [] : ['cardTs', '"1.2"']))
    await redis.zadd(keys.due, 1, id)
  }

  const reconcile = () => reconcileRequest(app, async () => {}, id)
  return { reconcile, record, find: () => store.find(id), removeRecord: () => redis.del(keys.record(id)), dueInMs, did, held, wakeUps }
}

interface Case extends World {
  of?: Recorded
  steps?: PlannedStep[]
  /** Undefined: it is gone. */
  state?: string | undefined
  does: string[]
  /** When it is due again, in ms. Null: never. */
  dueInMs?: number | null
}

const unposted = { isUnposted: true }
const exempt = { needsApproval: false }
const refused: Posted = { is: 'refused', error: 'is_archived' }
const refusedEverywhere = { posted: refused, direct: refused }
const ofAlerts = { origin: { channelId: 'C0OPS00001', userId: alertsRequester, command: '/infra' } }
/** What only another version of Lockkeeper can read. */
const unreadable = { input: { weather: 'rain' } }

const cases: Record<string, Case> = {
  'waits is due again at its next reminder': { of: { agoMs: 100 * minutes }, state: 'waiting', does: [], dueInMs: 20 * minutes },
  'gets an approval at the time of its reminder is reconciled again at once': {
    of: { agoMs: 121 * minutes },
    meanwhile: ['count-approval'],
    state: 'waiting',
    does: [],
    dueInMs: 0,
  },
  'is decided at its deadline stays decided': {
    of: { agoMs: 240 * minutes },
    meanwhile: ['withdraw'],
    state: 'withdrawn',
    does: ['sends card'],
  },
  'has no card yet is tried again 2 s later if Slack has trouble': {
    of: unposted,
    posted: noAnswer,
    state: 'waiting',
    does: ['sends card'],
    dueInMs: 2_000,
  },
  'has no card yet is tried again a minute later if Slack refuses it for a reason that can pass': {
    of: unposted,
    posted: { is: 'refused', error: 'invalid_auth' },
    state: 'waiting',
    does: ['sends card'],
    dueInMs: minutes,
  },
  'gets no card in its channel is discarded after a direct message to its requester': {
    of: unposted,
    posted: refused,
    direct: { is: 'sent', ts: '1.1', channelId: 'D1' },
    does: ['sends card', 'sends direct message'],
  },
  'gets no card in its channel is discarded if its requester takes no direct message': {
    of: unposted,
    ...refusedEverywhere,
    does: ['sends card', 'sends direct message'],
  },
  'gets no card in its channel stays if the direct message may not have been sent': {
    of: unposted,
    posted: refused,
    state: 'waiting',
    does: ['sends card', 'sends direct message'],
  },
  'gets no card in its channel is discarded after a notice to the operators if a machine requested it': {
    of: { ...unposted, ...ofAlerts },
    posted: refused,
    does: ['sends card', 'report-undeliverable'],
  },
  'needs no approval is approved by its rule and executed, after its card is posted': {
    of: { ...unposted, ...exempt },
    state: 'approved',
    does: ['sends card', 'send', 'sends card'],
  },
  'needs no approval is not executed while its card has no answer yet': {
    of: { ...unposted, ...exempt },
    posted: noAnswer,
    state: 'waiting',
    does: ['sends card'],
  },
  'needs no approval is not executed while its card is refused': {
    of: { ...unposted, ...exempt },
    posted: refused,
    state: 'waiting',
    does: ['sends card', 'sends direct message'],
  },
  'was rejected is never due again': { steps: ['reject'], state: 'rejected', does: [], dueInMs: null },
  'is done is never due again': { steps: [...untilTracking, 'finish'], state: 'done', does: [], dueInMs: null },
  'is no longer tracked is never due again': { steps: [...untilTracking, 'stop-tracking'], state: 'untracked', does: [], dueInMs: null },
  'only another version of Lockkeeper can read stays, and is read again in 10 minutes': {
    of: { ...unreadable, agoMs: 239 * minutes },
    state: 'waiting',
    does: [],
    dueInMs: 10 * minutes,
  },
  'only another version of Lockkeeper can read still expires': {
    of: { ...unreadable, agoMs: 240 * minutes },
    state: 'expired',
    does: [],
    dueInMs: null,
  },
  'was made unreadable while it was under way is distrusted': {
    of: unreadable,
    steps: [...untilTracking],
    problem: 'forged',
    state: 'untracked',
    does: ['distrust', 'record-changed', 'sends card', 'sends stopped'],
  },
  'was made unreadable after its end is due no more': {
    of: unreadable,
    steps: [...untilTracking, 'finish'],
    problem: 'forged',
    state: 'done',
    does: [],
    dueInMs: null,
  },
}

test.each(Object.entries(cases))('a request that %s', async (_, { of, steps, state, does, dueInMs, ...world }) => {
  const reconciling = startReconcile(world)
  await reconciling.record(of, steps)

  await reconciling.reconcile()

  expect(world.problem ? [...new Set(reconciling.did)] : reconciling.did).toEqual(does)
  expect((await reconciling.find())?.state).toBe(state)
  if (dueInMs === null) expect(await reconciling.dueInMs()).toBeUndefined()
  else if (dueInMs !== undefined) expect(Math.abs(((await reconciling.dueInMs()) ?? Number.NaN) - dueInMs)).toBeLessThan(1_000)
})

test('a worker is woken for the next reminder, and not for a card that Slack does not take', async () => {
  const [reminded, unsent] = [startReconcile(), startReconcile({ posted: noAnswer })]
  await reminded.record({ agoMs: 100 * minutes })
  await unsent.record(unposted)
  for (const { reconcile } of [reminded, unsent]) await reconcile()

  expect([reminded.wakeUps, unsent.wakeUps]).toEqual([[expect.closeTo(20 * minutes, -4)], []])
})

test('a request that is approved is not due for 15 s while a process works on it', async () => {
  const { reconcile, record, held } = startReconcile()
  await record({}, ['approve'])

  await reconcile()

  expect(held).toEqual([expect.closeTo(15_000, -4)])
})

describe('of several processes that find a request at the same moment', () => {
  test('one sends its reminder', async () => {
    const { reconcile, record, did } = startReconcile()
    await record({ agoMs: 121 * minutes })

    await Promise.all([reconcile(), reconcile(), reconcile()])

    expect(did.filter((each) => each === 'sends reminder-half')).toHaveLength(1)
  })

  test('one executes it', async () => {
    const { reconcile, record, did } = startReconcile()
    await record(exempt)

    await Promise.all([reconcile(), reconcile()])

    expect(did.filter((each) => each === 'send')).toHaveLength(1)
  })
})

test('a request whose record is gone is told as lost once, and never due again', async () => {
  const { reconcile, record, dueInMs, removeRecord, did } = startReconcile()
  await record()
  await removeRecord()

  await reconcile()
  await reconcile()

  expect(did).toEqual(['request-lost'])
  expect(await dueInMs()).toBeUndefined()
})
