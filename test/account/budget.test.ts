import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test, vi } from 'vitest'
import { createAccountBudget } from '../../src/account/budget.ts'
import { StoreUnavailableError } from '../../src/domain/errors.ts'
import type { CallKind, Lane } from '../../src/domain/lane.ts'
import { readScripts } from '../../src/redis/scripts.ts'
import { connectTestRedis } from '../given/redis.ts'

function setUp(options: { windowMs?: number; readsPerMinute?: number; writesPerMinute?: number; pollBudget?: number } = {}) {
  const { redis, keys } = connectTestRedis()
  const shareSpent = vi.fn()
  const create = () =>
    createAccountBudget({ onShareSpent: shareSpent, redis, keys, readsPerMinute: 60, writesPerMinute: 20, pollBudget: 20, ...options })
  const budget = create()

  /** Takes calls until one has to wait. Returns how many may be sent. */
  async function spend(kind: CallKind, lane: Lane, { userId, most = 100 }: { userId?: string; most?: number } = {}): Promise<number> {
    for (let taken = 0; taken < most; taken += 1) if ((await budget.take(kind, { lane, userId })) > 0) return taken
    return most
  }

  /** Lets so many ms pass for what Redis has counted. */
  async function pass(ms: number): Promise<void> {
    const sets = (['read', 'write'] as const).map(keys.accountBudget).flatMap(({ calls, waiting }) => [calls, waiting])
    for (const set of sets) for (const member of await redis.zrange(set, '0', '-1')) await redis.zincrby(set, -ms, member)
  }
  return { redis, keys, create, budget, spend, pass, shareSpent }
}

/** In order: who spends (a lane, a machine or a person), how many may be sent, and how many are wanted if not as many as possible. */
test.each<[what: string, spendings: string, options?: Parameters<typeof setUp>[0], kind?: CallKind]>([
  ['people leave reads to checks before a write, and to snapshots', 'person 48, track 0, machine:a 0, background 2, send 10, send 0'],
  ['tracking and the background have limits of their own', 'track 20, background 6, person 24'],
  ['a person has a third once somebody else reads', 'U0ADA 20 of 20, U0BEN 1 of 1, U0ADA 0, U0BEN 15, send 24'],
  ['a person has a third of few reads, too', 'U0BEN 1 of 1, U0ADA 3', { readsPerMinute: 10 }],
  ['machines have two each, and four together', 'machine:a 2, machine:b 2, machine:c 0, background 2, person 44'],
  ['a machine has more of more reads', 'machine:a 4', { readsPerMinute: 120 }],
  ['a smaller allowance keeps the same shares', 'background 2, person 8, send 2', { readsPerMinute: 12 }],
  ['two writes stay for deletions of keys', 'bundle 18, send 0, retract 2', {}, 'write'],
])('in a minute, %s', async (_, spendings, options = {}, kind = 'read') => {
  const { spend } = setUp(options)
  for (const each of spendings.split(', ')) {
    const [by = '', sent, , most = 100] = each.split(' ')
    const lane = by.startsWith('machine:') ? 'background' : by.startsWith('U0') ? 'person' : (by as Lane)
    expect([by, await spend(kind, lane, { userId: lane === by ? undefined : by, most: Number(most) })]).toEqual([by, Number(sent)])
  }
})

describe('reads', () => {
  test('somebody who reads alone has all reads of people, and the share holds again once another one has read', async () => {
    const { budget, spend, pass } = setUp()
    expect(await spend('read', 'person', { userId: 'U0BEN', most: 1 })).toBe(1)
    expect(await spend('read', 'person', { userId: 'U0ADA' })).toBe(16)
    await pass(62_000)

    expect(await spend('read', 'person', { userId: 'U0ADA' })).toBe(48)
    // A machine that proposes is never alone: people may come at any moment.
    const other = setUp()
    expect(await other.spend('read', 'person', { userId: 'machine:ci' })).toBe(16)
    expect(await budget.take('read', { lane: 'send' })).toBe(0)
  })

  test('a person is named whose own share makes their reads wait, and nobody while all reads are spent', async () => {
    const { budget, spend, shareSpent } = setUp()

    const spentShare = (userId: string) => budget.spentShare('read', { lane: 'person', userId })
    await spend('read', 'person', { userId: 'U0BEN', most: 1 })
    await spend('read', 'person', { userId: 'U0ADA' })
    expect(await spentShare('U0ADA')).toBe(16)
    // Nobody has a share of changes, and workers have none.
    expect(await budget.spentShare('write', { lane: 'person', userId: 'U0ADA' })).toBeUndefined()
    expect(await budget.spentShare('read', { lane: 'track', userId: 'U0ADA' })).toBeUndefined()
    expect(shareSpent.mock.calls).toEqual([['U0ADA', 16]])

    await spend('read', 'person')
    expect([await spentShare('U0ADA'), await spentShare('U0BEN')]).toEqual([undefined, undefined])
    expect(shareSpent).toHaveBeenCalledTimes(1)
  })

  test.each([10, 12, 19, 29, 30])(
    'of %i reads a minute, too, one is left for the snapshots by machines and by people',
    async (readsPerMinute) => {
      const machines = setUp({ readsPerMinute })
      expect(await machines.spend('read', 'background', { userId: 'machine:ci' })).toBe(1)
      await machines.spend('read', 'background', { userId: 'machine:agent' })
      await machines.spend('read', 'person')
      expect(await machines.spend('read', 'background')).toBeGreaterThan(0)
      const people = setUp({ readsPerMinute })
      await people.spend('read', 'person')
      await people.spend('read', 'track')
      expect(await people.spend('read', 'background')).toBeGreaterThan(0)
    },
  )

  test('writes do not count as reads', async () => {
    const { spend } = setUp()
    expect(await spend('write', 'retract')).toBe(20)

    expect(await spend('read', 'send')).toBe(60)
  })
})

describe('writes', () => {
  test('a single change that waits goes before a bundle', async () => {
    const { budget, pass } = setUp({ writesPerMinute: 5 })
    for (let number = 0; number < 5; number += 1) expect(await budget.takeWrite('bundle', 'bundle')).toBe(0)

    const wait = await budget.takeWrite('send', 'single')
    expect(wait).toBeGreaterThan(60_000)
    await pass(wait + 50)

    const bundle = await Promise.all(Array.from({ length: 5 }, () => budget.takeWrite('bundle', 'bundle')))
    expect(bundle.filter((each) => each === 0)).toHaveLength(4)
    expect(await budget.takeWrite('send', 'single')).toBe(0)
  })

  test('single changes that wait have their turns one after the other', async () => {
    const { budget, pass } = setUp({ writesPerMinute: 3 })
    for (let number = 0; number < 3; number += 1) {
      expect(await budget.takeWrite('send', `earlier ${number}`)).toBe(0)
      await pass(20_000)
    }

    const first = await budget.waitForWrite('send', 'first')
    const second = await budget.waitForWrite('send', 'second')
    expect(second - first).toBeGreaterThan(15_000)
    expect(Math.abs((await budget.waitForWrite('send', 'second')) - second)).toBeLessThan(1_000)
    await pass(first + 50)

    // Otherwise each would read the account, and all but one in vain.
    expect([await budget.waitForWrite('send', 'second'), await budget.waitForWrite('send', 'first')]).toEqual([expect.any(Number), 0])
    expect(await budget.waitForWrite('send', 'second')).toBeGreaterThan(0)
    expect(await budget.takeWrite('send', 'first')).toBe(0)
  })
})

test('a pause stops one kind of call in all processes', async () => {
  const { budget, create } = setUp()

  await budget.pause('read', 30_000)

  expect(await create().take('read', { lane: 'send' })).toBeGreaterThan(29_000)
  expect(await create().take('write', { lane: 'send' })).toBe(0)
})

test('no window holds more calls than the account allows, by two processes at once', async () => {
  const windowMs = 400
  const { create } = setUp({ windowMs, readsPerMinute: 12 })
  const sent: { before: number; after: number }[] = []
  const end = performance.now() + windowMs * 4
  async function readAsFastAsPossible(lane: Lane): Promise<void> {
    const budget = create()
    while (performance.now() < end) {
      const before = performance.now()
      const wait = await budget.take('read', { lane })
      if (wait === 0) sent.push({ before, after: performance.now() })
      else await delay(Math.min(wait, 50))
    }
  }

  await Promise.all([readAsFastAsPossible('send'), readAsFastAsPossible('send'), readAsFastAsPossible('person')])

  // Each was counted at some time between the two. These were certainly counted within one window.
  const most = Math.max(...sent.map((from) => sent.filter((to) => to.before >= from.before && to.after < from.before + windowMs).length))
  expect(most).toBeLessThanOrEqual(12)
  expect(sent.length).toBeGreaterThan(12)
})

test('figures name what each lane has spent, and how long its next call waits', async () => {
  const { budget, spend } = setUp()
  await spend('read', 'person')
  await spend('write', 'bundle', { most: 3 })

  const figures = await budget.figures()

  expect(figures.map(({ kind, lane, used }) => [kind, lane, used])).toEqual([
    ['read', 'send', 0],
    ['read', 'person', 48],
    ['read', 'track', 0],
    ['read', 'background', 0],
    ['write', 'change', 0],
    ['write', 'bundle', 3],
    ['write', 'retract', 0],
  ])
  expect(figures.find(({ lane }) => lane === 'person')?.waitMs).toBeGreaterThan(55_000)
  expect(figures.find(({ lane }) => lane === 'send')?.waitMs).toBe(0)
  // Asking counts nothing.
  expect((await budget.figures()).map(({ used }) => used)).toEqual(figures.map(({ used }) => used))
})

describe('without Redis', () => {
  function setUpAway() {
    const { redis, budget, ...others } = setUp({ windowMs: 1_500, readsPerMinute: 20 })
    const scripts = readScripts(new URL('../../src/account/budget.ts', import.meta.url).href, ['take-turn'])
    for (const [name, lua] of scripts) redis.defineCommand(`lockkeeper:${name}`, { lua })
    const commands = redis as unknown as { 'lockkeeper:take-turn': () => Promise<unknown> }
    const spy = vi.spyOn(commands, 'lockkeeper:take-turn')
    const away = () => spy.mockImplementation(() => Promise.reject(new StoreUnavailableError('away')))
    return { redis, budget, away, back: () => spy.mockRestore(), ...others }
  }

  test('no write is sent', async () => {
    const { budget, away } = setUpAway()
    away()

    await expect(budget.take('write', { lane: 'retract' })).rejects.toThrow(StoreUnavailableError)
  })

  test('a process starts no read for a window, and then a tenth, which count once Redis is back', async () => {
    const { budget, away, back, spend } = setUpAway()
    away()

    await expect(budget.take('read', { lane: 'send' })).rejects.toThrow(StoreUnavailableError)
    await expect.poll(() => budget.take('read', { lane: 'person' }), { timeout: 10_000 }).toBe(0)
    await expect(budget.take('write', { lane: 'retract' })).rejects.toThrow(StoreUnavailableError)
    expect(await budget.take('read', { lane: 'track' })).toBe(0)
    await expect(budget.take('read', { lane: 'send' })).rejects.toThrow(StoreUnavailableError)

    back()
    expect(await spend('read', 'send')).toBe(18)
  })
})
