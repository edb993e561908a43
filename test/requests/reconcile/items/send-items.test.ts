import { describe, expect, test } from 'vitest'
import { AccountLimitError, ApiUnreachableError } from '../../../../src/domain/errors.ts'
import type { Store } from '../../../../src/requests/store.ts'
import { accountWith, from, to, withBegun } from './items-for-test.ts'

const idsOf = (count: number) => Array.from({ length: count }, (_, index) => `eip_${index}`)
const all = <State>(ids: string[], state: State) => Object.fromEntries(ids.map((id) => [id, state]))

describe('the items of a request', () => {
  test('are each written once, then observed to their end, which ends the request and frees what it locked', async () => {
    const ids = idsOf(7)
    const account = accountWith(ids)
    const { id, startProcess, statesOf, observeAll, read, store, steps } = await withBegun(ids, account)

    await startProcess().sendItems(id)
    expect(await statesOf()).toEqual(all(ids, 'tracking'))
    expect(await store.holderOf('elastic_ip:eip_3')).toBe(id)
    await observeAll()

    expect(account.writes.toSorted()).toEqual(ids)
    expect(await statesOf()).toEqual(all(ids, 'done'))
    expect((await read()).state).toBe('done')
    expect(await store.holderOf('elastic_ip:eip_3')).toBeUndefined()
    expect((await store.lastChangesOf(['elastic_ip:eip_3'])).get('elastic_ip:eip_3')?.id).toBe(id)
    expect(steps.filter(({ step }) => step === 'finish-item').map(({ kind, to: state }) => `${kind} ${state}`)).toEqual(
      Array(7).fill('ip.move done'),
    )
  })

  test('are written at most five at a time, by all processes together', async () => {
    const ids = idsOf(14)
    const account = accountWith(ids, { writeMs: 20 })
    const { id, startProcess, statesOf } = await withBegun(ids, account)
    const processes = [startProcess(), startProcess(), startProcess()]

    for (let round = 0; round < 100 && Object.values(await statesOf()).includes('waiting'); round += 1)
      await Promise.all(processes.map(({ sendItems }) => sendItems(id)))

    expect(account.underway.most).toBeLessThanOrEqual(5)
    expect(account.writes.toSorted()).toEqual(ids.toSorted())
  })

  test('are all sent in one pass, also if the answer to one was lost, which may still be under way', async () => {
    const ids = idsOf(14)
    const account = accountWith(ids, { writeMs: 20 })
    const { id, startProcess, statesOf } = await withBegun(ids, account)
    const { move } = account.api.elasticIps
    account.api.elasticIps.move = async (one, ...rest) => {
      const moved = await move(one, ...rest)
      if (one === 'eip_2') throw new ApiUnreachableError({ operation: 'elasticIps.move', requestSent: 'unknown', problem: 'no answer' })
      return moved
    }

    await startProcess().sendItems(id)

    expect(account.writes.toSorted()).toEqual(ids.toSorted())
    expect(await statesOf()).toEqual({ ...all(ids, 'tracking'), eip_2: 'starting' })
  })

  test.each(Array.from({ length: 10 }, (_, index) => index))(
    'are neither written twice nor forgotten if the process ends before its step number %i',
    async (steps) => {
      const ids = idsOf(3)
      const account = accountWith(ids)
      const { id, startProcess, observeAll, statesOf, read, store } = await withBegun(ids, account)
      let left = steps
      const takeItem: Store['takeItem'] = async (...step) => {
        left -= 1
        if (left < 0) throw new Error('the process ended')
        return store.takeItem(...step)
      }

      await startProcess({ over: { takeItem } })
        .sendItems(id)
        .catch(() => {})
      await startProcess().sendItems(id)
      await observeAll()
      await observeAll(120_000)

      expect(account.writes).toHaveLength(new Set(account.writes).size)
      expect(Object.values(await statesOf()).filter((state) => state === 'done')).toHaveLength(account.writes.length)
      for (const one of ids) expect(account.serverOf.get(one)).toBe(account.writes.includes(one) ? to.id : from.id)
      expect((await read()).state).toBe(account.writes.length === ids.length ? 'done' : 'failed')
    },
  )

  test('are not written a second time if the process ends after its step and before its write', async () => {
    const ids = idsOf(2)
    const account = accountWith(ids)
    const { id, startProcess, observeAll, statesOf } = await withBegun(ids, account)
    const { itemSteps } = startProcess()
    await itemSteps.takeItemStep(id, 'eip_0', () => ({ name: 'send-item' }))

    await startProcess().sendItems(id)
    expect(account.writes).toEqual(['eip_1'])
    await observeAll(120_000)

    expect(await statesOf()).toEqual({ eip_0: 'not-started', eip_1: 'done' })
  })

  test('are not written if the audit has a note of it, whatever the record says', async () => {
    const ids = idsOf(2)
    const account = accountWith(ids)
    const { id, startProcess, statesOf, read } = await withBegun(ids, account)

    const { sendItems, distrusted } = startProcess({ past: new Map([['eip_0', { code: 'already-sent' }]]) })
    await sendItems(id)

    expect(account.writes).toEqual(['eip_1'])
    expect(await statesOf()).toEqual({ eip_0: 'not-started', eip_1: 'tracking' })
    expect((await read()).items?.[0]?.causes).toEqual([{ code: 'already-sent' }])
    expect(distrusted).toEqual(['already-sent'])
  })

  test('that another process sends after this one has read the record are no reason for an alarm', async () => {
    const ids = idsOf(2)
    const account = accountWith(ids)
    const { id, startProcess, statesOf, store } = await withBegun(ids, account)
    let isRead = false
    const find: typeof store.find = async (...args) => {
      const found = await store.find(...args)
      if (!isRead) await startProcess().sendItems(id)
      isRead = true
      return found
    }

    const { sendItems, distrusted } = startProcess({ over: { find }, past: new Map(ids.map((each) => [each, { code: 'already-sent' }])) })
    await sendItems(id)

    expect(await statesOf()).toEqual({ eip_0: 'tracking', eip_1: 'tracking' })
    expect(distrusted).toEqual([])
  })

  test('are not read again within 5 s of the reads before the first write', async () => {
    const ids = idsOf(12)
    const account = accountWith(ids)
    const { id, startProcess, store } = await withBegun(ids, account)

    await startProcess({ over: { now: async () => (await store.now()) + 3_000 } }).sendItems(id, await store.now())

    expect(account.writes.toSorted()).toEqual(ids.toSorted())
    expect([account.reads, account.lists]).toEqual([[], 0])
  })

  test('are read again by a process that did not begin the request, whatever time the record has', async () => {
    const ids = idsOf(12)
    const account = accountWith(ids)
    const { id, startProcess } = await withBegun(ids, account)
    account.serverOf.set('eip_0', 'sv_3')

    await startProcess().sendItems(id)

    expect(account.lists).toBe(1)
    expect(account.writes.toSorted()).toEqual(ids.slice(1).toSorted())
  })

  test('are all read again with one list later, and one that moved meanwhile is left out', async () => {
    const ids = idsOf(12)
    const account = accountWith(ids)
    const { id, startProcess, statesOf, read, store } = await withBegun(ids, account)
    account.serverOf.set('eip_0', 'sv_3')

    await startProcess({ over: { now: async () => (await store.now()) + 30_000 } }).sendItems(id)

    expect([account.reads, account.lists]).toEqual([[], 1])
    expect(account.writes.toSorted()).toEqual(ids.slice(1).toSorted())
    expect(await statesOf()).toEqual({ ...all(ids, 'tracking'), eip_0: 'not-started' })
    expect((await read()).items?.[0]?.causes).toMatchObject([{ code: 'not-on-server', now: 'web-3' }])
  })

  test('are not sent after somebody stopped the tracking', async () => {
    const ids = idsOf(2)
    const account = accountWith(ids)
    const { id, startProcess, statesOf, store, read } = await withBegun(ids, account)
    await store.take(await read(), 'stop-tracking', { set: { stoppedBy: 'U0ADA00001' } })

    await startProcess().sendItems(id)

    expect(account.writes).toEqual([])
    expect(await statesOf()).toEqual(all(ids, 'waiting'))
  })
})

describe('a step of an item', () => {
  test('is taken once if several processes try at once', async () => {
    const ids = idsOf(1)
    const { store, read } = await withBegun(ids, accountWith(ids))
    const request = await read()
    const [item] = request.items ?? []
    if (!item) throw new Error('there are no items')

    const step = { kind: 'ip.move', at: await store.now(), audit: {} }
    const results = await Promise.all(Array.from({ length: 20 }, () => store.takeItem(request, item, 'send-item', step)))

    expect(results.map(({ outcome }) => outcome).filter((outcome) => outcome === 'won')).toHaveLength(1)
  })

  test('owes the report of lateness once, and one update of the card', async () => {
    const ids = idsOf(3)
    const account = accountWith(ids)
    const { id, startProcess, keys, redis, observeAll, read } = await withBegun(ids, account)
    await startProcess().sendItems(id)
    for (const one of ids) account.serverOf.set(one, from.id)
    const api = account.api.elasticIps as { get: unknown }
    api.get = async (one: string) => ({ id: one, address: one, status: 'tracking', server: { id: to.id, hostname: to.name } })

    await observeAll(120_000)

    expect((await read()).items?.map(({ lateAt }) => lateAt !== undefined)).toEqual([true, true, true])
    const owed = await redis.zrange(keys.outbox, '0', '-1')
    expect(owed.filter((message) => message.endsWith('/late'))).toHaveLength(1)
    expect(owed.filter((message) => message.endsWith('/card'))).toHaveLength(1)
  })

  test('restarts an item that moves after it was reported as not started, and corrects the request', async () => {
    const ids = idsOf(1)
    const account = accountWith(ids)
    const { id, startProcess, observeAll, statesOf, read } = await withBegun(ids, account)
    await startProcess().itemSteps.takeItemStep(id, 'eip_0', () => ({ name: 'send-item' }))
    await observeAll(120_000)
    expect([(await read()).state, await statesOf()]).toEqual(['failed', { eip_0: 'not-started' }])

    account.serverOf.set('eip_0', to.id)
    await observeAll(121_000)
    expect([(await read()).state, await statesOf()]).toEqual(['tracking', { eip_0: 'tracking' }])
    await observeAll(122_000)

    expect([(await read()).state, await statesOf()]).toEqual(['done', { eip_0: 'done' }])
  })
})

describe('the limit of the account', () => {
  /** Gives so many turns, and then none for a minute. */
  function turns(count: number) {
    let left = count
    return async () => {
      left -= 1
      return left >= 0 ? 0 : 60_000
    }
  }

  test('lets items wait for their turn, in the same order, and the request is due then', async () => {
    const ids = idsOf(14)
    const account = accountWith(ids)
    const { id, startProcess, statesOf, store, redis, keys } = await withBegun(ids, account)

    await startProcess({ takeWrite: turns(6) }).sendItems(id)

    expect(account.writes).toHaveLength(6)
    expect(Object.values(await statesOf()).filter((state) => state === 'waiting')).toHaveLength(8)
    expect(Number(await redis.zscore(keys.due, id)) - (await store.now())).toBeGreaterThan(55_000)

    await startProcess({ takeWrite: turns(8) }).sendItems(id)
    expect(account.writes.toSorted()).toEqual(ids.toSorted())
  })

  test('that refuses a write although it was counted puts its item back, and it is written once more', async () => {
    const ids = idsOf(2)
    const account = accountWith(ids)
    const { id, startProcess, statesOf } = await withBegun(ids, account)
    const { move } = account.api.elasticIps
    let refusals = 1
    account.api.elasticIps.move = async (one, ...rest) => {
      if (one === 'eip_1' && refusals-- > 0)
        throw new AccountLimitError({ operation: 'elasticIps.move', kind: 'write', waitMs: 40_000, perMinute: 20, answered: true })
      return move(one, ...rest)
    }

    await startProcess().sendItems(id)
    expect(await statesOf()).toEqual({ eip_0: 'tracking', eip_1: 'waiting' })

    await startProcess().sendItems(id)
    expect(await statesOf()).toEqual(all(ids, 'tracking'))
    expect(account.writes.toSorted()).toEqual(ids)
  })

  test.each([
    {
      why: 'answers no read',
      error: new ApiUnreachableError({ operation: 'elasticIps.list', requestSent: 'unknown', problem: 'no answer' }),
    },
    {
      why: 'allows no more reads',
      error: new AccountLimitError({ operation: 'elasticIps.list', kind: 'read', waitMs: 30_000, perMinute: 60, answered: false }),
    },
  ])('loses no turn while the account $why', async ({ error }) => {
    const ids = idsOf(14)
    const account = accountWith(ids)
    const { id, startProcess, statesOf } = await withBegun(ids, account)
    account.api.elasticIps.list = () => Promise.reject(error)
    let taken = 0
    const takeWrite = async () => {
      taken += 1
      return 0
    }

    await startProcess({ takeWrite }).sendItems(id)

    expect(taken).toBe(0)
    expect(await statesOf()).toEqual(all(ids, 'waiting'))
  })

  test('ends items whose turn comes after the approval is over', async () => {
    const ids = idsOf(3)
    const account = accountWith(ids)
    const { id, startProcess, statesOf, read } = await withBegun(ids, account)

    await startProcess({ takeWrite: turns(1), forMs: 30_000 }).sendItems(id)

    expect(Object.values(await statesOf()).filter((state) => state === 'not-started')).toHaveLength(2)
    expect((await read()).items?.find(({ state }) => state === 'not-started')?.causes).toMatchObject([{ code: 'limit-used-up' }])
  })
})
