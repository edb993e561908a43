import { afterEach, describe, expect, test, vi } from 'vitest'
import { createCatalog } from '../../src/changes/catalog.ts'
import { createHandOver } from '../../src/changes/hand-over.ts'
import type { Store, Transition, TransitionResult } from '../../src/changes/store.ts'
import type { ApiKey } from '../../src/domain/api-key.ts'
import { ApiError, StoreUnavailableError } from '../../src/domain/errors.ts'
import type { Request } from '../../src/domain/request.ts'
import { Secret } from '../../src/domain/secret.ts'
import { createNewKeyChange } from '../../src/features/create-api-key/change.ts'
import type { Click } from '../../src/slack/interaction.ts'
import { requestFor } from './request-for-test.ts'

afterEach(() => void vi.useRealTimers())

interface World {
  /** What becomes of the steps of this name, one after the other; those after the last, and all others, are won. */
  steps?: Record<string, (TransitionResult['outcome'] | 'no answer')[]>
  /** How long the account takes to make it. */
  creationMs?: number
  /** How long an attempt at a step takes whose answer never comes. */
  unansweredMs?: number
  /** What the account says instead of making it. */
  refused?: Error
}

/** A key that Ada may take, and an account that makes it. */
function approvedKey({ steps = {}, creationMs = 100, unansweredMs = 1_000, refused }: World = {}) {
  vi.useFakeTimers({ toFake: ['performance'] })
  const made: { name: string; to: string; token: string | undefined }[] = []
  const told: Transition['set'][] = []
  const live: ApiKey[] = []
  const shown: string[] = []
  const whispers: string[] = []
  const errors: unknown[] = []
  const apiKeys = {
    list: async () => live,
    create: async ({ name }: { name: string }) => {
      if (refused) throw refused
      const key = { id: 'tok_1deLnN7QD0r6I', name } as ApiKey
      live.push(key)
      vi.advanceTimersByTime(creationMs)
      return { key, token: new Secret('f'.repeat(36)) }
    },
    delete: async () => void live.splice(0),
  } as unknown as Parameters<typeof createNewKeyChange>[0]['apiKeys']

  const store = {
    now: async () => 1_000_000,
    find: async () => request,
    transition: async (_: Request, { name, to, set }: Transition, token?: string) => {
      made.push({ name, to, token })
      told.push(set)
      const outcome = steps[name]?.shift() ?? 'won'
      if (outcome !== 'no answer') return { outcome, state: to }
      vi.advanceTimersByTime(unansweredMs)
      throw new StoreUnavailableError('Redis: Error Command timed out')
    },
  } as unknown as Store

  const handOver = createHandOver({
    store,
    access: { authorize: async () => 'a rule' } as unknown as Parameters<typeof createHandOver>[0]['access'],
    audit: { note: async () => {} },
    catalog: createCatalog(() => [createNewKeyChange({ apiKeys })]),
    showSecret: async (_, { heading }) => {
      shown.push(heading.text)
      return 'shown'
    },
    show: async () => {},
    onApiError: (error) => void errors.push(error),
    onError: (error) => void errors.push(error),
    timings: { graceMs: 60_000, handoverMs: 45_000 },
    wake: async () => {},
  })

  const input = { name: 'ci-deploy', readOnly: true, allowedIps: [] }
  const request = requestFor({ kind: 'key.create', state: 'approved', input, facts: input, decision: { by: 'U0BEN00001' } })
  const click = {
    origin: request.origin,
    responseUrl: 'https://example.com',
    answer: { whisper: async ({ text }: { text: string }) => void whispers.push(text) },
  } as unknown as Click
  return { take: () => handOver(request, click), made, told, live, shown, whispers, errors }
}

describe('a key that was shown', () => {
  test('is done, and nothing more is said', async () => {
    const { take, made, live, whispers } = approvedKey()
    await take()
    expect(made.map(({ name }) => name)).toEqual(['send', 'end'])
    expect(live).toHaveLength(1)
    expect(whispers).toEqual([])
  })

  test('is done by one step, sent again until Redis answers', async () => {
    const { take, made, live, whispers } = approvedKey({ steps: { end: ['no answer', 'no answer'] } })
    await take()
    const ends = made.filter(({ name }) => name === 'end')
    expect(ends).toHaveLength(3)
    expect(new Set(ends.map(({ token }) => token)).size).toBe(1)
    expect(live).toHaveLength(1)
    expect(whispers).toEqual([])
  })

  test('and of which Redis does not take note before somebody else may take it back is not to be used: who saw it is told', async () => {
    const { take, whispers, errors } = approvedKey({ steps: { end: ['no answer', 'no answer', 'no answer'] }, unansweredMs: 20_000 })
    await take()
    expect(whispers).toMatchInlineSnapshot(`
      [
        "I cannot reach my memory (Redis), and do not know whether I noted that you were shown this. If I did not, it is made worthless: do not use it unless the thread says that it is done.",
      ]
    `)
    expect(errors).toMatchObject([{ name: 'StoreUnavailableError' }])
  })
})

test('a key whose making took so long that it cannot be shown any more is deleted, and that reason told', async () => {
  const { take, live, shown, whispers } = approvedKey({ creationMs: 30_000 })
  await take()
  expect(shown).toEqual([])
  expect(live).toEqual([])
  expect(whispers).toMatchInlineSnapshot(`
    [
      "The key was made (tok_1deLnN7QD0r6I), but that took so long that its token could not be shown any more, so I deleted it at once. Ask for it again.",
    ]
  `)
})

test('a key that the account refuses for good is told with what to do instead of asking again', async () => {
  const refused = new ApiError({ operation: 'apiKeys.create', status: 403, codes: ['FEATURE_NOT_ENABLED'] })
  const { take, made, told, whispers } = approvedKey({ refused })
  await take()
  expect(made.at(-1)).toMatchObject({ name: 'end', to: 'failed' })
  expect(told.at(-1)).toEqual({
    why: 'Nothing was made. This needs a feature that is not enabled for the team.',
    next: "Ask the provider's support to enable it.",
  })
  expect(whispers).toEqual([
    "This needs a feature that is not enabled for the team. Ask the provider's support to enable it. Nothing was made.",
  ])
})

test('a click that comes after the time is over, before anybody has looked, is told that it expired, and ends it', async () => {
  const { take, made, shown, whispers } = approvedKey({ steps: { send: ['expired'] } })
  await expect(take()).rejects.toThrowErrorMatchingInlineSnapshot(
    `[Refusal: This has expired. It was approved, but not taken in time. Nothing was done; it can be asked for again with *Request again*.]`,
  )
  expect(made.map(({ name, to }) => ({ name, to }))).toEqual([
    { name: 'send', to: 'starting' },
    { name: 'expire', to: 'expired' },
  ])
  expect([shown, whispers]).toEqual([[], []])
})
