import { afterEach, describe, expect, test, vi } from 'vitest'
import type { ApiKey } from '../../src/account/objects.ts'
import type { App } from '../../src/app.ts'
import type { Change } from '../../src/domain/change.ts'
import { AccountLimitError, ApiError, ApiUnreachableError, StoreUnavailableError } from '../../src/domain/errors.ts'
import { Secret } from '../../src/domain/signing.ts'
import { newKeyChange } from '../../src/features/keys/create.ts'
import { handOver } from '../../src/life/hand-over.ts'
import { waitForHandover } from '../../src/life/waiting.ts'
import type { Store } from '../../src/record/store.ts'
import type { Click } from '../../src/slack/interactions.ts'
import { fakeApp } from '../fake-app.ts'
import { startJobs } from '../given/jobs.ts'
import { newRequestFor, requestedAt } from '../given/request.ts'
import { signatures, signedBy } from '../given/signatures.ts'
import { takeSteps } from '../given/take-steps.ts'
import { wholeList } from '../whole-list.ts'

afterEach(() => void vi.useRealTimers())

interface World {
  /** How long the account API takes to create the key. */
  creationMs?: number
  /** How often Redis does not answer the step that ends the request, and for how long each time. */
  unanswered?: number
  unansweredMs?: number
  /** The errors of the account API instead of a key, and of the list that is read before it. */
  refused?: Error
  unread?: Error
  /** Everything is frozen for an hour. */
  isFrozen?: boolean
  /** `forged`: its decision is not signed. `put back`: it was created, and its record is as before. `another press`: one was faster. */
  past?: 'forged' | 'put back' | 'another press'
  /** Another press creates the key while the account is read. */
  isBeaten?: boolean
  /** How long ago it was approved. */
  agoMs?: number
  /** How long the account's limit lets the write wait. */
  waitMs?: number
  /** The rule requires an end, and the account shows at the press that the key would get none. */
  endsNever?: boolean
}

const key = { id: 'tok_1deLnN7QD0r6I', name: 'ci-deploy' } as ApiKey

/** An approved key of Ada over a real Redis, and an account that creates it. */
async function approvedKey({ creationMs = 100, unanswered = 0, unansweredMs = 1_000, past, agoMs = 0, waitMs = 0, ...world }: World = {}) {
  vi.useFakeTimers({ toFake: ['performance'] })
  const { refused, unread, isFrozen = false, isBeaten = false, endsNever = false } = world
  const live: ApiKey[] = []
  const [reads, shown, ephemerals]: [string[], string[], string[]] = [[], [], []]
  const taken: { name: string; token: string | undefined }[] = []
  const errors: unknown[] = []
  const apiKeys = {
    list: async () => {
      reads.push('list')
      if (unread) throw unread
      if (isBeaten) await create()
      return wholeList(live)
    },
    create: async () => {
      if (refused) throw refused
      live.push(key)
      vi.advanceTimersByTime(creationMs)
      return { key, token: new Secret('f'.repeat(36)) }
    },
    delete: async () => void live.splice(0),
  } as unknown as App['account']['apiKeys']
  const change = newKeyChange(fakeApp({ account: { apiKeys } }))
  const endOf = () => ({ endsAt: endsNever && reads.length > 0 ? undefined : requestedAt })
  const jobs = startJobs([{ ...change, endOf } as Change], { rule: endsNever ? { ends: { required: true } } : {} })
  const { store, redis, keys } = jobs

  const input = { name: 'ci-deploy', readOnly: true, allowedIps: [] }
  const { id } = await store.create(
    signedBy(signatures, newRequestFor({ kind: 'key.create', input, facts: input, resource: 'api_key_name:ci-deploy' })),
  )
  const waiting = await jobs.find(id)
  const given = { by: 'U0BEN00001', rule: 'APPROVERS', via: 'U0BEN00001', at: (await store.now()) - agoMs }
  const approvals = [signatures.signApproval(waiting, given)]
  const decision = past === 'forged' ? given : signatures.signApproved({ ...waiting, approvals }, given)
  const request = await takeSteps(store, id, ['approve', { set: { approvals, decision } }])
  /** As another press does. */
  async function create(): Promise<void> {
    await takeSteps(store, id, 'issue', 'finish')
    live.push(key)
  }
  if (past === 'another press') await create()
  if (past === 'put back') {
    await takeSteps(store, id, 'issue')
    await redis.hset(keys.record(id), { state: '"approved"', revision: String(request.revision) })
  }
  if (isFrozen) await jobs.app.freezes.set({ by: 'U0BEN00001', until: (await store.now()) + 3_600_000 })
  await jobs.app.freezes.read()

  const take: Store['take'] = async (of, name, data, token) => {
    taken.push({ name, token })
    if (name !== 'finish' || unanswered-- <= 0) return store.take(of, name, data, token)
    vi.advanceTimersByTime(unansweredMs)
    throw new StoreUnavailableError('Redis: Error Command timed out')
  }
  const { messenger, identity } = jobs.app.slack
  const app = jobs.appWith({
    store: { ...store, take },
    slack: {
      respond: async (_: unknown, message: object) => {
        shown.push('text' in message ? String(message.text) : '')
        return { is: 'sent' }
      },
      messenger,
      identity,
    } as never,
    errors: { of: () => (error) => void errors.push(error) },
    budget: { ...jobs.app.budget, waitForWrite: async () => waitMs, takeWrite: async () => waitMs },
    metrics: { ...jobs.app.metrics, failing: () => undefined },
  })
  const click = {
    origin: request.origin,
    responseUrl: 'https://example.com',
    answer: { ephemeral: async ({ text }: { text: string }) => void ephemerals.push(text) },
  } as unknown as Click
  /** The steps that were tried. */
  const steps = () => taken.map(({ name }) => name)
  const state = async () => (await jobs.find(id)).state
  const letExpire = (at = 1) => redis.hset(keys.record(id), 'expiresAt', String(at))
  const wait = async () => waitForHandover(app, await jobs.find(id))
  return {
    ...jobs,
    id,
    wait,
    press: () => handOver(app, request, click),
    taken,
    steps,
    state,
    letExpire,
    live,
    reads,
    shown,
    ephemerals,
    errors,
  }
}

test.each<[string, World]>([
  ['a freeze holds', { isFrozen: true }],
  ['was not approved', { past: 'forged' }],
  ['was created before', { past: 'put back' }],
  ['no write is free for', { waitMs: 40_000 }],
])('a press for a key that %s costs no read of the account', async (_, world) => {
  const { press, reads, live } = await approvedKey(world)
  for (let presses = 0; presses < 2; presses += 1) await expect(press()).rejects.toThrow()
  expect([reads, live]).toEqual([[], []])
})

test('a press for a key that a freeze holds searches no audit', async () => {
  const { press, redis } = await approvedKey({ isFrozen: true })
  const search = vi.spyOn(redis, 'xrevrange')
  await expect(press()).rejects.toThrow('Press the button again then')
  expect(search).not.toHaveBeenCalled()
})

test('a key that would get another end than its rule allows, by what the account shows at the press, is not created', async () => {
  const { press, live, reads, steps } = await approvedKey({ endsNever: true })
  await expect(press()).rejects.toThrow("The policy doesn't allow the end that the key would get")
  expect([live, reads, steps()]).toEqual([[], ['list'], ['drop']])
})

describe('a key whose approvals cannot be trusted', () => {
  test('is not created, and the operators and the requester are notified', async () => {
    const { press, steps, live, said } = await approvedKey({ past: 'forged' })
    await expect(press()).rejects.toThrow("approvals in Redis aren't genuine")
    expect([live, steps()]).toEqual([[], ['drop']])
    expect(said).toContain('distrust approvals-not-genuine')
  })

  test('is left alone if another click created it since the request was read', async () => {
    const { press, steps, said } = await approvedKey({ past: 'another press' })
    await expect(press()).rejects.toThrow('Your click had no effect')
    expect([steps(), said]).toEqual([[], []])
  })
})

test('a press that finds the key of another press is not told that nothing was created', async () => {
  const { press, live } = await approvedKey({ isBeaten: true })
  await expect(press()).rejects.toThrow('Your click had no effect')
  expect(live).toHaveLength(1)
})

test('a press that can no longer create what was approved says why, and nothing about the account that may not be so', async () => {
  const { press, live, steps } = await approvedKey()
  live.push(key)
  await expect(press()).rejects.toThrow(/^Canceled\. Nothing was created\. An API key called ci-deploy already exists\.$/)
  expect(steps()).toEqual(['void'])
})

describe('a key that was shown', () => {
  test('ends its request by one step, sent again until Redis answers', async () => {
    const { press, taken, state, live, ephemerals } = await approvedKey({ unanswered: 2 })
    await press()
    const ends = taken.filter(({ name }) => name === 'finish')
    expect([ends.length, new Set(ends.map(({ token }) => token)).size, await state()]).toEqual([3, 1, 'done'])
    expect([live.length, ephemerals]).toEqual([1, []])
  })

  test('must not be used if Redis does not record that before another process may delete it', async () => {
    const { press, ephemerals, errors } = await approvedKey({ unanswered: 3, unansweredMs: 20_000 })
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
  const { press, live, shown, ephemerals } = await approvedKey({ creationMs: 30_000 })
  await press()
  expect([shown, live]).toEqual([[], []])
  expect(ephemerals).toMatchInlineSnapshot(`
    [
      "It took too long to show its token, so Lockkeeper deleted the new key (tok_1deLnN7QD0r6I). Request it again.",
    ]
  `)
})

test('a key that the account API refuses for good ends with what to do instead of a new request', async () => {
  const refused = new ApiError({ operation: 'apiKeys.create', status: 403, codes: ['FEATURE_NOT_ENABLED'] })
  const { press, find, id, ephemerals } = await approvedKey({ refused })
  await press()
  expect(await find(id)).toMatchObject({
    state: 'failed',
    causes: [{ code: 'api-refused', operation: 'apiKeys.create', status: 403, codes: ['FEATURE_NOT_ENABLED'], effect: 'not-made' }],
  })
  expect(ephemerals).toEqual([
    "This needs a feature that isn't enabled for the team. Nothing was created. Ask the provider's support to enable it.",
  ])
})

test('a press while the reads of the account are spent names the limit, and changes nothing', async () => {
  const unread = new AccountLimitError({ operation: 'apiKeys.list', kind: 'read', waitMs: 40_000, perMinute: 60, answered: false })
  const { press, steps } = await approvedKey({ unread })
  await expect(press()).rejects.toThrow('The account allows 60 reads a minute. Nothing was created. Press again in 40\u00a0s.')
  expect(steps()).toEqual([])
})

test('presses one after the other while the account cannot be read cost one read, and none of the other keys of that person', async () => {
  const unread = new ApiUnreachableError({ operation: 'apiKeys.list', requestSent: 'unknown', problem: 'ECONNRESET' })
  const { press, reads } = await approvedKey({ unread })
  await expect(press()).rejects.toThrow("The account API isn't responding. Nothing was created.")
  await expect(press()).rejects.toThrow("The account couldn't be read for your last press. Nothing was created. Press again in 10\u00a0s.")
  expect(reads).toEqual(['list'])
})

test('a key that the account API refuses because of its limit can be created with another press, and not without one', async () => {
  const refused = new AccountLimitError({ operation: 'apiKeys.create', kind: 'write', waitMs: 40_000, perMinute: 20, answered: true })
  const { press, steps, state, live, errors, ephemerals } = await approvedKey({ refused })
  await press()
  expect([steps(), await state(), live, errors]).toEqual([['issue', 'limit'], 'approved', [], []])
  expect(ephemerals).toEqual(['The account allows 20 changes a minute. Nothing was created. Press again in 40\u00a0s.'])
})

test('a click after the deadline, before a worker has expired the request, expires it', async () => {
  const { press, letExpire, steps, state, shown, ephemerals } = await approvedKey()
  await letExpire()
  await expect(press()).rejects.toThrowErrorMatchingInlineSnapshot(
    `[Refusal: This expired. Approved, but no token was created in time. Nothing was done.]`,
  )
  expect([steps(), await state(), shown, ephemerals]).toEqual([['issue', 'expire-approved'], 'expired', [], []])
})

test('a key whose time is over while a freeze holds its button has the whole time after that', async () => {
  const { wait, letExpire, steps, find, id } = await approvedKey({ isFrozen: true })
  await letExpire()
  await wait()
  const { state, expiresAt, ttlMs } = await find(id)
  expect([steps(), state]).toEqual([['prolong'], 'approved'])
  expect(Math.abs(expiresAt - Date.now() - 3_600_000 - ttlMs)).toBeLessThan(60_000)
})

test('a key whose time is over expires, although its record has the deadline of a freeze that was lifted while no process ran', async () => {
  const { wait, letExpire, steps, state } = await approvedKey({ agoMs: 5 * 3_600_000 })
  await letExpire(Date.now() + 14 * 24 * 3_600_000)
  await wait()
  expect([steps(), await state()]).toEqual([['expire-approved'], 'expired'])
})
