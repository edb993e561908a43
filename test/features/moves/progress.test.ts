import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Moment } from '../../../src/domain/change.ts'
import type { Request } from '../../../src/domain/request.ts'
import { type Move, observeMove } from '../../../src/features/moves/move-checks.ts'
import { nextStep } from '../../../src/life/track.ts'
import { elasticIpFor, ids } from '../../domain/account-objects.ts'
import { requestFor } from '../../given/request.ts'
import { afterStep } from '../../given/take-steps.ts'

const from = { id: ids.web1, name: 'web-1' }
const to = { id: ids.web2, name: 'web-2' }
const move: Move = { elasticIpId: ids.elasticIp, address: '203.0.113.10', from, to }

const places = {
  from: { id: ids.web1, hostname: 'web-1' },
  target: { id: ids.web2, hostname: 'web-2' },
  third: { id: ids.web3, hostname: 'db-1' },
  none: undefined,
} as const
type Place = keyof typeof places

function seen(status: string, place: Place) {
  return elasticIpFor({ status, server: places[place] })
}

const graceMs = 60_000
const unsettledMs = 15 * 60_000
function at(phase: Moment['phase'], sinceSentMs: number): Moment {
  return { phase, sinceSentMs, early: sinceSentMs < graceMs, isUnsettled: sinceSentMs < unsettledMs }
}
const young = at('accepted', 1_000)
const old = at('accepted', unsettledMs)

describe('what a read of the Elastic IP means', () => {
  /** The status, the shown server, and the observation of an accepted write: right after it, and 15 minutes after it. */
  test.each([
    ['moving', 'from', 'underway', 'underway'],
    ['moving', 'target', 'underway', 'underway'],
    ['moving', 'none', 'underway', 'underway'],
    ['moving', 'third', 'unclear', 'superseded'],
    ['active', 'from', 'unclear', 'reverted'],
    ['active', 'target', 'done', 'done'],
    ['active', 'none', 'unclear', 'unclear'],
    ['active', 'third', 'unclear', 'superseded'],
    ['configuring', 'from', 'unclear', 'unclear'],
    ['configuring', 'target', 'unclear', 'unclear'],
    ['configuring', 'none', 'unclear', 'unclear'],
    ['configuring', 'third', 'unclear', 'unclear'],
    ['pending', 'from', 'unclear', 'unclear'],
    ['teleporting', 'target', 'unclear', 'unclear'],
    ['teleporting', 'third', 'unclear', 'unclear'],
    ['error', 'target', 'failed', 'failed'],
    ['releasing', 'from', 'failed', 'failed'],
  ] as const)('%s on %s', (status, place, early, late) => {
    expect([young, old].map((moment) => observeMove(move, seen(status, place), moment).is)).toEqual([early, late])
    expect(observeMove(move, 'gone', young).is).toBe('failed')
  })

  /** A write whose answer was lost may still take effect for 15 minutes, and reads may be behind an accepted one for a minute. */
  test.each([
    ['sent', unsettledMs - 1, 'unclear'],
    ['sent', unsettledMs, 'not-started'],
    ['accepted', graceMs - 1, 'unclear'],
    ['accepted', graceMs, 'reverted'],
  ] as const)('an address on its old server after a write that was %s %i ms ago is %s', (phase, ms, is) => {
    expect(observeMove(move, seen('active', 'from'), at(phase, ms)).is).toBe(is)
  })

  test('while the old server is unknown, another server does not mean superseded', () => {
    const { from: _, ...unknownFrom } = move
    expect(observeMove(unknownFrom, seen('moving', 'third'), old).is).toBe('underway')
    expect(observeMove(unknownFrom, seen('active', 'third'), at('sent', unsettledMs))).toEqual({
      is: 'not-started',
      cause: { code: 'still-on-old-server', address: '203.0.113.10', server: 'db-1' },
    })
  })

  test('the cause of an end has the server that was shown', () => {
    const causeOf = (status: string, place: Place) => {
      const observed = observeMove(move, seen(status, place), old)
      return 'cause' in observed ? observed.cause : observed
    }
    const byOthers = { code: 'moved-by-others', address: '203.0.113.10', server: 'db-1' }
    expect(causeOf('active', 'third')).toEqual({ ...byOthers, isMoving: false })
    expect(causeOf('moving', 'third')).toEqual({ ...byOthers, isMoving: true })
    expect(causeOf('active', 'from')).toEqual({ code: 'back-on-old-server', address: '203.0.113.10', server: 'web-1' })
  })

  test('an observation without an end has the status and the server for a report of a late move', () => {
    expect(observeMove(move, seen('moving', 'from'), old)).toMatchObject({ seen: { status: 'moving', server: 'web-1' } })
    expect(observeMove(move, seen('active', 'none'), old)).toMatchObject({ seen: { status: 'active', server: null } })
  })
})

describe('a series of reads', () => {
  const sentAt = 1_000_000

  /** `moving@from` is the status `moving` with the old server. */
  const reads = (text: string) => text.split(' ').map((read) => read.split('@') as [string, Place])

  /** Applies these reads to a request. Returns its state after each read, and its last state. */
  function track(all: [string, Place][], everyMs: number): { states: string[]; end: string } {
    let request: Request = requestFor({ state: 'starting', createdAt: sentAt, expiresAt: sentAt + 1, sentAt })
    let revertedSince: number | undefined
    const states: string[] = []
    for (const [index, [status, place]] of all.entries()) {
      const now = sentAt + (index + 1) * everyMs
      const moment = at(request.state === 'starting' ? 'sent' : 'accepted', now - sentAt)
      const observation = observeMove(move, seen(status, place), moment)
      revertedSince = observation.is === 'reverted' ? (revertedSince ?? now) : observation.is === 'underway' ? undefined : revertedSince
      const step = nextStep({ ...request, revertedSince }, observation, now, 900_000)
      if (step) request = { ...request, ...step.set, state: afterStep(request.state, step.name) }
      states.push(request.state)
      if (request.state !== 'starting' && request.state !== 'tracking') break
    }
    return { states, end: request.state }
  }

  /** The orders in which reads may show a successful move: the server changes before, with or after the status, or is not shown at all. */
  const ways = ['moving', 'configuring', 'pending', 'an-unknown-status'].flatMap((between) =>
    [
      'moving@from ?@target active@target',
      'moving@from ?@from active@target',
      'moving@target ?@target active@target',
      'moving@target ?@from active@target',
      'moving@none ?@none active@target',
      'moving@from ?@none active@none active@target',
      // A read that trails the write.
      'active@from ?@from moving@target active@target',
      '?@from moving@from moving@target active@target',
    ].map((way) => way.replace('?', between)),
  )

  test.each(ways)('ends as done with the last read: %s', (way) => {
    const { states, end } = track(reads(way), 5_000)
    expect([end, states.length]).toEqual(['done', reads(way).length])
  })

  test.each(ways.filter((way) => way.startsWith('moving')))('ends as done also if it takes longer than the grace time: %s', (way) => {
    expect(track(reads(way), 120_000).end).toBe('done')
  })

  test.each([
    // Two looks, at 60 and 80 s.
    ['moving@target active@from active@from active@from active@from', 20_000, 'tracking tracking tracking failed'],
    // At 60, 70 and 80 s.
    ['moving@from ?@from ?@from ?@from ?@from active@from active@from active@from', 10_000, `${'tracking '.repeat(7)}failed`],
    // A read that is behind shows the old server once more, and the next one the move.
    ['moving@target moving@target active@from moving@target active@from active@target', 30_000, `${'tracking '.repeat(5)}done`],
    // The answer was lost, and the move was seen by a read.
    ['?@from moving@none active@from active@from', 30_000, 'starting tracking tracking failed'],
    // The answer was lost, and the move was never seen.
    ['active@from active@from active@from', 60_000, 'starting starting starting'],
    ['active@from active@from', 15 * 60_000, 'not-started'],
    // A read without a server says nothing about the old one.
    ['moving@target active@from active@none active@from', 40_000, 'tracking tracking tracking failed'],
  ])('on the old server in two looks 20 s apart ends an accepted move as failed: %s, one every %i ms', (all, everyMs, states) => {
    expect(track(reads(all), everyMs).states.join(' ')).toBe(states)
  })

  test('never reports a successful move as superseded, failed or not started', () => {
    const status = fc.constantFrom('moving', 'configuring', 'pending', 'quiescing', 'MOVING', '')
    const place = fc.constantFrom<Place>('from', 'target', 'none')
    fc.assert(
      fc.property(fc.array(fc.tuple(status, place), { maxLength: 8 }), fc.integer({ min: 1, max: 30_000 }), (all, everyMs) => {
        expect(track([...all, ['active', 'target']], everyMs)).toMatchObject({ end: 'done' })
      }),
    )
  })

  test.each([
    ['moving@third', 5_000, 'starting'],
    ['moving@from moving@third', 5_000, 'tracking'],
    ['moving@from moving@third', graceMs, 'superseded'],
    ['moving@target active@third', graceMs, 'superseded'],
    // A read that does not show the write yet may show an even older server.
    ['active@third moving@target active@target', 5_000, 'done'],
  ])('reports a third server as superseded, and only after the grace time: %s, one every %i ms', (all, everyMs, end) => {
    expect(track(reads(all), everyMs).end).toBe(end)
  })
})
