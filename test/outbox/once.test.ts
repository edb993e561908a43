import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { lease as leaseFrom, settle as settleIn } from '../../src/outbox/once.ts'
import type { Lease, Settlement } from '../../src/record/owed.ts'
import { outboxApp } from '../given/outbox-app.ts'
import { owedReports } from '../given/owed-reports.ts'
import { minutes } from '../given/request.ts'
import { takeSteps, untilTracking } from '../given/take-steps.ts'
import { withRequest } from '../given/with-request.ts'

const seconds = 1_000
const cardShown = (revision: number): Settlement => ({ status: 'settled', cardTs: '1.2', shownRevision: revision })
const perhapsSent: Settlement = { status: 'unsure', retryInMs: 0 }
const notSent: Settlement = { status: 'queued', retryInMs: 0 }

/** A recorded request that owes its card, and the outbox. */
async function withUnsentCard() {
  const { redis, keys, store, request } = await withRequest()
  const { app } = outboxApp({ redis, keys })
  const { id } = request

  /** Leases a message. Reports may go before the card, so that a test needs no card. */
  async function lease(name: string = 'card'): Promise<Lease> {
    const leased = await leaseFrom(app, { id, name }, { isCardRefused: true })
    if (leased.is !== 'leased') throw new Error(`not leased: ${leased.is}`)
    return leased.lease
  }

  const isLeased = async (name: string, options = {}) => (await leaseFrom(app, { id, name }, options)).is
  const settle = (name: string, leased: Lease, settlement: Settlement) => settleIn(app, { id, name }, leased, settlement)

  /** Leases a message and settles it. */
  async function send(name: string, settlement: Settlement): Promise<Lease> {
    const held = await lease(name)
    await settle(name, held, settlement)
    return held
  }

  /** Changes what Redis holds of a message. */
  async function rewrite(name: string, change: (item: Record<string, number>) => object): Promise<void> {
    const item = JSON.parse((await redis.hget(keys.record(id), `outbox:${name}`)) ?? '{}')
    await redis.hset(keys.record(id), `outbox:${name}`, JSON.stringify({ ...item, ...change(item) }))
  }

  /** Changes the record as if a lease had run out `agoMs` ago. */
  const letRunOut = (name: string, agoMs = 0) => store.now().then((now) => rewrite(name, () => ({ until: now - agoMs })))

  const step = async (...names: Parameters<typeof takeSteps>[2][]) => takeSteps(store, id, ...names)
  const owed = () => owedReports({ redis, keys }, id)
  return { app, redis, keys, store, request, lease, isLeased, settle, send, rewrite, letRunOut, step, owed }
}

/** A request whose change takes effect, in revision 4. */
async function withTracked() {
  const parts = await withUnsentCard()
  return { ...parts, request: await parts.step(...untilTracking) }
}

describe('a message', () => {
  test('is leased to one process at a time', async () => {
    const { isLeased } = await withUnsentCard()
    const leased = await Promise.all(Array.from({ length: 10 }, () => isLeased('card')))
    expect(leased.filter((each) => each === 'leased-elsewhere')).toHaveLength(9)
  })

  test('is sent without a search if nobody tried to send it, or every try certainly sent nothing', async () => {
    const { lease, settle } = await withUnsentCard()
    const first = await lease()
    await settle('card', first, notSent)
    for (const held of [first, await lease()]) expect(held).toMatchObject({ mode: 'fresh', searchedForMs: 0, triedUntilMs: undefined })
  })

  test('that may have been sent is searched for first', async () => {
    const { lease, send } = await withUnsentCard()
    await send('card', perhapsSent)
    expect((await lease()).mode).toBe('unsure')
  })

  test('comes with the record as it is at that moment', async () => {
    const { app, store, request } = await withUnsentCard()
    await store.take(request, 'approve')
    expect(await leaseFrom(app, { id: request.id, name: 'card' })).toMatchObject({ fields: { state: '"approved"', revision: '2' } })
  })

  test('that nothing owes leaves the outbox: its request is gone or of another type, or no step owes it', async () => {
    const { app, redis, keys, isLeased } = await withUnsentCard()
    await redis.set(keys.record('damaged'), 'a text')
    await redis.zadd(keys.outbox, 1, 'gone/card', 1, 'damaged/card')

    for (const id of ['gone', 'damaged']) expect(await leaseFrom(app, { id, name: 'card' })).toEqual({ is: 'missing' })
    expect(await isLeased('ended')).toBe('settled')

    expect(await redis.zcard(keys.outbox)).toBe(1)
  })
})

describe('a lease', () => {
  test.each([
    ['10 s to send a message', notSent, 10 * seconds],
    ['20 s to search for it and send it', perhapsSent, 20 * seconds],
  ])('gives %s, and ends 5 s earlier for a process that counts by its own clock', async (_, before, lastsMs) => {
    const { redis, keys, store, request, lease, send } = await withUnsentCard()
    await send('card', before)
    const startedAt = await store.now()

    const held = await lease()

    expect(Math.abs(Number(await redis.zscore(keys.outbox, `${request.id}/card`)) - startedAt - lastsMs)).toBeLessThan(seconds)
    expect(Math.abs(held.sendBefore.leftMs() - (lastsMs - 5 * seconds))).toBeLessThan(seconds)
  })

  test('that ran out goes to another process, which searches first. The first one then settles nothing', async () => {
    const { lease, isLeased, settle, letRunOut } = await withUnsentCard()
    const slow = await lease()
    await letRunOut('card')
    const held = await lease()
    expect(held).toMatchObject({ mode: 'unsure', triedUntilMs: expect.any(Number) })

    expect(await settle('card', slow, cardShown(1))).toBe('lost')

    expect(await isLeased('card')).toBe('leased-elsewhere')
    expect(await settle('card', held, cardShown(1))).toBe('settled')
  })

  test('can be settled twice with the same outcome, because an answer of Redis can be lost', async () => {
    const { lease, send, settle } = await withUnsentCard()
    await send('card', perhapsSent)
    const held = await lease()
    for (let time = 0; time < 2; time += 1) expect(await settle('card', held, notSent)).toBe('later')
    expect((await lease()).mode).toBe('unsure')
  })
})

describe('the card', () => {
  test('is settled once Slack shows the latest revision', async () => {
    const { redis, keys, store, request, isLeased, send } = await withUnsentCard()
    await send('card', cardShown(1))
    expect(await store.find(request.id)).toMatchObject({ cardTs: '1.2', cardRevision: 1 })
    expect(await isLeased('card')).toBe('settled')
    expect(await redis.zcard(keys.outbox)).toBe(0)
  })

  test('is to be sent again if the record changed while it was sent', async () => {
    const { redis, keys, store, request, lease, settle, send } = await withUnsentCard()
    const held = await lease()
    await store.take(request, 'approve')

    expect(await settle('card', held, cardShown(1))).toBe('again')

    expect(Number(await redis.zscore(keys.outbox, `${request.id}/card`))).toBeLessThanOrEqual(await store.now())
    await send('card', { status: 'settled', shownRevision: 2 })
    expect(await redis.zcard(keys.outbox)).toBe(0)
  })

  test('is sent once more when Slack can no longer carry out an earlier update, also if the record changed meanwhile', async () => {
    const { redis, keys, store, request, isLeased, send, rewrite } = await withUnsentCard()
    const member = `${request.id}/card`
    const dueInMs = async () => Number(await redis.zscore(keys.outbox, member)) - (await store.now())
    await send('card', cardShown(1))
    await store.take(request, 'approve')
    await send('card', { ...notSent, isSlow: true })

    await send('card', { status: 'settled', shownRevision: 2 })
    expect(await dueInMs()).toBeGreaterThan(30_000)
    const approved = await store.find(request.id)
    if (!approved) throw new Error('no record')
    await store.take(approved, 'send')
    await send('card', { status: 'settled', shownRevision: 3 })
    expect(await dueInMs()).toBeGreaterThan(30_000)

    await rewrite('card', () => ({ late: Date.now() - 1 }))
    await send('card', { status: 'settled', shownRevision: 3 })
    expect(await isLeased('card')).toBe('settled')
  })

  test('goes before a report, unless the card cannot be posted', async () => {
    const { isLeased, step } = await withUnsentCard()
    await step('reject')
    expect(await isLeased('ended')).toBe('cardless')
    expect(await isLeased('ended', { isCardRefused: true })).toBe('leased')
  })
})

describe('the search for a message that may have been sent', () => {
  test('is timed by the clock of Redis, over all processes that search', async () => {
    const { lease, send, rewrite, letRunOut } = await withUnsentCard()
    await send('card', perhapsSent)
    const first = await lease()
    await rewrite('card', ({ since = 0 }) => ({ since: since - minutes }))
    await letRunOut('card')

    const [afterCrash, afterFailedSearch] = [await send('card', notSent), await lease()]

    expect(first).toMatchObject({ mode: 'unsure', searchedForMs: 0 })
    for (const { searchedForMs } of [afterCrash, afterFailedSearch]) expect(searchedForMs).toBeGreaterThanOrEqual(minutes)
  })

  test('starts again after another try that may have sent it', async () => {
    const { store, lease, send, rewrite } = await withUnsentCard()
    await send('card', perhapsSent)
    const since = (await store.now()) - 11 * minutes
    await rewrite('card', () => ({ since }))

    const long = await send('card', perhapsSent)

    expect(long.searchedForMs).toBeGreaterThanOrEqual(11 * minutes)
    expect(await lease()).toMatchObject({ mode: 'unsure', searchedForMs: 0 })
  })

  test('reaches to the end of the last try that may have sent it', async () => {
    const { store, lease, send, settle } = await withUnsentCard()
    const fresh = await lease()
    const before = await store.now()
    await settle('card', fresh, perhapsSent)
    const after = await store.now()
    await sleep(5)

    const [second, third] = [await send('card', notSent), await lease()]

    expect(second.triedUntilMs).toBeGreaterThanOrEqual(before)
    expect(second.triedUntilMs).toBeLessThanOrEqual(after)
    expect(third.triedUntilMs).toBe(second.triedUntilMs)
  })

  test('reaches to the end of a lease whose process died', async () => {
    const { store, lease, letRunOut } = await withUnsentCard()
    await lease()
    const now = await store.now()
    await letRunOut('card', 3 * seconds)
    const { triedUntilMs = 0 } = await lease()
    expect(Math.abs(triedUntilMs - (now - 3 * seconds))).toBeLessThan(seconds)
  })

  test.each([
    ['may have been sent', { status: 'unsure', token: 'x' }],
    ['was being sent', { status: 'sending', token: 'x', mode: 'unsure', until: 0 }],
  ])('starts with the first lease of a message that %s and does not say since when', async (_, item) => {
    const { lease, rewrite } = await withUnsentCard()
    await rewrite('card', () => item)
    expect(await lease()).toMatchObject({ mode: 'unsure', searchedForMs: 0 })
  })
})

describe('the reports of a request', () => {
  test('go in the order of the steps that owe them, also if the first one fails and its try is postponed', async () => {
    const { app, request, send, step } = await withTracked()
    await send('card', cardShown(4))
    await step('stop-tracking', 'track-again', 'late', 'finish')
    const leasedNow = async (name: string) => leaseFrom(app, { id: request.id, name })

    expect(await leasedNow('ended')).toEqual({ is: 'behind', first: 'late' })
    expect(await leasedNow('late')).toEqual({ is: 'behind', first: 'stopped' })
    await send('stopped', { status: 'queued', retryInMs: minutes })
    expect(await leasedNow('ended')).toEqual({ is: 'behind', first: 'late' })
    expect(await leasedNow('late')).toEqual({ is: 'leased-elsewhere' })
    expect(await leasedNow('ended')).toEqual({ is: 'leased-elsewhere' })

    for (const name of ['stopped', 'late', 'ended'] as const) await send(name, { status: 'settled' })
  })

  test('of one step go in the order of the thread', async () => {
    const { app, request, send, step, rewrite } = await withTracked()
    await send('card', cardShown(4))
    await step('late', 'finish')
    await rewrite('late', () => ({ owedBy: 6 }))

    expect(await leaseFrom(app, { id: request.id, name: 'ended' })).toEqual({ is: 'behind', first: 'late' })
    expect(await leaseFrom(app, { id: request.id, name: 'late' })).toMatchObject({ is: 'leased' })
  })

  test('wait for one that another process sends', async () => {
    const { isLeased, lease, send, step } = await withTracked()
    await send('card', cardShown(4))
    await step('late', 'finish')
    await lease('late')

    expect(await isLeased('ended')).toBe('leased-elsewhere')
  })

  test('do not include one that was sent', async () => {
    const { owed, send, step } = await withUnsentCard()
    await step(['remind', { reports: ['reminder-half'] }], 'reject')
    await send('reminder-half', { status: 'settled' })
    expect(await owed()).toEqual(['ended'])
  })
})

test('a report that a settled card owes is owed once, and not again after it was sent', async () => {
  const { owed, send, step } = await withUnsentCard()
  const refused: Settlement = { status: 'settled', cardTs: '1.1', shownRevision: 1, owes: 'outdated' }
  await send('card', refused)
  expect(await owed()).toEqual(['outdated'])
  expect(await send('outdated', { status: 'settled' })).toMatchObject({ owedBy: 1 })

  await step('reject')
  await send('card', { ...refused, shownRevision: 2 })

  expect(await owed()).toEqual(['ended'])
})

describe('a report that a later step owes again', () => {
  const settled: Settlement = { status: 'settled' }

  test('is another message', async () => {
    const { send, step } = await withTracked()
    await step('stop-tracking')
    const first = await send('stopped', settled)
    await step('track-again', 'stop-tracking')

    const second = await send('stopped', settled)

    expect(second.mode).toBe('fresh')
    expect([first.owedBy, second.owedBy]).toEqual([5, 7])
  })

  test('is not owed by a step that is sent twice because its answer was lost', async () => {
    const { store, request, isLeased, owed, send } = await withTracked()
    await store.take(request, 'stop-tracking', {}, 'mine')
    await send('stopped', settled)

    await store.take(request, 'stop-tracking', {}, 'mine')

    expect(await isLeased('stopped', { isCardRefused: true })).toBe('settled')
    expect(await owed()).toEqual([])
  })

  test('is owed also while the first one is being sent, whose lease then settles nothing', async () => {
    const { lease, settle, send, step } = await withTracked()
    await step('stop-tracking')
    const first = await lease('stopped')
    await step('track-again', 'stop-tracking')

    expect(await settle('stopped', first, settled)).toBe('lost')

    expect(await send('stopped', settled)).toMatchObject({ mode: 'fresh', owedBy: 7 })
  })

  test('keeps the revision that owes it until Slack has it', async () => {
    const { send, step } = await withTracked()
    await step('stop-tracking')
    for (const settlement of [perhapsSent, notSent]) await send('stopped', settlement)
    expect(await send('stopped', settled)).toMatchObject({ mode: 'unsure', owedBy: 5 })
  })
})
