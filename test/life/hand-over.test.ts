import { afterEach, describe, expect, test, vi } from 'vitest'
import type { ApiKey } from '../../src/account/objects.ts'
import type { App } from '../../src/app.ts'
import { AccountLimitError, ApiError, ApiUnreachableError, StoreUnavailableError } from '../../src/domain/errors.ts'
import type { Freeze } from '../../src/domain/policy.ts'
import type { Request, RequestState } from '../../src/domain/request.ts'
import { Secret } from '../../src/domain/signing.ts'
import { newKeyChange } from '../../src/features/keys/create.ts'
import { handOver } from '../../src/life/hand-over.ts'
import { createCatalog } from '../../src/record/catalog.ts'
import type { StepName } from '../../src/record/steps.ts'
import type { StepData, StepResult, Store } from '../../src/record/store.ts'
import type { Click } from '../../src/slack/interactions.ts'
import { fakeApp, notFrozen, noticing } from '../fake-app.ts'
import { judging } from '../given/access.ts'
import { connectTestRedis } from '../given/redis.ts'
import { requestedAt, requestFor, ruleFor } from '../given/request.ts'
import { approvedBy, signatures } from '../given/signatures.ts'
import { afterStep } from '../given/take-steps.ts'
import { wholeList } from '../whole-list.ts'

afterEach(() => void vi.useRealTimers())

interface World {
  /** The outcomes of each step in turn. All further steps are won. */
  steps?: Partial<Record<StepName, (StepResult['outcome'] | 'no answer')[]>>
  /** How long the account API takes to create the key. */
  creationMs?: number
  /** How long a step takes that Redis does not answer. */
  unansweredMs?: number
  /** The errors of the account API instead of a key, and of the list that is read before it. */
  refused?: Error
  unread?: Error
  /** What is wrong with it, and the revision of the record when it is read again. */
  problem?: 'approvals-not-genuine' | 'already-sent'
  /** How long the account's limit lets the write wait. */
  waitMs?: number
  revision?: number
  /** What is frozen now. */
  freezes?: Freeze[]
  /** The rule requires an end, and the account shows at the press that the key would get none. */
  endsNever?: boolean
}

/** An approved key of Ada, and an account that creates it. */
function approvedKey({
  steps = {},
  creationMs = 100,
  unansweredMs = 1_000,
  refused,
  unread,
  problem,
  waitMs = 0,
  revision,
  freezes = [],
  endsNever = false,
}: World = {}) {
  vi.useFakeTimers({ toFake: ['performance'] })
  const taken: { name: StepName; to: RequestState; token: string | undefined }[] = []
  const sets: StepData['set'][] = []
  const distrusted: string[] = []
  let state: RequestState = 'approved'
  const live: ApiKey[] = []
  const reads: string[] = []
  const shown: string[] = []
  const ephemerals: string[] = []
  const errors: unknown[] = []
  const apiKeys = {
    list: async () => {
      reads.push('list')
      if (unread) throw unread
      return wholeList(live)
    },
    create: async ({ name }: { name: string }) => {
      if (refused) throw refused
      const key = { id: 'tok_1deLnN7QD0r6I', name } as ApiKey
      live.push(key)
      vi.advanceTimersByTime(creationMs)
      return { key, token: new Secret('f'.repeat(36)) }
    },
    delete: async () => void live.splice(0),
  } as unknown as App['account']['apiKeys']

  const store = {
    now: async () => 1_000_000,
    find: async () => (revision === undefined ? request : { ...request, revision, state: 'done' }),
    take: async (_: Request, name: StepName, { set }: StepData = {}, token?: string) => {
      const to = afterStep(state, name)
      taken.push({ name, to, token })
      sets.push(set)
      const outcome = steps[name]?.shift() ?? 'won'
      if (outcome === 'won') state = to
      if (outcome !== 'no answer') return { outcome, state }
      vi.advanceTimersByTime(unansweredMs)
      throw new StoreUnavailableError('Redis: Error Command timed out')
    },
  } as unknown as Store

  const input = { name: 'ci-deploy', readOnly: true, allowedIps: [] }
  const search = vi.fn(async () => (problem === 'already-sent' ? [issued] : []))
  const change = newKeyChange(fakeApp({ account: { apiKeys } }))
  const app = fakeApp(
    {
      // Redis owes no message.
      ...connectTestRedis(),
      signatures,
      ...noticing(distrusted),
      freezes: { ...notFrozen.freezes, read: async () => ({ text: '', record: undefined, isUnreadable: false, freezes }) },
      store,
      audit: {
        note: async () => {},
        chained: async () => {},
        redis: { xrevrange: search as never },
        keys: { audit: 'audit' },
        keyring: { verify: () => 'forged' },
      },
      catalog: createCatalog([{ ...change, endOf: () => ({ endsAt: endsNever && reads.length > 0 ? undefined : requestedAt }) }]),
      slack: {
        respond: async (_, message) => {
          shown.push('text' in message ? message.text : '')
          return { is: 'sent' }
        },
        messenger: {},
      },
      errors: { of: () => (error) => void errors.push(error) },
      timings: { graceMs: 60_000, unsettledMs: 60_000, handoverMs: 45_000 },
      queues: { wake: async () => {} },
      budget: { perMinute: { read: 60, write: 20 }, waitForWrite: async () => waitMs, takeWrite: async () => waitMs },
    },
    { metrics: { failing: () => undefined } },
    judging({ rules: [ruleFor({ changes: ['key.create'], ...(endsNever ? { ends: { required: true } } : {}) })] }),
  )

  const requested = requestFor({ kind: 'key.create', state: 'approved', input, facts: input })
  const decision = { by: 'U0BEN00001', rule: 'APPROVERS', via: 'U0BEN00001', at: requestedAt }
  const approved = approvedBy(signatures, requested, [decision])
  const request = problem === 'approvals-not-genuine' ? { ...approved, decision } : approved
  const issued = [
    `${requestedAt}-0`,
    ['entry', JSON.stringify({ version: 1, act: 'issue', at: requestedAt, seq: 1, prev: '', requestId: request.id })],
  ]
  const click = {
    origin: request.origin,
    responseUrl: 'https://example.com',
    answer: { ephemeral: async ({ text }: { text: string }) => void ephemerals.push(text) },
  } as unknown as Click
  return { press: () => handOver(app, request, click), taken, sets, live, reads, search, shown, ephemerals, errors, distrusted }
}

test.each<[string, World]>([
  ['a freeze holds', { freezes: [{ name: 'Black Friday', from: 0, to: 2_000_000 }] }],
  ['was not approved', { problem: 'approvals-not-genuine' }],
  ['was created before', { problem: 'already-sent' }],
  ['no write is free for', { waitMs: 40_000 }],
])('a press for a key that %s costs no read of the account', async (_, world) => {
  const { press, reads, live } = approvedKey(world)
  await expect(press()).rejects.toThrow()
  await expect(press()).rejects.toThrow()
  expect([reads, live]).toEqual([[], []])
})

test('a press for a key that a freeze holds searches no audit', async () => {
  const { press, search } = approvedKey({ freezes: [{ name: 'Black Friday', from: 0, to: 2_000_000 }] })
  await expect(press()).rejects.toThrow('Press the button again then')
  expect(search).not.toHaveBeenCalled()
})

test('a key that would get another end than its rule allows, by what the account shows at the press, is not created', async () => {
  const { press, live, reads, taken } = approvedKey({ endsNever: true })
  await expect(press()).rejects.toThrow("The policy doesn't allow the end that the key would get")
  expect([live, reads, taken.map(({ name }) => name)]).toEqual([[], ['list'], ['drop']])
})

describe('a key whose approvals cannot be trusted', () => {
  test('is not created, and the operators and the requester are notified', async () => {
    const { press, taken, live, distrusted } = approvedKey({ problem: 'approvals-not-genuine' })
    await expect(press()).rejects.toThrow("approvals in Redis aren't genuine")
    expect({ live, distrusted, steps: taken.map(({ name }) => name) }).toEqual({
      live: [],
      distrusted: ['approvals-not-genuine'],
      steps: ['drop'],
    })
  })

  test('is left alone if another click created it since the request was read', async () => {
    const { press, taken, distrusted } = approvedKey({ problem: 'already-sent', revision: 2 })
    await expect(press()).rejects.toThrow('Your click had no effect')
    expect({ taken, distrusted }).toEqual({ taken: [], distrusted: [] })
  })
})

test('a press that finds the key of another press is not told that nothing was created', async () => {
  const { press, live } = approvedKey({ steps: { void: ['lost'] }, revision: 2 })
  live.push({ id: 'tok_1deLnN7QD0r6I', name: 'ci-deploy' } as ApiKey)
  await expect(press()).rejects.toThrow('Your click had no effect')
  expect(live).toHaveLength(1)
})

describe('a key that was shown', () => {
  test('ends its request by one step, sent again until Redis answers', async () => {
    const { press, taken, live, ephemerals } = approvedKey({ steps: { finish: ['no answer', 'no answer'] } })
    await press()
    const ends = taken.filter(({ name }) => name === 'finish')
    expect(ends).toHaveLength(3)
    expect(new Set(ends.map(({ token }) => token)).size).toBe(1)
    expect(live).toHaveLength(1)
    expect(ephemerals).toEqual([])
  })

  test('must not be used if Redis does not record that before another process may delete it', async () => {
    const { press, ephemerals, errors } = approvedKey({ steps: { finish: ['no answer', 'no answer', 'no answer'] }, unansweredMs: 20_000 })
    await press()
    expect(ephemerals).toMatchInlineSnapshot(`
      [
        "Lockkeeper's database (Redis) isn't responding, so it may not be recorded that you saw this key. If it isn't, the key will be deleted. Don't use it unless the thread says *Done*.",
      ]
    `)
    expect(errors).toMatchObject([{ name: 'StoreUnavailableError' }])
  })
})

test('a key whose creation took too long is deleted, and the requester learns why', async () => {
  const { press, live, shown, ephemerals } = approvedKey({ creationMs: 30_000 })
  await press()
  expect(shown).toEqual([])
  expect(live).toEqual([])
  expect(ephemerals).toMatchInlineSnapshot(`
    [
      "It took too long to show its token, so Lockkeeper deleted the new key (tok_1deLnN7QD0r6I). Request it again.",
    ]
  `)
})

test('a key that the account API refuses for good ends with what to do instead of a new request', async () => {
  const refused = new ApiError({ operation: 'apiKeys.create', status: 403, codes: ['FEATURE_NOT_ENABLED'] })
  const { press, taken, sets, ephemerals } = approvedKey({ refused })
  await press()
  expect(taken.at(-1)).toMatchObject({ name: 'fail', to: 'failed' })
  expect(sets.at(-1)).toEqual({
    causes: [{ code: 'api-refused', operation: 'apiKeys.create', status: 403, codes: ['FEATURE_NOT_ENABLED'], effect: 'not-made' }],
  })
  expect(ephemerals).toEqual([
    "This needs a feature that isn't enabled for the team. Nothing was created. Ask the provider's support to enable it.",
  ])
})

test('a press while the reads of the account are spent names the limit, and changes nothing', async () => {
  const unread = new AccountLimitError({ operation: 'apiKeys.list', kind: 'read', waitMs: 40_000, perMinute: 60, answered: false })
  const { press, taken } = approvedKey({ unread })
  await expect(press()).rejects.toThrow('The account allows 60 reads a minute. Press again in 40\u00a0s.')
  expect(taken).toEqual([])
})

test('presses one after the other while the account cannot be read cost one read, and none of the other keys of that person', async () => {
  const unread = new ApiUnreachableError({ operation: 'apiKeys.list', requestSent: 'unknown', problem: 'ECONNRESET' })
  const { press, reads } = approvedKey({ unread })
  await expect(press()).rejects.toThrow("The account API isn't responding. Nothing was created.")
  await expect(press()).rejects.toThrow("The account couldn't be read for your last press. Nothing was created. Press again in 10\u00a0s.")
  expect(reads).toEqual(['list'])
})

test('a key that the account API refuses because of its limit can be created with another press, and not without one', async () => {
  const refused = new AccountLimitError({ operation: 'apiKeys.create', kind: 'write', waitMs: 40_000, perMinute: 20, answered: true })
  const { press, taken, live, errors, ephemerals } = approvedKey({ refused })
  await press()
  expect(taken.map(({ name, to }) => `${name}: ${to}`)).toEqual(['issue: starting', 'limit: approved'])
  expect({ live, errors }).toEqual({ live: [], errors: [] })
  expect(ephemerals).toEqual(['The account allows 20 changes a minute. Press again in 40\u00a0s.'])
})

test('a click after the deadline, before a worker has expired the request, expires it', async () => {
  const { press, taken, shown, ephemerals } = approvedKey({ steps: { issue: ['expired'] } })
  await expect(press()).rejects.toThrowErrorMatchingInlineSnapshot(
    `[Refusal: This expired. Approved, but the requester didn't press the button. Nothing was done.]`,
  )
  expect(taken.map(({ name, to }) => ({ name, to }))).toEqual([
    { name: 'issue', to: 'starting' },
    { name: 'expire-approved', to: 'expired' },
  ])
  expect([shown, ephemerals]).toEqual([[], []])
})
