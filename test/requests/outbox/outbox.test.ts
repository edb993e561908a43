import { setTimeout } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { Lease, Outbox } from '../../../src/requests/outbox/outbox.ts'
import type { OutboxName } from '../../../src/requests/store/store.ts'
import { takeSteps, untilTracking } from '../take-steps.ts'
import { withRequest } from '../with-request.ts'

/** Takes the lease of a message. Throws where another one has it, or there is nothing to send. */
async function leased(outbox: Outbox, id: string, name: OutboxName = 'card'): Promise<Lease> {
  const taken = await outbox.lease(id, name, { early: name !== 'card' })
  if (typeof taken === 'string') throw new Error(`not leased: ${taken}`)
  return taken.lease
}

describe('the outbox', () => {
  test('lets one at a time send', async () => {
    const { outbox, request } = await withRequest()
    const leases = await Promise.all(Array.from({ length: 10 }, () => outbox.lease(request.id, 'card')))
    expect(leases.filter((lease) => lease !== 'held')).toHaveLength(1)
  })

  test('tells the next one to look first, when it is not known whether it was sent', async () => {
    const { outbox, request } = await withRequest()
    const lease = await leased(outbox, request.id)
    expect(lease.mode).toBe('fresh')
    await outbox.settle(request.id, 'card', lease, { status: 'unsure', retryInMs: 0 })
    expect((await leased(outbox, request.id)).mode).toBe('unsure')
  })

  test('tells how long it has been looked for, by Redis’ clock, whoever looks and however often', async () => {
    const { redis, keys, outbox, request } = await withRequest()
    const record = keys.record(request.id)
    await outbox.settle(request.id, 'card', await leased(outbox, request.id), { status: 'unsure', retryInMs: 0 })
    const first = await leased(outbox, request.id)
    const since = JSON.parse((await redis.hget(record, 'outbox:card')) ?? '').since - 60_000
    await redis.hset(record, 'outbox:card', JSON.stringify({ status: 'sending', token: first.token, mode: 'unsure', until: 0, since }))

    const afterDeath = await leased(outbox, request.id)
    await outbox.settle(request.id, 'card', afterDeath, { status: 'queued', retryInMs: 0 })
    const afterLook = await leased(outbox, request.id)

    expect(first).toMatchObject({ mode: 'unsure', lookedForMs: 0 })
    for (const { lookedForMs } of [afterDeath, afterLook]) expect(lookedForMs).toBeGreaterThanOrEqual(60_000)
  })

  test('begins to look anew for a repeat that may have been sent, too', async () => {
    const { redis, keys, outbox, request } = await withRequest()
    const since = (await redis.time()).map(Number)[0] ?? 0
    await redis.hset(
      keys.record(request.id),
      'outbox:card',
      JSON.stringify({ status: 'unsure', token: 'x', since: since * 1000 - 660_000 }),
    )
    const long = await leased(outbox, request.id)
    await outbox.settle(request.id, 'card', long, { status: 'unsure', retryInMs: 0 })

    expect(long.lookedForMs).toBeGreaterThanOrEqual(660_000)
    expect(await leased(outbox, request.id)).toMatchObject({ mode: 'unsure', lookedForMs: 0 })
  })

  test('tells until when it may have been sent: as long as the last try that may have done it, or its lease, went on', async () => {
    const { redis, keys, outbox, request } = await withRequest()
    const now = async () => (await redis.time()).map(Number).reduce((s, us) => s * 1_000 + us / 1_000)
    const give = async (lease: Lease, status: 'unsure' | 'queued') => {
      await setTimeout(5)
      const before = Math.floor(await now())
      await outbox.settle(request.id, 'card', lease, { status, retryInMs: 0 })
      return { before, after: await now() }
    }
    const fresh = await leased(outbox, request.id)
    const lost = await give(fresh, 'unsure')
    const first = await leased(outbox, request.id)
    const lostAgain = await give(first, 'unsure')
    const second = await leased(outbox, request.id)
    await give(second, 'queued')
    const third = await leased(outbox, request.id)

    expect(fresh).not.toHaveProperty('triedUntilMs')
    for (const [{ triedUntilMs }, { before, after }] of [
      [first, lost],
      [second, lostAgain],
      [third, lostAgain],
    ] as const) {
      expect(triedUntilMs).toBeGreaterThanOrEqual(before)
      expect(triedUntilMs).toBeLessThanOrEqual(after)
    }
    expect(third.triedUntilMs).toBe(second.triedUntilMs)

    const record = keys.record(request.id)
    const dead = JSON.parse((await redis.hget(record, 'outbox:card')) ?? '')
    await redis.hset(record, 'outbox:card', JSON.stringify({ ...dead, until: dead.tried + 3 }))
    await setTimeout(10)
    expect((await leased(outbox, request.id)).triedUntilMs).toBe(dead.tried + 3)
  })

  test('forgets when it was tried, once it was certainly not sent', async () => {
    const { outbox, request } = await withRequest()
    await outbox.settle(request.id, 'card', await leased(outbox, request.id), { status: 'queued', retryInMs: 0 })
    expect(await leased(outbox, request.id)).not.toHaveProperty('triedUntilMs')
  })

  test('tells of a report that may have been sent before its card, also after later tries', async () => {
    const { outbox, store, request } = await withRequest()
    await store.take(request, 'reject')
    const report = () => leased(outbox, request.id, 'ended')
    const early = await report()
    await outbox.settle(request.id, 'ended', early, { status: 'unsure', retryInMs: 0 })
    await outbox.settle(request.id, 'card', await leased(outbox, request.id), { status: 'settled', cardTs: '1.1', shownRevision: 2 })
    const below = await report()
    await outbox.settle(request.id, 'ended', below, { status: 'queued', retryInMs: 0 })
    const refused = await report()
    await outbox.settle(request.id, 'ended', refused, { status: 'unsure', retryInMs: 0 })
    const belowAgain = await report()

    expect([early, below, refused, belowAgain].map(({ triedCardless }) => triedCardless)).toEqual([false, true, true, true])
  })

  test('goes on looking for what may have been sent, when a later try certainly sent nothing, also if that is told twice', async () => {
    const { outbox, request } = await withRequest()
    await outbox.settle(request.id, 'card', await leased(outbox, request.id), { status: 'unsure', retryInMs: 0 })
    const refused = await leased(outbox, request.id)
    await outbox.settle(request.id, 'card', refused, { status: 'queued', retryInMs: 0 })
    await outbox.settle(request.id, 'card', refused, { status: 'queued', retryInMs: 0 })
    expect((await leased(outbox, request.id)).mode).toBe('unsure')
  })

  test.each([
    ['may have been sent', { status: 'unsure', token: 'x' }],
    ['was being sent', { status: 'sending', token: 'x', mode: 'unsure', until: 0 }],
  ])('begins to look anew for what %s when the version before this one left it', async (_, item) => {
    const { redis, keys, outbox, request } = await withRequest()
    await redis.hset(keys.record(request.id), 'outbox:card', JSON.stringify(item))
    const lease = await leased(outbox, request.id)
    expect(lease).toMatchObject({ mode: 'unsure', lookedForMs: 0 })
    expect(lease.triedCardless).toBe(false)
  })

  test('lets it be sent anew, when it certainly was not', async () => {
    const { outbox, request } = await withRequest()
    await outbox.settle(request.id, 'card', await leased(outbox, request.id), { status: 'queued', retryInMs: 0 })
    expect((await leased(outbox, request.id)).mode).toBe('fresh')
    expect(await outbox.due(10)).toEqual([])
  })

  test('asks for the card again, when the record has changed while it was sent', async () => {
    const { store, outbox, request } = await withRequest()
    const lease = await leased(outbox, request.id)
    await store.take(request, 'approve')
    expect(await outbox.settle(request.id, 'card', lease, { status: 'settled', cardTs: '1.2', shownRevision: 1 })).toBe('again')
    expect(await outbox.settle(request.id, 'card', await leased(outbox, request.id), { status: 'settled', shownRevision: 2 })).toBe(
      'settled',
    )
    expect(await outbox.due(10)).toEqual([])
  })

  test('gives the record along with the lease, as it is in that moment', async () => {
    const { store, outbox, request } = await withRequest()
    await store.take(request, 'approve')
    const taken = await outbox.lease(request.id, 'card')
    expect(taken).toMatchObject({ request: await store.find(request.id) })
    expect(taken).toMatchObject({ request: { state: 'approved', revision: 2 } })
  })

  test('keeps a report back until its card is there, unless that cannot be posted', async () => {
    const { outbox, request } = await withRequest()
    expect(await outbox.lease(request.id, 'ended')).toBe('cardless')
    expect(await outbox.lease(request.id, 'ended', { early: true })).toMatchObject({ lease: { mode: 'fresh' } })
  })

  describe('owes a report anew', () => {
    /** One whose change takes effect, in revision 4. */
    async function withTracked() {
      const parts = await withRequest()
      return { ...parts, request: await takeSteps(parts.store, parts.request.id, ...untilTracking) }
    }

    async function told(outbox: Outbox, id: string) {
      const lease = await leased(outbox, id, 'stopped')
      await outbox.settle(id, 'stopped', lease, { status: 'settled' })
      return lease
    }

    test('with a second step that calls for it, as another message', async () => {
      const { store, outbox, request } = await withTracked()
      await store.take(request, 'stop-tracking')
      const first = await told(outbox, request.id)
      await store.take(request, 'track-again')
      await store.take(request, 'stop-tracking')

      const second = await told(outbox, request.id)

      expect(second).toMatchObject({ mode: 'fresh' })
      expect([first.owedBy, second.owedBy]).toEqual([5, 7])
    })

    test('not with a step that is sent twice, because its answer was lost', async () => {
      const { store, outbox, request } = await withTracked()
      await store.take(request, 'stop-tracking', {}, 'mine')
      await told(outbox, request.id)

      await store.take(request, 'stop-tracking', {}, 'mine')

      expect(await outbox.lease(request.id, 'stopped', { early: true })).toBe('settled')
      expect(await outbox.owed(request.id)).toEqual([])
    })

    test('also while the first one is being sent, which then has no place any more', async () => {
      const { store, outbox, request } = await withTracked()
      await store.take(request, 'stop-tracking')
      const lease = await leased(outbox, request.id, 'stopped')
      await store.take(request, 'track-again')
      await store.take(request, 'stop-tracking')

      expect(await outbox.settle(request.id, 'stopped', lease, { status: 'settled' })).toBe('lost')

      expect(await told(outbox, request.id)).toMatchObject({ mode: 'fresh', owedBy: 7 })
    })

    test('and remembers which one it is, until Slack has it', async () => {
      const { store, outbox, request } = await withTracked()
      await store.take(request, 'stop-tracking')
      for (const status of ['unsure', 'queued'] as const) {
        await outbox.settle(request.id, 'stopped', await leased(outbox, request.id, 'stopped'), { status, retryInMs: 0 })
      }
      expect(await told(outbox, request.id)).toMatchObject({ mode: 'unsure', owedBy: 5 })
    })
  })

  test('knows nothing of a request that is gone', async () => {
    const { outbox } = await withRequest()
    expect(await outbox.lease('f'.repeat(32), 'card')).toBe('missing')
  })

  test('has no place for who lost the lease', async () => {
    const { outbox, request } = await withRequest()
    await leased(outbox, request.id)
    expect(await outbox.settle(request.id, 'card', { token: 'another' }, { status: 'settled', shownRevision: 1 })).toBe('lost')
  })
})
