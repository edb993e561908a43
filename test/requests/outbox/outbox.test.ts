import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { Lease, OutboxName, Settlement } from '../../../src/outbox/outbox.ts'
import { minutes } from '../request-for-test.ts'
import { takeSteps, untilTracking } from '../take-steps.ts'
import { withRequest } from '../with-request.ts'

const seconds = 1_000
const cardShown = (revision: number): Settlement => ({ status: 'settled', cardTs: '1.2', shownRevision: revision })
const perhapsSent: Settlement = { status: 'unsure', retryInMs: 0 }
const notSent: Settlement = { status: 'queued', retryInMs: 0 }

/** A recorded request that owes its card, and its outbox. */
async function withUnsentCard() {
  const { redis, keys, store, outbox, request } = await withRequest()
  const { id } = request

  /** Leases a message. Reports may go before the card, so that a test needs no card. */
  async function lease(name: OutboxName = 'card') {
    const leased = await outbox.lease(id, name, { early: true })
    if (typeof leased === 'string') throw new Error(`not leased: ${leased}`)
    return leased
  }

  function settle(name: OutboxName, held: Lease, settlement: Settlement) {
    return outbox.settle(id, name, held, settlement)
  }

  /** Leases a message and settles it. */
  async function send(name: OutboxName, settlement: Settlement): Promise<Lease> {
    const { lease: held } = await lease(name)
    await settle(name, held, settlement)
    return held
  }

  /** Changes what Redis holds of a message. */
  async function rewrite(name: OutboxName, change: (item: Record<string, number>) => object): Promise<void> {
    const item = JSON.parse((await redis.hget(keys.record(id), `outbox:${name}`)) ?? '{}')
    await redis.hset(keys.record(id), `outbox:${name}`, JSON.stringify({ ...item, ...change(item) }))
  }

  /** Changes the record as if a lease had run out `agoMs` ago. */
  const letRunOut = (name: OutboxName, agoMs = 0) => store.now().then((now) => rewrite(name, () => ({ until: now - agoMs })))

  return { redis, keys, store, outbox, request, lease, settle, send, rewrite, letRunOut }
}

/** A request whose change takes effect, in revision 4. */
async function withTracked() {
  const parts = await withUnsentCard()
  return { ...parts, request: await takeSteps(parts.store, parts.request.id, ...untilTracking) }
}

describe('a message', () => {
  test('is leased to one process at a time', async () => {
    const { outbox, request } = await withUnsentCard()
    const leased = await Promise.all(Array.from({ length: 10 }, () => outbox.lease(request.id, 'card')))
    expect(leased.filter((each) => each === 'held')).toHaveLength(9)
  })

  test('that nobody tried to send is sent without a search', async () => {
    const { lease } = await withUnsentCard()
    expect((await lease()).lease).toMatchObject({ mode: 'fresh', searchedForMs: 0, triedCardless: false })
  })

  test('that may have been sent is searched for first', async () => {
    const { lease, send } = await withUnsentCard()
    await send('card', perhapsSent)
    expect((await lease()).lease.mode).toBe('unsure')
  })

  test('that was certainly not sent is sent without a search', async () => {
    const { outbox, lease, send } = await withUnsentCard()
    await send('card', notSent)
    const { lease: again } = await lease()
    expect(again.mode).toBe('fresh')
    expect(again).not.toHaveProperty('triedUntilMs')
    expect(await outbox.due(10)).toEqual([])
  })

  test('comes with the record as it is at that moment', async () => {
    const { store, request, lease } = await withUnsentCard()
    await store.take(request, 'approve')
    const leased = await lease()
    expect(leased.request).toEqual(await store.find(request.id))
    expect(leased.request).toMatchObject({ state: 'approved', revision: 2 })
  })

  test('of a request that is gone is missing', async () => {
    const { outbox } = await withUnsentCard()
    expect(await outbox.lease('f'.repeat(32), 'card')).toBe('missing')
    expect(await outbox.due(10)).toHaveLength(1)
  })
})

describe('a lease', () => {
  test.each([
    ['10 s to send a message', notSent, 10 * seconds],
    ['20 s to search for it and send it', perhapsSent, 20 * seconds],
  ])('gives %s, and ends 5 s earlier for a process that counts by its own clock', async (_, before, lastsMs) => {
    const { redis, keys, store, request, lease, send } = await withUnsentCard()
    await send('card', before)
    const [startedAt, startedOnOwnClock] = [await store.now(), performance.now()]

    const { lease: held } = await lease()

    expect(Math.abs(Number(await redis.zscore(keys.outbox, `${request.id}/card`)) - startedAt - lastsMs)).toBeLessThan(seconds)
    expect(Math.abs(held.sendBefore - startedOnOwnClock - (lastsMs - 5 * seconds))).toBeLessThan(seconds)
  })

  test('that ran out goes to another process, which searches first', async () => {
    const { lease, letRunOut } = await withUnsentCard()
    const { lease: dead } = await lease()
    await letRunOut('card')
    const { lease: next } = await lease()
    expect(next).toMatchObject({ mode: 'unsure', triedUntilMs: expect.any(Number) })
    expect(next.token).not.toBe(dead.token)
  })

  test('that another process has taken over settles nothing', async () => {
    const { outbox, lease, settle, letRunOut } = await withUnsentCard()
    const { lease: slow } = await lease()
    await letRunOut('card')
    const { lease: held, request } = await lease()

    expect(await settle('card', slow, cardShown(1))).toBe('lost')

    expect(await outbox.lease(request.id, 'card')).toBe('held')
    expect(await settle('card', held, cardShown(1))).toBe('settled')
  })

  test('can be settled twice with the same outcome, because an answer of Redis can be lost', async () => {
    const { lease, send, settle } = await withUnsentCard()
    await send('card', perhapsSent)
    const { lease: held } = await lease()
    expect(await settle('card', held, notSent)).toBe('later')
    expect(await settle('card', held, notSent)).toBe('later')
    expect((await lease()).lease.mode).toBe('unsure')
  })
})

describe('the card', () => {
  test('is settled once Slack shows the latest revision', async () => {
    const { outbox, store, request, send } = await withUnsentCard()
    await send('card', cardShown(1))
    expect(await store.find(request.id)).toMatchObject({ cardTs: '1.2', cardRevision: 1 })
    expect(await outbox.lease(request.id, 'card')).toBe('settled')
    expect(await outbox.due(10)).toEqual([])
  })

  test('is to be sent again if the record changed while it was sent', async () => {
    const { store, outbox, request, lease, settle, send } = await withUnsentCard()
    const { lease: held } = await lease()
    await store.take(request, 'approve')

    expect(await settle('card', held, cardShown(1))).toBe('again')

    expect(await outbox.due(10)).toEqual([{ id: request.id, name: 'card' }])
    await send('card', { status: 'settled', shownRevision: 2 })
    expect(await outbox.due(10)).toEqual([])
  })

  test('goes before a report, unless the card cannot be posted', async () => {
    const { outbox, request } = await withUnsentCard()
    expect(await outbox.lease(request.id, 'ended')).toBe('cardless')
    expect(await outbox.lease(request.id, 'ended', { early: true })).toMatchObject({ lease: { mode: 'fresh' } })
  })
})

describe('the search for a message that may have been sent', () => {
  test('is timed by the clock of Redis, over all processes that search', async () => {
    const { lease, send, rewrite, letRunOut } = await withUnsentCard()
    await send('card', perhapsSent)
    const { lease: first } = await lease()
    await rewrite('card', ({ since = 0 }) => ({ since: since - minutes }))
    await letRunOut('card')

    const afterCrash = await send('card', notSent)
    const { lease: afterFailedSearch } = await lease()

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
    expect((await lease()).lease).toMatchObject({ mode: 'unsure', searchedForMs: 0 })
  })

  test('reaches to the end of the last try that may have sent it', async () => {
    const { store, lease, send, settle } = await withUnsentCard()
    const { lease: fresh } = await lease()
    const before = await store.now()
    await settle('card', fresh, perhapsSent)
    const after = await store.now()
    await sleep(5)

    const second = await send('card', notSent)
    const { lease: third } = await lease()

    expect(fresh).not.toHaveProperty('triedUntilMs')
    expect(second.triedUntilMs).toBeGreaterThanOrEqual(before)
    expect(second.triedUntilMs).toBeLessThanOrEqual(after)
    expect(third.triedUntilMs).toBe(second.triedUntilMs)
  })

  test('reaches to the end of a lease whose process died', async () => {
    const { store, lease, letRunOut } = await withUnsentCard()
    await lease()
    const now = await store.now()
    await letRunOut('card', 3 * seconds)
    const { triedUntilMs = 0 } = (await lease()).lease
    expect(Math.abs(triedUntilMs - (now - 3 * seconds))).toBeLessThan(seconds)
  })

  test('includes the channel if a report may have been sent before its card, also after later tries', async () => {
    const { store, request, send } = await withUnsentCard()
    await store.take(request, 'reject')
    const early = await send('ended', perhapsSent)
    await send('card', cardShown(2))

    const below = await send('ended', notSent)
    const refused = await send('ended', perhapsSent)
    const belowAgain = await send('ended', notSent)

    expect([early, below, refused, belowAgain].map(({ triedCardless }) => triedCardless)).toEqual([false, true, true, true])
  })

  test.each([
    ['may have been sent', { status: 'unsure', token: 'x' }],
    ['was being sent', { status: 'sending', token: 'x', mode: 'unsure', until: 0 }],
  ])('starts with the first lease of a message that %s and does not say since when', async (_, item) => {
    const { lease, rewrite } = await withUnsentCard()
    await rewrite('card', () => item)
    expect((await lease()).lease).toMatchObject({ mode: 'unsure', searchedForMs: 0, triedCardless: false })
  })
})

describe('the messages that are due', () => {
  test('come in the order of their due times, up to a limit', async () => {
    const { redis, keys, store, outbox } = await withUnsentCard()
    const now = await store.now()
    await redis.del(keys.outbox)
    await redis.zadd(keys.outbox, now - 1, 'a/card', now - 3, 'b/ended', now - 2, 'c/reminder-half', now + minutes, 'd/card')
    const due = [
      { id: 'b', name: 'ended' },
      { id: 'c', name: 'reminder-half' },
      { id: 'a', name: 'card' },
    ]
    expect(await outbox.due(10)).toEqual(due)
    expect(await outbox.due(2)).toEqual(due.slice(0, 2))
  })

  test('do not include a message that is leased or postponed', async () => {
    const { store, outbox, request, lease, send } = await withUnsentCard()
    await store.take(request, 'reject')
    await lease('card')
    await send('ended', { status: 'queued', retryInMs: minutes })
    expect(await outbox.due(10)).toEqual([])
  })
})

describe('the reports that a request owes', () => {
  test('come in the order of the thread, not of their due times', async () => {
    const { redis, keys, store, outbox, request } = await withUnsentCard()
    await takeSteps(store, request.id, 'remind-half', 'break-glass', ['send', { reports: ['remark'] }], 'late', 'finish')
    await redis.zadd(keys.outbox, 1, `${request.id}/ended`, 2, `${request.id}/late`)
    expect(await outbox.owed(request.id)).toEqual(['reminder-half', 'break-glass', 'remark', 'late', 'ended'])
  })

  test('do not include one that was sent', async () => {
    const { store, outbox, request, send } = await withUnsentCard()
    await takeSteps(store, request.id, 'remind-half', 'reject')
    await send('reminder-half', { status: 'settled' })
    expect(await outbox.owed(request.id)).toEqual(['ended'])
  })
})

test('a report that a settled card owes is owed once, and not again after it was sent', async () => {
  const { store, outbox, request, send } = await withUnsentCard()
  const refused: Settlement = { status: 'settled', cardTs: '1.1', shownRevision: 1, owes: 'outdated' }
  const first = await send('card', refused)
  expect(await outbox.owed(request.id)).toEqual(['outdated'])
  await send('outdated', { status: 'settled' })

  await store.take(request, 'reject')
  const second = await send('card', { ...refused, shownRevision: 2 })

  expect([first.isOutdatedTold, second.isOutdatedTold]).toEqual([false, true])
  expect(await outbox.owed(request.id)).toEqual(['ended'])
})

describe('a report that a later step owes again', () => {
  const sent: Settlement = { status: 'settled' }

  test('is another message', async () => {
    const { store, request, send } = await withTracked()
    await store.take(request, 'stop-tracking')
    const first = await send('stopped', sent)
    await takeSteps(store, request.id, 'track-again', 'stop-tracking')

    const second = await send('stopped', sent)

    expect(second.mode).toBe('fresh')
    expect([first.owedBy, second.owedBy]).toEqual([5, 7])
  })

  test('is not owed by a step that is sent twice because its answer was lost', async () => {
    const { store, outbox, request, send } = await withTracked()
    await store.take(request, 'stop-tracking', {}, 'mine')
    await send('stopped', sent)

    await store.take(request, 'stop-tracking', {}, 'mine')

    expect(await outbox.lease(request.id, 'stopped', { early: true })).toBe('settled')
    expect(await outbox.owed(request.id)).toEqual([])
  })

  test('is owed also while the first one is being sent, whose lease then settles nothing', async () => {
    const { store, request, lease, settle, send } = await withTracked()
    await store.take(request, 'stop-tracking')
    const { lease: first } = await lease('stopped')
    await takeSteps(store, request.id, 'track-again', 'stop-tracking')

    expect(await settle('stopped', first, sent)).toBe('lost')

    expect(await send('stopped', sent)).toMatchObject({ mode: 'fresh', owedBy: 7 })
  })

  test('keeps the revision that owes it until Slack has it', async () => {
    const { store, request, send } = await withTracked()
    await store.take(request, 'stop-tracking')
    for (const settlement of [perhapsSent, notSent]) await send('stopped', settlement)
    expect(await send('stopped', sent)).toMatchObject({ mode: 'unsure', owedBy: 5 })
  })
})
