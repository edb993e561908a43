import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Moment } from '../../src/domain/change.ts'
import { type Move, moveSightings, observeMove, sightingsIn } from '../../src/domain/elastic-ip-move-progress.ts'
import type { Request } from '../../src/domain/request.ts'
import { nextStep } from '../../src/requests/reconcile/next-step.ts'
import { requestFor } from '../requests/request-for-test.ts'
import { afterStep } from '../requests/take-steps.ts'
import { elasticIpFor, ids } from './account-objects.ts'

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
function at(phase: Moment['phase'], sinceSentMs: number): Moment {
  return { phase, sinceSentMs, early: sinceSentMs < graceMs }
}
const young = at('accepted', 1_000)
const old = at('accepted', graceMs)

describe('what a read of the Elastic IP means', () => {
  // Each row: status, server shown, then the verdict right after the write and after the grace time, once the write was accepted.
  test.each([
    ['moving', 'from', 'underway', 'underway'],
    ['moving', 'target', 'underway', 'underway'],
    ['moving', 'none', 'underway', 'underway'],
    ['moving', 'third', 'unclear', 'superseded'],
    ['active', 'from', 'unclear', 'failed'],
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
    expect(observeMove(move, seen(status, place), young).is).toBe(early)
    expect(observeMove(move, seen(status, place), old).is).toBe(late)
  })

  test('it is gone', () => {
    expect(observeMove(move, 'gone', young).is).toBe('failed')
  })

  test('a write without an answer that left the address where it was did not start', () => {
    expect(observeMove(move, seen('active', 'from'), at('sent', graceMs)).is).toBe('not-started')
  })

  test('after it was told as not started, only the target tells that it is this move which moves', () => {
    expect(observeMove(move, seen('moving', 'target'), at('ended', 90_000)).is).toBe('underway')
    expect(observeMove(move, seen('moving', 'from'), at('ended', 90_000)).is).toBe('unclear')
    expect(observeMove(move, seen('moving', 'none'), at('ended', 90_000)).is).toBe('unclear')
  })

  test('while the old server is not known, nobody else is blamed for another one', () => {
    const { from: _, ...unknownFrom } = move
    expect(observeMove(unknownFrom, seen('moving', 'third'), old).is).toBe('underway')
    expect(observeMove(unknownFrom, seen('active', 'third'), at('sent', graceMs))).toMatchInlineSnapshot(`
      {
        "cause": {
          "address": "203.0.113.10",
          "code": "still-on-old-server",
          "server": "db-1",
        },
        "is": "not-started",
      }
    `)
  })

  test('an end says what was seen', () => {
    expect(observeMove(move, seen('active', 'third'), old)).toMatchInlineSnapshot(`
      {
        "cause": {
          "address": "203.0.113.10",
          "code": "moved-by-others",
          "isMoving": false,
          "server": "db-1",
        },
        "is": "superseded",
      }
    `)
    expect(observeMove(move, seen('moving', 'third'), old)).toMatchInlineSnapshot(`
      {
        "cause": {
          "address": "203.0.113.10",
          "code": "moved-by-others",
          "isMoving": true,
          "server": "db-1",
        },
        "is": "superseded",
      }
    `)
    expect(observeMove(move, seen('active', 'from'), old)).toMatchInlineSnapshot(`
      {
        "cause": {
          "address": "203.0.113.10",
          "code": "back-on-old-server",
          "server": "web-1",
        },
        "is": "failed",
        "mayStillHappen": true,
      }
    `)
  })

  test('what is not an end says what was seen, for a late report', () => {
    expect(observeMove(move, seen('moving', 'from'), old)).toMatchObject({ seen: { status: 'moving', server: 'web-1' } })
    expect(observeMove(move, seen('active', 'none'), old)).toMatchObject({ seen: { status: 'active', server: null } })
  })
})

describe('the whole way of a move', () => {
  const sentAt = 1_000_000

  /** The request after each of these reads in turn: its state, and whether it has ended. */
  function follow(reads: [string, Place][], everyMs: number): { states: string[]; end: string } {
    let request: Request = requestFor({ state: 'starting', createdAt: sentAt, expiresAt: sentAt + 1, sentAt })
    const states: string[] = []
    for (const [index, [status, place]] of reads.entries()) {
      const now = sentAt + (index + 1) * everyMs
      const moment = at(request.state === 'starting' ? 'sent' : 'accepted', now - sentAt)
      const step = nextStep(request, observeMove(move, seen(status, place), moment), now, 900_000)
      if (step) request = { ...request, ...step.set, state: afterStep(request.state, step.name) }
      states.push(request.state)
      if (request.state !== 'starting' && request.state !== 'tracking') break
    }
    return { states, end: request.state }
  }

  /** Every order in which a read may show a move that goes well: the server changes before, with or after the status, or is not shown at all. */
  const betweenStatuses = ['moving', 'configuring', 'pending', 'an unknown status']
  const ways: [string, [string, Place][]][] = betweenStatuses.flatMap((between) => [
    [
      `the old server while it moves, then ${between} on the target`,
      [
        ['moving', 'from'],
        [between, 'target'],
        ['active', 'target'],
      ],
    ],
    [
      `the old server until it is active, with ${between}`,
      [
        ['moving', 'from'],
        [between, 'from'],
        ['active', 'target'],
      ],
    ],
    [
      `the target from the first read, with ${between}`,
      [
        ['moving', 'target'],
        [between, 'target'],
        ['active', 'target'],
      ],
    ],
    [
      `the target first and the old server later, with ${between}`,
      [
        ['moving', 'target'],
        [between, 'from'],
        ['active', 'target'],
      ],
    ],
    [
      `no server while it moves, with ${between}`,
      [
        ['moving', 'none'],
        [between, 'none'],
        ['active', 'target'],
      ],
    ],
    [
      `no server right after it is active, with ${between}`,
      [
        ['moving', 'from'],
        [between, 'none'],
        ['active', 'none'],
        ['active', 'target'],
      ],
    ],
    [
      `a read that trails the write, then ${between}`,
      [
        ['active', 'from'],
        [between, 'from'],
        ['moving', 'target'],
        ['active', 'target'],
      ],
    ],
    [
      `${between} before it moves`,
      [
        [between, 'from'],
        ['moving', 'from'],
        ['moving', 'target'],
        ['active', 'target'],
      ],
    ],
  ])

  test.each(ways)('ends as done and not before: %s', (_, reads) => {
    const { states, end } = follow(reads, 5_000)

    expect(end).toBe('done')
    expect(states).toHaveLength(reads.length)
  })

  test.each(ways.filter(([, reads]) => reads[0]?.[0] === 'moving'))('also when it takes longer than the grace time: %s', (_, reads) => {
    expect(follow(reads, 120_000).end).toBe('done')
  })

  test('whatever is shown between, no move that goes well is told as superseded, failed or not started', () => {
    const status = fc.constantFrom('moving', 'configuring', 'pending', 'quiescing', 'MOVING', '')
    const place = fc.constantFrom<Place>('from', 'target', 'none')
    fc.assert(
      fc.property(fc.array(fc.tuple(status, place), { maxLength: 8 }), fc.integer({ min: 1, max: 30_000 }), (reads, everyMs) => {
        expect(follow([...reads, ['active', 'target']], everyMs)).toMatchObject({ end: 'done' })
      }),
    )
  })

  test('a third server is told as superseded, and only after the grace time', () => {
    expect(follow([['moving', 'third']], 5_000).end).toBe('starting')
    expect(
      follow(
        [
          ['moving', 'from'],
          ['moving', 'third'],
        ],
        5_000,
      ).end,
    ).toBe('tracking')
    expect(
      follow(
        [
          ['moving', 'from'],
          ['moving', 'third'],
        ],
        graceMs,
      ).end,
    ).toBe('superseded')
    expect(
      follow(
        [
          ['moving', 'target'],
          ['active', 'third'],
        ],
        graceMs,
      ).end,
    ).toBe('superseded')
    // A read that trails the write may still show where the address was before it came to the old server.
    expect(
      follow(
        [
          ['active', 'third'],
          ['moving', 'target'],
          ['active', 'target'],
        ],
        5_000,
      ).end,
    ).toBe('done')
  })
})

describe('a list of everything that moves', () => {
  const other = elasticIpFor({ id: 'eip_9pXwaVrLN3mQ1' })
  const shows = (reads: { status: string; place: Place }, of = move) => {
    const list = sightingsIn([other, seen(reads.status, reads.place)])
    return moveSightings(of).some((sighting) => list.has(sighting))
  }

  test('shows a move under way by the old server, the target or none, and not by a third one', () => {
    expect((['from', 'target', 'none', 'third'] as const).filter((place) => shows({ status: 'moving', place }))).toEqual([
      'from',
      'target',
      'none',
    ])
  })

  test('shows a move whose old server is not known by any server', () => {
    const { from: _, ...unknownFrom } = move
    expect(shows({ status: 'moving', place: 'third' }, unknownFrom)).toBe(true)
  })

  test('says of a move what a read of it alone would say', () => {
    for (const place of ['from', 'target', 'none'] as const) {
      expect(observeMove(move, seen('moving', place), old).is).toBe('underway')
      expect(shows({ status: 'moving', place })).toBe(true)
    }
  })

  test('does not show an address that is not on it', () => {
    const list = sightingsIn([other])
    expect(moveSightings(move).some((sighting) => list.has(sighting))).toBe(false)
  })
})
